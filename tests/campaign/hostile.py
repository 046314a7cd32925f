"""Hostile tables by size and depth.

A table is refused in one line or read, whatever it unpacks to.

    python -m tests.campaign.hostile --count 2000
"""

import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

from .common import main
from .crafted import check_line

COUNT = 2000


def sheet(cells, pad=0):
    """A spreadsheet with these cells alone, and blanks in its sheet."""
    rows = "".join(f'<row><c r="{name}"><v>{k}</v></c></row>' for k, name in enumerate(cells))
    main_ns = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    of_parts = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    of_files = "http://schemas.openxmlformats.org/package/2006/relationships"
    files = {
        "xl/workbook.xml": f'<workbook {main_ns} xmlns:r="{of_parts}"><sheets><sheet name="s" '
        'sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{of_files}"><Relationship Id="r1" '
        f'Type="{of_parts}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/worksheets/sheet1.xml": f"<worksheet {main_ns}><sheetData>{rows}</sheetData>"
        f"{' ' * pad}</worksheet>",
    }
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return stream.getvalue()


def coded_parquet(size, rows):
    """A dictionary of one text in many rows."""
    text = pa.DictionaryArray.from_arrays(np.zeros(rows, dtype=np.int32), ["x" * size])
    stream = io.BytesIO()
    pq.write_table(pa.table({"a": text, "b": np.arange(rows)}), stream)
    return stream.getvalue()


def wide_parquet(size):
    stream = io.BytesIO()
    pq.write_table(pa.table({f"c{k}": [1, 2] for k in range(size)}), stream)
    return stream.getvalue()


SIZED = {  # by a size from 1 to 100,000
    "deep.json": lambda size: ('{"a":' * size + "1" + "}" * size).encode(),
    "lists.jsonl": lambda size: ('{"a": ' + "[" * size + "]" * size + "}\n").encode() * 2,
    "long.jsonl": lambda size: ('{"a": ' + "9" * size + "}\n").encode() * 3,
    "quote.csv": lambda size: b"a,b\n1,2\n" + b'3,"4\n' + b"5,6\n" * size,
    "wide.csv": lambda size: (",".join(f"c{k}" for k in range(size)) + "\n" + "1," * size).encode(),
    "commas.csv": lambda size: b"a,b\n" + (b'"' + b"1," * size + b'",2\n') * 5,
    "far.xlsx": lambda size: sheet(["A1", f"XFD{size}"]),
    "padded.xlsx": lambda size: sheet(["A1", "A2"], pad=3000 * size),
    "coded.parquet": lambda size: coded_parquet(size, size),
    "wide.parquet": lambda size: wide_parquet(size // 10 + 1),
}


class Hostile:
    """Cases by number: a table."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def __call__(self, number, random):
        name = sorted(SIZED)[random.integers(len(SIZED))]
        path = self.folder / name
        path.write_bytes(SIZED[name](int(10 ** random.uniform(0, 5))))
        try:
            read_table(str(path))
        except InputError as error:
            check_line(error)
            return "tables refused"
        return "tables read"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.exit(main("hostile", __doc__, Hostile(place), COUNT))
