"""The scikit-learn estimator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._methods.registry import all_options, common_default, find_method
from shapley2d._methods.run import Run
from shapley2d._tables.intake import collected, names_columns
from shapley2d._tables.problem import Problem, validated_split
from shapley2d._valuation.cells import CellsJob
from shapley2d._valuation.method_docs import options_list, with_method_docs
from shapley2d._valuation.question import Question, is_default
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from typing import Self

    from shapley2d._methods.record import Method


_SHARED = (
    "include_label", "task", "kinds", "cv", "semivalue", "random_state", "n_jobs", "progress",
    "max_time",
)  # fmt: skip


@with_method_docs(options=options_list())
class CellValuer(BaseEstimator):  # type: ignore[misc]
    """Value every cell of a table, as a scikit-learn estimator.

    The parameters are those of :func:`shapley2d.value_cells`, with the defaults of the methods; an
    option that is None has one that differs between methods, or none. An option that was set and
    that the method does not have is an error. A subclass may have an ``__init__`` of its own, which
    calls this one.

    Parameters
    ----------
    method : str or Method
    include_label, task, kinds, cv, semivalue, random_state, n_jobs, progress
        As in :func:`shapley2d.value_cells`; there is no progress bar by default.
    n_neighbors, metric, ... : optional
        Options of the methods:

        {options}

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
    >>> from shapley2d import CellValuer
    >>> X = [[0, 5], [1, 3], [9, 4], [8, 6]] * 3
    >>> y = ["low", "low", "high", "high"] * 3
    >>> CellValuer(n_neighbors=3, cv=2).fit(X, y).values_.shape
    (12, 2)
    """

    def __init__(
        self,
        method: str | Method = "knn",
        *,
        include_label: bool = False,
        task: str = "auto",
        kinds: Any = None,
        cv: Any = FOLDS,
        semivalue: Any = SEMIVALUE,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: Any = False,
        max_time: Any = None,
        n_neighbors: int = 10,
        metric: str = "auto",
        votes: str = "k",
        scoring: Any = None,
        subsets: str = "auto",
        n_subsets: int | None = None,
        tolerance: float = 0.025,
        backend: str = "auto",
        valid_rows: str | None = None,
        checkpoint: Any = None,
        cluster: Any = None,
        model: Any = None,
        preprocess: str = "auto",
        baseline: str = "labels",
        truncation: float | None = None,
        max_permutations: int = 1000,
        max_trees: int = 1000,
        max_rounds: int = 100,
    ) -> None:
        self.method = method
        self.include_label = include_label
        self.task = task
        self.kinds = kinds
        self.cv = cv
        self.semivalue = semivalue
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.max_time = max_time
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.votes = votes
        self.scoring = scoring
        self.subsets = subsets
        self.n_subsets = n_subsets
        self.tolerance = tolerance
        self.backend = backend
        self.valid_rows = valid_rows
        self.checkpoint = checkpoint
        self.cluster = cluster
        self.model = model
        self.preprocess = preprocess
        self.baseline = baseline
        self.truncation = truncation
        self.max_permutations = max_permutations
        self.max_trees = max_trees
        self.max_rounds = max_rounds

    def fit(
        self,
        X: Any,
        y: Any,
        X_valid: Any = None,
        y_valid: Any = None,
        *,
        groups: Any = None,
        time: Any = None,
        valid_weight: Any = None,
    ) -> Self:
        """Value the cells of X.

        Parameters
        ----------
        X, y : training table and target
        X_valid, y_valid : optional
            Validation table and target; cross-valuation without them.
        groups, time : optional
            Rows that belong together, and the order of the rows, in cross-valuation; see
            :func:`shapley2d.value_cells`.
        valid_weight : optional
            The weight of each validation row.
        """
        X = collected(X)
        question = Question(
            X=X, y=y, X_valid=X_valid, y_valid=y_valid, groups=groups, time=time,
            valid_weight=valid_weight, options=self._set_options(), method=self.method,
            **{name: getattr(self, name) for name in _SHARED},
        )  # fmt: skip
        job = CellsJob.prepare(question)
        valuation = job.value()
        names = valuation.column_names[:-1] if self.include_label else valuation.column_names
        self.valuation_ = valuation
        self._table, self._target = job.problem.table, job.problem.target
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
        ``GridSearchCV`` can choose options of the model, such as ``n_neighbors``. Pass them
        ``cv=StratifiedKFold(shuffle=True)`` or ``KFold(shuffle=True)``: otherwise scikit-learn does
        not shuffle or stratify.

        Parameters
        ----------
        X, y : rows with the columns of the fitted table, and their target
        valid_weight : 1-D array, list or series, optional
            The weight of each of them.

        Examples
        --------
        >>> from shapley2d import CellValuer
        >>> X, y = [[0], [1], [8], [9]] * 3, ["low", "low", "high", "high"] * 3
        >>> CellValuer(n_neighbors=2, cv=2).fit(X, y).score([[2], [7]], ["low", "high"])
        0.5
        """
        check_is_fitted(self, "valuation_")
        # compares the number of columns and their names
        validate_data(self, X, reset=False, skip_check_array=True)
        method = find_method(self.method)
        if method.score is None:
            raise InputError(
                Setting("method", method.name),
                " has no score: use ",
                Setting("method", "knn"),
            )
        run = Run.create(self.random_state, self.semivalue, self.n_jobs, progress=False)
        split = validated_split(self._table, self._target, collected(X), y, valid_weight)
        problem = Problem(self._table, self._target, [split])
        return method.score(problem, run, **method.complete(self._set_options()))

    def _set_options(self) -> dict[str, Any]:
        """The options of methods that were set; a subclass may have parameters for more of them."""
        options = {name: getattr(self, name, None) for name in all_options()}
        return {
            name: value
            for name, value in options.items()
            if value is not None and not is_default(value, common_default(name))
        }

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
