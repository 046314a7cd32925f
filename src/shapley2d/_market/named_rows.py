"""Sets of rows by name: the entries of a column of the table, or clusters of similar rows."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import CLUSTERS
from shapley2d._market.grid import Sets
from shapley2d._tables.intake import is_path, names_of, opened, without_column
from shapley2d._tables.row_clusters import cluster_rows
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._tables.table import Table

_CLUSTERS = re.compile(r"clusters(?:=(\d+))?")


@dataclass(frozen=True)
class Clusters:
    """Clusters of similar rows in the place of labels."""

    count: int | None  # None: 40, fewer where that leaves clusters of less than 10 rows

    def of(self, table: Table, seed: int) -> Sets:
        """The cluster of every row of a table."""
        count = self.count
        if count is None:
            count = min(CLUSTERS, max(2, table.n_rows // 10))
        if not 2 <= count <= table.n_rows:
            raise InputError(
                Setting("rows", f"clusters={count}"),
                f" must have from 2 to {table.n_rows} clusters, the number of rows",
            )
        labels, names = cluster_rows(table, count, seed)
        return Sets(labels, names)


def is_clusters(text: str) -> bool:
    """Whether a text asks for clusters rather than naming a column."""
    return _CLUSTERS.fullmatch(text) is not None


def named_rows(
    X: Any, y: Any, X_valid: Any, rows: Any, owners: Any, owner_column: Any
) -> tuple[Any, Any, Any]:
    """X and X_valid without a column that names the sets of rows, and labels in its place."""
    option, name = ("rows", rows) if owner_column is None else ("owner_column", owner_column)
    for other, labels in (("owners", owners), ("rows", rows)):
        if owner_column is not None and labels is not None:
            raise InputError(
                Setting("owner_column", name), " names the owners, and so does ", Setting(other),
                ": give one of them",
            )  # fmt: skip
    if owner_column is not None and not isinstance(name, str):
        raise InputError(
            Setting("owner_column", name), " must be the name of a column of the table"
        )
    if not isinstance(name, str) or (is_path(X) and not isinstance(y, str)):
        return X, X_valid, rows  # labels; or a file without a target, which is refused later
    X = opened(X)
    asked = _CLUSTERS.fullmatch(name)
    if option == "rows" and asked and name not in names_of(X):
        if owners is not None:
            raise InputError(
                Setting("rows", name), " makes sets that nobody owns, but there are ",
                Setting("owners"), ": leave one of them out",
            )  # fmt: skip
        return X, X_valid, Clusters(None if asked[1] is None else int(asked[1]))
    X, labels = without_column(X, name, "X", option)
    X_valid = opened(X_valid)
    if X_valid is not None and name in names_of(X_valid):
        X_valid, _ = without_column(X_valid, name, "X_valid", option)
    return X, X_valid, labels
