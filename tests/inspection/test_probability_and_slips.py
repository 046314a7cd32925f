"""The chance of being wrong, and the slips behind the likeliest errors."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d._inspection import probability
from shapley2d._inspection.cells import Expected
from shapley2d._inspection.probability import cell_probability, label_probability
from shapley2d._inspection.recipe import MOST_CHANCE
from shapley2d._inspection.slips import (
    NEIGHBOURS,
    explain_suspects,
    is_edit,
    meant_numbers,
    misspellings,
    number_text,
)
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Column
from shapley2d.evaluation.cell_errors import mistype_number


def test_chances_rise_with_scores_and_never_reach_certainty():
    scores = np.random.default_rng(0).normal(2, 2, size=(500, 8))
    scores[0, 0] = 400.0
    chances = cell_probability(scores)
    order = np.argsort(scores.ravel())
    assert (np.diff(chances.ravel()[order]) >= 0).all()
    assert chances.min() > 0
    assert chances[0, 0] == chances.max() <= MOST_CHANCE
    assert chances.mean() < 0.03


def test_more_high_scores_make_every_high_score_likelier_wrong():
    rng = np.random.default_rng(0)
    sound = rng.exponential(1.5, size=(400, 10)).clip(max=6)
    few, many = sound.copy(), sound.copy()
    few.ravel()[:4] = 11.0
    many.ravel()[:200] = 11.0
    assert cell_probability(many)[0, 0] > 2 * cell_probability(few)[0, 0]
    assert cell_probability(many).mean() > 2 * cell_probability(few).mean()


@pytest.mark.parametrize("seed", range(3))
def test_chances_do_not_depend_on_the_order_of_cells(seed):
    scores = np.random.default_rng(seed).normal(size=(60, 4)) * 3
    turned = cell_probability(scores[::-1, ::-1])[::-1, ::-1]
    np.testing.assert_allclose(cell_probability(scores), turned)


def test_columns_without_any_difference_say_nothing_of_the_others():
    scores = np.random.default_rng(0).normal(size=(80, 3))
    padded = np.column_stack([scores, np.zeros((80, 5))])
    assert np.array_equal(cell_probability(padded)[:, :3], cell_probability(scores))
    assert (cell_probability(np.zeros((3, 2))) == 0.02).all()


def test_labels_follow_bayes_rule(monkeypatch):
    """Labels flipped at random under chances that are right: as many are wrong as is said."""
    monkeypatch.setattr(probability, "LABEL_TRUST", 1.0)
    rng = np.random.default_rng(0)
    ones = rng.beta(0.3, 0.3, size=20_000).clip(0.01, 0.99)
    label = rng.random(20_000) < ones
    flipped = rng.random(20_000) < 0.05
    given = np.where(label ^ flipped, ones, 1 - ones)
    said = label_probability(-np.log(given))
    for low, high in ((0.0, 0.1), (0.1, 0.4), (0.4, 1.0)):
        part = (said >= low) & (said < high)
        assert abs(said[part].mean() - flipped[part].mean()) < 0.04
    assert abs(said.mean() - 0.05) < 0.01


def digits(number):
    return len(number_text(number).replace(".", "").strip("0"))


@pytest.mark.parametrize("meant", [17.0, 123.0, 40.5, 3.25, 208.0, 99.0])
def test_every_slip_is_undone(meant):
    """Each slip of a benchmark leads back to the right entry, except for dropped digits."""
    for typed in mistype_number(meant, whole=False):
        if digits(typed) >= digits(meant):
            back = [number for _, number in meant_numbers(typed)]
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
    words, new = explain_suspects([column], [expected], likely)
    return words.get((0, 0)), new[0].entries[0]


def test_a_slip_into_the_expected_range_is_named_and_suggested():
    assert explain(71, 16, 19, 18) == ("two digits swapped: 71 for 17", 17)
    assert explain(177, 16, 19, 18) == ("a digit doubled: 177 for 17", 17)
    assert explain(17500, 160, 190, 180) == ("the decimal point slipped: 17500 for 175", 175)
    assert explain(-17, 16, 19, 18) == ("the sign: -17 for 17", 17)
    assert explain(94, 96, 96.4, 96)[0] is None
    assert explain(64, 93, 96, 94) == ("a neighbouring key: 64 for 94", 94)


def test_no_slip_is_named_within_the_range_nor_where_any_would_do():
    assert explain(71, 60, 80, 70) == (None, 70)
    assert explain(71, 10, 60, 30) == (None, 30)  # too wide to tell anything
    assert explain(np.nan, 10, 20, 15) == (None, 15)
    assert explain(71, 35.2, 35.4, 35.3) == (None, 35.3)


def test_day_and_month_may_be_swapped():
    def days(text):
        return float(np.datetime64(text, "D").astype(int))

    word, entry = explain(
        days("2024-11-03"), days("2024-03-08"), days("2024-03-14"), days("2024-03-11"), "date"
    )
    assert word == "day and month swapped: 2024-11-03 for 2024-03-11"
    assert entry == days("2024-03-11")


def test_a_rare_spelling_names_the_frequent_one():
    names = ["Birmingham"] * 40 + ["Boston"] * 20 + ["Brimingham", "Bostn", "Leeds"]
    table = as_table({"city": names})
    n = len(names)
    expected = Expected(
        np.zeros(n), None, None, np.full((n, 3), -1, dtype=np.int32), np.zeros((n, 3))
    )
    words, new = explain_suspects(table.columns, [expected], np.full((n, 1), 0.5))
    assert words == {
        (60, 0): "a rare spelling of 'Birmingham' (40 x)",
        (61, 0): "a rare spelling of 'Boston' (20 x)",
    }
    assert table.columns[0].categories[int(new[0].entries[60])] == "Birmingham"


@pytest.mark.parametrize(
    ("word", "other", "one"),
    [
        ("smith", "smiht", True),
        ("smith", "smth", True),
        ("smith", "smitth", True),
        ("smith", "smoth", True),
        ("smith", "smoot", False),
        ("room 12", "room 13", False),
        ("room 12", "room 1x", True),
        ("abcd", "abcd", True),
    ],
)
def test_edits(word, other, one):
    assert is_edit(word, other) is one
    assert is_edit(other, word) is one


def test_misspellings_against_all_pairs():
    rng = np.random.default_rng(0)
    words = sorted({"".join(rng.choice(list("abc"), size=rng.integers(3, 6))) for _ in range(60)})
    counts = rng.choice([1, 2, 30], size=len(words))
    wanted = {
        k: [o for o in range(len(words)) if o != k and counts[o] >= 5 * counts[k] and is_edit(words[o], words[k])
            and len(words[o]) >= 4]
        for k in range(len(words)) if len(words[k]) >= 4
    }  # fmt: skip
    found = misspellings(words, counts)
    assert {k: sorted(near) for k, near in found.items()} == {k: v for k, v in wanted.items() if v}


def test_nobody_means_a_number_that_starts_with_nought():
    assert "two digits swapped" not in dict(meant_numbers(600.0))
    assert dict(meant_numbers(10.0))["the decimal point slipped"] is not None
    assert ("two digits swapped", 0.12) in list(meant_numbers(0.21))
