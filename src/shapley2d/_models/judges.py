"""Judges: models that are trained on any set of held cells, all other cells being missing.

A judge must take missing entries as such: nothing is imputed for it. Boosted trees send them to the
better side, naive Bayes skips them, nearest neighbours have their rule (see ``_knn/metric.py``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._models.by_name import check_neighbours, is_built_in, knn_of, resolve_model
from shapley2d._tables.encoding import encode_tables
from shapley2d._trees.boosting import Boosting
from shapley2d.exceptions import InputError, Setting, UtilityError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._knn.method import KNN
    from shapley2d._knn.metric import Columns
    from shapley2d._tables.problem import Split
    from shapley2d._tables.table import Table

TAKE_MISSING = ("boosting", "gaussian_nb", "knn", "hist_gradient_boosting", "tree")
"""Models by name that take missing entries."""


def make_judge(model: Any, split: Split, seed: int) -> Boosting | Judge:
    """The judge that a model makes: a name, nearest neighbours, or a scikit-learn estimator."""
    name, neighbours = model if isinstance(model, str) else "", knn_of(model)
    if name == "boosting":
        return Boosting.coded(split.train, split.y, split.valid)
    if name == "gaussian_nb" or neighbours is not None:
        if split.y.task == "regression":
            raise InputError(
                Setting("method", model), " predicts classes, but the target holds numbers: use ",
                Setting("method", "boosting"),
            )  # fmt: skip
        return NaiveBayesJudge(split) if neighbours is None else NeighboursJudge(split, neighbours)
    if is_built_in(model):
        raise InputError(
            Setting("method", model), " does not take missing entries: use one of ",
            ", ".join(map(repr, TAKE_MISSING)),
        )  # fmt: skip
    return EstimatorJudge(resolve_model(model, split.y.task), split, seed)


class Judge(ABC):
    """A model of one training table and one validation table."""

    def __init__(self, split: Split) -> None:
        self._split = split

    def predict(self, held: Bools) -> Floats | None:
        """Predictions from the held cells (columns x rows); None where these teach nothing.

        Probabilities (classes x validation rows), or numbers (1 x validation rows). Rows of which
        no cell is held are not there; labels that are all equal teach nothing.
        """
        rows: Bools = np.asarray(held.any(axis=0))
        codes = self._split.y.codes[rows]
        differ = codes.size and (codes != codes[0]).any()
        return self._predict(held, rows) if differ else None

    @abstractmethod
    def _predict(self, held: Bools, rows: Bools) -> Floats:
        """The same, of rows that differ in their labels."""

    def _part(self, held: Bools, rows: Bools) -> tuple[Table, Table]:
        """What is trained on, and its columns of the validation rows."""
        train, valid, used = self._split.train, self._split.valid, np.flatnonzero(held.any(axis=1))
        columns = tuple(
            train.columns[j].with_entries(np.where(held[j], train.columns[j].entries, np.nan)[rows])
            for j in used
        )
        names = train.row_names[rows]
        return (
            replace(train, columns=columns, row_names=names, lines=None, rows=None),
            replace(valid, columns=tuple(valid.columns[j] for j in used), rows=None),
        )


class EstimatorJudge(Judge):
    """A scikit-learn estimator on the encoded table, NaN where a cell is not held."""

    def __init__(self, model: Any, split: Split, seed: int) -> None:
        from shapley2d._models.fitting import Trainer

        super().__init__(split)
        y, numbers = split.y, np.arange(split.y.classes.size)
        if y.task == "classification":
            split = replace(split, y=replace(y, y=y.codes, classes=numbers))
        self._trainer = Trainer(model, split, seed % 2**32, option="method")
        self._numbers = numbers[:, None]

    def _predict(self, held: Bools, rows: Bools) -> Floats:
        train, valid = _encoded(*self._part(held, rows))
        trainer, columns = self._trainer, np.asarray(held.any(axis=1))
        try:
            with without_warnings(), trainer.failures(rows, columns):
                fitted = trainer.fit(train, np.flatnonzero(rows))
                if hasattr(trainer.model, "predict_proba"):
                    return np.ascontiguousarray(fitted.predict_proba(valid).T)
                found = np.asarray(fitted.predict(valid), dtype=np.float64)
                return (
                    np.where(self._numbers == found, 1.0, 0.0)
                    if self._numbers.size
                    else found[None]
                )
        except UtilityError as error:
            if "contains NaN" not in str(error.__cause__):
                raise
            name = trainer.name
            raise InputError(
                f"{name} refuses missing entries, and what a set of contributors lacks is "
                "missing: say what to put there, as in method=make_pipeline(SimpleImputer(), "
                f"{name}())"
            ) from error


def _encoded(train: Table, valid: Table) -> tuple[Floats, Floats]:
    """Both tables as numbers; words that training does not have leave no trace of who has them."""
    tables = encode_tables(train, valid)
    is_number = np.array([column.kind != "category" for column in train.columns])
    there = tables.train.any(axis=0) | is_number[tables.owners]

    def known(table: Table, matrix: Floats) -> Floats:
        # a missing category is missing, not none of them
        missing = np.stack([np.isnan(column.entries) for column in table.columns])
        return np.asarray(np.where(missing[tables.owners].T, np.nan, matrix)[:, there])

    return known(train, tables.train), known(valid, tables.valid)


class NaiveBayesJudge(Judge):
    """Gaussian naive Bayes that skips missing entries; of text the share of a word in a class."""

    def _predict(self, held: Bools, rows: Bools) -> Floats:
        y, train, valid = self._split.y, self._split.train.columns, self._split.valid.columns
        counts = np.bincount(y.codes[rows], minlength=y.classes.size)
        with np.errstate(divide="ignore"):
            logs = np.log(counts / counts.sum())[:, None] + np.zeros(self._split.valid.n_rows)
        for own, column, seen in zip(held, train, valid, strict=True):
            if own.any():
                each = _word_logs if column.kind == "category" else _normal_logs
                logs += each(column.entries[own], y.codes[own], seen.entries, y.classes.size)
        shares = np.exp(logs - logs.max(axis=0))
        return np.asarray(shares / shares.sum(axis=0))


def _normal_logs(x: Floats, codes: Any, at: Floats, n_classes: int) -> Floats:
    """Log densities of a column; a class without two entries takes those of all classes."""
    spread = x.std()
    if x.size < 2 or spread == 0:
        return np.zeros((n_classes, at.size))
    found = np.empty((n_classes, at.size))
    for c in range(n_classes):
        mine = x[codes == c] if (codes == c).sum() > 1 else x
        width = max(mine.std(), 0.1 * spread)
        found[c] = -0.5 * ((at - mine.mean()) / width) ** 2 - np.log(width)
    found[:, np.isnan(at)] = 0.0
    return found


def _word_logs(x: Floats, codes: Any, at: Floats, n_classes: int) -> Floats:
    """Log shares of words in each class, every word counted once more."""
    known, place = np.unique(x, return_inverse=True)
    counts = np.ones((n_classes, known.size))
    np.add.at(counts, (codes, place), 1.0)
    logs = np.log(counts / counts.sum(axis=1, keepdims=True))
    there = np.isin(at, known)
    return np.asarray(np.where(there, logs[:, np.searchsorted(known, at) * there], 0.0))


class NeighboursJudge(Judge):
    """The share of votes of the nearest rows, as in ``KNN``; entries not held are missing."""

    def __init__(self, split: Split, method: KNN) -> None:
        check_neighbours(method, "contributors")
        super().__init__(split)
        self._method = method

    def _predict(self, held: Bools, rows: Bools) -> Floats:
        from shapley2d._knn.metric import measure

        y, method = self._split.y, self._method
        columns = measure(*self._part(held, rows), method.metric, tells=False)
        return _votes(columns, y.codes[rows], y.classes.size, method.n_neighbors)


def _votes(columns: Columns, codes: Any, n_classes: int, k: int) -> Floats:
    """The share of each class among the k nearest rows; those that tie for the last share it."""
    n, of_class = columns.n_rows, np.equal.outer(codes, np.arange(n_classes)).astype(np.float64)
    k, found = min(k, n), np.empty((n_classes, columns.n_valid))
    step = max(1, 2**22 // n)
    for first in range(0, columns.n_valid, step):
        part = columns.valid[:, first : first + step]
        far = np.zeros((part.shape[1], n))
        for x, at, nominal, weight, missing in zip(
            columns.train, part, columns.nominal, columns.weight, columns.missing, strict=True
        ):
            apart = at[:, None] - x[None, :]
            far += np.where(
                np.isnan(apart), missing, weight * (apart != 0 if nominal else apart * apart)
            )
        last = np.partition(far, k - 1, axis=1)[:, k - 1 : k]
        closer, tied = far < last, far == last
        share = (k - closer.sum(axis=1)) / tied.sum(axis=1)
        found[:, first : first + step] = ((closer + tied * share[:, None]) @ of_class).T / k
    return found
