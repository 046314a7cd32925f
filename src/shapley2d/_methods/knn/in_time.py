"""A run within a time limit: what fits is done as always, of the rest a sample.

A moment of its work says what the list of pieces that a run begins with takes. If it fits, the run
is the usual one, and the clock only ends it if that was wrong. If not, validation rows are drawn
in random rounds, so small that some dozens fit: then the clock decides how many rows are used, and
the errors know of those that are not, as with ``valid_rows="auto"``.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from time import monotonic as now
from typing import TYPE_CHECKING

from shapley2d._base.progress import Pace
from shapley2d._estimation.batches import single_threaded
from shapley2d._knn.columns.pair_fit import FEW_PER_PLAYER
from shapley2d._methods.knn.bin_correction import SAMPLE_COST, first_sample
from shapley2d._methods.knn.lists import LEAST_SUBSETS, first_list, in_form_of, list_pieces
from shapley2d._methods.knn.pace import CALIBRATION_S, pace_of_sample, pace_of_walk
from shapley2d._methods.knn.pieces import FIRST_PER_COLUMN, AllSubsetPieces
from shapley2d._methods.knn.resume import ListName
from shapley2d._methods.knn.rule import even
from shapley2d._methods.knn.strata import LEAST_ROUNDS

if TYPE_CHECKING:
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._methods.knn.game import SplitGame
    from shapley2d._methods.knn.pieces import Pieces
    from shapley2d._methods.knn.resume import Resume
    from shapley2d._methods.knn.rule import Rule

ROUNDS = 2 * LEAST_ROUNDS
"""Rounds that should fit: enough to know how much they differ.

Every piece takes some time however few rows it has: with 4,000 training rows as long as 3
validation rows, with 20,000 as 8 of them.
"""

RESULT_CELL_S = 1e-7
"""Seconds for a cell of every split after the last piece: means, errors, checks, its arrays.

At a million rows of 20 columns in 5 folds it was 7.5e-8, on two cores that others used too.
"""

_AROUND_ROWS = 2.5
"""Fixed cost of a chunk, in validation rows, on tables where one row takes seconds.

