"""Which entry of a row is wrong, where functional dependencies between its columns are broken.

A broken rule says that one of two entries is wrong, or that it has an exception, not which. Rows
are judged as a whole: the wrong entry is the one that explains most of the broken rules and takes
part in few that hold. Each rule tells either of its two columns what it thinks, given what all
other rules think of the other one: loopy belief propagation (Pearl 1988; Murphy, Weiss and Jordan
1999, arXiv:1301.6725).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import RARE, logistic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

# RARE is the share of wrong entries before any rule speaks. Set on swapped entries in the clean
# twins of hospital, flights and beers, on these dirty, and on 50 tables with errors of
# benchmarks/calibration.py: logarithmic loss of the entries that rules name .62 before rows were
# judged as a whole, .34 now.
_HOLDS = 0.05  # chance that a rule holds though one of its entries is wrong
_STRANGER = 0.1  # chance that a wrong cause is beside an entry that no group has as its usual one
_ROUNDS = 12


@dataclass(frozen=True)
class Tie:
    """A dependency applied to rows; arrays of shape (rows,)."""

    cause: int  # the two columns
    effect: int
    speaks: NDArray[np.bool_]  # whether there is a majority to compare the row with
    broken: NDArray[np.bool_]  # whether the row differs from it
    # logarithm of the odds that a wrong entry broke it, and not an exception to the rule
    odds: NDArray[np.float64]
    usual: NDArray[np.intp]  # the effect that the majority has
    votes: NDArray[np.int64]  # its rows, of so many whose effect is known
    size: NDArray[np.int64]
    # whether no group has the row's effect as its usual one: then no other cause was meant
    stranger: NDArray[np.bool_]
    by_chance: float  # how often two rows agree on the effect by chance

    def take(self, rows: NDArray[np.intp]) -> Tie:
        arrays = {name: one[rows] for name, one in vars(self).items() if np.ndim(one)}
        return replace(self, **arrays)

    def against(self, column: int, other: NDArray[np.float64]) -> NDArray[np.float64]:
        """Logarithm of how much likelier the rule is broken, or holds, if the entry is wrong.

        ``other`` is how likely the entry of the other column is wrong.
        """
        cause_holds = max(self.by_chance, _HOLDS)  # the cause of another group with this effect
        is_cause = column == self.cause
        holds, other_holds = (cause_holds, _HOLDS) if is_cause else (_HOLDS, cause_holds)
        exception = np.minimum(2 * RARE * np.exp(-self.odds), 0.5)
        by_other = other * (1 - other_holds)
        if_cause = np.where(self.stranger, _STRANGER, 1.0)
        own, others = (if_cause, 1.0) if is_cause else (1.0, if_cause)
        broken = np.log(own * (1 - holds) / (exception + (1 - exception) * by_other * others))
        lead = np.maximum((2 * self.votes - self.size) / (self.size + 1), 0.0)
        return np.where(self.broken, broken, lead * np.log(holds / (1 - by_other)))


def blamed(ties: Sequence[Tie], n: int) -> dict[int, NDArray[np.float64]]:
    """How likely the entries of some of the n rows are wrong, by column.

    First with the same share of wrong entries in every column, then with less in columns that had
    few: where either of two entries may be wrong, it is rather that of the column with more errors.
    """
    pairs: dict[tuple[int, int], list[Tie]] = defaultdict(list)
    for tie in ties:
        pairs[min(tie.cause, tie.effect), max(tie.cause, tie.effect)].append(tie)
    size = ties[0].broken.size if ties else 0
    said = {(pair, k): np.zeros(size) for pair in pairs for k in pair}
    rates = {k: RARE for pair in pairs for k in pair}
    for _ in range(2):
        for _ in range(_ROUNDS):
            total = _totals(said, rates)
            # half of the old opinion is kept, else opinions swing from one side to the other
            said = {
                (pair, k): 0.5 * said[pair, k]
                + 0.5 * _opinion(both, k, logistic(total[other] - said[pair, other]))
                for pair, both in pairs.items()
                for k, other in (pair, pair[::-1])
            }
        wrong = {k: logistic(logit) for k, logit in _totals(said, rates).items()}
        errors = {k: RARE * n + float(each.sum()) for k, each in wrong.items()}
        rates = {k: RARE * each / max(errors.values()) for k, each in errors.items()}
    return wrong


def _totals(
    said: dict[tuple[tuple[int, int], int], NDArray[np.float64]], rates: dict[int, float]
) -> dict[int, NDArray[np.float64]]:
    """What all rules together say against each column."""
    total: dict[int, NDArray[np.float64]] = {}
    for (_, k), opinion in said.items():
        total[k] = opinion + (total[k] if k in total else np.log(rates[k] / (1 - rates[k])))
    return total


def _opinion(both: list[Tie], k: int, other: NDArray[np.float64]) -> NDArray[np.float64]:
    """What the rules between two columns say against one: their mean, by the rows that vote."""
    broken = np.any([tie.broken for tie in both], axis=0)
    against, votes = np.zeros(other.size), np.zeros(other.size)
    for tie in both:
        weight = np.where(tie.speaks, tie.votes, 0)
        if tie.cause == k:
            # a group of wrong entries agrees with itself: 6000 for 6, always beside the same
            weight = np.where(broken & ~tie.broken, 0, weight)
        against += weight * tie.against(k, other)
        votes += weight
    return np.asarray(against / np.maximum(votes, 1))
