"""Valuations as Parquet files: a tidy table that any reader opens, the record in its metadata."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.json_record import (
    Maybe,
    check_form,
    history_pairs,
    none_if_infinite,
    numbers_of,
)
from shapley2d._base.page import known_facts, settings_words
from shapley2d._tables.frames import FRAME_KINDS
from shapley2d._tables.kinds import as_category
from shapley2d._tables.sealed import read_sealed, write_sealed
from shapley2d._tables.table import Column, Kind, Table
from shapley2d._tables.texts.column import as_texts, text_column
from shapley2d._valuation.facts import Facts
from shapley2d._valuation.run_facts import RunFacts
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os

    from shapley2d._base.arrays import Floats
    from shapley2d._tables.sealed import SealedCells
    from shapley2d._valuation.values import CellValues

_Values = TypeVar("_Values", bound="CellValues")
_KEY = b"shapley2d"

FORMAT = 2
"""The number of what is written; files of another number are refused."""

_RECORD = {
    **dict.fromkeys(("row_stderr", "column_stderr"), Maybe([float])), "dof": Maybe(float),
    "total_stderr": float,
    "frame": str, "kinds": Maybe([str]), "notations": Maybe([str]), "history": [(int, float)],
    "info": dict,
}  # fmt: skip


def save_valuation(valuation: CellValues, path: str | os.PathLike[str]) -> None:
    """Write the valuation, its record and the table's entries to a Parquet file.

    The file is a tidy table (``row``, ``column``, ``value``, ``stderr``, ``content``, ``label``;
    ``line`` beside the row where a file was read) that any Parquet reader opens. It appears whole
    or not at all.

    Parameters
    ----------
    path : path-like
    """
    n, m = valuation.shape
    columns: dict[str, Any] = {
        "value": valuation.values.ravel().astype(np.float64, copy=False),
        "stderr": valuation.stderr.ravel().astype(np.float64, copy=False),
    }
    if valuation._contents is not None:
        by_row = [text for line in zip(*valuation._contents, strict=True) for text in line]
        columns["content"] = pa.array(by_row, pa.string())
    if valuation._labels is not None:
        columns["label"] = pa.array(valuation._labels, pa.string()).take(np.repeat(np.arange(n), m))
    held = None if valuation._table is None else valuation._table.columns
    record = {
        "valuation": FORMAT,
        "row_stderr": _none_if_exact(valuation.row_stderr),
        "column_stderr": _none_if_exact(valuation.column_stderr),
        "total_stderr": valuation.total_stderr,
        "dof": none_if_infinite(valuation.dof),
        "history": valuation.history,
        "frame": valuation._frame,
        "kinds": None if held is None else [column.kind for column in held],
        "notations": None if held is None else [column.from_text.notation for column in held],
        "info": valuation.info,
        "fragments": None if valuation._fragments is None else valuation._fragments.to_record(),
    }
    write_sealed(path, _KEY, record, valuation, valuation.column_names, columns)


def read_valuation(path: str | os.PathLike[str], made_of: type[_Values]) -> _Values:
    """The valuation that a file holds, of the class ``made_of``."""

    def make(record: dict[str, Any], cells: SealedCells) -> _Values:
        if (number := record.get("valuation")) != FORMAT:
            raise InputError(
                f"{path} has values in format {number or 1}, and this version reads {FORMAT}: "
                f"read it with shapley2d {_version(record)}, which wrote it, or value the table "
                "again"
            )
        check_form(record, _RECORD)
        values = made_of(**_fields(record, cells))
        _check_told(values)
        return values

    found: _Values = read_sealed(path, _KEY, "a valuation", make)
    return found


def _version(record: dict[str, Any]) -> str:
    check_form(record, {"info": dict})
    return str(RunFacts.of(record["info"]).versions.get("shapley2d", "of that time"))[:20]


def _fields(record: dict[str, Any], cells: SealedCells) -> dict[str, Any]:
    """Its fields; a ValueError says in a phrase what does not fit."""
    n, m = cells.shape
    values, stderr = cells.numbers("value"), cells.numbers("stderr")
    if record["frame"] not in FRAME_KINDS:
        raise ValueError("its kind of frame is not known")
    if not np.isfinite(values).all():
        raise ValueError("some of its values are not numbers")
    if not (stderr >= 0).all():
        raise ValueError("some of its standard errors are below 0 or not numbers")
    return {
        "values": values,
        "stderr": stderr,
        "row_names": cells.row_names,
        "column_names": cells.column_names,
        "row_stderr": numbers_of(record["row_stderr"] or [0.0] * n, n),
        "column_stderr": numbers_of(record["column_stderr"] or [0.0] * m, m),
        "total_stderr": float(record["total_stderr"]),
        "dof": math.inf if record["dof"] is None else float(record["dof"]),
        "history": history_pairs(record["history"]),
        "info": record["info"],
        "_frame": record["frame"],
        "_table": _table(record, cells),
        "_target": cells.texts("label")[:, 0] if cells.has("label") else None,
        "_fragments": _contributors(record, n),
    }


def _check_told(values: CellValues) -> None:
    """Say all that a result says: a record that somebody forged fails here, not in a report."""
    score = values._run.score
    if score is not None and not (0 < score.factor < math.inf and math.isfinite(score.shift)):
        raise ValueError("its score has no scale")
    Facts.of(values), known_facts(values.info), settings_words(values.info)


def _table(record: dict[str, Any], cells: SealedCells) -> Table | None:
    """The typed columns, from their entries as text."""
    kinds, notations = record["kinds"], record["notations"] or []
    if kinds is None or not cells.has("content"):
        return None
    n, m = cells.shape
    if not len(kinds) == len(notations) == m or not {*kinds} <= {*get_args(Kind)}:
        raise ValueError("its kinds of columns do not fit")
    texts = cells.texts("content")
    columns = tuple(
        _stored_column(texts[:, j].tolist(), cells.column_names[j], kinds[j], notations[j])
        for j in range(m)
    )
    return Table(columns, np.arange(n), texts, cells.lines)


def _stored_column(texts: list[str | None], key: str, kind: Kind, notation: str) -> Column:
    """A column from its entries as text, of the kind and in the notation that it had."""
    if kind == "category":
        return as_category(texts, key)
    asked = None if kind == "boolean" else kind
    return text_column(as_texts(texts), key, kind=asked, notation=notation)


def _contributors(record: dict[str, Any], n: int) -> Any:
    """What a valuation of fragments knows besides; its room lies above this one."""
    if record.get("fragments") is None:
        return None
    home = import_module("shapley2d._fragments.facts")
    return home.Fragments.of_record(record["fragments"], n)


def _none_if_exact(errors: Floats) -> list[float] | None:
    return errors.tolist() if errors.any() else None
