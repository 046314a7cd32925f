"""Everything that the page's script reads: a JSON record and three packed sections."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page_data import brief, pack, script_json
from shapley2d._valuation.report.quantise import codes_of, quantise, quantise_errors
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
    values, known = valuation.values[kept], valuation._errors_known
    planes, scales = quantise(values)
    row_planes, row_scales = quantise(valuation.row_values[kept, None])
    sections, largest, exact = [planes, row_planes], [0.0, 0.0], valuation.exact or not known
    for k, errors in enumerate((valuation.stderr, valuation.row_stderr[:, None])):
        if not exact:
            codes, largest[k] = quantise_errors(errors[kept])
            sections.append(codes)
    entries, texts = _entries(valuation, kept)
    units = valuation._units
    shown = {"cells": units.cells, "rows": units.rows, "points": units.points}
    run = valuation._run
    has_shares = run.score is not None and run.sums_to_score and valuation.total > 0
    position = np.full(len(valuation), -1, dtype=np.intp)
    position[kept] = np.arange(kept.size)
    record = {
        "n": int(kept.size),
        "nRows": len(valuation),
        "m": valuation.shape[1],
        "rowWord": valuation._row_word,
        "columnNames": [brief(name) for name in valuation.column_names],
        "columns": valuation.column_values.tolist(),
        "columnErrors": (valuation.column_stderr if known else 0 * values[0]).tolist(),
        "typical": list(typical),
        "exact": exact,
        "scales": scales,
        "rowScale": row_scales[0],
        "largestError": largest[0],
        "largestRowError": largest[1],
        "intervalFactor": valuation._interval_factor,
        "limit": colour_limit(values),
        "units": {name: vars(unit) for name, unit in shown.items()},
        "scored": run.score is not None,
        "total": valuation.total if has_shares else None,
        "widths": [width for _, width in entries],
        "lowest": [
            [int(position[i]), j, valuation.values[i, j], valuation.stderr[i, j] if known else 0]
            for i, j in (divmod(at, valuation.shape[1]) for at in lowest.tolist())
            if position[i] >= 0
        ],
        "marked": np.flatnonzero(marked[kept]).tolist(),
        "history": convergence(valuation),
        "tolerance": run.tolerance or run.settings.get("tolerance") or None,
        "nouns": valuation._nouns,
    }
    return {
        "record": script_json(record),
        "numbers": pack(b"".join(sections)),
        "entries": pack(b"".join(codes for codes, _ in entries)),
        "texts": pack(json.dumps(texts, separators=(",", ":")).encode()),
    }


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


def _entries(valuation: CellValues, kept: Ints) -> tuple[list[tuple[bytes, int]], dict[str, Any]]:
    """Codes of entries and labels with their widths, and the texts behind them."""
    codes: list[tuple[bytes, int]] = []
    levels: list[list[str | None]] = []
    columns: list[list[str | None]] = [*(valuation._contents or [])]
    if valuation._labels is not None:
        columns.append([*valuation._labels])
    for column in columns:
        texts = [column[i] for i in kept.tolist()]
        distinct = sorted_labels(set(texts))
        codes.append(codes_of(texts, distinct))
        levels.append([brief(text) for text in distinct])
    names = valuation._shown_rows[kept].tolist()
    return codes, {
        "rowNames": None if names == [*range(len(names))] else [brief(str(name)) for name in names],
        "labels": None if valuation._labels is None else levels.pop(),
        "levels": levels,
    }


def sorted_labels(labels: set[str | None]) -> list[str | None]:
    """Labels in numeric order where all are numbers, else in alphabetic order; None comes last.

    >>> sorted_labels({"10", None, "9"})
    ['9', '10', None]
    """
    texts, gone = labels - {None}, [None] * (None in labels)
    try:
        return [*sorted(texts, key=lambda text: float(text or 0)), *gone]
    except ValueError:
        return [*sorted(texts, key=str), *gone]
