"""What people read of a row: its line where a file was read, else its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table


def row_words(table: Table, position: Any) -> str:
    """One of the rows in a message: ``line 7`` where a file was read, else ``row patient 7``."""
    if table.lines is not None:
        return f"line {table.lines[position]}"
    return f"row {table.row_names[position]}"


class RowWords:
    """The part of a result that says what its rows are called, by ``row_names`` and ``lines``."""

    if TYPE_CHECKING:
        row_names: NDArray[Any]

        @property
        def lines(self) -> NDArray[np.int64] | None: ...

    @property
    def _row_word(self) -> str:
        """What people know rows by: ``"line"`` where a file was read, else ``"row"``."""
        return "row" if self.lines is None else "line"

    @property
    def _shown_rows(self) -> NDArray[Any]:
        """The lines of the rows, or their names."""
        return self.row_names if self.lines is None else self.lines

    def _row_columns(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """The columns of a frame that name rows: ``row``, and ``line`` where a file was read."""
        columns = {"row": self.row_names[rows]}
        return columns if self.lines is None else {**columns, "line": self.lines[rows]}
