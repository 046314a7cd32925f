"""The chance of being wrong, and the slips behind the likeliest errors."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import inspect_cells
from shapley2d._base.words import typed_number
from shapley2d._inspection.cells import Expected
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.evidence import Scores, cell_evidence, found_evidence, stated_chance
from shapley2d._inspection.learned import CELL_EVIDENCE, CELLS, FALLING, RISING
from shapley2d._inspection.probability import label_probability, wrong_probability
from shapley2d._inspection.recipe import MOST_CHANCE, WEIGHTS
from shapley2d._inspection.slips import (
    NEIGHBOURS,
    explain_suspects,
    is_edit,
    meant_numbers,
    misspellings,
)
from shapley2d._inspection.suggestions import chances_of
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Column
from shapley2d.evaluation.cell_errors import mistype_number


def nothing_against(shape):
    return {name: np.zeros(shape) for name in WEIGHTS}


@pytest.mark.parametrize("name", [*RISING, *FALLING])
def test_more_evidence_never_makes_an_entry_less_likely_wrong(name):
    random = np.random.default_rng(0)
    n = 300
    evidence = {one: random.gamma(1.0, 2.0, n) for one in CELL_EVIDENCE} | {
        "share": random.uniform(-7.6, -1.6, n),
        "sure": random.uniform(-9.0, -1.5, n),
        "logit": random.normal(-4, 3, n),
        "10 %": random.normal(-4, 1, n),
    }
    more = evidence | {name: evidence[name] + random.gamma(1.0, 2.0, n)}
    change = CELLS.ask(more, n) - CELLS.ask(evidence, n)
    assert (change * (1 if name in RISING else -1) >= -1e-12).all()


def test_chances_never_reach_certainty():
    random = np.random.default_rng(0)
    scores = random.gamma(2.0, 1.0, size=(500, 8))
    scores[0, 0] = 400.0
    columns = [Column(name, "number", random.normal(size=500)) for name in "abcdefgh"]
    parts = nothing_against(scores.shape) | {"distance": WEIGHTS["distance"] * scores}
    chances = wrong_probability(scores, parts, columns, 8, scores < 0)
    assert chances[0, 0] == chances.max() < MOST_CHANCE
    assert chances.min() > 0 and chances.mean() < 0.03


def test_the_same_entry_is_likelier_wrong_in_a_table_with_more_errors():
    """The share of errors is the table's own."""
    random = np.random.default_rng(0)
    size = random.normal(size=400)
    sound = np.column_stack([size + random.normal(0, 0.3, 400) for _ in range(6)]).round(2)
    few, many = sound.copy(), sound.copy()
    rows = np.arange(60)
    for table, some in ((few, rows[:1]), (many, rows)):
        table[some, some % 6] += np.where(some % 2, 3.0, -3.0)
    once, often = (inspect_cells(X, progress=False).probability[0, 0] for X in (few, many))
    assert often > once + 0.1


@pytest.mark.parametrize("seed", range(3))
def test_chances_do_not_depend_on_the_order_of_cells(seed):
    random = np.random.default_rng(seed)
    scores = random.gamma(1.0, 3.0, size=(60, 4))
    columns = [Column(name, "number", random.normal(size=60)) for name in "abcd"]
    parts = nothing_against(scores.shape) | {"surprise": WEIGHTS["surprise"] * scores}
    turned = [Column(one.name, "number", one.entries[::-1]) for one in columns[::-1]]
    turned_parts = {name: part[::-1, ::-1] for name, part in parts.items()}
    np.testing.assert_allclose(
        wrong_probability(scores, parts, columns, 4, scores < 1),
        wrong_probability(scores[::-1, ::-1], turned_parts, turned, 4, scores[::-1, ::-1] < 1)[
            ::-1, ::-1
        ],
    )


def test_many_rows_are_asked_about_in_pieces():
    random = np.random.default_rng(0)
    n = 2**16 + 5
    evidence = {name: random.gamma(1.0, 2.0, n) for name in CELL_EVIDENCE} | {"sure": -4.0}
    some = np.arange(0, n, 1000)
    few = {name: one if np.ndim(one) == 0 else one[some] for name, one in evidence.items()}
    np.testing.assert_array_equal(
        CELLS.ask(evidence, n, threads=2)[some], CELLS.ask(few, some.size)
    )


def test_columns_without_any_difference_say_nothing_of_the_others():
    scores = np.random.default_rng(0).normal(size=(80, 3))
    padded = np.column_stack([scores, np.zeros((80, 5))])
    assert Scores.of(padded)[2:] == Scores.of(scores)[2:]
    none = np.zeros((0, 2))
    columns = [Column(name, "number", np.zeros(0)) for name in "ab"]
    assert wrong_probability(none, nothing_against((0, 2)), columns, 2, none > 0).shape == (0, 2)


