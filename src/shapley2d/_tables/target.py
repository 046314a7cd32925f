"""The target: its task, labels or numbers, checks, and the label as one more column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.entries import as_text, is_number, which_missing
from shapley2d._base.warnings import warn, warn_input
from shapley2d._base.words import counted, plural
from shapley2d._tables.column_warnings import MIN_ROWS
from shapley2d._tables.frames import objects
from shapley2d._tables.kinds import as_category
from shapley2d._tables.row_words import row_words
from shapley2d._tables.table import Column, Table
from shapley2d._tables.target_entries import (
    as_series,
    as_vector,
    object_vector,
    read_labels,
)
from shapley2d._tables.texts.stray_rule import MAX_CODES
from shapley2d.exceptions import InputError, LeakWarning, UnseenLabelWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


Task = Literal["classification", "regression"]

TASKS = ("auto", "classification", "regression")
"""Choices of the option ``task``."""

MAX_TARGET = 1e70
"""The largest number to predict: values scale with its square, variances with its 4th power."""

LABEL = "(label)"
"""Name of the label's column if the target has none."""


@dataclass(frozen=True)
class Target:
    """A checked target."""

    task: Task
    y: NDArray[Any]  # (n,): the labels or numbers as the user passed them
    # (n,): classification: the position of each label in ``classes``, -1 where it is not among
    # them. Regression: the numbers as float64
    codes: NDArray[Any]
    classes: NDArray[Any]  # the labels that training shows, sorted (empty in regression)
    # positions of the remaining rows, where rows whose entry is not a number were left out
    kept: NDArray[np.intp] | None = None

    def take(self, rows: NDArray[np.intp]) -> Target:
        """The target of some rows."""
        return Target(self.task, self.y[rows], self.codes[rows], self.classes)


def _check_present(y: NDArray[Any], table: Table, name: str) -> None:
    if y.dtype.kind in "biuUSM":
        return
    if y.dtype.kind == "c":
        raise InputError(f"{name}: Complex data not supported")
    is_float = y.dtype.kind == "f"
    gone = np.isnan(y) if is_float else which_missing(y.tolist())
    missing = np.flatnonzero(gone)
    if missing.size:
        raise InputError(
            f"{name} is missing (NaN) in {counted(missing.size, 'row')}, first in "
            f"{row_words(table, missing[0])}: drop "
            f"{plural(missing.size, 'that row or fill it', 'those rows or fill them')}"
        )
    if y.dtype.kind == "f" and not np.isfinite(y).all():
        first = int(np.flatnonzero(~np.isfinite(y))[0])
        where = row_words(table, first)
        raise InputError(f"{name} is infinity (inf) in {where}: replace it by a number")


def guess_task(y: NDArray[Any]) -> Task:
    """Guess the task: text, booleans and up to 20 different whole numbers are labels."""
    if y.dtype.kind == "O":
        y = object_vector(y.tolist())
    if y.dtype.kind == "O" and y.size and all(is_number(item) for item in y):  # beyond 64 bits
        return "classification" if len(set(y.tolist())) <= MAX_CODES else "regression"
    if y.dtype.kind not in "iuf":
        return "classification"
    whole = y.dtype.kind in "iu" or np.array_equal(y, np.round(y))
    return "classification" if whole and np.unique(y).size <= MAX_CODES else "regression"


def as_target(y: Any, table: Table, task: str = "auto") -> Target:
    """Check the target of a training table."""
    name = "y"
    check_choice(task, "task", TASKS)
    vector, table, kept = _read(y, table, name, task=task)
    chosen: Task = guess_task(vector) if task == "auto" else task  # type: ignore[assignment]
    if chosen == "regression":
        target = _regression(vector, table, name)
    else:
        target = _classification(vector, name)
    _warn_of_leak(target, table)
    return replace(target, kept=kept)


def _read(
    y: Any, table: Table, name: str, **how: Any
) -> tuple[NDArray[Any], Table, NDArray[np.intp] | None]:
    """The entries, the table of the rows that have one, and their positions if not all have."""
    entries, key, as_is = as_vector(y, name, table.native)
    if entries.size != table.n_rows:
        raise InputError(
            f"{name} has {counted(entries.size, 'entry', 'entries')}, but its table has "
            f"{counted(table.n_rows, 'row')}: inconsistent numbers of samples"
        )
    if name == "y" and key is not None and key in table.column_names:
        raise InputError(f"the target {key!r} is also a column of the features: drop it from them")
    strays: dict[int, str] = {}
    if not as_is:
        entries, strays = read_labels(entries, name, **how)
    kept = None
    if strays:
        kept = np.setdiff1d(np.arange(entries.size), list(strays))
        entries = object_vector(entries[kept].tolist())
        _warn_of_strays(strays, entries, table, name)
        table = table.take_rows(kept)
    _check_present(entries, table, name)
    return entries, table, kept


def _warn_of_strays(strays: dict[int, str], entries: NDArray[Any], table: Table, name: str) -> None:
    some = [f"{text[:40]!r} in {row_words(table, row)}" for row, text in [*strays.items()][:3]]
    more = ", ..." if len(strays) > 3 else ""
    classes = ""
    if not which_missing(entries.tolist()).any() and guess_task(entries) == "classification":
        classes = ", or set task='classification' to use them as classes"
    warn_input(
        f"{name} holds numbers, but not in {len(strays)} of {table.n_rows} rows "
        f"({', '.join(some)}{more}): those rows are left out; correct them{classes}"
    )


