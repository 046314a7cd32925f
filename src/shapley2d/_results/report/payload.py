"""Everything that the page's script reads: a JSON record and three packed sections."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._results.plots import colour_limit, tolerance_of
from shapley2d._results.report.encode import (
    codes_of,
    pack,
    quantise,
    quantise_errors,
    script_json,
    shorten,
)
from shapley2d._results.units import Unit, Units, sums_to_score, typeset
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._results.valuation import Valuation


@dataclass(frozen=True)
class Payload:
    """What goes into the page's data elements.

    Attributes
    ----------
    record : str
        JSON: sizes, names, sums, the lowest cells, scales.
    numbers, entries, texts : str
        Packed: values and errors; codes of the entries and labels; the texts behind the codes.
    """

    record: str
    numbers: str
    entries: str
    texts: str


_LEAST_POINTS = 1e-3  # at the ends of the colour scale; smaller ones have a power of ten


def make_payload(
    valuation: Valuation,
    *,
    marked: NDArray[np.bool_],
    lowest: NDArray[np.intp],
    typical: Sequence[str],
    max_cells: int,
    owners: Sequence[tuple[int, int, str]] = (),
) -> Payload:
    """Encode a valuation for the page.

    Parameters
    ----------
    valuation : Valuation
    marked : ndarray of bool of shape (n, m)
    lowest : ndarray of int
        Flat positions of the cells to list, worst first.
    typical : sequence of str
        What is typical in each column.
    max_cells : int
        With more cells than this, only the rows with the most extreme cells are shown one by one.
    owners : sequence of (int, int, str)
        Blocks by position, and the names of their owners.
    """
    m = valuation.shape[1]
    kept = rows_to_show(valuation.values, max_cells)
    values, stderr = valuation.values[kept], valuation.stderr[kept]
    planes, scales = quantise(values)
    row_planes, row_scales = quantise(valuation.rows[kept, None])
    sections = [planes, row_planes]
    largest_error = largest_row_error = 0.0
    if not valuation.exact:
        errors, largest_error = quantise_errors(stderr)
        row_errors, largest_row_error = quantise_errors(valuation.row_stderr[kept, None])
        sections += [errors, row_errors]
    entries, texts, widths, label_width = _entries(valuation, kept)
    limit = colour_limit(values)
    position = np.full(valuation.shape[0], -1, dtype=np.intp)
    position[kept] = np.arange(kept.size)
    record = {
        "n": int(kept.size),
        "m": m,
        "rowWord": valuation.row_word,
        "columnNames": [shorten(name) for name in valuation.column_names],
        "columns": valuation.column_values.tolist(),
        "columnErrors": valuation.column_stderr.tolist(),
        "kinds": None
        if valuation.table is None
        else [column.kind for column in valuation.table.columns],
        "typical": list(typical),
        "exact": valuation.exact,
        "scales": scales,
        "rowScale": row_scales[0],
        "largestError": largest_error,
        "largestRowError": largest_row_error,
        "intervalFactor": valuation.interval_factor,
        "limit": limit,
        **page_units(valuation, limit),
        "widths": widths,
        "labelWidth": label_width,
        "lowest": [
            [int(position[i]), int(j), float(valuation.values[i, j]), float(valuation.stderr[i, j])]
            for i, j in zip(*np.unravel_index(lowest, valuation.shape), strict=True)
            if position[i] >= 0
        ],
        "marked": np.flatnonzero(marked[kept]).tolist(),
        "history": [
            [count, ratio] for count, ratio in valuation.history if count > 0 and 0 < ratio < np.inf
        ],
        "tolerance": tolerance_of(valuation),
        "blocks": valuation.kind == "blocks",
        "owners": [list(block) for block in owners],
    }
    return Payload(
        record=script_json(record),
        numbers=pack(b"".join(sections)),
        entries=pack(b"".join(entries)),
        texts=pack(json.dumps(texts, separators=(",", ":")).encode()),
    )


def page_units(valuation: Valuation, limit: float) -> dict[str, Any]:
    """What the page shows cells, rows and columns in, and the sum that shares are taken of.

    ``limit`` is the value at the ends of the colour scale: where values are not counted by the
    average, a power of ten brings it between 1 and 1000, one for all values of the page that are
    not in points; points need one only where they are tiny.
    """
    units = Units.of(valuation)
    total = valuation.total if sums_to_score(valuation) and valuation.total > 0 else None
    if units.average is not None:
        return {
            "unit": _unit(units.cells),
            "rowUnit": _unit(units.rows),
            "columnUnit": _unit(units.columns),
            "points": _unit(units.points),
            "total": total,
        }
    size = limit * units.points.factor
    least = 0.1 if units.score is None else _LEAST_POINTS
    small = size > 0 and (size < least or size >= 1e4)
    exponent = 3 * math.floor(math.log10(size) / 3) if small else 0
    cells = _unit(units.points, exponent)
    columns = cells if units.score is None else _unit(units.points)
    return {
        "unit": cells,
        "rowUnit": columns,
        "columnUnit": columns,
        "points": None,
        "total": total if units.score is not None else None,
    }


def _unit(unit: Unit, exponent: int = 0) -> dict[str, Any]:
    """A unit for the page: its factor, its heading in a list, and what goes behind a number."""
    words = typeset(f" {unit.words}").strip()
    if not exponent:
        behind = words and f" {words}"
        return {"factor": unit.factor, "heading": words or "value", "suffix": behind}
    power = "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return {
        "factor": unit.factor * 10.0**-exponent,
        "heading": f"{power} {words}" if words else f"value in {power}",
        "suffix": f" \N{MULTIPLICATION SIGN} {power} {words}".rstrip(),
    }


def rows_to_show(values: NDArray[np.float64], max_cells: int) -> NDArray[np.intp]:
    """Positions of all rows, or of those with the most extreme cells where there are too many.

    Examples
    --------
    >>> import numpy as np
    >>> rows_to_show(np.array([[1.0], [-3.0], [2.0]]), 2).tolist()
    [1, 2]
    """
    n, m = values.shape
    if n * m <= max_cells:
        return np.arange(n)
    extremes = np.abs(values).max(axis=1)
    return np.sort(np.argsort(-extremes, kind="stable")[: max(1, max_cells // m)])


def errors_known(valuation: Valuation) -> bool:
    """Whether every standard error is a number; a single draw has no known error."""
    errors = (valuation.stderr, valuation.row_stderr, valuation.column_stderr)
    return all(bool(np.isfinite(part).all()) for part in errors)


def without_errors(valuation: Valuation) -> Valuation:
    """The valuation with errors of 0, for a page that shows none."""
    n, m = valuation.shape
    return replace(
        valuation, stderr=np.zeros((n, m)), row_stderr=np.zeros(n), column_stderr=np.zeros(m)
    )


def as_marked(marked: Any, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Marked cells as a boolean matrix, from one or from positions (row, column).

    Examples
    --------
    >>> as_marked([(0, 1)], (1, 2)).tolist()
    [[False, True]]
    """
    mask = np.zeros(shape, dtype=bool)
    if marked is None or not len(marked):
        return mask
    given = np.asarray(marked)
    if given.dtype == bool:
        if given.shape != shape:
            raise InputError(f"marked has the shape {given.shape}, but the values have {shape}")
        return given
    positions = given.astype(np.intp) if given.ndim == 2 and given.shape[1] == 2 else None
    if positions is None or (positions < 0).any() or (positions >= shape).any():
        raise InputError(
            f"marked must be a boolean array of shape {shape} or positions (row, column) within it"
        )
    mask[positions[:, 0], positions[:, 1]] = True
    return mask


