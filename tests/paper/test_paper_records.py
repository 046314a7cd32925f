"""Records: what is written comes back, and their summaries."""

import pytest

from shapley2d_paper.harness.records import Records, read_records, write_records


def test_records_survive_the_file(tmp_path):
    rows = [{"a": 1, "b": 0.123456789, "c": 'x, "y"'}, {"a": None, "b": float("nan"), "d": True}]
    write_records(Records(rows), tmp_path / "r.csv")
    assert read_records(tmp_path / "r.csv").rows == [
        {"a": 1, "b": 0.123457, "c": 'x, "y"', "d": None},
        {"a": None, "b": None, "c": None, "d": 1},
    ]


def test_records_summaries():
    records = Records([{"g": g, "v": v} for g, v in [("a", 1), ("b", 5), ("a", 3)]])
    assert {key: (part.mean("v"), part.spread("v")) for (key,), part in records.groups("g")} == {
        "a": (2.0, pytest.approx(2**0.5)),
        "b": (5.0, 0.0),
    }
    assert len(records.where(lambda row: row["v"] > 1, g="a")) == 1
