"""Putting the page together: template, style, script and data in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice, check_whole
from shapley2d._results.inspected import ORDERS
from shapley2d._results.inspection_page.payload import make_payload, suspects
from shapley2d._results.page import known_facts, render_page, settings_words, write_page

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from shapley2d._results.decisions import Decision
    from shapley2d._results.inspected import Inspected
    from shapley2d._results.repair_gain import RepairGain

_SCRIPTS = ("decisions", "scatter", "detail", "list", "findings", "main")
_SHOWN_CHANGES = 1000
_COMMANDS = (
    "shapley2d repair TABLE decisions.csv -o clean.csv --report after.html",
    "shapley2d inspect clean.csv --decisions decisions.csv",
)


def write_inspection(inspection: Inspected, path: str | os.PathLike[str], **options: Any) -> None:
    """Write an inspection as one self-contained HTML file, whole or not at all.

    The page asks the network for nothing and runs no script but its own. Text from the table is
    shown, never interpreted.

    Parameters
    ----------
    inspection : Inspection
    path : path-like
    **options
        As for :func:`render_inspection`.
    """
    write_page(path, render_inspection(inspection, **options))


def render_inspection(
    inspection: Inspected,
    *,
    title: str | None = None,
    most: int = 2000,
    by: str = "wrong",
    target: str | None = None,
    facts: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    remembered: Sequence[Decision] = (),
    changes: Sequence[Sequence[str | None]] = (),
    gain: RepairGain | None = None,
    commands: tuple[str, str] | None = None,
) -> str:
    """Return the page that :func:`write_inspection` writes.

    Parameters
    ----------
    inspection : Inspection
    title : str, optional
    most : int
        How many suspects to list at most.
    by : {"wrong", "harm", "gain"}
        The order that the list has at first.
    target : str, optional
        The column to predict, for the file of decisions.
    facts : dict of str to str, optional
        What else to say at the head of the page.
    notes : list of str
        What the run noted.
    remembered : list of Decision
        Entries that were called right before.
    changes : list of (row, column, before, after, why)
        What has been repaired already.
    gain : RepairGain, optional
        What that did for a model.
    commands : (str, str), optional
        What applies the decisions, and what inspects the repaired table.
    """
    check_whole(most, "most", 1)
    check_choice(by, "by", ORDERS)
    flat = suspects(inspection, most)
    n, m = inspection.shape
    own = "inspection_page/assets"
    return render_page(
        "inspection_page/template.html.jinja",
        styles=["report/assets/report.css", f"{own}/inspection.css"],
        scripts=["report/assets/dom.js", *(f"{own}/{name}.js" for name in _SCRIPTS)],
        title=title or ("What is left to check" if changes else "Which entries are wrong"),
        facts={**(facts or {}), **known_facts(inspection.info)},
        notes=[*dict.fromkeys(notes)],
        n=n,
        m=m,
        size=inspection.findings.scores.size,
        label=inspection.label_name,
        wrong=inspection.expected_errors,
        listed=int(flat.size),
        findings=len(inspection.columns),
        settled=len(inspection.settled),
        has_values=inspection.values is not None,
        by=by if inspection.values is not None else "wrong",
        changes=changes[:_SHOWN_CHANGES],
        n_changes=len(changes),
        gain=gain,
        commands=commands or _COMMANDS,
        payload=make_payload(inspection, flat, target or inspection.label_name or "", remembered),
        settings=settings_words(inspection.info),
        versions=inspection.info.get("versions") or {},
        call="",
    )
