"""Putting the report together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.page import open_page, write_page
from shapley2d._valuation.report.payload import (
    as_marked,
    make_payload,
    rows_to_show,
    without_errors,
)
from shapley2d._valuation.report.summary import summarise, typical_entries
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from shapley2d._base.arrays import Ints
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
    mask = as_marked(marked, valuation.shape)
    lowest = _lowest(valuation, n)
    typical = typical_entries(valuation)
    summary = summarise(
        valuation,
        lowest=lowest,
        typical=typical,
        marked=mask,
        n_shown=rows_to_show(valuation.values, max_cells).size,
    )
    shown = valuation if valuation._errors_known else without_errors(valuation)
    scripts = [f"_valuation/report/assets/{name}.js" for name in _SCRIPTS.split()]
    write_page(
        path,
        "_valuation/report/template.html.jinja",
        scripts=scripts,
        info=valuation.info,
        facts=facts,
        notes=notes,
        title=title or f"What every {summary['noun']} is worth",
        summary=summary,
        row_word=valuation._row_word,
        payload=make_payload(
            shown,
            marked=mask,
            lowest=lowest,
            typical=typical,
            max_cells=max_cells,
        ),
        grouped=valuation._grouped,
        has_labels=valuation._labels is not None,
        has_history=bool(valuation._convergence),
        exact=shown.exact,
        column_errors=bool(shown.column_stderr.any()),
        row_errors=bool(shown.row_stderr.any()),
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
    order = np.argsort(valuation.values, axis=None, kind="stable")[:n]
    negative = order[valuation.values.ravel()[order] < 0]
    return negative if negative.size or valuation._grouped else order[:10]
