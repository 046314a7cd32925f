"""What was learned on other tables, and the kernel that asks the trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from shapley2d._inspection.learned import (
    CELL_EVIDENCE,
    CELL_WEIGHTS,
    CELLS,
    FALLING,
    LABEL_EVIDENCE,
    LABELS,
    RISING,
    RISING_FOR_LABELS,
)
from shapley2d._kernels.boosted_trees import BoostedTrees, sum_of_trees


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
    assert {"base", "height", "found", "chance"} < set(CELL_WEIGHTS)
    # other evidence needs other trees: benchmarks/calibration.py --write
    assert (CELLS.evidence, LABELS.evidence) == (CELL_EVIDENCE, LABEL_EVIDENCE)


def said_with_more(learned, name):
    """What trees say of random evidence, and of the same with more of one kind."""
    random = np.random.default_rng(0)
    evidence = {one: random.uniform(-5.0, 3.0, 300) for one in learned.evidence}
    more = evidence | {name: evidence[name] + random.gamma(1.0, 1.0, 300)}
    return learned.ask(evidence, 300), learned.ask(more, 300)


@pytest.mark.parametrize("name", RISING_FOR_LABELS)
def test_a_label_more_against_the_odds_is_never_less_likely_wrong(name):
    said, with_more = said_with_more(LABELS, name)
    assert (with_more >= said - 1e-12).all()


@pytest.mark.parametrize("name", [*RISING, *FALLING])
def test_more_evidence_against_an_entry_never_speaks_for_it(name):
    said, with_more = said_with_more(CELLS, name)
    change = with_more - said if name in RISING else said - with_more
    assert change.min() >= -1e-12
