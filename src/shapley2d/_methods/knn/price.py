"""What a run of nearest neighbours will take: triples of row, validation row and coalition, at a measured pace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from shapley2d._base.cost import Cost
from shapley2d._knn.columns.estimators import Target
from shapley2d._knn.columns.sampling import (
    DEFAULT_MAX_COALITIONS,
    STORE_BYTES,
    coalitions_of_rounds,
    fits_store,
)
from shapley2d._knn.form import sample_size
from shapley2d._knn.rows import FAST_ROWS
from shapley2d._knn.small import ROWS as SMALL_ROWS
from shapley2d._methods.knn import calibration
from shapley2d._methods.knn.backend import backend_name, on_backend
from shapley2d._methods.knn.bin_correction import MAX_SAMPLE, SAMPLE, SAMPLE_ROWS
from shapley2d._methods.knn.cells import (
    TYPICAL_COALITIONS,
    amount_of_work,
    exact_is_cheaper,
    fast_pays,
    is_small,
    most_sampled_exactly,
    refuse_all_subsets,
    refuse_wide,
    sampling_limit,
)
from shapley2d._methods.knn.pieces import CLUSTER_BLOCK
from shapley2d._methods.knn.pilot import pilot_fall
from shapley2d._methods.price import CALIBRATION_S, HANDOVER_S, Measured, Price

if TYPE_CHECKING:
    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

TYPICAL_NS = 7.0
"""Nanoseconds per row, validation row and coalition of a core, for a first guess."""

_CELL_S = (
    4e-7  # what a cell of the result takes apart from that: means, errors, checks, the answer's own arrays
)
_SENT_BYTES_S = 5e8  # bytes a second that come back from a worker
_COALITIONS_PER_CALL = 64


def guess_knn(problem: Problem, run: Run, options: dict[str, Any]) -> float:
    """About how many seconds a run takes, without a look at the machine beyond its number of cores."""
    names = ("columns", "n_coalitions", "tolerance")
    work = amount_of_work(problem, **{name: options[name] for name in names})
    return work * TYPICAL_NS * 1e-9 / _threads(run)


def price_knn(
    problem: Problem,
    run: Run,
    *,
    n_neighbors: int,
    metric: str,
    columns: str,
    n_coalitions: int | None,
    tolerance: float,
    empty: str,
    backend: str,
    form: str,
    valid: str = "all",
    checkpoint: Any = None,
    cluster: Any = None,
) -> Price:
    """What :func:`~shapley2d._methods.knn.cells.value_knn` with the same options will take.

    Nothing is compiled for it that the run does not need, and no bit of the result depends on it.
    """
    n_columns = problem.table.n_columns
    refuse_wide(n_columns)
    refuse_all_subsets(columns, n_columns)
    work = amount_of_work(problem, columns, n_coalitions, tolerance)
    exact = columns == "exact" or (columns == "auto" and exact_is_cheaper(n_columns, n_coalitions, tolerance))
    settings = {"n_neighbors": n_neighbors, "metric": metric, "empty": empty}

    def compute(device: Device | None) -> Price:
        small = device is None and is_small(work, form)
        used = _form_used(
            problem, form, device, 2**n_columns if exact else n_coalitions or TYPICAL_COALITIONS
        )
        bench = calibration.set_up(problem, run, used, device, small=small, **settings)
        job = _Job(
            problem, run, bench, checkpoint is not None, samples_rows=valid == "auto" and tolerance > 0
        )
        if exact:
            return job.all_subsets()
        limit = sampling_limit(columns, n_columns, n_coalitions)
        if n_coalitions is not None:
            return job.sampled([_even(n_coalitions, n_columns)] * 2, None)
        fall = pilot_fall(problem, run, tolerance, small=small, **settings)
        target = Target(n_columns, run.semivalues[1])
        rounds = coalitions_of_rounds(target, problem.table.n_rows, limit or DEFAULT_MAX_COALITIONS)
        # near the tolerance a round is as large as it has to be
        between = sorted({*rounds, *(int(1.25**k * one) for one in rounds[:-1] for k in (1, 2, 3))})
        found = [
            fall.reaches(tolerance, between if lucky else rounds, lucky=lucky) for lucky in (True, False)
        ]
        return job.sampled(found, rounds, falls_back=limit is not None)

    return on_backend(backend if cluster is None else "cpu", work, compute)


def _threads(run: Run) -> int:
    """Threads that the kernels use."""
    return int(effective_n_jobs(-1 if run.n_jobs is None else run.n_jobs))


def _form_used(problem: Problem, form: str, device: Device | None, n_coalitions: int) -> str:
    """The form that the run will choose."""
    is_large = all(split.rows.size >= FAST_ROWS for split in problem.splits)
    if form != "auto":
        return form
    if device is not None:
        return "fast" if is_large else "exact"
    pays = fast_pays(problem.table.n_rows, problem.n_valid, len(problem.splits), n_coalitions)
    return "fast" if pays and is_large else "exact"


def _even(n_coalitions: int, n_columns: int) -> int:
    """What becomes of a number of coalitions that was asked for: complement pairs, and no more than there are."""
    return int(min(2 * (n_coalitions // 2), 2**n_columns))


class _Job:
    """The work of a problem, with its bench."""

    def __init__(
        self, problem: Problem, run: Run, bench: calibration.Bench, keeps: bool, *, samples_rows: bool = False
    ) -> None:
        self._problem, self._run, self._bench, self._keeps = problem, run, bench, keeps
        self._samples_rows = samples_rows
        self.n_rows, self.n_columns = problem.table.n_rows, problem.table.n_columns
        self._threads = _threads(run)
        self.n_valid, self.n_splits = problem.n_valid, len(problem.splits)
        self._pairs = float(sum(split.train.n_rows * split.valid.n_rows for split in problem.splits))

    def all_subsets(self) -> Price:
        """All column coalitions, in chunks of validation rows."""
        pace = calibration.pace_of_walk(self._bench, self._run)
        coalitions = 2**self.n_columns
        size = self._bench.part.walk_rows()
        pieces = sum(-(-split.valid.n_rows // size) for split in self._problem.splits)
        back = 8.0 * self.n_rows * self.n_columns / _SENT_BYTES_S
        shared = pace.core_s * self._pairs * coalitions
        alone = self._alone_s() + self.n_splits * 2 * back
        low, high = (
            Cost(
                alone + self._correction_s(pace, coalitions, most=most), shared, pieces, 1, HANDOVER_S + back
            )
            for most in (False, True)
        )
        return self._price(low, high, pace, (coalitions, coalitions), self._walk_bytes(), "exact")

    def sampled(
        self, found: list[int | None], rounds: list[int] | None, *, falls_back: bool = False
    ) -> Price:
        """A sample of column coalitions; ``rounds`` are the sizes after which its error is looked at."""
        pace = calibration.pace_of_sample(self._bench, self._run.seed)
        notes: list[str] = []
        walked = [0, 0]
        if rounds is not None:
            walked = [2**self.n_columns if count is None and falls_back else 0 for count in found]
        counts = [rounds[-1] if count is None and rounds else count or 0 for count in found]
        if found[0] is None and not falls_back:
            notes.append(
                f"The tolerance will hardly be met by the {counts[1]:,} column coalitions that are evaluated at most."
            )
        elif found[1] is None and not falls_back:
            notes.append("The tolerance may not be met.")
        elif walked[1]:
            notes.append("Should sampling not do, all column coalitions are evaluated.")
        back = 8.0 * self.n_rows * CLUSTER_BLOCK / _SENT_BYTES_S
        costs = []
        for count, walk, most in zip(counts, walked, (False, True), strict=True):
            looks = [count] if rounds is None else [one for one in rounds if one <= count]
            alone = self._alone_s() + self._correction_s(pace, count, most=most)
            alone += sum(calibration.estimator_s(self.n_rows, self.n_columns, one // 2) for one in looks)
            pieces = -(-(count + walk) // CLUSTER_BLOCK)
            waves = -(-(count + walk) // _COALITIONS_PER_CALL)
            shared = pace.core_s * self._pairs * (count + walk)
            costs.append(Cost(alone, shared, pieces, waves, HANDOVER_S + back))
        amount = (counts[0] + walked[0], counts[1] + walked[1])
        memory = self._sample_bytes(counts[1])
        return self._price(costs[0], costs[1], pace, amount, memory, "sampled", notes)

    def _price(
        self,
        low: Cost,
        high: Cost,
        pace: Measured,
        coalitions: tuple[int, int],
        memory: float,
        columns: str,
        notes: list[str] | None = None,
    ) -> Price:
        facts = {
            "columns": columns,
            "form": self._bench.game.form,
            "backend": backend_name(self._bench.game.device),
            "ns_per_triple": round(1e9 * pace.core_s, 3),
        }
        amounts = {"column coalitions": coalitions}
        notes = list(notes or [])
        if self._samples_rows:
            notes.append("That is for all validation rows; the run ends earlier where fewer are enough.")
        return Price(low, high, pace.cores, memory, amounts, facts, notes)

    def _alone_s(self) -> float:
        """What is done once, whatever the number of coalitions: coding the tables, rounding, the result."""
        bench = self._bench
        entries = sum(split.train.n_rows + split.valid.n_rows for split in self._problem.splits)
        setup = bench.setup_s * entries / (bench.problem.table.n_rows + bench.problem.n_valid)
        looks = sum(
            sample_size(split.train.n_rows, split.valid.n_rows, self.n_splits)
            for split in self._problem.splits
        )
        rounding = looks * calibration.rounding_s(bench, self._run.seed)
        return setup + rounding + _CELL_S * self.n_rows * self.n_columns * self.n_splits

    def _correction_s(self, pace: Measured, n_coalitions: int, *, most: bool) -> float:
        """What ranking a sample exactly takes, where rows are in bins."""
        if not self._bench.part.is_binned:
            return 0.0
        exact = calibration.pace_of_sample(self._bench, self._run.seed, "exact", CALIBRATION_S / 4)
        count = SAMPLE
        if most and self._bench.game.device is None:
            room = most_sampled_exactly(self.n_valid, n_coalitions, self.n_splits)
            count = max(SAMPLE, min(room, MAX_SAMPLE))
        triples = count * SAMPLE_ROWS * sum(split.train.n_rows for split in self._problem.splits)
        return float(triples * (exact.clock_s + pace.clock_s))

    def _base_bytes(self) -> float:
        """The coded tables, the values with their errors, and what every thread works with."""
        n, m = float(self.n_rows), self.n_columns
        per_thread = 500.0 if n < 2**19 else 300.0
        if self._bench.game.is_small:  # whose numpy code lays out dissimilarities of some validation rows
            per_thread = 40.0 * m * SMALL_ROWS
        return 16 * n * m * self.n_splits + 24 * n * m + self._threads * per_thread * n

    def _sample_bytes(self, n_coalitions: int) -> float:
        """With the row values of all pairs of coalitions, single where they are many; or with sums over chunks."""
        if self._samples_rows or not fits_store(self.n_rows, self.n_columns, n_coalitions):
            return self._base_bytes() + 32.0 * self.n_rows * self.n_columns * self.n_splits + 2**28
        parts = 1 if Target(self.n_columns, self._run.semivalues[1]).symmetric else 2
        lines = 8.0 * self.n_rows * parts * (n_coalitions // 2)
        lines = lines if lines <= STORE_BYTES else lines / 2
        kept = 8.0 * self.n_rows * n_coalitions if self._keeps else 0.0
        return self._base_bytes() + lines + kept

    def _walk_bytes(self) -> float:
        """With the sums over chunks of every split, and those that threads hand in."""
        cells = float(self.n_rows) * self.n_columns
        return self._base_bytes() + 16 * cells * self.n_splits + 16 * cells * self._threads
