"""Which rows train and which validate: a validation table of its own, or cross-valuation."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.defaults import FOLDS
from shapley2d._base.streams import fold_state
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import with_targets
from shapley2d._tables.keys import warn_of_keys
from shapley2d._tables.match import match_columns
from shapley2d._tables.remarks import warn_of_reading
from shapley2d._tables.target import as_target, match_target
from shapley2d.exceptions import InputError, Place, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


@dataclass(frozen=True)
class Split:
    """Rows that train, and the table they are evaluated on.

    Attributes
    ----------
    rows : ndarray
        Positions of the training rows in the user's table.
    train, y : Table, Target
        Those rows.
    valid, y_valid : Table, Target
        The validation rows, with the columns and codes of the training table.
    """

    rows: NDArray[np.intp]
    train: Table
    y: Target
    valid: Table
    y_valid: Target


@dataclass(frozen=True)
class GivenRows:
    """The names of all rows of the user's table, and the positions of those that were kept."""

    names: NDArray[Any]
    kept: NDArray[np.intp]


@dataclass(frozen=True)
class Problem:
    """A checked table with its target and the splits to value it on; the value is the mean over the splits.

    There are no splits for methods that need no validation. ``label`` names the target where it is to be valued as one
    more column. ``given`` knows the user's rows where some were left out for their targets.
    """

    table: Table
    target: Target
    splits: list[Split]
    label: str | None = None
    given: GivenRows | None = None

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
    folds: int = FOLDS,
    seed: int = 0,
    validates: bool = True,
    kinds: Mapping[str, str] | None = None,
) -> Problem:
    """Check the user's tables once and lay out the splits.

    Without a validation table the rows are split into ``folds`` parts, stratified by class; each part in turn
    validates the others. Where nothing ``validates`` there are no splits; a validation table is still checked.
    """
    check_whole(folds, "folds", 2)
    X, y, X_valid, y_valid = with_targets(X, y, X_valid, y_valid)
    if (X_valid is None) != (y_valid is None):
        present, absent = ("y_valid", "X_valid") if X_valid is None else ("X_valid", "y_valid")
        raise InputError(
            Place(present), " came without ", Place(absent), ": pass both, or neither for cross-valuation"
        )
    table = as_table(X, "X", kinds)
    target = as_target(y, table, task)
    given = None
    if target.kept is not None:
        given, table = GivenRows(table.row_names, target.kept), table.take_rows(target.kept)
    warn_of_reading(table)
    warn_of_keys(table)
    if X_valid is None:
        return Problem(table, target, _folds(table, target, folds, seed) if validates else [], given=given)
    read = as_table(X_valid, "X_valid", like=table)
    target_valid = match_target(y_valid, read, target)
    read = read if target_valid.kept is None else read.take_rows(target_valid.kept)
    warn_of_reading(read, "X_valid")
    valid = match_columns(read, table)
    splits = [Split(np.arange(table.n_rows), table, target, valid, target_valid)] if validates else []
    return Problem(table, target, splits, given=given)


def _folds(table: Table, target: Target, folds: int, seed: int) -> list[Split]:
    from sklearn.model_selection import KFold, StratifiedKFold

    if table.n_rows < 2 * folds:
        raise InputError(
            f"{table.n_rows} rows are too few for ",
            Setting("folds", folds),
            f" (n_samples={table.n_rows} must be at least {2 * folds}): pass a validation table or fewer folds",
        )
    state = fold_state(seed)
    stratify = target.task == "classification" and np.bincount(target.codes).max() >= folds
    splitter = (StratifiedKFold if stratify else KFold)(n_splits=folds, shuffle=True, random_state=state)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds do no harm
        parts = list(splitter.split(np.zeros(table.n_rows), target.codes if stratify else None))
    return [
        Split(rows, table.take_rows(rows), target.take(rows), table.take_rows(held), target.take(held))
        for rows, held in parts
    ]
