"""Calibrated probabilities of being wrong: the evidence, the learned trees, what stands out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from shapley2d import inspect_cells
from shapley2d._inspection import probability
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.evidence import ALONE, KEPT, TOGETHER, in_context
from shapley2d._inspection.kernels.boosted_trees import BoostedTrees, sum_of_trees
from shapley2d._inspection.labels import LABELS, label_evidence, label_probability
from shapley2d._inspection.learned import SETTINGS
from shapley2d._inspection.probability import FIRST, REASONS, SECOND, damped
from shapley2d._inspection.said import headline
from shapley2d._inspection.score import inspect_table
from shapley2d._tables.convert import as_table


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
def test_nothing_stands_out_of_noise(seed):
    random = np.random.default_rng(seed)
    X, y = random.normal(size=(300, 6)), random.random(300) < 0.1  # a rare class, by chance
    found = inspect_cells(X, y, progress=False)
    assert headline(found) == "nothing stands out"


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
    assert headline(none) == "nothing stands out" and none.expected_errors < 3


def test_findings_count_in_the_one_probability():
    """A code for missing that many rows have looks usual; the finding says what it is."""
    random = np.random.default_rng(0)
    X = {"a": random.normal(100, 10, 300).round(1), "b": random.normal(size=300).round(2)}
    X["a"][:40] = 9999.0
    found = inspect_cells(X, progress=False)
    (codes,) = [one for one in found.findings if one.kind == "codes"]
    assert codes.rows.tolist() == list(range(40))
    assert found.probability[:40, 0].min() >= 0.8
    assert np.median(found.probability[40:, 0]) < 0.05


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
    assert headline(found) == "nothing stands out"


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


@pytest.mark.parametrize("learned", [FIRST, SECOND, LABELS], ids=["alone", "together", "labels"])
def test_the_learned_trees_are_whole(learned):
    trees = learned.trees
    inner = trees.features >= 0
    ends = np.append(trees.roots[1:], trees.features.size)
    end = np.repeat(ends, np.diff(np.append(trees.roots, trees.features.size)))
    nodes = np.arange(trees.features.size)
    assert trees.roots.size > 50 and trees.features.max() < len(learned.names)
    for child in (trees.lefts[inner], trees.rights[inner]):
        assert (child > nodes[inner]).all() and (child < end[inner]).all()
    # every node but the roots is the child of one
    children = np.concatenate([trees.lefts[inner], trees.rights[inner]])
    assert sorted(children) == sorted(set(nodes) - set(trees.roots))


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
    real = probability.company

    def without_vouching(views, threads):
        return [replace(one, vouched=0 * one.vouched) for one in real(views, threads)]

    monkeypatch.setattr(probability, "company", without_vouching)
    without = inspect_cells(X, progress=False)
    rare = np.s_[:4, :3]
    assert found.probability[rare].mean() < without.probability[rare].mean() / 1.5


@pytest.mark.parametrize(
    ("learned", "name", "sign"),
    [
        (model, name, sign)
        for model in (FIRST, SECOND, LABELS)
        for name, sign in (
            ("surprise", 1), ("stories", 1), ("distance", 1), ("slip", 1), ("broken", 1),
            ("repeated_key", 1), ("logit", 1), ("vouched", -1), ("odds", 1), ("lift", 1),
        )
        if name in model.names
    ],
)  # fmt: skip
def test_more_evidence_against_an_entry_never_speaks_for_it(learned, name, sign):
    random = np.random.default_rng(0)
    rows = random.uniform(-5.0, 5.0, (300, len(learned.names))).astype(np.float32)
    more = rows.copy()
    more[:, learned.names.index(name)] += random.gamma(1.0, 1.0, 300)
    assert (sign * (learned.logit(more) - learned.logit(rows))).min() >= -1e-12


def test_the_trees_look_at_the_evidence_that_there_is():
    assert FIRST.names == ALONE and SECOND.names == TOGETHER
    assert {name for names in REASONS.values() for name in names} <= {*KEPT}
    assert set(LABELS.names) == {*label_evidence(np.linspace(0.1, 3, 60), np.full(60, 0.5))}


def test_entries_are_seen_in_the_light_of_their_column_row_and_table():
    random = np.random.default_rng(0)
    logit, codes = random.normal(-3, 2, (50, 3)), random.integers(-1, 9, (50, 3))
    written = codes >= 0
    rows = in_context(logit, written, codes, 40)
    order = random.permutation(40)
    both = np.append(order, np.arange(40, 50))
    np.testing.assert_allclose(
        in_context(logit[both], written[both], codes[both], 40), rows[both], rtol=1e-5
    )
    some = logit[:40, 1][written[:40, 1]]
    np.testing.assert_allclose(rows[0, 1, 1:4], np.quantile(some, [0.5, 0.9, 0.98]), rtol=1e-5)
    chance = np.where(written, 1 / (1 + np.exp(-logit)), 0)
    assert rows[7, 2, 9] == pytest.approx(np.log1p(chance[7, :2].sum()), rel=1e-5)
    alike = chance[:40, 0][codes[:40, 0] == codes[45, 0]].sum() + chance[45, 0]
    assert rows[45, 0, 10] == pytest.approx(np.log(alike + 0.01), rel=1e-5)


def test_a_convention_states_how_likely_its_entries_are_wrong_and_other_findings_do_not():
    random = np.random.default_rng(0)
    table = as_table({"a": random.normal(size=60), "b": random.normal(size=60)})
    rows = np.array([3, 9])
    plain = inspect_table(table, None, progress=False).probability
    for kind, states in (("date orders", True), ("near-duplicates", False)):
        finding = ColumnFinding(("a",), kind, "", rows, chances=np.array([0.7, 0.001]))
        said = inspect_table(table, None, findings=[finding], progress=False).probability
        assert (said[3, 0] == 0.7) == states
        said[3, 0] = plain[3, 0]
        np.testing.assert_array_equal(said, plain)


def test_probabilities_stay_below_certainty_and_empty_cells_have_none():
    random = np.random.default_rng(0)
    size = random.normal(size=300).round(2)
    X = {"a": size.tolist(), "b": random.normal(size=300).tolist()}
    X["a"][7], X["b"][9] = 4e6, None
    said = inspect_cells(X, progress=False).probability
    assert said[7, 0] == said.max() < SETTINGS["most"] and said[9, 1] == 0


def test_what_a_trusted_table_has_as_well_is_right_in_new_rows_too():
    trusted, new = np.array([[0.1], [0.2], [0.9], [0.3]]), np.array([[0.95], [0.25]])
    said = damped(new, trusted, 0.02)
    assert said[:, 0] == pytest.approx([0.95, 0.25 * 0.02 / 0.52])


def test_reasons_are_told_of_suspects_alone():
    random = np.random.default_rng(0)
    table = as_table({"a": random.normal(size=200), "b": random.normal(size=200)})
    found = inspect_table(table, None, progress=False)
    told = np.sum([*found.parts.values()], axis=0) > 0
    assert not told[found.probability < probability.SUSPECT].any()
