"""The list of pieces of work of a run: some validation rows under some column subsets, by number.

Validation rows are dealt into chunks, stratum by stratum, in stratified random order. A piece takes
a chunk under all column subsets, or under a sample of its own. Nothing of a piece has to be kept
but its lines: the values of every column, and of the label where it is one, and lines whose squares
add up to their variances by the sample. Later numbers go through the chunks again with new subsets.
A piece is known by its number and may be computed anywhere. Every run, whatever ends it, adds up
the first pieces of its list.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._base.streams import generator
from shapley2d._estimation.old_workers import ordered_results
from shapley2d._knn.kriging import Kriging
from shapley2d._knn.strata import deal_stratum, in_turn
from shapley2d._theory.semivalues import feature_semivalue, marginal_weights, size_probabilities

if TYPE_CHECKING:
    from collections.abc import Generator

    from numpy.typing import NDArray

    from shapley2d._knn.game import RowValues
    from shapley2d._knn.kriging import Design
    from shapley2d._knn.strata import Stratum
    from shapley2d._theory.semivalues import Semivalue

    Floats = NDArray[np.float64]
    Masks = NDArray[np.bool_]

MANY_CHUNKS = 32
"""Chunks that the validation rows of a split are cut into, where there are enough rows."""

LEAST_ROWS = 4
"""Validation rows of a chunk, if a piece is not too long: with fewer, adding up costs as much."""

PIECE_WORK = 2**27
"""Triples of row, validation row and subset of a piece: a second of one core.

A checkpoint has whole pieces, and a time limit ends a run after one.
"""

_MANY_ROWS = 16  # of a chunk under all subsets, if it leaves 16 chunks: their weights cost time
_SQUARES = 24  # behind the variance of a split by its subsets, at least
_NUMBERS = 2**24  # that the error lines of a piece are, if they are many
_MANY_LINES = 6  # of errors for every column, where chunks are no more than usual
_MOST_LINES = 10  # of them, however few the chunks
_ALGEBRA_ROWS = 140
"""Inverting a matrix of p pairs takes as long as ranking p^2 / 140 rows under 2 p subsets.