def test_how_high_the_cells_of_a_finding_score_says_nothing_of_the_others():
    """A tenth of a column are words for missing: high scores, and a finding explains them."""
    random = np.random.default_rng(0)
    scores = random.gamma(2.0, 1.0, size=(200, 3))
    columns = [Column(name, "number", random.normal(size=200)) for name in "abc"]
    rows = np.arange(20)
    words = ColumnFinding(("a",), "words for missing", "", rows, probability=0.8)
    others = np.ones(scores.shape, dtype=bool)
    others[rows, 0] = False
    said = []
    for score in (3.0, 30.0):
        scores[rows, 0] = score
        chances = wrong_probability(
            scores, nothing_against(scores.shape), columns, 3, scores < 0, [words]
        )
        said.append(chances[others])
    np.testing.assert_array_equal(*said)
    without = wrong_probability(scores, nothing_against(scores.shape), columns, 3, scores < 0)
    assert np.abs(without[others] - said[0]).max() > 0.01  # all of them counted


@pytest.mark.parametrize("seed", range(3))
def test_nothing_stands_out_of_noise(seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(300, 6)), random.random(300) < 0.1  # a rare class, by chance
    found = inspect_cells(X, y, progress=False)
    assert found._cells.summary == "nothing stands out"


def test_what_stands_out_is_wrong_and_repairs_lower_what_is_expected():
    random = np.random.default_rng(1)
    size = random.normal(size=400)
    clean = np.column_stack([size + random.normal(0, 0.3, 400) for _ in range(6)]).round(2)
    wrong = np.zeros(clean.shape, dtype=bool)
    wrong[random.permutation(400)[:30], random.integers(6, size=30)] = True
    half = wrong & (np.arange(400) < 200)[:, None]
    spoiled = np.where(wrong, -10 * clean, clean)
    found, left, none = (
        inspect_cells(table, progress=False)
        for table in (spoiled, np.where(half, clean, spoiled), clean)
    )
    assert found._cells.standing_out.any() and wrong[found._cells.standing_out].all()
    likely = found.probability >= 0.5
    assert (likely & wrong).sum() >= 15 and not (likely & ~wrong).any()
    low, high = found.expected_errors_interval
    assert low <= wrong.sum() <= high
    for inspection, errors in ((found, wrong), (left, wrong & ~half)):
        assert 0.5 < inspection.expected_errors / errors.sum() < 2
    assert found.expected_errors - left.expected_errors > half.sum() / 2
    assert none._cells.summary == "nothing stands out" and none.expected_errors < 3


def test_findings_count_in_the_one_probability():
    """A code for missing that many rows have looks usual; the finding says what it is."""
    random = np.random.default_rng(0)
    X = {"a": random.normal(100, 10, 300).round(1), "b": random.normal(size=300).round(2)}
    X["a"][:40] = 9999.0
    found = inspect_cells(X, progress=False)
    (codes,) = [one for one in found.findings if one.kind == "codes"]
    assert codes.rows.tolist() == list(range(40))
    assert found.probability[:40, 0].min() > 0.9
    assert np.median(found.probability[40:, 0]) < 0.05


def test_kinds_of_findings_without_a_weight_state_their_chance():
    rows = np.array([0, 2])
    dates = ColumnFinding(("a",), "date orders", "", rows, chances=np.array([0.7, 0.4]))
    codes = ColumnFinding(("a",), "codes", "", np.array([1]), probability=0.9)
    assert stated_chance([dates, codes], 4).tolist() == [0.7, 0.0, 0.4, 0.0]
    assert found_evidence([dates, codes], 4)["found"].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_a_repeated_entry_of_a_nearly_unique_column_is_suspicious():
    unique, few = np.arange(200.0), np.arange(200.0) % 50
    unique[7] = unique[3]
    for entries, suspicious in ((unique, [3, 7]), (few, [])):
        column = Column("id", "number", entries)
        table = Scores.of(np.random.default_rng(0).normal(size=(200, 1)))
        evidence = cell_evidence(
            table, 0, column, nothing_against(200), entries < 0, 0 * entries, []
        )
        assert np.flatnonzero(evidence["repeated key"]).tolist() == suspicious


def test_the_chance_that_a_rule_states_counts_by_itself():
    rule = ColumnFinding(("a",), "rule", "", np.arange(2), chances=np.array([0.5, 0.9]))
    other = ColumnFinding(("a",), "spellings", "", np.array([2]), probability=0.9)
    evidence = found_evidence([rule, other], 4)
    assert evidence["chance of rule"] == pytest.approx([0, np.log(9), 0, 0])
    assert evidence["chance"] == pytest.approx([0, np.log(9), np.log(9), 0])


