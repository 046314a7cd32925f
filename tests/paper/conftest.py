"""Fixtures of the paper's experiments."""

import pytest

from shapley2d_paper.harness.records import Records, read_records, write_records


@pytest.fixture
def read_back(tmp_path):
    """Records as they come back from a CSV file."""

    def back(rows, seed=0):
        path = tmp_path / "records.csv"
        write_records(Records([{**row, "seed": row.get("seed", seed)} for row in rows]), path)
        return read_records(path)

    return back
