"""The game of a scikit-learn model: trained on the rows and columns of a coalition, scored on a validation table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils import get_tags

from shapley2d._base.warnings import without_warnings
from shapley2d._games.function import describe_coalition
from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.table import native_columns, native_rows
from shapley2d._theory.coalitions import NestedCoalitions
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target
    from shapley2d._theory.coalitions import Coalitions


class ModelGame:
    """The performance of a model trained on rows S and columns F, on a validation table.

    Parameters
    ----------
    model : scikit-learn estimator or pipeline, or None
        None takes a decision tree, as the paper does. Random parts without a seed are seeded with
        ``random_state``, so that a coalition has one utility.
    train, valid : Table
        Checked tables with the same columns.
    y, y_valid : Target
        Their targets.
    scoring : str, callable or None
        Any scikit-learn ``scoring``; None takes the model's own score (accuracy, or R squared).
    encoding : {"auto", "none"}
        ``"auto"`` gives the model numbers: categories one-hot, missing numbers as they are if the model takes
        them, else filled by the mean of the coalition's rows. ``"none"`` gives it the table as it came, cut to
        the coalition's rows and columns, for pipelines that encode by themselves.
    truncation : float or None
        Along a permutation of the rows, once the utility is within ``truncation`` of that of all rows under the same
        columns, train no more under these columns and take that of all rows for the rest. None trains everywhere.
    random_state : int

    Notes
    -----
    No rows or no columns are worth 0. Rows of a single class predict that class, since many classifiers refuse
    to fit them. Classes that a coalition lacks get probability 0. A model that fails raises
    :class:`~shapley2d.exceptions.UtilityError` with the coalition named; there is no default score.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> X = as_table([[0], [1], [2], [3]])
    >>> y = as_target([0, 0, 1, 1], X)
    >>> game = ModelGame(None, X, y, X, y)
    >>> float(game.utilities(SubsetCoalitions(4), SubsetCoalitions(1))[-1, 1])
    1.0
    """

    def __init__(
        self,
        model: Any,
        train: Table,
        y: Target,
        valid: Table,
        y_valid: Target,
        *,
        scoring: Any = None,
        encoding: Literal["auto", "none"] = "auto",
        truncation: float | None = None,
        random_state: int = 0,
    ) -> None:
        self.n_rows = train.n_rows
        self.n_columns = train.n_columns
        self._row_names = train.row_names
        self._column_names = train.column_names
        self._y, self._classes, self._codes = y.y, y.classes, y.codes
        self._y_valid = y_valid.y
        self._classifies = y.task == "classification"
        self.model = _prepared(model, y.task, random_state)
        self._score = None if scoring is None else check_scoring(self.model, scoring=scoring)
        if encoding not in ("auto", "none"):
            raise InputError(f"encoding={encoding!r} is not known: use 'auto' or 'none'")
        self._encoded = encode_tables(train, valid) if encoding == "auto" else None
        self._native = (train.native, valid.native) if encoding == "none" else None
        self._takes_missing = _takes_missing(self.model)
        if not self._classifies and scoring is None and y_valid.y.size < 2:
            raise InputError(
                "y_valid has a single row, of which R squared cannot be told: pass more, or a scoring"
            )
        self._truncation = np.nan if truncation is None else float(truncation)

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Train and score the model on every pair of coalitions that has rows and columns."""
        matrix = np.zeros((len(rows), len(columns)))
        truncates = not math.isnan(self._truncation) and isinstance(rows, NestedCoalitions)
        with without_warnings():  # models grumble at coalitions of a handful of rows; that is the game
            for b, column_mask in enumerate(columns):
                members = np.flatnonzero(column_mask)
                if not members.size:
                    continue
                train, valid, model = self._under_columns(members)
                full = None
                if truncates:
                    full = self._utility(model, train, valid, np.arange(self.n_rows), column_mask)
                    matrix[1:, b] = full
                for a, row_mask in enumerate(rows):
                    chosen = np.flatnonzero(row_mask)
                    if not chosen.size:
                        continue
                    matrix[a, b] = self._utility(model, train, valid, chosen, column_mask)
                    if full is not None and abs(matrix[a, b] - full) <= self._truncation:
                        break
        return matrix

    def _under_columns(self, members: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Training and validation data under some columns, and the model that takes them."""
        if self._native is not None:
            return (
                native_columns(self._native[0], members),
                native_columns(self._native[1], members),
                self.model,
            )
        encoded = self._encoded
        assert encoded is not None
        width = np.flatnonzero(np.isin(encoded.owners, members))
        model = self.model
        if not self._takes_missing and encoded.has_missing[members].any():
            model = make_pipeline(SimpleImputer(keep_empty_features=True), model)
        return (
            np.ascontiguousarray(encoded.train[:, width]),
            np.ascontiguousarray(encoded.valid[:, width]),
            model,
        )

    def _utility(
        self,
        model: Any,
        train: Any,
        valid: Any,
        chosen: NDArray[np.intp],
        column_mask: NDArray[np.bool_],
    ) -> float:
        try:
            fitted = self._fit(model, train, chosen)
            if self._score is not None:
                utility = float(self._score(fitted, valid, self._y_valid))
            elif self._classifies:
                utility = float(np.mean(fitted.predict(valid) == self._y_valid))
            else:
                utility = float(fitted.score(valid, self._y_valid))
        except Exception as error:
            raise UtilityError(
                f"{model!r} failed on {self._describe(chosen, column_mask)}: {error}"
            ) from error
        if not math.isfinite(utility):
            raise UtilityError(f"{model!r} scored {utility} on {self._describe(chosen, column_mask)}")
        return utility

    def _fit(self, model: Any, train: Any, chosen: NDArray[np.intp]) -> Any:
        if not self._classifies:
            return clone(model).fit(native_rows(train, chosen), self._y[chosen])
        present = np.flatnonzero(np.bincount(self._codes[chosen]))
        if present.size == 1:
            return _SingleClass(self._classes, int(present[0]))
        fitted = clone(model).fit(native_rows(train, chosen), self._y[chosen])
        return (
            fitted if present.size == self._classes.size else _WithAllClasses(fitted, self._classes, present)
        )

    def _describe(self, chosen: NDArray[np.intp], column_mask: NDArray[np.bool_]) -> str:
        row_mask = np.zeros(self.n_rows, dtype=bool)
        row_mask[chosen] = True
        return describe_coalition(row_mask, column_mask, self._row_names, self._column_names)


def _prepared(model: Any, task: str, random_state: int) -> Any:
    """A clone of the model, of the right kind, with every open seed set."""
    if model is None:
        model = DecisionTreeClassifier() if task == "classification" else DecisionTreeRegressor()
    if isinstance(model, type) or not hasattr(model, "fit") or not hasattr(model, "get_params"):
        raise InputError(
            f"model={model!r} is not a scikit-learn estimator: pass an instance with fit and predict"
        )
    wanted = {"classification": "classifier", "regression": "regressor"}[task]
    kind = get_tags(model).estimator_type
    if kind is not None and kind != wanted:
        raise InputError(
            f"model={model!r} is a {kind}, but the task is {task}: pass a {wanted}, or set task="
        )
    model = clone(model)
    open_seeds = {
        name: random_state
        for name, value in model.get_params(deep=True).items()
        if (name == "random_state" or name.endswith("__random_state")) and value is None
    }
    return model.set_params(**open_seeds) if open_seeds else model


def _takes_missing(model: Any) -> bool:
    """Whether a model can be given missing entries; a pipeline can if its steps can, up to one that fills them."""
    if not isinstance(model, Pipeline):
        return bool(get_tags(model).input_tags.allow_nan)
    for _, step in model.steps:
        if step is None or step == "passthrough":
            continue
        if type(step).__module__.startswith("sklearn.impute"):
            return True
        if not _takes_missing(step):
            return False
    return True


class _SingleClass(BaseEstimator):  # type: ignore[misc]
    """What every classifier learns from rows of one class: that class."""

    _estimator_type = "classifier"

    def __init__(self, classes: NDArray[Any], code: int) -> None:
        self.classes_ = classes
        self._code = code

    def predict(self, X: Any) -> NDArray[Any]:
        return np.full(len(X), self.classes_[self._code])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        probabilities = np.zeros((len(X), self.classes_.size))
        probabilities[:, self._code] = 1.0
        return probabilities

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.estimator_type = "classifier"
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _WithAllClasses(_SingleClass):
    """A classifier fitted without some classes, which get probability 0."""

    def __init__(self, fitted: Any, classes: NDArray[Any], present: NDArray[np.intp]) -> None:
        self.classes_ = classes
        self._fitted = fitted
        self._present = present

    def predict(self, X: Any) -> NDArray[Any]:
        return np.asarray(self._fitted.predict(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        probabilities = np.zeros((len(X), self.classes_.size))
        probabilities[:, self._present] = self._fitted.predict_proba(X)
        return probabilities
