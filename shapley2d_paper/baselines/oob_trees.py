"""The trees of 2D-OOB: drawn, grown and scored by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d import Draw, Draws, Stratum
from shapley2d._base.checks import check_number
from shapley2d._base.streams import generator
from shapley2d._base.words import shown
from shapley2d._tables.encoding import as_float32, encode_tables, fill_means, near_one
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines.kernels.out_of_bag import add_closeness, predict_out_of_bag

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

_TREES = 50  # of a draw: one is too little work to hand out
_ROWS = 200_000  # of a draw, over its trees: fewer trees where they take long


def columns_drawn(column_share: Any, n_columns: int) -> int:
    """How many columns each tree sees.

    Examples
    --------
    >>> columns_drawn(0.25, 9), columns_drawn(0.01, 9), columns_drawn(3, 9)
    (2, 1, 3)
    """
    check_number(column_share, "column_share")
    whole = isinstance(column_share, (int, np.integer))
    if column_share > (n_columns if whole else 1):
        raise InputError(
            f"column_share={shown(column_share)} must be a share of the columns, up to 1.0, "
            f"or a whole number of them, up to {n_columns}"
        )
    return int(column_share) if whole else max(1, round(column_share * n_columns))


def draw_tree(
    seed: int, number: int, shape: tuple[int, int], n_drawn: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often a tree has each row in its bag, and the columns that it sees, in random order."""
    n_rows, n_columns = shape
    random = generator(seed, "draw", number)
    counts = np.bincount(random.integers(n_rows, size=n_rows), minlength=n_rows)
    return counts, random.permutation(n_columns)[:n_drawn]


class Trees(Draws):
    """Numbered trees, each with the rows' scores and the columns that it saw; a draw is some trees.

    A row in the bag has the score NaN. A cell's value is a mean over the trees that score it, not
    over all: so a draw has no values, and notes what these means need. A tree depends on its own
    number, not on that of its draw.
    """

    exact = True  # the list ends; the errors of the means are those of its notes
    compiled = True

    def __init__(
        self, table: Table, target: Target, n_trees: int, n_drawn: int, score: str, seed: int
    ) -> None:
        self.shape, self.n_trees = table.shape, n_trees
        self._step = max(1, min(_TREES, _ROWS // table.n_rows))
        self.count = -(-n_trees // self._step)
        self.strata = [Stratum(size=self.count)]
        self._nothing = Draw(np.zeros((table.n_rows, table.n_columns + 1)))
        self.right_or_wrong = score == "correct" and target.task == "classification"
        self.n_drawn, self._seed = n_drawn, seed
        encoded = encode_tables(table, table)
        (matrix,) = near_one(fill_means(encoded.train), by_column=True)
        self._members = [np.flatnonzero(encoded.owners == j) for j in range(table.n_columns)]
        values = as_float32(matrix.T)
        order = np.argsort(values, axis=1, kind="stable").astype(np.int32)
        self._presorted = (values, order)
        self._scaled = _scaled(matrix, encoded.owners) if score == "distance" else None
        if target.task == "classification":
            self._labels = target.codes.astype(np.float64)
            self._target = (target.codes.astype(np.int32), self._labels, int(target.classes.size))
        else:
            self._labels = target.codes - target.codes.mean()
            self._target = (np.zeros(table.n_rows, dtype=np.int32), self._labels, 0)
            self._variance = float(np.mean(self._labels**2))

    def __call__(self, number: int) -> Draw:
        first = number * self._step
        scores, saw = [], []
        for tree in range(first, min(first + self._step, self.n_trees)):
            counts, columns = draw_tree(self._seed, tree, self.shape, self.n_drawn)
            active = np.concatenate([self._members[j] for j in columns])
            scores.append(self._scores(counts, active).astype(np.float32))
            saw.append(np.isin(np.arange(self.shape[1]), columns))
        return self._nothing._replace(notes={"scores": np.array(scores), "saw": np.array(saw)})

    def note(self, count: int) -> str:
        return f"{min(count * self._step, self.n_trees):,} of {self.n_trees:,} trees"

    def _scores(self, counts: NDArray[np.int64], active: NDArray[np.intp]) -> NDArray[np.float64]:
        predicted = np.zeros(counts.size)
        predict_out_of_bag(self._presorted, self._target, counts, active, predicted)
        if self._target[2]:
            scores = (predicted == self._labels).astype(np.float64)
        else:
            scores = 1.0 - (predicted - self._labels) ** 2 / self._variance
        if self._scaled is not None:
            add_closeness(self._scaled, self._target, counts, active, scores)
        return np.where(counts == 0, scores, np.nan)


def _scaled(matrix: NDArray[np.float64], owners: NDArray[np.intp]) -> NDArray[np.float64]:
    """Columns as lines, centred and scaled: those of one player have a variance of 1 in all."""
    centred = (matrix - matrix.mean(axis=0)).T
    variance = np.bincount(owners, np.mean(centred**2, axis=1))
    return np.ascontiguousarray(
        centred / np.sqrt(np.where(variance > 0, variance, 1.0))[owners][:, None]
    )
