"""Judges: models that are trained on any set of held cells, all other cells being missing.

``predict(held)`` has the predictions for the validation rows: probabilities (classes, validation
rows), or numbers (1, validation rows); None where these cells teach nothing. ``held`` (columns,
rows) are the cells; rows and columns without any are not there. A judge takes missing entries as
such: nothing is imputed for it. The built-in trees judge sets of rows and columns too.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from shapley2d._models.by_name import TAKE_MISSING, is_built_in, resolve_model
from shapley2d._models.cell_game import CellGame
from shapley2d._models.scores import Score
from shapley2d._models.sweeps import number_targets
from shapley2d._tables.encoding import encode_columns
from shapley2d._trees.boosting import Boosting
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats
    from shapley2d._tables.problem import Split


class Judge(Protocol):
    """A model of one training table and one validation table."""

    def predict(self, held: Bools) -> Floats | None:
        """Predictions from the held cells; None where they teach nothing."""


def make_judge(model: Any, split: Split, seed: int, option: str = "method") -> Judge:
    """The judge that a model makes: a name, or a scikit-learn estimator.

    ``option``: what messages call it.
    """
    if model == "boosting" and isinstance(model, str):
        return Boosting.coded(split.train, split.y, split.valid)
    if is_built_in(model):
        raise InputError(
            f"{option}={model!r} does not take missing entries: use one of "
            f"{', '.join(map(repr, TAKE_MISSING))}"
        )
    return EstimatorJudge(resolve_model(model, split.y.task), split, seed, option)


class EstimatorJudge:
    """A scikit-learn estimator on the encoded table, NaN where a cell is not held."""

    def __init__(self, model: Any, split: Split, seed: int, option: str = "method") -> None:
        from shapley2d._models.fitting import Trainer

        y, self._split, self._option = split.y, split, option
        if y.task == "classification":
            y = replace(y, y=y.codes, classes=np.arange(y.classes.size))
        self._trainer, self._classes = (
            Trainer(model, y, split.train, seed % 2**32, option=option),
            y.classes,
        )

    def predict(self, held: Bools) -> Floats | None:
        """Predictions from the held cells; None where all labels are equal."""
        rows, columns = np.asarray(held.any(axis=0)), np.asarray(held.any(axis=1))
        codes, split = self._split.y.codes[rows], self._split
        if not codes.size or (codes == codes[0]).all():
            return None
        train, valid = (
            [table.columns[j] for j in np.flatnonzero(columns)]
            for table in (split.train, split.valid)
        )
        train = [
            one.with_entries(np.where(mine, one.entries, np.nan)[rows])
            for one, mine in zip(train, held[columns], strict=True)
        ]
        tables = encode_columns(train, valid)
        # words that training does not have leave no trace of who has them
        is_number = np.array([one.kind != "category" for one in train])
        there = tables.train.any(axis=0) | is_number[tables.owners]
        seen, at = (  # a missing category is missing, not none of them
            np.where(np.isnan([one.entries for one in part])[tables.owners].T, np.nan, x)[:, there]
            for part, x in ((train, tables.train), (valid, tables.valid))
        )
        return self._fitted(seen, at, rows, columns)

    def _fitted(self, train: Floats, valid: Floats, rows: Bools, columns: Bools) -> Floats:
        trainer = self._trainer
        try:
            with trainer.training(rows, columns):
                fitted = trainer.fit(train, np.flatnonzero(rows))
                if hasattr(trainer.model, "predict_proba"):
                    return np.ascontiguousarray(fitted.predict_proba(valid).T)
                found = np.asarray(fitted.predict(valid), dtype=np.float64)
                if not self._classes.size:
                    return found[None]
                return np.where(self._classes[:, None] == found, 1.0, 0.0)
        except UtilityError as error:
            if "contains NaN" not in str(error.__cause__):
                raise
            name = trainer.name
            raise InputError(
                f"{name} refuses missing entries, but cells that are left out are missing: say "
                f"what to put there, as in {self._option}=make_pipeline(SimpleImputer(), {name}())"
            ) from error


class BoostingGame(CellGame):
    """The score of :class:`~shapley2d._trees.boosting.Boosting` on a validation table.

    ``scoring`` None is the mean probability of the right label, or R squared.

    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[k] for k in range(20)], [0] * 10 + [1] * 10
    >>> game = BoostingGame(make_problem(X, y, X, y).splits[0])
    >>> rows, columns = np.array([[True] * 20]), np.array([[False], [True]])
    >>> game.utilities(rows, columns).round(1).tolist()
    [[0.5, 1.0]]
    """

    def __init__(self, split: Split, *, scoring: str | None = None) -> None:
        super().__init__(split)
        self._judge = Boosting.coded(split.train, split.y, split.valid)
        if not self._classifies:
            number_targets(split)  # refuses a single validation row
            scoring = "r2"
        elif scoring == "balanced_accuracy":  # accuracy with other weights
            scoring = "accuracy"
        self._score = Score(scoring or "probability", split)

    def _utility(self, rows: Bools, columns: Bools) -> float:
        predictions = self._judge.predict(columns[:, None] & rows)
        return math.nan if predictions is None else self._score(predictions)

    def _of_labels(self, predicted: Floats) -> Floats:
        every = np.ones(self._score.weights.size)
        return np.array([self._score(line[:, None] * every) for line in predicted])
