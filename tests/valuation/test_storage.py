"""Saved valuations: one flipped bit is noticed, dense files can be read again."""

import io

import numpy as np
import pyarrow.parquet as pq
import pytest

from campaign.crafted import valuation_parts, write_valuation
from campaign.samples import cells, of_game
from shapley2d import Valuation
from shapley2d._base import limits
from shapley2d._base.sealed_file import is_whole
from shapley2d.exceptions import InputError


def test_a_file_that_another_program_wrote_again_is_told_from_a_good_one(tmp_path):
    path = tmp_path / "v.parquet"
    of_game().save(path)
    pq.write_table(
        pq.read_table(path).sort_by("value"), path
    )  # the record comes along, the checksum with it
    with pytest.raises(InputError, match="is damaged, or another program has changed it"):
        Valuation.load(path)
    with pytest.raises(InputError, match="is a folder"):
        Valuation.load(tmp_path)


def test_what_is_saved_can_be_loaded_however_dense(tmp_path, monkeypatch):
    """Constant values compress to almost nothing, as a decompression bomb does."""
    path = tmp_path / "v.parquet"
    v = Valuation(
        np.zeros((4000, 40)), np.zeros((4000, 40)), np.zeros(4000), [f"c{k}" for k in range(40)]
    )
    monkeypatch.setattr(limits, "FREE_BYTES", 1000)
    v.save(path)
    assert path.stat().st_size > 8 * v.values.size
    assert Valuation.load(path) == v
    record, table = valuation_parts(path)
    write_valuation(path, record, table, compression="zstd")
    with pytest.raises(
        InputError, match=r"v.parquet has more than [\d,]+ \w+.*, the most that is read of a file"
    ):
        Valuation.load(path)


def test_values_that_are_whole_numbers_are_saved_too(tmp_path):
    v = Valuation(np.array([[1, 2]]), np.zeros((1, 2), dtype=int), np.arange(1), ["a", "b"])
    v.save(tmp_path / "v.parquet")
    assert Valuation.load(tmp_path / "v.parquet") == v


def test_a_piece_of_another_file_is_noticed_wherever_it_is(tmp_path):
    """All bytes are checked, in order: any flipped bit and any splice is damage, but for the two whole files."""
    paths = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    cells().save(paths[0])
    cells(random_state=1).save(paths[1])
    one, two = (path.read_bytes() for path in paths)
    rng = np.random.default_rng(0)
    spliced = [one[:k] + two[k:] for k in range(len(two))]  # one's start, two's end
    spliced += [one[: k + 1] + two for k in range(0, len(one), 7)]
    flips = ((k, bytes([one[k] ^ 1 << int(rng.integers(8))])) for k in range(len(one)))
    spliced += [one[:k] + flipped + one[k + 1 :] for k, flipped in flips]
    for _ in range(300):
        (a, b), (c, d) = (np.sort(rng.integers(len(one) + 1, size=2)) for _ in range(2))
        spliced += [one[:a] + two[a:b] + one[b:], one[:a] + two[c:d] + one[b:]]
        spliced.append(one[:a] + one[b:] + one[a:b])
    for data in spliced:
        if data[-4:] == b"PAR1":
            with io.BytesIO(data) as file:
                assert is_whole(file) == (data in (one, two))


@pytest.mark.parametrize("name", ["x.docx", "x.csv", "x.xlsx"])
def test_names_of_other_formats_are_refused_and_nothing_is_written(name, tmp_path):
    for write in (of_game().save, of_game().to_html):
        with pytest.raises(InputError, match="the name must end in"):
            write(tmp_path / name)
    assert not [*tmp_path.iterdir()]
