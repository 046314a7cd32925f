"""Files that unpack to more than they should."""

import gzip
import tracemalloc

import pytest

from shapley2d import InputError
from shapley2d._tables.reading import files
from shapley2d._tables.reading.files import read_table


def test_a_small_file_that_unpacks_to_far_too_much_is_refused_in_little_memory(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as file:
        file.write(b"a,y\n")
        for _ in range(300):
            file.write(b"1,0\n" * 2**18)  # a mebibyte
    assert path.stat().st_size < 2**20
    tracemalloc.start()
    with pytest.raises(
        InputError,
        match=r"bomb.csv.gz has more than 268,435,456 bytes when unpacked, the most that",
    ):
        read_table(str(path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 300 * 2**20


def test_a_table_that_packs_well_is_read(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n" + b"1,0\n" * 500_000))
    assert read_table(str(path)).table.num_rows == 500_000


def test_a_packed_file_in_two_parts(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,y\n1,0\n") + gzip.compress(b"2,1\n"))
    assert read_table(str(path)).table.num_rows == 2


def test_much_text_is_announced(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "FREE_BYTES", 10)
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,0\n2,1\n")
    assert "takes several times as much memory" in str(read_table(str(path)).notes[0])
