"""What other rows say of an entry, against counting by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d import inspect_cells
from shapley2d._inspection import probability
from shapley2d._inspection.company import vouched
from shapley2d._inspection.evidence import Scores, cell_evidence
from shapley2d._inspection.recipe import WEIGHTS
from shapley2d._tables.convert import as_table


def by_counting(entries):
    """``vouched``, row by row, for a list of columns with None for empty cells."""
    n = len(entries[0])
    different = [len({*column}) for column in entries]
    said = np.zeros((n, len(entries)))
    for i in range(n):
        for j, own in enumerate(entries):
            for k, other in enumerate(entries):
                if j == k or own[i] is None or not 1 < different[k] <= n / 2 or different[j] == n:
                    continue
                same, same_other = ([at for at in range(n) if column[at] == column[i] and at != i] for column in (own, other))  # fmt: skip
                both = len({*same} & {*same_other})
                by_chance = len(same) * len(same_other) / (n - 1)
                said[i, j] = max(said[i, j], np.log((both + 0.5) / (by_chance + 0.5)))
    return said


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_that_vouch_are_counted(data):
    n, p = data.draw(st.integers(12, 30)), data.draw(st.integers(1, 4))
    entry = st.sampled_from(["a", "b", "c", "d", "e", None])
    entries = [data.draw(st.lists(entry, min_size=n, max_size=n)) for _ in range(p)]
    entries = [column for column in entries if any(column)]
    table = as_table({f"c{j}": column for j, column in enumerate(entries)}) if entries else None
    if table is None or any(column.kind != "category" for column in table.columns):
        return
    assert vouched(table.columns) == pytest.approx(by_counting(entries), abs=1e-5)
    assert (vouched(table.columns, 2) == vouched(table.columns)).all()


def test_keys_vouch_for_nothing_and_nobody_for_them():
    keys = as_table({"id": [f"u{i:03}" for i in range(80)], "letter": [*"ab" * 40]}).columns
    assert not vouched(keys).any()


def test_texts_of_one_shape_among_numbers_count_as_repeated():
    entries = [str(i) for i in range(200)]
    entries[5:9] = ["4A", "17A", "5B", "80C"]
    entries[60] = "12?!4"
    (column,) = as_table({"family": entries}).columns
    table = Scores.of(np.random.default_rng(0).normal(size=(200, 1)))
    against = {name: np.zeros(200, dtype=np.float32) for name in WEIGHTS}
    evidence = cell_evidence(
        table, 0, column, against, np.zeros(200, dtype=bool), np.zeros(200), []
    )
    assert np.exp(evidence["times"][[5, 8, 60, 100]]) == pytest.approx([4, 4, 1, 1])
    assert evidence["stray"][[5, 60, 100]].tolist() == [1, 1, 0]


def test_other_rows_of_one_rare_thing_speak_for_its_entries(monkeypatch):
    """All of the few rows of one hospital have its city, its zip code and its telephone."""
    random = np.random.default_rng(0)
    at = random.integers(0, 20, 600)
    at[:4] = 20  # far from all others
    phones = np.append(random.integers(2_050_000, 2_560_000, 20), 9_070_000)
    zips = np.append(random.integers(35_000, 36_900, 20), 99_508)
    names = np.array([*"abcdefghijklmnopqrstu"])
    X = {"city": names[at], "phone": phones[at], "zip": zips[at], "score": random.normal(size=600)}
    found = inspect_cells(X, progress=False)
    monkeypatch.setattr(probability, "vouched", lambda columns, _: np.zeros((600, len(columns))))
    without = inspect_cells(X, progress=False)
    rare = np.s_[:4, :3]
    assert found.probability[rare].mean() < without.probability[rare].mean() / 2
