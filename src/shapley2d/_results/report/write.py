"""Putting the page together: template, style, script and data in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._results.owner_words import owner_words
from shapley2d._results.page import render_page, write_page
from shapley2d._results.report.owners import audit_tables, block_owners, owner_lines, payment_lines
from shapley2d._results.report.payload import (
    as_marked,
    errors_known,
    is_blocks,
    make_payload,
    rows_to_show,
    typical_of,
    without_errors,
)
from shapley2d._results.report.record import known_facts, settings_words
from shapley2d._results.report.summary import summarise

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from shapley2d._results.values import Values

_SCRIPTS = (
    "dom", "table", "palette", "heatmap", "map", "row", "cells", "sums", "figures", "main",
)  # fmt: skip


def write_report(
    valuation: Values,
    path: str | os.PathLike[str],
    *,
    marked: Any = None,
    title: str | None = None,
    payments: Any = None,
    n_lowest: int = 200,
    max_cells: int = 4_000_000,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> None:
    """Write a valuation as one self-contained HTML file, whole or not at all.

    The page asks the network for nothing and runs no script but its own. Text from the table is
    shown, never interpreted.

    Parameters
    ----------
    valuation : Valuation
    path : path-like
        The file to write.
    marked : boolean array of shape (n, m), or list of (row, column) positions, optional
        Cells to mark, for example errors that were injected.
    title : str, optional
    payments : frame or list of dict, optional
        For blocks: one record per owner with ``owner``, ``value``, ``amount``, ``low`` and
        ``high``.
    n_lowest : int
        How many of the most harmful cells to list.
    max_cells : int
        A larger table is shown by the rows with its most extreme cells.
    facts : dict of str to str, optional
        What else to say at the head of the page, such as the file that the table came from.
    notes : list of str
        What the run assumed or warned of.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from shapley2d import value_game
    >>> from shapley2d._results.report import write_report
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(value_game(lambda S, F: S.sum() * F.sum(), 3, 2), path, title="Three by two")
    >>> "<title>Three by two</title>" in path.read_text(encoding="utf-8")
    True
    """
    page = render_report(
        valuation,
        marked=marked,
        title=title,
        payments=payments,
        n_lowest=n_lowest,
        max_cells=max_cells,
        facts=facts,
        notes=notes,
    )
    write_page(path, page)


def render_report(
    valuation: Values,
    *,
    marked: Any = None,
    title: str | None = None,
    payments: Any = None,
    n_lowest: int = 200,
    max_cells: int = 4_000_000,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> str:
    """Return the page that :func:`write_report` writes."""
    for name, count in (("n_lowest", n_lowest), ("max_cells", max_cells)):
        check_whole(count, name, 1)
    mask = as_marked(marked, valuation.shape)
    lowest = _lowest(valuation, n_lowest)
    typical = typical_of(valuation)
    summary = summarise(
        valuation,
        lowest=lowest,
        typical=typical,
        marked=mask,
        n_shown=rows_to_show(valuation.values, max_cells).size,
    )
    shown = valuation if errors_known(valuation) else without_errors(valuation)
    payload = make_payload(
        shown,
        marked=mask,
        lowest=lowest,
        typical=typical,
        max_cells=max_cells,
        owners=block_owners(valuation),
    )
    return render_page(
        "report/template.html.jinja",
        styles=["report/assets/report.css"],
        scripts=[f"report/assets/{name}.js" for name in _SCRIPTS],
        title=title or f"What every {summary.noun} is worth",
        summary=summary,
        facts={**(facts or {}), **known_facts(valuation.info)},
        notes=[*dict.fromkeys(notes)],
        payload=payload,
        payments=owner_lines(valuation) if payments is None else payment_lines(payments),
        owner_words=owner_words(valuation.info),
        audit=audit_tables(valuation),
        blocks=is_blocks(valuation),
        has_labels=valuation.labels is not None,
        has_history=any(0 < ratio < np.inf for _, ratio in valuation.history),
        exact=shown.exact,
        n_marked=int(mask.sum()),
        settings=settings_words(valuation.info),
        call=valuation.info.get("call") or "",
        versions=valuation.info.get("versions") or {},
    )


def _lowest(valuation: Values, count: int) -> Any:
    """Flat positions of the lowest cells, worst first: those below 0, or where there are none the least valuable.

    Of blocks those below 0 only: what is paid for is not listed as harmful.
    """
    order = np.argsort(valuation.values, axis=None, kind="stable")[:count]
    negative = order[valuation.values.ravel()[order] < 0]
    return negative if negative.size or is_blocks(valuation) else order[:10]
