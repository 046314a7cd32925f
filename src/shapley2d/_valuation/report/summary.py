"""The words of the report: what was valued, how certain it is, what to look at first."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.page_data import brief
from shapley2d._base.words import counted, plural, shorten, typeset
from shapley2d._valuation.wording.certainty import certainty_sentences, certainty_tile
from shapley2d._valuation.wording.sentences import (
    about,
    harm_words,
    measured_words,
    rare_words,
    score_meaning,
    score_tiles,
    score_words,
    worth_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._valuation.values import CellValues


def summarise(
    valuation: CellValues, *, lowest: Ints, typical: Sequence[str], marked: Bools, n_shown: int
) -> dict[str, Any]:
    """The words and figures at the head of the report."""
    n, m = valuation.shape
    cells, rows, columns = valuation._nouns
    kept = f"The map shows the {n_shown:,} rows with the most extreme cells, of {n:,}."
    size = typeset(f"{n:,} x {m:,}"), typeset(f"{rows[1]} x {columns[1]} valued")
    strays = [
        {**_place(valuation, i, j), "entry": shorten(text, 80), "kind": kind}
        for i, j, text, kind in valuation._strays[:6]
    ]
    return {
        "noun": cells[0],
        "row": rows[0],
        "rows": rows[1],
        "column": columns[0],
        "columns": columns[1],
        "valued": f"{counted(n * m, *cells)}, {counted(n, *rows)} by {counted(m, *columns)}",
        "meaning": about(valuation).get("meaning") or "what it adds to the performance",
        "score": " ".join(
            filter(None, (typeset(score_words(valuation)), score_meaning(valuation)))
        ),
        "remark": rare_words(valuation),
        "measured": measured_words(valuation.info),
        "certainty": typeset(" ".join(certainty_sentences(valuation))),
        "harmful": harm_words(valuation),
        "kept": kept if n_shown < n else "",
        "marked": _marked(marked, lowest, cells[0]),
        "n_strays": len(valuation._strays),
        "strays": strays,
        "findings": [_finding(valuation, int(flat), typical) for flat in lowest[:3]],
        "tiles": [*score_tiles(valuation), size, certainty_tile(valuation)],
    }


def _marked(marked: Bools, lowest: Ints, noun: str) -> str:
    total = int(marked.sum())
    if not total:
        return ""
    first = lowest[:total]
    hits, listed = (int(marked.ravel()[places].sum()) for places in (first, lowest))
    return (
        f"Of {counted(total, f'marked {noun}')}, {hits:,} {plural(hits, 'ranks', 'rank')} among "
        f"the {first.size:,} most harmful, {listed:,} among the {lowest.size:,} listed below."
    )


def _place(valuation: CellValues, i: int, j: int) -> dict[str, str | None]:
    """Row, column and label of a cell, none of them too long."""
    return {
        "row": shorten(str(valuation._shown_rows[i]), 60),
        "column": shorten(valuation.column_names[j], 60),
        "label": brief(valuation._label(i), 60),
    }


def _finding(valuation: CellValues, flat: int, typical: Sequence[str]) -> dict[str, Any]:
    i, j = divmod(flat, valuation.shape[1])
    value, error = float(valuation.values[i, j]), float(valuation.stderr[i, j])
    reach = valuation._interval_factor * error if error < np.inf else 0.0
    return {
        **_place(valuation, i, j),
        "entry": brief(valuation._entry(i, j), 80),
        "known": valuation._table is not None,
        "value": typeset(worth_words(valuation, value, reach)),
        "typical": typical[j],
    }


def typical_entries(valuation: CellValues) -> list[str]:
    """What is typical in each column, in a phrase; empty where there are no entries."""
    if valuation._table is None or valuation._contents is None:
        return [""] * valuation.shape[1]
    phrases = []
    for column, texts in zip(valuation._table.columns, valuation._contents, strict=True):
        numeric = column.kind in ("number", "date") and np.isfinite(column.entries).any()
        phrases.append(
            typical_numbers(column.entries, dates=column.kind == "date")
            if numeric
            else typical_texts(texts)
        )
    return phrases


def typical_numbers(numbers: Floats, *, dates: bool = False) -> str:
    """The median and the middle nine tenths."""
    known = numbers[np.isfinite(numbers)]
    low, median, high = (
        _typical_number(q, dates=dates) for q in np.quantile(known, [0.05, 0.5, 0.95])
    )
    spread = (
        f"always {median}"
        if known.min() == known.max()
        else f"median {median}, mostly {low} to {high}"
    )
    return spread + _missing(numbers.size - known.size, numbers.size)


def typical_texts(texts: Sequence[str | None], most: int = 3) -> str:
    """The most common entries with their shares."""
    counts = Counter(text for text in texts if text is not None)
    top = counts.most_common(most)
    if len(texts) > 1 and top and top[0][1] == 1:
        phrase = (
            "all different" if len(counts) == len(texts) else f"{len(counts)} different entries"
        )
    else:
        phrase = ", ".join(
            f"{shorten(text, 40)} {_percent(count, len(texts))}" for text, count in top
        )
        if len(counts) > most:
            phrase += f", {len(counts) - most} more"
    return (phrase + _missing(len(texts) - counts.total(), len(texts))).removeprefix(", ")


def _missing(count: int, size: int) -> str:
    return f", missing {_percent(count, size)}" if count else ""


def _percent(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 1 else "< 1 %"


def _typical_number(number: float, *, dates: bool) -> str:
    if dates:
        return str(np.datetime64(round(number), "D"))
    return str(round(number)) if abs(number) >= 1000 else f"{number:.3g}"