With 800,000 training rows of 20 columns: 2.3 in bins, 1.1 ranked.
"""

_MARGIN = 1.2  # on the time of the usual list: machines are busy
_LATE = 0.1  # of the limit, and a second: without an answer, a run goes on until then
_PACE_S = 0.02  # of the limit, at most, goes into measuring a pace
_WALK_GAIN = 4.0  # all subsets are walked through this much faster than a sample


class PieceClock:
    """The clock of a list of pieces.

    Parameters
    ----------
    game : SplitGame
    pieces : Pieces
    resume : Resume
    """

    def __init__(self, game: SplitGame, pieces: Pieces, resume: Resume) -> None:
        self._game, self._pieces, self._pace, self._resume = game, pieces, Pace(), resume

    def tick(self) -> None:
        """Count a piece."""
        self._pace.tick()

    def seconds_left(self, n_pieces: int) -> float | None:
        """Seconds of some more pieces, or to the end of the time."""
        pace, limit = self._pace.seconds(), self._game.run.limit
        if pace is None:
            return None
        seconds = pace * n_pieces
        return seconds if limit is None else min(seconds, max(limit.left(), 0.0))

    def check(self, *, has_answer: bool) -> None:
        """Raise where the next piece, and the result after it, would come too late."""
        limit = self._game.run.limit
        if limit is None:
            return
        if not has_answer:  # a late answer is better than none
            limit.check(-_LATE * limit.seconds - 1.0)
            return
        limit.check((self._pace.seconds() or 0.0) + self._result_s())

    def has_time_for(self, n_subsets: int) -> bool:
        """Whether all pieces of another list can be computed in the time that is left."""
        limit, pace = self._game.run.limit, self._pace.seconds()
        if limit is None or pace is None:
            return True
        more = n_subsets / self._pieces.n_subsets
        if n_subsets >= 2**self._game.n_columns:
            more /= _WALK_GAIN
        needed = pace * len(self._pieces.chunks) * max(more, 1.0)
        return _MARGIN * needed + self._result_s() <= limit.left()

    def _result_s(self) -> float:
        """Seconds from the last piece to the result, by the pieces so far."""
        triples = self._piece_rows * self._game.parts[0].n_rows * self._pieces.n_subsets
        pace_s = (self._pace.seconds() or 0.0) / triples
        return result_seconds(self._game, pace_s) + self._resume.write_s

    @cached_property
    def _piece_rows(self) -> float:
        """Validation rows of a piece, on average."""
        chunks = self._pieces.chunks
        return sum(rows.size for _, rows in chunks) / len(chunks)


def result_seconds(game: SplitGame, pace_s: float) -> float:
    """Seconds from the last piece to the result.

    Parameters
    ----------
    game : SplitGame
    pace_s : float
        Of a triple of row, validation row and subset.
    """
    cells = float(game.n_rows) * game.n_columns * len(game.parts)
    return RESULT_CELL_S * cells + _correction_seconds(game, pace_s)


def _correction_seconds(game: SplitGame, pace_s: float) -> float:
    """Seconds to rank a sample exactly, where rows are in bins."""
    if not game.is_binned:
        return 0.0
    rows = sum(part.n_rows for part in game.parts)
    return math.prod(first_sample(game)) * rows * (1 + SAMPLE_COST) * pace_s


def shorter_list(game: SplitGame, rule: Rule, limit: TimeLimit) -> ListName | None:
    """The list of rounds that fit; None where the list that a run begins with does.

    Parameters
    ----------
    game : SplitGame
    rule : Rule
    limit : TimeLimit
    """
    if min(part.n_valid for part in game.parts) < 2 * LEAST_ROUNDS:
        return None
    usual = first_list(rule)
    pieces = list_pieces(in_form_of(game, usual), rule, usual)
    seconds = min(CALIBRATION_S, _PACE_S * limit.seconds)
    k, rows = pieces.chunks[0]
    with single_threaded():
        if isinstance(pieces, AllSubsetPieces):
            pace_s = pace_of_walk(in_form_of(game, usual), pieces, seconds)
        else:
            pace_s = pace_of_sample(game, pieces.parts[k], rows, seconds)
    pairs = sum(float(part.n_rows) * part.n_valid for part in game.parts)
    usual_s = pace_s * pairs * usual.n_subsets
    if _MARGIN * usual_s + result_seconds(in_form_of(game, usual), pace_s) <= limit.left():
        return None
    n_subsets, form = usual.n_subsets, ""
    few = max(FIRST_PER_COLUMN * game.n_columns, LEAST_SUBSETS)
    may_sample = game.options.subsets == "auto" and game.options.n_subsets is None
    if pieces.takes_all and may_sample and _WALK_GAIN * few < n_subsets:
        # the same time for more validation rows: these differ more than subsets do
        n_subsets, pace_s = few, _WALK_GAIN * pace_s
    game = game.in_rounds_of(1)
    if game.is_binned and _correction_seconds(game, pace_s) > limit.left() / SAMPLE_COST:
        form, pace_s = "exact", SAMPLE_COST * pace_s
    name = ListName(n_subsets, 0, 1, form)
    game = in_form_of(game, name)
    after_s = result_seconds(game, pace_s)
    left = max(limit.left() - after_s, 1e-9)
    a_row_s = pace_s * sum(part.n_rows for part in game.parts) * n_subsets
    around_s = _around_seconds(game, rule, name, a_row_s)
    fewest = max(even(FEW_PER_PLAYER * game.n_columns + 1), LEAST_SUBSETS)
    if may_sample and ROUNDS * around_s > left and fewest < n_subsets:
        # as few subsets as intervals allow, and more rounds
        around_s, a_row_s = (one * fewest / n_subsets for one in (around_s, a_row_s))
        name = name._replace(n_subsets=fewest)
    if 2 * around_s > left + _LATE * limit.seconds + 1.0:
        raise limit.refuse(2 * around_s + after_s)
    rounds = min(max(left / (2 * around_s), 2.0), ROUNDS)
    round_rows = math.floor((left / rounds - around_s) / a_row_s)
    return name._replace(round_rows=max(round_rows, 1))


def _around_seconds(game: SplitGame, rule: Rule, name: ListName, a_row_s: float) -> float:
    """Seconds of a round of one validation row in every stratum: what any takes, however small.

    Parameters
    ----------
    game : SplitGame
    rule : Rule
    name : ListName
    a_row_s : float
        Seconds of one more validation row in every split.
    """
    limit = game.run.limit
    if limit is not None and a_row_s > _PACE_S * limit.seconds * len(game.parts):
        return _AROUND_ROWS * a_row_s  # too long to be tried
    pieces = list_pieces(game, rule, name._replace(round_rows=ROUNDS))
    k, rows = pieces.chunks[0]
    smallest = replace(pieces, chunks=[(k, rows[: pieces.parts[k].rows_at_a_time])])
    sums = game.empty_sums().strata[k]
    with single_threaded():
        smallest(0)  # compiles, or loads what was compiled
        begin = now()
        sums.add(smallest(0))
        return max(now() - begin, 1e-9) * len(game.strata)
