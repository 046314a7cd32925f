"""Records of numbers as the experiments write and read them: plain CSV files."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.atomic_write import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

Row = dict[str, Any]
"""One record: text, numbers or None by column."""

_DIGITS = 6


class Records:
    """Records with named columns, read-only.

    Parameters
    ----------
    rows : sequence of dict
        A column that a record lacks is None there.

    Examples
    --------
    >>> knn = {"method": "knn"}
    >>> records = Records([{**knn, "seed": 0, "found": 0.9}, {**knn, "seed": 1, "found": 0.7}])
    >>> round(records.where(method="knn").mean("found"), 2), records.distinct("seed")
    (0.8, [0, 1])
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    @property
    def names(self) -> list[str]:
        """The columns, in the order in which they first occur."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def where(self, test: Callable[[Row], bool] | None = None, /, **equal: Any) -> Records:
        """The records that pass a test and have these entries."""
        return Records(
            [
                row
                for row in self.rows
                if all(row.get(name) == value for name, value in equal.items())
                and (test is None or test(row))
            ]
        )

    def distinct(self, name: str) -> list[Any]:
        """The entries of a column, each once, in order of appearance."""
        return list(dict.fromkeys(row.get(name) for row in self.rows))

    def numbers(self, name: str) -> NDArray[np.float64]:
        """A column as numbers, NaN where there is none."""
        entries = [row.get(name) for row in self.rows]
        return np.array([np.nan if entry is None else entry for entry in entries], dtype=np.float64)

    def mean(self, name: str) -> float:
        """The mean of a column; NaN without records."""
        return float(np.mean(self.numbers(name))) if self.rows else float("nan")

    def spread(self, name: str) -> float:
        """The standard deviation of a column over its records; 0 for a single one."""
        return float(np.std(self.numbers(name), ddof=1)) if len(self.rows) > 1 else 0.0

    def groups(self, *names: str) -> Iterator[tuple[tuple[Any, ...], Records]]:
        """Records by the entries of some columns, in order of appearance."""
        parts: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.rows:
            parts.setdefault(tuple(row.get(name) for name in names), []).append(row)
        for key, rows in parts.items():
            yield key, Records(rows)


def write_records(records: Records, path: Path) -> None:
    """Write records as CSV, numbers to six significant digits, None as an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, records.names, lineterminator="\n")
    writer.writeheader()
    for row in records:
        writer.writerow({name: _written(value) for name, value in row.items()})
    with atomic_write(path) as temporary:
        temporary.write_text(text.getvalue(), encoding="utf-8")


def read_records(path: Path) -> Records:
    """Read what :func:`write_records` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return Records(
            [{name: _read(text) for name, text in row.items()} for row in csv.DictReader(file)]
        )


def _written(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return "" if np.isnan(value) else f"{float(value):.{_DIGITS}g}"
    return str(value)


def _read(text: str | None) -> Any:
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
