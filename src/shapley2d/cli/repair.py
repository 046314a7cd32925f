"""``shapley2d repair``: apply decisions to a table, and measure what that gains."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from rich.text import Text

from shapley2d._base.words import counted
from shapley2d._inspection.decided_entries import check_decisions, known_decisions
from shapley2d._inspection.decisions import Decision, read_decisions
from shapley2d._inspection.rewrite import contents_to_change, write_changed
from shapley2d._tables.column_warnings import find_keys
from shapley2d.cli import options as o
from shapley2d.cli.columns import without_columns
from shapley2d.cli.console import (
    collect_notes,
    note,
    progress,
    show,
    show_files,
    show_json,
    warnings_as_notes,
)
from shapley2d.cli.inputs import read_file
from shapley2d.cli.inspected import (
    InspectedFile,
    inspection_json,
    read_inspected,
    suspect_cells,
)
from shapley2d.cli.outputs import check_file, check_outputs, naming
from shapley2d.exceptions import InputError, UtilityError


def repair(
    table: Annotated[str, o.argument("TABLE", f"The table that was inspected: {o.FORMATS}.")],
    decisions: Annotated[
        str, o.argument("DECISIONS", "The decisions: the file that the page downloads.")
    ],
    output: Annotated[
        Path,
        o.common(
            "FILE",
            "The repaired table, in the format of TABLE; CSV where that is a spreadsheet.",
            "--output",
            "-o",
        ),
    ],
    report: Annotated[
        Path | None,
        o.common("FILE.html", "Write a page with the gain, what changed and what is left."),
    ] = None,
    target: Annotated[
        str | None,
        o.common("COLUMN", "The column to predict. (default: as in DECISIONS)", "--target", "-t"),
    ] = None,
    drop: o.Drop = None,
    row_id: o.RowId = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    model: Annotated[
        str, o.common("NAME", "The model that the gain is measured by, or none.")
    ] = "random_forest",
    keep_formulas: Annotated[
        bool,
        o.common(
            None,
            "Of a spreadsheet, write text that a spreadsheet would run as a formula, too.",
            "--keep-formulas",
        ),
    ] = False,
    n_jobs: o.Jobs = None,
    random_state: o.Seed = 0,
    as_json: o.AsJson = False,
) -> None:
    """Apply decisions to a table; show what changed, what that gained and what is left.

    The table keeps its format, and every entry that was not decided on stays as it is, byte for
    byte. The gain is that of a model trained before and after, scored on held-out rows.
    """
    from shapley2d._inspection.page import write_inspection
    from shapley2d._models.by_name import check_model

    check_file(output, "--output", [table, decisions])
    check_outputs([table, decisions, output], report=report)
    if model != "none":
        check_model(model)
    how = o.Reading(separator, encoding, drop, row_id, number, date, text)
    notes = collect_notes()
    with warnings_as_notes():
        made = read_decisions(decisions)
        if not made.made:
            raise InputError(f"{decisions} holds no decisions")
        held = contents_to_change(table, output, "--output", separator=separator, encoding=encoding)
        source = read_file(table, how)
        check_decisions(made, source)
        chosen = [one for one in made.made if one.changes]
        known = made.target in source.table.column_names
        wanted = target or (made.target if known else None)
        before = read_inspected(source, wanted, how)
        changes: dict[str, dict[int, str | None]] = {}
        for one in chosen:
            changes.setdefault(one.column, {})[one.row] = one.new
        with naming(output):
            written = write_changed(
                output, held, source.table, changes, separator=separator, encoding=encoding,
                keep_formulas=keep_formulas,
            )  # fmt: skip
        options = {"random_state": random_state, "n_jobs": n_jobs}
        gain = None if model == "none" else _gain(before, chosen, model, options)
        after = read_inspected(written, wanted, how)
        left = after.inspect(**options)
    settled, remembered, _ = known_decisions(made, left)
    left = left._settle(settled)
    files = {"table": output}
    if report is not None:
        lines = [
            (one.name or str(left._shown_rows[one.row]), one.column, one.entry, one.new,
             one.why or one.verdict)
            for one in chosen
        ]  # fmt: skip
        with naming(report):
            write_inspection(
                left,
                report,
                facts={**after.facts, "repaired from": Path(table).name},
                notes=notes,
                remembered=remembered,
                changes=lines,
                gain=gain,
                commands=after.commands,
            )
        files["report"] = report
    cells = suspect_cells(left, after.source, 5)
    right = len(made.made) - len(chosen)
    if as_json:
        labels = suspect_cells(left, after.source, 5, "labels")
        counts = {"changed": len(chosen), "right": right, "gain": _gain_record(gain)}
        record = inspection_json(left, after, cells, labels, files)
        show_json({"command": "repair", **record, **counts})
        return
    show(f"{counted(len(chosen), 'entry', 'entries')} changed, {right:,} called right")
    if gain is not None:
        show(Text(gain._words(), style="bold"))
    show(f"left: {left!r}")
    show_files(files)


def _gain(
    given: InspectedFile, chosen: Sequence[Decision], model: str, options: dict[str, Any]
) -> Any:
    """What the changes do for a model; None without a target or without changes that count."""
    from shapley2d import measure_repair
    from shapley2d._tables.frames import make_frame

    X = without_columns(given.X, {key.name for key in find_keys(given.X)})
    concerned = [one for one in chosen if one.column in (*X.column_names, given.target)]
    if given.y is None or not X.columns or not concerned:
        return None
    log = make_frame(
        {
            "row": X.row_names[[one.row for one in concerned]].tolist(),
            "column": [one.column for one in concerned],
            "after": [one.new for one in concerned],
        },
        "pyarrow",
    )
    kinds = {name: kind for name, kind in given.kinds.items() if name in X.column_names}
    repeats = 2 if X.n_rows <= 5000 else 1
    try:
        return measure_repair(
            log, X, given.y, model=model, n_repeats=repeats, kinds=kinds or None,
            progress=progress(), **options,
        )  # fmt: skip
    except (InputError, UtilityError) as error:
        note(f"the gain was not measured: {error}")
        return None


def _gain_record(gain: Any) -> dict[str, Any] | None:
    if gain is None:
        return None
    names = ("scoring", "gain", "interval", "random_gain", "random_interval")
    means = {"before": float(gain.before.mean()), "after": float(gain.after.mean())}
    return {name: getattr(gain, name) for name in names} | means
