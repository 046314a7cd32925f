"""Sampled columns with coalitions of their own for every chunk of validation rows: nothing but sums is kept.

Memory does not grow with the number of coalitions, a run can end before all validation rows were
used, and what it has reached fits into a file of a few numbers to a cell. At equal work the values
are as good as from coalitions that all validation rows share.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import convergence_ratio, interval_factor
from shapley2d._base.progress import reporting
from shapley2d._base.streams import seed_sequence
from shapley2d._estimation.batches import single_threaded
from shapley2d._knn.columns.chunk_design import ChunkDesign, ChunkLines, chunk_design
from shapley2d._knn.columns.design import pair_counts
from shapley2d._knn.columns.estimators import ColumnSemivalue
from shapley2d._knn.columns.sampling import DEFAULT_MAX_COALITIONS, few_coalitions, first_round
from shapley2d._methods.knn.memory import PROBES, changes_of_values
from shapley2d._methods.knn.split_means import mean_of_splits
from shapley2d._methods.knn.stream_sums import StreamSums

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._knn.row_values import RowValues
    from shapley2d._methods.knn.pieces import Chunks, Keeper
    from shapley2d._methods.knn.split_game import SplitGame
    from shapley2d._methods.run import Run

FIRST_PER_COLUMN = 8
"""Coalitions to a column that a run begins with."""

MANY_CHUNKS = 32
"""Chunks that the validation rows of a split are cut into, at least where there are as many rows."""

MAX_PASSES = 4
"""Times that validation rows are used at most, where the error is larger than was expected."""

LEAST_CHUNKS = 8
"""Chunks of a split before a run may end that has not used all validation rows."""

_CHUNK_WORK = 2**35  # triples of row, validation row and coalition of a chunk, at most
_LEAST_ROWS = 4  # validation rows of a chunk, where there are enough
_PILOT = 0.25  # of the chunks say how many coalitions it takes
_MARGIN = 1.25  # a second pass costs as much as twice the coalitions
_CHECK = 1.1  # the error is looked at when there are so many times the chunks
_LEAST_COALITIONS = 32  # to begin with
_PLAN_SIZE = 6
_KEPT_DESIGNS = 4  # chunks are worked on in turn, the next one while the last is added up
_UNKNOWN = 1e300
_ALL_ROWS = -1
_PAYS = 0.75  # of the work with all validation rows is less by enough


@dataclass(frozen=True)
class Plan:
    """How many coalitions every chunk gets, and what is read off them.

    Attributes
    ----------
    n_subsets : int
    left_out, probes : int
        See :class:`~shapley2d._knn.columns.chunk_design.ChunkDesign`.
    squared : bool
        Whether a GPU may give the squares of what values change by, in place of the changes.
    attempt : int
        0 with as many coalitions as a run begins with, 1 with as many as turned out to be needed.
    """

    n_subsets: int
    left_out: int
    probes: int
    squared: bool = False
    attempt: int = 0


class StreamWork:
    """Values of numbered chunks of validation rows, from coalitions of their own; later numbers use the rows again."""

    def __init__(
        self,
        parts: list[RowValues],
        chunks: Chunks,
        target: ColumnSemivalue,
        plan: Plan,
        seed: int,
        *,
        empty_is_zero: bool,
    ) -> None:
        self._parts, self._chunks, self._target = parts, chunks, target
        self._plan, self._seed, self._baseline_is_zero = plan, seed, empty_is_zero
        self._designs: dict[int, ChunkDesign] = {}

    @property
    def is_elsewhere(self) -> bool:
        """Whether it is a GPU that works."""
        return any(part.rows_at_a_time > 1 for part in self._parts)

    def design(self, number: int) -> ChunkDesign:
        """The coalitions of a chunk."""
        design = self._designs.get(number)
        if design is None:
            plan = self._plan
            design = chunk_design(
                self._target,
                plan.n_subsets,
                seed_sequence(self._seed, "chunk pairs", plan.attempt, number),
                left_out=plan.left_out,
                probes=plan.probes,
                first=number * plan.left_out,
                empty_is_zero=self._baseline_is_zero,
            )
            self._designs[number] = design
            self._designs.pop(number - _KEPT_DESIGNS, None)
        return design

    def __call__(self, number: int) -> NDArray[np.float64]:
        k, chunk = self._chunks[number % len(self._chunks)]
        design = self.design(number)
        return self._parts[k].contract(design.coalitions, design.weights, valid=chunk)

    def lines(self, number: int) -> ChunkLines:
        """What a chunk gives; a GPU adds squares up where they are, and meanwhile the next design is made."""
        design = self.design(number)
        if not self.is_elsewhere:
            return ChunkLines.split(self(number), design)
        with ThreadPoolExecutor(1) as pool:
            pool.submit(self.design, number + 1)
            if not (self._plan.squared and design.left_out):
                return ChunkLines.split(self(number), design)
            k, chunk = self._chunks[number % len(self._chunks)]
            return self._parts[k].contract_squares(design, valid=chunk)


def chunk_rows(n_rows: int, n_valid: int, n_columns: int, at_least: int = 1) -> int:
    """Validation rows of a chunk: many chunks for good errors, of some rows each so that sums cost little beside them.

    Examples
    --------
    >>> chunk_rows(32_561, 1_000, 14), chunk_rows(1_000_000, 10_000, 50), chunk_rows(100, 50, 5)
    (32, 42, 4)
    >>> chunk_rows(1_000_000, 10_000, 50, at_least=32)
    640
    """
    by_work = _CHUNK_WORK // (n_rows * n_columns * 2 * FIRST_PER_COLUMN)
    rows = int(np.clip(-(-n_valid // MANY_CHUNKS), _LEAST_ROWS, max(by_work, _LEAST_ROWS)))
    if at_least > 1:  # elsewhere, while their sums are added up here
        rows = -(-2 * n_valid // (MANY_CHUNKS * at_least)) * at_least
    return max(min(rows, n_valid), 1)


def may_sample_rows(valid_rows: str, tolerance: float, n_valid: int) -> bool:
    """Whether a run may end before all validation rows were used, the smallest split having so many of them."""
    return valid_rows == "auto" and tolerance > 0 and n_valid >= 2 * LEAST_CHUNKS


def check_points(first: int, last: int) -> set[int]:
    """Numbers of chunks after which the error is looked at."""
    found = set()
    while first < last:
        found.add(first)
        first = math.ceil(_CHECK * first)
    return found


class Streamed:
    """A run over the chunks.

    Parameters
    ----------
    game : SplitGame
    run : Run
    keeper : Keeper
    n_subsets : int or None
        Of every chunk; without it as many as the tolerance takes.
    tolerance : float
    most : int, optional
        Coalitions of a chunk that pay; with more there is no estimate.
    sample : bool
        Whether the run may end before all validation rows were used.
    all_rows_apart : bool
        Whether to leave it to others (:attr:`takes_all_rows`) where all validation rows have to be
        used.
    """

    def __init__(
        self,
        game: SplitGame,
        run: Run,
        keeper: Keeper,
        *,
        n_subsets: int | None,
        tolerance: float,
        most: int | None = None,
        sample: bool = False,
        all_rows_apart: bool = False,
    ) -> None:
        self._game, self._run, self._keeper = game, run, keeper
        self._asked, self._tolerance, self._sample = n_subsets, tolerance, sample
        self._all_rows_apart = all_rows_apart and sample and n_subsets is None
        self.takes_all_rows = False
        self._most, self._falls_back = most or DEFAULT_MAX_COALITIONS, most is not None
        self._target = ColumnSemivalue(game.n_columns, game.column_semivalue)
        least = max(part.rows_at_a_time for part in game.parts)
        self._chunks = game.valid_chunks(
            lambda part: chunk_rows(part.n_rows, part.n_valid, part.n_columns, least)
        )
        self._each = len(self._chunks) // len(game.parts)  # chunks of a split, give or take one
        self._squared = (
            self._target.efficient
            and run.sums is None
            and all(part.can_square for part in game.parts)
        )
        self._history: list[tuple[int, float]] = []
        self._half = _UNKNOWN
        self._last: Estimate | None = None

    def estimate(self) -> Estimate | None:
        """Values with their standard errors; None where other ways cost less."""
        with (
            reporting(self._run.progress, "sampled KNN values") as report,
            single_threaded(),
            ThreadPoolExecutor(1) as meanwhile,
        ):
            plan, interrupted = self._begin(), False
            if self._game.device is not None:
                meanwhile.submit(self._game.bounds)  # kept for the end
            while True:
                sums, done = self._start(plan)
                try:
                    needed = self._go_on(plan, sums, done, report)
                except KeyboardInterrupt:
                    if min(part.chunks for part in sums) < 2:
                        raise
                    interrupted, needed = True, 0
                if needed == 0:
                    return self._finish(plan, sums, interrupted=interrupted)
                self.takes_all_rows = needed == _ALL_ROWS
                if self.takes_all_rows or (needed > self._most and self._falls_back):
                    return None
                plan = self._plan(min(needed, self._most), attempt=1)

    def _begin(self) -> Plan:
        """The plan to begin with, or that an earlier run has come to."""
        saved = self._keeper.saved_plan
        if saved is not None and saved.size == _PLAN_SIZE and saved[:3].tolist() == self._question:
            self._half = float(saved[5])
            return self._plan(int(saved[3]), attempt=int(saved[4]))
        self._keeper.forget_stream()
        first = min(max(FIRST_PER_COLUMN * self._game.n_columns, _LEAST_COALITIONS), self._most)
        return self._plan(self._asked or first)

    @property
    def _question(self) -> list[float]:
        """What the plan depends on, beside the data."""
        return [
            float(self._asked or 0),
            0.0 if self._asked else self._tolerance,
            float(self._sample),
        ]

    def _plan(self, n_subsets: int, attempt: int = 0) -> Plan:
        cells = self._game.n_rows * self._game.n_columns
        changes = changes_of_values(cells, self._each)
        if self._squared:
            changes = max(changes, self._game.parts[0].squares_at_most)
        return Plan(n_subsets, changes, PROBES, self._squared, attempt)

    def _start(self, plan: Plan) -> tuple[list[StreamSums], int]:
        """Sums to add to, and how many chunks they have."""
        game, run = self._game, self._run
        sums = [
            StreamSums(
                part.n_valid,
                (part.n_rows, game.n_columns),
                None if run.sums is None else run.sums.take_rows(rows),
                efficient=self._target.efficient,
            )
            for part, rows in zip(game.parts, game.rows, strict=True)
        ]
        return sums, self._keeper.restore_stream(sums, [plan.n_subsets, plan.attempt])

    def _go_on(
        self, plan: Plan, sums: list[StreamSums], done: int, report: Callable[[float, str], None]
    ) -> int:
        """Add chunks up until it is enough (0), or give the number of coalitions to start again with."""
        game, per_pass = self._game, len(self._chunks)
        work = StreamWork(
            game.parts,
            self._chunks,
            self._target,
            plan,
            self._run.seed,
            empty_is_zero=game.baseline == "zero",
        )
        self._history = []

        def state() -> NDArray[np.float64]:
            return np.array([*self._question, plan.n_subsets, plan.attempt, self._half])

        verdict = self._verdict(plan, sums, done)
        while verdict is None:
            until = (done // per_pass + 1) * per_pass
            with closing(
                self._keeper.stream(work, self._chunks, (done, until), sums, state)
            ) as added:
                for count in added:
                    done = count
                    report(done / until, self._words(plan, done))
                    verdict = self._verdict(plan, sums, done)
                    if verdict is not None:
                        break
        return verdict

    def _verdict(self, plan: Plan, sums: list[StreamSums], done: int) -> int | None:
        """Whether so many chunks are enough (0), need other coalitions (how many), or more chunks (None).

        That depends on the chunks alone, so that a run that goes on from a file decides the same.
        """
        per_pass, least = len(self._chunks), LEAST_CHUNKS * len(sums)
        looks = self._sample and done in check_points(least, per_pass)
        if looks and self._note(plan, sums, done) <= self._tolerance:
            return 0
        if plan.attempt == 0 and self._asked is None and done:
            pilot = (
                least if self._sample else max(int(_PILOT * per_pass), min(2 * len(sums), per_pass))
            )
            if done == pilot // 2:
                self._half = self._error(sums)
            needed = self._needed(plan, sums) if done == pilot else 0
            if needed > plan.n_subsets or needed == _ALL_ROWS:
                return needed
        if done and done % per_pass == 0:
            ratio, passes = self._note(plan, sums, done), done // per_pass
            takes = passes * (ratio / max(self._tolerance, 1e-300)) ** 2
            if self._asked or ratio <= self._tolerance or takes > MAX_PASSES:
                return 0
        self._last = None  # there will be more
        return None

    def _words(self, plan: Plan, done: int) -> str:
        share = (
            f"{min(done, len(self._chunks)):,} of {len(self._chunks):,} chunks of validation rows"
        )
        error = (
            f"error {self._history[-1][1]:.3f} of the spread, wanted {self._tolerance:g}; "
            if self._history
            else ""
        )
        return f"{error}{share}, {plan.n_subsets:,} column coalitions each"

    def _note(self, plan: Plan, sums: list[StreamSums], done: int) -> float:
        """The convergence ratio by now, for the history too."""
        estimate = self._last = self._together(sums, {})
        ratio = convergence_ratio(estimate.values, estimate.stderr, estimate.dof)
        count = max(round(plan.n_subsets * done / len(self._chunks)), 1)
        if self._history and self._history[-1][0] >= count:
            self._history.pop()
        self._history.append((count, ratio))
        return ratio

    def _error(self, sums: list[StreamSums]) -> float:
        """What coalitions alone would leave of error, relative to the spread of the values, with chunks as seen."""
        errors, spread = [], 0.0
        for part in sums:
            errors.append(part.parts()[1] / max(part.chunks, 1))
            spread = max(spread, float(np.ptp(part.mean())))
        return (
            math.sqrt(max(errors)) / spread / math.sqrt(max(len(sums) - 1, 1))
            if spread > 0
            else 0.0
        )

    def _needed(self, plan: Plan, sums: list[StreamSums]) -> int:
        """Coalitions of a chunk that the tolerance takes; or that it takes all validation rows."""
        if self._tolerance == 0:
            return self._most
        now, chunks = self._error(sums), self._each
        if now == 0:
            return plan.n_subsets
        seen = min(part.chunks for part in sums)
        if not self._sample:
            # Rows that few validation rows are near to have values, and errors, that come from few
            # chunks.
            power = (
                float(np.clip(math.log2(self._half / now), 0.0, 0.5))
                if self._half < _UNKNOWN
                else 0.25
            )
            dof = chunks * max(plan.left_out, 1)
            ratio = now * (seen / chunks) ** power * interval_factor(dof) / interval_factor()
            return math.ceil(plan.n_subsets * max(float(_MARGIN * ratio / self._tolerance), 1.0))
        between, within = (max(one) for one in zip(*(part.parts() for part in sums), strict=True))
        spread = max(float(np.ptp(part.mean())) for part in sums)
        wanted = (self._tolerance * spread) ** 2 * max(len(sums) - 1, 1)
        rows, best = max(between - within, 0.0), (math.inf, plan.n_subsets)
        for doubling in range(8):
            count, columns = plan.n_subsets << doubling, within / 4**doubling
            takes = max((rows + columns) / (wanted + rows / chunks), 1.0)
            if takes > chunks:  # all rows, several times
                takes = max(chunks * (columns / chunks) / max(wanted, 1e-300), chunks)
            best = min(best, (takes * count, count))
        # With all rows the error by coalitions alone counts, which falls as fast as their number
        # grows.
        shared = plan.n_subsets * math.sqrt(within / chunks / max(wanted, 1e-300))
        all_rows = chunks * max(shared, first_round(self._game.n_columns))
        return _ALL_ROWS if self._all_rows_apart and best[0] > _PAYS * all_rows else int(best[1])

    def _together(self, sums: list[StreamSums], info: dict[str, Any]) -> Estimate:
        game = self._game
        return mean_of_splits(
            sums,
            game.rows,
            (game.n_rows, game.n_columns),
            info,
            dof=min(part.dof for part in sums),
            further=self._run.sums is not None,
        )

    def _finish(self, plan: Plan, sums: list[StreamSums], *, interrupted: bool) -> Estimate:
        game = self._game
        done = sum(part.chunks for part in sums)
        passes = max(-(-done // len(self._chunks)), 1)
        estimate = (
            self._last if self._last is not None and not interrupted else self._together(sums, {})
        )
        ratio = convergence_ratio(estimate.values, estimate.stderr, estimate.dof)
        everything = plan.n_subsets // 2 > sum(pair_counts(game.n_columns)[1:])
        info: dict[str, Any] = {
            **game.info,
            "subsets": "sampled",
            "n_subsets": min(plan.n_subsets * passes, 2**game.n_columns),
            "estimator": "all" if everything else "B",
            "form": game.form,
            **game.bounds(),
            "n_valid_used": sum(part.used for part in sums),
            "n_chunks": done,
            "converged": not interrupted and ratio <= self._tolerance,
            "interrupted": interrupted,
            "ratio": ratio,
        }
        if self._keeper.resumed_at:
            info["resumed_at"] = self._keeper.resumed_at
        if not everything and few_coalitions(plan.n_subsets, game.n_columns):
            info["caveat"] = (
                f"{plan.n_subsets} column coalitions are too few for {game.n_columns} columns to trust the intervals"
            )
        estimate.info.update(info)
        estimate.history.extend(self._history)
        return estimate
