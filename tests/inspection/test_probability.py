"""Calibrated probabilities of being wrong: the evidence, the learned trees, what stands out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from shapley2d import inspect_cells
from shapley2d._inspection import probability
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.evidence import Scores, cell_evidence, found_evidence, stated_chance
from shapley2d._inspection.kernels.boosted_trees import BoostedTrees, sum_of_trees
from shapley2d._inspection.learned import LEARNED, SETTINGS, WEIGHTS
from shapley2d._inspection.probability import CELLS, LABELS, label_probability, wrong_probability
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Column


def nothing_against(shape):
    return {name: np.zeros(shape) for name in WEIGHTS}


def test_chances_never_reach_certainty():
    random = np.random.default_rng(0)
    scores = random.gamma(2.0, 1.0, size=(500, 8))
    scores[0, 0] = 400.0
    columns = [Column(name, "number", random.normal(size=500)) for name in "abcdefgh"]
    parts = nothing_against(scores.shape) | {"distance": WEIGHTS["distance"] * scores}
    chances = wrong_probability(scores, parts, columns, 8, scores < 0)
    assert chances[0, 0] == chances.max() < SETTINGS["most"]
    assert chances.min() > 0 and chances.mean() < 0.03


def test_numbers_in_a_tail_keep_their_order_below_one_half():
    said = np.linspace(0.0, 0.99, 100)
    usual = probability.as_in_tail(said)
    assert (np.diff(usual) > 0).all() and usual.max() < 0.5
    assert np.array_equal(usual[said < 0.45], said[said < 0.45])


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
    evidence = {name: random.gamma(1.0, 2.0, n) for name in CELLS.evidence} | {"sure": -4.0}
    some = np.arange(0, n, 1000)
    few = {name: one if np.ndim(one) == 0 else one[some] for name, one in evidence.items()}
    np.testing.assert_array_equal(
        CELLS.probability(evidence, n, threads=2)[some], CELLS.probability(few, some.size)
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
    said = spelt.row_chances[spelt.rows.tolist().index(7)]
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


def test_the_sum_of_trees_is_that_of_scikit_learns_own():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 5)).astype(np.float32)
    fitted = [
        DecisionTreeRegressor(max_leaf_nodes=k + 2, random_state=k).fit(X, random.normal(size=400))
        for k in range(4)
    ]
    first = np.cumsum([0, *(one.tree_.node_count for one in fitted)])[:-1]
    is_leaf = np.concatenate([one.tree_.children_left < 0 for one in fitted])
    of_trees = list(zip(fitted, first, strict=True))
    trees = BoostedTrees(
        first.astype(np.int32),
        np.where(is_leaf, -1, np.concatenate([one.tree_.feature for one in fitted])).astype(
            np.int32
        ),
        np.concatenate([one.tree_.threshold for one in fitted]).astype(np.float32),
        np.concatenate([one.tree_.children_left + k for one, k in of_trees]).astype(np.int32),
        np.concatenate([one.tree_.children_right + k for one, k in of_trees]).astype(np.int32),
        np.concatenate([one.tree_.value.ravel() for one in fitted]),
    )
    new = random.normal(size=(300, 5)).astype(np.float32)
    np.testing.assert_allclose(sum_of_trees(trees, new), sum(one.predict(new) for one in fitted))


@pytest.mark.parametrize("learned", [CELLS, LABELS], ids=["cells", "labels"])
def test_the_learned_trees_are_whole(learned):
    trees = learned.trees
    inner = trees.features >= 0
    ends = np.append(trees.roots[1:], trees.features.size)
    end = np.repeat(ends, np.diff(np.append(trees.roots, trees.features.size)))
    nodes = np.arange(trees.features.size)
    assert trees.roots.size > 50 and trees.features.max() < len(learned.evidence)
    for child in (trees.lefts[inner], trees.rights[inner]):
        assert (child > nodes[inner]).all() and (child < end[inner]).all()
    # every node but the roots is the child of one
    children = np.concatenate([trees.lefts[inner], trees.rights[inner]])
    assert sorted(children) == sorted(set(nodes) - set(trees.roots))


@pytest.mark.parametrize(
    ("learned", "name", "sign"),
    [
        (model, name, sign)
        for model, of in ((CELLS, "cells"), (LABELS, "labels"))
        for direction, sign in (("rising", 1), ("falling", -1))
        for name in LEARNED[of][direction]
    ],
)
def test_more_evidence_against_an_entry_never_speaks_for_it(learned, name, sign):
    random = np.random.default_rng(0)
    evidence = {one: random.uniform(-5.0, 3.0, 300) for one in learned.evidence}
    more = evidence | {name: evidence[name] + random.gamma(1.0, 1.0, 300)}
    change = learned.probability(more, 300) - learned.probability(evidence, 300)
    assert (sign * change).min() >= -1e-12


def test_the_trees_look_at_evidence_that_there_is():
    scores = np.random.default_rng(0).normal(size=(60, 1))
    column, table = Column("a", "number", scores[:, 0]), Scores.of(scores)
    of_cells = cell_evidence(
        table, 0, column, nothing_against(60), scores[:, 0] < 0, scores[:, 0], []
    )
    of_table = probability.table_evidence(
        table, probability.Tail.of(scores, scores > 9, scores > 9), scores
    )
    known = {*of_cells, *of_table}
    assert {name for name in CELLS.evidence if not name.startswith("found ")} <= known
    of_labels = probability.label_evidence(np.abs(scores[:, 0]), np.full(60, 0.5))
    assert set(LABELS.evidence) == set(of_labels)


def test_texts_of_one_shape_among_numbers_count_as_repeated():
    entries = [str(i) for i in range(200)]
    entries[5:9] = ["4A", "17A", "5B", "80C"]
    entries[60] = "12?!4"
    (column,) = as_table({"family": entries}).columns
    table = Scores.of(np.random.default_rng(0).normal(size=(200, 1)))
    evidence = cell_evidence(
        table, 0, column, nothing_against(200), np.zeros(200, dtype=bool), np.zeros(200), []
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
    monkeypatch.setattr(probability, "vouched", lambda columns, *_: np.zeros((600, len(columns))))
    without = inspect_cells(X, progress=False)
    rare = np.s_[:4, :3]
    assert found.probability[rare].mean() < without.probability[rare].mean() / 2


def test_new_rows_are_as_rare_and_as_far_out_as_if_each_were_one_more_row():
    random = np.random.default_rng(0)
    for _ in range(30):
        n = int(random.integers(2, 30))
        entries = np.where(random.random(n) < 0.2, np.nan, random.poisson(3, n))
        known = int(random.integers(1, n + 1))
        table, column = Scores.of(np.zeros((n, 1)), None, known), Column("a", "number", entries)
        nothing = np.zeros(n)
        said = cell_evidence(table, 0, column, nothing_against(n), nothing > 0, nothing, [])
        rare, far = said["as rare"], said["as far"]
        for i in range(n):
            own = np.append(entries[:known], entries[i]) if i >= known else entries[:known]
            there, one = own[~np.isnan(own)], entries[i]
            if np.isnan(one):
                assert rare[i] == far[i] == 0
                continue
            counts = np.array([(there == each).sum() for each in there])
            assert rare[i] == pytest.approx(np.log(np.mean(counts <= (there == one).sum())))
            outside = min((there <= one).sum(), (there >= one).sum())
            assert far[i] == pytest.approx(np.log(min(1, 2 * outside / there.size)))
