"""The one rule for tolerance and time: numbered pieces are added in rounds.

It takes the results of pieces in their order and a sum to add them to, and says why it stopped. The
first round is as long as its errors need to mean something. After every round the errors are looked
at, and the next one ends where they say that the tolerance is met, at most doubling what is done.
Every method that adds up pieces stops here: Monte Carlo draws, trees, chunks of validation rows,
and sums that have no value before their last piece.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from shapley2d._base.json_record import history_pairs, whole_number
from shapley2d._base.progress import Pace
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping
    from concurrent.futures import Future

    from shapley2d._base.progress import Report
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.checkpoint import Checkpoint

LEAST_PIECES = 8
"""Pieces of a first round, at least: errors by fewer mean little."""

Stop = Literal["", "interrupted", "time_up"]
"""Why no more pieces were added; empty where there were enough."""


@dataclass
class Rounds:
    """Where the round under way ends, and what was seen at the ends of those before it.

    A checkpoint holds the end and the history, so that a run which goes on from it looks at its
    errors after the same pieces as one that was never stopped.

    ``end``: pieces after which the errors are looked at; at first those of the first round.
    ``history``: pieces, and the largest standard error after these, relative to the spread of the
        values.
    ``needed``: pieces needed in all, as far as is known: 0 before the first look.
    """

    end: int = LEAST_PIECES
    history: list[tuple[int, float]] = field(default_factory=list)
    needed: float = 0.0

    def facts(self) -> dict[str, Any]:
        """What a checkpoint keeps, by name."""
        return {"round_end": self.end, "history": self.history}

    def restore(self, facts: Mapping[str, Any], count: int) -> None:
        """Go on after ``count`` pieces; a ValueError says why the facts are not sound."""
        history = history_pairs(facts.get("history"))
        counts = [number for number, _ in history]
        if counts != sorted(set(counts)) or not all(1 <= number <= count for number in counts):
            raise ValueError("its history does not fit its count")
        most = max(self.end, 2 * count)
        self.end = whole_number(facts.get("round_end"), "the end of its round", count, most)
        self.history = history


class RunningSum(Protocol):
    """What pieces are added to.

    ``has_error``: whether there is an answer with standard errors.
    """

    rounds: Rounds

    @property
    def count(self) -> int: ...

    @property
    def most(self) -> int: ...

    @property
    def has_error(self) -> bool: ...

    def add(self, result: Any, /) -> None:
        """Add the next piece; Ctrl-C cannot stop it half-way."""

    def look(self) -> tuple[float, float]:
        """The convergence ratio, and the pieces needed in all: up to ``count`` if these are enough.

        See :func:`pieces_needed`. A sum that has to end with a whole pass rounds up.
        """

    def note(self) -> str:
        """How far it is, for a progress report."""

    def save(self, checkpoint: Checkpoint, /) -> None:
        """Save the sum so far, with the facts of ``rounds``."""


class WholeSum:
    """A sum that has no value before its last piece; a base class for such sums."""

    has_error = False

    def __init__(self, n_pieces: int) -> None:
        self.count, self.most, self.rounds = 0, n_pieces, Rounds(n_pieces, needed=n_pieces)

    def look(self) -> tuple[float, float]:
        """Enough: it is asked after the last piece only."""
        return 0.0, 0.0


def pieces_needed(count: int, ratio: float, tolerance: float, power: int = 2) -> float:
    """Pieces needed in all: errors shrink with the root of their number, or another ``power``.

    >>> pieces_needed(10, 0.05, 0.025), pieces_needed(10, 0.02, 0.025), pieces_needed(9, 0.1, 0.0)
    (40.0, 10.0, inf)
    """
    if ratio <= tolerance:
        return float(count)
    if tolerance == 0:
        return math.inf
    return count * min(float(ratio) / tolerance, 1e100) ** power


def round_end(count: int, needed: float) -> int:
    """Where the next round ends: where it is needed, at most doubling what is done.

    >>> round_end(10, 14.2), round_end(10, 4000.0)
    (15, 20)
    """
    return max(math.ceil(min(needed, 2 * count)), count + 1)


def add_rounds(
    results: Generator[Any, None, None],
    total: RunningSum,
    *,
    report: Report,
    limit: TimeLimit | None = None,
    checkpoint: Checkpoint | None = None,
) -> Stop:
    """Add pieces until the errors are small enough, all are added, time is up, or Ctrl-C.

    With a limit, a piece is not begun if at the pace of the last ones it would end too late. Before
    there is an answer a late one is better than none: a run goes on for a tenth of the limit beyond
    it. Ctrl-C and a limit keep what was added; without an answer they are raised, and
    a checkpoint has it.

    ``results``: of the pieces from number ``total.count`` on, in order; it is closed.
    """
    kept, rule, pace = total.count, _Rule(total), Pace()
    added: Future[None] | None = None
    with ThreadPoolExecutor(1) as beside:
        try:
            more = rule.wants_more()
            while more:
                if limit is not None:
                    after_s = rule.look_s + (0.0 if checkpoint is None else checkpoint.write_s)
                    if total.has_error:
                        limit.check((pace.seconds() or 0.0) + after_s)
                    else:
                        limit.at_latest().check()
                # in a thread: Ctrl-C cannot leave half of it added
                added = beside.submit(_add, total, next(results), np.geterr())
                added.result()
                pace.tick()
                more = rule.wants_more()
                report(*rule.progress(pace.seconds() or 0.0, limit))
                if checkpoint is not None and checkpoint.due():
                    total.save(checkpoint)
                    kept = total.count
        except (KeyboardInterrupt, OutOfTimeError) as cause:
            beside.shutdown()  # what is being added is added in full
            if not total.has_error:
                raise
            return "interrupted" if isinstance(cause, KeyboardInterrupt) else "time_up"
        finally:
            results.close()
            is_sound = added is None or added.exception() is None
            if checkpoint is not None and total.count > kept and is_sound:
                total.save(checkpoint)
    return ""


def _add(total: RunningSum, result: Any, errors: Any) -> None:
    """Add a piece under the caller's ``np.errstate``, which a thread does not have."""
    with np.errstate(**errors):
        total.add(result)


