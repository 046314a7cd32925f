"""Which entries of a table are wrong, and what they should say."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw

from shapley2d._base.warnings import without_warnings
from shapley2d._inspection.inspection import Inspection
from shapley2d._inspection.repeated_rows import find_repeated_rows
from shapley2d._inspection.said import stands_out
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._inspection.tables.table_digest import table_digest
from shapley2d._methods.run import Run
from shapley2d._tables.align import as_series
from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.intake import (
    collected,
    is_path,
    names_of,
    opened,
    warn_of_two_queries,
    with_targets,
)
from shapley2d._tables.table import Table
from shapley2d._tables.target import as_target, label_name
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._inspection.cells import ScoredCells
    from shapley2d._inspection.reference import Reference
    from shapley2d._tables.target import Target

MAX_COLUMNS = 1024
"""Columns of an inspection: each is predicted from all others, so time takes their square."""


def check_width(n_columns: int) -> None:
    if n_columns > MAX_COLUMNS:
        raise InputError(
            f"X has {n_columns:,} columns: an inspection predicts each from all others and "
            f"takes at most {MAX_COLUMNS:,}; drop columns, or inspect the table in parts"
        )


def inspect_cells(
    X: Any,
    y: Any = None,
    *,
    reference: Any = None,
    task: str = "auto",
    kinds: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    max_time: Any = None,
) -> Inspection:
    """Find the entries of a table that are likely wrong, and what they should say.

    Every entry is predicted from the rest of its row and its label. Entries are ranked by how
    unlikely they are, how far off, and how much better their row fits once they are replaced. The
    order of rows or columns and the direction of numbers change no score.

    With a ``reference``, a trusted table teaches what is usual, and every row of X is judged as if
    it were one more row of it: one row is enough. The findings tell what is new.

    Parameters
    ----------
    X : 2-D array, table, dict of columns, list of dicts, or path of a CSV, JSON or Parquet file
        As for :func:`~shapley2d.value_cells`: numbers, text, categories, dates, booleans, missing
        entries. Text among numbers and numbers among text are inspected like everything else, and
        so are keys.
    y : 1-D array, list or series, or the name of a column of X, optional
        Labels or numbers to predict, inspected too. Some may be missing.
    reference : Inspection, table or path, optional
        A trusted table with the same columns, or its inspection, or a file of either. Its types,
        categories, formats, rules, keys and forests are what X is judged by. The labels of a table
        are its column ``y``; an inspection has its own.
    task : {"auto", "classification", "regression"}
        ``"auto"``: text, booleans and up to 20 distinct whole numbers are classes.
    kinds : dict, optional
        Types of columns by name, ``"number"``, ``"date"`` or ``"text"``, where the auto-detected
        type is wrong.
    random_state : int, numpy generator or None
    n_jobs : int or None
        Workers; all cores by default. The result does not depend on it.
    progress : {"auto", True, False} or callable
        A bar on a terminal by default; a function is called with ``(fraction, note)``.
    max_time : float or str, optional
        Seconds, or text such as ``"5m"``, counted from the call: with fewer trees where it is
        short, and ``info`` names what was left out where it is too short for all columns.

    Returns
    -------
    Inspection

    See Also
    --------
    measure_repair : whether the repairs help a model.

    Examples
    --------
    >>> from shapley2d import inspect_cells
    >>> X = {"height": [150 + k % 40 for k in range(80)]}
    >>> X["weight"] = [height - 100.0 for height in X["height"]]
    >>> X["weight"][7] = 570.0
    >>> inspection = inspect_cells(X, progress=False)
    >>> i, j = divmod(int(inspection.scores.argmax()), 2)
    >>> i, inspection.column_names[j]
    (7, 'weight')

    New rows against a trusted table:

    >>> trusted = {name: column[8:] for name, column in X.items()}
    >>> row = {"height": [171], "weight": ["heavy"]}
    >>> new = inspect_cells(row, reference=trusted, progress=False)
    >>> new.findings[0].text
    "1 of 1 entry of 'weight' is not a number: 'heavy'"
    """
    run = Run.create(random_state, "shapley", n_jobs, progress, max_time).advising()
    named = y if isinstance(y, str) else None
    given, lines = X, None
    warn_of_two_queries(X, y, ("X", "y"))
    if is_path(X):
        # its texts are kept, as the command line keeps them: numbers alone lose N/A and 1.50
        source = opened(X)
        X, lines = source.table, source.lines
    X, y = collected(X), collected(y, "y")
    trusted = None
    if reference is not None:
        options = {"task": task, "kinds": kinds, "random_state": random_state, "n_jobs": n_jobs}
        options |= {"progress": progress, "max_time": max_time}
        trusted = _as_reference(reference, y, options)
        y = _target_name(trusted, X, y)
        named = y if isinstance(y, str) else None
    if y is not None:
        X, y, _, _ = with_targets(X, y, None, None)
    with without_warnings():  # entries of another type and keys are findings here
        like = None if trusted is None else trusted.table
        check_width(len(_names(X)))  # before each of them is read
        table = inspected_table(X, "X", kinds, like)
        if like is not None:
            table = _with_names(table, like, named=bool(_names(X)))
        check_width(table.n_columns)
        table = table if lines is None else replace(table, lines=lines)
        # as repair reads it, which knows no reference
        plain = table if like is None else inspected_table(X, "X", kinds)
        y, label = (None, None) if y is None else read_label(y, named, table, kinds)
        target = None if y is None or trusted is not None else _target(y, table, task)
    from shapley2d._inspection.columns.find import find_in_columns
    from shapley2d._inspection.score import inspect_table
    from shapley2d._inspection.suggestions import with_suggestions

    if trusted is None:
        findings, whole = find_in_columns(table), table
        classes = target is not None and target.task == "classification"
        if label is not None and not classes:
            # numbers, labels that are missing in part, or all the same: one more column like the
            # others, written as it is
            whole, target = Table((*table.columns, label.columns[0]), table.row_names, None), None
        cells = inspect_table(
            whole, target, label_name="" if label is None else label.column_names[0],
            findings=findings, seed=run.seed, n_jobs=run.n_jobs, progress=run.progress,
            limit=run.limit,
        )  # fmt: skip
        cells = replace(cells, has_label=label is not None)
    else:
        cells, findings = trusted.judge(table, label, run.n_jobs)
    cells = with_suggestions(cells, findings)
    rows = [*table.columns, *(() if label is None else label.columns)]
    known = () if trusted is None else trusted.cells.columns
    findings = [*findings, *find_repeated_rows(table, rows, known)]
    findings.sort(key=lambda one: not stands_out(one, table.n_rows))
    columns = dict(zip(table.column_names, map(column_digest, plain.columns), strict=True))
    if label is not None:
        columns[label.column_names[0]] = column_digest(label.columns[0])
    return Inspection(
        _cells=cells,
        findings=findings,
        row_names=table.row_names,
        lines=table.lines,
        _frame=frame_kind(given),
        _digests=columns,
        _fingerprint=table_digest(columns),
        info=_record(run, cells, kinds, trusted),
    )


def _as_reference(reference: Any, y: Any, options: dict[str, Any]) -> Reference:
    """The reference of new rows: an inspection, the file of one, or a table to inspect."""
    from shapley2d._inspection.reference import Reference
    from shapley2d._inspection.storage import is_inspection

    if is_path(reference) and is_inspection(reference):
        reference = Inspection.load(reference)
    if isinstance(reference, Inspection):
        return reference._reference
    if y is not None and not isinstance(y, str):
        raise InputError(
            "reference is a table, whose labels are not known: pass y as the name of a "
            "column of both tables, or the inspection of the trusted one"
        )
    try:
        return Reference(inspect_cells(reference, y, **options))
    except InputError as error:  # which calls the table X
        raise InputError(re.sub(r"^X\b", "reference", str(error))) from None


def _target_name(trusted: Reference, X: Any, y: Any) -> Any:
    """The labels of new rows: as given, or the column that has the name of the reference's."""
    label = trusted.label
    if y is not None:
        if label is None:
            raise InputError(
                "y is a label, but the reference was inspected without labels: leave it out"
            )
        if label.name in _names(X) and not (isinstance(y, str) and y == label.name):
            raise InputError(f"y is not the reference's label, which is {label.name!r}: give none")
        return y
    return label.name if label is not None and label.name in _names(X) else None


