"""The one run: draws in, an estimate with standard errors out.

Draws are computed anywhere (:mod:`shapley2d._estimation.workers`) and added in their order, so that
any number of workers, or a run that was killed and goes on, gives the same bits. After a round the
errors are looked at; the next one is as long as they say is needed, work x (error / tolerance)^2,
and at most as long as all before it. Where starting again with larger draws costs less, a method
says so. A time limit and Ctrl-C only end rounds early. There is no other rule.
"""

from __future__ import annotations

import math
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.json_record import history_pairs, whole_number
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.words import counted
from shapley2d._estimation.parcels import single_threaded
from shapley2d._estimation.total import Total
from shapley2d._estimation.workers import in_order
from shapley2d.exceptions import InputError, OutOfTimeError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Generator

    from shapley2d._base.progress import Report
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._estimation.draws import Draw, Draws
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._estimation.total import Lines

_SMALL = 0.66  # an error beside another one: together a fifth longer than the other

_NOTE_BYTES = 2**28  # of a checkpoint, at most, for what draws have noted

Stop = Literal["", "interrupted", "time_up"]
"""Why no more draws were added; empty where there were enough."""


def run_draws(
    draws: Draws,
    lines: Lines,
    *,
    tolerance: float = 0.0,
    title: str = "valuing",
    n_jobs: int | None = None,
    cluster: Any = None,
    progress: Any = False,
    limit: TimeLimit | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Estimate, Total]:
    """Add up draws until the largest error is at most ``tolerance`` of the spread, or all are in.

    ``title``: the name of the method, for progress and messages.
    ``n_jobs``: threads for compiled draws, processes for others; the result is the same for any.
    ``cluster``: a Dask cluster, or a pool, to work on instead.
    ``limit``: when to stop and return what was computed, as Ctrl-C does.
    ``checkpoint``: where to go on from, and where to save what is done.

    The estimate's ``info`` has what the draws say of themselves, and where they are sampled
    ``converged``, ``interrupted``, ``time_up`` and the ``ratio`` of error and spread. It has a
    ``caveat`` where all draws were equal, and where one of them dominates; ``largest_share`` is
    then its share of the variation.
    """
    total, rounds = Total(draws, lines), _Rounds(draws, tolerance)
    if checkpoint is not None:

        def go_on(saved: Saved) -> None:
            nonlocal total, rounds
            level = whole_number(saved.facts.get("level"), "its level", 0, 2**62)
            total = Total(draws.at(level) if level else draws, lines)
            rounds = _Rounds(total.draws, tolerance)
            rounds.restore(saved.facts, saved.count)
            total.restore(saved)

        checkpoint.load(go_on, total.n_bytes + _NOTE_BYTES)
    resumed = total.count
    while True:
        ran = _Run(total, rounds, title, limit, checkpoint)
        results = in_order(total.draws, total.count, n_jobs=n_jobs, cluster=cluster, limit=limit)
        with reporting(progress, title, draws.in_time) as report, single_threaded():
            if total.count:
                report(0.0, f"resumed at {total.draws.note(total.count)}")
            stop = ran.add(results, report)
        if stop or not rounds.level:
            break
        total = Total(total.draws.at(rounds.level), lines)
        rounds = _Rounds(total.draws, tolerance)
    estimate = total.estimate()
    estimate.info.update(draws.known)
    estimate.info.update(total.draws.facts(total.count))
    if not draws.exact:
        estimate.info.update(_facts(total, rounds, stop))
    estimate.history.extend(rounds.history)
    if resumed:
        estimate.info["resumed_at"] = resumed
    return estimate, total


def _facts(total: Total, rounds: _Rounds, stop: Stop) -> dict[str, Any]:
    """How precise a run of sampled draws got."""
    draws, count = total.draws, total.count
    if not rounds.history or rounds.history[-1][0] != count:
        rounds.history.append((count, total.ratio()))
    ratio, enough = rounds.history[-1][1], count >= min(draws.first, draws.count)
    facts: dict[str, Any] = {
        "converged": bool(enough and ratio <= rounds.wanted),
        "interrupted": stop == "interrupted",
        "ratio": ratio,
    }
    if stop == "time_up":
        facts["time_up"] = True
    if total.same:
        facts["caveat"] = f"no variation seen in {count} draws"
    if total.one_decides:
        facts["largest_share"] = share = total.largest_share
        facts["caveat"] = (
            f"1 of {counted(count, draws.unit)} makes up {share:.0%} of their variation"
        )
    return facts


