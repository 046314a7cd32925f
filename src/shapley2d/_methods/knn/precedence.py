"""Values under the K-nearest-neighbour utility where rows or columns can only join after others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._base.progress import reporting
from shapley2d._estimation.estimate import Estimate
from shapley2d._kernels.knn_precedence import add_with_precedence
from shapley2d._knn.metric import integer_columns
from shapley2d._theory.designs import exact_design
from shapley2d._theory.precedence import n_subsets
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split

    Floats = NDArray[np.float64]

MAX_COALITIONS = 2**14
"""Column coalitions that are evaluated at most: all of them are."""

_CHUNK = 32  # validation rows whose values are added up together, whatever the number of threads
_BLOCK = 64  # column coalitions at a time


def value_with_precedence(
    problem: Problem,
    run: Run,
    *,
    n_neighbors: int,
    metric: str,
    baseline: str,
    backend: str,
    **_: Any,
) -> Estimate:
    """Values of the cells: rows in closed form, columns by all subsets that can occur.

    Parameters
    ----------
    problem : Problem
        A classification.
    run : Run
        Its ``precedence`` says who comes first.
    n_neighbors, metric, baseline, backend
        As of :func:`shapley2d._methods.knn.cells.value_knn`.
    """
    _check(problem, run, backend)
    n, m = problem.table.n_rows, problem.table.n_columns
    design = exact_design(m, "shapley", run.precedence.columns)
    values = np.zeros((n, m))
    with reporting(run.progress, "exact KNN values with precedence") as report:
        for k, split in enumerate(problem.splits):
            precedence = run.precedence.of_rows(split.rows).rows
            part = _Rows(split, precedence, int(n_neighbors), metric, run.n_jobs)
            for start in range(0, len(design.coalitions), _BLOCK):
                masks = design.coalitions.masks(start, start + _BLOCK)
                phi = part.values(masks)
                if baseline == "zero":
                    phi[~masks.any(axis=1)] = 0.0
                values[split.rows] += design.combine(phi, start).T / len(problem.splits)
                done = min(1.0, (start + _BLOCK) / len(design.coalitions))
                report((k + done) / len(problem.splits), "")
    return Estimate.exact(
        values,
        metric=metric,
        n_neighbors=int(n_neighbors),
        backend="cpu",
        subsets="all",
        n_subsets=len(design.coalitions),
        form="exact",
        converged=True,
        interrupted=False,
    )


def _check(problem: Problem, run: Run, backend: str) -> None:
    """Refuse what has no closed form under precedence."""
    instead = (": use ", Setting("method", "mc"), " with ", Setting("model", "knn"))
    if problem.target.task == "regression":
        raise InputError(
            Setting("precedence"),
            " has no closed form for the squared error of nearest neighbours",
            *instead,
        )
    if problem.label is not None:
        raise InputError(
            Setting("precedence"), " does not go with the label of nearest neighbours", *instead
        )
    needed = n_subsets(problem.table.n_columns, run.precedence.columns)
    if needed > MAX_COALITIONS:
        raise InputError(
            Setting("precedence"),
            f" takes all of {needed:,} column subsets, more than {MAX_COALITIONS:,}",
            *instead,
        )
    if backend == "cuda":
        raise InputError(
            Setting("precedence"),
            " is computed on the processor: leave ",
            Setting("backend", "cuda"),
            " out",
        )


class _Rows:
    """Row values of one split under precedence."""

    def __init__(
        self,
        split: Split,
        precedence: NDArray[np.intp] | None,
        k: int,
        metric: str,
        n_jobs: int | None,
    ) -> None:
        columns = integer_columns(split.train, split.valid, metric)
        self._train = np.ascontiguousarray(columns.train)
        self._valid = np.ascontiguousarray(columns.valid.T)
        self._measures = columns.measures
        n, n_valid = columns.n_rows, columns.n_valid
        weights = np.ones(n_valid) if split.valid_weights is None else split.valid_weights
        self._factors = weights / weights.mean() / n_valid
        self._y, self._y_valid = (
            split.y.codes.astype(np.int64),
            split.y_valid.codes.astype(np.int64),
        )
        if precedence is None:
            precedence = np.zeros(n, dtype=np.intp)
        found, place = np.unique(precedence, return_inverse=True)
        self._precedence = (place.astype(np.int64), found.size)
        self._k, self._n_threads = k, count_threads(n_jobs)
        from scipy.special import gammaln

        self._log_factorial = gammaln(np.arange(n + 2) + 1.0)

    def values(self, masks: NDArray[np.bool_]) -> Floats:
        """Row values under each of the column coalitions, mean over the validation rows."""
        starts = range(0, len(self._valid), _CHUNK)
        masks = np.ascontiguousarray(masks)

        def evaluate(start: int) -> Floats:
            sums = np.zeros((len(masks), self._train.shape[1]))
            part = slice(start, start + _CHUNK)
            table = (self._train, self._valid[part], self._measures)
            labels = (self._y, self._y_valid[part], self._factors[part])
            add_with_precedence(
                table, labels, self._precedence, self._k, self._log_factorial, masks, sums
            )
            return sums

        total = np.zeros((len(masks), self._train.shape[1]))
        for part in map_in_threads(evaluate, starts, self._n_threads):
            total += part
        return total
