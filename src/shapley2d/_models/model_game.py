"""The game of a scikit-learn model: trained on a coalition's rows and columns, then scored."""

from __future__ import annotations

import inspect
import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.pipeline import make_pipeline

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import shown
from shapley2d._models.cell_game import CellGame
from shapley2d._models.fitting import Trainer, error_line
from shapley2d._models.pruning import names_columns, prune_columns
from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.per_row import weighted_mean
from shapley2d._tables.scoring import OWN_SCORES
from shapley2d._tables.table import native_columns, native_rows
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split


class ModelGame(CellGame):
    """The performance of a model trained on rows S and columns F, on a validation table.

    Random parts without a seed are seeded with ``random_state``, so that a coalition has one
    utility. ``scoring`` is any of scikit-learn's; None takes the model's own score (accuracy, or R
    squared). It must take ``sample_weight`` where validation rows have weights.

    ``preprocess="auto"`` gives the model numbers: categories one-hot, missing numbers unchanged if
    the model takes them, else filled by the mean of the coalition's rows. ``"none"`` gives it the
    user's table, cut to the coalition, for pipelines that encode by themselves; a model with a
    ``ColumnTransformer`` always gets it, and columns outside the coalition are taken out of its
    lists.

    Columns that are the same in all of a coalition's rows are left out before training. Labels
    alone predict by a constant model; where classes tie, the utility is the mean over them.
    """

    compiled = False

    def __init__(
        self,
        model: Any,
        split: Split,
        *,
        scoring: Any = None,
        preprocess: Literal["auto", "none"] = "auto",
        random_state: int = 0,
    ) -> None:
        super().__init__(split)
        self._trainer = Trainer(model, split.y, split.train, random_state)
        self.model = self._trainer.model  # with every open seed set
        self._names, self._classes = split.train.column_names, split.y.classes
        self._y_valid, self._weights = split.y_valid.y, split.valid_weights
        self._score = None if scoring is None else self._scorer(scoring)
        if scoring is None and not self._classifies and self._y_valid.size < 2:
            raise InputError(
                "y_valid has a single row, which is too few for R squared: pass more, or a scoring"
            )
        self._names_columns = names_columns(self.model)
        encodes = preprocess == "auto" and not self._names_columns
        self._encoded = encode_tables(split.train, split.valid) if encodes else None
        self._native = split.train.native, split.valid.native
        if self._names_columns:  # wrong names are told before anything is trained
            prune_columns(self.model, self._native[0], self._names, np.arange(self.n_columns))
        self._last: tuple[bytes, Any] = b"", None  # the tables and the model under some columns
        self._constants: dict[bytes, float] = {}  # scores by the shares of the classes

    def _utility(self, rows: Bools, columns: Bools) -> float:
        """The score of the model trained on these cells; NaN if it looks at none of the columns."""
        key = columns.tobytes()
        if self._last[0] != key:
            self._last = key, self._under_columns(np.flatnonzero(columns))
        train, valid, model = self._last[1]
        if model is None:
            return math.nan
        members = np.flatnonzero(rows)
        with self._trainer.training(rows, columns):
            fitted = self._trainer.fit(native_rows(train, members), members, model)
            score = self._scored(fitted, valid)
            if not math.isfinite(score):
                raise ValueError(f"its score is {score}")
        return score

    def _of_labels(self, predicted: Floats) -> Floats:
        known = self._constants if self._classifies else {}
        for line in predicted:
            if line.tobytes() not in known:
                known[line.tobytes()] = self._of_constant(line)
        return np.array([known[line.tobytes()] for line in predicted])

    def _of_constant(self, line: Floats) -> float:
        """The mean score of the best constant predictions: shares of the classes, or a number."""
        if self._classifies:
            models = [
                _constant_classifier(self._classes, label, line)
                for label in self._classes[line == line.max()]
            ]
        else:
            models = [DummyRegressor().fit(np.zeros((1, 1)), line)]
        valid = self._native[1] if self._encoded is None else self._encoded.valid
        try:
            with without_warnings():
                score = float(np.mean([self._scored(model, valid) for model in models]))
            if math.isfinite(score):
                return score
            words = f"it is {score}"
        except Exception as error:  # noqa: BLE001
            words = error_line(error)
        raise UtilityError(
            "values count from the score of a constant prediction, which cannot be computed: "
            f"{words}; use a score of predictions"
        )

    def _scored(self, fitted: Any, valid: Any) -> float:
        """The score of a fitted model on the validation rows."""
        if self._score is None and self._classifies:
            return weighted_mean(fitted.predict(valid) == self._y_valid, self._weights)
        weighing = {} if self._weights is None else {"sample_weight": self._weights}
        return float((self._score or type(fitted).score)(fitted, valid, self._y_valid, **weighing))

    def _scorer(self, scoring: Any) -> Any:
        """Scikit-learn's scorer."""
        if scoring in OWN_SCORES:
            raise InputError(
                f"scoring={scoring!r} is not one of scikit-learn's scores, which this model is "
                "scored by: use 'neg_log_loss', 'accuracy' or 'r2', for instance"
            )
        scorer = check_scoring(self.model, scoring=scoring)
        function = getattr(scorer, "_score_func", scorer)
        parameters = inspect.signature(function).parameters.values()
        if self._weights is not None and not any(
            one.name == "sample_weight" or one.kind is one.VAR_KEYWORD for one in parameters
        ):
            raise InputError(
                f"scoring={shown(scoring)} takes no sample_weight, so that it cannot weigh "
                "validation rows: leave valid_weight out, or use another score"
            )
        return scorer

    def _under_columns(self, members: Ints) -> tuple[Any, Any, Any]:
        """Both tables under some columns, and the model for them; None if it looks at no column."""
        encoded, model = self._encoded, self.model
        if encoded is None:
            if self._names_columns:
                model = prune_columns(model, self._native[0], self._names, members)
            train, valid = (native_columns(table, members) for table in self._native)
            return train, valid, model
        width = np.flatnonzero(np.isin(encoded.owners, members))
        if not self._trainer.takes_missing and encoded.has_missing[members].any():
            model = make_pipeline(SimpleImputer(keep_empty_features=True), model)
        return encoded.train.take(width, axis=1), encoded.valid.take(width, axis=1), model


def _constant_classifier(classes: Any, label: Any, shares: Floats) -> Any:
    """A classifier that always predicts one label, by the shares of all classes."""

    def predict_proba(X: Any) -> Floats:
        return np.tile(shares, (len(X), 1))

    model = DummyClassifier(strategy="constant", constant=label)
    model.fit(np.zeros((classes.size, 1)), classes).predict_proba = predict_proba
    return model
