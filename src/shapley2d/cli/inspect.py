"""``shapley2d inspect``: which entries of a table are wrong, and what they should say."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shapley2d._base.time_limit import TimeLimit
from shapley2d._base.words import counted, plural
from shapley2d._inspection.decisions import Decision, read_decisions
from shapley2d.cli import options as o
from shapley2d.cli.console import ResultConsole, collect_notes, note, warnings_as_notes
from shapley2d.cli.errors import STANDS_OUT, computing
from shapley2d.cli.reading.inspected import (
    known_decisions,
    read_inspected,
    read_reference,
)
from shapley2d.cli.streams import say
from shapley2d.cli.writing.outputs import (
    check_outputs,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.cli.writing.suspects import inspection_json, print_inspection, suspect_cells

InspectedTable = Annotated[str, o.argument("TABLE", f"The table: {o.TableFile}")]
AnyTarget = Annotated[
    str | None,
    o.column(o.COMMON, "The column to predict; its labels are inspected too.", "--target", "-t"),
]
Trusted = Annotated[
    Path | None,
    o.option(
        o.COMMON,
        "FILE",
        "A trusted table, or its inspection from shapley2d inspect -o: the rows of TABLE are "
        "judged by it.",
    ),
]
FailIf = Annotated[
    int | None, o.option(o.OUTPUT, "N", "Exit with code 3 if more than N entries stand out.", min=0)
]
Earlier = Annotated[
    Path | None,
    o.option(
        o.COMMON,
        "FILE.csv",
        "Earlier decisions: entries that were called right are not listed again.",
    ),
]
CellsOutput = Annotated[
    Path | None, o.option(o.COMMON, "FILE", "Write all cells: .parquet or .csv.", "--output", "-o")
]
PagePath = Annotated[
    Path | None, o.option(o.COMMON, "FILE.html", "Write a page on which to decide.")
]
Top = Annotated[int, o.option(o.OUTPUT, "N", "How many entries to print.", min=0)]


def inspect(
    table: InspectedTable,
    target: AnyTarget = None,
    *,
    file: o.FileOptions,
    task: o.Task = "auto",
    reference: Trusted = None,
    decisions: Earlier = None,
    max_time: o.MaxTime = None,
    workers: o.NJobs = None,
    seed: o.RandomState = 0,
    output: CellsOutput = None,
    report: PagePath = None,
    top: Top = 15,
    fail_if: FailIf = None,
    as_json_: o.AsJson = False,
) -> None:
    """Find the entries of a table that are likely wrong, and what they should say.

    Every entry is predicted from the rest of its row and its label. Entries are ranked by how
    unlikely they are, how far off, and how much better their row fits once they are replaced. With
    --reference, every row is judged by a trusted table, and the findings tell what is new.
    """
    from shapley2d._inspection.page import write_inspection

    limit = None if max_time is None else TimeLimit.of(max_time)
    read = [table, *(str(path) for path in (reference, decisions) if path is not None)]
    check_outputs(output, report, read)
    notes = collect_notes()
    with warnings_as_notes():
        earlier = None if decisions is None else read_decisions(decisions)
    options = {"task": task, "random_state": seed, "n_jobs": workers, "max_time": limit}
    trusted = None if reference is None else read_reference(reference, target, file, **options)
    given = read_inspected(table, target, file, like=trusted)
    given = replace(given, trusted=None if reference is None else str(reference))
    for message in given.source.notes:
        note(message)
    with warnings_as_notes(given.names), computing(given.names):
        inspection = given.inspect(reference=trusted, **options)
    for words in left_out_words(inspection.info):
        note(words)
    remembered: list[Decision] = []
    if earlier is not None:
        settled, remembered, stale = known_decisions(earlier, inspection)
        inspection = inspection._settle(settled)
        if stale:
            note(
                f"{decisions}: {counted(stale, 'entry', 'entries')} called right "
                f"{plural(stale, 'has', 'have')} changed since, and "
                f"{plural(stale, 'is', 'are')} listed again"
            )
    page: dict[str, Any] = {"target": given.target, "facts": given.facts, "notes": notes}
    page |= {"remembered": remembered, "commands": given.commands}
    files, failed = write_outputs(
        [
            ("cells", output, lambda path: write_values(inspection, path)),
            ("report", report, lambda path: write_inspection(inspection, path, **page)),
        ]
    )
    cells = suspect_cells(inspection, given, top)
    labels = suspect_cells(inspection, given, min(top, 5), "labels")
    if as_json_:
        print_json(
            {"command": "inspect", **inspection_json(inspection, given, cells, labels, files)}
        )
    else:
        console = ResultConsole()
        print_inspection(inspection, given, cells, labels, console)
        print_files(files, console)
    stop_if_unwritten(failed)
    lost = sum(one.kind == "missing column" for one in inspection.findings)
    number = int(inspection._cells.standing_out.sum()) + lost * given.X.n_rows
    if fail_if is not None and number > fail_if:
        which = f", those of {counted(lost, 'missing column')} included" if lost else ""
        say(f"shapley2d: {number:,} entries stand out{which}, more than --fail-if {fail_if:,}")
        raise typer.Exit(STANDS_OUT)


def left_out_words(info: dict[str, Any]) -> list[str]:
    """What a time limit left out of an inspection, in sentences.

    >>> left_out_words({"columns_not_predicted": ["age"], "rows_without_tried_repairs": 9})[0]
    'time was up before 1 column was predicted from the others: age'
    >>> left_out_words({})
    []
    """
    found = []
    if names := info.get("columns_not_predicted"):
        columns = f"{counted(len(names), 'column')} {plural(len(names), 'was', 'were')}"
        found.append(f"time was up before {columns} predicted from the others: {', '.join(names)}")
    if rows := info.get("rows_without_tried_repairs"):
        found.append(f"time was up before repairs were tried in {counted(rows, 'row')}")
    return found
