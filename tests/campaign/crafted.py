"""Files that somebody made on purpose: checkpoints and valuations with valid checksums and wrong insides.

Every one must be refused in one line, or be as good as any other: then the values can be used and
reported. Memory stays bounded whatever a file claims.

    python -m tests.campaign.crafted --count 2000
"""

import copy
import hashlib
import io
import json
import os
import sys
import tempfile
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from report_page import html_of
from shapley2d import Valuation
from shapley2d._base.sealed_file import seal
from shapley2d._estimation.sealed_arrays import read_arrays
from shapley2d.exceptions import InputError

from .common import main
from .samples import RUNS, write_samples

COUNT = 2000
BOMB = 2**28  # bytes that a bomb of a few kilobytes unpacks to
JUNK = [
    None, True, -1, 0, 1.5, 10**30, 10**400, "", "x" * 5000, "\x1b[31m\n", [], [[]], [None], {}, {"a": {}}, [-1],
    [1, 2, 3, 4, 5, 6, 7], float("nan"), float("inf"), -float("inf"), [float("nan")] * 8, [[0, -1.0]], [["a", "b"]],
    "2", [0.5, "x"], 2**63, [[1, 2], [3]],
]  # fmt: skip


# checkpoints


def archive(members, *, compress=False, names=None):
    """A file with these members as they are, and a checksum that is right."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(
        buffer, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    ) as packed:
        for name, data in members.items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                packed.writestr((names or {}).get(name, name), data)
    body = buffer.getvalue()
    return body + hashlib.sha256(body).hexdigest().encode()


def member(array=None, header=None, data=b""):
    """An array's bytes, or some with a header of one's own."""
    buffer = io.BytesIO()
    if array is not None:
        np.lib.format.write_array(buffer, array, allow_pickle=True)
        return buffer.getvalue()
    text = header.encode()
    text += b" " * (63 - (len(text) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + data


def opened(path):
    """The members of a good checkpoint: its record as an object, its arrays."""
    record, arrays = read_arrays(path, 2**30)
    return {"format": 1, **record}, arrays


def checkpoint_bytes(record, arrays, **more):
    text = record if isinstance(record, bytes) else json.dumps(record).encode()
    members = {"record.npy": member(np.frombuffer(text, dtype=np.uint8))}
    members |= {
        f"{name}.npy": array if isinstance(array, bytes) else member(array)
        for name, array in arrays.items()
    }
    return archive({**members, **more})


def named_checkpoints(path):
    """Crafted checkpoints by name, from a good one."""
    record, arrays = opened(path)
    cells = arrays["0 total"]

    def with_record(**changes):
        return checkpoint_bytes({**record, **changes}, arrays)

    def with_facts(**changes):
        return with_record(facts={**record["facts"], **changes})

    def with_arrays(changes):
        return checkpoint_bytes(record, {**arrays, **changes})

    def with_cells(changed):
        return with_arrays({"0 total": changed})

    def without(name):
        return checkpoint_bytes(
            {key: value for key, value in record.items() if key != name}, arrays
        )

    def shifted(name, change):
        array = arrays[name].copy()
        array.flat[0] = change
        return with_arrays({name: array})

    wide = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
    code = "{'descr': '<f8', 'fortran_order': False, 'shape': (__import__('os').getpid(),), }"
    deep = "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 3000 + ")" * 3000 + ", }"
    pickled = np.full(cells.shape, {"a": 1}, dtype=object)
    files = {
        "no record": archive({f"{name}.npy": member(array) for name, array in arrays.items()}),
        "record not JSON": checkpoint_bytes(b"{", arrays),
        "record not text": checkpoint_bytes(b"\xff\xfe{}", arrays),
        "record a list": checkpoint_bytes(b"[1, 2]", arrays),
        "deep JSON": checkpoint_bytes(b"[" * 100_000, arrays),
        "deep entry": checkpoint_bytes(
            json.dumps(record)[:-1].encode() + b', "deep": ' + b"[" * 500 + b"]" * 500 + b"}",
            arrays,
        ),
        "long record": checkpoint_bytes({**record, "more": "x" * 2**21}, arrays),
        "negative count": with_record(count=-5),
        "count 0": with_record(count=0),
        "count a fraction": with_record(count=2.5),
        "count NaN": with_record(count=float("nan")),
        "count too large": with_record(count=10**30),
        "history NaN": with_facts(history=[[1, float("nan")]]),
        "history backwards": with_facts(history=[[3, 0.5], [2, 0.5]]),
        "history beyond": with_facts(history=[[10**6, 0.5]]),
        "round without end": with_facts(round_end=2**62),
        "round of the past": with_facts(round_end=0),
        "identity a list": with_record(identity=[1]),
        "identity empty": with_record(identity={}),
        "other version": with_record(format=2),
        "8 TB header": with_cells(member(header=wide, data=b"\0" * 64)),
        "header of code": with_cells(member(header=code, data=b"\0" * 64)),
        "deep header": with_cells(member(header=deep, data=b"\0" * 64)),
        "pickle": with_cells(pickled),
        "float32": with_cells(cells.astype(np.float32)),
        "integers": with_cells(cells.astype(np.int64)),
        "transposed": with_cells(cells.T.copy()),
        "all transposed": with_arrays(
            {name: arrays[name].T.copy() for name in ("0 total", "0 between", "0 within")}
        ),
        "flat array": with_cells(cells.ravel()),
        "empty array": with_cells(np.zeros((0, 0))),
        "short": with_cells(cells[:-1]),
        "NaN": shifted("0 total", np.nan),
        "infinite": shifted("0 total", np.inf),
        "negative squares": shifted("0 between", -1.0),
        "another count": with_record(count=record["count"] + 1),
        "more arrays": with_arrays({"more": np.zeros((3, 1))}),
        "compressed": archive(
            {f"{name}.npy": member(array) for name, array in arrays.items()}, compress=True
        ),
        "same name twice": archive(
            {"record.npy": b"a", "other": b"b"}, names={"other": "record.npy"}
        ),
        "many members": archive({f"{k}.npy": b"" for k in range(5000)}),
        "name outside": with_arrays({"../../evil": np.zeros(1)}),
        "an archive in name": archive({"record.npy": b"\x93NUMPY"}),
        "no archive": b"PK\x03\x04" + b"\0" * 200,
    }
    files |= {f"without {name}": without(name) for name in ("format", "count", "facts", "identity")}
    files["without history"] = with_record(facts={})
    files |= {
        f"without {name}": checkpoint_bytes(
            record, {key: array for key, array in arrays.items() if key != name}
        )
        for name in arrays
    }
    return files


def bomb_checkpoint():
    """A few hundred kilobytes that unpack to a quarter of a gigabyte."""
    return archive({"record.npy": bytes(BOMB), "seen.npy": b""}, compress=True)


# valuations


def valuation_parts(path):
    """A good valuation's record and table."""
    table = pq.read_table(path)
    return json.loads(table.schema.metadata[b"shapley2d"]), table


