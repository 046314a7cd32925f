"""Inspections as Parquet files: a tidy table that any reader opens, never a pickle.

The columns ``row`` to ``score`` are for people. The others restore the inspection: ``held``,
``suggested``, ``low`` and ``high`` are entries as a typed column holds them, and each part of the
score has a column of its own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from shapley2d._base.arrow import pa, pq
from shapley2d._base.json_record import Maybe, check_form
from shapley2d._inspection.cells import Expected, ScoredCells
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.sealed import read_sealed, write_sealed
from shapley2d._tables.table import Column, FromText, Kind
from shapley2d._tables.texts.numbers import LONGEST
from shapley2d._tables.texts.stray_rule import MISSING

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._tables.sealed import SealedCells

_KEY = b"shapley2d.inspection"
_PART = "part: "
_BY_COLUMN: dict[str, tuple[Any, Callable[[Column, Expected], Any]]] = {
    "kinds": (str, lambda column, _: column.kind),
    "notations": (str, lambda column, _: column.from_text.notation),
    "places": (int, lambda column, _: column.from_text.places),
    "units": (str, lambda column, _: column.from_text.unit),
    "categories": ([str], lambda column, _: list(column.categories)),
    "widths": (int, lambda _, one: 0 if one.alternatives is None else one.alternatives.shape[1]),
    "ranges": (bool, lambda _, one: one.low is not None and one.high is not None),
    "written": (bool, lambda column, _: column.from_text.words is not None),
    "asked": (bool, lambda column, _: column.from_text.asked),
    "distinct": (int, lambda column, _: column.from_text.distinct),
}
"""What the record says of each column: its form, and where it comes from."""
_FINDING = {
    "columns": [str], "kind": str, "text": str, "rows": [int], "suggestions": [(int, str)],
    "probability": float, "chances": Maybe([float]), "right": Maybe([float]),
}  # fmt: skip
_RECORD = {
    **{key: [form] for key, (form, _) in _BY_COLUMN.items()}, "has_label": bool,
    "has_classes": bool, "frame": str,
    "digests": {str: str}, "fingerprint": str, "settled": [(int, int)],
    "notes": [(int, int, str)], "findings": [_FINDING],
    "new entries": [(int, int, Maybe(str), float)], "facts": dict, "marks": Maybe([[str]]),
    "info": {"kinds": Maybe({str: str})},
}  # fmt: skip


def save_inspection(inspection: InspectedCells, path: str | os.PathLike[str]) -> None:
    """Write an inspection to a Parquet file, whole or not at all."""
    found = inspection._cells
    n, p = found.scores.shape
    width = max((0 if one.alternatives is None else one.alternatives.shape[1])
                for one in found.expected)  # fmt: skip
    columns: dict[str, Any] = {
        "content": _texts_by_row(found.entries),
        "expected": _texts_by_row([found.expected_texts(j) for j in range(p)]),
        "probability": found.probability.ravel(),
        "score": found.scores.ravel(),
    }
    columns["held"] = _by_row([one.entries for one in found.columns])
    columns["suggested"] = _by_row([one.entries for one in found.expected])
    for end in ("low", "high"):
        columns[end] = _by_row([getattr(one, end) for one in found.expected], n)
    for k in range(width):
        columns[f"alternative {k + 1}"] = _by_row(
            [_at(one.alternatives, k) for one in found.expected], n
        )
        columns[f"chance {k + 1}"] = _by_row([_at(one.chances, k) for one in found.expected], n)
    for name, part in found.parts.items():
        columns[_PART + name] = np.asarray(part, dtype=np.float32).ravel()
    record = {
        "has_label": found.has_label,
        "has_classes": found.has_classes,
        "frame": inspection._frame,
        "digests": inspection._digests,
        "fingerprint": inspection._fingerprint,
        "settled": sorted([list(cell) for cell in inspection._settled]),
        **{
            key: [of(*pair) for pair in zip(found.columns, found.expected, strict=True)]
            for key, (_, of) in _BY_COLUMN.items()
        },
        "notes": [[i, j, text] for (i, j), text in found.notes.items()],
        "findings": [
            {key: _plain(value) for key, value in vars(one).items()} for one in inspection.findings
        ],
        "new entries": [[i, j, text, sure] for (i, j), (text, sure) in found.suggested.items()],
        "marks": [list(one.from_text.marks) for one in found.columns],
        "facts": found.info,
        "info": inspection.info,
    }
    write_sealed(path, _KEY, record, inspection, found.names, columns)


def is_inspection(path: str | os.PathLike[str]) -> bool:
    """Whether a file says that it is an inspection; it may still be damaged."""
    try:
        return _KEY in (pq.read_schema(path).metadata or {})
    except Exception:  # noqa: BLE001  (whatever a file provokes, it is none)
        return False


def read_inspection(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of an inspection, checking that the file is one and that it is whole."""
    found: dict[str, Any] = read_sealed(path, _KEY, "an inspection", _fields)
    return found


