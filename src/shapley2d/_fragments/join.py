"""One table of all fragments: rows by id, columns by name, and who holds which entry.

Rows are sorted by id and columns by name, so that nothing depends on the order of files, rows or
columns. A cell is held only where there is an entry; nothing is imputed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted, one_of, plural, shown
from shapley2d._tables.kinds import KIND_PLURALS
from shapley2d._tables.table import Column, FromText, Table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._fragments.pieces import Piece
    from shapley2d._tables.table import Kind

DISAGREE = ("error", "first", "missing")
"""What a cell is for which two contributors have different entries."""


@dataclass(frozen=True)
class Joined:
    """The rows that have a label and of which somebody holds an entry, and who holds what.

    Bits say of which rows: ``held`` (contributors, columns, bytes) of entries, ``labelled``
    (contributors, bytes) of labels; all where ``apart`` says that labels are everybody's.
    """

    names: list[str]  # of the contributors, as they were given
    table: Table  # its rows have the ids as names
    labels: list[Any]  # the target of every row
    held: NDArray[np.uint8]
    labelled: NDArray[np.uint8]
    apart: bool

    def players(self, groups: Ints) -> tuple[Bools, Bools]:
        """Who can be worth anything: contributors with an entry or a label, groups of held columns.

        The others are null players. Without them random orders give them exactly 0, too.
        """
        columns = np.zeros(int(groups.max()) + 1, dtype=bool)
        columns[groups[self.held.any(axis=(0, 2))]] = True
        people = np.asarray(self.held.any(axis=(1, 2)))
        return people if self.apart else people | self.labelled.any(axis=1), columns

    def rows_of(self, packed: NDArray[np.uint8]) -> Bools:
        """Bits as one boolean for every row, along the last axis."""
        return np.unpackbits(packed, axis=-1, count=self.table.n_rows).view(bool)


def join_pieces(pieces: Sequence[Piece], target: str, disagree: str) -> Joined:
    """Join what contributors give; a piece without a name is everybody's labels."""
    owners = [piece for piece in pieces if piece.name]
    everybody = next((piece for piece in pieces if not piece.name), None)
    holders = [piece for piece in owners if piece.holds(target)]
    if everybody is not None and holders:
        shown = holders if len(holders) < 4 else []
        several = one_of(piece.name for piece in shown) if shown else f"{len(holders)} files"
        warn_input(f"labels are given apart, so the column {target!r} of {several} is not used")
    if everybody is None and not holders:
        raise InputError(
            f"no fragment holds the target {target!r}: give the labels apart, by labels"
        )
    ids = pc.unique(pa.concat_arrays([piece.ids for piece in owners]))
    ids = ids.take(pc.array_sort_indices(ids))
    sources = holders if everybody is None else [everybody]
    _check_common(owners, sources)
    joining = _Joining(ids, pieces, disagree)
    label, who = joining.column(target, sources)
    known = ~np.isnan(label.entries)
    _tell_of_labels(ids, known, everybody, target)
    names = sorted({key for piece in owners for key in piece.columns if key != target})
    if not names:
        raise InputError("the fragments hold labels only: there is no column to learn from")
    found = [joining.column(name, [one for one in owners if name in one.columns]) for name in names]
    joining.tell()
    none = np.zeros(len(ids), dtype=bool)
    masks = np.array([[mine.get(one, none) for _, mine in found] for one in owners])
    # rows of which nobody holds an entry are not there: who holds nothing changes nothing
    rows = np.flatnonzero(known & masks.any(axis=(0, 1)))
    if not rows.size:
        raise InputError("no contributor holds an entry of a row that has a label")
    kept = np.array(ids.take(rows).to_pylist(), dtype=object)
    labelled = [known if everybody else who.get(one, none) for one in owners]
    return Joined(
        [piece.name for piece in owners],
        Table(tuple(column.take(rows) for column, _ in found), kept),
        _plain_labels(label.take(rows)),
        np.packbits(masks[:, :, rows], axis=-1),
        np.packbits([mine[rows] for mine in labelled], axis=-1),
        everybody is not None,
    )


def _check_common(owners: Sequence[Piece], sources: Sequence[Piece]) -> None:
    """Refuse a fragment of which no row has a label: its ids are hardly those of the others."""
    labelled = pc.unique(pa.concat_arrays([piece.ids for piece in sources]))
    for piece in owners:
        if not pc.any(pc.is_in(piece.ids, value_set=labelled)).as_py():
            raise InputError(
                f"{piece.name} has no id in common with the labels: its first is "
                f"{piece.ids[0].as_py()!r}, theirs {labelled[0].as_py()!r}; name the id that "
                "all use by on"
            )  # fmt: skip


