"""The pieces of one assembled table, by what its owners hold: names in its shape, or claims."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.entries import as_text, is_missing
from shapley2d._base.words import did_you_mean
from shapley2d._fragments.pieces import Piece, check_names, id_text, only_has, whole_piece
from shapley2d._tables.align import in_order
from shapley2d._tables.intake import as_frame, names_of, opened
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._base.arrays import Bools


def owned_pieces(
    data: Any, owners: Any, on: str | None, target: str | None, kinds: Mapping[str, str] | None
) -> list[Piece]:
    """The pieces of one assembled table, of which ``owners`` says who holds what.

    ``owners``: names in the shape of the table, None where nobody holds a cell; or claims, a table
    with the columns ``owner``, ``row`` and ``column``. The target is everybody's unless it is
    claimed by its name.
    """
    data, owners = opened(data), opened(owners)
    whole = whole_piece("X", data, on, kinds)
    names, given = [*whole.columns], names_of(owners)
    if "owner" not in given:
        masks = _by_cell(owners, as_frame(data), len(whole.ids), names, target)
    elif {"row", "column"} <= {*given}:
        masks = _by_claim(owners, whole.ids.to_pylist(), names, target)
    else:
        raise InputError(
            f"owners must have the columns 'owner', 'row' and 'column'{only_has(given)}"
        )
    check_names(masks)
    pieces = [
        replace(whole, name=owner, held={
            name: held & mask[:, j] for j, (name, held) in enumerate(whole.held.items())
        })
        for owner, mask in masks.items()
    ]  # fmt: skip
    if target in names and not any(piece.holds(target) for piece in pieces):
        pieces.append(replace(whole, name=""))
    return pieces


def _by_claim(
    claims: Any, ids: list[str], names: list[str], target: str | None
) -> dict[str, Bools]:
    """What every owner claims; an empty row or column means all of them, but the target."""
    frame = nw.from_native(as_frame(claims, "owners"), eager_only=True)
    rows, columns = ({key: k for k, key in enumerate(one)} for one in (ids, names))
    features = [name for name in names if name != target]
    masks: dict[str, Bools] = {}
    lines = frame.select("owner", "row", "column").iter_rows()
    for k, (owner, row, column) in enumerate(lines, start=1):
        if is_missing(owner):
            raise InputError(f"owners: claim {k} (counted from 1) has no owner: name it")
        at = []
        for what, entry, known, every in (
            ("row", row, rows, ids), ("column", column, columns, features),
        ):  # fmt: skip
            chosen = _named(entry) or every
            for one in chosen:
                if one not in known:
                    why = ", which is not an id of the table"
                    if what == "column":
                        why = did_you_mean(one, names) or ", which the table does not have"
                    raise InputError(
                        f"owners: claim {k}, of {owner!r}, names the {what} {one!r}{why}"
                    )  # fmt: skip
            at.append([known[one] for one in chosen])
        mask = masks.setdefault(as_text(owner), np.zeros((len(ids), len(names)), dtype=bool))
        mask[np.ix_(*at)] = True
    return masks


def _named(entry: Any) -> list[str]:
    """The rows or columns that a claim names, several separated by semicolons."""
    return [part.strip() for part in (id_text(entry) or "").split(";") if part.strip()]


def _by_cell(
    owners: Any, data: Any, n: int, names: list[str], target: str | None
) -> dict[str, Bools]:
    """What every owner holds, by names in the shape of the table, with or without its target.

    Owners go by the index of the table's rows and by the names of its columns where they have both.
    """
    frame = nw.from_native(as_frame(owners, "owners"), eager_only=True, pass_through=True)
    features = [j for j, name in enumerate(names) if name != target]
    every = range(len(names))
    if isinstance(frame, nw.DataFrame):
        frame = in_order(frame, data, "owners")
        own = [name for name in names if name in frame.columns]
        frame = frame.select(own) if len(own) == frame.shape[1] else frame
    array = np.asarray(frame.to_numpy() if isinstance(frame, nw.DataFrame) else frame, dtype=object)
    columns = next((some for some in (every, features) if array.shape == (n, len(some))), None)
    if columns is None:
        raise InputError(
            f"owners has the shape {array.shape}, but the table has "
            f"{(n, len(features))}{' without its target' if len(features) < len(names) else ''}: "
            "pass one name for every cell, or claims with the columns 'owner', 'row', "
            "'column'"
        )
    given = [None if is_missing(one) else as_text(one) for one in array.ravel()]
    texts = np.full((n, len(names)), None, dtype=object)
    texts[:, columns] = np.array(given, dtype=object).reshape(array.shape)
    found = sorted({one for one in given if one is not None})
    return {owner: np.asarray(texts == owner) for owner in found}
