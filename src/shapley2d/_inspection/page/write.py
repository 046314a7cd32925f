"""Putting the page together: template, style, script and data in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._base.checks import check_whole
from shapley2d._base.page import write_page
from shapley2d._inspection.page.payload import cells_to_list, make_payload
from shapley2d._inspection.said import findings_out, headline

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from shapley2d._inspection.decisions import Decision
    from shapley2d._inspection.inspected import InspectedCells
    from shapley2d._inspection.repair_gain import RepairGain

_SCRIPTS = "decisions detail list findings main"
_COMMANDS = (
    "shapley2d repair TABLE decisions.csv -o clean.csv --report after.html",
    "shapley2d inspect clean.csv --decisions decisions.csv",
)


def write_inspection(
    inspection: InspectedCells,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    n: int = 2000,
    target: str | None = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    remembered: Sequence[Decision] = (),
    changes: Sequence[Sequence[str | None]] = (),
    gain: RepairGain | None = None,
    commands: tuple[str, str] = _COMMANDS,
) -> None:
    """Write the page of an inspection, see :meth:`shapley2d.Inspection.to_html`.

    The command line adds ``target``, the column to predict; ``remembered``, entries that were
    called right before; ``changes``, repairs made already as (row, column, before, after, why), and
    the ``gain`` of a model by them; and ``commands`` that apply the decisions and inspect again.
    """
    check_whole(n, "n", 1)
    listed = cells_to_list(inspection, n)
    n_rows, n_columns = inspection.shape
    out = inspection._cells.standing_out
    n_out = int(out[:, :n_columns].sum())
    assets = "_inspection/page/assets"
    write_page(
        path,
        "_inspection/page/template.html.jinja",
        styles=[f"{assets}/inspection.css"],
        scripts=[f"{assets}/{name}.js" for name in _SCRIPTS.split()],
        title=title or _title(inspection, changed=bool(changes)),
        info=inspection.info,
        facts=facts,
        notes=notes,
        n_rows=n_rows,
        n_columns=n_columns,
        n_cells=inspection._cells.scores.size,
        label=inspection.label_name,
        n_out=n_out,
        n_wrong=float(inspection._cells.probability[:, :n_columns][out[:, :n_columns]].sum()),
        n_labels_out=int(out.sum()) - n_out,
        n_listed=len(listed),
        n_labels=sum(j == n_columns for _, j in listed),
        row_word=inspection._row_word,
        n_findings=len({finding.text for finding in inspection.findings}),
        n_findings_out=len(findings_out(inspection)),
        n_settled=len(inspection._settled),
        changes=changes[:1000],
        n_changes=len(changes),
        gain=gain,
        commands=commands,
        payload=make_payload(inspection, listed, target or inspection.label_name or "", remembered),
    )


def _title(inspection: InspectedCells, *, changed: bool) -> str:
    said = headline(inspection)
    return f"Left to check: {said}" if changed else said[0].upper() + said[1:]
