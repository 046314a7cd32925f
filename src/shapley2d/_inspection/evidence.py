"""The evidence for and against every entry, as numbers: what the learned trees look at.

Twice. An entry alone: how it fits its row, what its column and other columns say of it. Then in the
light of the table: how what is said of it alone lies above the others of its column, row and table,
by which the same outlier is an error in one table and ordinary in another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection import company, signals

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._inspection.company import Company
    from shapley2d._inspection.predict import Prediction

PREDICTED = ("surprise", "rivalled", "stories", "distance")
_OF_COLUMN = (*signals.SIGNALS, *signals.OF_NUMBERS, *signals.OF_TEXTS)
_PLAIN = (*PREDICTED, "predictable", *(one.__name__ for one in _OF_COLUMN), *company.SIGNALS)
_RELATIVE = (*PREDICTED, "odd_pair", "odd_shape", "slip", "broken", "vouched")
ALONE = (
    *_PLAIN,
    *(f"{name} in column" for name in _RELATIVE),
    *(f"{name} share" for name in _RELATIVE),
)
"""What the first trees look at, in their order."""

KEPT = (*PREDICTED, "times", "as_rare", "as_far", "gap", "end_times", "different", "repeated_key",
        "odd_shape", "odd_pair", "stray", "slip", "variant", "odd_token", "vouched", "broken",
        "votes", "against", "kind")  # fmt: skip
CONTEXT = ("logit", "column 50 %", "column 90 %", "column 98 %", "table 90 %", "table 98 %",
           "table 99.8 %", "column share", "table share", "others of row", "alike")  # fmt: skip
TOGETHER = (*KEPT, *CONTEXT)
"""What the second trees look at."""

_FLATTEST = 0.3  # least distance of the median of a signal from its 90 % quantile, as a unit


def alone(view: ColumnView, said: Prediction, of_company: Company) -> NDArray[np.float32]:
    """The evidence (n, signals) about the entries of a column, each by itself."""
    values = {name: getattr(said, name) for name in PREDICTED} | signals.signals(view)
    # how much of the column's entropy the rest of the rows takes away
    doubt = said.doubt[: view.known].mean() if view.known else said.whole
    values["predictable"] = 1 - doubt / max(said.whole, 1e-9)
    values |= {name: getattr(of_company, name) for name in company.SIGNALS}
    filled = view.codes[: view.known] >= 0
    for name in _RELATIVE:
        own = np.broadcast_to(values[name], view.codes.shape)
        known = own[: view.known][filled]
        middle, high = np.quantile(known, [0.5, 0.9]) if known.size else (0.0, 1.0)
        values[f"{name} in column"] = (own - middle) / max(high - middle, _FLATTEST)
        values[f"{name} share"] = _log_share((known > middle + 2).sum(), known.size)
    rows = np.empty((view.codes.size, len(ALONE)), dtype=np.float32)
    for k, name in enumerate(ALONE):
        rows[:, k] = values[name]
    return rows


def in_context(
    logit: Floats, written: NDArray[np.bool_], codes: NDArray[np.intp], known: int
) -> NDArray[np.float32]:
    """The evidence (n, p, signals) of how entries lie above the others of column, row and table.

    ``logit`` (n, p) is what is said of each entry alone; those that are not ``written`` do not
    count. Equal ``codes`` in a column are equal texts.
    """
    rows = np.zeros((*logit.shape, len(CONTEXT)), dtype=np.float32)
    rows[..., 0] = logit
    own, there = logit[:known], written[:known]
    whole = own[there] if there.any() else np.zeros(1)
    rows[..., 4:7] = np.quantile(whole, [0.9, 0.98, 0.998])
    rows[..., 8] = _share_wrong(whole)
    chance = np.where(written, 1 / (1 + np.exp(-logit)), 0.0)
    rows[..., 9] = np.log1p(chance.sum(axis=1, keepdims=True) - chance)
    for j in range(logit.shape[1]):
        column = own[there[:, j], j] if there[:, j].any() else np.zeros(1)
        rows[:, j, 1:4] = np.quantile(column, [0.5, 0.9, 0.98])
        rows[:, j, 7] = _share_wrong(column)
        sums = np.bincount(codes[:known, j] + 1, chance[:known, j], codes[:, j].max(initial=0) + 2)
        alike = sums[codes[:, j] + 1]
        alike[known:] += chance[known:, j]
        rows[:, j, 10] = np.log(alike + 0.01)
    return rows


def _share_wrong(logit: Floats) -> float:
    """Log of the share of entries that are likely wrong."""
    sure = 1 / (1 + np.exp(-logit[logit > 0]))
    return _log_share(float(sure.sum()), logit.size)


def _log_share(count: float, size: int) -> float:
    """Logarithm of a share, drawn towards few where there are few entries."""
    return float(np.log((count + 0.5) / (size + 50)))
