"""Judges: models that are trained on any set of held cells, all other cells being missing.

A judge must take missing entries as such: nothing is imputed for it. Boosted trees send them to the
better side, naive Bayes skips them, nearest neighbours have their rule (see ``_knn/metric.py``).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._models.by_name import check_neighbours, is_built_in, knn_of, resolve_model
from shapley2d.exceptions import InputError, Setting, UtilityError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._knn.method import KNN
    from shapley2d._knn.metric import Columns
    from shapley2d._tables.problem import Split
    from shapley2d._tables.table import Table

TAKE_MISSING = ("boosting", "gaussian_nb", "knn", "hist_gradient_boosting", "tree")
"""Models by name that take missing entries."""


class Judge(Protocol):
    """A model of one training table and one validation table."""

    def predict(self, held: Bools) -> Floats | None:
        """Predictions from the held cells (columns x rows); None where these teach nothing.

        Probabilities (classes x validation rows), or numbers (1 x validation rows).
        """


def make_judge(model: Any, split: Split, seed: int) -> Judge:
    """The judge that a model makes: a name, nearest neighbours, or a scikit-learn estimator."""
    if isinstance(model, str) and model == "boosting":
        from shapley2d._trees.boosting import Boosting

        return Boosting.coded(split.train, split.y, split.valid)
    neighbours = knn_of(model)
    if neighbours is not None:
        return NeighboursJudge(split, neighbours)
    if isinstance(model, str) and model == "gaussian_nb":
        if split.y.task == "regression":
            raise InputError(
                Setting("method", model), " predicts classes, but the target holds numbers"
            )
        return NaiveBayesJudge(split)
    return EstimatorJudge(model, split, seed)


def _any_row(held: Bools) -> Bools:
    """The rows in which any cell is held."""
    return np.asarray(held.any(axis=0))


def _teaches(rows: Bools, split: Split) -> bool:
    """Whether rows show two different labels: one alone teaches nothing."""
    codes = split.y.codes[rows]
    return bool(codes.size and (codes != codes[0]).any())


class EstimatorJudge:
    """A scikit-learn estimator on the encoded table, NaN where a cell is not held."""

    def __init__(self, model: Any, split: Split, seed: int) -> None:
        from sklearn.base import clone, is_classifier, is_regressor

        task, name = split.y.task, model if isinstance(model, str) else type(model).__name__
        if is_built_in(model):
            raise InputError(
                Setting("method", model), " does not take missing entries: use one of ",
                ", ".join(map(repr, TAKE_MISSING)),
            )  # fmt: skip
        estimator = resolve_model(model, task)
        if not hasattr(estimator, "fit"):
            raise InputError(
                Setting("method", model), " is neither a scikit-learn estimator nor one of ",
                ", ".join(map(repr, TAKE_MISSING)),
            )  # fmt: skip
        if (is_regressor if task == "classification" else is_classifier)(estimator):
            raise InputError(
                f"{name} predicts {'numbers' if task == 'classification' else 'classes'}, but the "
                f"target holds {'classes' if task == 'classification' else 'numbers'}"
            )
        seeds = [
            key
            for key, value in estimator.get_params().items()
            if key.split("__")[-1] == "random_state" and value is None
        ]
        self._model = clone(estimator).set_params(**dict.fromkeys(seeds, seed % 2**32))
        self._name, self._split = name, split

    def predict(self, held: Bools) -> Floats | None:
        from sklearn.base import clone

        rows, columns = _any_row(held), np.flatnonzero(held.any(axis=1))
        if not _teaches(rows, self._split):
            return None
        y, (train, valid) = self._split.y, _encoded(*_held_part(self._split, held, columns, rows))
        try:
            with without_warnings():
                fitted = clone(self._model).fit(train, y.codes[rows])
                if y.task == "regression":
                    return np.asarray(fitted.predict(valid), dtype=np.float64)[None, :]
                found = np.zeros((y.classes.size, len(valid)))
                if hasattr(fitted, "predict_proba"):
                    found[fitted.classes_] = fitted.predict_proba(valid).T
                else:
                    found[fitted.predict(valid), np.arange(len(valid))] = 1.0
        except Exception as error:
            if "contains NaN" in str(error):
                name = type(getattr(self._model, "_final_estimator", self._model)).__name__
                raise InputError(
                    f"{name} refuses missing entries, and what a set of contributors lacks is "
                    "missing: say what to put there, as in method=make_pipeline(SimpleImputer(), "
                    f"{name}())"
                ) from error
            raise UtilityError(
                f"{self._name} failed on {int(rows.sum())} rows and {columns.size} columns: {error}"
            ) from error
        return found


def _encoded(train: Table, valid: Table) -> tuple[Floats, Floats]:
    """Both tables as numbers; words that training does not have leave no trace of who has them."""
    from shapley2d._tables.encoding import encode_tables

    tables = encode_tables(train, valid)
    # a missing category is missing, not none of them
    missing = [
        np.stack([np.isnan(column.entries) for column in table.columns])[tables.owners].T
        for table in (train, valid)
    ]
    is_text = np.array([column.kind == "category" for column in train.columns])
    there = tables.train.any(axis=0) | ~is_text[tables.owners]
    return (
        np.where(missing[0], np.nan, tables.train)[:, there],
        np.where(missing[1], np.nan, tables.valid)[:, there],
    )


class NaiveBayesJudge:
    """Gaussian naive Bayes that skips missing entries; of text the share of a word in a class."""

    def __init__(self, split: Split) -> None:
        self._split = split

    def predict(self, held: Bools) -> Floats | None:
        y, rows = self._split.y, _any_row(held)
        if not _teaches(rows, self._split):
            return None
        n_classes, codes = y.classes.size, y.codes
        counts = np.bincount(codes[rows], minlength=n_classes)
        with np.errstate(divide="ignore"):
            logs = np.log(counts / counts.sum())[:, None] + np.zeros(self._split.valid.n_rows)
        for own, train, valid in zip(
            held, self._split.train.columns, self._split.valid.columns, strict=True
        ):
            if own.any():
                each = _word_logs if train.kind == "category" else _normal_logs
                logs += each(train.entries[own], codes[own], valid.entries, n_classes)
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


class NeighboursJudge:
    """The share of votes of the nearest rows, as in ``KNN``; entries not held are missing."""

    def __init__(self, split: Split, method: KNN) -> None:
        check_neighbours(method, "contributors")
        if split.y.task == "regression":
            raise InputError(
                Setting("method", "knn"), " judges classes only here: use ",
                Setting("method", "boosting"),
            )  # fmt: skip
        self._split, self._method = split, method

    def predict(self, held: Bools) -> Floats | None:
        from shapley2d._knn.metric import measure

        y, rows, used = self._split.y, _any_row(held), np.flatnonzero(held.any(axis=1))
        if not _teaches(rows, self._split):
            return None
        train, valid = _held_part(self._split, held, used, rows)
        return _votes(
            measure(train, valid, self._method.metric, tells=False),
            y.codes[rows],
            y.classes.size,
            self._method.n_neighbors,
        )


def _held_part(split: Split, held: Bools, used: Ints, rows: Bools) -> tuple[Table, Table]:
    """What is trained on, and its columns of the validation rows."""
    train, valid = split.train, split.valid
    columns = tuple(
        train.columns[j].with_entries(np.where(held[j], train.columns[j].entries, np.nan)[rows])
        for j in used
    )
    part = replace(train, columns=columns, row_names=train.row_names[rows], lines=None, rows=None)
    return part, replace(valid, columns=tuple(valid.columns[j] for j in used), rows=None)


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
