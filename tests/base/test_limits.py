"""The three limits of files: bytes when unpacked, columns, cells; the same words for every format."""

import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from campaign.crafted import _varint, change_footer
from shapley2d._base.limits import FREE_BYTES, MAX_COLUMNS, Limits, is_too_deep, read_parquet
from shapley2d._tables.reading.files import read_table
from shapley2d.exceptions import InputError

CELLS = FREE_BYTES // 8


def refused(path, what):
    with pytest.raises(InputError, match=rf"{path.name} has more than {what}, the most that is"):
        read_table(str(path))


def test_larger_files_may_hold_more():
    Limits("a", 10 * FREE_BYTES).check(n_bytes=FREE_BYTES + 1, cells=CELLS + 1, columns=MAX_COLUMNS)
    with pytest.raises(InputError, match="a has more than 100,000 columns"):
        Limits("a", 10 * FREE_BYTES).check(columns=MAX_COLUMNS + 1)


def test_many_columns(tmp_path):
    names = [f"c{k}" for k in range(MAX_COLUMNS + 1)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" * len(names)) + "\n")
    refused(path, "100,000 columns")
    path.write_text(json.dumps(dict.fromkeys(names, 1)) + "\n")
    refused(path, "100,000 columns")


def test_records_of_which_each_has_another_field(tmp_path):
    """A table of them has the square of their number of cells."""
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"{k}":1}}\n' for k in range(6000)))
    refused(path, f"{CELLS:,} cells")


def claiming(path, size):
    """A file whose metadata claim other numbers of bytes."""
    about = pq.ParquetFile(path).metadata
    groups = [about.row_group(k) for k in range(about.num_row_groups)]
    true = {group.total_byte_size for group in groups}
    true |= {
        group.column(k).total_uncompressed_size
        for group in groups
        for k in range(about.num_columns)
    }

    def change(footer):
        for one in true:
            footer = footer.replace(b"\x16" + _varint(one), b"\x16" + _varint(size))
        return footer

    change_footer(path, change)
    assert pq.ParquetFile(path).metadata.row_group(0).total_byte_size == size


@pytest.mark.parametrize("claims", [None, 10_000])
def test_texts_that_pack_well(tmp_path, claims):
    path = tmp_path / "t.parquet"
    texts = pa.array([f"{k % 2}" + "x" * 2**20 for k in range(280)])
    options = {"compression": "zstd", "use_dictionary": False, "write_batch_size": 1}
    pq.write_table(pa.table({"a": texts}), path, **options)
    if claims:
        claiming(path, claims)
    refused(path, "268,435,456 bytes when unpacked")


def test_a_long_text_in_every_row(tmp_path):
    path = tmp_path / "t.parquet"
    text = pa.array(["x" * 2**24]).take(pa.array(np.zeros(20, dtype=np.int64)))
    pq.write_table(pa.table({"a": text}), path, compression="zstd")
    assert path.stat().st_size < 5000
    refused(path, "268,435,456 bytes when unpacked")


def test_numbers_that_pack_well(tmp_path):
    path = tmp_path / "t.parquet"
    zeros = np.zeros(CELLS // 2 + 1, dtype=np.int8)
    pq.write_table(pa.table({"a": zeros, "b": zeros}), path, compression="zstd")
    refused(path, f"{CELLS:,} cells")


def test_what_is_within_the_limits_is_read_as_it_was_written():
    texts = ["ä", None, "x" * 3000, ""] * 300
    table = pa.table(
        {
            "text": texts,
            "bytes": pa.array([None if text is None else text.encode() for text in texts]),
            "coded": pa.array(texts).dictionary_encode(),
            "days": pa.array(range(1200), pa.date32()),
            "pairs": pa.array([[1, 2], None] * 600),
            "nothing": pa.nulls(1200),
        }
    ).replace_schema_metadata({b"a": b"b"})
    file = io.BytesIO()
    pq.write_table(table, file, row_group_size=500)
    found = read_parquet(file, "t")
    assert found.equals(table) and found.schema.metadata == {b"a": b"b"}
    assert {column.num_chunks for column in found.columns} == {1}
    empty = io.BytesIO()
    pq.write_table(table.slice(0, 0), empty)
    assert read_parquet(empty, "t").num_rows == 0


@pytest.mark.parametrize(
    ("text", "deep"),
    [
        ("[" * 100 + "]" * 100, False),
        ("[" * 101 + "]" * 101, True),
        ('{"a":' * 101 + "1" + "}" * 101, True),
        ('[{"a": "' + "[" * 500 + r"\"" + '{"}]', False),
        ("[" + ",".join(['{"a": [1]}'] * 1000) + "]", False),
        ('"' + r"\"" * 200_000 + "[" * 200, False),  # one string without an end
    ],
)
def test_depth_is_seen_without_reading(text, deep):
    assert is_too_deep(text) == deep
