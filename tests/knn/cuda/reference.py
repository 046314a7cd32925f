"""Games for the GPU, and their row values by plain numpy, weighted over validation rows."""

from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from knn.row_oracles import binned_groups, twin
from shapley2d._knn.gpu import GpuNeighbours
from shapley2d._knn.metric import Columns
from shapley2d._knn.neighbours import Neighbours


class Case(NamedTuple):
    """A game, and what it is made of."""

    columns: Columns
    y: np.ndarray
    y_valid: np.ndarray
    weights: np.ndarray
    asked: dict

    def rows(self, kind=Neighbours, **more):
        asked = {
            "task": self.asked["task"],
            "n_neighbors": self.asked["k"],
            "semivalue": self.asked["semivalue"],
        }
        return kind(self.columns, self.y, self.y_valid, valid_weights=self.weights, **asked, **more)

    def on_gpu(self, device, near=None):
        return self.rows(GpuNeighbours, device=device, near=near)


def make_case(columns, y, y_valid, weights=None, *, task, k=5, semivalue="shapley"):
    weights = np.ones(len(y_valid)) if weights is None else weights / weights.mean()
    asked = {"task": task, "k": k, "semivalue": semivalue}
    return Case(columns, y, y_valid, weights, asked)


def random_case(task, *, n=300, n_valid=5, m=5, seed=0, values=None, **asked):
    """A random game: a column of categories, one with gaps, one mirrored, a far validation row."""
    rng = np.random.default_rng(seed)
    draw = rng.normal if values is None else lambda size: rng.integers(0, values, size) / 8.0
    train, valid = draw(size=(m, n)), draw(size=(m, n_valid))
    train[0], valid[0] = rng.integers(0, 4, n), rng.integers(0, 5, n_valid)
    weight = rng.uniform(0.5, 2.0, m)
    if m > 3:
        train[1, 3::7], valid[1, 1] = np.nan, np.nan
        train[3], valid[3], weight[3] = -train[2], -valid[2], weight[2]
        valid[2:4, -1] = [1000.0, -1000.0]
    if task == "classification":
        y, y_valid = rng.integers(0, 3, n), rng.integers(-1, 3, n_valid)
    else:
        y, y_valid = rng.normal(size=n) ** 3, rng.normal(size=n_valid)
    columns = Columns(train, valid, np.arange(m) == 0, weight, np.full(m, 1.5))
    return make_case(columns, y, y_valid, rng.uniform(0.5, 2.0, n_valid), task=task, **asked)


def mean_values(case, subsets, valid, near):
    """Row values under every subset, mean over validation rows, in the order of the table."""
    found = np.zeros((len(subsets), case.columns.n_rows))
    groups_of = partial(binned_groups, near=near, ranked=near)
    for t in valid:
        alone = replace(case.columns, valid=case.columns.valid[:, [t]])
        for k, subset in enumerate(subsets):
            own = twin(alone, case.y, case.y_valid[[t]], subset, groups_of=groups_of, **case.asked)
            found[k] += case.weights[t] * own / len(valid)
    return found
