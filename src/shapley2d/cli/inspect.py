"""``shapley2d inspect``: which entries of a table are wrong, and what they should say."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from shapley2d._base.words import counted, plural
from shapley2d._inspection.decided_entries import known_decisions
from shapley2d._inspection.decisions import Decision, read_decisions
from shapley2d._inspection.learned import SETTINGS
from shapley2d._inspection.repair import Chosen, changes_of, choose, log_columns
from shapley2d._inspection.rewrite import contents_to_change, write_changed
from shapley2d._inspection.said import findings_out
from shapley2d.cli import options as o
from shapley2d.cli.console import (
    collect_notes,
    note,
    show,
    show_files,
    show_json,
    warnings_as_notes,
)
from shapley2d.cli.errors import STANDS_OUT
from shapley2d.cli.inputs import read_file
from shapley2d.cli.inspected import (
    inspection_json,
    inspection_parts,
    read_inspected,
    read_reference,
    suspect_cells,
    with_lines,
)
from shapley2d.cli.outputs import (
    check_outputs,
    start_clock,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.streams import say
from shapley2d.exceptions import InputError


def inspect(
    table: Annotated[str, o.argument("TABLE", f"The table: {o.TABLE_FILE}")],
    target: Annotated[
        str | None,
        o.common(
            "COLUMN", "The column to predict; its labels are inspected too.", "--target", "-t"
        ),
    ] = None,
    drop: o.Drop = None,
    row_id: o.RowId = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    task: o.Task = "auto",
    reference: Annotated[
        Path | None,
        o.common(
            "FILE",
            "A trusted table, or its inspection from shapley2d inspect -o: the rows of TABLE are "
            "judged by it.",
        ),
    ] = None,
    decisions: Annotated[
        Path | None,
        o.common(
            "FILE.csv",
            "Earlier decisions: entries that were called right are not listed again.",
        ),
    ] = None,
    max_time: o.MaxTime = None,
    n_jobs: o.Jobs = None,
    random_state: o.Seed = 0,
    output: o.Output = None,
    report: Annotated[
        Path | None, o.common("FILE.html", "Write a page on which to decide.")
    ] = None,
    top: o.Top = 15,
    repair_sure: Annotated[
        Path | None,
        o.common(
            "FILE",
            "Write the table with its sure suggestions: of entries that stand out, those at least "
            "90 % likely right.",
        ),
    ] = None,
    fail_if: Annotated[
        list[str] | None,
        o.output(
            "N|findings",
            "Exit with code 3 if more than N entries stand out, or if findings about whole columns "
            "or rows do: one of the two, or both (N,findings).",
        ),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Find the entries of a table that are likely wrong, and what they should say.

    Every entry is predicted from the rest of its row and its label. Entries are ranked by how
    unlikely they are, how far off, and how much better their row fits once they are replaced. With
    --reference, every row is judged by a trusted table, and the findings tell what is new.
    """
    from shapley2d._inspection.page import write_inspection

    limit = start_clock(max_time)
    how = o.Reading(separator, encoding, drop, row_id, number, date, text)
    check_outputs([table, reference, decisions], output, report, repaired=repair_sure)
    most, by_findings = read_gate(fail_if)
    notes = collect_notes()
    options: dict[str, Any] = {"task": task, "random_state": random_state, "n_jobs": n_jobs}
    options["max_time"] = limit
    kept: dict[str, Any] = {"separator": separator, "encoding": encoding}
    if repair_sure is not None:  # refused before the work
        contents_to_change(table, repair_sure, "--repair-sure", **kept)
    with warnings_as_notes():
        earlier = None if decisions is None else read_decisions(decisions)
        trusted = None if reference is None else read_reference(reference, target, how, **options)
        given = read_inspected(read_file(table, how), target, how, like=trusted)
        given = replace(given, trusted=None if reference is None else str(reference))
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
    page: dict[str, Any] = {"facts": given.facts, "notes": notes, "commands": given.commands}
    page["remembered"] = remembered
    sure: Chosen = {}

    def write_repaired(path: Path) -> None:
        with warnings_as_notes():
            names = inspection._cells.names
            sure.update(choose(inspection, names, probability=SETTINGS["stands out"]))
        held = contents_to_change(table, path, "--repair-sure", **kept)
        write_changed(path, held, given.source.table, changes_of(inspection, sure), **kept)

    files, failed = write_outputs(
        [
            ("cells", output, lambda path: write_values(inspection, path)),
            ("report", report, lambda path: write_inspection(inspection, path, **page)),
            ("repaired", repair_sure, write_repaired),
        ]
    )
    cells = suspect_cells(inspection, given.source, top)
    labels = suspect_cells(inspection, given.source, min(top, 5), "labels")
    if as_json:
        said = inspection_json(inspection, given, cells, labels, files)
        log = with_lines(log_columns(inspection, sure), sure, given.source)
        show_json({"command": "inspect", **said, "repaired": log})
    else:
        show(*inspection_parts(inspection, given, cells, labels))
        if "repaired" in files:
            show(f"{counted(len(sure), 'entry', 'entries')} repaired")
        show_files(files)
    stop_if_unwritten(failed)
    lost = sum(one.kind == "missing column" for one in inspection.findings)
    n_out = int(inspection._cells.standing_out.sum()) + lost * given.X.n_rows
    wrong = []
    if most is not None and n_out > most:
        which = f", those of {counted(lost, 'missing column')} included" if lost else ""
        wrong.append(f"{n_out:,} entries stand out{which}, more than --fail-if {most:,}")
    if by_findings and (out := findings_out(inspection)):
        stand = plural(len(out), "stands", "stand")
        wrong.append(f"{counted(len(out), 'finding')} {stand} out (--fail-if findings)")
    if wrong:
        say(f"shapley2d: {'; '.join(wrong)}")
        raise typer.Exit(STANDS_OUT)


def read_gate(given: list[str] | None) -> tuple[int | None, bool]:
    """What ``--fail-if`` asks for: the most entries that may stand out, and whether findings may.

    >>> read_gate(["3,findings"]), read_gate(["findings"]), read_gate(None)
    ((3, True), (None, True), (None, False))
    """
    words = [word.strip() for one in given or () for word in one.split(",")]
    numbers = [word for word in words if word.isdecimal()]
    odd = [word for word in words if word != "findings" and not word.isdecimal()] + numbers[1:]
    if odd:
        why = "a second number" if odd[0] in numbers else "not known"
        raise InputError(
            f"--fail-if {odd[0][:40]!r} is {why}: give a number of entries, findings, or both as "
            "0,findings"
        )
    return int(numbers[0]) if numbers else None, "findings" in words


def left_out_words(info: dict[str, Any]) -> list[str]:
    """What a time limit left out of an inspection, in sentences.

    >>> left_out_words({"columns_not_predicted": ["age"]})[0]
    "time was up before 1 column was predicted from the others: 'age'"
    >>> left_out_words({})
    []
    """
    found = []
    if names := info.get("columns_not_predicted"):
        columns = f"{counted(len(names), 'column')} {plural(len(names), 'was', 'were')}"
        listed = ", ".join(map(repr, names))
        found.append(f"time was up before {columns} predicted from the others: {listed}")
    return found
