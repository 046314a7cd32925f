"""How much values and payments depend on the validation rows.

Groups of validation rows are left out in turn (a jackknife); every such valuation repeats the work
of the first, so that only the validation rows differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import joint_without_rounding
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._estimation.checkpoint import check_place, remove_checkpoint
from shapley2d._market.cell_sums import MAX_JOINT
from shapley2d._market.jackknife import (
    jackknife_covariance,
    jackknife_spread,
    problems_of_groups,
    problems_without_a_group,
)
from shapley2d._methods.registry import METHODS
from shapley2d._tables.problem import weigh_problem
from shapley2d._theory.sums import BlockSums
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.layout import BlockLayout
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def cell_replicates(
    run: Run,
    problem: Problem,
    layout: BlockLayout,
    method: str,
    options: dict[str, Any],
    estimate: Estimate,
    sums: BlockSums,
    groups: int,
) -> list[NDArray[np.float64]]:
    """The sums without each group of validation rows in turn."""
    cells = BlockSums(sums.weights, layout.grid.rows.labels, layout.grid.columns.labels)
    again = {**options, **same_work(options, estimate.info)}

    def solved(part: Problem, quiet: Run, k: int) -> NDArray[np.float64]:
        return cells.of(METHODS[method].solve(part, quiet, **of_replicate(again, k)).values)

    if not METHODS[method].averages:
        parts = problems_without_a_group(problem, groups, run.seed)
        replicates = replicates_of(run, groups, parts, solved)
        clear_checkpoints(options, replicates)
        return replicates
    # values are means over validation rows: the values of a group tell those without it; weights
    # that make a mean of the score are those of all rows, not of each group by itself
    problem = weigh_problem(problem, options.get("scoring"))
    again["scoring"] = None
    whole = sums.of(estimate.values)
    shares, alone = zip(*problems_of_groups(problem, groups, run.seed), strict=True)
    of_groups = replicates_of(run, groups, alone, solved)
    clear_checkpoints(options, of_groups)
    return [
        (whole - share * one) / (1 - share) for share, one in zip(shares, of_groups, strict=False)
    ]


def replicates_of(
    run: Run,
    count: int,
    parts: Iterable[Problem],
    solve: Callable[[Problem, Run, int], NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    """Sums on other validation rows; Ctrl-C gives up all of them, and keeps the values.

    So does a time limit: what ended early could not be compared with the others.
    """
    quiet = replace(run, progress=False, sums=None, limit=None)
    found, pace = [], Pace()
    try:
        with reporting(run.progress, "other validation rows") as report:
            for k, part in enumerate(parts):
                if run.limit is not None:
                    run.limit.check((count - k) * (pace.seconds() or 0.0))
                with without_warnings():
                    found.append(solve(part, quiet, k))
                pace.tick()
                report((k + 1) / count, f"{k + 1} of {count} groups")
    except (KeyboardInterrupt, OutOfTimeError) as end:
        why: tuple[Any, ...] = ("interrupted while other validation rows were tried",)
        if isinstance(end, OutOfTimeError):
            limit = Setting("max_time", run.limit)
            why = (limit, " left too little time for other validation rows")
        warn(PrecisionWarning(*why, ": the intervals leave out what these would change"))
        return []
    return found


def same_work(options: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """Options that repeat the amount of work of a run, so that only the validation rows differ."""
    fixed: dict[str, Any] = {}
    if "max_permutations" in options and "n_permutations" in info:
        fixed |= {"tolerance": 0, "max_permutations": info["n_permutations"]}
    if "max_trees" in options and "n_trees" in info:
        fixed |= {"tolerance": 0, "max_trees": info["n_trees"]}
        fixed |= {"max_rounds": info["n_rounds"]} if "n_rounds" in info else {}
    if "n_subsets" in options and info.get("subsets") in ("all", "sampled"):
        fixed["subsets"] = info["subsets"]
        fixed |= {"n_subsets": info["n_subsets"]} if info["subsets"] == "sampled" else {}
    return fixed


@dataclass(frozen=True)
class Errors:
    """Errors of the sums: a covariance matrix, or beyond 256 sums what these share."""

    covariance: NDArray[np.float64] | None
    spread: NDArray[np.float64] | None
    dof: float

    def with_spread(self, replicates: list[NDArray[np.float64]]) -> Errors:
        """The errors with the choice of validation rows."""
        if not replicates:
            return self
        dof = min(self.dof, float(len(replicates) - 1))
        if replicates[0].size > MAX_JOINT:
            return Errors(None, jackknife_spread(np.array(replicates)), dof)
        covariance = jackknife_covariance(np.array(replicates))
        covariance = joint_without_rounding(covariance, np.abs(replicates[0]).sum())
        if self.covariance is not None:
            covariance = self.covariance + covariance
        return Errors(covariance, None, dof)


def leaving_time(run: Run, groups: int) -> Run:
    """The run of the values, with as much time left for other validation rows, if these follow."""
    if run.limit is None or not groups:
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


def check_checkpoints(options: dict[str, Any], validation_groups: int | None) -> None:
    """Refuse checkpoints that could not be written before the work starts."""
    path = options.get("checkpoint")
    if path is None:
        return
    check_place(path)
    for k in range(validation_groups or 0):
        check_place(_replicate_path(path, k))


def _replicate_path(path: Any, number: int) -> str:
    """The checkpoint of the valuation without one validation group."""
    return f"{path}.without-{number}"


def clear_checkpoints(options: dict[str, Any], replicates: list[NDArray[np.float64]]) -> None:
    """Remove the checkpoints of valuations that are all done; Ctrl-C leaves none of these."""
    path = options.get("checkpoint")
    for k in range(0 if path is None else len(replicates)):
        remove_checkpoint(_replicate_path(path, k))


def of_replicate(options: dict[str, Any], number: int) -> dict[str, Any]:
    """Options for the valuation without one validation group, with a checkpoint of its own."""
    path = options.get("checkpoint")
    return options if path is None else {**options, "checkpoint": _replicate_path(path, number)}
