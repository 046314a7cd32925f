"""The label as one more column of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._tables.table import Column, Table
from shapley2d._tables.target import as_series

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._tables.target import Target

LABEL = "(label)"
"""Name of the label's column where the target has none."""


def label_name(y: Any, column_names: Sequence[str]) -> str:
    """Name of the label's column: that of the target, if it has one that no column bears.

    Examples
    --------
    >>> label_name([0, 1], ["age"])
    '(label)'
    """
    name = y if isinstance(y, str) else getattr(as_series(y), "name", None)
    wanted = LABEL if name is None or name == "" else str(name)
    candidates = (wanted, LABEL, *(f"{LABEL} {k}" for k in range(2, len(column_names) + 3)))
    return next(candidate for candidate in candidates if candidate not in column_names)


def with_label(table: Table, target: Target, name: str) -> Table:
    """The table with its target as the last column, to show the content of the valued cells."""
    if target.task == "regression":
        column = Column(name, "number", np.asarray(target.codes, dtype=np.float64))
    else:
        categories = tuple(str(label) for label in target.classes.tolist())
        column = Column(name, "category", target.codes.astype(np.float64), categories)
    return Table((*table.columns, column), table.row_names, table.native)
