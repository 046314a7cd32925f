"""Whether repairs helped a model: its scores before, after and with random repairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._base.words import is_share
from shapley2d._tables.frames import make_frame

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class RepairGain:
    """What repairs did for a model, on held-out rows that no repair has seen.

    Attributes
    ----------
    before, after, random : ndarray of shape (folds x repeats,)
        Scores of the model trained on the original table, on the repaired one, and on one with as
        many random repairs, always on the same held-out rows.
    changed : ndarray of shape (folds x repeats,)
        Number of repaired cells in the training rows.
    folds : int
    scoring : str
        Name of the score.
    """

    before: NDArray[np.float64]
    after: NDArray[np.float64]
    random: NDArray[np.float64]
    changed: NDArray[np.intp]
    folds: int
    scoring: str
    _frame: str = "pandas"

    @property
    def gain(self) -> float:
        """Mean difference between after and before."""
        return float(np.mean(self.after - self.before))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % interval of the gain, wider because the folds share training rows."""
        return paired_interval(self.after - self.before, self.folds)

    @property
    def random_gain(self) -> float:
        """Mean difference between random repairs and none."""
        return float(np.mean(self.random - self.before))

    @property
    def random_interval(self) -> tuple[float, float]:
        """95 % interval of the gain of random repairs."""
        return paired_interval(self.random - self.before, self.folds)

    @property
    def verdict(self) -> str:
        """Better, worse or neither, by the interval, in words."""
        low, high = self.interval
        if low > 0:
            return "the model is better after the repairs"
        if high < 0:
            return "the model is worse after the repairs"
        return "the difference may be chance"

    def to_frame(self) -> Any:
        """One line per fold: ``before``, ``after``, ``random`` and ``changed``."""
        names = ("before", "after", "random", "changed")
        return make_frame({name: getattr(self, name) for name in names}, self._frame)

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Table, score, gain and 95 % interval in words: before, after and repaired at random.

        A score that is a share is in per cent, and its differences in points.
        """
        factor, decimals, unit, points = (
            (100, 2, " %", " points") if is_share(self.scoring) else (1, 4, "", "")
        )
        after, random = (
            (
                f"{factor * gain:+.{decimals}f}{points}",
                f"{factor * low:+.{decimals}f} to {factor * high:+.{decimals}f}",
            )
            for gain, (low, high) in (
                (self.gain, self.interval),
                (self.random_gain, self.random_interval),
            )
        )
        levels = [
            f"{factor * float(np.mean(scores)):.{decimals}f}{unit}"
            for scores in (self.before, self.after, self.random)
        ]
        return [
            ("original", levels[0], "", ""),
            ("repaired", levels[1], *after),
            ("as many random repairs", levels[2], *random),
        ]

    def _words(self) -> str:
        (_, before, *_), (_, after, gain, interval), (_, _, chance, by_chance) = self._rows()
        return (
            f"{self.scoring} {before} before, {after} after: {gain} ({interval}); as many random "
            f"repairs: {chance} ({by_chance}); {self.verdict}"
        )

    def __repr__(self) -> str:
        return f"RepairGain of {np.mean(self.changed):.0f} cells: {self._words()}"


def paired_interval(differences: NDArray[np.float64], folds: int) -> tuple[float, float]:
    """A 95 % interval of the mean of differences between two models over repeated folds.

    Nadeau and Bengio's correction: the training rows of the folds overlap, so their differences are
    not independent, and their variance counts for 1/J + 1/(folds - 1) instead of 1/J.

    >>> low, high = paired_interval(np.array([0.0, 0.1, 0.2, 0.1]), 4)
    >>> round(low, 3), round(high, 3)
    (-0.098, 0.298)
    """
    count = differences.size
    middle = float(differences.mean())
    if count < 2:
        return -np.inf, np.inf
    spread = float(np.sqrt((1 / count + 1 / (folds - 1)) * differences.var(ddof=1)))
    half = interval_factor(count - 1) * spread
    return middle - half, middle + half
