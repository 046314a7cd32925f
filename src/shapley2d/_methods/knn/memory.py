"""What nearest neighbours need of memory, in bytes, by what there is to do.

The coded tables and the values with their errors; what every thread works with; and what the column
axis keeps: the row values of all pairs of coalitions, sums over chunks of validation rows, or both
for one chunk at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from shapley2d._knn.columns.sampling import STORE_BYTES
from shapley2d._knn.small_table import ROWS as SMALL_ROWS
from shapley2d._knn.threads import coalitions_at_a_time

PROBES = 8
"""Random projections of a row's game in every chunk."""

_SOME_LINES = 2.7e8  # row values of a chunk that are laid out at a time
_SQUARES = 24  # behind a variance by coalitions, at least
_CHANGES = 2**24  # numbers that changes of a chunk's values are, if they are many
_MANY_CHANGES = 6  # of every value


@dataclass(frozen=True)
class Memory:
    """What all ways to the values share.

    Attributes
    ----------
    n_rows, n_columns, n_splits, threads : int
    small : bool
        Whether the kernels of small tables lay out dissimilarities in numpy.
    binned : bool
        Whether a sample is ranked exactly, to judge bins.

    Examples
    --------
    >>> memory = Memory(1_000_000, 50, 1, 2, small=False, binned=True)
    >>> round(memory.streamed(800, 200) / 1e9, 1)  # bytes
    6.3
    """

    n_rows: int
    n_columns: int
    n_splits: int
    threads: int
    small: bool
    binned: bool

    @property
    def _cells(self) -> float:
        return float(self.n_rows) * self.n_columns

    def shared(self) -> float:
        """Coded tables, values and errors, threads."""
        per_thread = 250.0 + 16.0 * coalitions_at_a_time(self.n_rows)
        if self.small:
            per_thread = 40.0 * self.n_columns * SMALL_ROWS
        judging = 16.0 * self._cells + 800.0 * self.n_rows if self.binned else 0.0
        cells = (16.0 * self.n_splits + 24.0) * self._cells
        return cells + judging + self.threads * per_thread * self.n_rows

    def sampled(self, n_subsets: int, *, parts: int, keeps: bool) -> float:
        """With the row values of all pairs, in single precision where they are many; a checkpoint has all of them."""
        lines = 8.0 * self.n_rows * parts * (n_subsets // 2)
        lines = lines if lines <= STORE_BYTES else lines / 2
        return self.shared() + lines + (8.0 * self.n_rows * n_subsets if keeps else 0.0)

    def walked(self) -> float:
        """With the sums over chunks of every split, and those that threads hand in."""
        return self.shared() + 16.0 * self._cells * (self.n_splits + self.threads)

    def streamed(self, n_subsets: int, n_chunks: int) -> float:
        """With sums over chunks, the results of one, and some of its row values."""
        left_out = changes_of_values(self._cells, n_chunks // self.n_splits)
        lines = min(8.0 * self.n_rows * n_subsets, _SOME_LINES)
        return (
            self.shared()
            + (16.0 + 8.0 * (1 + left_out)) * self._cells
            + 8.0 * PROBES * self.n_rows
            + lines
        )


def changes_of_values(cells: float, n_chunks: int) -> int:
    """How many changes of every value a chunk gives, which its error is read off: more where they take little memory.

    A cell's value may come from one chunk alone, and what is known of its error then does too.

    Examples
    --------
    >>> changes_of_values(200_000, 32), changes_of_values(5e7, 32), changes_of_values(5e7, 8)
    (6, 1, 3)
    """
    least = -(-_SQUARES // max(n_chunks, 1))
    return int(max(least, min(_CHANGES // max(cells, 1), _MANY_CHANGES), 1))
