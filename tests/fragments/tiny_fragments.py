"""Small fragments with overlaps and holes, and the game of contributors by brute force."""

import numpy as np
import pandas as pd

from shapley2d import value_fragments

from oracles import brute_force

QUIET = {"progress": False}


def pool(n=42, seed=0, task="classification", n_classes=2):
    """A table of two numbers and a text with ids, and a target that depends on all columns."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "age": random.normal(size=n).round(2),
            "debt": random.integers(0, 9, n).astype(float),
            "town": random.choice(["Ulm", "Bonn", "Kiel"], n),
        },
        index=random.permutation(n) + 100,
    )
    y = (
        table["age"]
        + (table["debt"] - 4) / 3
        + (table["town"] == "Ulm")
        + random.normal(size=n) / 3
    )
    if task == "classification":
        y = pd.Series(np.digitize(y, [0.3, 1.3][: n_classes - 1]), index=table.index)
    return table, y.rename("late")


def holding(table, masks):
    """The fragments of contributors by what each holds: a mask in the shape of the table."""
    columns = {
        name: [c for j, c in enumerate(table) if mask[:, j].any()] for name, mask in masks.items()
    }
    return {
        name: table.where(mask).loc[mask.any(axis=1), columns[name]] for name, mask in masks.items()
    }


def tiny(n=30, n_valid=12, seed=0, task="classification", n_classes=2, kinds="both"):
    """Three fragments that overlap and leave holes, everybody's labels, and a validation table."""
    table, y = pool(n + n_valid, seed, task, n_classes)
    if kinds == "numbers":
        table = table[["age", "debt"]].assign(size=np.random.default_rng(9).normal(size=len(table)))
    random = np.random.default_rng(seed + 1)
    shape = (n, table.shape[1])
    masks = {name: np.zeros(shape, dtype=bool) for name in ("Bank", "Shop", "Office")}
    masks["Bank"][: 2 * n // 3, :2] = True
    masks["Shop"][n // 3 :, 1:3] = True
    masks["Office"][random.choice(n, n // 2, replace=False), shape[1] - 2 :] = True
    masks["Bank"] &= random.random(shape) < 0.9
    some = np.any(list(masks.values()), axis=(0, 2))
    return holding(table[:n], masks), y[:n][some], table[n:].assign(late=y[n:])


def value(fragments, y, valid, **options):
    """Values without a progress report."""
    return value_fragments(fragments, y, valid, **(QUIET | options))


class BruteForce:
    """h(C, F) by its definition: own union, own training, own score; nothing is shared with the package but the judge.

    ``predict(train, y, valid)``: probabilities (validation rows, classes) or numbers, from a frame
    in which missing entries are NaN or None; rows sorted by id, columns by name.
    ``score(y_valid, predictions)``.
    """

    def __init__(self, fragments, y, valid, predict, score, target="late"):
        self.fragments, self.y, self.predict, self.score = fragments, y, predict, score
        self.columns = sorted({c for one in fragments.values() for c in one} - {target})
        self.valid, self.y_valid = valid[self.columns], valid[target].to_numpy()
        self.names, self.memo = list(fragments), {}

    def h(self, contributors, columns):
        key = frozenset(contributors), frozenset(columns)
        if key not in self.memo:
            self.memo[key] = self._trained(contributors, sorted(columns))
        return self.memo[key]

    def _trained(self, contributors, columns):
        parts = [self.fragments[name] for name in contributors]
        held = {c: pd.concat([part[c] for part in parts if c in part]).dropna()
                for c in columns if any(c in part for part in parts)}  # fmt: skip
        held = {c: one[~one.index.duplicated()] for c, one in held.items() if len(one)}
        union = pd.DataFrame(held).sort_index()
        y = self.y.reindex(union.index)
        y.attrs["n_classes"] = self.y.nunique()
        if union.empty or y.nunique() < 2:
            return 0.0
        return (
            self.score(self.y_valid, self.predict(union, y, self.valid[union.columns])) - self.base
        )

    @property
    def base(self):
        ids = sorted({i for one in self.fragments.values() for i in one.index})
        return self.score(self.y_valid, prior(self.y.reindex(ids).dropna(), len(self.y_valid)))

    def values(self, rows="shapley", columns="shapley"):
        """The 2D values, from second differences over all pairs of sets."""
        n, m = len(self.names), len(self.columns)
        return brute_force(self._of_places, n, m, rows, columns)

    def of_contributors(self, rows="shapley"):
        """The values of contributors, under all columns."""
        every = range(len(self.columns))
        found = brute_force(
            lambda S, F: self._of_places(S, every) if F else 0.0, len(self.names), 1, rows
        )
        return found[:, 0]

    def _of_places(self, S, F):
        return self.h([self.names[i] for i in S], [self.columns[j] for j in F])


def prior(y, n_valid):
    """What labels alone predict: shares of the classes, or the mean."""
    if y.dtype.kind == "f":
        return np.full(n_valid, y.mean())
    return np.tile(y.value_counts(normalize=True).sort_index().to_numpy(), (n_valid, 1))


def probability(y, predictions):
    return np.mean([line[int(label)] for label, line in zip(y, predictions, strict=True)])


def r_squared(y, predictions):
    return 1 - np.mean((y - predictions) ** 2) / np.var(y)
