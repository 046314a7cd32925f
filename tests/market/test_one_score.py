"""The same question has the same score, whoever owns what."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d import KNN, Forest, value_blocks, value_cells

OWNERS = [{"owner": "A", "row": "0-24"}, {"owner": "B", "row": "25-59"}]


def rare_class(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(140, 4))
    y = np.where(X[:, 0] + 0.5 * X[:, 1] > 1.2, "yes", "no")
    return X[:60], y[:60], X[60:], y[60:]


@pytest.mark.parametrize("scoring", [None, "balanced_accuracy"])
@pytest.mark.parametrize(
    "method", [KNN(), KNN(3, votes="share"), Forest(max_trees=20, tolerance=0)]
)
def test_owners_are_worth_the_sums_of_their_cells(method, scoring):
    asked = {"method": method, "scoring": scoring, "progress": False}
    cells = value_cells(*rare_class(), **asked)
    blocks = value_blocks(*rare_class(), owners=OWNERS, **{"parties": "anonymous", **asked})
    rows = cells.row_values
    assert blocks.owners["value"].tolist() == pytest.approx([rows[:25].sum(), rows[25:].sum()])
    utilities = [found.info["baseline_utility"] for found in (blocks, cells)]
    assert utilities[0] == pytest.approx(utilities[1], rel=1e-14)
    assert blocks.info["score"] == cells.info["score"]
