"""The problem to value: a checked table, its target, and the splits that train and validate."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.defaults import FOLDS
from shapley2d._tables.column_warnings import warn_of_empty, warn_of_keys, warn_of_reading
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import collected, warn_of_two_queries, with_targets
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.per_row import (
    PlayerGroups,
    read_column_groups,
    read_groups,
    read_row_groups,
    read_times,
    read_weights,
    split_off_options,
)
from shapley2d._tables.scoring import check_scoring
from shapley2d._tables.splits import check_cv, is_count, split_rows
from shapley2d._tables.target import as_target, label_name, match_target
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


BASELINES = ("labels", "zero")
"""What no columns are worth: what the rows' labels alone predict, or 0, as in the paper."""


@dataclass(frozen=True)
class Split:
    """Training rows and the table that they are evaluated on."""

    rows: Ints  # positions of the training rows in the user's table
    # the training rows
    train: Table
    y: Target
    # the validation rows, with the columns and codes of the training table
    valid: Table
    y_valid: Target
    # (T,): their weights, in any unit; None if all are equal
    valid_weights: Floats | None = None
    # their positions in the user's table; None where they are a table of their own
    valid_rows: Ints | None = None

    @property
    def weights(self) -> Floats:
        """The weights of the validation rows, all 1 where none are given."""
        return np.ones(self.valid.n_rows) if self.valid_weights is None else self.valid_weights


@dataclass(frozen=True)
class Problem:
    """A checked table with its target and splits; a value is the mean over the splits."""

    table: Table
    target: Target
    splits: list[Split]  # empty for methods that need no validation
    label: str | None = None  # name of the target if it is valued as one more column
    scoring: Any = None  # the score: a name or a scorer; None for that of the model
    baseline: str = "labels"  # what no columns are worth: what the labels predict, or "zero"
    how: str = ""  # how the rows were split, in words; empty for random folds
    # the players of an axis, where these are not single rows or columns
    row_groups: PlayerGroups | None = None
    column_groups: PlayerGroups | None = None  # the label, where it is valued, is a group too

    @property
    def grouped(self) -> bool:
        """Whether the players of an axis are groups."""
        return self.row_groups is not None or self.column_groups is not None

    def asked(self) -> dict[str, Any]:
        """The score and the baseline, where they are not the defaults."""
        score = {} if self.scoring is None else {"scoring": self.scoring}
        return score if self.baseline == "labels" else {**score, "baseline": self.baseline}

    @property
    def n_valid(self) -> int:
        """Validation rows, over all splits."""
        return sum(split.valid.n_rows for split in self.splits)


def make_problem(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    task: str = "auto",
    kinds: Mapping[str, str] | None = None,
    include_label: bool = False,
    cv: Any = FOLDS,
    groups: Any = None,
    time_order: Any = None,
    valid_weight: Any = None,
    row_groups: Any = None,
    column_groups: Any = None,
    scoring: Any = None,
    baseline: str = "labels",
    seed: int = 0,
    validates: bool = True,
) -> Problem:
    """The problem of a user's tables; arguments are those of :func:`shapley2d.value_cells`.

    Where the method evaluates no model (``validates`` is false) there are no splits, but a
    validation table is checked all the same.
    """
    cv, named = FOLDS if cv is None else cv, y
    check_cv(cv)
    check_scoring(scoring)
    check_choice(baseline, "baseline", BASELINES)
    warn_of_two_queries(X, y, ("X", "y"))
    warn_of_two_queries(X_valid, y_valid, ("X_valid", "y_valid"))
    X, X_valid = collected(X), collected(X_valid, "X_valid")
    X, y, X_valid, y_valid = with_targets(X, y, X_valid, y_valid)
    _check_validation(X_valid, y_valid, valid_weight, validates=validates)
    _check_splitting(cv, groups, time_order, X_valid, validates=validates)
    X, X_valid, (groups, row_groups, time_order, weights) = split_off_options(
        X, X_valid,
        groups=groups, row_groups=row_groups, time_order=time_order, valid_weight=valid_weight,
    )  # fmt: skip
    given = as_table(X, "X", kinds)
    target = as_target(y, given, task)
    # read with the names of all rows, before some are left out
    kept = np.arange(given.n_rows) if target.kept is None else target.kept
    codes = None
    if groups is not None:
        _, codes = np.unique(read_groups(groups, given)[kept], return_inverse=True)
    times = None if time_order is None else read_times(time_order, given)[kept]
    of_rows = None if row_groups is None else read_row_groups(row_groups, given).take(kept)
    if weights is not None and X_valid is None:
        weights = read_weights(weights, given)[kept]
    table = given if target.kept is None else given.take_rows(kept)
    of_columns = (
        None if column_groups is None else read_column_groups(column_groups, table.column_names)
    )
    label = label_name(named, table.column_names) if include_label else None
    if of_columns is not None and label is not None:
        of_columns = of_columns.with_one(label)
    warn_of_reading(table)
    warn_of_empty(table)
    warn_of_keys(table)
    splits: list[Split] = []
    how = ""
    if X_valid is not None:
        splits = [validated_split(table, target, X_valid, y_valid, weights)]
    elif validates:
        parts = split_rows(
            table, target, cv, seed=seed, groups=codes, time=times, given=(given.n_rows, kept)
        )
        splits, how = crossed_splits(table, target, parts.splits, weights), parts.how
    _check_weights(splits)
    return Problem(
        table, target, splits, label, scoring, baseline, how,
        row_groups=of_rows, column_groups=of_columns,
    )  # fmt: skip


