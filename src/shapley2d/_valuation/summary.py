"""What Python, notebooks and programs read of a valuation: lines, tables, and a short record."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, NamedTuple

from shapley2d._base.told import as_markdown, brief_number, brief_record, brief_text
from shapley2d._base.words import counted, html_table, printable, took_words
from shapley2d._valuation.facts import Facts, certainty_words
from shapley2d._valuation.typeset import typeset
from shapley2d._valuation.units import unit_words

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._valuation.values import CellValues


class _First(NamedTuple):
    """The first of the cells, rows or columns, as people read them."""

    at: Ints
    named: dict[str, Any]
    values: Floats
    half: Floats
    numbers: list[str]
    spreads: list[str]
    unit: str
    more: str

    @classmethod
    def of(cls, valuation: CellValues, what: str, n: int, *, highest: bool = True) -> _First:
        part = valuation._part(what)
        unit = getattr(valuation._units, "points" if what == "columns" else what)
        at = part.first(n, highest=highest)
        values, half, named = part.values[at].tolist(), part.half[at], part.named(at)
        if "line" in named:  # people know rows by their lines
            del named["row"]
        left = part.values.size - at.size
        return cls(
            at, named, part.values[at], half, unit.numbers(values, signed=True),
            unit.spreads(half.tolist(), values), unit.words, f"and {left} more" if left else "",
        )  # fmt: skip


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
    found = _First.of(valuation, valuation._main, 20)
    *_, heading = found.named
    said = [
        f"<p>{html.escape(f'{word} {typeset(text)}'.strip())}</p>"
        for word, text in _said(valuation)
        if word != f"{heading}s"
    ]
    halves = [half and f"± {half}" for half in found.spreads]
    lines = [*zip(map(str, found.named[heading]), map(typeset, found.numbers), halves, strict=True)]
    lines += [(f"{found.more} {heading}s", "", "")] if found.more else []
    head = (heading, found.unit or "value", "95 %" * any(halves))
    return (
        f"<div><p><b>{type(valuation).__name__}</b> of {html.escape(_headline(valuation))}</p>"
        f"{''.join(said)}{html_table(lines, head)}</div>"
    )


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
        found = _First.of(valuation, valuation._main, 6)
        *_, word = found.named
        pairs = zip(found.named[word], found.numbers, strict=True)
        listed = ", ".join(f"{name} {number}" for name, number in pairs)
        said.append((f"{word}s", " ".join(filter(None, (listed, found.more, found.unit)))))
    if took := took_words(run.seconds):
        said.append(("took", took))
    for end in ("lowest", "highest"):
        one = _First.of(valuation, "cells", 1, highest=end == "highest")
        (word, (row,)), (_, (column,)) = one.named.items()
        number = f"{one.numbers[0]} {one.unit}".rstrip()
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
    *_, main = _First.of(valuation, valuation._main, 1).named
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
    found, lines = _First.of(valuation, what, n, highest=highest), []
    for k, (value, half) in enumerate(zip(found.values, found.half, strict=True)):
        named = {word: names[k] for word, names in found.named.items()}
        if what == "cells":
            i, j = divmod(int(found.at[k]), valuation.shape[1])
            named |= {"entry": valuation._entry(i, j), "label": valuation._label(i)}
        line: dict[str, Any] = {
            word: brief_text(text) for word, text in named.items() if text is not None
        }
        line["value"] = brief_number(value)
        if half:
            line |= {"low": brief_number(value - half), "high": brief_number(value + half)}
        lines.append(line | {"shown": f"{found.numbers[k]} {found.unit}".rstrip()})
    return lines