@dataclass
class _Rounds:
    """When the errors are looked at, and what was seen then.

    A checkpoint holds the end of the round and the history, so that a run which goes on from it
    looks after the same draws as one that was never stopped. So a round may end after more draws
    than there can be.

    ``history``: draws, and the largest standard error after these, relative to the spread.
    ``needed``: draws needed in all, as far as is known: 0 before the first look.
    ``level``: of larger draws that cost less; 0 for none.
    """

    draws: Draws
    tolerance: float
    history: list[tuple[int, float]] = field(default_factory=list)
    level: int = 0

    def __post_init__(self) -> None:
        self.wanted = self.tolerance
        self.end = self.draws.least if self.draws.exact else self.draws.first
        known = self.draws.exact or self.tolerance == 0 or self.draws.whole_passes
        self.needed = float(self.end if self.tolerance or self.draws.exact else math.inf)
        if not known:
            self.needed = 0.0

    def facts(self) -> dict[str, Any]:
        """What a checkpoint keeps, by name."""
        return {"round_end": self.end, "history": self.history, "level": self.draws.level}

    def restore(self, facts: dict[str, Any], count: int) -> None:
        """Go on after ``count`` draws; a ValueError says why the facts are not sound."""
        history = history_pairs(facts.get("history"))
        counts = [number for number, _ in history]
        if counts != sorted(set(counts)) or not all(1 <= number <= count for number in counts):
            raise ValueError("its history does not fit its count")
        if self.draws.exact and count > self.draws.count:
            raise ValueError(f"it counts {count:,} draws of {self.draws.count:,}")
        most = max(self.end, 2 * count + self.draws.a_pass)
        self.end = whole_number(facts.get("round_end"), "the end of its round", count, most)
        self.history = history

    def look(self, total: Total) -> float:
        """The error by now; says how many draws are needed."""
        draws, count, ratio = self.draws, total.count, total.ratio()
        if self.tolerance and draws.lines:  # more draws would make errors less than a fifth shorter
            self.wanted = max(self.tolerance, _SMALL * total.by_validation())
        # errors shrink with the root of the number of draws; where none differs, with the number
        power = 1 if total.same else 2
        share = min(ratio / self.wanted, 1e100) if self.wanted else math.inf
        enough = ratio <= self.wanted or draws.exact
        needed = float(count) if enough else draws.sure + (count - draws.sure) * share**power
        if draws.whole_passes:  # in the first pass errors are those of rows that are to come
            passes = 1 if count < draws.a_pass else math.ceil(min(needed, 2**62) / draws.a_pass)
            needed = float(max(passes, 1) * draws.a_pass)
        elif count < draws.a_pass and needed > count:  # the error of what is left of the pass
            needed = 1 / (1 / draws.a_pass + (1 - count / draws.a_pass) / needed)
        self.needed = max(needed, float(count))
        return ratio

    def wants_more(self, total: Total, affordable: float = math.inf) -> bool:
        """Look at the errors where a round ends; before the first end, now and then, to report.

        ``affordable``: draws that fit the time that is left; larger ones may not cost more.
        """
        draws, count = self.draws, total.count
        ends, last = count >= self.end, count >= draws.count
        early = not self.needed or (not self.history and count.bit_count() == 1)
        ratio = 0.0
        if ends or last or (early and count >= draws.least and not draws.exact):
            ratio = self.look(total)
        if ends and not draws.exact:
            if self.history and self.history[-1][0] == count:  # a run that had ended here
                self.history.pop()
            self.history.append((count, ratio))
        if not ends and not last:
            return True
        level, cost = draws.better(count, ratio, self.tolerance) if ratio > self.wanted else (0, 0)
        self.level = level if cost <= affordable else 0
        if self.level or self.needed <= count:
            return False
        if ends:
            end = max(math.ceil(min(self.needed, 2 * count - draws.sure)), count + 1)
            self.end = -(-end // draws.a_pass) * draws.a_pass if draws.whole_passes else end
        return not last


class _Run:
    """Draws of one level, added to one total.

    ``look_s``: seconds that a look takes, and the result after the last draw about as long.
    """

    def __init__(
        self,
        total: Total,
        rounds: _Rounds,
        title: str,
        limit: TimeLimit | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.total, self.rounds, self.title = total, rounds, title
        self.limit, self.checkpoint, self.look_s = limit, checkpoint, 0.0

    def add(self, results: Generator[Draw, None, None], report: Report) -> Stop:
        """Add draws until there are enough, time is up, or Ctrl-C.

        With a limit, a draw is not begun if at the pace of the last ones it would end too late.
        Before there is an answer a late one is better than none: a run goes on for a tenth of the
        limit beyond it. Ctrl-C and a limit keep what was added; without an answer they are raised,
        and a checkpoint has it.
        """
        total, checkpoint, pace = self.total, self.checkpoint, Pace()
        kept, sound = total.count, True
        with ThreadPoolExecutor(1) as beside:
            try:
                while self._more(pace):
                    self._in_time(pace)
                    draw = self._next(results)
                    sound = False
                    # in a thread: Ctrl-C cannot leave half of it added
                    beside.submit(_add, total, draw, np.geterr()).result()
                    sound = True
                    pace.tick()
                    if checkpoint is not None and checkpoint.due():
                        self._save(checkpoint)
                        kept = total.count
                    report(*self._progress(pace.seconds() or 0.0))
            except (KeyboardInterrupt, OutOfTimeError) as cause:
                beside.shutdown()  # what is being added is added in full
                sound = True
                if total.count < total.draws.least:
                    raise
                return "interrupted" if isinstance(cause, KeyboardInterrupt) else "time_up"
            finally:
                results.close()
                if checkpoint is not None and total.count > kept and sound:
                    self._save(checkpoint)
        return ""

    def _more(self, pace: Pace) -> bool:
        begin, fit = time.monotonic(), math.inf
        if self.limit is not None:
            fit = self.limit.left() / (pace.seconds() or 1e-9)
        more = self.rounds.wants_more(self.total, fit)
        self.look_s = max(time.monotonic() - begin, self.look_s / 2)
        return more

    def _in_time(self, pace: Pace) -> None:
        if self.limit is None:
            return
        if self.total.count >= self.total.draws.least:
            after_s = 0.0 if self.checkpoint is None else self.checkpoint.write_s
            self.limit.check((pace.seconds() or 0.0) + self.look_s + after_s)
        else:
            self.limit.at_latest().check()

    def _next(self, results: Generator[Draw, None, None]) -> Draw:
        """The next draw, refused where it is not one."""
        total, number = self.total, self.total.count
        try:
            draw = next(results)
        except (InputError, UtilityError, OutOfTimeError):
            raise
        except Exception as error:
            words = " ".join(str(error).split()) or type(error).__name__
            raise UtilityError(f"{self.title}: draw {number} failed: {words}") from error
        expected = total.shape_of(draw.stratum)
        if draw.values.shape != expected:
            raise UtilityError(
                f"{self.title}: draw {number} has values of shape {draw.values.shape}, not "
                f"{expected}: a row for every row, a column for every column, and one more for "
                "what the labels alone give"
            )
        if not np.isfinite(draw.values).all():
            raise UtilityError(
                f"{self.title}: draw {number} has values that are not finite numbers; where the "
                "method is sound, measure the target, or what is scored, in larger units"
            )
        return draw

    def _save(self, checkpoint: Checkpoint) -> None:
        checkpoint.save(self.total.count, self.total.state(), self.rounds.facts())

    def _progress(self, pace_s: float) -> tuple[float, str, float | None]:
        """The share of the draws that fit or are needed, what to say, and the seconds left."""
        rounds, count = self.rounds, self.total.count
        note = _note(self.total, rounds)
        if not rounds.needed:
            return 0.0, note, None
        expected = min(max(rounds.needed, rounds.end), rounds.draws.count)
        if self.limit is not None:
            expected = min(expected, count + max(self.limit.left(), 0.0) / max(pace_s, 1e-9))
        return min(count / expected, 1.0), note, pace_s * max(expected - count, 0.0)


def _note(total: Total, rounds: _Rounds) -> str:
    """How far a run is, in words."""
    draws, done = rounds.draws, rounds.draws.note(total.count)
    if draws.exact or not rounds.history:
        return done
    if total.same:
        return f"no variation so far; {done}"
    error = f"error {rounds.history[-1][1]:.3f} of the spread"
    return (
        f"{error}, wanted {rounds.tolerance:g}; {done}" if rounds.tolerance else f"{error}; {done}"
    )


def _add(total: Total, draw: Draw, errors: Any) -> None:
    """Add a draw under the caller's ``np.errstate``, which a thread does not have."""
    with np.errstate(**errors):
        total.add(draw)
