"""The scikit-learn estimator that inspects cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator

from shapley2d._api.inspect import inspect_cells

if TYPE_CHECKING:
    from typing import Self


class CellInspector(BaseEstimator):  # type: ignore[misc]
    """Find the entries of a table that are likely wrong, as a scikit-learn estimator.

    Parameters
    ----------
    task, kinds, random_state, n_jobs, progress, max_time
        As in :func:`shapley2d.inspect_cells`; there is no progress bar by default.

    Attributes
    ----------
    scores_, probability_ : ndarray of shape (n_samples, n_features)
        How unusual every entry is, and how likely it is wrong.
    label_scores_, label_probability_ : ndarray of shape (n_samples,) or None
        The same of the labels; None without labels.
    inspection_ : Inspection
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import CellInspector
    >>> X = np.column_stack([np.arange(60) % 20, np.arange(60) % 20 + 5.0])
    >>> X[7, 1] = 500
    >>> int(CellInspector().fit(X).scores_.argmax())
    15
    """

    def __init__(
        self,
        *,
        task: str = "auto",
        kinds: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: Any = False,
        max_time: Any = None,
    ) -> None:
        self.task = task
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.max_time = max_time

    def fit(self, X: Any, y: Any = None, *, valuation: Any = None) -> Self:
        """Inspect the cells of X and, where they are given, the labels y.

        Parameters
        ----------
        X : table
        y : labels or numbers, optional
        valuation : Valuation, optional
            Values of the same table.
        """
        inspection = inspect_cells(
            X,
            y,
            valuation=valuation,
            task=self.task,
            kinds=self.kinds,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            progress=self.progress,
            max_time=self.max_time,
        )
        self.inspection_ = inspection
        self.scores_ = inspection.scores
        self.probability_ = inspection.probability
        self.label_scores_ = inspection.label_scores
        self.label_probability_ = inspection.label_probability
        self.n_features_in_ = inspection.shape[1]
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            self.feature_names_in_ = np.array(inspection.column_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
