"""Lists of pieces of work: some validation rows under some column subsets, by number.

A run with all subsets and a run with a sample of them differ in their list alone. With all subsets
a piece walks through all of them for a chunk of validation rows. With a sample every chunk has
subsets of its own, so that nothing of it has to be kept but its estimate, and later numbers use the
validation rows again with new subsets. A piece is known by its number and may be computed anywhere.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.streams import seed_sequence
from shapley2d._estimation.workers import ordered_results
from shapley2d._knn.columns.chunk_design import ChunkLines, chunk_design

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from shapley2d._knn.columns.chunk_design import ChunkDesign
    from shapley2d._knn.columns.semivalue import ColumnSemivalue
    from shapley2d._knn.row_values import RowValues

    Floats = NDArray[np.float64]
    Chunks = list[tuple[int, NDArray[np.intp]]]

FIRST_PER_COLUMN = 8
"""Subsets to a column that a sampled run begins with."""

MANY_CHUNKS = 32
"""Chunks that the validation rows of a split are cut into, where there are enough rows."""

LEAST_ROWS = 4
"""Validation rows of a sampled chunk: with fewer, adding up costs as much as computing."""

_CHUNK_WORK = 2**33
"""Triples of row, validation row and subset of a piece, at most: a minute or two on one core.

A checkpoint has whole pieces only. With 2**35 a million rows had none after five minutes.
"""

ROUND_WORK = 2**30
"""The same where a run may end before all validation rows were used: it takes eight rounds."""

_SQUARES = 24  # behind the variance of a split by its subsets, at least
_NUMBERS = 2**24  # that the error lines of a piece are, if they are many
_MANY_LINES = 6  # of errors for every column
_MOST_LINES = 10  # of them, however few the chunks
_ALGEBRA_ROWS = 140
"""Inverting a matrix of p pairs takes as long as ranking p^2 / 140 rows under 2 p subsets.

1e-10 s a flop (p^3 of them) against 7 ns a row: with fewer rows to a piece the algebra would take
most of the time.
"""


@dataclass(frozen=True)
class PieceResult:
    """What a piece of work has given.

    Attributes
    ----------
    lines : ChunkLines
        Values, and lines whose squares are their variances by the sampled subsets.
    n_valid : int
        Validation rows of the piece.
    dof : float
        Degrees of freedom behind such a variance.
    """

    lines: ChunkLines
    n_valid: int
    dof: float = math.inf

    @property
    def nbytes(self) -> int:
        """Its size, for whoever sends it."""
        lines = self.lines
        parts = (lines.values, lines.errors, lines.squares)
        return sum(part.nbytes for part in parts if part is not None)


@dataclass(frozen=True)
class AllSubsetPieces:
    """Chunks of validation rows, each under all column subsets.

    Attributes
    ----------
    parts : list of RowValues
        One per stratum: that of its split.
    chunks : list of (int, ndarray)
        The stratum and the validation rows of every piece.
    weights : tuple of two ndarrays of shape (m + 1,)
        What subsets of every size count for the columns in them, and for the others.
    """

    parts: list[RowValues]
    chunks: Chunks
    weights: tuple[Floats, Floats]
    takes_all = True
    is_pilot = False
    error_lines = 0

    @cached_property
    def counts(self) -> list[int]:
        """Pieces of every stratum."""
        return _counts(self.chunks)

    @property
    def n_subsets(self) -> int:
        """Subsets of a piece."""
        return int(2 ** (len(self.weights[0]) - 1))

    def __call__(self, number: int) -> PieceResult:
        k, rows = self.chunks[number]
        values = self.parts[k].walk(*self.weights, valid=rows).T
        return PieceResult(ChunkLines(values, np.zeros((0, *values.shape))), rows.size)


@dataclass(frozen=True)
class SampledPieces:
    """Chunks of validation rows, each under column subsets of its own.

    Attributes
    ----------
    parts : list of RowValues
    chunks : list of (int, ndarray)
        As of :class:`AllSubsetPieces`; numbers beyond go through them again.
    target : ColumnSemivalue
    n_subsets : int
    error_lines : int
        Lines for every column whose squares add up to the variances.
    squared : bool
        Whether a GPU adds up their squares, in place of the lines.
    seed : int
    attempt : int
        0 in the list that a run begins with, 1 in the list with as many subsets as it takes.
    is_pilot : bool
        Whether the first pieces say how many subsets it takes.
    zero_baseline : bool
        Whether no columns are worth 0.
    """

    parts: list[RowValues]
    chunks: Chunks
    target: ColumnSemivalue
    n_subsets: int
    error_lines: int
    squared: bool
    seed: int
    attempt: int
    is_pilot: bool
    zero_baseline: bool
    takes_all = False

    @cached_property
    def counts(self) -> list[int]:
        """Pieces of every stratum, in a pass through the validation rows."""
        return _counts(self.chunks)

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes, while this process can do something else."""
        return any(part.rows_at_a_time > 1 for part in self.parts)

    def design(self, number: int) -> ChunkDesign:
        """The subsets of a piece, and the weights of their row values in its lines."""
        return chunk_design(
            self.target,
            self.n_subsets,
            seed_sequence(self.seed, "chunk pairs", self.attempt, number),
            error_lines=self.error_lines,
            empty_is_zero=self.zero_baseline,
        )

    def __call__(self, number: int) -> PieceResult:
        return self.under(number, self.design(number))

    def under(self, number: int, design: ChunkDesign) -> PieceResult:
        """What a piece gives under the subsets of its design."""
        k, rows = self.chunks[number % len(self.chunks)]
        if self.squared and design.error_lines:
            lines = self.parts[k].contract_squares(design, valid=rows)
        else:
            found = self.parts[k].contract(design.coalitions, design.weights, valid=rows)
            lines = ChunkLines.split(found, design)
        return PieceResult(lines, rows.size, design.dof)