def _tell_of_labels(ids: Any, known: Bools, everybody: Piece | None, target: str) -> None:
    """Tell of rows without a label, and of labels without a row."""
    if not known.any():
        raise InputError(f"the target {target!r} is missing in every row")
    if n := int((~known).sum()):
        warn_input(
            f"{counted(n, 'row')} of {len(ids):,} {plural(n, 'has', 'have')} no label and "
            f"{plural(n, 'is', 'are')} left out, first {ids[int(known.argmin())].as_py()!r}"
        )
    if everybody is None:
        return
    there = np.asarray(pc.is_in(everybody.ids, value_set=ids))
    if n := int((~there).sum()):
        warn_input(
            f"{counted(n, 'label')} of {len(there):,} {plural(n, 'is', 'are')} for no row of any "
            f"fragment, first {everybody.ids[int(there.argmin())].as_py()!r}"
        )


class _Joining:
    """Columns joined one after the other, and the entries in which contributors disagree."""

    def __init__(self, ids: Any, pieces: Sequence[Piece], disagree: str) -> None:
        self._ids, self._disagree = ids, disagree
        self._rows = {one: pc.index_in(one.ids, value_set=ids).fill_null(-1) for one in pieces}
        self._count, self._first = 0, ""

    def column(self, name: str, pieces: Sequence[Piece]) -> tuple[Column, dict[Piece, Bools]]:
        """A column of all rows, and which of its entries each contributor holds."""
        n = len(self._ids)
        kind, notation = _one_kind(name, pieces)
        words = sorted({word for piece in pieces for word in piece.columns[name].categories})
        code = {word: float(k) for k, word in enumerate(words)}
        entries, disputed = np.full(n, np.nan), np.zeros(n, dtype=bool)
        whole = Column(name, kind, entries, tuple(words), FromText(notation=notation))
        held: dict[Piece, Bools] = {}
        for piece in pieces:
            column, rows = piece.columns[name], np.asarray(self._rows[piece])
            own = _recoded(column, code) if kind == "category" else column.entries
            known = piece.held[name] & (rows >= 0)  # labels may be for rows of nobody
            given = np.full(n, np.nan)
            given[rows[known]] = own[known]
            new = np.isnan(entries)
            entries[new] = given[new]
            differ = ~np.isnan(given) & (given != entries)
            if differ.any() and not self._first:
                row = int(differ.argmax())
                before = next(other.name for other, mine in held.items() if mine[row])
                one, other = whole.with_entries(np.array([entries[row], given[row]])).text()
                self._first = (
                    f"{name!r} of {self._ids[row].as_py()!r} is {one!r} in {before} and {other!r} "
                    f"in {piece.name}"
                )
            disputed |= differ
            held[piece] = given == entries
        self._count += int(disputed.sum())
        if self._disagree == "missing":
            entries[disputed] = np.nan
            held = {piece: mine & ~disputed for piece, mine in held.items()}
        return whole, held

    def tell(self) -> None:
        """Refuse or tell of the entries in which contributors disagree."""
        if not self._count:
            return
        words = f"contributors disagree about {counted(self._count, 'cell')}: {self._first}"
        if self._disagree == "error":
            raise InputError(
                f"{words}; correct it, or set disagree='first' to take the first one's entry "
                "or disagree='missing' to take none"
            )  # fmt: skip
        effect = (
            "no entry counts" if self._disagree == "missing" else "the first one's entry counts"
        )
        warn_input(f"{words}: {effect}")


def _one_kind(name: str, pieces: Sequence[Piece]) -> tuple[Kind, str]:
    """The kind of a column in all pieces, and how its text is written; different ones are refused.

    Columns without any entry fit all kinds; booleans are numbers where some piece has numbers.
    """
    full = [piece for piece in pieces if piece.held[name].any()] or list(pieces[:1])
    kinds: dict[Kind, Piece] = {}
    for piece in full:
        kinds.setdefault(piece.columns[name].kind, piece)
    if set(kinds) == {"number", "boolean"}:
        kinds.pop("boolean")
    if len(kinds) > 1:
        (one, at_one), (other, at_other) = list(kinds.items())[:2]
        raise InputError(
            f"column {name!r} holds {KIND_PLURALS[one]} in {at_one.name} and "
            f"{KIND_PLURALS[other]} in {at_other.name}: give both the same type, or set "
            f"kinds={shown({name: 'text'})}"
        )
    notations = {piece.columns[name].from_text.notation: piece for piece in full}
    days = [note for note in notations if note in ("day first", "month first")]
    if len(days) > 1:
        raise InputError(
            f"column {name!r} is read day first in {notations['day first'].name} and month first "
            f"in {notations['month first'].name}: write dates as 2024-02-29"
        )
    return next(iter(kinds)), next(iter(notations))


def _recoded(column: Column, code: dict[str, float]) -> Floats:
    """The entries of a text column as positions among the words of all pieces."""
    recode = np.array([*(code[word] for word in column.categories), np.nan])
    return recode[np.nan_to_num(column.entries, nan=-1.0).astype(np.intp)]


def _plain_labels(column: Column) -> list[Any]:
    """The labels as text, whole numbers or numbers."""
    if column.kind in ("category", "date"):
        return list(column.text())
    whole = (column.entries == np.round(column.entries)).all()
    kind = bool if column.kind == "boolean" else np.int64 if whole else np.float64
    return list(column.entries.astype(kind).tolist())
