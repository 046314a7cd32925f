"""Typing errors behind the likeliest wrong entries, in numbers, dates and words."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import inspect_cells
from shapley2d._inspection.cells import Expected
from shapley2d._inspection.columns.spelling import slips
from shapley2d._inspection.columns.typed import NEIGHBOURS, meant_numbers
from shapley2d._inspection.slips import explain_suspects
from shapley2d._tables.table import Column
from shapley2d.evaluation.cell_errors import mistype_number


@pytest.mark.parametrize("tail", [True, False])
def test_the_decimal_point_did_not_slip_in_a_heavy_tail_nor_in_a_number_that_comes_back(tail):
    rng = np.random.default_rng(1)
    entries = rng.normal(5, 0.5, 1000).round(2)
    entries[0] = 53.0
    expected = (Expected(np.full(1000, 5.3), np.full(1000, 4.0), np.full(1000, 6.0)),)
    chances = np.zeros((1000, 1))
    chances[0] = 0.9
    notes = explain_suspects([Column("a", "number", entries)], expected, chances)[0]
    assert notes == {(0, 0): "the decimal point slipped: 53 for 5.3"}
    entries[500:540] = rng.uniform(40, 900, 40).round(2) if tail else 53.0
    notes = explain_suspects([Column("a", "number", entries)], expected, chances)[0]
    assert not notes


@pytest.mark.parametrize("meant", [17.0, 123.0, 40.5, 3.25, 218.0, 99.0])
def test_every_slip_is_undone(meant):
    """Each slip of a benchmark leads back to the right entry."""
    for typed in mistype_number(meant, whole=False):
        back = [number for _, number, _ in meant_numbers(typed)]
        assert any(number == pytest.approx(meant) for number in back), typed


def test_keys_beside_a_digit_are_beside_each_other():
    assert NEIGHBOURS["5"] == "2468"
    assert all(digit in NEIGHBOURS[key] for digit, keys in NEIGHBOURS.items() for key in keys)


def explain(entry, low, high, middle, kind="number", others=()):
    entries = np.array([entry, *others], dtype=np.float64)
    n = entries.size
    column = Column("age", kind, entries)
    expected = Expected(np.full(n, float(middle)), np.full(n, float(low)), np.full(n, float(high)))
    likely = np.zeros((n, 1))
    likely[0] = 0.8
    notes, _, meant = explain_suspects([column], [expected], likely)
    return notes.get((0, 0)), meant[0].entries[0]


def test_a_slip_into_the_expected_range_is_named_and_suggested():
    assert explain(71, 16, 19, 18) == ("two digits swapped: 71 for 17", 17)
    assert explain(177, 16, 19, 18) == ("a digit doubled: 177 for 17", 17)
    assert explain(17500, 160, 190, 180) == ("the decimal point slipped: 17500 for 175", 175)
    assert explain(-17, 16, 19, 18) == ("the sign: -17 for 17", 17)
    assert explain(94, 96, 96.4, 96)[0] is None
    assert explain(64, 93, 96, 94) == ("a neighbouring key: 64 for 94", 94)
    others = [
        51.0,
        51.1,
        48.3,
        53.9,
        50.2,
        49.7,
    ] * 20  # rather 51.1 without its point than a 1 twice
    assert explain(511, 45, 56, 51, others=others) == (
        "the decimal point slipped: 511 for 51.1",
        51.1,
    )


def test_no_slip_is_named_within_the_range_nor_where_any_would_do():
    assert explain(71, 60, 80, 70) == (None, 70)
    assert explain(971, 100, 900, 500) == (None, 500)  # too wide to tell anything
    assert explain(np.nan, 10, 20, 15) == (None, 15)
    assert explain(71, 35.2, 35.4, 35.3) == (None, 35.3)


@pytest.mark.parametrize(
    ("typed", "low", "high", "meant", "slip"),
    [
        ("2024-11-03", "2024-03-08", "2024-03-14", "2024-03-11", "day and month swapped"),
        ("1924-02-23", "2024-01-05", "2025-03-20", "2024-02-23", "another year"),
        ("2204-02-23", "2024-01-05", "2025-03-20", "2024-02-23", "two digits swapped"),
        ("2074-02-23", "2023-01-05", "2025-03-20", "2024-02-23", "another year"),
        # just before the range that is expected
        ("1924-01-03", "2024-01-20", "2024-12-20", "2024-01-03", "another year"),
    ],
)
def test_dates_keep_what_is_right(typed, low, high, meant, slip):
    ends = [float(np.datetime64(text, "D").astype(int)) for text in (typed, low, high, meant)]
    entry, *ends, right = ends
    note, new = explain(entry, *ends, sum(ends) / 2, "date")
    assert note == f"{slip}: {typed} for {meant}" and new == right


def test_a_number_is_sure_only_if_no_other_may_have_been_meant():
    """770 may be 77 with a nought, or 70 with a 7; 17 for 71 can be nothing else."""
    weights = np.repeat(np.arange(60.0, 90.0), 5)
    n = weights.size + 1
    likely = np.zeros((n, 1))
    likely[0] = 0.9
    for entry, low, high, sure in ((770.0, 65.0, 85.0, False), (17.0, 69.0, 73.0, True)):
        column = Column("weight", "number", np.append(entry, weights))
        ends = (np.full(n, one) for one in ((low + high) / 2, low, high))
        text, right = explain_suspects([column], [Expected(*ends)], likely)[1][0, 0]
        assert (right >= 0.9) == sure and text in {"70", "71", "77"}


def test_nobody_means_a_number_that_starts_with_nought():
    def slips(number):
        return [(slip, meant) for slip, meant, _ in meant_numbers(number)]

    assert "two digits swapped" not in dict(slips(600.0))
    assert dict(slips(10.0))["the decimal point slipped"] is not None
    assert ("two digits swapped", 0.12) in slips(0.21)


def test_a_slip_is_told_as_the_column_writes_its_numbers():
    random = np.random.default_rng(0)
    size = random.normal(1900, 60, 300).round(2)
    price = [f"{number:.2f}".replace(".", ",") for number in size]
    price[9] = price[9].replace(",", "")
    found = inspect_cells({"price": price, "more": (2 * size + 9).round(2)}, progress=False)
    meant = price[9][:-2] + "," + price[9][-2:]
    assert found._cells.notes[9, 0] == f"the decimal point slipped: {price[9]} for {meant}"


@pytest.mark.parametrize(("entry", "is_slip"), [(6115.0, False), (6150.0, True)])
def test_a_slip_has_no_more_decimals_than_its_column(entry, is_slip):
    """6115 is no 61.15 in a column of half inches; 6150 may be 61.5."""
    heights = np.repeat(np.arange(58.0, 66.0, 0.5), 20)
    found, _ = explain(entry, 60.5, 62.5, 61.5, others=heights)
    assert (found is not None and "decimal point" in found) == is_slip


def test_a_rare_spelling_names_the_frequent_one():
    city = ["Birmingham"] * 40 + ["Boston"] * 20 + ["Brimingham", "Leeds"]
    cells = inspect_cells({"city": city, "size": np.arange(62) % 7}, progress=False)._cells
    assert cells.notes[60, 0] == "a rare spelling of 'Birmingham' (40 x)"
    assert cells.expected_text(60, 0) == "Birmingham"
    assert (61, 0) not in cells.notes


@pytest.mark.parametrize(
    ("word", "usual", "is_slip"),
    [
        ("smiht", "smith", True),
        ("smth", "smith", True),
        ("smitth", "smith", True),
        ("smoth", "smith", True),
        ("smoot", "smith", False),
        ("room 13", "room 12", False),
        ("room12x", "room12", True),
        ("bixminghxm", "birmingham", True),
        ("cat", "cut", False),
    ],
)
def test_misspellings(word, usual, is_slip):
    assert slips([usual, word], np.array([5, 1]), 5) == ({1: 0} if is_slip else {})
    assert slips([usual, word], np.array([4, 1]), 5) == {}  # not frequent enough to tell