class _Rule:
    """Whether a sum wants more pieces, by its errors at the ends of rounds.

    ``look_s``: seconds that a look takes, and the result after the last piece about as long.
    """

    def __init__(self, total: RunningSum) -> None:
        self._total, self.look_s = total, 0.0

    def wants_more(self) -> bool:
        """Look at the errors where a round ends; before the first end, now and then, to report."""
        total, rounds, count = self._total, self._total.rounds, self._total.count
        ends = count >= rounds.end
        is_early = not rounds.needed or (not rounds.history and count.bit_count() == 1)
        if ends or (total.has_error and is_early):
            begin = time.monotonic()
            ratio, needed = total.look()
            rounds.needed = max(needed, count)
            self.look_s = time.monotonic() - begin
        if ends:
            if rounds.history and rounds.history[-1][0] == count:  # a run that had ended here
                rounds.history.pop()
            rounds.history.append((count, ratio))
            if rounds.needed <= count:
                return False
            rounds.end = round_end(count, rounds.needed)
        return count < total.most

    def progress(self, pace_s: float, limit: TimeLimit | None) -> tuple[float, str, float | None]:
        """The share of the pieces that fit or are needed, what to say, and the seconds left."""
        total, rounds, count = self._total, self._total.rounds, self._total.count
        if not rounds.needed:
            return 0.0, total.note(), None
        expected = min(max(rounds.needed, rounds.end), total.most)
        if limit is not None:
            expected = min(expected, count + max(limit.left(), 0.0) / max(pace_s, 1e-9))
        return count / expected, total.note(), pace_s * (expected - count)
