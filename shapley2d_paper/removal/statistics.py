"""Statistics of removal curves: best gain, first dip, and the area between two curves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import trapezoid
from scipy.special import stdtrit

from shapley2d_paper.data.splits import DATASETS
from shapley2d_paper.removal.work import column_name

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shapley2d_paper.harness.records import Records

DIP = 0.01
"""A curve has dipped once it is this far below its start."""

AREA_END = 0.2
"""The area between two curves is taken up to this share of removed cells."""


@dataclass(frozen=True)
class Curve:
    """Accuracy against the share of removed cells.

    Attributes
    ----------
    shares : ndarray of shape (k,)
        From 0 on, ascending.
    by_seed : dict
        From a seed to its accuracies, shape (k,).
    """

    shares: NDArray[np.float64]
    by_seed: dict[int, NDArray[np.float64]]

    @property
    def gains(self) -> NDArray[np.float64]:
        """Accuracy beyond that of the whole table, shape (seeds, k)."""
        accuracies = np.stack(list(self.by_seed.values()))
        return np.asarray(accuracies - accuracies[:, :1])

    @property
    def start(self) -> float:
        """Mean accuracy with all cells."""
        return float(np.mean([accuracies[0] for accuracies in self.by_seed.values()]))


@dataclass(frozen=True)
class Interval:
    """A mean over seeds with the 95 % interval of Student's t; without bounds for a single seed."""

    mean: float
    half: float

    @classmethod
    def of(cls, numbers: ArrayLike) -> Interval:
        """From one number per seed.

        Examples
        --------
        >>> round(Interval.of([1.0, 2.0, 3.0]).half, 3)
        2.484
        """
        numbers = np.asarray(numbers, dtype=np.float64)
        if numbers.size < 2:
            return cls(float(numbers.sum()) if numbers.size else float("nan"), float("inf"))
        error = numbers.std(ddof=1) / np.sqrt(numbers.size)
        return cls(float(numbers.mean()), float(stdtrit(numbers.size - 1, 0.975) * error))

    @property
    def above_zero(self) -> bool:
        """Whether all of the interval is above 0."""
        return self.mean - self.half > 0

    def points(self) -> str:
        """As percentage points."""
        bounds = f" ± {100 * self.half:.1f}" if np.isfinite(self.half) else ""
        return f"{100 * self.mean:+.1f}{bounds}"


def read_curve(
    records: Records,
    dataset: str,
    method: str,
    direction: str,
    evaluated_on: str,
    model: str = "tree",
) -> Curve | None:
    """A curve from the records of the CSV file; None where there is none."""
    name = column_name(direction, model, evaluated_on)
    part = records.where(what="curve", dataset=dataset, method=method)
    seeds = {
        key[0]: one.numbers(name)[np.argsort(one.numbers("share"))]
        for key, one in part.groups("seed")
    }
    return Curve(np.unique(part.numbers("share")), seeds) if seeds else None


def best_share(curve: Curve) -> int:
    """Where the mean curve is highest: one share for all seeds, the smallest of equals."""
    return int(np.argmax(curve.gains.mean(axis=0).round(9)))


def best_gain(curve: Curve) -> float:
    """How far the mean curve is above its start where it is highest."""
    return float(curve.gains.mean(axis=0)[best_share(curve)])


def gain_lead(curve: Curve, other: Curve) -> tuple[float, float]:
    """The lead of a curve's best gain over another's, each at its best share, and its error.

    Both are over the seeds that the two have; the error is 0 for a single one.

    Examples
    --------
    >>> shares = np.array([0, 0.1])
    >>> up = Curve(shares, {0: np.array([0.5, 0.6]), 1: np.array([0.5, 0.8])})
    >>> level = Curve(shares, {0: np.array([0.5, 0.5]), 1: np.array([0.5, 0.5])})
    >>> tuple(round(number, 3) for number in gain_lead(up, level))
    (0.2, 0.1)
    """
    at, other_at = best_share(curve), best_share(other)
    seeds = [seed for seed in curve.by_seed if seed in other.by_seed]
    leads = np.array(
        [
            (curve.by_seed[s][at] - curve.by_seed[s][0])
            - (other.by_seed[s][other_at] - other.by_seed[s][0])
            for s in seeds
        ]
    )
    error = leads.std(ddof=1) / np.sqrt(leads.size) if leads.size > 1 else 0.0
    return float(leads.mean()), float(error)


def first_dip(curve: Curve) -> float:
    """The first share where the mean curve stays a point below its start; inf if never.

    Examples
    --------
    >>> shares = np.array([0, 0.1, 0.2, 0.3, 0.4])
    >>> first_dip(Curve(shares, {0: np.array([0.9, 0.88, 0.9, 0.87, 0.85])}))
    0.3
    """
    low = curve.gains.mean(axis=0) <= -DIP + 1e-9
    twice = low & np.append(low[1:], True)  # nothing follows the last share
    return float(curve.shares[np.argmax(twice)]) if twice.any() else float("inf")


def mean_gap(upper: Curve, lower: Curve) -> Interval:
    """Mean distance of one curve above another up to :data:`AREA_END`, over shared seeds.

    It is the area between them divided by its width.

    Examples
    --------
    >>> shares = np.array([0, 0.1, 0.2, 0.5])
    >>> flat, falling = np.full(4, 0.9), np.array([0.9, 0.8, 0.7, 0.1])
    >>> round(mean_gap(Curve(shares, {0: flat}), Curve(shares, {0: falling})).mean, 3)
    0.1
    """
    within = upper.shares <= AREA_END + 1e-9
    shares = upper.shares[within]
    gaps = [
        trapezoid((upper.by_seed[seed] - lower.by_seed[seed])[within], shares)
        / (shares[-1] - shares[0])
        for seed in upper.by_seed
        if seed in lower.by_seed
    ]
    return Interval.of(gaps)


MAIN = ("census", "credit", "breast_cancer")
"""The datasets of the paper's main text."""


def advantage(
    records: Records,
    dataset: str,
    method: str,
    direction: str,
    evaluated_on: str,
    model: str = "tree",
) -> Interval | None:
    """How much better a method orders the cells than chance does, as a mean gap of accuracy.

    From the lowest on the accuracy should stay above random's, from the highest on it should fall
    below.
    """
    ours = read_curve(records, dataset, method, direction, evaluated_on, model)
    chance = read_curve(records, dataset, "random", direction, evaluated_on, model)
    if ours is None or chance is None:
        return None
    return mean_gap(ours, chance) if direction == "lowest" else mean_gap(chance, ours)


def present(records: Records, *methods: str) -> list[str]:
    """The paper's datasets for which there are curves of all these methods."""
    curves = records.where(what="curve")
    have = {(row["dataset"], row["method"]) for row in curves}
    return [dataset for dataset in DATASETS if all((dataset, method) in have for method in methods)]


def repeated(records: Records, *methods: str) -> list[str]:
    """The paper's datasets with two or more seeds of all these methods, as an interval needs."""
    curves = records.where(what="curve")
    return [
        dataset
        for dataset in DATASETS
        if len(
            set.intersection(
                *(
                    set(curves.where(dataset=dataset, method=method).distinct("seed"))
                    for method in methods
                )
            )
        )
        > 1
    ]