def write_valuation(path, record, table, *, sealed=True, footer=None, **options):
    """Write a valuation with any record and table, with a checksum that is right or without one."""
    data = record if isinstance(record, bytes) else json.dumps(record).encode()
    pq.write_table(table.replace_schema_metadata({b"shapley2d": data}), path, **options)
    if footer is not None:
        change_footer(path, footer)
    if sealed:
        seal(Path(path))


def change_footer(path, change):
    """Rewrite the metadata at the end of a Parquet file by a function of its bytes."""
    whole = Path(path).read_bytes()
    length = int.from_bytes(whole[-8:-4], "little")
    new = change(whole[-8 - length : -8])
    Path(path).write_bytes(whole[: -8 - length] + new + len(new).to_bytes(4, "little") + b"PAR1")


def _varint(number):
    number *= 2  # Thrift's zigzag of what is not negative
    out = b""
    while number >= 0x80:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def claimed_rows(rows, claim):
    """A change of a footer: another number of rows everywhere."""
    return lambda footer: footer.replace(b"\x16" + _varint(rows), b"\x16" + _varint(claim))


def named_valuations(path, target):
    """Write crafted valuations one after the other to ``target``, and yield their names."""
    record, table = valuation_parts(path)
    n, m = record["shape"]

    def set_column(name, column):
        return table.set_column(table.column_names.index(name), name, pa.chunked_array([column]))

    values = np.asarray(table["value"])
    odd = np.where(np.arange(n * m) == 3, np.nan, values)
    for name in table.column_names:
        if name in ("content", "label"):
            continue
        write_valuation(target, record, table.drop_columns([name]))
        yield f"without column {name}"
        write_valuation(target, record, set_column(name, pa.array([[1]] * (n * m))))
        yield f"lists in {name}"
        write_valuation(target, record, set_column(name, pa.nulls(n * m)))
        yield f"nothing in {name}"
    for what, column in {
        "NaN values": ("value", odd),
        "text values": ("value", pa.array(["1"] * (n * m))),
        "infinite values": ("value", np.where(np.isnan(odd), np.inf, odd)),
        "negative stderr": ("stderr", np.full(n * m, -1.0)),
        "NaN stderr": ("stderr", odd),
        "shuffled rows": ("row", pa.array(np.arange(n * m))),
        "shuffled columns": ("column", pa.array([str(k) for k in range(n * m)])),
    }.items():
        write_valuation(target, record, set_column(column[0], pa.array(column[1])))
        yield what
    for what, (told, rows, more) in {
        "shifted": (record, table.take(np.roll(np.arange(n * m), 1)), {}),
        "short": (record, table.slice(0, n * m - 1), {}),
        "a column twice": (record, table.append_column("value", table["value"]), {}),
        "no rows": (record, table.slice(0, 0), {}),
        "8 TB shape": ({**record, "shape": [10**6, 10**6]}, table, {}),
        "footer of 10^12 rows": (record, table, {"footer": claimed_rows(n * m, 10**12)}),
        "footer of 2^62 rows": (record, table, {"footer": claimed_rows(n * m, 2**62)}),
        "deep JSON": (b"[" * 100_000, table, {}),
        "record not text": (b"\xff\xfe", table, {}),
        "checksum missing": (record, table, {"sealed": False}),
        "newer": ({**record, "format": 99}, table, {}),
    }.items():
        write_valuation(target, told, rows, **more)
        yield what
    many = 2**24
    zeros = pa.table(
        {"row": pa.array(np.zeros(many, dtype=np.int8)), "column": pa.array(np.zeros(many, dtype=np.int8)),
         "value": np.zeros(many), "stderr": np.zeros(many)}
    )  # fmt: skip
    write_valuation(target, {**record, "shape": [many, 1]}, zeros, compression="zstd")
    yield "bomb of zeros"
    del zeros
    long = pa.array(["x" * 2**20]).take(pa.array(np.zeros(300, dtype=np.int64)))
    texts = pa.table(
        {"row": np.arange(300), "column": ["a"] * 300, "value": np.zeros(300), "stderr": np.zeros(300),
         "content": long}
    )  # fmt: skip
    write_valuation(target, {**record, "shape": [300, 1]}, texts, compression="zstd")
    yield "bomb of one text"
    write_valuation(
        target,
        {**record, "shape": [300, 1]},
        texts,
        compression="zstd",
        use_dictionary=False,
        sealed=False,
    )
    yield "bomb of pages"