Pieces = AllSubsetPieces | SampledPieces


def _counts(chunks: Chunks) -> list[int]:
    return [int(count) for count in np.bincount([k for k, _ in chunks])]


def results_in_order(
    pieces: Pieces, start: int, stop: int, cluster: Any = None
) -> Generator[PieceResult, None, None]:
    """Results of pieces ``start .. stop - 1`` in order, wherever they are computed."""
    numbers = range(start, stop)
    if cluster is not None:
        work: Any = pieces  # its results are more than an array, which workers do not mind
        results: Any = ordered_results(work, start, stop, cluster=cluster)
        return cast("Generator[PieceResult, None, None]", results)
    if isinstance(pieces, AllSubsetPieces):
        return (pieces(number) for number in numbers)
    # the design of a piece is made while the one before it is computed
    designs = map_in_threads(lambda number: (number, pieces.design(number)), numbers, 1)
    if pieces.on_gpu:  # a result is added up while the GPU works on the next
        return map_in_threads(lambda piece: pieces.under(*piece), designs, 1)
    return (pieces.under(*piece) for piece in designs)


def chunk_rows(
    n_rows: int,
    n_valid: int,
    n_columns: int,
    n_subsets: int,
    at_least: int = 1,
    work: int = _CHUNK_WORK,
) -> int:
    """Validation rows of a sampled piece.

    Many chunks make for good errors; with some rows each, adding up and algebra cost little beside.

    Examples
    --------
    >>> chunk_rows(32_561, 1_000, 14, 112), chunk_rows(1_000_000, 10_000, 50, 400)
    (32, 10)
    >>> chunk_rows(100, 50, 5, 40), chunk_rows(100, 500, 30, 2_000)
    (4, 72)
    >>> chunk_rows(1_000_000, 10_000, 50, 400, at_least=32)
    640
    """
    by_work = max(work // (n_rows * n_columns * 2 * FIRST_PER_COLUMN), LEAST_ROWS)
    by_algebra = math.ceil((n_subsets / 2) ** 2 / (_ALGEBRA_ROWS * n_rows))
    rows = int(np.clip(-(-n_valid // MANY_CHUNKS), max(LEAST_ROWS, by_algebra), by_work))
    if at_least > 1:  # on a GPU, which takes them beside one another
        rows = -(-2 * n_valid // (MANY_CHUNKS * at_least)) * at_least
    return max(min(rows, n_valid), 1)


def n_error_lines(n_cells: float, n_chunks: int) -> int:
    """How many error lines every column has in a piece: more where they take little memory.

    A cell's value may come from one chunk alone, and what is known of its error then does too.

    Examples
    --------
    >>> n_error_lines(200_000, 32), n_error_lines(5e7, 32), n_error_lines(5e7, 8)
    (6, 1, 3)
    """
    least = min(-(-_SQUARES // max(n_chunks, 1)), _MOST_LINES)
    return int(max(least, min(_NUMBERS // max(n_cells, 1), _MANY_LINES), 1))
