"""Columns as they are written: the texts behind them, whatever kind they were given."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._tables.texts.column import as_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table


@dataclass(frozen=True)
class Written:
    """The different texts of a column and where they stand.

    Attributes
    ----------
    column : Column
        What it was read as.
    words : list of str
        The different texts, without space around them.
    codes : ndarray of int of shape (n,)
        The position of every entry's text; -1 where nothing stands.
    is_text : bool
        Whether the table itself holds text there.
    """

    column: Column
    words: list[str]
    codes: NDArray[np.intp]
    is_text: bool

    @property
    def name(self) -> str:
        """The column's name."""
        return self.column.name

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How often each text occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    @property
    def n_written(self) -> int:
        """Entries that are not empty."""
        return int((self.codes >= 0).sum())

    def rows(self, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Rows whose text is among the chosen ones."""
        return np.flatnonzero(np.append(chosen, False)[self.codes])

    def each(self, test: Callable[[str], Any]) -> NDArray[np.bool_]:
        """For which texts something holds."""
        return np.array([bool(test(word)) for word in self.words], dtype=bool)


def written_columns(table: Table) -> list[Written]:
    """Every column of a table as it is written.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> (one,) = written_columns(as_table({"a": ["$1,200", "N/A", "$15", "$15"]}))
    >>> one.words, one.codes, one.column.kind
    (['$1,200', 'N/A', '$15'], array([0, 1, 2, 2]), 'number')
    """
    return [_written(table, j) for j in range(table.n_columns)]


def _written(table: Table, j: int) -> Written:
    texts = _native_texts(table, j)
    # of a file, what is not written as a computer would is kept beside the numbers
    is_text = texts is not None or table.columns[j].from_text.words is not None
    if texts is None:
        texts = as_texts(table.columns[j].text())
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    encoded = pc.dictionary_encode(pc.utf8_trim_whitespace(texts.cast(pa.large_string())))
    words = encoded.dictionary.to_pylist()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.intp)
    if "" in words:
        codes[codes == words.index("")] = -1
    return Written(table.columns[j], words, codes, is_text)


def _native_texts(table: Table, j: int) -> Any:
    """The column as a pyarrow array of text, where the user's table holds text; None otherwise."""
    if isinstance(table.native, np.ndarray):
        if table.native.dtype.kind not in "OUT":
            return None
        return as_texts(table.native[:, j].tolist())
    frame = nw.from_native(table.native, eager_only=True, pass_through=True)
    if not isinstance(frame, nw.DataFrame) or frame.shape != table.shape:
        return None
    series = frame.get_column(frame.columns[j])
    if series.dtype == nw.String:
        return series.alias("entries").to_arrow()
    return as_texts(series.to_list()) if series.dtype == nw.Object else None
