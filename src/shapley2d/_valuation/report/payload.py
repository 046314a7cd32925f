"""Everything that the page's script reads: a JSON record and three packed sections.

Values travel as int16 with a scale per column, errors as one byte on a logarithmic scale (within 3
%). The rows' own values come as one more column, their labels as one more column of entries. Exact
values stay in the saved valuation.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page_data import brief, pack, script_json
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._valuation.values import CellValues


def make_payload(
    valuation: CellValues, *, marked: Bools, lowest: Ints, typical: Sequence[str], kept: Ints
) -> dict[str, str]:
    """A valuation as the page's data: a JSON record, and packed numbers, entries and texts.

    ``lowest`` has flat positions of the cells to list, worst first; ``kept`` are the rows that are
    shown one by one. Errors that are not known are not shown.
    """
    run, units, m = valuation._run, valuation._units, valuation.shape[1]
    known, error_scales = valuation._errors_known, list[float]()
    numbers, scales = quantise(_with_sums(valuation.values, valuation.row_values, kept))
    if known and not valuation.exact:
        errors = _with_sums(valuation.stderr, valuation.row_stderr, kept)
        codes, error_scales = quantise_errors(errors)
        numbers += codes
    entries, widths, levels = _entries(valuation, kept)
    names = valuation._shown_rows[kept].tolist()
    position = {i: k for k, i in enumerate(kept.tolist())}
    has_shares = run.score is not None and run.sums_to_score and valuation.total > 0
    record = {
        "n": int(kept.size),
        "nRows": len(valuation),
        "m": m,
        "rowWord": valuation._row_word,
        "columnNames": [brief(name) for name in valuation.column_names],
        "columns": valuation.column_values.tolist(),
        "columnErrors": valuation.column_stderr.tolist() if known else [0] * m,
        "typical": list(typical),
        "exact": not error_scales,
        "scales": scales,
        "errorScales": error_scales,
        "intervalFactor": valuation._interval_factor,
        "limit": colour_limit(valuation.values[kept]),
        "units": {
            "cells": vars(units.cells), "rows": vars(units.rows), "points": vars(units.points)
        },
        "scored": run.score is not None,
        "total": valuation.total if has_shares else None,
        "widths": widths,
        "labelled": valuation._labels is not None,
        "lowest": [
            [position[i], j, valuation.values[i, j], valuation.stderr[i, j] if known else 0]
            for i, j in (divmod(at, m) for at in lowest.tolist())
            if i in position
        ],
        "marked": np.flatnonzero(marked[kept]).tolist(),
        "history": convergence(valuation),
        "tolerance": run.tolerance or None,
        "nouns": valuation._nouns,
    }  # fmt: skip
    texts = {
        "rowNames": None if names == [*range(len(names))] else [brief(str(name)) for name in names],
        "levels": levels,
    }
    return {
        "record": script_json(record),
        "numbers": pack(numbers),
        "entries": pack(entries),
        "texts": pack(json.dumps(texts, separators=(",", ":")).encode()),
    }


def _with_sums(cells: Floats, rows: Floats, kept: Ints) -> Floats:
    return np.column_stack([cells[kept], rows[kept]])


def quantise(values: Floats) -> tuple[bytes, list[float]]:
    """Bytes of a matrix as int16, column after column, and the scale of each column.

    All low bytes come before all high bytes, which compress well.

    >>> import numpy as np
    >>> planes, scales = quantise(np.array([[1.0], [-0.5]]))
    >>> np.frombuffer(planes, np.uint8).tolist(), round(scales[0] * 32767, 12)
    ([255, 0, 127, 192], 1.0)
    """
    largest = np.abs(values).max(axis=0)
    scales = np.where(largest > 0, largest / 32767, 1.0)
    codes = np.round(values / scales).T.astype("<i2", order="C")
    return codes.view(np.uint8).reshape(-1, 2).T.tobytes(), scales.tolist()


def quantise_errors(errors: Floats) -> tuple[bytes, list[float]]:
    """Bytes of standard errors on a logarithmic scale, column by column, and the largest of each.

    Code 255 is the largest error, each step down is a sixteenth of an octave, 0 is no error.

    >>> import numpy as np
    >>> codes, largest = quantise_errors(np.array([[0.0], [0.5], [1.0]]))
    >>> list(codes), largest
    ([0, 239, 255], [1.0])
    """
    largest = errors.max(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.round(255 + 16 * np.log2(errors / largest))
    codes = np.where(errors > 0, steps.clip(1, 255), 0)
    return codes.astype(np.uint8).T.tobytes(), largest.tolist()


def _entries(valuation: CellValues, kept: Ints) -> tuple[bytes, list[int], list[list[str | None]]]:
    """Entries and labels, column by column: places among their levels, how wide, and the levels."""
    columns: list[list[Any]] = [*(valuation._contents or [])]
    if valuation._labels is not None:
        columns.append(valuation._labels)
    packed, widths, levels = [], [], []
    for column in columns:
        texts = [column[i] for i in kept.tolist()]
        distinct = sorted(set(texts), key=_in_order)
        place = {text: code for code, text in enumerate(distinct)}
        kind = np.min_scalar_type(len(distinct)).newbyteorder("<")
        packed.append(np.array([place[text] for text in texts], kind).tobytes())
        widths.append(kind.itemsize)
        levels.append([brief(text) for text in distinct])
    return b"".join(packed), widths, levels


def _in_order(text: str | None) -> tuple[int, float, str]:
    """The key that sorts numbers by size, before words, before what is missing.

    >>> sorted(["10", "a", None, "9"], key=_in_order)
    ['9', '10', 'a', None]
    """
    if text is None:
        return 2, 0.0, ""
    try:
        return 0, float(text), ""
    except ValueError:
        return 1, 0.0, text


def colour_limit(values: Floats) -> float:
    """End of a colour scale that a few extreme cells do not stretch.

    The 99.5 % quantile of the magnitudes above 0: a larger one lets single errors fade the rest.
    """
    magnitudes = np.abs(values[values != 0])
    return float(np.quantile(magnitudes, 0.995)) if magnitudes.size else 1.0


def convergence(valuation: CellValues) -> list[tuple[int, float]]:
    """The history, as far as a logarithmic plot can show it."""
    return [(count, ratio) for count, ratio in valuation.history if count > 0 < ratio < math.inf]


def rows_to_show(values: Floats, max_cells: int) -> Ints:
    """Positions of all rows, or of those with the most extreme cells where there are too many."""
    n, m = values.shape
    if n * m <= max_cells:
        return np.arange(n)
    extremes = np.abs(values).max(axis=1)
    return np.sort(np.argsort(-extremes, kind="stable")[: max(1, max_cells // m)])


def as_marked(marked: Any, shape: tuple[int, int]) -> Bools:
    """Marked cells as a boolean matrix, from one or from positions (row, column)."""
    mask = np.zeros(shape, dtype=bool)
    given = np.asarray([] if marked is None else marked)
    if given.dtype == bool and given.shape == shape:
        return given
    if given.dtype == bool and given.size:
        raise InputError(f"marked has the shape {given.shape}, but the values have {shape}")
    if given.size:
        pairs = given.ndim == 2 and given.shape[1] == 2
        if not pairs or (given < 0).any() or (given >= shape).any():
            raise InputError(
                f"marked must be a boolean array of shape {shape} or positions (row, column) "
                "within it"
            )
        mask[tuple(given.astype(np.intp).T)] = True
    return mask
