"""Random tables of every kind for models of other libraries, and our leaf of every row."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from shapley2d._forest.ensemble import read_fitted
from shapley2d._forest.kernels.leaf_states import find_leaves
from shapley2d._tables.problem import make_problem

TARGETS = ("two classes", "four classes", "numbers")
KINDS = 7  # of columns, see :func:`numbers`


@st.composite
def tables_of_numbers(draw):
    """A random generator, and a table of 12 to 150 rows with columns of any kinds, in any order."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(12, 150))
    kinds = draw(st.lists(st.integers(0, KINDS - 1), min_size=1, max_size=KINDS))
    return random, numbers(random, n)[:, kinds]


def numbers(random, n):
    """A matrix with ties, gaps, zeros, tiny and huge numbers, constants, and numbers that 32 bits round."""
    columns = [
        random.normal(size=n),
        random.integers(-2, 4, n).astype(float),
        random.choice([0.0, -0.0, 1e-36, 1e-30, 0.1, 0.3], n),
        1 + random.integers(0, 40, n) * 2.0**-26,  # a few of them are one number in 32 bits
        random.normal(size=n) * 1e30,
        np.full(n, 7.0),
        random.integers(2**24 - 3, 2**24 + 5, n).astype(float),
    ]
    X = np.column_stack(columns)
    for j in np.flatnonzero(random.random(X.shape[1]) < 0.5):
        X[random.random(n) < 0.2, j] = np.nan
    return X


def target(random, X, kind):
    """A target that depends on all columns a little."""
    place = np.argsort(np.argsort(np.nan_to_num(X, nan=-1.0), axis=0), axis=0) / len(X)
    score = place @ random.normal(size=X.shape[1]) + 0.1 * random.normal(size=len(X))
    if kind == "numbers":
        return score
    cuts = [0.5] if kind == "two classes" else [0.2, 0.5, 0.7]
    return np.searchsorted(np.quantile(score, cuts), score)


def near_thresholds(X, thresholds, random):
    """Rows whose entries are thresholds, or the next numbers beside them in 64 and in 32 bits."""
    rows = X[random.integers(len(X), size=200)].copy()
    for j, limits in thresholds.items():
        known = np.asarray(limits, dtype=float)
        known = known[np.abs(known) < 1e37]  # a split of all numbers from what is missing
        if not known.size:
            continue
        at = random.choice(known, 200)
        single = at.astype(np.float32)
        beside = np.stack(
            [
                at,
                np.nextafter(at, -np.inf),
                np.nextafter(at, np.inf),
                np.nextafter(single, np.float32(-np.inf)).astype(float),
                np.nextafter(single, np.float32(np.inf)).astype(float),
            ]
        )
        changed = beside[random.integers(5, size=200), np.arange(200)]
        some = random.random(200) < 0.7
        rows[some, j] = changed[some]
    return rows


def mixed(random, n):
    """A frame of pandas with numbers, gaps, and categories of text and of numbers; and two classes."""
    random = np.random.default_rng(random)
    frame = pd.DataFrame(
        {
            "a size": random.normal(size=n),
            "town": pd.Categorical(random.choice([f"t{k}" for k in range(45)], n)),
            "grade": pd.Categorical(random.choice([3, 7, 9], n), categories=[9, 3, 7, 5]),
            "new": random.random(n) < 0.5,
            "level": random.integers(0, 6, n),
        }
    )
    frame.loc[random.random(n) < 0.1, "a size"] = np.nan
    score = frame["town"].cat.codes % 3 - (frame["grade"] == 3) + np.sign(frame["a size"].fillna(0))
    noise = 0.1 * random.normal(size=n)
    return frame, (score.to_numpy(dtype=float) + noise > 0).astype(int)


def fields(model, split):
    """The trees of a fitted model, and the features of both tables of a split."""
    found = read_fitted(model, split)
    return SimpleNamespace(
        model=found, train=found.see(split.train), valid=found.see(split.valid), split=split
    )


def read(model, X, y, X_valid):
    """The trees and features of a fitted model."""
    task = "regression" if np.asarray(y).dtype.kind == "f" else "classification"
    (split,) = make_problem(X, y, X_valid, y[: len(X_valid)], task=task).splits
    return fields(model, split)


def by_category(tree):
    """Whether each node splits on categories."""
    return np.diff(tree.sets) > 0


def leaves(ensemble):
    """The node of every validation row in every tree, (rows, trees)."""
    found = np.empty((len(ensemble.model.trees), ensemble.valid.shape[1]), dtype=np.int32)
    for tree, line in zip(ensemble.model.trees, found, strict=True):
        find_leaves(tree, ensemble.valid, line)
    return found.T


def thresholds(ensemble, *, below=False):
    """The numbers that splits compare with, by column; of "less than", the next above ours."""
    found = {}
    for tree in ensemble.model.trees:
        for node in np.flatnonzero((tree.left >= 0) & ~by_category(tree)):
            limit = np.nextafter(tree.threshold[node], np.inf) if below else tree.threshold[node]
            column = int(ensemble.model.owners[tree.feature[node]])
            found.setdefault(column, []).append(limit)
    return found