# the campaign: one entry of a good record replaced by something else


def paths_of(record, before=()):
    """Where everything in a record lies, to a depth of three."""
    found = []
    keys = (
        record.keys()
        if isinstance(record, dict)
        else range(len(record))
        if isinstance(record, list)
        else ()
    )
    for key in list(keys)[:40]:
        found.append((*before, key))
        if len(before) < 2:
            found += paths_of(record[key], (*before, key))
    return found


def changed(record, random):
    """A record with one entry replaced or removed."""
    new = copy.deepcopy(record)
    places = paths_of(new)
    place = places[random.integers(len(places))]
    holder = new
    for key in place[:-1]:
        holder = holder[key]
    if random.random() < 0.2:
        del holder[place[-1]]
    else:
        holder[place[-1]] = copy.deepcopy(JUNK[random.integers(len(JUNK))])
    return new


def use_valuation(path):
    """Load a valuation and use it as a user would: "refused", or "usable"."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            valuation = Valuation.load(path)
        except InputError as error:
            check_line(error)
            return "refused"
    repr(valuation), valuation._repr_html_(), valuation.lowest(3), valuation.row_values
    html_of(valuation)
    return "usable"


def use_checkpoint(kind, path):
    """Go on from a checkpoint: "refused", or "usable" if the run ends with numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            valuation = RUNS[kind](path)
        except InputError as error:
            check_line(error)
            return "refused"
    assert np.isfinite(valuation.values).all()
    return "usable"


def check_line(error):
    """One line that a terminal can show."""
    text = str(error)
    assert "\n" not in text and "\x1b" not in text and len(text) < 2000, text[:200]


class Crafted:
    """Cases by number: named files first, then random ones."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.samples = write_samples(self.folder)

    def __call__(self, number, random):
        if random.random() < 0.5:
            path = self.samples["valuation"][random.integers(len(self.samples["valuation"]))]
            record, table = valuation_parts(path)
            target = self.folder / "crafted.parquet"
            write_valuation(target, changed(record, random), table)
            return f"valuations {use_valuation(target)}"
        kind = sorted(RUNS)[random.integers(len(RUNS))]
        record, arrays = opened(self.folder / f"{kind}.npz")
        target = self.folder / "crafted.npz"
        target.write_bytes(checkpoint_bytes(changed(record, random), arrays))
        return f"checkpoints {use_checkpoint(kind, target)}"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        os.chdir(place)
        sys.exit(main("crafted", __doc__, Crafted(place), COUNT))
