"""How a model's score changes as cells, rows or columns are removed in the order of their values.

This is the paper's sanity check of cell values: without the cells of the highest values the score
should fall quickly, without those of the lowest it should stay. A removed cell is missing, a row
or a column without any cell is not there; the model is trained on what is left, as one is on the
union of contributors' cells (:func:`~shapley2d.value_fragments`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.checks import check_choice, check_whole
from shapley2d._base.precision import interval_factor
from shapley2d._base.words import shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from shapley2d._valuation.valuation import Valuation

SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
"""Shares of the cells, rows or columns that are removed, by default."""

_SUMS = {"cells": "values", "rows": "row_values", "columns": "column_values"}


@dataclass(frozen=True)
class RemovalCurve:
    """Scores after the removal of some shares, for several seeds.

    Attributes
    ----------
    shares : ndarray of shape (k,)
        The shares removed.
    scores : ndarray of shape (seeds, k)
        A seed orders equal values at random, and is the model's.
    stderr : ndarray of shape (k,)
        Standard errors by other validation rows, of the mean over seeds.
    score : str
        What is measured.
    label : str
        What was removed, in which order.
    """

    shares: NDArray[np.float64]
    scores: NDArray[np.float64]
    stderr: NDArray[np.float64]
    score: str
    label: str

    @property
    def area(self) -> float:
        """The mean score over the shares removed: the area under the curve over its width."""
        return float(self._areas().mean())

    @property
    def area_stderr(self) -> float:
        """The standard error of the area over seeds; nan with one seed."""
        areas = self._areas()
        return float(areas.std(ddof=1) / np.sqrt(areas.size)) if areas.size > 1 else float("nan")

    def _areas(self) -> NDArray[np.float64]:
        between = (self.scores[:, 1:] + self.scores[:, :-1]) / 2
        return np.average(between, axis=1, weights=np.diff(self.shares))

    def to_frame(self) -> Any:
        """A row for every share: the mean score over seeds, and its 95 % interval.

        Intervals say what other validation rows would change.
        """
        import pandas as pd

        mean, half = self.scores.mean(axis=0), interval_factor() * self.stderr
        columns = {"removed": self.shares, "score": mean, "low": mean - half, "high": mean + half}
        return pd.DataFrame(columns)

    def plot(self, ax: Any = None) -> Any:
        """Plot the curve with its intervals; returns matplotlib's axes."""
        import matplotlib.pyplot as plt

        ax = plt.gca() if ax is None else ax
        frame = self.to_frame()
        (line,) = ax.plot(100 * frame.removed, frame.score, marker=".", label=self.label)
        ax.fill_between(
            100 * frame.removed, frame.low, frame.high, color=line.get_color(), alpha=0.2
        )
        ax.set_xlabel("removed, %")
        ax.set_ylabel(self.score)
        ax.legend()
        return ax


def removal_curve(
    values: Valuation | ArrayLike,
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    *,
    model: Any = "boosting",
    by: Literal["cells", "rows", "columns"] = "cells",
    order: Literal["lowest", "highest"] = "lowest",
    shares: Sequence[float] = SHARES,
    scoring: str | None = None,
    n_seeds: int = 5,
    random_state: int = 0,
) -> RemovalCurve:
    """Scores of a model as cells, rows or columns are removed in the order of their values.

    Parameters
    ----------
    values : Valuation or array
        Values of the cells in the shape of X; with ``by="rows"`` or ``"columns"`` an array has one
        for each of these.
    X, y, X_valid, y_valid
        The training and the validation table, as in :func:`~shapley2d.value_cells`. Validate on
        rows that the values were not computed with: values fit their own validation rows.
    model : str or scikit-learn estimator
        What is trained: ``"boosting"``, the package's own, or an estimator that takes missing
        entries. With ``make_pipeline(SimpleImputer(), model)`` a removed cell is the mean of the
        others in its column, as in the paper.
    by : {"cells", "rows", "columns"}
        What is removed.
    order : {"lowest", "highest"}
        What goes first. Equal values go in random order.
    shares : sequence of float
        Shares to remove, rising from 0 or more to at most 1.
    scoring : str, optional
        A score of :func:`~shapley2d.value_fragments`: by default the mean probability of the right
        label, or R squared.
    n_seeds : int
        How many times.
    random_state : int, numpy generator or None

    Returns
    -------
    RemovalCurve

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import value_cells
    >>> from shapley2d.evaluation import removal_curve
    >>> random = np.random.default_rng(0)
    >>> X, y = random.normal(size=(200, 3)), random.integers(2, size=200)
    >>> X[:, 0] += 2 * y
    >>> v = value_cells(X[:80], y[:80], X[80:140], y[80:140], progress=False)
    >>> asked = X[:80], y[:80], X[140:], y[140:]
    >>> low, high = (removal_curve(v, *asked, order=one) for one in ("lowest", "highest"))
    >>> low.area > high.area
    True
    """
    from shapley2d._methods.run import as_seed
    from shapley2d._models.by_name import check_model
    from shapley2d._models.judges import make_judge
    from shapley2d._models.scores import SAYS, ScoreLines, score_name
    from shapley2d._tables.problem import make_problem

    check_choice(by, "by", _SUMS)
    check_choice(order, "order", ("lowest", "highest"))
    check_whole(n_seeds, "n_seeds", 1)
    check_model(model)
    seed = as_seed(random_state)
    removed = _numbers(shares)
    rises = removed.ndim == 1 and removed.size > 1 and bool((np.diff(removed) > 0).all())
    if not (rises and removed[0] >= 0 and removed[-1] <= 1):
        raise InputError(f"shares={shown(shares)} must rise, from 0 or more to at most 1")
    if X_valid is None:
        raise InputError("removal is scored on validation rows: give X_valid and y_valid")
    problem = make_problem(X, y, X_valid, y_valid)
    split = problem.splits[0]
    n, m = problem.table.shape
    worth = _numbers(getattr(values, _SUMS[by], values))
    shape = {"cells": (n, m), "rows": (n,), "columns": (m,)}[by]
    if worth.shape != shape or not np.isfinite(worth).all():
        raise InputError(
            f"values must be numbers of shape {shape}, one for each of the {by} of X, and have "
            f"shape {worth.shape}"
        )
    score = score_name(scoring, problem.target.task)
    measure = ScoreLines(score, split)
    lines = np.zeros((n_seeds, removed.size, 1 + measure.n_lines))
    for k in range(n_seeds):
        judge = make_judge(model, split, seed + k, "model")
        chance = np.random.default_rng([seed, k]).permutation(worth.size)
        rank = np.lexsort((chance, worth.ravel() if order == "lowest" else -worth.ravel()))
        place = np.empty(worth.size)
        place[rank] = np.arange(worth.size)
        place = place.reshape(shape) if by != "rows" else place[:, None]
        for j, count in enumerate(np.round(removed * worth.size).tolist()):
            held = np.broadcast_to(place >= count, (n, m)).T
            lines[k, j] = measure.lines(judge.predict(np.ascontiguousarray(held)))
    stderr = np.sqrt(np.square(lines[..., 1:].mean(axis=0)).sum(axis=-1))
    label = f"{by}, {order} first"
    return RemovalCurve(
        removed, lines[..., 0] + measure.baseline, stderr, SAYS[score]["name"], label
    )


def _numbers(given: Any) -> NDArray[np.float64]:
    """An array of numbers; NaN alone where they are none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.array(np.nan)
