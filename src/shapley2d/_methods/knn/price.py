"""What a run of nearest neighbours will take: triples of row, validation row and coalition, at a measured pace."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from shapley2d._base.cost import Cost
from shapley2d._knn.columns.estimators import ColumnSemivalue
from shapley2d._knn.columns.sampling import (
    DEFAULT_MAX_COALITIONS,
    coalitions_of_rounds,
    fits_store,
)
from shapley2d._knn.rounding import sample_size
from shapley2d._knn.row_values import FAST_ROWS
from shapley2d._methods.knn import calibration
from shapley2d._methods.knn.backend import backend_name, may_use_gpu, on_backend
from shapley2d._methods.knn.bin_correction import MAX_SAMPLE, SAMPLE, SAMPLE_ROWS
from shapley2d._methods.knn.choices import (
    TYPICAL_COALITIONS,
    amount_of_work,
    fast_pays,
    is_small,
    most_sampled_exactly,
    refuse_all_subsets,
    refuse_wide,
    sampling_limit,
    takes_all_subsets,
)
from shapley2d._methods.knn.memory import Memory
from shapley2d._methods.knn.pieces import CLUSTER_BLOCK
from shapley2d._methods.knn.pilot import pilot_fall
from shapley2d._methods.knn.streamed import (
    FIRST_PER_COLUMN,
    LEAST_CHUNKS,
    MANY_CHUNKS,
    chunk_rows,
    may_sample_rows,
)
from shapley2d._methods.price import CALIBRATION_S, HANDOVER_S, Measured, Price

if TYPE_CHECKING:
    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

TYPICAL_NS = 7.0
"""Nanoseconds per row, validation row and coalition of a core, for a first guess."""

_CELL_S = 4e-7  # what a cell of the result takes apart from that: means, errors, checks, the answer's own arrays
SENT_BYTES_S = 5e8
"""Bytes a second that come back from workers."""

_COALITIONS_PER_CALL = 64
_PRODUCT_S = 3e-10  # of a weight and a row value, where these are contracted


def guess_knn(problem: Problem, run: Run, options: dict[str, Any]) -> float:
    """About how many seconds a run takes, without a look at the machine beyond its number of cores.

    On a GPU next to nothing: to start it for a price would take as long as many a run.
    """
    names = ("subsets", "n_subsets", "tolerance")
    work = amount_of_work(problem, **{name: options[name] for name in names})
    if options["cluster"] is None and may_use_gpu(options["backend"], work):
        return 0.0
    return work * TYPICAL_NS * 1e-9 / _threads(run)


def price_knn(
    problem: Problem,
    run: Run,
    *,
    n_neighbors: int,
    metric: str,
    subsets: str,
    n_subsets: int | None,
    tolerance: float,
    baseline: str,
    backend: str,
    form: str,
    valid_rows: str = "all",
    checkpoint: Any = None,
    cluster: Any = None,
) -> Price:
    """What :func:`~shapley2d._methods.knn.cells.value_knn` with the same options will take.

    Nothing is compiled for it that the run does not need, and no bit of the result depends on it.
    """
    n_columns = problem.table.n_columns
    refuse_wide(n_columns)
    refuse_all_subsets(subsets, n_columns)
    work = amount_of_work(problem, subsets, n_subsets, tolerance)
    exact = takes_all_subsets(subsets, n_columns, n_subsets, tolerance)
    settings = {"n_neighbors": n_neighbors, "metric": metric, "baseline": baseline}

    def compute(device: Device | None) -> Price:
        small = device is None and is_small(work, form)
        used = _form_used(
            problem, form, device, 2**n_columns if exact else n_subsets or TYPICAL_COALITIONS
        )
        bench = calibration.set_up(problem, run, used, device, small=small, **settings)
        samples = may_sample_rows(
            valid_rows, tolerance, min(split.valid.n_rows for split in problem.splits)
        )
        job = _Job(problem, run, bench, keeps=checkpoint is not None, samples=samples)
        if exact:
            return job.all_subsets()
        limit = sampling_limit(subsets, n_columns, n_subsets)
        streams = samples or not fits_store(problem.table.n_rows, n_columns, n_subsets)
        if n_subsets is not None:
            counts = _even(n_subsets, n_columns), _even(n_subsets, n_columns)
            return job.streamed(counts) if streams else job.sampled(counts, [counts[0]])
        fall = pilot_fall(problem, run, tolerance, small=small, **settings)
        rounds = coalitions_of_rounds(
            ColumnSemivalue(n_columns, run.semivalues[1]), problem.table.n_rows, limit
        )
        fewest = rounds[0]
        if streams:
            rounds = [FIRST_PER_COLUMN * n_columns, limit or DEFAULT_MAX_COALITIONS]
        ends = rounds[0], rounds[-1]
        found = [fall.reaches(tolerance, *ends, lucky=lucky) for lucky in (True, False)]
        counts, missed = _counts(found, ends[1])
        notes = _notes(missed, ends[1], falls_back=limit is not None)
        walks = tuple(2**n_columns if limit is not None and not_met else 0 for not_met in missed)
        if streams:
            # where a sample of validation rows does not pay, all of them share coalitions, of which
            # fewer may do
            return job.streamed((fewest if samples else min(ends[0], counts[0]), counts[1]), notes)
        return job.sampled(counts, rounds, notes, (walks[0], walks[1]))

    return on_backend(backend if cluster is None else "cpu", work, compute)


def _threads(run: Run) -> int:
    """Threads that the kernels use."""
    return int(effective_n_jobs(-1 if run.n_jobs is None else run.n_jobs))


def _form_used(problem: Problem, form: str, device: Device | None, n_subsets: int) -> str:
    """The form that the run will choose."""
    is_large = all(split.rows.size >= FAST_ROWS for split in problem.splits)
    if form != "auto":
        return form
    if device is not None:
        return "fast" if is_large else "exact"
    pays = fast_pays(problem.table.n_rows, problem.n_valid, len(problem.splits), n_subsets)
    return "fast" if pays and is_large else "exact"


def _even(n_subsets: int, n_columns: int) -> int:
    """What becomes of a number of coalitions that was asked for: complement pairs, and no more than there are."""
    return int(min(2 * (n_subsets // 2), 2**n_columns))


def _counts(found: list[int | None], most: int) -> tuple[tuple[int, int], tuple[bool, bool]]:
    """Coalitions at best and at worst, and whether the tolerance is missed by as many as there can be."""
    low, high = (most if count is None else count for count in found)
    return (low, max(low, high)), (found[0] is None, found[1] is None)


def _notes(missed: tuple[bool, bool], most: int, *, falls_back: bool) -> list[str]:
    """What to say where the tolerance may take more coalitions than are evaluated."""
    if not missed[1]:
        return []
    if falls_back:
        return ["Should sampling not do, all column subsets are evaluated."]
    if missed[0]:
        return [
            f"The tolerance will hardly be met by the {most:,} column coalitions that are evaluated at most."
        ]
    return ["The tolerance may not be met."]


class _Job:
    """The work of a problem, with its bench."""

    def __init__(
        self, problem: Problem, run: Run, bench: calibration.Bench, *, keeps: bool, samples: bool
    ) -> None:
        self._problem, self._run, self._bench, self._keeps = problem, run, bench, keeps
        self._samples = samples
        self.n_rows, self.n_columns = problem.table.n_rows, problem.table.n_columns
        self.n_valid, self.n_splits = problem.n_valid, len(problem.splits)
        self._memory = Memory(
            self.n_rows,
            self.n_columns,
            self.n_splits,
            _threads(run),
            small=bench.game.is_small,
            binned=bench.part.is_binned,
        )
        self._pairs = float(
            sum(split.train.n_rows * split.valid.n_rows for split in problem.splits)
        )

    def _used(self, chunk: int) -> tuple[float, float]:
        """The part of the validation rows that is used, at least and at most."""
        if not self._samples:
            return 1.0, 1.0
        least = min(split.valid.n_rows for split in self._problem.splits)
        return min(LEAST_CHUNKS * min(chunk, -(-least // MANY_CHUNKS)) / least, 1.0), 1.0

    def all_subsets(self) -> Price:
        """All column coalitions, in chunks of validation rows."""
        pace = calibration.pace_of_walk(self._bench, self._run)
        coalitions = 2**self.n_columns
        size = self._bench.part.walk_rows()
        back = 8.0 * self.n_rows * self.n_columns / SENT_BYTES_S
        alone = self._alone_s + self.n_splits * 2 * back
        low, high = (
            Cost(
                alone + self._correction_s(pace, coalitions, most=share == 1.0 and k == 1),
                pace.core_s * self._pairs * coalitions * share,
                max(round(self._n_chunks(size) * share), 1),
                1,
                HANDOVER_S + back,
            )
            for k, share in enumerate(self._used(size))
        )
        return self._price(
            low, high, pace, (coalitions, coalitions), self._memory.walked(), "all", size
        )

    def sampled(
        self,
        counts: tuple[int, int],
        rounds: list[int],
        notes: list[str] | None = None,
        walks: tuple[int, int] = (0, 0),
    ) -> Price:
        """A sample of column coalitions that all validation rows share.

        ``rounds`` are sizes after which its error is looked at, and ``walks`` what is evaluated
        where it did not do.
        """
        pace = calibration.pace_of_sample(self._bench, self._run.seed)
        back = 8.0 * self.n_rows * CLUSTER_BLOCK / SENT_BYTES_S
        costs = []
        for count, walk, most in zip(counts, walks, (False, True), strict=True):
            looks = [*(one for one in rounds if one < count), count]
            alone = self._alone_s + self._correction_s(pace, count, most=most)
            alone += sum(
                calibration.estimator_s(self.n_rows, self.n_columns, one // 2) for one in looks
            )
            pieces = -(-(count + walk) // CLUSTER_BLOCK)
            waves = -(-(count + walk) // _COALITIONS_PER_CALL)
            costs.append(
                Cost(
                    alone,
                    pace.core_s * self._pairs * (count + walk),
                    pieces,
                    waves,
                    HANDOVER_S + back,
                )
            )
        amount = (counts[0] + walks[0], counts[1] + walks[1])
        parts = 1 if ColumnSemivalue(self.n_columns, self._run.semivalues[1]).symmetric else 2
        memory = self._memory.sampled(counts[1], parts=parts, keeps=self._keeps)
        return self._price(costs[0], costs[1], pace, amount, memory, "sampled", notes=notes)

    def streamed(self, counts: tuple[int, int], notes: list[str] | None = None) -> Price:
        """A sample of column coalitions for every chunk of validation rows."""
        pace = calibration.pace_of_sample(self._bench, self._run.seed)
        split = max(self._problem.splits, key=lambda one: one.train.n_rows)
        size = chunk_rows(split.train.n_rows, split.valid.n_rows, self.n_columns)
        chunks = self._n_chunks(size)
        cells = float(self.n_rows) * self.n_columns
        back = 16.0 * cells / SENT_BYTES_S
        costs = []
        for k, (count, share) in enumerate(zip(counts, self._used(size), strict=True)):
            # a quarter of the chunks may find out that more coalitions are needed
            evaluated = count * share + (counts[0] / 4 if k and count > counts[0] else 0.0)
            triples = self._pairs * evaluated
            contracted = 2 * self.n_columns * self.n_rows * evaluated * chunks / self.n_splits
            alone = (
                self._alone_s
                + self._correction_s(pace, count, most=bool(k))
                + 1e-8 * cells * chunks
            )
            shared = pace.core_s * triples + _PRODUCT_S * contracted
            costs.append(Cost(alone, shared, max(round(chunks * share), 1), 1, HANDOVER_S + back))
        memory = self._memory.streamed(counts[1], chunks)
        return self._price(costs[0], costs[1], pace, counts, memory, "sampled", size, notes)

    def _n_chunks(self, size: int) -> int:
        """Chunks of so many validation rows, over all splits."""
        return sum(-(-split.valid.n_rows // size) for split in self._problem.splits)

    def _price(
        self,
        low: Cost,
        high: Cost,
        pace: Measured,
        coalitions: tuple[int, int],
        memory: float,
        subsets: str,
        chunk: int = 0,
        notes: list[str] | None = None,
    ) -> Price:
        facts = {
            "subsets": subsets,
            "form": self._bench.game.form,
            "backend": backend_name(self._bench.game.device),
            "ns_per_triple": round(1e9 * pace.core_s, 3),
        }
        amounts = {"column subsets": coalitions}
        if self._samples:
            least, most = (round(share * self.n_valid) for share in self._used(chunk))
            amounts["validation rows"] = (least, most)
        return Price(low, high, pace.cores, memory, amounts, facts, notes or [])

    @cached_property
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

    @cached_property
    def _exact_pace(self) -> Measured:
        """Of ranking all rows, where the run ranks the near ones only."""
        return calibration.pace_of_sample(self._bench, self._run.seed, "exact", CALIBRATION_S / 4)

    def _correction_s(self, pace: Measured, n_subsets: int, *, most: bool) -> float:
        """What ranking a sample exactly takes, where rows are in bins."""
        if not self._bench.part.is_binned:
            return 0.0
        exact = self._exact_pace
        count = SAMPLE
        if most and self._bench.game.device is None:
            room = most_sampled_exactly(self.n_valid, n_subsets, self.n_splits)
            count = max(SAMPLE, min(room, MAX_SAMPLE))
        triples = count * SAMPLE_ROWS * sum(split.train.n_rows for split in self._problem.splits)
        return float(triples * (exact.core_s + pace.core_s) / max(pace.cores, 1.0))