def _entries(
    valuation: Valuation, kept: NDArray[np.intp]
) -> tuple[list[bytes], dict[str, Any], list[int], int]:
    """Codes of entries and labels, the texts behind them, and the widths of the codes."""
    codes: list[bytes] = []
    widths: list[int] = []
    levels: list[list[str | None]] = []
    rows = kept.tolist()
    for column in valuation.contents or []:
        texts = [column[i] for i in rows]
        distinct = sorted(set(texts), key=lambda text: (text is None, text or ""))
        part, width = codes_of(texts, distinct)
        codes.append(part)
        widths.append(width)
        levels.append([shorten(text) for text in distinct])
    label_width, label_levels = 0, None
    if valuation.labels is not None:
        labels = [valuation.labels[i] for i in rows]
        distinct_labels = sorted_labels(set(labels))
        part, label_width = codes_of(labels, distinct_labels)
        codes.append(part)
        label_levels = [shorten(label) for label in distinct_labels]
    names = valuation.shown_rows[kept]
    positions = np.issubdtype(names.dtype, np.integer) and np.array_equal(
        names, np.arange(names.size)
    )
    behind = {
        "rowNames": None if positions else [shorten(str(name)) for name in names.tolist()],
        "levels": levels,
        "labels": label_levels,
    }
    return codes, behind, widths, label_width


def sorted_labels(labels: set[str]) -> list[str]:
    """Labels in numeric order where all are numbers, else in alphabetic order.

    Examples
    --------
    >>> sorted_labels({"10", "9"})
    ['9', '10']
    """
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)
