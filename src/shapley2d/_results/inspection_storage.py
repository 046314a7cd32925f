"""Inspections as Parquet files: a tidy table that any reader opens, never a pickle.

The columns ``row`` to ``value`` are for people. The others restore the inspection: ``held``,
``suggested``, ``low`` and ``high`` are entries as a typed column holds them, and each part of the
score has a column of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import real_number, whole_number
from shapley2d._inspection.cells import Expected, ScoredCells
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._results.sealed import read_sealed, write_sealed
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.table import Column, FromText

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._results.inspected import InspectedCells
    from shapley2d._results.sealed import SealedCells

_KEY = b"shapley2d.inspection"
_KINDS = ("number", "category", "boolean", "date")
_MOST_PLACES = 400
_MOST_ALTERNATIVES = 64
_PART = "part: "


def save_inspection(inspection: InspectedCells, path: str | os.PathLike[str]) -> None:
    """Write an inspection to a Parquet file, whole or not at all."""
    import pyarrow as pa

    found = inspection._cells
    n, p = found.scores.shape
    suggested = [found.expected_texts(j) for j in range(p)]
    columns: dict[str, Any] = {
        "content": pa.array(
            [text for line in zip(*found.entries, strict=True) for text in line], pa.string()
        ),
        "expected": pa.array(
            [text for line in zip(*suggested, strict=True) for text in line], pa.string()
        ),
        "probability": found.probability.ravel(),
        "score": found.scores.ravel(),
    }
    if inspection._values is not None:
        columns["value"] = inspection._values.ravel()
    if inspection._score_gains is not None:
        columns["gain_if_changed"] = inspection._score_gains.ravel()
    columns["held"] = _by_row([one.entries for one in found.columns])
    columns["suggested"] = _by_row([one.entries for one in found.expected])
    for end in ("low", "high"):
        columns[end] = _by_row([getattr(one, end) for one in found.expected], n)
    width = max(
        (one.alternatives.shape[1] for one in found.expected if one.alternatives is not None),
        default=0,
    )
    for k in range(width):
        columns[f"alternative {k + 1}"] = _by_row(
            [_at(one.alternatives, k) for one in found.expected], n
        )
        columns[f"chance {k + 1}"] = _by_row([_at(one.chances, k) for one in found.expected], n)
    for name, part in found.parts.items():
        columns[_PART + name] = np.asarray(part, dtype=np.float32).ravel()
    record = {
        "has_label": found.has_label,
        "frame": inspection._frame,
        "digests": inspection._digests,
        "fingerprint": inspection._fingerprint,
        "settled": sorted([list(cell) for cell in inspection._settled]),
        "kinds": [one.kind for one in found.columns],
        "notations": [one.from_text.notation for one in found.columns],
        "places": [one.from_text.places for one in found.columns],
        "categories": [list(one.categories) for one in found.columns],
        "widths": [
            0 if one.alternatives is None else one.alternatives.shape[1] for one in found.expected
        ],
        "ranges": [one.low is not None and one.high is not None for one in found.expected],
        "notes": [[i, j, text] for (i, j), text in found.notes.items()],
        "findings": [
            {
                "columns": list(one.columns),
                "kind": one.kind,
                "text": one.text,
                "rows": np.asarray(one.rows).tolist(),
                "suggestions": [[int(i), text] for i, text in one.suggestions.items()],
                "probability": float(one.probability),
                "chances": None if one.chances is None else one.chances.tolist(),
                "right": None if one.right is None else one.right.tolist(),
            }
            for one in inspection.findings
        ],
        "new entries": [[i, j, text, sure] for (i, j), (text, sure) in found.suggested.items()],
        "facts": found.info,
        "info": inspection.info,
    }
    write_sealed(path, _KEY, record, inspection, found.names, columns)


def read_inspection(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the fields of an inspection, checking that the file is one and that it is whole."""
    found: dict[str, Any] = read_sealed(path, _KEY, "an inspection", _fields)
    return found


def _fields(record: dict[str, Any], cells: SealedCells) -> dict[str, Any]:
    """The fields of an inspection; a ValueError says in a phrase what does not fit."""
    n, p = cells.shape
    if record.get("frame") not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    scores, probability = (cells.numbers(key) for key in ("score", "probability"))
    if not np.isfinite(scores).all():
        raise ValueError("some of its scores are not numbers")
    if not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError("some of its probabilities are not from 0 to 1")
    for key in ("info", "facts", "digests"):
        if not isinstance(record.get(key), dict):
            raise ValueError(f"{key} of its record is missing")  # noqa: TRY004  (one kind of error for one cause)
    columns = _columns(record, cells)
    scored = ScoredCells(
        columns=columns,
        has_label=bool(record.get("has_label")),
        scores=scores,
        probability=probability,
        expected=_expected(record, cells, columns),
        parts={
            name.removeprefix(_PART): cells.numbers(name).astype(np.float32)
            for name in cells.table.column_names
            if name.startswith(_PART)
        },
        notes={
            (_row(i, n), _row(j, p)): _word(text) for i, j, text in _several(record.get("notes"), 3)
        },
        suggested={
            (_row(i, n), _row(j, p)): (
                None if text is None else _word(text),
                real_number(sure, "a chance of a suggestion"),
            )
            for i, j, text, sure in _several(record.get("new entries"), 4)
        },
        info=record["facts"],
    )
    return {
        "_cells": scored,
        "findings": [_finding(one, cells.column_names, n) for one in _list(record.get("findings"))],
        "row_names": cells.row_names,
        "lines": cells.lines,
        "_values": cells.numbers("value") if cells.has("value") else None,
        "_score_gains": cells.numbers("gain_if_changed") if cells.has("gain_if_changed") else None,
        "_frame": record["frame"],
        "_digests": {str(name): _word(digits) for name, digits in record["digests"].items()},
        "_fingerprint": _word(record.get("fingerprint")),
        "_settled": frozenset((_row(i, n), _row(j, p)) for i, j in _list(record.get("settled"))),
        "info": record["info"],
    }


