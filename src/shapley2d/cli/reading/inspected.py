"""Reading a file to inspect: all rows and columns, and the label where there is one."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import without_warnings
from shapley2d._inspection.decided_entries import check_decided
from shapley2d._inspection.decisions import same_entry
from shapley2d._inspection.inspect import check_width
from shapley2d._inspection.storage import is_inspection
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.digest import column_digest, file_digest, table_digest
from shapley2d.cli.console import progress
from shapley2d.cli.errors import computing
from shapley2d.cli.reading.columns import choose_columns, id_names
from shapley2d.cli.reading.inputs import read_file
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._inspection.decisions import Decision, Decisions
    from shapley2d._inspection.inspection import Inspection
    from shapley2d._tables.reading.files import Source
    from shapley2d._tables.table import Table
    from shapley2d.cli.options import FileOptions


@dataclass(frozen=True)
class InspectedFile:
    """A file to inspect."""

    source: Source
    target: str | None
    X: Table
    y: Any
    row_names: NDArray[Any]
    kinds: dict[str, str]  # types of columns that the user gave
    fingerprint: str  # of the whole file, dropped columns included
    flags: tuple[str, ...] = ()  # options that later commands on the file need too
    trusted: str | None = None  # the file that its rows are judged by

    @property
    def commands(self) -> tuple[str, str]:
        """The commands that apply decisions to the file and that inspect the result."""
        path = Path(self.source.path)
        ends = "".join(path.suffixes[-2:] if path.suffix.lower() == ".gz" else path.suffixes[-1:])
        clean = str(path.with_name(f"{path.name.removesuffix(ends)}-clean{ends}"))
        target = [] if self.target is None else ["--target", self.target]
        repair = ["repair", self.source.path, "decisions.csv", "-o", clean]
        repair += ["--report", "after.html", *self.flags]
        inspect = ["inspect", clean, *target, "--decisions", "decisions.csv"]
        inspect += [] if self.trusted is None else ["--reference", self.trusted]
        inspect += ["--report", "page.html", *self.flags]
        return shlex.join(["shapley2d", *repair]), shlex.join(["shapley2d", *inspect])

    @property
    def names(self) -> dict[str, str]:
        """Names of ``X`` and ``y`` in messages."""
        label = "" if self.target is None else f"{self.source.path}: column {self.target!r}"
        return {"X": self.source.path, "y": label}

    @property
    def facts(self) -> dict[str, str]:
        """The origin of the table, for the head of a page."""
        facts = {"table": Path(self.source.path).name}
        facts |= {} if self.trusted is None else {"judged by": Path(self.trusted).name}
        return facts if self.target is None else facts | {"target": self.target}

    def inspect(self, **options: Any) -> Inspection:
        """Inspect the file; the result carries its fingerprint."""
        from shapley2d import inspect_cells

        own = {"kinds": self.kinds or None, "progress": progress()}
        inspection = inspect_cells(self.X, self.y, **own, **options)
        return replace(inspection, _fingerprint=self.fingerprint)


def read_inspected(
    path: str,
    target: str | None,
    file: FileOptions,
    *,
    source: Source | None = None,
    like: Inspection | None = None,
) -> InspectedFile:
    """Read and check a file; ``source`` is one that was read already.

    It is read as the table of the inspection ``like``, whose label is the target where the file has
    a column of that name.
    """
    source = read_file(path, file) if source is None else source
    if like is not None and target is None and like.label_name in source.table.column_names:
        target = like.label_name
    chosen = choose_columns(source, target, file)
    with computing({"X": source.path}):
        check_width(len(chosen.features))
        native = source.table.select(chosen.features)
        known = None if like is None else like._reference.table
        X = inspected_table(native, "X", chosen.kinds_beside(target), known)
    row_id = file.row_id
    row_names = np.arange(X.n_rows) if row_id is None else id_names(source.table.select([row_id]))
    return InspectedFile(
        source=source,
        target=target,
        X=replace(X, row_names=row_names, lines=source.lines if row_id is None else None),
        y=None if target is None else source.table.select([target]),
        row_names=row_names,
        kinds=chosen.kinds,
        fingerprint=file_digest(source.table),
        flags=_flags(chosen.dropped, chosen.kinds, file),
    )


def read_reference(
    path: Path, target: str | None, file: FileOptions, **settings: Any
) -> Inspection:
    """The inspection of a trusted table: read from its own file, or made of the table."""
    from shapley2d import Inspection

    if is_inspection(path):
        return Inspection.load(path)
    given = read_inspected(str(path), target, file)
    with without_warnings(), computing(given.names):
        return given.inspect(**settings)


def _flags(dropped: set[str], kinds: Mapping[str, str], file: FileOptions) -> tuple[str, ...]:
    given: list[tuple[str, str | None]] = [("--drop", name) for name in sorted(dropped)]
    given += [(f"--{kind}", name) for name, kind in kinds.items()]
    given += [("--id", file.row_id), ("--separator", file.separator), ("--encoding", file.encoding)]
    return tuple(part for flag, value in given if value is not None for part in (flag, value))


def check_decisions(decisions: Decisions, source: Source) -> None:
    """Refuse decisions that were made for another table, or that do not fit this one."""
    if decisions.table not in _fingerprints(source):
        raise InputError(
            f"{decisions.path} was made for another table, or {source.path} has changed since "
            f"(fingerprint {decisions.table[:16] or 'missing'}, this one has "
            f"{file_digest(source.table)}): inspect this one and decide again"
        )
    table = source.table
    check_decided(
        decisions,
        source.path,
        table.column_names,
        table.num_rows,
        lambda name: table[name].to_pylist(),
        lambda name: inspected_table(table.select([name]), "X").columns[0],
        source.where,
    )


def _fingerprints(source: Source) -> list[str]:
    """Fingerprints of a file: that of its texts, and that of its columns as Python holds them."""
    known = [file_digest(source.table)]
    try:
        table = inspected_table(source.table, "X")
    except InputError:
        return known
    return [*known, table_digest({column.name: column_digest(column) for column in table.columns})]


def known_decisions(
    decisions: Decisions, inspection: Inspection
) -> tuple[list[tuple[int, int]], list[Decision], int]:
    """Decisions that still hold for a table, which may be the repaired one.

    A decision holds where the entry is still the one called right, or already the new one. Returns
    the cells decided on, which are not listed again, the decisions that called an entry right, and
    how many entries called right have changed since.
    """
    names = {name: j for j, name in enumerate(inspection._cells.names)}
    entries = inspection._cells.entries
    cells, right, stale = [], [], 0
    for one in decisions.made:
        j, said = names.get(one.column), one.new if one.changes else one.entry
        if j is None or one.row >= inspection.shape[0] or not same_entry(entries[j][one.row], said):
            stale += not one.changes
            continue
        cells.append((one.row, j))
        if not one.changes:
            right.append(one)
    return cells, right, stale
