"""A column seen once: its distinct texts, how often each is there, what they say, their shapes."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._base.words import counted, plural, shorten
from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._tables.texts.column import as_texts, series_texts
from shapley2d._tables.texts.numbers import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

SHOWN = 40
"""Letters of an entry in a message."""

_PLAIN = re.compile(
    r"-?(?:0|[1-9]\d*)(?:\.0|\.\d*[1-9])?(?:e[+-]\d+)?|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d:\d\d)?"
)
_RUN = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True)
class ColumnView:
    """A column of n rows as it is written and as it is read.

    The first ``known`` rows teach what is usual; each one behind them is judged as if it were one
    more. All rows are known, unless new ones stand below those of a trusted table.
    """

    column: Column
    # without space around them, and no longer than LONGEST characters
    words: list[str]
    codes: NDArray[np.intp]  # (n,): the position of every entry's text; -1 for an empty cell
    is_text: bool  # whether the table itself holds text there
    known: int

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def is_number(self) -> bool:
        """Whether it holds numbers or dates."""
        return self.column.kind in ("number", "date")

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How often each text occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    @property
    def n_written(self) -> int:
        """Number of entries that are not empty."""
        return int((self.codes >= 0).sum())

    @cached_property
    def is_new(self) -> NDArray[np.intp]:
        """(n,): 1 for rows behind the known ones, which count as one more."""
        return np.asarray(np.arange(self.codes.size) >= self.known, dtype=np.intp)

    @cached_property
    def taught(self) -> NDArray[np.intp]:
        """How often each text occurs in the known rows."""
        known = self.codes[: self.known]
        return np.bincount(known[known >= 0], minlength=len(self.words))

    @cached_property
    def size(self) -> NDArray[np.intp]:
        """(n,): known entries that are not empty, with each new one itself."""
        return np.asarray(np.maximum(self.taught.sum() + self.is_new, 1), dtype=np.intp)

    @cached_property
    def stray(self) -> NDArray[np.bool_]:
        """(n,): entries of another type, as text among numbers."""
        found = np.zeros(self.codes.size, dtype=bool)
        found[list(self.column.from_text.strays)] = True
        return found & np.isnan(self.column.entries)

    @cached_property
    def shapes(self) -> list[str]:
        return [shape_of(word) for word in self.words]

    @cached_property
    def is_odd(self) -> NDArray[np.bool_]:
        """(n,): entries whose texts tell something: all, but numbers written as Python does.

        Where the known entries of a column are all such numbers, only the others tell something.
        """
        if self.column.kind == "boolean":  # true or yes
            return self.stray
        odd = self.where(lambda word: not (self.is_number and _PLAIN.fullmatch(word)))
        odd |= bool(odd[self.taught > 0].any())
        return self.spread(odd) > 0

    def spread(self, of_words: Any, empty: float = 0.0) -> NDArray[np.float64]:
        """(n,): what is known of each text, for every entry."""
        return np.asarray(np.append(of_words, empty)[self.codes], dtype=np.float64)

    def share(self, chosen: NDArray[np.bool_]) -> float:
        """Share of the entries whose text is chosen."""
        return float(self.counts[chosen].sum()) / max(self.n_written, 1)

    def rows(self, chosen: NDArray[np.bool_]) -> NDArray[np.intp]:
        """Rows whose text is chosen."""
        return np.flatnonzero(np.append(chosen, False)[self.codes])

    def tally(self, kinds: Sequence[str]) -> Counter[str]:
        """How many entries are of each kind, by the kinds of the texts."""
        found: Counter[str] = Counter()
        for kind, count in zip(kinds, self.counts.tolist(), strict=True):
            found[kind] += count
        return found

    def where(self, test: Callable[[str], Any]) -> NDArray[np.bool_]:
        return np.array([bool(test(word)) for word in self.words], dtype=bool)

    def word(self, row: int) -> str:
        return self.words[int(self.codes[row])]

    def finding(
        self,
        kind: str,
        text: str,
        rows: NDArray[np.intp],
        suggestions: dict[int, str] | None = None,
        chance: float | NDArray[np.float64] = 0.0,
        *,
        depends_on: tuple[str, ...] = (),
        right: NDArray[np.float64] | None = None,
    ) -> ColumnFinding:
        """A finding about this column; ``chance`` is one for all its rows, or one for each."""
        chances = chance if isinstance(chance, np.ndarray) else None
        names, new = (self.name, *depends_on), suggestions or {}
        cut = [len(word) == LONGEST for word in (*self.words, "")]
        if any(cut):  # text that was not seen whole is neither replaced nor suggested
            new = {
                row: text
                for row, text in new.items()
                if len(text) < LONGEST and not cut[int(self.codes[row])]
            }
        return ColumnFinding(names, kind, text, rows, new, float(np.mean(chance)), chances, right)

    def entries(self, rows: NDArray[np.intp], one: str = "is", many: str = "are") -> str:
        """How many entries of the column, and a verb: ``2 entries of 'age' are``."""
        number = counted(rows.size, "entry", "entries")
        return f"{number} of {self.name!r} {plural(rows.size, one, many)}"

    def example(self, rows: NDArray[np.intp]) -> str:
        """The first of some entries: ``such as '999'``."""
        return f"such as {shortened(self.word(rows[0]))}"


def shortened(word: str) -> str:
    """A text in quotes, cut where it is long."""
    return repr(shorten(word, SHOWN))


def shape_of(text: str) -> str:
    """A text with every run of letters as ``a`` and every run of digits as ``9``.

    >>> shape_of("12.0 oz"), shape_of("St. Mary's")
    ('9.9 a', "a. a'a")
    """
    return _RUN.sub(lambda run: "9" if run[0][0].isdigit() else "a", text[:LONGEST])


def column_views(table: Table, known: int | None = None) -> list[ColumnView]:
    """Every column of a table as it is written; the first ``known`` rows teach what is usual.

    >>> from shapley2d._tables.convert import as_table
    >>> (one,) = column_views(as_table({"a": ["$1,200", "N/A", "$15", "$15"]}))
    >>> one.words, one.codes, one.column.kind
    (['$1,200', 'N/A', '$15'], array([0, 1, 2, 2]), 'number')
    """
    known = table.n_rows if known is None else known
    return [_view(table, j, known) for j in range(table.n_columns)]


def _view(table: Table, j: int, known: int) -> ColumnView:
    texts = _native_texts(table, j)
    # a column read from a file keeps its texts beside the numbers where they are not plain
    read = table.columns[j].from_text
    is_text = texts is not None or read.words is not None or bool(read.strays or read.marks)
    if texts is None:
        texts = as_texts(table.columns[j].written())
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    encoded = pc.dictionary_encode(pc.utf8_trim_whitespace(texts.cast(pa.large_string())))
    words = encoded.dictionary.to_pylist()
    codes = np.asarray(encoded.indices.fill_null(-1)).astype(np.intp)
    if "" in words:
        codes[codes == words.index("")] = -1
    words = [word[:LONGEST] for word in words]
    return ColumnView(table.columns[j], words, codes, is_text, known)


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
        return series_texts(series)
    return as_texts(series.to_list()) if series.dtype == nw.Object else None