def match_target(y: Any, table: Table, train: Target) -> Target:
    """Check the target of a validation table against that of the training table."""
    name = "y_valid"
    numbers = train.task == "regression" or train.classes.dtype.kind in "iuf"
    task = "auto" if numbers and train.task == "classification" else train.task
    vector, table, kept = _read(y, table, name, numbers=numbers, task=task)
    if train.task == "regression":
        return replace(_regression(vector, table, name, constant=True), kept=kept)
    position = {label: code for code, label in enumerate(_plain(train.classes))}
    if all(isinstance(label, str) for label in position):  # then 1 and "1" are the same label
        vector = np.array([str(label) for label in vector.tolist()], dtype=object)
    codes = np.array([position.get(label, -1) for label in _plain(vector)], dtype=np.int64)
    unseen = codes < 0
    if unseen.any():
        names = sorted({str(label) for label in vector[unseen]})
        warn(
            UnseenLabelWarning(
                f"{int(unseen.sum())} of {codes.size} validation rows have labels that training "
                f"never shows ({', '.join(names[:5])}{', ...' if len(names) > 5 else ''}): "
                "no model can predict them"
            )
        )
    if vector.dtype.kind != train.y.dtype.kind:  # so that == compares the same types
        vector = object_vector(vector.tolist()) if unseen.any() else train.classes[codes]
    return Target("classification", vector, codes, train.classes, kept)


def _plain(labels: NDArray[Any]) -> list[Any]:
    """Labels, numpy scalars as Python ones, so that 1, 1.0 and np.int64(1) are the same label."""
    items: list[Any] = labels.tolist()
    if any(issubclass(kind, np.generic) for kind in set(map(type, items))):
        return [item.item() if isinstance(item, np.generic) else item for item in items]
    return items


def _regression(y: NDArray[Any], table: Table, name: str, *, constant: bool = False) -> Target:
    try:
        numbers = y.astype(np.float64)
    except OverflowError:
        raise InputError(
            f"{name} holds a number beyond {MAX_TARGET:g}, too large to square"
        ) from None
    except (TypeError, ValueError):
        raise InputError(
            f"{name} holds text, which regression cannot use: set task='classification'"
        ) from None
    if not constant and np.unique(numbers).size < 2:
        raise InputError(f"{name} is the same number in every row: there is nothing to learn")
    large = np.flatnonzero(np.abs(numbers) > MAX_TARGET)
    if large.size:
        raise InputError(
            f"{name} holds a number beyond {MAX_TARGET:g} in {row_words(table, large[0])}, "
            "too large to square its errors: divide it by a constant first"
        )
    if not constant and np.ptp(numbers) < 1 / MAX_TARGET:
        raise InputError(
            f"{name} differs by less than {1 / MAX_TARGET:g} between rows, too little to "
            "square its errors: multiply it by a constant first"
        )
    return Target("regression", numbers, numbers, np.array([]))


def _classification(y: NDArray[Any], name: str) -> Target:
    if y.dtype.kind == "f" and not np.array_equal(y, np.round(y)):
        raise InputError(
            f"Unknown label type: {name} holds fractions, not classes; set task='regression'"
        )
    kinds = set(map(type, _plain(y))) if y.dtype.kind == "O" else set()
    if len(kinds) > 1:
        y, kinds = np.array([str(label) for label in y], dtype=object), {str}
    codes: NDArray[Any]
    if kinds == {str}:  # np.unique would sort all rows
        column = as_category(y.tolist(), name)
        classes, codes = objects([*column.categories]), column.entries
    else:
        try:
            classes, codes = np.unique(y, return_inverse=True)
        except TypeError:
            raise InputError(
                f"{name} holds labels of type {type(y[0]).__name__}, which have no order: make "
                "them text"
            ) from None
    if classes.size < 2:
        raise InputError(
            f"{name} holds a single class ({classes[0]}): there is nothing to learn from 1 class"
        )
    return Target("classification", y, codes.astype(np.int64), classes)


def _warn_of_leak(target: Target, table: Table) -> None:
    if table.n_rows < MIN_ROWS:
        return
    texts = np.array([str(label) for label in target.classes], dtype=object)
    first = np.arange(MIN_ROWS)

    def says_the_same(column: Column) -> bool:
        few = column.take(first).text() == texts[target.codes[first]].tolist()
        return bool(few and column.text() == texts[target.codes].tolist())

    for column in table.columns:
        if column.kind == "category":
            same = target.task == "classification" and says_the_same(column)
        else:
            same = target.y.dtype.kind in "biuf" and np.array_equal(column.entries, target.y)
        if same:
            warn(
                LeakWarning(
                    f"column {column.name!r} equals the target in every row: "
                    "drop it unless it is known before the target"
                )
            )


def label_name(y: Any, column_names: Sequence[str]) -> str:
    """Name of the label's column: that of the target, unless it has none or a column has it."""
    name = y if isinstance(y, str) else getattr(as_series(y), "name", None)
    wanted = LABEL if name is None or name == "" else as_text(name)
    candidates = (wanted, LABEL, *(f"{LABEL} {k}" for k in range(2, len(column_names) + 3)))
    return next(candidate for candidate in candidates if candidate not in column_names)


def with_label(table: Table, target: Target, name: str) -> Table:
    """The table with its target as the last column."""
    if target.task == "regression":
        column = Column(name, "number", np.asarray(target.codes, dtype=np.float64))
    else:
        categories = tuple(str(label) for label in target.classes.tolist())
        column = Column(name, "category", target.codes.astype(np.float64), categories)
    return replace(table, columns=(*table.columns, column))