def _columns(record: dict[str, Any], cells: SealedCells) -> tuple[Column, ...]:
    p = cells.shape[1]
    kinds, notations, places, categories = (
        _list(record.get(key), p) for key in ("kinds", "notations", "places", "categories")
    )
    if any(kind not in _KINDS for kind in kinds):
        raise ValueError("its kinds of columns do not fit")
    texts = cells.texts("content")
    held = cells.numbers("held")
    columns = []
    for j, (name, kind) in enumerate(zip(cells.column_names, kinds, strict=True)):
        known = tuple(_word(text) for text in categories[j])
        entries = np.array(held[:, j])
        if kind == "category":
            _check_codes(entries[~np.isnan(entries)], len(known))
        distinct = {
            text: code
            for code, text in enumerate(dict.fromkeys(t for t in texts[:, j] if t is not None))
        }
        words = np.array([*distinct, None], dtype=object)
        codes = np.array(
            [-1 if text is None else distinct[text] for text in texts[:, j]], dtype=np.int32
        )
        strays = {
            i: text
            for i, text in enumerate(texts[:, j].tolist())
            if text is not None and np.isnan(entries[i])
        }
        read = FromText(
            strays=strays,
            notation=_word(notations[j]),
            places=whole_number(places[j], "decimals of its record", 0, _MOST_PLACES),
            words=words,
            codes=codes,
        )
        columns.append(Column(name, kind, entries, known, read))
    return tuple(columns)


def _expected(
    record: dict[str, Any], cells: SealedCells, columns: tuple[Column, ...]
) -> tuple[Expected, ...]:
    p = cells.shape[1]
    widths, ranges = _list(record.get("widths"), p), _list(record.get("ranges"), p)
    suggested, low, high = (cells.numbers(key) for key in ("suggested", "low", "high"))
    found = []
    for j, column in enumerate(columns):
        width = whole_number(widths[j], "a width of its record", 0, _MOST_ALTERNATIVES)
        alternatives = chances = None
        if width:
            parts = [cells.numbers(f"alternative {k + 1}")[:, j] for k in range(width)]
            codes = np.column_stack(parts)
            _check_codes(codes.ravel(), max(2, len(column.categories)), least=-2)
            alternatives = codes.astype(np.int32)
            shares = np.column_stack([cells.numbers(f"chance {k + 1}")[:, j] for k in range(width)])
            chances = shares.astype(np.float32)
        entries = np.array(suggested[:, j])
        if column.kind == "category":
            _check_codes(entries[~np.isnan(entries)], len(column.categories))
        found.append(
            Expected(
                entries=entries,
                low=np.array(low[:, j]) if ranges[j] else None,
                high=np.array(high[:, j]) if ranges[j] else None,
                alternatives=alternatives,
                chances=chances,
            )
        )
    return tuple(found)


def _finding(record: Any, names: list[str], n: int) -> ColumnFinding:
    if not isinstance(record, dict):
        raise ValueError("a finding of its record does not fit")  # noqa: TRY004  (one kind of error for one cause)
    concerned = tuple(_word(name) for name in _list(record.get("columns")))
    if not concerned or concerned[0] not in names:
        raise ValueError("a finding of its record is about no column of it")
    rows = np.array([_row(i, n) for i in _list(record.get("rows"))], dtype=np.intp)
    return ColumnFinding(
        columns=concerned,
        kind=_word(record.get("kind")),
        text=_word(record.get("text")),
        rows=rows,
        chances=_chances(record.get("chances"), rows.size),
        right=_chances(record.get("right"), rows.size),
        suggestions={_row(i, n): _word(text) for i, text in _list(record.get("suggestions"))},
        probability=real_number(record.get("probability"), "the probability of a finding"),
    )


def _chances(numbers: Any, n: int) -> NDArray[np.float64] | None:
    if numbers is None:
        return None
    return np.array([real_number(one, "a chance of a finding") for one in _list(numbers, n)])


def _by_row(parts: list[Any], n: int = 0) -> NDArray[np.float64]:
    """Columns as one long column, row after row; NaN where a column has none."""
    filled = [
        np.full(n, np.nan) if part is None else np.asarray(part, dtype=np.float64) for part in parts
    ]
    return np.column_stack(filled).ravel()


def _at(part: Any, k: int) -> Any:
    return None if part is None or k >= part.shape[1] else part[:, k]


def _check_codes(codes: NDArray[np.float64], count: int, least: int = 0) -> None:
    if not ((codes >= least) & (codes < count) & (codes == np.round(codes))).all():
        raise ValueError("some of its entries are not categories of their column")


def _list(value: Any, size: int | None = None) -> list[Any]:
    if not isinstance(value, list) or (size is not None and len(value) != size):
        raise ValueError("a list of its record does not fit")
    return value


def _several(value: Any, size: int) -> list[Any]:
    found = _list(value)
    if any(not isinstance(one, list) or len(one) != size for one in found):
        raise ValueError("a list of its record does not fit")
    return found


def _row(value: Any, count: int) -> int:
    return whole_number(value, "a position of its record", 0, count - 1)


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text of its record is not text")  # noqa: TRY004  (one kind of error for one cause)
    return value
