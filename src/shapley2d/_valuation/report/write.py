"""The report: what the page says, and putting it together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.page import open_page, write_page
from shapley2d._base.page_data import brief
from shapley2d._base.words import counted, plural
from shapley2d._valuation.facts import Facts, worth_words
from shapley2d._valuation.report.payload import (
    as_marked,
    convergence,
    make_payload,
    rows_to_show,
)
from shapley2d._valuation.report.typical import typical_entries
from shapley2d._valuation.typeset import typeset
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shapley2d._base.arrays import Bools, Ints
    from shapley2d._valuation.values import CellValues

_SCRIPTS = "table palette heatmap map row cells sums convergence main"


def write_report(
    valuation: CellValues,
    path: str | os.PathLike[str],
    *,
    marked: Any = None,
    title: str | None = None,
    n: int = 200,
    max_cells: int = 4_000_000,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    pay: Any = None,
    trusted: bool = False,
    costs: Any = None,
) -> None:
    """Write a self-contained report: one HTML file that opens in any browser, offline.

    The file appears whole or not at all. The page asks the network for nothing and runs no script
    but its own. Text from the table is shown, never interpreted.

    Parameters
    ----------
    path : path-like
        The file to write.
    marked : boolean array of shape (n, m), or list of (row, column) positions, optional
        Cells to mark, for example errors that were injected.
    title : str, optional
    n : int
        How many of the most harmful cells to list.
    max_cells : int
        A larger table is shown by the rows with its most extreme cells.
    facts : dict of str to str, optional
        What else to say at the head of the page, such as the file that the table came from.
    notes : list of str
        What the run assumed or warned of.
    pay, trusted, costs
        Of fragments: an amount to divide, as in :meth:`payments`, and what contributors cost, as in
        :meth:`best_sets`. Their page has a map of who holds what in the place of the cells.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from shapley2d import value_game
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> value_game(lambda S, F: S.sum() * F.sum(), 3, 2).to_html(path, title="Three by two")
    >>> "<title>Three by two</title>" in path.read_text(encoding="utf-8")
    True
    """
    if valuation._fragments is not None:
        more = {"title": title, "pay": pay, "trusted": trusted, "costs": costs}
        valuation._fragments.report(valuation, path, **more)
        return
    if pay is not None or costs is not None:
        raise InputError("payments and costs are of contributors: these are values of cells")
    for name, count in (("n", n), ("max_cells", max_cells)):
        check_whole(count, name, 1)
    mask, cells = as_marked(marked, valuation.shape), valuation._part("cells")
    lowest, typical = _lowest(valuation, n), typical_entries(valuation)
    kept = rows_to_show(valuation.values, max_cells)
    known, said = valuation._errors_known, Facts.of(valuation)
    write_page(
        path,
        "_valuation/report/template.html.jinja",
        scripts=[f"_valuation/report/assets/{name}.js" for name in _SCRIPTS.split()],
        info=valuation.info,
        facts=facts,
        notes=[*said.notes, *notes],
        title=title or f"What every {valuation._nouns[0][0]} is worth",
        v=valuation,
        nouns=valuation._nouns,
        said=said,
        typeset=typeset,
        about=valuation._run.about,
        spread=_spread(valuation),
        marked=_marked(mask, lowest, valuation._nouns[0][0]),
        findings=[
            (
                *divmod(at, valuation.shape[1]),
                worth_words(valuation, cells.values[at], cells.half[at] if known else 0.0),
            )
            for at in lowest[:3].tolist()
        ],
        typical=typical,
        brief=brief,
        n_shown=kept.size,
        payload=make_payload(valuation, marked=mask, lowest=lowest, typical=typical, kept=kept),
        has_history=bool(convergence(valuation)),
        n_marked=int(mask.sum()),
    )


def open_report(valuation: CellValues, **options: Any) -> Path:
    """Show the report in a browser: a temporary file, by the options of :meth:`to_html`.

    Returns
    -------
    Path
        Where it is, for machines without a browser.
    """
    return open_page(lambda path: write_report(valuation, path, **options))


def _lowest(valuation: CellValues, n: int) -> Ints:
    """Flat positions of the lowest cells, worst first.

    Only those below 0; where there are none, the ten least valuable, but no blocks of groups, of
    which there are few: one that helps is not listed as harmful.
    """
    cells = valuation._part("cells")
    order = cells.first(n)
    negative = order[cells.values[order] < 0]
    return negative if negative.size or valuation._grouped else order[:10]


def _spread(valuation: CellValues) -> tuple[str, str]:
    """A figure on how certain the values are, and what it is."""
    if valuation.exact:
        return "exact", "no sampling error"
    if not valuation._errors_known:
        return "unknown", "sampling error"
    typical = valuation._interval_factor * float(np.median(valuation.stderr))
    shown, _, many = valuation._units.cells.text(typical, 2).partition(" per ")
    trusted = ", not reliable" if valuation.caveat else ""
    noun = many or f"a {valuation._nouns[0][0]}"
    return typeset(f"± {shown}"), f"typical 95 % interval of {noun}{trusted}"


def _marked(marked: Bools, lowest: Ints, noun: str) -> str:
    if not (total := int(marked.sum())):
        return ""
    first = lowest[:total]
    hits, listed = (int(marked.ravel()[places].sum()) for places in (first, lowest))
    return (
        f"Of {counted(total, f'marked {noun}')}, {hits:,} {plural(hits, 'ranks', 'rank')} among "
        f"the {first.size:,} most harmful, {listed:,} among the {lowest.size:,} listed below."
    )