def _fields(record: dict[str, Any], cells: SealedCells) -> dict[str, Any]:
    """The fields of an inspection; a ValueError says in a phrase what does not fit."""
    check_form(record, _RECORD)
    n, p = cells.shape
    scores, probability = (cells.numbers(key) for key in ("score", "probability"))
    if record["frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(scores).all():
        raise ValueError("some of its scores are not numbers")
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("some of its probabilities are not from 0 to 1")
    if any(len(record[key]) != p for key in (*_BY_COLUMN, "marks") if record.get(key) is not None):
        raise ValueError("a list of its record does not fit its columns")
    named = [*record["settled"], *record["notes"], *record["new entries"]]
    if any(i >= n or j >= p for i, j, *_ in named):
        raise ValueError("its record is about cells that it does not have")
    columns = _columns(record, cells)
    scored = ScoredCells(
        columns=columns,
        has_label=record["has_label"],
        scores=scores,
        probability=probability,
        expected=_expected(record, cells, columns),
        parts={
            name.removeprefix(_PART): cells.numbers(name).astype(np.float32)
            for name in cells.table.column_names
            if name.startswith(_PART)
        },
        has_classes=record["has_classes"],
        notes={(i, j): text for i, j, text in record["notes"]},
        suggested={(i, j): (text, float(sure)) for i, j, text, sure in record["new entries"]},
        info=record["facts"],
    )
    return {
        "_cells": scored,
        "findings": [_finding(one, cells) for one in record["findings"]],
        "row_names": cells.row_names,
        "lines": cells.lines,
        "_settled": frozenset((i, j) for i, j in record["settled"]),
        **{f"_{key}": record[key] for key in ("frame", "digests", "fingerprint")},
        "info": record["info"],
    }


def _columns(record: dict[str, Any], cells: SealedCells) -> tuple[Column, ...]:
    if not {*record["kinds"]} <= {*get_args(Kind)} or max(record["places"]) > LONGEST:
        raise ValueError("its kinds of columns do not fit")
    texts, held = cells.texts("content"), cells.numbers("held")
    columns = []
    for j, (name, kind) in enumerate(zip(cells.column_names, record["kinds"], strict=True)):
        entries, own, known = held[:, j].copy(), texts[:, j].tolist(), record["categories"][j]
        if kind == "category":
            _check_codes(entries[~np.isnan(entries)], len(known))
        gone: list[int] = np.flatnonzero(np.isnan(entries)).tolist()
        words = [text for text in dict.fromkeys(own) if text is not None]
        code = {text: k for k, text in enumerate(words)} | dict.fromkeys((None, *MISSING), -1)
        marks = record["marks"][j] if record.get("marks") else []
        read = FromText(
            strays={i: own[i] for i in gone if own[i] is not None and own[i] not in marks},
            marks={
                word: np.array([i for i in gone if own[i] == word], dtype=np.intp) for word in marks
            },
            notation=record["notations"][j],
            places=record["places"][j],
            unit=record["units"][j],
            asked=record["asked"][j],
            distinct=record["distinct"][j],
        )
        if record["written"][j]:
            read = replace(
                read,
                words=np.array([*words, None], dtype=object),
                codes=np.array([code[text] for text in own], dtype=np.int32),
            )
        columns.append(Column(name, kind, entries, tuple(known), read))
    return tuple(columns)


def _expected(
    record: dict[str, Any], cells: SealedCells, columns: tuple[Column, ...]
) -> tuple[Expected, ...]:
    suggested, low, high = (cells.numbers(key) for key in ("suggested", "low", "high"))
    found = []
    for j, column in enumerate(columns):
        alternatives = chances = None
        if record["widths"][j]:
            codes, shares = (
                np.column_stack(
                    [cells.numbers(f"{what} {k + 1}")[:, j] for k in range(record["widths"][j])]
                )
                for what in ("alternative", "chance")
            )
            _check_codes(codes, max(2, len(column.categories)), least=-2)
            alternatives, chances = codes.astype(np.int32), shares.astype(np.float32)
        entries, ranged = suggested[:, j].copy(), record["ranges"][j]
        if column.kind == "category":
            _check_codes(entries[~np.isnan(entries)], len(column.categories))
        ends = [one[:, j].copy() if ranged else None for one in (low, high)]
        found.append(Expected(entries, ends[0], ends[1], alternatives, chances))
    return tuple(found)


def _finding(record: dict[str, Any], cells: SealedCells) -> ColumnFinding:
    if not record["columns"] or record["columns"][0] not in cells.column_names:
        raise ValueError("a finding of its record is about no column of it")
    rows, suggestions = record["rows"], dict(record["suggestions"])
    if max([*rows, *suggestions], default=0) >= cells.shape[0]:
        raise ValueError("a finding of its record is about rows that it does not have")
    chances, right = (
        None if record.get(key) is None else np.array(record[key], dtype=np.float64)
        for key in ("chances", "right")
    )
    if any(one is not None and one.size != len(rows) for one in (chances, right)):
        raise ValueError("the chances of a finding do not fit its rows")
    return ColumnFinding(
        tuple(record["columns"]),
        record["kind"],
        record["text"],
        np.array(rows, dtype=np.intp),
        suggestions,
        float(record["probability"]),
        chances,
        right,
    )


def _plain(value: Any) -> Any:
    """A field of a finding in types of JSON."""
    if isinstance(value, dict):
        return [[int(row), text] for row, text in value.items()]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _texts_by_row(columns: Sequence[Sequence[str | None]]) -> Any:
    """The texts of columns, row after row."""
    return pa.array([text for line in zip(*columns, strict=True) for text in line], pa.string())


def _by_row(parts: list[Any], n: int = 0) -> Floats:
    """Columns as one long column, row after row; NaN where a column has none."""
    filled = [
        np.full(n, np.nan) if part is None else np.asarray(part, dtype=np.float64) for part in parts
    ]
    return np.column_stack(filled).ravel()


def _at(part: Any, k: int) -> Any:
    return None if part is None or k >= part.shape[1] else part[:, k]


def _check_codes(codes: Floats, count: int, least: int = 0) -> None:
    if not ((codes >= least) & (codes < count) & (codes == np.round(codes))).all():
        raise ValueError("some of its entries are not categories of their column")
