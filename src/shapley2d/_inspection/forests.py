"""A conditional density forest per column: it predicts every entry from the rest of its row.

Leaves keep the training rows' bins, so that a forest gives a distribution, not a mean (quantile
regression forests, Meinshausen 2006, jmlr.org/papers/v7/meinshausen06a.html). Rows are judged
out-of-bag, by the trees that did not learn from them (Breiman 2001, doi:10.1023/A:1010933404324):
all of them, where the rows are new.
Every column's forest has a random stream of its own and is grown by one thread, so that the number
of threads changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.streams import seed_sequence
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.kernels.forest import Forest, draw_bags, grow_forest
from shapley2d._inspection.kernels.forest_answers import add_shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._inspection.binning import BinnedColumn

_TREES, FEWEST_TREES, _ROWS_OF_ALL_TREES = 100, 32, 50_000
"""Trees of a forest. Beyond the last number of rows there are fewer, down to the second number:
there most of the time goes into asking them."""

_BAG_SHARE, _MOST_BAG_ROWS = 0.6, 4000
"""Rows that a tree learns from: this share of all, up to this number."""

_SMALLEST_LEAF = 5
"""Rows of a leaf; smaller leaves follow single rows, errors included."""

_MOST_CHANCES = 2e9
"""Rows times bins beyond which a column is not predicted: it would take minutes."""

SHARE_MIXED, FLOOR_MIXED = 0.02, 0.1
"""Share of a prediction that comes from the column as a whole, and the part of one row that is
added to every bin, so that no entry is impossible."""

_CHUNK = 4096, 2**21
"""Rows that are judged at a time, and their bins: more need more memory."""


@dataclass(frozen=True)
class Bags:
    """The rows that the trees learn from, the same for every column.

    ``rows`` has a line per tree; ``seen`` has a bit per tree for every row: whether the tree has
    seen it.
    """

    rows: NDArray[np.int32]
    seen: NDArray[np.uint64]

    @classmethod
    def draw(cls, alike: Ints, seed: int, most_trees: int | None = None) -> Bags:
        """Draw them without replacement.

        ``alike`` is for every row the first one that holds the same: trees that have not seen that
        one are asked about both, so that both get the same answer. A time limit may have no room
        for more than ``most_trees``.
        """
        n_rows = alike.size
        size = int(min(_MOST_BAG_ROWS, _BAG_SHARE * n_rows))
        trees = int(np.clip(_TREES * _ROWS_OF_ALL_TREES / n_rows, FEWEST_TREES, _TREES))
        trees = min(trees, most_trees or trees)
        rows, seen = draw_bags(n_rows, size, trees, _word(seed, "inspection bags"))
        return cls(rows, seen[alike])


def _word(seed: int, stream: str, *numbers: int) -> np.uint64:
    return np.uint64(seed_sequence(seed, stream, *numbers).generate_state(1, np.uint64)[0])


def is_predicted(column: BinnedColumn) -> bool:
    """Whether a column can be predicted: it varies, its entries repeat, and it takes no minutes."""
    n_rows, n_bins = int((column.bins >= 0).sum()), column.n_bins
    if n_bins < 2 or n_rows < FEWEST_ROWS or n_bins * column.bins.size > _MOST_CHANCES:
        return False
    return not column.is_free


def grow(
    columns: Sequence[BinnedColumn], codes: NDArray[np.uint8], bags: Bags, j: int, seed: int
) -> Forest | None:
    """The forest of column j; None where it cannot be predicted."""
    varied = np.flatnonzero([one.distinct.size + one.has_empty > 1 for one in columns])
    inputs = varied[varied != j]
    if not inputs.size or not is_predicted(columns[j]):
        return None
    tried = max(1, round(inputs.size / 2))
    word = _word(seed, "inspection trees", j)
    return grow_forest(codes, inputs, columns[j].predicted, bags.rows, _SMALLEST_LEAF, tried, word)


def chances(
    column: BinnedColumn, forest: Forest | None, codes: NDArray[np.uint8], seen: NDArray[np.uint64]
) -> Floats:
    """The predicted distribution over the bins in some rows, out-of-bag; sums are about 1."""
    sums = np.zeros((len(codes), column.n_bins))
    asked = np.zeros(len(codes), dtype=np.int32)
    if forest is not None:
        add_shares(codes, seen, forest, sums, asked)
        sums /= np.maximum(asked, 1)[:, None]
    sums[asked == 0] = column.shares
    if column.blurred:
        numbers = sums[:, : column.filled]
        padded = np.pad(numbers, ((0, 0), (1, 1)), mode="edge")
        numbers *= 0.5
        numbers += 0.25 * (padded[:, :-2] + padded[:, 2:])
    return mixed(sums, column.shares, column.known, share_mixed(forest))


def share_mixed(forest: Forest | None) -> float:
    """How much of a prediction comes from the column as a whole.

    More where a time limit left few trees: eight that agree are no proof.
    """
    trees = FEWEST_TREES if forest is None else forest.roots.size - 1
    return SHARE_MIXED if trees >= FEWEST_TREES else 1 / (trees + 1)


def mixed(predicted: Floats, shares: Floats, n_rows: int, share: float = SHARE_MIXED) -> Floats:
    """Predicted chances mixed with a little of the column's shares, so that none is 0."""
    return np.asarray((1 - share) * predicted + share * shares + FLOOR_MIXED / (n_rows + 1))


def row_chunks(n_rows: int, width: int = 1) -> list[slice]:
    """All rows in slices, shorter ones where a row is wide."""
    size = max(1, min(_CHUNK[0], _CHUNK[1] // max(1, width)))
    return [slice(start, min(start + size, n_rows)) for start in range(0, n_rows, size)]
