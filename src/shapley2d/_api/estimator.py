"""The scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import BaseEstimator

from shapley2d._api.cells import value_cells

if TYPE_CHECKING:
    from typing import Self

_SHARED = ("method", "include_label", "task", "folds", "semivalue", "random_state", "n_jobs", "progress")


class CellValuer(BaseEstimator):  # type: ignore[misc]
    """Value every cell of a table, as a scikit-learn estimator.

    The parameters are those of :func:`shapley2d.value_cells`. A parameter that is None takes the default of the
    method; one that the method does not know is an error.

    Attributes
    ----------
    values_, stderr_ : ndarray of shape (n_samples, n_features)
    rows_, columns_ : ndarray of shape (n_samples,) and (n_features,)
        Sums of the values over columns and over rows.
    valuation_ : Valuation
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> from shapley2d import CellValuer
    >>> X = [[0, 5], [1, 3], [9, 4], [8, 6]] * 3
    >>> y = ["low", "low", "high", "high"] * 3
    >>> CellValuer(n_neighbors=3, folds=2).fit(X, y).values_.shape
    (12, 2)
    """

    def __init__(
        self,
        method: str = "knn",
        *,
        include_label: bool = False,
        task: str = "auto",
        folds: int = 5,
        semivalue: Any = "shapley",
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: Any = False,
        n_neighbors: int | None = None,
        metric: str | None = None,
        columns: str | None = None,
        n_coalitions: int | None = None,
        backend: str | None = None,
        empty: str | None = None,
        form: str | None = None,
        model: Any = None,
        scoring: Any = None,
        encoding: str | None = None,
        max_permutations: int | None = None,
        tolerance: float | None = None,
        truncation: float | None = None,
        checkpoint: Any = None,
        cluster: Any = None,
        n_trees: int | None = None,
        column_share: float | None = None,
        oob_score: str | None = None,
    ) -> None:
        self.method = method
        self.include_label = include_label
        self.task = task
        self.folds = folds
        self.semivalue = semivalue
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.columns = columns
        self.n_coalitions = n_coalitions
        self.backend = backend
        self.empty = empty
        self.form = form
        self.model = model
        self.scoring = scoring
        self.encoding = encoding
        self.max_permutations = max_permutations
        self.tolerance = tolerance
        self.truncation = truncation
        self.checkpoint = checkpoint
        self.cluster = cluster
        self.n_trees = n_trees
        self.column_share = column_share
        self.oob_score = oob_score

    def fit(self, X: Any, y: Any, X_valid: Any = None, y_valid: Any = None) -> Self:
        """Value the cells of X.

        Parameters
        ----------
        X, y : training table and target
        X_valid, y_valid : optional
            Validation table and target; cross-valuation without them. ``"oob"`` and ``"random"`` need neither.
        """
        given = self.get_params(deep=False)
        options = {name: value for name, value in given.items() if name not in _SHARED and value is not None}
        shared = {name: given[name] for name in _SHARED}
        valuation = value_cells(X, y, X_valid, y_valid, **shared, **options)
        self.valuation_ = valuation
        self.values_ = valuation.values
        self.stderr_ = valuation.stderr
        self.rows_ = valuation.rows
        self.columns_ = valuation.columns
        self.n_features_in_ = valuation.shape[1]
        if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
            import numpy as np

            self.feature_names_in_ = np.array(valuation.column_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
