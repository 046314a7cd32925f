"""A file to inspect, all rows and columns, and what its inspection says: printed and as JSON."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.text import Text

from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import counted
from shapley2d._inspection.cells import percent
from shapley2d._inspection.inspect import check_width
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.said import cell_columns, headline, record, records
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._inspection.tables.table_digest import file_digest
from shapley2d.cli.columns import choose_columns, id_names
from shapley2d.cli.console import place_columns, progress, shown, titled
from shapley2d.cli.errors import computing
from shapley2d.cli.inputs import read_file
from shapley2d.cli.wording import call

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d import Inspection
    from shapley2d._tables.reading.files import Source
    from shapley2d._tables.table import Table
    from shapley2d.cli.options import Reading


_FINDINGS = 12  # printed


@dataclass(frozen=True)
class InspectedFile:
    """A file to inspect."""

    source: Source
    target: str | None
    X: Table
    y: Any
    kinds: dict[str, str]  # types of columns that the user gave
    flags: tuple[str, ...]  # options that later commands on the file need too
    trusted: str | None = None  # the file that its rows are judged by

    @property
    def commands(self) -> tuple[str, str]:
        """The commands that apply decisions to the file and that inspect the result."""
        path = Path(self.source.path)
        ends = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])
        clean = str(path.with_name(f"{path.name.removesuffix(ends)}-clean{ends}"))
        target = [] if self.target is None else ["--target", self.target]
        repair = ["repair", self.source.path, "decisions.csv", "-o", clean]
        inspect = ["inspect", clean, *target, "--decisions", "decisions.csv"]
        inspect += [] if self.trusted is None else ["--reference", self.trusted]
        pages = ("after.html", "page.html")
        repair, inspect = (
            ["shapley2d", *command, "--report", page, *self.flags]
            for command, page in zip((repair, inspect), pages, strict=True)
        )
        return shlex.join(repair), shlex.join(inspect)

    @property
    def facts(self) -> dict[str, str]:
        """The origin of the table, for the head of a page."""
        facts = {"table": Path(self.source.path).name}
        facts |= {} if self.trusted is None else {"judged by": Path(self.trusted).name}
        return facts if self.target is None else facts | {"target": self.target}

    def inspect(self, **options: Any) -> Inspection:
        """Inspect the file; the result carries the fingerprint of all of it."""
        from shapley2d import inspect_cells

        own = {"kinds": self.kinds or None, "progress": progress()}
        with computing():
            found = inspect_cells(self.X, self.y, **own, **options)
        return replace(found, _fingerprint=file_digest(self.source.table))


def read_inspected(
    source: Source, target: str | None, how: Reading, *, like: Inspection | None = None
) -> InspectedFile:
    """Check a file.

    It is read as the table of the inspection ``like``, whose label is the target where the file has
    a column of that name.
    """
    if like is not None and target is None and like.label_name in source.table.column_names:
        target = like.label_name
    chosen = choose_columns(source, target, how)
    call({"X": source.path})
    if target is not None:
        call({"y": f"{source.path}: column {target!r}"})
    check_width(len(chosen.features))
    known = None if like is None else like._reference.table
    kinds = {name: kind for name, kind in chosen.kinds.items() if name != target}
    features = replace(source, table=source.table.select(chosen.features))
    X = inspected_table(features, "X", kinds, known)
    if how.row_id is not None:
        X = replace(X, row_names=id_names(source, how.row_id), lines=None)
    given: list[tuple[str, str | None]] = [("drop", name) for name in sorted(chosen.dropped)]
    given += [(kind, name) for name, kind in chosen.kinds.items()]
    given += [("id", how.row_id), ("separator", how.separator), ("encoding", how.encoding)]
    return InspectedFile(
        source=source,
        target=target,
        X=X,
        y=None if target is None else source.table.select([target]),
        kinds=chosen.kinds,
        flags=tuple(
            part for flag, value in given if value is not None for part in (f"--{flag}", value)
        ),
    )


def read_reference(path: Path, target: str | None, how: Reading, **settings: Any) -> Inspection:
    """The inspection of a trusted table: read from its own file, or made of the table."""
    from shapley2d import Inspection
    from shapley2d._inspection.storage import is_inspection

    if is_inspection(path):
        return Inspection.load(path)
    given = read_inspected(read_file(str(path), how), target, how)
    with without_warnings():
        return given.inspect(**settings)


def suspect_cells(
    inspection: Inspection, source: Source, top: int, part: str = "entries"
) -> list[dict[str, Any]]:
    """The first suspects of a part, each with its line of the file even if its row has a name."""
    places = rank_cells(inspection, top, part)
    return with_lines(cell_columns(inspection, places), places, source)


def with_lines(
    columns: dict[str, Any], places: Iterable[tuple[int, int]], source: Source
) -> list[dict[str, Any]]:
    """Lines of a frame about cells, with those of the file even if its rows have names."""
    return [
        {**one, "line": source.line(i)}
        for one, (i, _) in zip(records(columns), places, strict=True)
    ]


def inspection_json(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    labels: list[dict[str, Any]],
    files: dict[str, Path],
) -> dict[str, Any]:
    """An inspection as JSON, for other programs."""
    return {
        **record(inspection),
        "file": given.source.path,
        "target": given.target,
        "fingerprint": inspection._fingerprint,
        "settled": len(inspection._settled),
        "suspects": cells,
        "suspect_labels": labels,
        "settings": inspection.info,
        "files": files,
    }


def inspection_parts(
    inspection: Inspection,
    given: InspectedFile,
    cells: list[dict[str, Any]],
    labels: list[dict[str, Any]],
) -> list[Any]:
    """What is printed: findings about columns, the entries to check first, then the labels."""
    n, m = inspection.shape
    label = "" if given.target is None else f" and the label {given.target!r}"
    known = inspection.info.get("reference")
    judged = f", judged by {counted(known['rows'], 'trusted row')}" if known else ""
    settled = f"; {len(inspection._settled)} decided before" if inspection._settled else ""
    table = f"{given.source.path}: {counted(n, 'row')} x {counted(m, 'column')}"
    parts: list[Any] = [f"{table}{label}{judged}; {headline(inspection)}{settled}\n"]
    # one that concerns two columns is found in each
    findings = list(dict.fromkeys(finding.text for finding in inspection.findings))
    if findings:
        parts.append(Text("The table as a whole", style="italic"))
        parts += [f"- {one}" for one in findings[:_FINDINGS]]
        if left := len(findings[_FINDINGS:]):
            parts.append(f"- and {left} more, in the page and with --json")
        parts.append("")
    if cells:
        parts += _suspect_table("Entries to check", cells, inspection)
    if labels:
        parts += ["", *_suspect_table("Labels to check", labels, inspection)]
    elif cells and given.target is not None:
        parts.append("\nLabels to check: none, each is less than 1 % likely wrong")
    return parts


def _suspect_table(title: str, cells: list[dict[str, Any]], inspection: Inspection) -> list[Any]:
    """The list of suspects; rows without names go by their lines alone."""
    named = inspection.lines is None
    columns = place_columns(cells, {"column": 24, "entry": 28, "expected": 28}, named=named)
    for k, text in enumerate(columns["expected"]):
        if cells[k]["expected"] == cells[k]["entry"]:  # wrong perhaps, and nothing tells the right
            columns["expected"][k] = "not known"
        else:
            text.stylize("green")
    columns["wrong"] = [percent(cell["probability"]) for cell in cells]
    columns["sure"] = [percent(cell["sure"]) for cell in cells]
    # the first reason, as in rank(); the page and JSON have all
    columns["why"] = [shown(cell["why"].split("; ")[0], 1000) for cell in cells]
    return titled(title, columns, "why", *(("line",) if named else ()))
