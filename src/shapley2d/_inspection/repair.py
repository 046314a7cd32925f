"""Repairs: which cells to change, whether the table is the inspected one, and the log."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.warnings import warn_input, without_warnings
from shapley2d._base.words import counted, did_you_mean, entry_text, plural, shown
from shapley2d._inspection.cells import percent, reasons_text
from shapley2d._inspection.columns.finding import SURE_RIGHT
from shapley2d._inspection.decided_entries import check_decided
from shapley2d._inspection.decisions import read_decisions
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.suggestions import all_at_once
from shapley2d._inspection.tables.changes import change_cells, change_vector
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.convert import as_table
from shapley2d._tables.digest import column_digest
from shapley2d._tables.frames import frame_kind, make_frame
from shapley2d._tables.intake import as_frame, names_of, opened
from shapley2d._tables.table import Table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._inspection.tables.changes import Changes

Chosen = dict[tuple[int, int], tuple[str | None, str]]
"""By position of the cell: the new entry as text, and the reason."""


def repair(
    inspection: InspectedCells,
    X: Any,
    *,
    cells: Any = None,
    n: int | None = None,
    probability: float | None = None,
    findings: Iterable[int] | None = None,
    y: Any = None,
) -> Any:
    """A repaired copy of a table and the log; see :meth:`~shapley2d.Inspection.repair`."""
    if all(option is None for option in (cells, n, probability, findings)):
        raise InputError(
            "repair needs to know what to change: give cells, n, probability or findings"
        )  # fmt: skip
    native, names = _same_table(inspection, as_frame(opened(X), "X"), y)
    chosen = choose(inspection, names, cells=cells, n=n, probability=probability, findings=findings)
    in_table = changes_of(inspection, chosen)
    name = inspection.label_name
    labels = {} if y is None or name is None else in_table.pop(name, {})
    table = change_cells(native, in_table)
    log = make_frame(log_columns(inspection, chosen), inspection._frame)
    return (table, log) if y is None else (table, change_vector(y, labels), log)


def _same_table(inspection: InspectedCells, frame: Any, y: Any) -> tuple[Any, list[str]]:
    """The table, and the inspected columns that it has; another than the inspected is refused."""
    asked, there = inspection.info.get("kinds") or {}, names_of(frame)
    kinds = {name: kind for name, kind in asked.items() if not there or name in there}
    with without_warnings():
        table = inspected_table(frame, "X", kinds or None)
        digests = {column.name: column_digest(column) for column in table.columns}
        if y is not None and inspection.label_name is not None:
            label = as_table({inspection.label_name: y}, "y").columns[0]
            digests[inspection.label_name] = column_digest(label)
    if table.n_rows != inspection.shape[0]:
        raise InputError(
            f"X has {table.n_rows} rows, but the table that was inspected had "
            f"{inspection.shape[0]}: pass that one"
        )
    for name in inspection._cells.names:
        if name not in digests:
            if name == inspection.label_name:
                continue
            raise InputError(f"X has no column {name!r}, which was inspected: pass that table")
        known = inspection._digests.get(name, digests[name])
        if known != digests[name] and known != _digest_of_codes(table.native, name):
            place = "y" if name == inspection.label_name and y is not None else "X"
            raise InputError(
                f"{place} is not the table that was inspected: column {name!r} is different; "
                "pass that table, or inspect this one"
            )
    return table.native, [name for name in inspection._cells.names if name in digests]


def _digest_of_codes(native: Any, name: str) -> str:
    """Digest of an Arrow column as a dictionary, which Parquet files keep of text alone."""
    if frame_kind(native) != "pyarrow" or name not in native.column_names:
        return ""
    coded = native.select([name]).set_column(0, name, native[name].dictionary_encode())
    with without_warnings():
        return column_digest(inspected_table(coded, "X").columns[0])


def changes_of(inspection: InspectedCells, chosen: Chosen) -> Changes:
    """The new entries by column and row."""
    changes: Changes = {}
    for (i, j), (new, _) in chosen.items():
        changes.setdefault(inspection._cells.names[j], {})[i] = new
    return changes


def log_columns(inspection: InspectedCells, chosen: Chosen) -> dict[str, Any]:
    """The changes as columns, one line per cell."""
    places = list(chosen)
    return {
        **inspection._row_columns(np.array([i for i, _ in places], dtype=np.intp)),
        "column": [inspection._cells.names[j] for _, j in places],
        "before": [inspection._cells.entries[j][i] for i, j in places],
        "after": [new for new, _ in chosen.values()],
        "why": [why for _, why in chosen.values()],
    }


def choose(
    inspection: InspectedCells,
    names: Collection[str],
    *,
    cells: Any = None,
    n: int | None = None,
    probability: float | None = None,
    findings: Iterable[int] | None = None,
) -> Chosen:
    """The cells to change, of the columns that are there, and their new entries."""
    scored, chosen = inspection._cells, Chosen()
    unsure = set[tuple[int, int]]()
    there = {j for j, name in enumerate(scored.names) if name in names}
    if n is not None or probability is not None:
        if n is not None:
            check_whole(n, "n", 0)
        if probability is not None:
            check_probability(probability)
        ranked = rank_cells(inspection, least=probability or 0.0)
        order = [(i, j) for i, j in ranked if j in there][:n]
        if probability is not None:
            unsure = {one for one in order if scored.suggestion_probability(*one) < SURE_RIGHT}
        chosen |= {(i, j): _suggestion(inspection, i, j) for i, j in order if (i, j) not in unsure}
    for k in findings or ():
        if not isinstance(k, (int, np.integer)) or not 0 <= k < len(inspection.findings):
            raise InputError(
                f"findings={shown(k)} is not the position of one of the "
                f"{len(inspection.findings)} findings"
            )
        finding = inspection.findings[k]
        j = scored.names.index(finding.columns[0])
        chosen |= {(i, j): (new, finding.text) for i, new, _ in all_at_once(scored, finding)}
        unsure |= {(i, j) for i in finding.suggestions}
    if cells is not None:
        chosen |= _from_cells(inspection, cells)
    chosen = {
        (i, j): (new, why)
        for (i, j), (new, why) in chosen.items()
        if j in there and (i, j) not in inspection._settled and new != scored.entries[j][i]
    }
    if left := len(unsure - inspection._settled - chosen.keys()):
        warn_input(
            f"{counted(left, 'entry', 'entries')} {plural(left, 'stays', 'stay')} as "
            f"{plural(left, 'it is', 'they are')}: what {plural(left, 'it', 'they')} should say is "
            f"not sure ({percent(SURE_RIGHT)} or more)"
        )
    return chosen


def check_probability(probability: Any) -> None:
    is_number = isinstance(probability, (int, float, np.integer, np.floating))
    if not is_number or isinstance(probability, bool) or not 0 <= probability <= 1:
        raise InputError(f"probability={shown(probability)} must be a number from 0 to 1")


def _suggestion(inspection: InspectedCells, i: int, j: int) -> tuple[str | None, str]:
    return inspection._cells.expected_text(i, j), reasons_text(inspection._cells.reasons(i, j))


def _from_cells(inspection: InspectedCells, cells: Any) -> Chosen:
    if isinstance(cells, (str, os.PathLike)):
        return _from_file(inspection, cells)
    if isinstance(cells, np.ndarray) and cells.dtype == bool:
        if cells.shape not in (inspection.shape, inspection._cells.scores.shape):
            raise InputError(
                f"cells has the shape {cells.shape}, but the table has {inspection.shape}"
            )
        places = np.argwhere(cells).tolist()
        return {(i, j): _suggestion(inspection, i, j) for i, j in places}
    chosen: Chosen = {}
    names = inspection._cells.names
    for i, column, given in listed_cells(cells, inspection.row_names, names, "cells"):
        j = names.index(column)
        suggested, why = _suggestion(inspection, i, j)
        is_other = given and given[0] != suggested
        chosen[i, j] = (given[0], "given") if is_other else (suggested, why)
    return chosen


def listed_cells(
    cells: Any, row_names: NDArray[Any], names: Sequence[str], called: str
) -> Iterator[tuple[int, str, tuple[str | None, ...]]]:
    """Row position, column and, where it is given, the new entry of a frame's or a list's cells."""
    frame = nw.from_native(cells, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        lacks = [name for name in ("row", "column") if name not in frame.columns]
        if lacks:
            raise InputError(
                f"{called} has no column {lacks[0]!r}: it needs row, column and perhaps after"
            )
        new = next((name for name in ("after", "new", "expected") if name in frame.columns), None)
        cells = frame.select(["row", "column", *([new] if new else [])]).rows()
    rows: dict[str, int] = {}
    for i, name in enumerate(row_names.tolist()):
        rows.setdefault(str(name), i)
    for cell in cells:
        if not isinstance(cell, (tuple, list)) or len(cell) not in (2, 3):
            raise InputError(
                f"{called} holds {cell!r}, which is not (row, column) or (row, column, entry)"
            )
        row, column = str(cell[0]), str(cell[1])
        if row not in rows:
            raise InputError(f"{called}: there is no row {cell[0]!r}")
        if column not in names:
            hint = did_you_mean(column, names)
            raise InputError(f"{called}: there is no column {column!r}{hint}")
        yield rows[row], column, tuple(map(_text, cell[2:]))


def _text(entry: Any) -> str | None:
    if entry is None or entry != entry:  # noqa: PLR0124  (NaN)
        return None
    return entry_text(float(entry)) if isinstance(entry, (float, np.floating)) else str(entry)


def _from_file(inspection: InspectedCells, path: str | os.PathLike[str]) -> Chosen:
    decisions = read_decisions(path)
    if decisions.table != inspection._fingerprint:
        raise InputError(
            f"{decisions.path} was made for another table (fingerprint "
            f"{decisions.table[:16] or 'missing'}, this one has {inspection._fingerprint}): use "
            "the decisions that go with this one"
        )
    names, columns = inspection._cells.names, inspection._cells.columns
    check_decided(
        decisions,
        "the table",
        Table(columns, inspection.row_names),
        lambda i: f"{inspection._row_word} {inspection._shown_rows[i]!s}",
    )
    chosen: Chosen = {}
    for one in decisions.made:
        if one.changes:
            j = names.index(one.column)
            chosen[one.row, j] = (one.new, one.why or one.verdict)
    return chosen
