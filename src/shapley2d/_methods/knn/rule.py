"""When a run is done: the one rule for all lists of pieces.

It looks at the sums after every piece and says whether they are enough, whether there are more
pieces to add, or whether to start again with more column subsets. It depends on the sums alone, so
that a run that goes on from a file decides the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from shapley2d._base.precision import convergence_ratio, interval_factor
from shapley2d._knn.columns.pair_fit import MAX_SUBSETS
from shapley2d._methods.knn.strata import LEAST_ROUNDS

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.knn.pieces import Pieces
    from shapley2d._methods.knn.sums import TableSums

MAX_PASSES = 4
"""Times that validation rows are used, at most, where the error is larger than was expected."""

_PILOT = 0.25  # of the pieces say how many subsets it takes: more would cost more than they save
_MARGIN = 1.25  # on that number: a second pass costs as much as twice the subsets
_STEP = 1.1  # between two looks at the error: a look costs about as much as adding a piece


@dataclass(frozen=True)
class Enough:
    """The run is done."""

    estimate: Estimate


@dataclass(frozen=True)
class More:
    """There are pieces left to add."""


@dataclass(frozen=True)
class Again:
    """Start again with this number of column subsets in a piece."""

    n_subsets: int


Verdict = Enough | More | Again


@dataclass
class Looks:
    """What was seen of the error on the way.

    Attributes
    ----------
    history : list of (int, float)
        Subsets that a validation row has been asked about, on average, and the largest standard
        error by then, relative to the spread of the values.
    """

    history: list[tuple[int, float]] = field(default_factory=list)


@dataclass(frozen=True)
class Rule:
    """What a run is asked for.

    Attributes
    ----------
    tolerance : float
        Largest standard error that is good enough, relative to the spread of the values.
    n_asked : int or None
        Subsets that the caller wants; None for as many as the tolerance takes.
    n_columns : int
    takes_all : bool
        Whether all subsets are evaluated from the start.
    all_from : int or None
        With more subsets than that, all of them cost less; None where all are too many.
    samples_rows : bool
        Whether the run may end before all validation rows were used.
    """

    tolerance: float
    n_asked: int | None
    n_columns: int
    takes_all: bool
    all_from: int | None
    samples_rows: bool

    @property
    def most(self) -> int:
        """Subsets of a sampled piece, at most."""
        most = MAX_SUBSETS if self.all_from is None else self.all_from
        return int(min(most, 2**self.n_columns))

    def verdict(self, pieces: Pieces, sums: TableSums, looks: Looks) -> Verdict:
        """What to do after the pieces that were added."""
        done, per_pass = sums.pieces, len(pieces.chunks)
        if self.samples_rows and done in check_points(first_rounds(pieces), per_pass):
            estimate, ratio = look(pieces, sums, looks)
            if ratio <= self.tolerance:
                return Enough(estimate)
        if pieces.is_pilot and done:
            pilot = self._pilot(pieces, sums.n_splits)
            needed = self._needed(pieces, sums) if done == pilot else 0
            if needed > pieces.n_subsets:
                return self._again(needed)
        if not done or done % per_pass:
            return More()
        estimate, ratio = look(pieces, sums, looks)
        if ratio <= self.tolerance or self.n_asked is not None:
            return Enough(estimate)
        takes = done // per_pass * (ratio / max(self.tolerance, 1e-300)) ** 2
        if takes <= MAX_PASSES:
            return More()
        return Enough(estimate) if self.all_from is None else self._again(self.all_from + 1)

    def _again(self, n_subsets: int) -> Again:
        """More subsets: all of them where that costs less, or as many as algebra can take."""
        if self.all_from is not None and n_subsets > self.all_from:
            return Again(2**self.n_columns)
        return Again(even(min(n_subsets, self.most)))

    def _pilot(self, pieces: Pieces, n_splits: int) -> int:
        """Pieces that say how many subsets it takes."""
        if self.samples_rows:
            return first_rounds(pieces)
        per_pass = len(pieces.chunks)
        return max(int(_PILOT * per_pass), min(2 * n_splits, per_pass))

    def _needed(self, pieces: Pieces, sums: TableSums) -> int:
        """Subsets of a piece that the tolerance takes."""
        if self.tolerance == 0:
            return self.most
        now, per_split = subset_error(sums), max(pieces.counts)
        if now == 0:
            return pieces.n_subsets
        if self.samples_rows:
            return self._needed_of_a_sample(pieces.n_subsets, per_split, sums)
        # Errors of independent pieces fall with the root of their number. On Census the power was
        # 0.45 to 0.63 in four runs; reading it off the pilot was noise and cost twice the subsets.
        dof = sums.dof("values") * len(pieces.chunks) / sums.pieces
        ratio = now * math.sqrt(sums.fewest_pieces / per_split)
        ratio *= interval_factor(dof) / interval_factor()
        return math.ceil(pieces.n_subsets * float(max(_MARGIN * ratio / self.tolerance, 1.0)))

    def _needed_of_a_sample(self, n_subsets: int, per_split: int, sums: TableSums) -> int:
        """Subsets that make subsets times validation rows the least for the wanted error."""
        between, within = sums.round_variances()
        wanted = (self.tolerance * sums.spread) ** 2 * max(sums.n_splits - 1, 1)
        by_rows, best = max(between - within, 0.0), (math.inf, n_subsets)
        for doubling in range(8):
            count, by_subsets = n_subsets << doubling, within / 4**doubling
            takes = max((by_rows + by_subsets) / (wanted + by_rows / per_split), 1.0)
            if takes > per_split:  # all rows, several times
                takes = max(by_subsets / max(wanted, 1e-300), per_split)
            best = min(best, (takes * count, count))
        return best[1]


def even(n_subsets: int) -> int:
    """Subsets in complement pairs: one less where the number is odd."""
    return n_subsets - n_subsets % 2


def look(pieces: Pieces, sums: TableSums, looks: Looks) -> tuple[Estimate, float]:
    """The estimate by now and its convergence ratio, which the history keeps."""
    estimate = sums.estimate()
    ratio = convergence_ratio(estimate.values, estimate.stderr, estimate.dof)
    count = max(round(pieces.n_subsets * sums.pieces / len(pieces.chunks)), 1)
    if looks.history and looks.history[-1][0] >= count:
        looks.history.pop()
    looks.history.append((count, ratio))
    return estimate, ratio


def subset_error(sums: TableSums) -> float:
    """Error that subsets alone leave, relative to the spread, with as many pieces as were added."""
    if sums.spread == 0:
        return 0.0
    error = math.sqrt(sums.subset_variance()) / math.sqrt(max(sums.n_splits - 1, 1))
    return error / sums.spread


def first_rounds(pieces: Pieces) -> int:
    """Pieces of the rounds after which a run may end that has not used all validation rows."""
    return sum(min(count, LEAST_ROUNDS) for count in pieces.counts)


def check_points(first: int, last: int) -> set[int]:
    """Numbers of pieces after which the error is looked at.

    Examples
    --------
    >>> sorted(check_points(8, 13))
    [8, 9, 10, 11]
    """
    found = set()
    while first < last:
        found.add(first)
        first = math.ceil(_STEP * first)
    return found
