"""A question about blocks, checked and ready to run: as asked, or with something changed."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_number, check_whole
from shapley2d._market.block_game import estimate_blocks
from shapley2d._market.cell_sums import MAX_JOINT, estimate_cell_sums
from shapley2d._market.copies.count import RULES as COPIES
from shapley2d._market.grid import count_groups
from shapley2d._market.jackknife import problems_without_a_group
from shapley2d._market.layout import Prepared, claims_of
from shapley2d._market.named_rows import Clusters, named_rows
from shapley2d._market.other_validation_rows import (
    Errors,
    cell_replicates,
    check_checkpoints,
    clear_checkpoints,
    is_joint,
    leaving_time,
    of_replicate,
    replicates_of,
    same_work,
    sums_of,
)
from shapley2d._market.players import PLAYERS, settle_method, settle_players
from shapley2d._methods.registry import METHODS
from shapley2d._models.by_name import is_knn
from shapley2d._valuation.question import Question
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.layout import BlockLayout, Changed
    from shapley2d._market.owners import Claim
    from shapley2d._market.regions import Regions
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target
    from shapley2d._theory.sums import BlockSums

_NOT_ASKED = (  # the data, and what changes no value
    "X", "y", "X_valid", "y_valid", "owners", "options", "random_state", "n_jobs", "progress",
    "max_time", "checkpoint", "cluster",
)  # fmt: skip
_UNRECORDED: Any = object()

COPY_R2 = 0.99
"""R squared from which one column is a copy of another, unless the caller says otherwise."""


@dataclass(frozen=True, kw_only=True)
class BlockQuestion(Question):
    """The arguments of ``value_blocks``."""

    method: str = "auto"
    rows: Any = None
    columns: Any = None
    owners: Any = None
    owner_column: str | None = None
    players: str | None = None
    copies: str | None = None
    copy_distance: float | str = "auto"
    copy_r2: float = COPY_R2
    validation_groups: int | None = None

    def recorded(self) -> dict[str, Any]:
        """``settings`` that a file can hold; names of ``unrecorded`` ones: arrays and models."""
        given = {
            one.name: getattr(self, one.name) for one in fields(self) if one.name not in _NOT_ASKED
        }
        given |= {name: one for name, one in self.options.items() if name not in _NOT_ASKED}
        plain = {name: _as_json(value) for name, value in given.items()}
        settings = {name: value for name, value in plain.items() if value is not _UNRECORDED}
        unrecorded = sorted(name for name in plain if plain[name] is _UNRECORDED)
        return {"settings": settings, "unrecorded": unrecorded}

    @property
    def names_contributors(self) -> bool:
        """Whether it is asked what contributors are worth: owners, or the groups of one axis.

        Groups of both axes are blocks of a table, which nobody in particular contributed.
        """
        return self.owners is not None or (self.rows is None) != (self.columns is None)

    @property
    def groups_own(self) -> bool:
        """Whether the groups of one axis are owners, as if a file of owners had named them.

        Clusters are no contributors; and more groups than errors are kept jointly for are rows or
        columns by themselves, whose copies count each.
        """
        if self.owners is not None or not self.names_contributors:
            return False
        if isinstance(self.rows, Clusters):
            return False
        option, labels = ("columns", self.columns) if self.rows is None else ("rows", self.rows)
        return count_groups(labels, option) <= MAX_JOINT


@dataclass(frozen=True)
class Variation:
    """What differs in a counterfactual: training table, what owners have, or validation rows."""

    table: Callable[[Table, Target], Changed] | None = None
    regions: Callable[[Regions], Regions] | None = None
    problem: Callable[[Problem], Problem] | None = None


@dataclass(frozen=True)
class Answer:
    """The values of blocks and owners, with their errors and the tables behind them."""

    problem: Problem
    layout: BlockLayout
    estimate: Estimate  # of the blocks
    owners: NDArray[np.float64] | None  # values of the owners, where players are cells
    errors: Errors  # of the owners' values, or of the blocks where there are no owners
    method: str  # as chosen
    groups: int  # groups of validation rows that were left out in turn
    scoring: Any  # the score; None for that of the model
    # the training table as it was read, before copies were merged
    read: tuple[Table, Target] | None = None

    @property
    def owner_values(self) -> NDArray[np.float64]:
        """What every owner is worth."""
        if self.owners is not None:
            return self.owners
        assert self.layout.ownership is not None
        return np.asarray(np.tensordot(self.layout.ownership.shares, self.estimate.values, axes=2))


@dataclass(frozen=True)
class BlocksJob:
    """A question about blocks with its defaults settled."""

    asked: BlockQuestion  # as the user asked it
    # with the entries of the column that names the groups of rows in the place of its name
    question: BlockQuestion
    run: Run
    players: str  # "cells", "groups"
    copies: str  # "one", "first", "escrow", "each"
    claims: list[Claim] | None  # what the owners claim; None where no table names them
    owned: bool  # whether there are owners: of a table of them, or the groups of one axis

    @classmethod
    def prepare(cls, question: BlockQuestion) -> BlocksJob:
        """Check a question as far as no table is needed."""
        asked, run = question, question.start()
        if question.validation_groups is not None:
            check_whole(question.validation_groups, "validation_groups", 0)
        if question.players is not None:
            check_choice(question.players, "players", PLAYERS)
        read = named_rows(
            question.X,
            question.y,
            question.X_valid,
            question.rows,
            question.owners,
            question.owner_column,
        )
        question = replace(question, **read._asdict())
        paid, owned = question.names_contributors, question.groups_own
        owned = owned or question.owners is not None
        players = settle_players(question.players, question.method, question.options, owned=paid)
        copies = _settle_copies(question, owned=owned)
        _, options = settle_method(players, question.method, question.options)
        check_checkpoints(options, question.validation_groups)
        claims = claims_of(question.owners)
        return cls(asked, question, run, players, copies, claims, owned)

    def settle(self) -> tuple[str, dict[str, Any]]:
        """The method and all of its options."""
        return settle_method(self.players, self.question.method, self.question.options)

    def answer(self, variation: Variation | None = None) -> Answer:
        """Value the blocks, with something changed if a variation is given."""
        question, varied = self.question, variation or Variation()
        method, options = self.settle()
        prepared: Prepared | None = None
        read: tuple[Table, Target] | None = None

        def change(table: Table, target: Target, split: Split | None) -> Changed:
            nonlocal prepared, read
            read = table, target
            distance = question.copy_distance
            prepared = Prepared.of(
                table,
                target,
                self.copies if self.owned else None,
                distance if isinstance(distance, str) else float(distance),
                copy_r2=float(question.copy_r2),
                split=split,
                with_label=question.include_label,
                change=varied.table,
            )
            return prepared.table, prepared.target, prepared.origin[prepared.kept]

        problem = question.problem(self.run, change=change)
        assert prepared is not None
        if varied.problem is not None:
            problem = varied.problem(problem)
        if self._pays_by_accuracy(problem, method, options):
            options = {**options, "scoring": "balanced_accuracy"}
        if self._pays_by_votes(method, options):
            options = {**options, "votes": "share"}
        layout = prepared.layout(
            problem,
            question.rows,
            question.columns,
            self.claims,
            varied.regions,
            groups_own=self.owned and self.claims is None,
            option="rows" if self.asked.owner_column is None else "owner_column",
            seed=self.run.seed,
        )
        problem = layout.problem or problem
        value = self._by_cells if self.players == "cells" else self._by_groups
        return replace(value(problem, layout, method, options), read=read)

    def _pays_by_accuracy(self, problem: Problem, method: str, options: dict[str, Any]) -> bool:
        """Whether cells would be paid by accuracy without the user having said so.

        By accuracy, rows of noise with the label of a frequent class are worth something: they are
        right more often than not.
        """
        unsaid = method in ("knn", "forest") and options.get("scoring") is None
        paid = self.players == "cells" and self.question.names_contributors
        return unsaid and paid and problem.target.task == "classification"

    def _pays_by_votes(self, method: str, options: dict[str, Any]) -> bool:
        """Whether neighbours value contributors without the user having said what votes count.

        Divided by K, a vote in a company of few rows is worth something whatever it says.
        """
        near = method == "knn" if self.players == "cells" else is_knn(options["model"])
        unsaid = self.question.options.get("votes") is None
        return self.question.names_contributors and near and unsaid

    def _by_groups(
        self, problem: Problem, layout: BlockLayout, method: str, options: dict[str, Any]
    ) -> Answer:
        """Values of the blocks in the game of groups."""
        sums, scoring = sums_of(layout), options.get("scoring")
        _check_sums(self.question.validation_groups, sums)
        joint = sums if is_joint(sums) else None
        groups = self.question.validation_groups or 0
        folds = len(problem.splits)
        estimate, chosen, problem = estimate_blocks(
            problem,
            leaving_time(self.run, groups),
            layout.grid,
            joint,
            method=method,
            options=options,
        )
        if len(problem.splits) < folds:
            estimate = estimate.noting(folds_made=folds)
        errors = Errors(estimate.covariance, None, estimate.dof)
        if estimate.info.get("time_up"):
            groups = 0
        if groups:
            assert sums is not None
            options = {**options, **same_work(options, estimate.info)}

            def without(part: Problem, again: Run, k: int) -> NDArray[np.float64]:
                own = of_replicate(options, k)
                found = estimate_blocks(part, again, layout.grid, None, method=chosen, options=own)
                return sums.of(found.estimate.values)

            parts = problems_without_a_group(problem, groups, self.run.seed)
            replicates = replicates_of(self.run, groups, parts, without)
            clear_checkpoints(options, replicates)
            errors, groups = errors.with_spread(replicates), len(replicates)
        return Answer(problem, layout, estimate, None, errors, chosen, groups, scoring)

    def _by_cells(
        self, problem: Problem, layout: BlockLayout, method: str, options: dict[str, Any]
    ) -> Answer:
        """Values of the blocks as sums of cells."""
        owned = None if layout.ownership is None else layout.ownership.shares
        sums = sums_of(layout)
        _check_sums(self.question.validation_groups, sums)
        groups = 0 if sums is None else self._n_validation_groups(problem, method)
        found = estimate_cell_sums(
            problem,
            leaving_time(self.run, groups),
            layout.grid,
            owned,
            method=method,
            options=options,
            joint=is_joint(sums),
        )
        estimate = found.blocks
        errors = Errors(estimate.covariance, None, estimate.dof)
        if estimate.info.get("time_up"):  # its errors know of the rows that were not used
            groups = 0
        if groups and not estimate.info.get("interrupted"):
            assert sums is not None
            replicates = cell_replicates(
                self.run, problem, layout, method, options, estimate, sums, groups
            )
            errors, groups = errors.with_spread(replicates), len(replicates)
        scoring = options.get("scoring")
        return Answer(problem, layout, estimate, found.owners, errors, method, groups, scoring)

    def _n_validation_groups(self, problem: Problem, method: str) -> int:
        """Groups of validation rows: those asked for, by default those that cost one valuation."""
        if self.question.validation_groups is not None:
            return self.question.validation_groups
        if not self.question.names_contributors or not METHODS[method].averages:
            return 0
        most = min(split.valid.n_rows for split in problem.splits)
        return min(10, most) if most > 1 else 0


def _as_json(value: Any) -> Any:
    """A setting as JSON can hold and give it back; a mark where it cannot."""
    if isinstance(value, np.generic):
        value = value.item()
    value = _listed(value)
    try:
        same = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return _UNRECORDED
    return same if same == value else _UNRECORDED


def _listed(value: Any) -> Any:
    return [_listed(item) for item in value] if isinstance(value, (tuple, list)) else value


def _settle_copies(question: BlockQuestion, *, owned: bool) -> str:
    copies = ("one" if owned else "each") if question.copies is None else question.copies
    check_choice(copies, "copies", COPIES)
    distance, r2 = question.copy_distance, question.copy_r2
    if not (isinstance(distance, str) and distance == "auto"):
        check_number(distance, "copy_distance", zero=True)
    check_number(r2, "copy_r2", zero=True)
    near, like = distance not in ("auto", 0), r2 not in (COPY_R2, 0)
    if not owned and (copies != "each" or near or like):
        name = "copies" if copies != "each" else "copy_distance" if near else "copy_r2"
        raise InputError(
            Setting(name, getattr(question, name)),
            " is about owners: name them by ",
            Setting("owners"),
            " or ",
            Setting("owner_column"),
        )
    return copies


def _check_sums(groups: int | None, sums: BlockSums | None) -> None:
    if groups and sums is None:
        raise InputError(
            Setting("validation_groups"),
            f" is for owners, or for at most {MAX_JOINT} blocks: name the owners by ",
            Setting("owners"),
        )
