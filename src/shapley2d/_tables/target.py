"""The target: read as one more column, its task, labels or numbers, and checks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.entries import as_text, is_missing, is_number, with_texts
from shapley2d._base.warnings import warn, warn_input
from shapley2d._base.words import counted, first_of, plural
from shapley2d._tables.align import as_series, series_items
from shapley2d._tables.column_warnings import MIN_ROWS
from shapley2d._tables.convert import typed_column
from shapley2d._tables.frames import objects
from shapley2d._tables.kinds import as_category
from shapley2d._tables.row_words import row_words
from shapley2d._tables.table import Column, Table
from shapley2d._tables.texts.numbers import EXACT
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


def target_column(
    y: Any, name: str, table: Any = None, *, task: str = "auto", numbers: bool = False
) -> tuple[Column, str | None]:
    """A target as a typed column, in the order of the rows of ``table``, and its own name.

    Dates are refused unless they are classes. ``numbers`` says that the entries are known to be
    numbers; messages call the target ``name``.
    """
    series = as_series(y, name, table)
    key = None
    if isinstance(series, nw.Series):
        key = None if series.name is None else as_text(series.name)
        entries: Any = series if series.dtype.is_numeric() else series_items(series, name)
        nominal = series.dtype in (nw.Categorical, nw.Enum)
    else:
        entries, nominal = _vector(y, name), hasattr(y, "categories")
    if nominal and not all(is_number(item) or is_missing(item) for item in entries):
        return as_category(entries, name), key
    read = partial(typed_column, entries, name, name)
    column = read()
    wants = numbers or task == "regression"
    as_classes = task == "classification" and not numbers
    if column.kind == "date":
        if not as_classes:
            raise InputError(
                f"{name} holds dates, which are neither numbers nor classes: predict a number "
                "(such as days since the first date) or a class (such as the year), or set "
                "task='classification' to use every date as a class"
            )
        column = as_category(column.text(), name)
    if wants and column.kind == "category":
        try:
            column = read("number")
        except InputError:
            raise InputError(
                f"{name} holds text, which regression cannot use: set task='classification'"
            ) from None
    elif column.kind == "number" and not wants:
        strays = bool(column.from_text.strays) and as_classes
        if strays or _are_long_codes(column):
            column = read("text")
    return column, key


def _vector(y: Any, name: str) -> Any:
    """An array of one dimension, or a list where its entries are objects."""
    if y is None:
        raise InputError(
            f"{name} is missing: give the labels or numbers to predict, or the name of "
            "their column; y should be a 1d array"
        )
    try:
        vector = np.asarray(y)
    except ValueError:
        raise InputError(f"{name} must be 1-D, got a list of lists of different lengths") from None
    if vector.ndim == 2 and vector.shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected: use y.ravel()"
        warn(DataConversionWarning(message))
        vector = vector.ravel()
    if vector.ndim != 1:
        raise InputError(f"{name} must be 1-D, got an array of shape {vector.shape}")
    if vector.dtype.kind == "c":
        raise InputError(f"{name}: Complex data not supported")
    return with_texts(vector.tolist()) if vector.dtype.kind in "OUS" else vector


def _are_long_codes(column: Column) -> bool:
    """Whether numbers are long and few, so that they are codes that rounding would mix up."""
    longest = float(np.nanmax(np.abs(column.entries), initial=0))
    distinct = max(np.unique(column.entries).size, column.from_text.distinct)
    return longest >= EXACT and distinct <= MAX_CODES


def labels_of(column: Column) -> NDArray[Any]:
    """The entries of a target: numbers, as integers where all are whole, booleans or text."""
    entries = column.entries
    if column.kind == "category":
        return objects(column.text())
    if column.kind == "boolean" and not np.isnan(entries).any():
        return entries.astype(bool)
    whole = np.array_equal(entries, np.round(entries)) and bool((np.abs(entries) < EXACT).all())
    return entries.astype(np.int64) if whole else entries


def _check_present(column: Column, table: Table, name: str) -> None:
    missing = np.flatnonzero(np.isnan(column.entries))
    if missing.size:
        raise InputError(
            f"{name} is missing (NaN) in {counted(missing.size, 'row')}, first in "
            f"{row_words(table, missing[0])}: drop "
            f"{plural(missing.size, 'that row or fill it', 'those rows or fill them')}"
        )
    endless = np.flatnonzero(np.isinf(column.entries))
    if endless.size:
        where = row_words(table, endless[0])
        raise InputError(f"{name} is infinity (inf) in {where}: replace it by a number")


def guess_task(y: NDArray[Any]) -> Task:
    """Guess the task: text, booleans and up to 20 different whole numbers are labels."""
    if y.dtype.kind not in "iuf":
        return "classification"
    whole = y.dtype.kind in "iu" or np.array_equal(y, np.round(y))
    return "classification" if whole and np.unique(y).size <= MAX_CODES else "regression"


def as_target(y: Any, table: Table, task: str = "auto") -> Target:
    """Check the target of a training table."""
    name = "y"
    check_choice(task, "task", TASKS)
    column, table, kept = _read(y, table, name, task=task)
    chosen: Task = guess_task(labels_of(column)) if task == "auto" else task  # type: ignore[assignment]
    make = _regression if chosen == "regression" else _classification
    target = make(column, table, name)
    _warn_of_leak(target, table)
    return replace(target, kept=kept)


def _read(
    y: Any, table: Table, name: str, **how: Any
) -> tuple[Column, Table, NDArray[np.intp] | None]:
    """The entries, the table of the rows that have one, and their positions if not all have."""
    column, key = target_column(y, name, table.native, **how)
    if column.entries.size != table.n_rows:
        raise InputError(
            f"{name} has {counted(column.entries.size, 'entry', 'entries')}, but its table has "
            f"{counted(table.n_rows, 'row')}: inconsistent numbers of samples"
        )
    if name == "y" and key is not None and key in table.column_names:
        raise InputError(f"the target {key!r} is also a column of the features: drop it from them")
    strays, kept = column.from_text.strays, None
    if strays:
        kept = np.setdiff1d(np.arange(table.n_rows), list(strays))
        column = column.take(kept)
        _warn_of_strays(strays, column, table, name)
        table = table.take_rows(kept)
    _check_present(column, table, name)
    return column, table, kept


def _warn_of_strays(strays: dict[int, str], column: Column, table: Table, name: str) -> None:
    some = [f"{text[:40]!r} in {row_words(table, row)}" for row, text in strays.items()]
    classes = ""
    if guess_task(labels_of(column)) == "classification":
        classes = ", or set task='classification' to use them as classes"
    warn_input(
        f"{name} holds numbers, but not in {len(strays)} of {table.n_rows} rows "
        f"({first_of(some, 3)}): those rows are left out; correct them{classes}"
    )


def match_target(y: Any, table: Table, train: Target) -> Target:
    """Check the target of a validation table against that of the training table."""
    name = "y_valid"
    numbers = train.task == "regression" or train.classes.dtype.kind in "iuf"
    task = "auto" if numbers and train.task == "classification" else train.task
    column, table, kept = _read(y, table, name, numbers=numbers, task=task)
    if train.task == "regression":
        return replace(_regression(column, table, name, constant=True), kept=kept)
    vector = labels_of(column)
    position = {label: code for code, label in enumerate(train.classes.tolist())}
    if all(isinstance(label, str) for label in position):  # then 1 and "1" are the same label
        vector = objects([str(label) for label in vector.tolist()])
    codes = np.array([position.get(label, -1) for label in vector.tolist()], dtype=np.int64)
    unseen = codes < 0
    if unseen.any():
        names = sorted({str(label) for label in vector[unseen]})
        warn(
            UnseenLabelWarning(
                f"{int(unseen.sum())} of {codes.size} validation rows have labels that training "
                f"never shows ({first_of(names)}): "
                "no model can predict them"
            )
        )
    if vector.dtype.kind != train.y.dtype.kind:  # so that == compares the same types
        vector = objects(vector.tolist()) if unseen.any() else train.classes[codes]
    return Target("classification", vector, codes, train.classes, kept)


def _regression(column: Column, table: Table, name: str, *, constant: bool = False) -> Target:
    numbers = column.entries
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


def _classification(column: Column, _: Table, name: str) -> Target:
    y = labels_of(column)
    codes: NDArray[Any]
    if y.dtype.kind == "f":
        raise InputError(
            f"Unknown label type: {name} holds fractions, not classes; set task='regression'"
        )
    if column.kind == "category":
        classes, codes = objects([*column.categories]), column.entries
    else:
        classes, codes = np.unique(y, return_inverse=True)
    if classes.size < 2:
        raise InputError(
            f"{name} holds a single class ({classes[0]}): there is nothing to learn from 1 class"
        )
    return Target("classification", y, codes.astype(np.int64), classes)


def _warn_of_leak(target: Target, table: Table) -> None:
    if table.n_rows < MIN_ROWS:
        return
    is_classes = target.task == "classification"
    labels = [str(label) for label in target.y.tolist()] if is_classes else []
    for column in table.columns:
        if column.kind == "category":
            same = is_classes and column.text() == labels
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
