"""Values under the K-nearest-neighbour utility: the run.

Pieces of work (:mod:`~shapley2d._knn.pieces`) are computed somewhere and added up in order
(:mod:`~shapley2d._knn.sums`), in rounds that end where the errors so far say that it is
enough (:mod:`~shapley2d._estimation.rounds`). Where that takes many passes through the validation
rows, a run starts again with more subsets in a piece, or all of them, if these cost less. A
checkpoint holds the sums, and where in which list of pieces they are; pieces are added in their
order, so a run that goes on has the same bits as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import whole_number
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import now, reporting
from shapley2d._base.warnings import warn
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.rounds import LEAST_PIECES, Rounds, add_rounds, pieces_needed
from shapley2d._knn.kriging import FEW_PER_PLAYER, MAX_SUBSETS, few_subsets
from shapley2d._knn.metric import measure
from shapley2d._knn.pieces import ColumnLines, make_pieces
from shapley2d._knn.processor import row_values
from shapley2d._knn.strata import make_strata, what_rows_change
from shapley2d._knn.subset_plan import MAX_ALL_COLUMNS, MOST_SUBSETS
from shapley2d._knn.sums import TableSums
from shapley2d._methods.identity import checkpoint_of
from shapley2d._tables.per_row import weighted_mean
from shapley2d._theory.semivalues import marginal_weights
from shapley2d.exceptions import InputError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._estimation.rounds import Stop
    from shapley2d._knn.device import Device
    from shapley2d._knn.game import RowValues
    from shapley2d._knn.pieces import PieceResult
    from shapley2d._knn.subset_plan import SubsetPlan
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

_MARGIN = 1.25  # on the subsets of larger pieces: another pass costs as much as twice of them


class KnnRun:
    """A run on one backend: its row values, strata and lines, and the lists of pieces it adds up.

    ``valid_rows`` {"all", "auto"}: a run ends with whole passes through all validation rows, unless
        time is up; or it may end after random ones of them, drawn about in proportion to what they
        can change (:mod:`~shapley2d._knn.strata`), until the tolerance is met, with what the others
        would change in all standard errors (``info["n_valid_used"]``).
    """

    def __init__(
        self,
        problem: Problem,
        run: Run,
        plan: SubsetPlan,
        *,
        n_neighbors: int,
        metric: str,
        valid_rows: str,
        device: Device | None,
    ) -> None:
        self.problem, self.run, self.plan = problem, run, plan
        self.n_neighbors, self.metric, self.valid_rows = n_neighbors, metric, valid_rows
        self.lines = ColumnLines(
            problem.table.n_columns,
            run.semivalues[1],
            has_label=problem.label is not None,
            zero_baseline=problem.baseline == "zero",
        )
        self.facts: dict[str, Any] = {
            "metric": metric,
            "n_neighbors": n_neighbors,
            "device": "cpu" if device is None else "cuda",
        }
        self.parts = self._make_parts(device)
        task = problem.target.task
        self.strata = [
            one
            for k, split in enumerate(problem.splits)
            for one in make_strata(k, what_rows_change(split, task))
        ]

    def _make_parts(self, device: Device | None) -> list[RowValues]:
        problem, limit = self.problem, self.run.limit
        here = self.run.cluster is None  # another machine has another clock
        return [
            row_values(
                measure(split.train, split.valid, self.metric, tells=k == 0),
                split.y.codes,
                split.y_valid.codes,
                task=problem.target.task,
                n_neighbors=self.n_neighbors,
                semivalue=self.run.semivalues[0],
                # a worker of a cluster is one of many
                n_jobs=self.run.n_jobs if here else 1,
                limit=limit.at_latest() if here and limit is not None else None,
                valid_weights=split.valid_weights,
                device=device,
            )
            for k, split in enumerate(problem.splits)
        ]

    def value(self) -> Estimate:
        """Add up pieces until it is enough; start again with larger ones where these cost less."""
        n_subsets = self.plan.piece_subsets(self.lines.n_columns)
        checkpoint = self._checkpoint()
        saved = None if checkpoint is None else checkpoint.load(_check)
        if saved is not None and saved.facts["asked"] != self.asked():
            saved = None  # of another question, which is answered from the start
        if saved is not None:
            n_subsets = saved.facts["n_subsets"]
        total = PieceTotal(self, n_subsets)
        if saved is not None:
            total.restore(saved)
        while True:
            results = total.pieces.results(total.count, total.most, self.run.cluster)
            title = "exact KNN values" if total.pieces.takes_all else "sampled KNN values"
            with reporting(self.run.progress, title) as report, single_threaded():
                stop = add_rounds(
                    results, total, report=report, limit=self.run.limit, checkpoint=checkpoint
                )
            if stop or not total.n_better:
                return self._finish(total, stop)
            total = PieceTotal(self, total.n_better)

    def asked(self) -> dict[str, Any]:
        """What a checkpoint has to answer, to go on from it."""
        plan, m = self.plan, self.lines.n_columns
        fixed = plan.n_subsets is not None or plan.takes_all_subsets(m)
        to_the_end = fixed and self.valid_rows != "auto"
        return {"n_subsets": plan.n_subsets, "tolerance": None if to_the_end else plan.tolerance}

    def _checkpoint(self) -> Checkpoint | None:
        """The checkpoint of this run, and of no other."""
        run = self.run
        if run.checkpoint is None:
            return None
        return checkpoint_of(
            run,
            {},
            method="knn",
            problem=self.problem,
            max_bytes=self.empty_sums().n_bytes,
            unit="pieces of work",
            valid_rows=self.valid_rows,
            **self.facts,
        )

    def empty_sums(self) -> TableSums:
        """Sums to add pieces to."""
        return TableSums(
            self.strata,
            [split.rows for split in self.problem.splits],
            (self.problem.table.n_rows, len(self.lines)),
        )

    def label_constant(self) -> Floats | float:
        """What the label adds in a row that is the first to join, whatever the columns.

        In regression that row is measured from the mean of all targets, not from an error of 0.
        """
        problem = self.problem
        if self.lines.zero_baseline or problem.target.task != "regression":
            return 0.0
        added = np.zeros(problem.table.n_rows)
        for split in problem.splits:
            off = split.y_valid.codes - split.y.codes.mean()
            alone = marginal_weights(self.run.semivalues[0], split.rows.size)[0]
            error = weighted_mean(off**2, split.valid_weights)
            added[split.rows] += alone * error / len(problem.splits)
        return added

    def _finish(self, total: PieceTotal, stop: Stop) -> Estimate:
        """The estimate with what its record says, and warnings."""
        plan, pieces = self.plan, total.pieces
        estimate = total.estimate()
        estimate.info.update(self._facts(total, estimate, stop))
        if pieces.takes_all:
            self.run.warn_of_precision(estimate, 0.0)
            return estimate
        estimate.history.extend(total.history(estimate))
        if plan.n_subsets is None or stop == "interrupted":
            n_subsets = estimate.info["n_subsets"]
            self.run.warn_of_precision(estimate, plan.tolerance, "n_subsets", n_subsets)
        elif "caveat" in estimate.info:
            m = self.lines.n_columns
            warn(
                PrecisionWarning(
                    Setting("n_subsets", plan.n_subsets),
                    f" is few for {m} columns: errors are large, and 95 % intervals "
                    "can miss those columns that matter most in subsets of a size that is not "
                    "sampled; use ",
                    Setting("n_subsets", FEW_PER_PLAYER * m),
                    " or more",
                )
            )
        return estimate

    def _facts(self, total: PieceTotal, estimate: Estimate, stop: Stop) -> dict[str, Any]:
        pieces, m = total.pieces, self.lines.n_columns
        ratio = _ratio(estimate)
        passes = max(-(-total.count // len(pieces.chunks)), 1)
        facts = {
            **self.facts,
            "subsets": "all" if pieces.takes_all else "sampled",
            "n_subsets": min(pieces.n_subsets * passes, 2**m),
            "n_valid_used": total.sums.used,
            "interrupted": stop == "interrupted",
            "converged": stop != "interrupted" and ratio <= self.plan.tolerance,
        }
        if stop == "time_up":
            facts["time_up"] = True
        if not pieces.takes_all:
            facts["n_chunks"] = total.count
        if estimate.stderr.any():
            facts["ratio"] = ratio
        if total.resumed_at:
            facts["resumed_at"] = total.resumed_at
        if few_subsets(pieces.n_subsets, m):
            facts["caveat"] = (
                f"{pieces.n_subsets} column subsets are too few for {m} columns "
                "to trust the intervals"
            )
        return facts


class PieceTotal:
    """The sum over the first pieces of a list, and when it is enough.

    ``n_better``: subsets of larger pieces that cost less than what the tolerance still takes; 0 for
        none.
    """

    def __init__(self, knn: KnnRun, n_subsets: int) -> None:
        plan, problem, lines = knn.plan, knn.problem, knn.lines
        labels = [split.y_valid.codes for split in problem.splits]
        self._knn = knn
        self.pieces = make_pieces(knn.parts, knn.strata, labels, lines, n_subsets, knn.run.seed)
        self.sums = knn.empty_sums()
        self.n_better, self.resumed_at, self._begin = 0, 0, now()
        self._constant = knn.label_constant() if lines.has_label else 0.0
        self._is_fixed = self.pieces.takes_all or plan.n_subsets is not None
        self._every_row = knn.valid_rows != "auto"
        passes = max(MOST_SUBSETS // n_subsets, 1)
        if self._is_fixed:
            passes = 1 if self.pieces.takes_all else plan.n_passes
        self._pass = len(self.pieces.chunks)
        self.most = passes * self._pass
        first = sum(min(count, LEAST_PIECES) for count in self.pieces.counts)
        if self._every_row:
            first = self.most if self._is_fixed else self._pass
        self.rounds = Rounds(first, needed=float(first) if self._every_row else 0.0)

    @property
    def count(self) -> int:
        """Pieces that were added."""
        return self.sums.pieces

    @property
    def has_error(self) -> bool:
        """Whether it is known how far off the values are."""
        return self.sums.has_error

    def add(self, result: PieceResult, /) -> None:
        """Add the next piece."""
        self.sums.strata[self.pieces.stratum(self.count)].add(result)

    def estimate(self) -> Estimate:
        """The values by now, with their errors."""
        found = self.sums.estimate()
        if self._knn.lines.has_label:
            found.values[:, -1] += self._constant
        return found

    def look(self) -> tuple[float, float]:
        """The convergence ratio, and the pieces needed in all.

        A run that has to use all validation rows ends with a pass through them. One that need not
        looks at its errors there too: no validation rows are left that could change them.
        """
        tolerance, count, a_pass = self._knn.plan.tolerance, self.count, self._pass
        ratio = _ratio(self.estimate())
        needed = pieces_needed(count, ratio, tolerance)
        self.n_better = 0 if count < a_pass else self._larger_pieces(ratio, needed)
        if self.n_better:
            return ratio, float(count)
        if self._every_row and self._is_fixed:
            needed = self.most
        elif self._every_row:  # within the first pass errors are those of rows that are to come
            needed = a_pass if count < a_pass else -(-min(needed, self.most) // a_pass) * a_pass
        elif count < a_pass and needed > count:  # the error of rows that are left: 1 - count / pass
            needed = 1 / (1 / a_pass + (1 - count / a_pass) / needed)
        return ratio, float(min(needed, self.most))

    def _larger_pieces(self, ratio: float, needed: float) -> int:
        """Subsets of larger pieces, if starting again with these costs less; 0 if not.

        Errors fall with the root of the number of pieces, but about with the number of subsets of a
        piece: its estimator learns from all of them.
        """
        plan, m, each = self._knn.plan, self._knn.lines.n_columns, self.pieces.n_subsets
        if self._is_fixed or ratio <= plan.tolerance:
            return 0
        wanted = _MARGIN * each * min(ratio / max(plan.tolerance, 1e-300), 1e100)
        larger = int(min(wanted, MAX_SUBSETS)) // 2 * 2
        if wanted >= 2**m and (2**m <= MAX_SUBSETS or plan.may_take_all(m)):
            larger = 2**m
        pieces = self._pass * larger / each
        pace_s = (now() - self._begin) / max(self.count - self.resumed_at, 1)
        limit = self._knn.run.limit
        is_late = limit is not None and pace_s * pieces > limit.left()
        return 0 if larger <= each or pieces >= needed - self.count or is_late else larger

    def note(self) -> str:
        """How far the run is."""
        rows = f"{self.sums.used:,} of {self._knn.problem.n_valid:,} validation rows"
        if self.pieces.takes_all:
            return rows
        error = "" if self._every_row else "no result yet; "
        if self.rounds.history and not (self._is_fixed and self._every_row):
            wanted = self._knn.plan.tolerance
            error = f"error {self.rounds.history[-1][1]:.3f} of the spread, wanted {wanted:g}; "
        return f"{error}{rows}, {self.pieces.n_subsets:,} column subsets each"

    def history(self, estimate: Estimate) -> list[tuple[int, float]]:
        """Subsets that a validation row was asked about, on average, and the error by then."""
        looks = dict(self.rounds.history) | {self.count: _ratio(estimate)}
        each = self.pieces.n_subsets / self._pass
        found = {max(round(each * count), 1): ratio for count, ratio in looks.items()}
        return list(found.items())

    def save(self, checkpoint: Checkpoint, /) -> None:
        """Write what is done."""
        facts = {"n_subsets": self.pieces.n_subsets, "asked": self._knn.asked()}
        checkpoint.save(self.count, self.sums.state(), {**facts, **self.rounds.facts()})

    def restore(self, saved: Saved) -> None:
        """Go on from a checkpoint."""
        try:
            self.sums.restore(saved.arrays)
            self.rounds.restore(saved.facts, saved.count)
        except ValueError as error:
            raise _does_not_fit() from error
        if self.count != saved.count:
            raise _does_not_fit()
        self.resumed_at = saved.count


def _does_not_fit() -> InputError:
    return InputError(
        Setting("checkpoint"), " does not fit this run: delete the file to start again"
    )


def _ratio(estimate: Estimate) -> float:
    return convergence_ratio(estimate.values, estimate.stderr, estimate.dof)


def _check(saved: Saved) -> None:
    """Refuse, by a ValueError, a file whose record does not say what its sums are."""
    whole_number(saved.facts.get("n_subsets"), "its number of subsets", 1, 2**MAX_ALL_COLUMNS)
    if not isinstance(saved.facts.get("asked"), dict):
        raise ValueError("it does not say what it was asked")  # noqa: TRY004
    Rounds(2**62).restore(saved.facts, saved.count)
    if not all(np.isfinite(array).all() for array in saved.arrays.values()):
        raise ValueError("not all of its numbers are finite")
