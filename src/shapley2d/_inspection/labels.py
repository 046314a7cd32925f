"""How likely class labels are wrong: by what their rows predict, and how such labels are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.learned import LEARNED, SETTINGS
from shapley2d._inspection.trees import Trees

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats

LABELS = Trees.of(LEARNED["labels"])


def label_probability(surprise: Floats, shares: Floats, known: int | None = None) -> Floats:
    """The probability of being wrong of every class label.

    ``surprise`` is its negative log-likelihood, out-of-bag, ``shares`` how frequent its class is;
    the first ``known`` rows are the table.

    >>> surprise = -np.log([0.97] * 98 + [0.5, 0.01])
    >>> label_probability(surprise, np.full(100, 0.5)).round(2)[-2:]
    array([0.01, 0.68])
    """
    evidence = label_evidence(surprise, shares, known) if surprise[:known].size else {}
    # where nothing predicts the target, nothing speaks against a label
    if surprise[:known].size < FEWEST_ROWS or not np.any(evidence["lift"]):
        return np.zeros(surprise.size)
    rows = np.empty((surprise.size, len(LABELS.names)), dtype=np.float32)
    for k, name in enumerate(LABELS.names):
        rows[:, k] = evidence[name]
    logit = LABELS.logit(rows) + SETTINGS["order"] * evidence["odds"]
    return np.asarray(SETTINGS["most"] / (1 + np.exp(-np.clip(logit, -50.0, 50.0))))


def label_evidence(
    surprise: Floats, shares: Floats, known: int | None = None
) -> dict[str, Floats | float]:
    """What speaks against class labels: each by itself, and how such labels are in this table."""
    odds, most = np.log(np.expm1(np.clip(surprise, 1e-3, 12.0))), SETTINGS["odds"]
    of_class = np.log((1 - shares + 1e-3) / shares)
    # beyond what the class alone makes likely: labels of a rare class are always against the odds
    lift = (odds - of_class) * _confirmed((odds - of_class)[:known], of_class[:known])
    odds = of_class + lift
    cut = np.minimum(odds, most)
    ends = (2, 25, 50, 75, 90, 98)
    return {
        "odds": cut,
        "lift": np.clip(lift, -2.0, most),
        "class": np.log(shares),
        "rarest class": float(np.log(shares[:known].min())),
        "unlikely": float(np.log(((odds[:known] > 1).sum() + 0.5) / (odds[:known].size + 10))),
        **{f"{end} %": float(np.quantile(cut[:known], end / 100)) for end in ends},
    }


def _confirmed(lift: Floats, of_class: Floats) -> float:
    """How much of the lift the labels themselves confirm: 0 where nothing predicts the target.

    Each label was predicted without itself. So the factor of the lifts under which all labels
    together are likeliest tells how far predictions can be trusted (Platt 1999), noise included.
    It counts where it is worth its one parameter (Schwarz 1978, doi:10.1214/aos/1176344136).
    """
    factors = np.linspace(0.0, 1.0, 21)
    likely = [-np.logaddexp(0.0, of_class + factor * lift).sum() for factor in factors]
    best = int(np.argmax(likely))
    return float(factors[best]) if likely[best] - likely[0] > np.log(lift.size) / 2 else 0.0
