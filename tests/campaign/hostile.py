"""Hostile tables by size and depth, and receipts that somebody changed.

A table is refused in one line or read, whatever it unpacks to. A changed receipt is refused, or it
is as good as the one that it was made of.

    python -m tests.campaign.hostile --count 2000
"""

import io
import json
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shapley2d import value_blocks, verify_receipt
from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

from .common import main, quiet
from .crafted import changed, check_line

COUNT = 2000
NUMBERS = [2**70, 10**400, -(2**63) - 1, 1e308, None, [], "\ud800", "x" * 10**5]


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
    """Cases by number: a table or a receipt."""

    def __init__(self, folder):
        self.folder = Path(folder)
        X = np.random.default_rng(0).normal(size=(60, 2)).round(2)
        y = (X[:, 0] > 0).astype(int)
        owners = [{"owner": "A", "row": "0-19"}, {"owner": "B", "row": "20-39"}]
        self.tables, self.given = (X[:40], y[:40], X[40:], y[40:]), {"owners": owners}
        found = value_blocks(*self.tables, **self.given, progress=False)
        found.receipt(100).save(self.folder / "good.json")
        self.record = json.loads((self.folder / "good.json").read_text())

    def __call__(self, number, random):
        case = (self.table, self.receipt)[number % 2]
        return quiet(case, random)

    def table(self, random):
        name = sorted(SIZED)[random.integers(len(SIZED))]
        path = self.folder / name
        path.write_bytes(SIZED[name](int(10 ** random.uniform(0, 5))))
        try:
            read_table(str(path))
        except InputError as error:
            check_line(error)
            return "tables refused"
        return "tables read"

    def receipt(self, random):
        new = changed(self.record, random)
        if random.random() < 0.3:
            keys = sorted(new)
            new[keys[random.integers(len(keys))]] = NUMBERS[random.integers(len(NUMBERS))]
        path = self.folder / "changed.json"
        path.write_text(json.dumps(new))
        try:
            verify_receipt(path, *self.tables, **self.given, progress=False)
        except InputError as error:
            check_line(error)
            return "receipts refused"
        return "receipts good"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.exit(main("hostile", __doc__, Hostile(place), COUNT))
