"""The file that says who contributed what: columns ``owner``, ``row`` and ``column``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._ownership.owners import AxisNames
from shapley2d.cli.reading.files import read_table
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d.cli.reading.inputs import Inputs

_FIELDS = ("owner", "row", "column")


def read_owners(path: str, inputs: Inputs, *, encoding: str | None = None) -> list[dict[str, Any]]:
    """Read the owners of a table, as :func:`shapley2d.value_blocks` takes them.

    Parameters
    ----------
    path : str
        A CSV or Parquet file. An empty ``row`` or ``column`` means all of them; an entry is a name, a position, a
        range such as ``0-99``, or several of them with ``;`` between.
    inputs : Inputs
        The table that they own; its rows go by their names, or by their positions in the file.
    encoding : str, optional

    Returns
    -------
    list of dict
        With the positions of rows and the names of columns, so that nothing is left to look up.
    """
    source = read_table(path, encoding=encoding, text_columns=_FIELDS)
    names = source.table.column_names
    wrong = [name for name in names if name not in _FIELDS]
    if "owner" not in names or wrong:
        what = f"column {wrong[0]!r} is not known" if wrong else "there is no column 'owner'"
        raise InputError(f"--owners {path}: {what}: the columns are owner, row and column")
    rows = AxisNames("row", inputs.row_names.tolist())
    columns = AxisNames("column", inputs.X.column_names)
    lines = []
    for number, line in enumerate(source.table.to_pylist()):
        where = f"--owners {path}, {source.where(number)}"
        if line["owner"] is None:
            raise InputError(f"{where}: the owner is empty: name one")
        row, column = line.get("row"), line.get("column")
        lines.append(
            {
                "owner": line["owner"],
                "row": None if row is None else rows.find(row, where).tolist(),
                "column": None
                if column is None
                else [inputs.X.column_names[j] for j in columns.find(column, where)],
            }
        )
    return lines
