"""Spreadsheets that would kill their reader are refused in one line, whatever they declare."""

import io
import struct
import tracemalloc
import zipfile
import zlib

import pytest

from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

openpyxl = pytest.importorskip("openpyxl")
pytest.importorskip("python_calamine")

SHEET = "xl/worksheets/sheet1.xml"
BEYOND = r"has more than [0-9,]+ (bytes when unpacked|columns|cells), the most that is read"


def excel(change=None, **parts):
    """A small workbook as parts, its sheet changed."""
    book = openpyxl.Workbook()
    for row in (["a", "y"], *([k, "uv"[k % 2]] for k in range(12))):
        book.active.append(row)
    stream = io.BytesIO()
    book.save(stream)
    with zipfile.ZipFile(stream) as archive:
        found = {name: archive.read(name) for name in archive.namelist()}
    found |= parts
    found[SHEET] = (change or (lambda text: text))(found[SHEET])
    return found


def write(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return path


def add_rows(rows):
    return lambda text: text.replace(b"</sheetData>", rows.encode() + b"</sheetData>")


def lying(path):
    """A sheet that declares 1,000 bytes, with their checksum, and unpacks to 300 MB."""
    parts = excel()
    start = parts[SHEET].replace(b"</sheetData></worksheet>", b"")
    body = start + b" " * (300 * 2**20)
    write(path, {**parts, SHEET: body})
    data = bytearray(path.read_bytes())
    right = struct.pack("<I", zlib.crc32(body)), struct.pack("<I", len(body))
    false = struct.pack("<I", zlib.crc32(body[:1000])), struct.pack("<I", 1000)
    for old, new in zip(right, false, strict=True):
        assert data.count(old) >= 1
        data = data.replace(old, new)
    path.write_bytes(data)


BOMBS = {
    "far corner": excel(add_rows('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
    "far empty text": excel(add_rows('<row r="1048576"><c r="XFD1048576" t="str"><v/></c></row>')),
    "far row": excel(add_rows('<row r="1048576"><c r="ZZ1048576"><v>1</v></c></row>')),
    "prefixed": excel(
        lambda text: add_rows('<x:row r="1048576"><x:c r="XFD1048576"><x:v>1</x:v></x:c></x:row>')(
            text.replace(b"<worksheet ", b'<worksheet xmlns:x="urn:x" ')
        )
    ),
    "prefixed row": excel(
        lambda text: add_rows('<x:row r="1048576"><c><v>1</v></c><c r="XFD2"><v>1</v></c></x:row>')(
            text.replace(b"<worksheet ", b'<worksheet xmlns:x="urn:x" ')
        )
    ),
    "long shared text": excel(
        add_rows('<row r="14">' + '<c t="s"><v>0</v></c>' * 3000 + "</row>"),
        **{"xl/sharedStrings.xml": b"<sst><si><t>" + b"x" * 10**6 + b"</t></si></sst>"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", [*BOMBS, "inflates", "lying"])
def test_a_bomb_is_refused_in_one_line_and_little_memory(tmp_path, what):
    path = tmp_path / "t.xlsx"
    message = BEYOND
    if what == "lying":
        lying(path)
        message = r"is damaged|cannot be read as a spreadsheet|" + BEYOND
    elif what == "inflates":
        write(path, excel(**{"xl/media/x.png": bytes(2**28 + 1)}))
    else:
        write(path, BOMBS[what])
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(InputError, match=message) as caught:
        read_table(str(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**30
    assert "\n" not in str(caught.value)


def test_a_document_type_is_refused(tmp_path):
    path = write(tmp_path / "t.xlsx", excel(lambda text: b'<!DOCTYPE x [<!ENTITY e "e">]>' + text))
    with pytest.raises(InputError, match="cannot be read as a spreadsheet"):
        read_table(str(path))


def test_a_list_of_one_sheet_many_times_is_refused(tmp_path):
    parts = excel()
    sheet = '<sheet name="{}" sheetId="{}" r:id="rId1"/>'
    many = "".join(sheet.format(f"s{k}", k + 9) for k in range(1000))
    book = parts["xl/workbook.xml"].replace(b"</sheets>", many.encode() + b"</sheets>")
    path = write(tmp_path / "t.xlsx", {**parts, "xl/workbook.xml": book})
    with pytest.raises(InputError, match="lists more sheets than it holds"):
        read_table(str(path))


def test_empty_cells_with_a_format_and_pictures_do_no_harm(tmp_path):
    parts = excel(
        add_rows('<row r="1048575"><c r="XFD1048575" s="0"/></row>'),
        **{"xl/media/image1.png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 10},
    )
    parts[SHEET] = parts[SHEET].replace(b"</sheetData>", b'<row r="1048576"/></sheetData>')
    assert read_table(str(write(tmp_path / "t.xlsx", parts))).table.num_rows == 12
