"""The file that says who contributed what: columns ``owner``, ``row`` and ``column``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._market.owners import AxisNames, read_claims
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.texts.column import clean_texts

if TYPE_CHECKING:
    from shapley2d.cli.reading.inputs import Inputs


def read_owners(path: str, inputs: Inputs, *, encoding: str | None = None) -> list[dict[str, Any]]:
    """Read the owners of a table, as :func:`shapley2d.value_blocks` takes them.

    An empty ``row`` or ``column`` means all of them; an entry is a name, a position, a range such
    as ``0-99``, or several of them with ``;`` between. Positions of rows and names of columns are
    looked up, by the names of the rows or their positions in the file.
    """
    source = read_table(path, encoding=encoding)
    rows = AxisNames("row", inputs.row_names.tolist())
    columns = AxisNames("column", inputs.X.column_names)
    inputs.train.notes.extend(source.notes)
    name = f"--owners {path}"
    claims = read_claims(
        clean_texts(source.table), name, lambda row: f"{name}, {source.where(row)}"
    )
    return [
        {
            "owner": claim.owner,
            "row": None if claim.row is None else rows.find(claim.row, claim.where).tolist(),
            "column": None
            if claim.column is None
            else [inputs.X.column_names[j] for j in columns.find(claim.column, claim.where)],
        }
        for claim in claims
    ]
