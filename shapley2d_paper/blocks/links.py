"""How the values of blocks go together with the performance of models trained on them: correlations with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shapley2d_paper.harness.records import Records

Interval = tuple[float, float, float]
"""A figure and the ends of its 95 % interval, from drawing splits with replacement."""

_RESAMPLES = 500


@dataclass(frozen=True)
class Link:
    """How value and performance go together within a split.

    Attributes
    ----------
    ranked, linear : (float, float, float)
        Spearman's and Pearson's correlation: mean over the splits, and its 95 % interval from
        drawing splits again.
    n_positive, n_splits : int
        Splits with a positive rank correlation, and all of them.
    in_order : float
        Share of pairs of blocks of one split whose better performer has the higher value.
    """

    ranked: Interval
    linear: Interval
    n_positive: int
    n_splits: int
    in_order: float


def find_link(records: Records) -> Link | None:
    """How value and performance go together in records of one measure; None without any."""
    splits = _splits(records)
    if not splits:
        return None
    ranked, linear = (
        np.array([correlation(split, ranks=ranks) for split in splits]) for ranks in (True, False)
    )
    signs = [np.sign(split[:, :, None] - split[:, None, :]).prod(axis=0) for split in splits]
    return Link(
        ranked=_mean_with_interval(ranked),
        linear=_mean_with_interval(linear),
        n_positive=int((ranked > 0).sum()),
        n_splits=len(splits),
        in_order=float(np.mean([(part > 0).sum() / max((part != 0).sum(), 1) for part in signs])),
    )


def pooled(records: Records, *, ranks: bool) -> Interval:
    """Correlation over the blocks of all splits together, with its interval."""
    splits = _splits(records)
    drawn = [
        correlation(np.hstack([splits[k] for k in chosen]), ranks=ranks)
        for chosen in _drawn(len(splits))
    ]
    return _interval(correlation(np.hstack(splits), ranks=ranks), drawn)


def _mean_with_interval(each: NDArray[np.float64]) -> Interval:
    return _interval(each.mean(), each[_drawn(each.size)].mean(axis=1))


def _drawn(n_splits: int) -> NDArray[np.intp]:
    """Splits drawn with replacement, many times."""
    return np.asarray(np.random.default_rng(0).integers(0, n_splits, (_RESAMPLES, n_splits)))


def _interval(figure: float, drawn: ArrayLike) -> Interval:
    low, high = np.quantile(np.asarray(drawn, dtype=np.float64), [0.025, 0.975])
    return float(figure), float(low), float(high)


def _splits(records: Records) -> list[NDArray[np.float64]]:
    """The values and the performances of every split, as two rows of numbers."""
    return [
        np.array([part.numbers("value"), part.numbers("performance")])
        for _, part in records.groups("seed")
    ]


def correlation(pairs: NDArray[np.float64], *, ranks: bool) -> float:
    """Of two rows of numbers: Pearson's, or Spearman's of their ranks; 0 where one of them never changes.

    Examples
    --------
    >>> correlation(np.array([[1.0, 2.0, 3.0], [1.0, 10.0, 100.0]]), ranks=True)
    1.0
    """
    if ranks:
        pairs = np.array([rankdata(row) for row in pairs])
    if (np.ptp(pairs, axis=1) == 0).any():
        return 0.0
    return round(float(np.asarray(np.corrcoef(pairs))[0, 1]), 12)
