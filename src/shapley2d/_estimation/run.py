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
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from shapley2d._base.json_record import history_pairs, whole_number
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.words import counted
from shapley2d._estimation.total import Total
from shapley2d._estimation.workers import in_order
from shapley2d.exceptions import InputError, OutOfTimeError, UtilityError

if TYPE_CHECKING:
    from collections.abc import Generator

    from shapley2d._base.arrays import Floats
    from shapley2d._base.progress import Report
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._estimation.draws import Draw, Draws
    from shapley2d._estimation.estimate import Estimate

_SMALL = 0.66  # an error beside another one: together a fifth longer than the other

_NOTE_BYTES = 2**28  # of a checkpoint, at most, for what draws have noted


def run_draws(
    draws: Draws,
    *,
    first: Floats | None = None,
    tolerance: float = 0.0,
    title: str = "valuing",
    n_jobs: int | None = None,
    cluster: Any = None,
    progress: Any = False,
    limit: TimeLimit | None = None,
    checkpoint: Checkpoint | None = None,
) -> tuple[Estimate, Total]:
    """Add up draws until the largest error is at most ``tolerance`` of the spread, or all are in.

    ``first``: the share that columns have in what labels alone give, where values count from 0.
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
    draws.deadline = None if limit is None else limit.at_latest()
    run = _Run(draws, first, tolerance, title, limit, checkpoint)
    if checkpoint is not None:
        checkpoint.load(run.go_on, run.total.n_bytes + _NOTE_BYTES)
    resumed = run.total.count
    while True:
        results = in_order(run.draws, run.total.count, n_jobs=n_jobs, cluster=cluster, limit=limit)
        with reporting(progress, title, draws.in_time) as report, threadpool_limits(limits=1):
            if run.total.count:
                report(0.0, f"resumed at {run.draws.note(run.total.count)}")
            run.add(results, report)
        if run.stop or not run.level:
            break
        run.start(draws.at(run.level))
    estimate = run.total.estimate()
    estimate.info.update(draws.known)
    estimate.info.update(run.draws.facts(run.total.count))
    if not draws.exact:
        estimate.info.update(run.facts())
    estimate.history.extend(run.history)
    if resumed:
        estimate.info["resumed_at"] = resumed
    return estimate, run.total


class _Run:
    """Draws added to one total, and when to look at the errors.

    A checkpoint holds the end of the round and the history, so that a run which goes on from it
    looks after the same draws as one that was never stopped. So a round may end after more draws
    than there can be.

    ``end``: of the round, in draws.
    ``history``: draws, and the largest standard error after these, relative to the spread.
    ``needed``: draws needed in all, by the last look; infinite before it.
    ``level``: of larger draws that cost less; 0 for none.
    ``stop``: why no more draws were added, ``"interrupted"`` or ``"time_up"``.
    """

    def __init__(
        self,
        draws: Draws,
        first: Floats | None,
        tolerance: float,
        title: str,
        limit: TimeLimit | None,
        checkpoint: Checkpoint | None,
    ) -> None:
        self.first, self.tolerance, self.title = first, tolerance, title
        self.limit, self.checkpoint = limit, checkpoint
        self.stop: Literal["", "interrupted", "time_up"] = ""
        self.start(draws)

    def start(self, draws: Draws) -> None:
        """Begin with the first draw of a list."""
        self.draws, self.total = draws, Total(draws, self.first)
        self.history: list[tuple[int, float]] = []
        self.wanted, self.level, self.needed = self.tolerance, 0, math.inf
        self.end = draws.count if draws.exact else draws.first
        self.look_s = 0.0  # for a look at the errors, and the result after the last draw about

    def go_on(self, saved: Saved) -> None:
        """Go on from a checkpoint; a ValueError says why its facts are not sound."""
        level = whole_number(saved.facts.get("level"), "its level", 0, 2**62)
        if level:
            self.start(self.draws.at(level))
        history = history_pairs(saved.facts.get("history"))
        counts = [count for count, _ in history]
        if counts != sorted(set(counts)) or not all(1 <= count <= saved.count for count in counts):
            raise ValueError("its history does not fit its count")
        if self.draws.exact and saved.count > self.draws.count:
            raise ValueError(f"it counts {saved.count:,} draws of {self.draws.count:,}")
        most = max(self.end, 2 * saved.count + self.draws.a_pass)
        end = whole_number(saved.facts.get("round_end"), "the end of its round", saved.count, most)
        self.end, self.history = end, history
        self.total.restore(saved)

    def add(self, results: Generator[Draw, None, None], report: Report) -> None:
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
                while self._wants_more(pace):
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
                self.stop = "interrupted" if isinstance(cause, KeyboardInterrupt) else "time_up"
            finally:
                results.close()
                if checkpoint is not None and total.count > kept and sound:
                    self._save(checkpoint)

    def _wants_more(self, pace: Pace) -> bool:
        """Whether another draw is needed; looks at the errors where a round ends."""
        draws, count = self.draws, self.total.count
        if count < min(self.end, draws.count):
            return True
        if draws.exact:
            return False
        begin = time.monotonic()
        ratio = self._look()
        if ratio > self.wanted:
            level, cost = draws.better(count, ratio, self.tolerance)
            fit = math.inf  # larger draws may not cost more than there is time for
            if self.limit is not None:
                fit = self.limit.left() / (pace.seconds() or 1e-9)
            self.level = level if cost <= fit else 0
        self.look_s = max(time.monotonic() - begin, self.look_s / 2)
        if self.level or self.needed <= count:
            return False
        if count >= self.end:
            end = max(math.ceil(min(self.needed, 2 * count - draws.sure)), count + 1)
            self.end = -(-end // draws.a_pass) * draws.a_pass if draws.whole_passes else end
        return count < draws.count

    def _look(self) -> float:
        """The error by now; says how many draws are needed."""
        draws, total, count = self.draws, self.total, self.total.count
        ratio = total.ratio()
        if self.history and self.history[-1][0] == count:  # a run that had ended here
            self.history.pop()
        if count >= self.end:  # not where no more draws are allowed: another call may allow more
            self.history.append((count, ratio))
        if self.tolerance and draws.lines:  # more draws would make errors less than a fifth shorter
            self.wanted = max(self.tolerance, _SMALL * total.by_validation())
        # errors shrink with the root of the number of draws; where none differs, with the number
        power = 1 if total.same else 2
        share = min(ratio / self.wanted, 1e100) if self.wanted else math.inf
        enough = ratio <= self.wanted
        needed = float(count) if enough else draws.sure + (count - draws.sure) * share**power
        if draws.whole_passes:  # in the first pass errors are those of rows that are to come
            passes = 1 if count < draws.a_pass else math.ceil(min(needed, 2**62) / draws.a_pass)
            needed = float(max(passes, 1) * draws.a_pass)
        elif count < draws.a_pass and needed > count:  # the error of what is left of the pass
            needed = 1 / (1 / draws.a_pass + (1 - count / draws.a_pass) / needed)
        self.needed = max(needed, float(count))
        return ratio

    def _in_time(self, pace: Pace) -> None:
        if self.limit is None:
            return
        if self.total.count >= self.draws.least:
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
        facts = {"round_end": self.end, "history": self.history, "level": self.draws.level}
        checkpoint.save(self.total.count, self.total.state(), facts)

    def _progress(self, pace_s: float) -> tuple[float, str, float | None]:
        """The share of the draws that fit or are needed, what to say, and the seconds left."""
        draws, count, note = self.draws, self.total.count, self.draws.note(self.total.count)
        if self.history and self.total.same:
            note = f"no variation so far; {note}"
        elif self.history:
            wanted = f", wanted {self.tolerance:g}" if self.tolerance else ""
            note = f"error {self.history[-1][1]:.3f} of the spread{wanted}; {note}"
        expected: float = draws.count
        if self.tolerance and not draws.exact and not draws.whole_passes:
            if not self.history:
                return 0.0, note, None
            expected = min(max(self.needed, self.end), expected)
        if self.limit is not None:
            expected = min(expected, count + max(self.limit.left(), 0.0) / max(pace_s, 1e-9))
        return min(count / expected, 1.0), note, pace_s * max(expected - count, 0.0)

    def facts(self) -> dict[str, Any]:
        """How precise a run of sampled draws got."""
        total, count = self.total, self.total.count
        if not self.history or self.history[-1][0] != count:
            self.history.append((count, total.ratio()))
        ratio, enough = self.history[-1][1], count >= min(self.draws.first, self.draws.count)
        facts: dict[str, Any] = {
            "converged": bool(enough and ratio <= self.wanted),
            "interrupted": self.stop == "interrupted",
            "ratio": ratio,
        }
        if self.stop == "time_up":
            facts["time_up"] = True
        if total.same:
            facts["caveat"] = f"no variation seen in {count} draws"
        if share := total.dominant:
            facts["largest_share"] = share
            facts["caveat"] = (
                f"1 of {counted(count, self.draws.unit)} makes up {share:.0%} of their variation"
            )
        return facts


def _add(total: Total, draw: Draw, errors: Any) -> None:
    """Add a draw under the caller's ``np.errstate``, which a thread does not have."""
    with np.errstate(**errors):
        total.add(draw)