@pytest.mark.parametrize("tail", [True, False])
def test_the_decimal_point_did_not_slip_in_a_heavy_tail_nor_in_a_number_that_comes_back(tail):
    rng = np.random.default_rng(1)
    entries = rng.normal(5, 0.5, 1000).round(2)
    entries[0] = 53.0
    expected = (Expected(np.full(1000, 5.3), np.full(1000, 4.0), np.full(1000, 6.0)),)
    chances = np.zeros((1000, 1))
    chances[0] = 0.9
    notes, _ = explain_suspects([Column("a", "number", entries)], expected, chances)
    assert notes == {(0, 0): "the decimal point slipped: 53 for 5.3"}
    entries[500:540] = rng.uniform(40, 900, 40).round(2) if tail else 53.0
    notes, _ = explain_suspects([Column("a", "number", entries)], expected, chances)
    assert not notes


def test_labels_of_a_hard_task_are_not_called_wrong():
    """Chances that are right, and no label flipped: a third of the labels is against the odds."""
    random = np.random.default_rng(0)
    ones = random.beta(2, 2, size=3000)
    given = np.where(random.random(3000) < ones, ones, 1 - ones)
    said = label_probability(-np.log(given), np.full(3000, 0.5))
    assert (said >= 0.5).mean() <= 1 / 500 and said.mean() < 0.05


def test_labels_against_the_odds_are_suspects_unless_their_class_is_rare():
    random = np.random.default_rng(0)
    flipped = random.random(2000) < 0.03
    given = np.where(flipped, 0.03, 0.97)
    said = label_probability(-np.log(given), np.full(2000, 0.5))
    assert said[flipped].min() > 0.1
    assert said[~flipped].max() < 0.01
    rare = label_probability(-np.log(given), np.where(flipped, 0.04, 0.96))
    assert rare[flipped].max() < said[flipped].min() / 2
    assert not label_probability(np.ones(5), np.ones(5)).any()


def digits(number):
    return len(typed_number(number).replace(".", "").strip("0"))


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


def test_a_spike_that_may_well_be_true_is_no_evidence():
    """Nine of ten entries are 0, as in a column of capital losses: a finding, but nearly all right."""
    random = np.random.default_rng(0)
    scores = random.gamma(2.0, 1.0, size=(200, 3))
    columns = [Column(name, "number", random.normal(size=200)) for name in "abc"]
    none = nothing_against(scores.shape)
    spike = [ColumnFinding(("a",), "codes", "", np.arange(180), probability=0.2)]
    before, after = (
        wrong_probability(scores, none, columns, 3, scores < 0, found)[:180, 0]
        for found in ([], spike)
    )
    assert after.max() < 0.2 and np.abs(after - before).max() < 0.2
    sure = [ColumnFinding(("a",), "codes", "", np.arange(20), probability=0.9)]
    scores[:20, 0] = none["distance"][:20, 0] = 9.0  # and far from the others, as such codes are
    assert wrong_probability(scores, none, columns, 3, scores < 0, sure)[:20, 0].min() > 0.45


def test_a_rare_spelling_is_at_least_as_likely_wrong_as_the_finding_says():
    random = np.random.default_rng(0)
    city = random.choice(["Berlin", "Hamburg", "Munich"], 300).astype(object)
    city[7] = "Hamubrg"
    found = inspect_cells({"city": city, "size": random.normal(size=300)}, progress=False)
    (spelt,) = [one for one in found.findings if one.kind == "spellings"]
    said = chances_of(spelt)[spelt.rows.tolist().index(7)]
    assert found.probability[7, 0] >= said > 0.5
    assert found._cells.standing_out[7, 0]


def test_names_written_in_many_ways_are_not_wrong_for_it():
    """Names of places have signs and rare letters: alone, that says little."""
    random = np.random.default_rng(0)
    parts = ["San", "Nova", "Port", "Ost", "Lhok", "Rio", "Vila", "Berg", "Kirk", "Mont", "Tver"]
    signs = [" ", "-", "'", "/", " (", ". ", ", "]
    names = [
        "".join(random.choice(parts) + str(random.choice(signs)) for _ in range(2))
        + str(random.choice(parts))
        + str(i)
        for i in range(400)
    ]
    X = {"name": names, "size": random.normal(size=400), "age": random.normal(size=400)}
    found = inspect_cells(X, progress=False)
    assert found._cells.summary == "nothing stands out"


def test_a_slip_is_told_as_the_column_writes_its_numbers():
    random = np.random.default_rng(0)
    size = random.normal(1900, 60, 300).round(2)
    price = [f"{number:.2f}".replace(".", ",") for number in size]
    price[9] = price[9].replace(",", "")
    found = inspect_cells({"price": price, "twice": (2 * size).round(2)}, progress=False)
    meant = price[9][:-2] + "," + price[9][-2:]
    assert found._cells.notes[9, 0] == f"the decimal point slipped: {price[9]} for {meant}"
