"""A finding about a whole column, and a column as it is written, in which findings are made."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa, pc
from shapley2d._base.words import counted, plural, shorten
from shapley2d._tables.texts.column import as_texts, series_texts
from shapley2d._tables.texts.numbers import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table

SURE, UNKNOWN, LOW, LEAST = 0.95, 0.45, 0.3, 0.15
"""Probabilities of being wrong where all entries of a finding have the same evidence, measured on
tables with known truth and on their clean twins; the last is a second spelling or format."""

SUREST, SURE_RIGHT, UNSURE = 0.97, 0.9, 0.8
"""Cap on the probability that a suggested entry is right, or that a rule states; from where on a
suggestion is sure, and may be written unseen; and cap for those that do not follow from the entry.
"""

RARE = 0.02
"""Share of the rows up to which something is an exception, not how the table is made."""

SCREENED = 20_000
"""Rows, texts or pairs of columns that are compared with each other, at most."""

SAME_KEY = "another row has the same key"
"""The reason of an entry that a repeated key alone makes suspect."""

COMMON = 0.1
"""Share of the commonest entry up to which rows, or columns, hardly agree by chance."""

HABIT = 0.05
"""Share of the rows from which something is a second way to do it, and no exception."""

SHOWN = 40
"""Letters of an entry in a message."""


@dataclass(frozen=True)
class ColumnFinding:
    """A problem of a whole column, or of two that belong together.

    Attributes
    ----------
    columns : tuple of str
        The column it is about, then those that it depends on.
    kind : str
        ``"units"``, ``"signs"``, ``"formats"``, ``"suffix"``, ``"date orders"``, ``"key"``,
        ``"spellings"``, ``"codes"``, ``"rule"`` and so on.
    text : str
        One plain sentence that names the column and says what to do.
    rows : ndarray of int
        Positions of the rows concerned; empty where all are.
    suggestions : dict of int to str
        The suggested entry by row, as text; may be empty.
    probability : float
        How likely an entry of these rows is wrong, on average.
    chances : ndarray or None
        How likely it is row by row, where rows differ.
    right : ndarray or None
        How likely the suggestions are right where the entries are wrong, row by row; None where the
        kind of the finding tells it.
    """

    columns: tuple[str, ...]
    kind: str
    text: str
    rows: NDArray[np.intp]
    suggestions: dict[int, str] = field(default_factory=dict)
    probability: float = 0.0
    chances: NDArray[np.float64] | None = None
    right: NDArray[np.float64] | None = None

    @property
    def row_chances(self) -> NDArray[np.float64]:
        """How likely each entry is wrong, row by row."""
        if self.chances is None:
            return np.full(self.rows.size, self.probability)
        return self.chances


@dataclass(frozen=True)
class WrittenColumn:
    """The distinct texts of a column and their rows, whatever type the column was given."""

    column: Column
    # without space around them, and no longer than LONGEST characters
    words: list[str]
    codes: NDArray[np.intp]  # (n,): the position of every entry's text; -1 for an empty cell
    is_text: bool  # whether the table itself holds text there

    @property
    def name(self) -> str:
        return self.column.name

    @cached_property
    def counts(self) -> NDArray[np.intp]:
        """How often each text occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.words))

    @property
    def n_written(self) -> int:
        """Number of entries that are not empty."""
        return int((self.codes >= 0).sum())

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


def logistic(logit: Any) -> Any:
    """The probability that log-odds say."""
    return 1 / (1 + np.exp(-np.clip(logit, -30.0, 30.0)))


def fact(name: str, kind: str, text: str) -> ColumnFinding:
    """A finding about a whole column that calls no entry wrong."""
    return ColumnFinding((name,), kind, text, rows=np.zeros(0, dtype=np.intp))


def shortened(word: str) -> str:
    """A text in quotes, cut where it is long."""
    return repr(shorten(word, SHOWN))


def written_columns(table: Table) -> list[WrittenColumn]:
    """Every column of a table as it is written.

    >>> from shapley2d._tables.convert import as_table
    >>> (one,) = written_columns(as_table({"a": ["$1,200", "N/A", "$15", "$15"]}))
    >>> one.words, one.codes, one.column.kind
    (['$1,200', 'N/A', '$15'], array([0, 1, 2, 2]), 'number')
    """
    return [_written(table, j) for j in range(table.n_columns)]


def _written(table: Table, j: int) -> WrittenColumn:
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
    return WrittenColumn(table.columns[j], words, codes, is_text)


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
