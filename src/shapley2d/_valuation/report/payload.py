"""Everything that the page's script reads: a JSON record and three packed sections."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page_data import brief, codes_of, pack, quantise, quantise_errors, script_json
from shapley2d._base.words import power_of_ten, typeset
from shapley2d._valuation.plots import colour_limit, tolerance_of
from shapley2d._valuation.wording.units import Unit, Units, sums_to_score
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._valuation.values import CellValues


def make_payload(
    valuation: CellValues,
    *,
    marked: Bools,
    lowest: Ints,
    typical: Sequence[str],
    max_cells: int,
) -> dict[str, str]:
    """A valuation as the page's data: a JSON record, and packed numbers, entries and texts.

    ``lowest`` has flat positions of the cells to list, worst first. With more cells than
    ``max_cells`` only the rows with the most extreme cells are shown one by one.
    """
    m = valuation.shape[1]
    kept = rows_to_show(valuation.values, max_cells)
    values, stderr = valuation.values[kept], valuation.stderr[kept]
    planes, scales = quantise(values)
    row_planes, row_scales = quantise(valuation.row_values[kept, None])
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
        "nRows": valuation.shape[0],
        "m": m,
        "rowWord": valuation._row_word,
        "columnNames": [brief(name) for name in valuation.column_names],
        "columns": valuation.column_values.tolist(),
        "columnErrors": valuation.column_stderr.tolist(),
        "kinds": None
        if valuation._table is None
        else [column.kind for column in valuation._table.columns],
        "typical": list(typical),
        "exact": valuation.exact,
        "scales": scales,
        "rowScale": row_scales[0],
        "largestError": largest_error,
        "largestRowError": largest_row_error,
        "intervalFactor": valuation._interval_factor,
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
        "history": valuation._convergence,
        "tolerance": tolerance_of(valuation),
        "nouns": valuation._nouns,
    }
    return {
        "record": script_json(record),
        "numbers": pack(b"".join(sections)),
        "entries": pack(b"".join(entries)),
        "texts": pack(json.dumps(texts, separators=(",", ":")).encode()),
    }


def page_units(valuation: CellValues, limit: float) -> dict[str, Any]:
    """What the page shows cells, rows and columns in, and the sum that shares are taken of.

    ``limit`` is the value at the ends of the colour scale: of values that are not in points, a
    power of ten brings it between 1 and 1000, one for all values of the page.
    """
    units, exponent = Units.of(valuation), 0
    scored, size = units.score is not None, limit * units.points.factor
    if not units.points.words and size > 0 and (size < 0.1 or size >= 1e4):
        exponent = 3 * math.floor(math.log10(size) / 3)
    cells, columns = _unit(units.cells, exponent), _unit(units.points)
    if not scored:
        columns = cells
    elif units.points.words:
        columns["decimals"] = units.points.decimals(valuation.column_values.tolist())
    has_shares = scored and sums_to_score(valuation) and valuation.total > 0
    return {
        "unit": cells,
        "rowUnit": _unit(units.rows) if scored else columns,
        "columnUnit": columns,
        "total": valuation.total if has_shares else None,
    }


def _unit(unit: Unit, exponent: int = 0) -> dict[str, Any]:
    """A unit for the page: its factor, its heading in a list, and what goes behind a number."""
    words = typeset(f" {unit.words}").strip()
    if not exponent:
        behind = words and f" {words}"
        return {"factor": unit.factor, "heading": words or "value", "suffix": behind}
    power = power_of_ten(exponent)
    return {
        "factor": unit.factor * 10.0**-exponent,
        "heading": f"{power} {words}" if words else f"value in {power}",
        "suffix": f" \N{MULTIPLICATION SIGN} {power} {words}".rstrip(),
    }


def rows_to_show(values: Floats, max_cells: int) -> Ints:
    """Positions of all rows, or of those with the most extreme cells where there are too many."""
    n, m = values.shape
    if n * m <= max_cells:
        return np.arange(n)
    extremes = np.abs(values).max(axis=1)
    return np.sort(np.argsort(-extremes, kind="stable")[: max(1, max_cells // m)])


def without_errors(valuation: CellValues) -> CellValues:
    """The valuation with errors of 0, for a page that shows none."""
    n, m = valuation.shape
    return replace(
        valuation, stderr=np.zeros((n, m)), row_stderr=np.zeros(n), column_stderr=np.zeros(m),
        total_stderr=0.0,
    )  # fmt: skip


def as_marked(marked: Any, shape: tuple[int, int]) -> Bools:
    """Marked cells as a boolean matrix, from one or from positions (row, column)."""
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
    valuation: CellValues, kept: Ints
) -> tuple[list[bytes], dict[str, Any], list[int], int]:
    """Codes of entries and labels, the texts behind them, and the widths of the codes."""
    codes: list[bytes] = []
    widths: list[int] = []
    levels: list[list[str | None]] = []
    rows = kept.tolist()
    for column in valuation._contents or []:
        texts = [column[i] for i in rows]
        distinct = sorted(set(texts), key=lambda text: (text is None, text or ""))
        part, width = codes_of(texts, distinct)
        codes.append(part)
        widths.append(width)
        levels.append([brief(text) for text in distinct])
    label_width, label_levels = 0, None
    if valuation._labels is not None:
        labels = [valuation._labels[i] for i in rows]
        distinct_labels = sorted_labels(set(labels))
        part, label_width = codes_of(labels, distinct_labels)
        codes.append(part)
        label_levels = [brief(label) for label in distinct_labels]
    names = valuation._shown_rows[kept]
    positions = np.issubdtype(names.dtype, np.integer) and np.array_equal(
        names, np.arange(names.size)
    )
    behind = {
        "rowNames": None if positions else [brief(str(name)) for name in names.tolist()],
        "levels": levels,
        "labels": label_levels,
    }
    return codes, behind, widths, label_width


def sorted_labels(labels: set[str]) -> list[str]:
    """Labels in numeric order where all are numbers, else in alphabetic order.

    >>> sorted_labels({"10", "9"})
    ['9', '10']
    """
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)
