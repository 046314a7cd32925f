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
MANIFEST = "application/vnd.oasis.opendocument.spreadsheet"


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


def open_document(table):
    content = (
        '<?xml version="1.0"?><office:document-content'
        ' xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"'
        ' xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"'
        ' xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0">'
        f'<office:body><office:spreadsheet><table:table table:name="S">{table}</table:table>'
        "</office:spreadsheet></office:body></office:document-content>"
    )
    manifest = '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
    return {
        "mimetype": MANIFEST.encode(),
        "META-INF/manifest.xml": manifest.encode(),
        "content.xml": content.encode(),
    }


def cell(text, more=""):
    return (
        f'<table:table-cell office:value-type="string" {more}><text:p>{text}</text:p>'
        "</table:table-cell>"
    )


def row(*cells, more=""):
    return f"<table:table-row {more}>{''.join(cells)}</table:table-row>"


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


HEAD = row(cell("a"), cell("y"))
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
    "repeated rows": open_document(
        HEAD + row(cell(1, 'table:number-columns-repeated="16000"'),
                   more='table:number-rows-repeated="1000000"')
    ),
    "repeated text": open_document(
        HEAD + row(cell("x" * 10**5), cell(1), more='table:number-rows-repeated="10000"')
    ),
    "far row of a document": open_document(
        HEAD
        + row("<table:table-cell/>", more='table:number-rows-repeated="1000000"')
        + row(cell(1, 'table:number-columns-repeated="1000"'))
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


def test_the_empty_end_of_a_document_does_no_harm(tmp_path):
    end = '<table:table-cell table:number-columns-repeated="16382"/>'
    table = HEAD + "".join(row(cell(k), cell("u"), end) for k in range(9))
    rest = row(
        '<table:table-cell table:number-columns-repeated="16384"/>',
        more='table:number-rows-repeated="1048566"',
    )
    two = f'{table}{rest}</table:table><table:table table:name="T">{table}{rest}'
    path = write(tmp_path / "t.ods", open_document(two))
    assert read_table(str(path)).table.to_pydict()["a"] == [str(k) for k in range(9)]