def _names(X: Any) -> list[str]:
    return X.column_names if isinstance(X, Table) else names_of(X)


def _with_names(table: Table, like: Table, *, named: bool) -> Table:
    """New rows with the names of the reference's columns, if they have no names themselves."""
    if named:
        if not {*table.column_names} & {*like.column_names}:
            raise InputError("X has no column of the reference: give both the same names")
        return table
    if table.n_columns != like.n_columns:
        raise InputError(
            f"X has {table.n_columns} columns without names, but the reference has {like.n_columns}"
        )
    columns = zip(table.columns, like.column_names, strict=True)
    return replace(table, columns=tuple(replace(one, name=name) for one, name in columns))


def read_label(y: Any, named: str | None, table: Table, kinds: Any = None) -> tuple[Any, Table]:
    """Labels, and the column that they are; refused where they are not those of a table's rows."""
    name = named or label_name(y, table.column_names)
    series = as_series(y, "y", table.native)
    y = series.to_native() if isinstance(series, nw.Series) else y
    is_asked = isinstance(kinds, dict) and name in kinds
    label = as_table({name: y}, "y", {name: kinds[name]} if is_asked else None)
    if label.n_rows != table.n_rows:
        raise InputError(
            f"y has {label.n_rows} entries, but its table has {table.n_rows} rows: "
            "inconsistent numbers of samples"
        )
    return y, label


def _target(y: Any, table: Table, task: str) -> Target | None:
    """The target; None where labels are missing or all the same: nothing can be learned from it."""
    try:
        target = as_target(y, table, task)
    except InputError as error:
        if "task=" in str(error) and task != "auto":
            raise
        return None
    return target if target.kept is None else None


def _record(run: Run, cells: ScoredCells, kinds: Any, trusted: Reference | None) -> dict[str, Any]:
    record = run.record(**cells.info, kinds=dict(kinds or {}) or None)
    record.pop("semivalue")
    if trusted is not None:
        of = trusted.inspection
        record["reference"] = {"rows": of.shape[0], "fingerprint": of._fingerprint}
    return record