1e-10 s a flop (p^3 of them) against 7 ns a row: with fewer rows to a piece the algebra would take
most of the time.
"""


@dataclass(frozen=True)
class ColumnLines:
    """What the lines of a piece are: the values of the columns, and of the label as one of them.

    With the label phi(F + label) = phi(F), and without it nothing can be learned. So the columns'
    values are a semivalue of the game without the label, times a factor
    (:func:`~shapley2d._theory.semivalues.feature_semivalue`), and the label's is the mean of phi(F)
    over the column subsets F that it meets, of size s with weight p(s; m + 1) each. For Shapley's
    value it is what the columns leave of phi(everything).

    ``n_columns``: the number m of columns, without the label.
    ``semivalue``: of all of them, with the label.
    ``zero_baseline``: whether no columns are worth 0.
    """

    n_columns: int
    semivalue: Semivalue
    has_label: bool
    zero_baseline: bool

    def __len__(self) -> int:
        return self.n_columns + self.has_label

    @property
    def _of_columns(self) -> tuple[float, Semivalue]:
        return feature_semivalue(self.semivalue) if self.has_label else (1.0, self.semivalue)

    @cached_property
    def _kriging(self) -> Kriging:
        return Kriging(self.n_columns, self._of_columns[1])

    def of_all_subsets(self, subsets: Masks) -> Floats:
        """Weights (lines, subsets) of row values where all subsets are evaluated, some at a time.

        >>> ColumnLines(1, "shapley", True, False).of_all_subsets(np.array([[False], [True]]))
        array([[-0.5,  0.5],
               [ 0.5,  0.5]])
        """
        m, size = self.n_columns, subsets.sum(axis=1)
        factor, semivalue = self._of_columns
        joins = factor * marginal_weights(semivalue, m)
        weights = np.empty((len(self), len(subsets)))
        joined, others = np.append(0.0, joins)[size], np.append(joins, 0.0)[size]
        weights[:m] = np.where(subsets.T, joined, -others)
        if self.has_label:
            weights[m] = marginal_weights(self.semivalue, m + 1)[size]
        if self.zero_baseline:
            weights[:, size == 0] = 0.0
        return weights

    def design(self, n_subsets: int, random: np.random.Generator, error_lines: int) -> Design:
        """Some subsets, and weights (1 + error lines, lines, subsets) of their row values."""
        design = self._kriging.design(n_subsets, random, error_lines)
        if self.zero_baseline:
            design.weights[:, :, 0] = 0.0
        if not self.has_label:
            return design
        weights = self._of_columns[0] * design.weights
        label = -weights.sum(axis=1, keepdims=True)
        if self.semivalue == "shapley":
            label[0, 0, 1] += 1.0  # all columns
            return design._replace(weights=np.concatenate([weights, label], axis=1))
        return self._with_mean(design._replace(weights=weights), n_subsets, random)

    def _with_mean(self, design: Design, n_subsets: int, random: np.random.Generator) -> Design:
        """The design with the label: a mean over as many random subsets, as it meets them."""
        m, (n_lines, _, before) = self.n_columns, design.weights.shape
        size = random.choice(m + 1, n_subsets, p=size_probabilities(self.semivalue, m + 1))
        met = random.permuted(np.arange(m)[None, :] < size[:, None], axis=1)
        signs = random.choice([-1.0, 1.0], (n_lines - 1, n_subsets))
        weights = np.zeros((n_lines, m + 1, before + n_subsets))
        weights[:, :m, :before] = design.weights
        weights[0, m, before:] = 1 / n_subsets
        # the squares of such lines are the variance of the mean, on average
        off = signs - signs.mean(axis=1, keepdims=True)
        weights[1:, m, before:] = off / math.sqrt(n_subsets * (n_subsets - 1) * max(n_lines - 1, 1))
        if self.zero_baseline:
            weights[:, m, before:][:, size == 0] = 0.0
        coalitions = np.concatenate([design.coalitions, met])
        return design._replace(coalitions=coalitions, weights=weights)


@dataclass(frozen=True)
class PieceResult:
    """What a piece of work has given.

    ``errors`` (error lines, lines, n): lines whose squares add up to the variances of the values by
        the sampled subsets.
    ``n_valid``: validation rows of the piece.
    ``dof``: degrees of freedom behind such a variance.
    """

    values: Floats
    errors: Floats
    n_valid: int
    dof: float = math.inf

    @property
    def nbytes(self) -> int:
        """Its size, for whoever sends it."""
        return self.values.nbytes + self.errors.nbytes


@dataclass(frozen=True)
class Pieces:
    """Chunks of validation rows, each under all column subsets, or under some of its own.

    ``parts``: one per stratum: that of its split.
    ``chunks``: the stratum and the validation rows of every piece of a pass.
    ``n_subsets``: subsets of a piece; 2^m are all of them.
    ``error_lines``: lines for every column whose squares add up to the variances.
    """

    parts: list[RowValues]
    chunks: list[tuple[int, NDArray[np.intp]]]
    lines: ColumnLines
    n_subsets: int
    error_lines: int
    seed: int

    @property
    def takes_all(self) -> bool:
        """Whether a piece takes all subsets."""
        return bool(self.n_subsets >= 2**self.lines.n_columns)

    @property
    def on_gpu(self) -> bool:
        """Whether a GPU computes, while this process can do something else."""
        return any(part.rows_at_a_time > 1 for part in self.parts)

    @cached_property
    def counts(self) -> list[int]:
        """Pieces of every stratum in a pass through the validation rows."""
        return [int(count) for count in np.bincount([k for k, _ in self.chunks])]

    def stratum(self, number: int) -> int:
        """The stratum of a piece."""
        return self.chunks[number % len(self.chunks)][0]

    def design(self, number: int) -> Design | None:
        """The subsets of a piece with the weights of their row values; None for all of them."""
        if self.takes_all:
            return None
        random = generator(self.seed, "chunk pairs", number)
        return self.lines.design(self.n_subsets, random, self.error_lines)

    def __call__(self, number: int) -> PieceResult:
        return self.under(number, self.design(number))

    def under(self, number: int, design: Design | None) -> PieceResult:
        """What a piece gives under the subsets of its design."""
        k, rows = self.chunks[number % len(self.chunks)]
        part, n_lines = self.parts[k], len(self.lines)
        if design is None:
            values = part.contract_all(self.lines.of_all_subsets, n_lines, valid=rows)
            return PieceResult(values, np.zeros((0, *values.shape)), rows.size)
        flat = design.weights.reshape(-1, len(design.coalitions))
        found = part.contract(design.coalitions, flat, valid=rows)
        found = found.reshape(-1, n_lines, found.shape[1])
        return PieceResult(found[0], found[1:], rows.size, design.dof)

    def results(
        self, start: int, stop: int, cluster: Any = None
    ) -> Generator[PieceResult, None, None]:
        """Results of pieces ``start .. stop - 1`` in order, wherever they are computed."""
        if cluster is not None:
            work: Any = self  # its results are more than an array, which workers do not mind
            found: Any = ordered_results(work, start, stop, cluster=cluster)
            return cast("Generator[PieceResult, None, None]", found)
        if self.takes_all and not self.on_gpu:
            return (self.under(number, None) for number in range(start, stop))
        # the design of a piece is made while the one before it is computed
        designs = map_in_threads(
            lambda number: (number, self.design(number)), range(start, stop), 1
        )
        if self.on_gpu:  # a result is added up while the GPU works on the next
            return map_in_threads(lambda piece: self.under(*piece), designs, 1)
        return (self.under(*piece) for piece in designs)


def make_pieces(
    parts: list[RowValues],
    strata: list[Stratum],
    labels: list[NDArray[np.generic]],
    lines: ColumnLines,
    n_subsets: int,
    seed: int,
) -> Pieces:
    """Deal the validation rows of all strata into chunks."""
    random = generator(seed, "validation chunks")
    takes_all = n_subsets >= 2**lines.n_columns
    dealt = []
    for one in strata:
        part = parts[one.split]
        at_once = part.rows_at_a_time
        size = chunk_rows(part.n_rows, part.n_valid, n_subsets, at_once, takes_all=takes_all)
        least = max(1 if takes_all else LEAST_ROWS, at_once)
        y = labels[one.split]
        dealt.append(deal_stratum(one, y, size, random, least=least, repeats=not takes_all))
    n_cells = max(part.n_rows for part in parts) * len(lines)
    error_lines = n_error_lines(n_cells, min(map(len, dealt)))
    of_strata = [parts[one.split] for one in strata]
    return Pieces(of_strata, in_turn(dealt), lines, n_subsets, error_lines, seed)


def chunk_rows(
    n_rows: int, n_valid: int, n_subsets: int, at_once: int = 1, *, takes_all: bool = False
) -> int:
    """Validation rows of a piece.

    Many chunks make for good errors; with some rows each, adding up and algebra cost little beside.

    >>> chunk_rows(32_561, 1_000, 168), chunk_rows(1_000_000, 10_000, 400)
    (24, 4)
    >>> chunk_rows(100, 50, 40), chunk_rows(100, 500, 2_000)
    (4, 72)
    >>> chunk_rows(1_000_000, 10_000, 400, at_once=32)
    640
    >>> chunk_rows(200, 400, 2**9, takes_all=True), chunk_rows(10**6, 400, 2**20, takes_all=True)
    (16, 1)
    """
    many = -(-n_valid // MANY_CHUNKS)
    by_work = PIECE_WORK // (n_rows * n_subsets)
    if at_once > 1:  # on a GPU, which takes them side by side
        rows = -(-2 * n_valid // (MANY_CHUNKS * at_once)) * at_once
    elif takes_all:
        rows = min(max(many, LEAST_ROWS, min(n_valid // 16, _MANY_ROWS)), by_work)
    else:
        by_algebra = math.ceil((n_subsets / 2) ** 2 / (_ALGEBRA_ROWS * n_rows))
        rows = min(max(many, LEAST_ROWS, by_algebra), max(by_work, LEAST_ROWS))
    return max(min(rows, n_valid), 1)


def n_error_lines(n_cells: float, n_chunks: int) -> int:
    """How many error lines every column has in a piece: more where they take little memory.

    A cell's value may come from one chunk alone, and what is known of its error then does too.

    >>> n_error_lines(200_000, 32), n_error_lines(200_000, 600), n_error_lines(5e7, 8)
    (6, 1, 3)
    """
    least = min(-(-_SQUARES // max(n_chunks, 1)), _MOST_LINES)
    many = -(-_MANY_LINES * MANY_CHUNKS // max(n_chunks, MANY_CHUNKS))
    return int(max(least, min(_NUMBERS // max(n_cells, 1), many), 1))
