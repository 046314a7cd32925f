"""The scikit-learn estimator."""

from __future__ import annotations

import inspect
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._methods.run import Run
from shapley2d._tables.intake import collected, names_columns
from shapley2d._tables.problem import validated_split
from shapley2d._valuation.cells import valued_cells
from shapley2d._valuation.methods import find_method
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal, Self

    from shapley2d._valuation.arguments import (
        CV,
        Kind,
        MethodLike,
        PathLike,
        Progress,
        Scoring,
        Seed,
        Semivalues,
    )  # fmt: skip

_NESTED = "method__"


class CellValuer(BaseEstimator):  # type: ignore[misc]
    """Value every cell of a table, as a scikit-learn estimator.

    The parameters are those of :func:`shapley2d.value_cells`; options of the method are nested
    parameters, such as ``method__n_neighbors``. A subclass may have an ``__init__`` of its own,
    which calls this one.

    Parameters
    ----------
    method : Method, str or scikit-learn estimator
        How cells are valued, :class:`~shapley2d.KNN` by default.
    task, kinds, include_label, cv, scoring, baseline, semivalue, random_state, n_jobs, max_time
        As in :func:`shapley2d.value_cells`.
    progress, checkpoint, cluster
        As in :func:`shapley2d.value_cells`; there is no progress bar by default.

    Attributes
    ----------
    values_, stderr_ : ndarray of shape (n_samples, n_features)
        With ``include_label`` one column more, the label's, comes last.
    row_values_, column_values_ : ndarray of shape (n_samples,) and (n_features,)
        Sums of the values over columns and over rows.
    valuation_ : Valuation
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> from shapley2d import KNN, CellValuer
    >>> X = [[0, 5], [1, 3], [9, 4], [8, 6]] * 3
    >>> y = ["low", "low", "high", "high"] * 3
    >>> CellValuer(KNN(n_neighbors=3), cv=2).fit(X, y).values_.shape
    (12, 2)
    """

    def __init__(
        self,
        method: MethodLike = "knn",
        *,
        task: Literal["auto", "classification", "regression"] = "auto",
        kinds: Mapping[str, Kind] | None = None,
        include_label: bool = False,
        cv: CV = FOLDS,
        scoring: Scoring = None,
        baseline: Literal["labels", "zero"] = "labels",
        semivalue: Semivalues = SEMIVALUE,
        random_state: Seed = 0,
        n_jobs: int | None = None,
        max_time: float | str | None = None,
        progress: Progress = False,
        checkpoint: PathLike | None = None,
        cluster: Any = None,
    ) -> None:
        self.method = method
        self.task = task
        self.kinds = kinds
        self.include_label = include_label
        self.cv = cv
        self.scoring = scoring
        self.baseline = baseline
        self.semivalue = semivalue
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.max_time = max_time
        self.progress = progress
        self.checkpoint = checkpoint
        self.cluster = cluster

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters, those of the method nested (``method__n_neighbors``) if ``deep``."""
        params: dict[str, Any] = super().get_params(deep=deep)
        if deep and "method" in params:  # a subclass may have no such parameter
            with suppress(InputError):  # no word of a method, which only a fit may refuse
                own = find_method(params["method"]).get_params()
                params |= {_NESTED + name: value for name, value in own.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; a nested one makes another method, since methods do not change.

        Examples
        --------
        >>> from shapley2d import CellValuer
        >>> CellValuer().set_params(method__n_neighbors=7).method
        KNN(n_neighbors=7)
        """
        nested = {
            name.removeprefix(_NESTED): params.pop(name)
            for name in [*params]
            if name.startswith(_NESTED)
        }
        super().set_params(**params)
        if nested:
            self.method = find_method(self.method).set_params(**nested)
        return self

    def fit(
        self,
        X: Any,
        y: Any,
        X_valid: Any = None,
        y_valid: Any = None,
        *,
        groups: Any = None,
        time_order: Any = None,
        valid_weight: Any = None,
    ) -> Self:
        """Value the cells of X.

        Parameters
        ----------
        X, y : training table and target
        X_valid, y_valid : optional
            Validation table and target; cross-valuation without them.
        groups, time_order : optional
            Rows that belong together, and the order of the rows, in cross-valuation; see
            :func:`shapley2d.value_cells`.
        valid_weight : optional
            The weight of each validation row.
        """
        X = collected(X)
        asked = {name: getattr(self, name) for name in _PARAMETERS}
        valuation, problem = valued_cells(
            X, y, X_valid, y_valid, row_groups=None, column_groups=None, groups=groups,
            time_order=time_order, valid_weight=valid_weight, **asked,
        )  # fmt: skip
        names = valuation.column_names[:-1] if self.include_label else valuation.column_names
        self.valuation_ = valuation
        self._problem = replace(problem, splits=[], label=None)
        self.values_ = valuation.values
        self.stderr_ = valuation.stderr
        self.row_values_ = valuation.row_values
        self.column_values_ = valuation.column_values
        self.n_features_in_ = len(names)
        if names_columns(X):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def score(self, X: Any, y: Any, *, valid_weight: Any = None) -> float:
        """Score the fitted table on other rows: what its cell values would sum to.

        The model behind the values is trained on the whole fitted table and scored on X and y; the
        baseline is subtracted (what the fitted labels alone predict; 0 with ``baseline="zero"``).
        No cell is valued again. Higher is better, so ``cross_validate`` can rate a table and
        ``GridSearchCV`` can choose options of the model, such as ``method__n_neighbors``. Pass them
        ``cv=StratifiedKFold(shuffle=True)`` or ``KFold(shuffle=True)``: otherwise scikit-learn does
        not shuffle or stratify.

        Parameters
        ----------
        X, y : rows with the columns of the fitted table, and their target
        valid_weight : 1-D array, list or series, optional
            The weight of each of them.

        Examples
        --------
        >>> from shapley2d import KNN, CellValuer
        >>> X, y = [[0], [1], [8], [9]] * 3, ["low", "low", "high", "high"] * 3
        >>> CellValuer(KNN(n_neighbors=2), cv=2).fit(X, y).score([[2], [7]], ["low", "high"])
        0.5
        """
        check_is_fitted(self, "valuation_")
        # compares the number of columns and their names
        validate_data(self, X, reset=False, skip_check_array=True)
        run = Run.create(self.random_state, self.semivalue, self.n_jobs, progress=False)
        fitted = self._problem
        split = validated_split(fitted.table, fitted.target, collected(X), y, valid_weight)
        return find_method(self.method).score(replace(fitted, splits=[split]), run)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags


_PARAMETERS = [*inspect.signature(CellValuer).parameters]
