"""What people read of a row: its line where a file was read, else its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class RowWords:
    """The part of a result that says what its rows are called.

    Attributes
    ----------
    row_names : ndarray of shape (n,)
    lines : ndarray of shape (n,) or None
        Where a file was read whose rows have no names: the line where each row starts.
    """

    if TYPE_CHECKING:
        row_names: NDArray[Any]

        @property
        def lines(self) -> NDArray[np.int64] | None: ...

    @property
    def row_word(self) -> str:
        """What people know rows by: ``"line"`` where a file was read, else ``"row"``."""
        return "row" if self.lines is None else "line"

    @property
    def shown_rows(self) -> NDArray[Any]:
        """The lines of the rows, or their names."""
        return self.row_names if self.lines is None else self.lines

    def shown_row(self, i: int) -> str:
        """The line of a row by position, or its name."""
        return str(self.shown_rows[i])

    def row_columns(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """The columns of a frame that name rows: ``row``, and ``line`` where a file was read."""
        columns = {"row": self.row_names[rows]}
        return columns if self.lines is None else {**columns, "line": self.lines[rows]}
