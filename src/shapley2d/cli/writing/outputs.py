"""Files that a command writes: checked before the work starts, whole or not at all."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from shapley2d._results.valuation import Valuation

_VALUES = (".parquet", ".pq", ".csv")
_FORMULA = re.compile(
    r"[\t\r\n]|[\s\x00-\x20\x7f\ufeff\u200b]*[=@+\-\uff1d\uff20\uff0b\uff0d]"
)  # full-width signs too


def check_outputs(values: Path | None, report: Path | None, inputs: Sequence[str]) -> None:
    """Refuse files that could not be written after the work."""
    if values is not None:
        if values.suffix.lower() not in _VALUES:
            raise InputError(f"--output {values}: the name must end in .parquet or .csv")
        _check_place(values, "--output", inputs)
    if report is not None:
        check_report_path(report, inputs)


def check_report_path(path: Path, inputs: Sequence[str], option: str = "--report") -> None:
    """Refuse a file for a report that could not be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{option} {path}: the name must end in .html")
    _check_place(path, option, inputs)


def _check_place(path: Path, option: str, inputs: Sequence[str]) -> None:
    if not path.parent.is_dir():
        raise InputError(f"{option} {path}: the folder {path.parent} does not exist: make it first")
    if path.is_dir():
        raise InputError(f"{option} {path} is a folder: name a file in it")
    if not os.access(path.parent, os.W_OK):
        raise InputError(f"{option} {path}: the folder {path.parent} cannot be written to: choose another")
    if any(_same(path, other) for other in inputs):
        raise InputError(f"{option} {path} would overwrite an input: choose another name")


def _same(path: Path, other: str) -> bool:
    return path.exists() and os.path.exists(other) and os.path.samefile(path, other)  # noqa: PTH110, PTH121


def write_values(valuation: Valuation, path: Path) -> None:
    """Write all values, as the file's name asks: Parquet with the record of the run, or a tidy CSV."""
    if path.suffix.lower() != ".csv":
        with _writing(path):
            valuation.save(path)
        return
    import pyarrow as pa

    frame = valuation.to_frame()
    table = (
        frame if isinstance(frame, pa.Table) else pa.table({key: list(frame[key]) for key in frame.columns})
    )
    columns = [_harmless(table[key]) for key in table.column_names]
    write_csv(pa.table(columns, names=table.column_names), path)


def write_csv(table: Any, path: Path) -> None:
    """Write a pyarrow table as CSV."""
    import pyarrow as pa
    from pyarrow import csv

    stream = (
        pa.BufferOutputStream()
    )  # written to a file at once, pyarrow would not notice that the disk is full
    csv.write_csv(table, stream)
    with _writing(path), atomic_write(path) as temporary:
        temporary.write_bytes(stream.getvalue())


def _harmless(column: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with a quote before it."""
    import pyarrow as pa

    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pa.array([f"'{text}" if text and _FORMULA.match(text) else text for text in column.to_pylist()])


def write_html(valuation: Valuation, path: Path, **options: Any) -> None:
    """Write the report."""
    from shapley2d._results.report import write_report

    with _writing(path):
        write_report(valuation, path, **options)


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Name the file in what goes wrong."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
