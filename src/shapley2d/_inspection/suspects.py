"""The cells most likely wrong: which slip would explain the entry, and what was meant then."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import MOST_SUSPECTS, SLIP_RANGE, SUSPECT_CHANCE, SUSPECT_SHARE
from shapley2d._inspection.slips import meant_numbers, struck_beside, swapped_or_doubled
from shapley2d._inspection.spellings import misspellings
from shapley2d._tables.table import Column

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.findings import Expected


def explain_suspects(
    columns: Sequence[Column], expected: Sequence[Expected], probability: NDArray[np.float64]
) -> tuple[dict[tuple[int, int], str], tuple[Expected, ...]]:
    """What else is known of the entries most likely wrong, in words, and what is expected in view of it."""
    words: dict[tuple[int, int], str] = {}
    entries = [one.entries.copy() for one in expected]
    spelt = [_Spellings(column) for column in columns]
    for i, j in _most_likely(probability):
        column, one = columns[j], expected[j]
        entry = float(column.entries[i])
        if np.isnan(entry):
            continue
        is_category = column.kind == "category"
        found = spelt[j].meant(int(entry), one, i) if is_category else _slip(column, entry, one, i)
        if found is not None:
            entries[j][i], words[i, j] = found
    return words, tuple(
        replace(one, entries=new) for one, new in zip(expected, entries, strict=True)
    )


def _most_likely(probability: NDArray[np.float64]) -> list[tuple[int, int]]:
    """The cells to look at: those of a fair chance of being wrong, and a share of all; the likeliest first."""
    flat = probability.ravel()
    wanted = max(int((flat >= SUSPECT_CHANCE).sum()), int(np.ceil(SUSPECT_SHARE * flat.size)))
    order = np.argsort(-flat, kind="stable")[: min(wanted, MOST_SUSPECTS)]
    return [(int(k // probability.shape[1]), int(k % probability.shape[1])) for k in order]


def _slip(column: Column, entry: float, expected: Expected, i: int) -> tuple[float, str] | None:
    """What was meant, if one slip from it leads to this entry and it lies where an entry is expected."""
    if expected.low is None or expected.high is None:
        return None
    low, high, middle = float(expected.low[i]), float(expected.high[i]), float(expected.entries[i])
    # within a wide range some slip always ends: it tells something where the entry is far outside a
    # narrow one
    if low <= entry <= high or np.isnan(middle) or high - low > SLIP_RANGE * abs(entry - middle):
        return None
    is_date = column.kind == "date"
    whole = not is_date and float(entry).is_integer() and float(middle).is_integer()
    best: tuple[str, float] | None = None
    for slip, meant in _meant_dates(entry) if is_date else meant_numbers(entry):
        fits = low <= meant <= high and meant != entry and (not whole or meant.is_integer())
        if fits and (
            best is None or (slip == best[0] and abs(meant - middle) < abs(best[1] - middle))
        ):
            best = slip, meant
    if best is None:
        return None
    typed, meant_text = Column(column.name, column.kind, np.array([entry, best[1]])).text()
    return best[1], f"{best[0]}: {typed} for {meant_text}"


def _meant_dates(entry: float) -> Iterator[tuple[str, float]]:
    """Days of which day and month, or two digits, were swapped, or a key beside the right one struck."""
    day = np.datetime64(int(np.floor(entry)), "D")
    text, rest = str(day), entry - np.floor(entry)
    year, month, of_month = text[:-6], text[-5:-3], text[-2:]
    beside = (("a neighbouring key", meant) for meant in struck_beside(text))
    for slip, meant in (
        ("day and month swapped", f"{year}-{of_month}-{month}"),
        *swapped_or_doubled(text),
        *beside,
    ):
        try:
            days = np.datetime64(meant, "D").astype(np.int64)
        except ValueError:
            continue
        yield slip, float(days) + rest


class _Spellings:
    """The rare spellings of a column of categories."""

    def __init__(self, column: Column) -> None:
        self._words = column.categories if column.kind == "category" else ()
        present = (
            column.entries[~np.isnan(column.entries)].astype(np.int64)
            if self._words
            else np.array([], int)
        )
        self._counts = np.bincount(present, minlength=len(self._words))
        self._near = misspellings(self._words, self._counts)

    def meant(self, code: int, expected: Expected, i: int) -> tuple[float, str] | None:
        """The spelling that was meant: of those one edit away the likeliest in row i, else the most frequent."""
        near = self._near.get(code)
        if not near:
            return None
        likely = [] if expected.alternatives is None else expected.alternatives[i].tolist()
        meant = next((one for one in likely if one in near), near[0])
        right = f"{self._counts[meant]:,} x {self._words[meant]!r}"
        return float(meant), f"a rare spelling: {self._words[code]!r}, {right}"
