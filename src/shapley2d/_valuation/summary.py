"""What Python, notebooks and programs read of a valuation: lines, tables, and a short record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

from shapley2d._base.told import as_markdown, brief_number, brief_record, brief_text
from shapley2d._base.words import counted, html_table, printable, took_words
from shapley2d._valuation.facts import Facts, certainty_words
from shapley2d._valuation.typeset import typeset
from shapley2d._valuation.units import unit_words

if TYPE_CHECKING:
    from shapley2d._valuation.values import CellValues, Part


def summary_lines(valuation: CellValues) -> list[str]:
    """The printed summary: headline, score, columns, and the cells of lowest and highest value."""
    return [
        f"{type(valuation).__name__} of {_headline(valuation)}",
        *(
            printable(f"  {f'{word:<8} {text}' if word else text}")
            for word, text in _said(valuation)
        ),
    ]


def summary_html(valuation: CellValues) -> str:
    """The same as a notebook shows it, the columns as a table with their intervals."""
    found, more = _main(valuation, 20)
    *_, heading = found.names
    said = [
        f"<p>{html.escape(f'{word} {typeset(text)}'.strip())}</p>"
        for word, text in _said(valuation)
        if word != f"{heading}s"
    ]
    spreads = found.unit.spreads(found.half.tolist(), found.values.tolist())
    halves = [half and f"± {half}" for half in spreads]
    columns = map(str, found.names[heading]), map(typeset, found.numbers), halves
    lines: list[tuple[str, ...]] = [*zip(*columns, strict=True)]
    lines += [(f"{more} {heading}s", "", "")] if more else []
    head = (heading, found.unit.words or "value", "95 %" * any(halves))
    return (
        f"<div><p><b>{type(valuation).__name__}</b> of {html.escape(_headline(valuation))}</p>"
        f"{''.join(said)}{html_table(lines, head)}</div>"
    )


def _main(valuation: CellValues, n: int) -> tuple[Part, str]:
    """The columns, or the rows where these are all there is, and how many more there are."""
    part = valuation._part(valuation._main)
    left = max(part.values.size - n, 0)
    return part.take(part.first(n, highest=True)), f"and {left} more" if left else ""


def _headline(valuation: CellValues) -> str:
    """What was valued, how, and how certain the values are."""
    size, method = valuation._size_words, valuation._run.method
    return f"{size}, method {method}, {certainty_words(valuation)}"


def _said(valuation: CellValues) -> list[tuple[str, str]]:
    """What there is to say of it, each with the word before it."""
    facts, run = Facts.of(valuation), valuation._run
    said = [
        ("", facts.score) if facts.score and run.score else ("total", f"{valuation.total:+.5g}")
    ]
    said += [("note", note) for note in facts.notes]
    if run.score is not None:
        found, more = _main(valuation, 6)
        *_, word = found.names
        pairs = zip(found.names[word], found.numbers, strict=True)
        listed = ", ".join(f"{name} {number}" for name, number in pairs)
        said.append((f"{word}s", " ".join(filter(None, (listed, more, found.unit.words)))))
    if took := took_words(run.seconds):
        said.append(("took", took))
    cells = valuation._part("cells")
    for end in ("lowest", "highest"):
        one = cells.take(cells.first(1, highest=end == "highest"))
        (word, (row,)), (_, (column,)) = one.names.items()
        number = f"{one.numbers[0]} {one.unit.words}".rstrip()
        said.append((end, f"{number} at {word} {row}, column {column!r}"))
    if strays := len(valuation._strays):
        said.append(("strays", f"{counted(strays, 'entry', 'entries')} to check first, see strays"))
    return said


def to_dict(valuation: CellValues) -> dict[str, Any]:
    """The result in brief as plain JSON values, below 4,000 tokens for a table of any size.

    Lists hold the first of each kind; ``to_frame()`` has all cells. Keys stay within a version of
    the schema, new ones may come. Text from the table is cut, and is data, not instructions.

    Returns
    -------
    dict
        ``schema`` (``"shapley2d.valuation/1"``), ``unit`` (of all values), ``score`` (in words),
        ``columns`` (or ``rows``, where groups of rows are all that was valued), ``lowest`` and
        ``highest`` cells, ``lowest_rows`` and so on. ``low`` and ``high`` are the ends of 95 %
        intervals where there are errors, ``shown`` is the value as people read it.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> found = value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_dict()
    >>> found["schema"], found["total"], found["columns"][0]
    ('shapley2d.valuation/1', 6.0, {'column': '0', 'value': 3.0, 'shown': '+3.00'})
    """
    facts = Facts.of(valuation)
    return brief_record(lambda n: _record(valuation, facts, n))


def to_markdown(valuation: CellValues) -> str:
    """What :meth:`to_dict` holds as Markdown; text from the table stands in fences.

    Examples
    --------
    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_markdown().splitlines()[0]
    '# shapley2d.valuation/1'
    """
    return as_markdown(to_dict(valuation))


def _record(valuation: CellValues, facts: Facts, n: int) -> dict[str, Any]:
    """The brief record of a valuation; its lists have ``n`` entries at most."""
    info, strays = valuation.info, valuation._strays
    *_, main = _main(valuation, 1)[0].names
    return {
        "schema": "shapley2d.valuation/1",
        "version": brief_text(valuation._run.versions.get("shapley2d", "")),
        "size": valuation._size_words,
        "method": brief_text(valuation._run.method or ""),
        "measured": brief_text(facts.measured, 400),
        "unit": unit_words(info),
        "score": brief_text(facts.score, 400),
        "certainty": brief_text(facts.certainty, 200),
        "exact": valuation.exact,
        "total": brief_number(valuation.total),
        "notes": [brief_text(note, 400) for note in [facts.below_zero, *facts.notes] if note],
        f"{main}s": _listed(valuation, valuation._main, n, highest=True),
        "lowest": _listed(valuation, "cells", n, highest=False),
        "highest": _listed(valuation, "cells", n, highest=True),
        "lowest_rows": _listed(valuation, "rows", n, highest=False),
        "n_strays": len(strays),
        "strays": [
            {
                valuation._row_word: brief_text(valuation._shown_rows[i]),
                "column": brief_text(valuation.column_names[j]),
                "entry": brief_text(entry),
                "expected type": expected,
            }
            for i, j, entry, expected in strays[:n]
        ],
    }


def _listed(valuation: CellValues, what: str, n: int, *, highest: bool) -> list[dict[str, Any]]:
    """The lowest or highest, with the ends of intervals, and the value as people read it."""
    part = valuation._part(what)
    at = part.first(n, highest=highest)
    found, lines = part.take(at), []
    names, numbers = found.names, found.numbers
    if what == "cells":
        places = [divmod(k, valuation.shape[1]) for k in at.tolist()]
        names["entry"] = [valuation._entry(i, j) for i, j in places]
        names["label"] = [valuation._label(i) for i, _ in places]
    for k, (value, half) in enumerate(zip(found.values, found.half, strict=True)):
        line: dict[str, Any] = {
            word: brief_text(texts[k]) for word, texts in names.items() if texts[k] is not None
        }
        line["value"] = brief_number(value)
        if half:
            line |= {"low": brief_number(value - half), "high": brief_number(value + half)}
        lines.append(line | {"shown": f"{numbers[k]} {found.unit.words}".rstrip()})
    return lines
