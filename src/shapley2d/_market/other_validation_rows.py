"""How much values and payments depend on the validation rows.

Parts of the validation rows are left out in turn (a jackknife); every such valuation repeats the
work of the first, so that only the validation rows differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import joint_without_rounding, without_rounding
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._estimation.checkpoint import check_place, remove_checkpoint
from shapley2d._market.cell_sums import MAX_JOINT
from shapley2d._market.jackknife import (
    jackknife_covariance,
    jackknife_spread,
    problems_of_parts,
    problems_without_a_part,
)
from shapley2d._tables.problem import weigh_problem
from shapley2d._theory.sums import BlockSums
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from shapley2d._market.layout import BlockLayout
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def cell_replicates(
    run: Run,
    problem: Problem,
    layout: BlockLayout,
    method: Method,
    sums: BlockSums,
    whole: NDArray[np.float64],
    n_parts: int,
) -> list[NDArray[np.float64]]:
    """Sums and blocks without each part of the validation rows in turn; ``whole`` are of all."""
    cells = BlockSums(sums.weights, layout.grid.rows.labels, layout.grid.columns.labels)

    def solved(part: Problem, quiet: Run) -> NDArray[np.float64]:
        return with_blocks(sums, cells.blocks(method.solve(part, quiet).values))

    if not method.averages:
        return replicates_of(
            run, n_parts, problems_without_a_part(problem, n_parts, run.seed), solved
        )
    # values are means over validation rows: the values of a part tell those without it; weights
    # that make a mean of the score are those of all rows, not of each part by itself
    problem = replace(weigh_problem(problem), scoring=None)
    shares, alone = zip(*problems_of_parts(problem, n_parts, run.seed), strict=True)
    of_parts = replicates_of(run, n_parts, alone, solved)
    return [
        (whole - share * one) / (1 - share) for share, one in zip(shares, of_parts, strict=False)
    ]


def replicates_of(
    run: Run,
    count: int,
    parts: Iterable[Problem],
    solve: Callable[[Problem, Run], NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    """Sums on other validation rows; Ctrl-C gives up all of them, and keeps the values.

    So does a time limit: what ended early could not be compared with the others. Each has a
    checkpoint of its own, which goes when all are done.
    """
    found, pace = [], Pace()
    try:
        with reporting(run.progress, "other validation rows") as report:
            for k, part in enumerate(parts):
                if run.limit is not None:
                    run.limit.check((count - k) * (pace.seconds() or 0.0))
                with without_warnings():
                    kept = None if run.checkpoint is None else _part_path(run.checkpoint, k)
                    found.append(solve(part, replace(run.quiet(), checkpoint=kept)))
                pace.tick()
                report((k + 1) / count, f"{k + 1} of {count} parts")
    except (KeyboardInterrupt, OutOfTimeError) as end:
        why: tuple[Any, ...] = ("interrupted while other validation rows were tried",)
        if isinstance(end, OutOfTimeError):
            limit = Setting("max_time", run.limit)
            why = (limit, " left too little time for other validation rows")
        warn(PrecisionWarning(*why, ": the intervals leave out what these would change"))
        return []
    for k in range(0 if run.checkpoint is None else len(found)):
        remove_checkpoint(_part_path(run.checkpoint, k))
    return found


def with_blocks(sums: BlockSums, blocks: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of some blocks, then the blocks themselves: what a replicate holds."""
    return np.append(np.tensordot(sums.weights, blocks, axes=2), blocks)


@dataclass(frozen=True)
class Errors:
    """Errors of the sums: a covariance matrix, or beyond 256 sums what these share."""

    covariance: NDArray[np.float64] | None
    spread: NDArray[np.float64] | None
    dof: float
    # what other validation rows would change, (parts, row sets, column sets); None if unknown.
    # Its square summed over the parts is a variance, of blocks or of sums of them
    blocks: NDArray[np.float64] | None = None

    def with_spread(self, found: list[NDArray[np.float64]], sums: BlockSums) -> Errors:
        """The errors with the choice of validation rows, from replicates of sums and blocks."""
        if not found:
            return self
        replicates = np.array(found)
        replicates, blocks = replicates[:, : len(sums)], replicates[:, len(sums) :]
        dof = min(self.dof, float(len(replicates) - 1))
        off = jackknife_spread(blocks).reshape(-1, *sums.weights.shape[1:])
        if len(sums) > MAX_JOINT:
            return Errors(None, jackknife_spread(replicates), dof, off)
        covariance = jackknife_covariance(replicates)
        covariance = joint_without_rounding(covariance, np.abs(replicates[0]).sum())
        if self.covariance is not None:
            covariance = self.covariance + covariance
        return Errors(covariance, None, dof, off)

    def added_to(
        self, stderr: NDArray[np.float64], values: NDArray[np.float64], *axes: int
    ) -> NDArray[np.float64]:
        """Sampling errors with the choice of validation rows, of blocks summed over some axes."""
        if self.blocks is None:
            return stderr
        off = self.blocks.sum(axis=tuple(1 + axis for axis in axes)) if axes else self.blocks
        return without_rounding(np.sqrt(stderr**2 + (off**2).sum(axis=0)), values)


def leaving_time(run: Run, n_parts: int) -> Run:
    """The run of the values, with as much time left for other validation rows, if these follow."""
    if run.limit is None or not n_parts:
        return run
    return replace(run, limit=run.limit.earlier(run.limit.left() / 2))


def sums_of(layout: BlockLayout) -> BlockSums | None:
    """The owners, else the blocks, whose errors payments need; None for more than 256 blocks."""
    if layout.ownership is not None:
        return BlockSums.of_blocks(layout.ownership.shares)
    n, m = layout.grid.shape
    return BlockSums.of_blocks(np.eye(n * m).reshape(n * m, n, m)) if n * m <= MAX_JOINT else None


def is_joint(sums: BlockSums | None) -> bool:
    """Whether there are sums, few enough for a covariance matrix of their errors."""
    return sums is not None and len(sums) <= MAX_JOINT


def check_checkpoints(run: Run, n_parts: int | None) -> None:
    """Refuse checkpoints that could not be written before the work starts."""
    if run.checkpoint is None:
        return
    check_place(run.checkpoint)
    for k in range(n_parts or 0):
        check_place(_part_path(run.checkpoint, k))


def _part_path(path: Any, number: int) -> str:
    """The checkpoint of the valuation without one part of the validation rows."""
    return f"{path}.without-{number}"
