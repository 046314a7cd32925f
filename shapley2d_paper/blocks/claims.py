"""The claim on blocks, judged: does a block's value rise with what a model trained on it scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import rankdata

from shapley2d_paper.harness.experiment import Claim, Judgement

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from shapley2d_paper.harness.experiment import Verdict
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
    """Pearson's correlation, or Spearman's of the ranks; 0 where one of the two is constant.

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


MEASURES = {
    "accuracy": "decision tree",
    "balanced accuracy": "decision tree",
    "Gini": "logistic regression",
}
"""Measures of performance, and the model that each is measured with."""

STRONG = 0.5  # mean rank correlation from which on "grows with" is a fair description

TENDENCY = 0.6  # share of pairs in the same order that counts as a tendency; chance is a half


def judge_growth(records: Records) -> Judgement | None:
    """By the rank correlation within splits, for tree accuracy and for Gini."""
    links = {measure: find_link(records.where(measure=measure)) for measure in ("accuracy", "Gini")}
    found = {measure: link for measure, link in links.items() if link is not None}
    if len(found) < len(links):
        return None
    passed = [
        measure
        for measure, link in found.items()
        if link.ranked[0] >= STRONG and link.ranked[1] > 0
    ]
    verdict: Verdict = (
        "holds" if len(passed) == len(found) else "holds in part" if passed else "does not hold"
    )
    figures = "; ".join(
        f"{measure} ({MEASURES[measure]}): mean rank correlation {interval_text(link.ranked)}, "
        f"positive in {link.n_positive} of {link.n_splits} splits"
        for measure, link in found.items()
    )
    why = (
        f"Rule: the mean rank correlation within a split is {STRONG} or more, and its 95 % "
        "interval over splits is above 0. True for "
        f"{' and '.join(passed) if passed else 'neither measure'}; the claim holds if both pass, "
        "in part if one does. "
        f"{_in_pairs(found)} {_not_judged(records)}"
    )
    return Judgement(verdict, figures, why.strip())


def _in_pairs(links: dict[str, Link]) -> str:
    """How often the better of two blocks is worth more, and what that makes of the claim."""
    orders = " and ".join(f"{link.in_order:.0%} ({measure})" for measure, link in links.items())
    text = f"The better of two blocks of a split also has the higher value in {orders} of the cases"
    shares = [link.in_order for link in links.values()]
    if min(shares) == 1:
        return f"{text}, without exception."
    what = "a tendency, not a law" if min(shares) >= TENDENCY else "at most a weak tendency"
    return f"{text}: {what}, for a block also earns by what it adds to others."


def _not_judged(records: Records) -> str:
    link = find_link(records.where(measure="balanced accuracy"))
    if link is None:
        return ""
    return (
        "Balanced accuracy is shown and not judged, as it would count the paper's tree twice; its "
        f"mean rank correlation is {interval_text(link.ranked)}."
    )


def interval_text(figure: Interval) -> str:
    """A figure with its interval."""
    return f"{figure[0]:.2f} [{figure[1]:.2f}, {figure[2]:.2f}]"


CLAIMS = (
    Claim(
        "The value of a block grows with the performance of a model trained on the block (Credit)",
        "a figure of rising lines, one per random split; no correlation is given",
        judge_growth,
    ),
)
