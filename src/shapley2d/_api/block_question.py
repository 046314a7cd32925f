"""A valuation of blocks as a question that can be asked again with another table, other owners or other settings."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.block_layout import Layout, Reading
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._methods.blocks import PERMUTATIONS_ONLY, complete_options, estimate_blocks
from shapley2d._methods.cell_sums import complete_cell_options, estimate_cell_sums
from shapley2d._methods.precedence import with_precedence
from shapley2d._methods.registry import METHODS
from shapley2d._methods.validation_error import (
    jackknife_covariance,
    problems_of_groups,
    problems_without_a_group,
)
from shapley2d._results.blocks import MAX_JOINT
from shapley2d._tables.problem import make_problem, weigh_problem
from shapley2d._tables.target import label_name
from shapley2d._theory.sums import BlockSums
from shapley2d.exceptions import InputError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

    from shapley2d._api.block_layout import Changed
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._ownership.owners import Claim
    from shapley2d._ownership.regions import Regions
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

VALIDATION_GROUPS = 10
"""Groups of validation rows to leave out in turn, where that costs no more than valuing once again."""


@dataclass(frozen=True)
class Question:
    """Everything that a valuation of blocks depends on, checked.

    Attributes
    ----------
    tables : tuple
        ``X``, ``y``, ``X_valid`` and ``y_valid`` as the user gave them.
    reading : dict
        How to read and split them: options of :func:`~shapley2d._tables.problem.make_problem`.
    rows, columns : labels or None
    claims : list of Claim or None
    method : str
        As the user named it.
    given : dict
        Options of the method that the user gave.
    players_asked : bool
        Whether the user said who plays.
    players, copies, copy_distance, validation_groups
        Settled: nothing is left to choose, except that None groups of validation rows are as many
        as are affordable.
    """

    tables: tuple[Any, Any, Any, Any]
    reading: dict[str, Any]
    include_label: bool
    rows: Any
    columns: Any
    claims: list[Claim] | None
    method: str
    given: dict[str, Any]
    players: str
    players_asked: bool
    copies: str
    copy_distance: float
    validation_groups: int | None
    precedence: Any = None

    def complete(self) -> tuple[str, dict[str, Any]]:
        """The method and all of its options."""
        if self.players == "cells":
            return complete_cell_options(self.method, self.given)
        return self.method, complete_options(self.method, self.given)


@dataclass(frozen=True)
class Variation:
    """What is different in a counterfactual: the training table, what owners have, or the validation rows."""

    table: Callable[[Table, Target], Changed] | None = None
    regions: Callable[[Regions], Regions] | None = None
    problem: Callable[[Problem], Problem] | None = None


@dataclass(frozen=True)
class Answer:
    """What a question came to.

    Attributes
    ----------
    estimate : Estimate
        Of the blocks.
    owners : ndarray or None
        What owners are worth, where players are cells.
    covariance, dof
        Of the owners' values, or of the blocks where there are no owners.
    method : str
        That was used.
    groups : int
        Groups of validation rows that were left out in turn.
    scoring : str, callable or None
        The score; None for that of the model.
    """

    problem: Problem
    layout: Layout
    reading: Reading
    estimate: Estimate
    owners: NDArray[np.float64] | None
    covariance: NDArray[np.float64] | None
    dof: float
    method: str
    groups: int
    scoring: Any = None
    info: dict[str, Any] = field(default_factory=dict)

    @property
    def owner_values(self) -> NDArray[np.float64]:
        """What every owner is worth."""
        if self.owners is not None:
            return self.owners
        assert self.layout.ownership is not None
        return np.asarray(np.tensordot(self.layout.ownership.shares, self.estimate.values, axes=2))


def answer(question: Question, run: Run, variation: Variation | None = None) -> Answer:
    """Value the blocks.

    Parameters
    ----------
    question : Question
    run : Run
    variation : Variation, optional
        What is to be different.
    """
    method, options = question.complete()
    varied = variation or Variation()
    reading = Reading(
        question.copies,
        question.copy_distance,
        owned=question.claims is not None,
        change=varied.table,
    )
    validates = question.players == "groups" or METHODS[method].validates
    X, y, X_valid, y_valid = question.tables
    problem = make_problem(
        X,
        y,
        X_valid,
        y_valid,
        **question.reading,
        seed=run.seed,
        validates=validates,
        change=reading,
    )
    if question.include_label:
        problem = replace(problem, label=label_name(y, problem.table.column_names))
    if varied.problem is not None:
        problem = varied.problem(problem)
    options = {**options, **_safe_score(question, problem, method, options)}
    layout = reading.layout(
        problem, question.rows, question.columns, question.claims, varied.regions
    )
    grid = layout.grid
    run = with_precedence(
        run,
        question.precedence,
        list(grid.rows.names),
        list(grid.columns.names),
        label=problem.label,
    )
    value = _by_cells if question.players == "cells" else _by_groups
    estimate, owners, covariance, dof, chosen, groups = value(
        question, run, problem, layout, method, options
    )
    return Answer(
        problem,
        layout,
        reading,
        estimate,
        owners,
        covariance,
        dof,
        chosen,
        groups,
        options.get("scoring"),
    )


def _safe_score(
    question: Question, problem: Problem, method: str, options: dict[str, Any]
) -> dict[str, Any]:
    """Classes count the same where cells of owners are paid and no score is named.

    By accuracy, rows of noise with the label of a frequent class are worth something: they are
    right more often than not.
    """
    unsaid = method == "knn" and options.get("scoring") is None
    if unsaid and question.players == "cells" and question.claims is not None:
        return {"scoring": "balanced_accuracy"} if problem.target.task == "classification" else {}
    return {}


Found = tuple[
    "Estimate", "NDArray[np.float64] | None", "NDArray[np.float64] | None", float, str, int
]  # estimate, owners, covariance, its degrees of freedom, method, groups of validation rows


def _by_groups(
    question: Question,
    run: Run,
    problem: Problem,
    layout: Layout,
    method: str,
    options: dict[str, Any],
) -> Found:
    """Values of the blocks in the game of groups."""
    sums = _sums(layout)
    estimate, chosen = estimate_blocks(
        problem, run, layout.grid, sums, method=method, options=options
    )
    covariance, dof = estimate.covariance, estimate.dof
    groups = question.validation_groups or 0
    if groups:
        if sums is None:
            raise InputError(
                Setting("validation_groups"), f" is for at most {MAX_JOINT} owners or blocks"
            )
        if chosen == "mc":  # the same permutations, so that only the validation rows differ
            options = {
                **options,
                "tolerance": 0,
                "max_permutations": estimate.info["n_permutations"],
            }
        elif chosen == "pairs":  # and the same pairs
            options = {
                name: value for name, value in options.items() if name not in PERMUTATIONS_ONLY
            }
            options |= {"tolerance": 0, "n_subsets": estimate.info["n_subsets"]}

        def without(part: Problem, again: Run, k: int) -> NDArray[np.float64]:
            own = _of_replicate(options, k)
            found, _ = estimate_blocks(part, again, layout.grid, None, method=chosen, options=own)
            return sums.of(found.values)

        parts = problems_without_a_group(problem, groups, run.seed)
        replicates = _replicates(run, groups, parts, without)
        covariance, dof, groups = _with_spread(covariance, dof, replicates)
    return estimate, None, covariance, dof, chosen, groups


def _by_cells(
    question: Question,
    run: Run,
    problem: Problem,
    layout: Layout,
    method: str,
    options: dict[str, Any],
) -> Found:
    """Values of the blocks as sums of cells."""
    owned = None if layout.ownership is None else layout.ownership.shares
    n, m = layout.grid.shape
    joint = (n * m if owned is None else len(owned)) <= MAX_JOINT
    found = estimate_cell_sums(
        problem, run, layout.grid, owned, method=method, options=options, joint=joint
    )
    covariance, dof = found.blocks.covariance, found.blocks.dof
    if question.validation_groups and not joint:
        raise InputError(
            Setting("validation_groups"), f" is for at most {MAX_JOINT} owners or blocks"
        )
    groups = _affordable_groups(question, problem, method) if joint else 0
    if groups and not METHODS[method].validates:
        raise InputError(
            Setting("validation_groups"),
            " needs validation rows, and ",
            Setting("method", method),
            " uses none: leave it out",
        )
    if groups and not found.blocks.info.get("interrupted"):
        sums = _sums(layout)
        assert sums is not None
        cells = BlockSums(sums.weights, layout.grid.rows.labels, layout.grid.columns.labels)
        again = {**options, **_fixed(options, found.blocks.info)}

        def solved(part: Problem, quiet: Run, k: int) -> NDArray[np.float64]:
            return cells.of(METHODS[method].solve(part, quiet, **_of_replicate(again, k)).values)

        if METHODS[method].averages:
            # weights that make a mean of the score are those of all rows, not of each group by
            # itself
            problem = weigh_problem(problem, options.get("scoring"))
            again["scoring"] = None
            whole = sums.of(found.blocks.values)
            shares, parts = zip(*problems_of_groups(problem, groups, run.seed), strict=True)
            of_groups = _replicates(run, groups, parts, solved)
            replicates = [
                (whole - share * one) / (1 - share)
                for share, one in zip(shares, of_groups, strict=False)
            ]
        else:
            replicates = _replicates(
                run, groups, problems_without_a_group(problem, groups, run.seed), solved
            )
        covariance, dof, groups = _with_spread(covariance, dof, replicates)
    return found.blocks, found.owners, covariance, dof, method, groups


def _replicates(
    run: Run,
    count: int,
    parts: Iterable[Problem],
    solve: Callable[[Problem, Run, int], NDArray[np.float64]],
) -> list[NDArray[np.float64]]:
    """The same sums on other validation rows; none where Ctrl-C ends them, which keeps the values themselves."""
    quiet = replace(run, progress=False, sums=None)
    found = []
    try:
        with reporting(run.progress, "other validation rows") as report:
            for k, part in enumerate(parts):
                with without_warnings():
                    found.append(solve(part, quiet, k))
                report((k + 1) / count, f"{k + 1} of {count} groups")
    except KeyboardInterrupt:
        warn(
            PrecisionWarning(
                "interrupted while other validation rows were tried: the intervals leave out what these would change"
            )
        )
        return []
    return found


def _affordable_groups(question: Question, problem: Problem, method: str) -> int:
    """Groups of validation rows: those asked for, or where nothing was asked as many as cost one more valuation."""
    if question.validation_groups is not None:
        return question.validation_groups
    if question.claims is None or not METHODS[method].averages:
        return 0
    most = min(split.valid.n_rows for split in problem.splits)
    return min(VALIDATION_GROUPS, most) if most > 1 else 0


def _fixed(options: dict[str, Any], info: dict[str, Any]) -> dict[str, Any]:
    """Options that repeat the amount of work of a valuation, so that only the validation rows differ."""
    fixed: dict[str, Any] = {}
    if "max_permutations" in options and "n_permutations" in info:
        fixed |= {"tolerance": 0, "max_permutations": info["n_permutations"]}
    if "n_subsets" in options and "sampled" in info:
        fixed |= {"n_subsets": info["n_subsets"]}
    if "n_subsets" in options and info.get("subsets") in ("all", "sampled"):
        fixed |= {"subsets": info["subsets"], "form": info["form"]}
        fixed |= {"n_subsets": info["n_subsets"]} if info["subsets"] == "sampled" else {}
    return fixed


def _with_spread(
    covariance: NDArray[np.float64] | None, dof: float, replicates: list[NDArray[np.float64]]
) -> tuple[NDArray[np.float64] | None, float, int]:
    """The covariance with that over the choice of validation rows added, its degrees of freedom, and the groups."""
    if not replicates:
        return covariance, dof, 0
    spread = jackknife_covariance(np.array(replicates))
    together = spread if covariance is None else covariance + spread
    return together, min(dof, float(len(replicates) - 1)), len(replicates)


def _sums(layout: Layout) -> BlockSums | None:
    """The sums whose joint errors payments need: those of the owners, or the blocks themselves."""
    if layout.ownership is not None:
        shares = layout.ownership.shares
        return BlockSums.of_blocks(shares) if len(shares) <= MAX_JOINT else None
    n, m = layout.grid.shape
    return BlockSums.of_blocks(np.eye(n * m).reshape(n * m, n, m)) if n * m <= MAX_JOINT else None


def replicate_path(path: Any, number: int) -> str:
    """The checkpoint of the valuation without one validation group."""
    return f"{path}.without-{number}"


def _of_replicate(options: dict[str, Any], number: int) -> dict[str, Any]:
    """Options for the valuation without one validation group, which has a checkpoint of its own."""
    path = options.get("checkpoint")
    if path is None:
        return options
    return {**options, "checkpoint": replicate_path(path, number)}