def crossed_splits(
    table: Table, target: Target, parts: Sequence[tuple[Ints, Ints]], weights: Floats | None = None
) -> list[Split]:
    """Splits of one table by positions of the rows that train and of those that validate."""
    return [
        Split(
            train,
            table.take_rows(train),
            target.take(train),
            table.take_rows(held),
            target.take(held),
            None if weights is None else weights[held],
            held,
        )
        for train, held in parts
    ]


def _check_validation(X_valid: Any, y_valid: Any, valid_weight: Any, *, validates: bool) -> None:
    if (X_valid is None) != (y_valid is None):
        present, absent = ("y_valid", "X_valid") if X_valid is None else ("X_valid", "y_valid")
        raise InputError(
            f"{present} came without {absent}: pass both, or neither for cross-valuation"
        )
    if valid_weight is not None and not validates:
        raise InputError(
            "valid_weight weighs validation rows, but this method evaluates no model: leave it out"
        )


def validated_split(
    table: Table, target: Target, X_valid: Any, y_valid: Any, valid_weight: Any = None
) -> Split:
    """The split in which all rows of a table train and a validation table is read like it."""
    read = as_table(X_valid, "X_valid", like=table)
    y = match_target(y_valid, read, target)
    weights = None if valid_weight is None else read_weights(valid_weight, read)
    if y.kept is not None:
        read = read.take_rows(y.kept)
        weights = None if weights is None else weights[y.kept]
    warn_of_reading(read, "X_valid")
    valid = match_columns(read, table)
    return Split(np.arange(table.n_rows), table, target, valid, y, weights)


def _check_splitting(
    cv: Any, groups: Any, time_order: Any, X_valid: Any, *, validates: bool
) -> None:
    """Refuse options of splitting if no rows are split."""
    by = (("groups", groups), ("time_order", time_order))
    asked = [name for name, given in by if given is not None]
    asked += [] if cv is None or is_count(cv) else ["cv"]
    if not asked or (X_valid is None and validates):
        return
    if X_valid is not None:
        raise InputError(
            f"{asked[0]} says which rows validate others, but there is a validation table "
            "X_valid: leave one of them out"
        )
    raise InputError(
        f"{asked[0]} says which rows validate, but this method evaluates no model: leave it out"
    )


def _check_weights(splits: Sequence[Split]) -> None:
    """Refuse weights that leave a split without any validation row."""
    for k, split in enumerate(splits, start=1):
        if split.valid_weights is not None and not split.valid_weights.any():
            one = len(splits) == 1
            where = "every validation row" if one else f"all validation rows of split {k}"
            raise InputError(f"valid_weight is 0 for {where}: give some of them a positive weight")


def weigh_problem(problem: Problem) -> Problem:
    """The problem with weights that make its score a mean over validation rows."""
    balanced = problem.scoring == "balanced_accuracy"
    splits = [
        replace(split, valid_weights=_mean_one(split, balanced=balanced))
        for split in problem.splits
    ]
    return replace(problem, splits=splits)


def _mean_one(split: Split, *, balanced: bool) -> Floats | None:
    """Weights with mean 1; None if all are equal.

    Balanced accuracy gives every class of the validation rows the same weight.
    """
    weights = split.weights
    if balanced:
        _, labels = np.unique(split.y_valid.y.astype(str), return_inverse=True)
        of_class = np.bincount(labels, weights)[labels]
        weights = np.divide(weights, of_class, out=np.zeros_like(weights), where=of_class > 0)
    return None if (weights == weights[0]).all() else weights / weights.mean()
