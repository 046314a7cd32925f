"""``shapley2d repair``: apply decisions to a table, and measure what that gains."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rich.text import Text

from shapley2d._base.words import counted
from shapley2d._inspection.decisions import Decision, Decisions, read_decisions
from shapley2d._tables.column_warnings import find_keys
from shapley2d._tables.reading.files import read_contents
from shapley2d.cli import options as o
from shapley2d.cli.console import (
    ResultConsole,
    collect_notes,
    note,
    progress,
    shown,
    warnings_as_notes,
)
from shapley2d.cli.errors import computing
from shapley2d.cli.reading.columns import without_columns
from shapley2d.cli.reading.inputs import read_file
from shapley2d.cli.reading.inspected import (
    InspectedFile,
    check_decisions,
    known_decisions,
    read_inspected,
)
from shapley2d.cli.writing.outputs import check_distinct, check_file, check_report_path, naming
from shapley2d.cli.writing.rewrite import check_format, write_changed
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.cli.writing.suspects import inspection_json, suspect_cells
from shapley2d.exceptions import InputError, UtilityError

if TYPE_CHECKING:
    from shapley2d._tables.changes import Changes

DecidedTable = Annotated[
    str,
    o.argument(
        "TABLE", f"The table that was inspected: {o.TableFile.removesuffix('; - is stdin.')}."
    ),
]
DecisionFile = Annotated[
    str, o.argument("DECISIONS", "The decisions: the file that the page downloads.")
]
CleanTable = Annotated[
    Path,
    o.option(
        o.COMMON,
        "FILE",
        "The repaired table, in the format of TABLE; CSV where that is a spreadsheet.",
        "--output",
        "-o",
    ),
]
AfterPage = Annotated[
    Path | None,
    o.option(o.COMMON, "FILE.html", "Write a page with the gain, what changed and what is left."),
]
Target = Annotated[
    str | None,
    o.column(o.COMMON, "The column to predict. (default: as in DECISIONS)", "--target", "-t"),
]
KeepFormulas = Annotated[
    bool,
    o.flag(
        o.COMMON,
        "Of a spreadsheet, write text that a spreadsheet would run as a formula, too.",
        "--keep-formulas",
    ),
]
ModelName = Annotated[
    str, o.option(o.COMMON, "NAME", "The model that the gain is measured by, or none.")
]


def repair(
    table: DecidedTable,
    decisions: DecisionFile,
    output: CleanTable,
    report: AfterPage = None,
    target: Target = None,
    *,
    file: o.FileOptions,
    model: ModelName = "random_forest",
    keep_formulas: KeepFormulas = False,
    workers: o.NJobs = None,
    seed: o.RandomState = 0,
    as_json_: o.AsJson = False,
) -> None:
    """Apply decisions to a table; show what changed, what that gained and what is left.

    The table keeps its format, and every entry that was not decided on stays as it is, byte for
    byte. The gain is that of a model trained before and after, scored on held-out rows.
    """
    from shapley2d._inspection.page import write_inspection
    from shapley2d._models.by_name import check_model

    if table == "-":
        raise InputError(
            "repair needs the name of a file, not -: its format is kept, so it is read again"
        )
    check_file(output, "--output", [table, decisions])
    if report is not None:
        check_report_path(report, [table, decisions])
    check_distinct([("--output", output), ("--report", report)])
    if model != "none":
        check_model(model)
    notes = collect_notes()
    with warnings_as_notes():
        made = read_decisions(decisions)
    if not made.made:
        raise InputError(f"{decisions} holds no decisions")
    source = read_file(table, file)
    check_decisions(made, source)
    held = read_contents(table, separator=file.separator, encoding=file.encoding)
    check_format(output, held)
    chosen = [one for one in made.made if one.changes]
    wanted = target or (made.target if made.target in source.table.column_names else None)
    before = read_inspected(table, wanted, file, source=source)
    changes: Changes = {}
    for one in chosen:
        changes.setdefault(one.column, {})[one.row] = one.new
    written = write_changed(output, held, source.table, changes, file, keep_formulas=keep_formulas)
    for message in source.notes:
        note(message)
    with warnings_as_notes(before.names), computing(before.names):
        gain = None if model == "none" else _gain(before, chosen, model, seed, workers)
        after = read_inspected(str(output), wanted, file, source=written)
        left = after.inspect(random_state=seed, n_jobs=workers)
    settled, remembered, _ = known_decisions(made, left)
    left = left._settle(settled)
    files = {"table": output}
    if report is not None:
        named = [one.name or str(left._shown_rows[one.row]) for one in chosen]
        lines = [
            (name, one.column, one.entry, one.new, one.why or one.verdict)
            for name, one in zip(named, chosen, strict=True)
        ]
        with naming(report):
            write_inspection(
                left,
                report,
                target=wanted,
                facts={**after.facts, "repaired from": Path(table).name},
                notes=notes,
                remembered=remembered,
                changes=lines,
                gain=gain,
                commands=after.commands,
            )
        files["report"] = report
    cells = suspect_cells(left, after, 5)
    labels = suspect_cells(left, after, 5, "labels")
    if as_json_:
        more = {
            "changed": len(chosen),
            "right": len(made.made) - len(chosen),
            "gain": _gain_record(gain),
        }
        print_json(
            {"command": "repair", **inspection_json(left, after, cells, labels, files, **more)}
        )
        return
    _print(made, gain, left, cells, files)


def _gain(
    given: InspectedFile, chosen: Sequence[Decision], model: str, seed: int, workers: int | None
) -> Any:
    """What the changes do for a model; None without a target or without changes that count."""
    from shapley2d import measure_repair
    from shapley2d._tables.frames import make_frame

    X = without_columns(given.X, {key.name for key in find_keys(given.X)})
    concerned = [one for one in chosen if one.column in (*X.column_names, given.target)]
    if given.y is None or not X.columns or not concerned:
        return None
    names = given.row_names.tolist()
    log = make_frame(
        {
            "row": [names[one.row] for one in concerned],
            "column": [one.column for one in concerned],
            "after": [one.new for one in concerned],
        },
        "pyarrow",
    )
    kinds = {name: kind for name, kind in given.kinds.items() if name in X.column_names}
    repeats = 2 if given.X.n_rows <= 5000 else 1
    try:
        return measure_repair(
            log, X, given.y, model=model, n_repeats=repeats, random_state=seed, n_jobs=workers,
            kinds=kinds or None, progress=progress(),
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


def _print(
    made: Decisions, gain: Any, left: Any, cells: list[dict[str, Any]], files: dict[str, Path]
) -> None:
    console = ResultConsole()
    count = sum(one.changes for one in made.made)
    changed, right = counted(count, "entry", "entries"), len(made.made) - count
    console.print(Text(f"{changed} changed, {right:,} called right"))
    if gain is not None:
        console.print(Text(gain._words(), style="bold"), soft_wrap=True)
    console.print(Text(f"left: {left._cells.summary}; the likeliest entries"))
    for cell in cells:
        row = cell["row" if left.lines is None else "line"]
        place = f"{left._row_word} {shown(str(row), 24)}, {shown(cell['column'], 24)}"
        change = f"{shown(cell['entry'], 28)} -> {shown(cell['expected'], 28)}"
        console.print(Text(f"  {place}: {change}  {100 * cell['probability']:.0f} %"))
    print_files(files, console)
