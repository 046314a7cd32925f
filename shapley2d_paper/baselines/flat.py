"""1D-Shapley over single cells: every cell is a player, and an absent one is its column's mean.

A decision tree is trained on all rows, the cells joining the table one by one in a random order. A
cell that joins moves one row within the order of its column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from shapley2d import Draw, Draws, Stratum
from shapley2d._base.defaults import TOLERANCE
from shapley2d._base.words import shown
from shapley2d._methods.method import PRECISE, Method, Option
from shapley2d._methods.score_facts import score_facts
from shapley2d._methods.solve import solve_draws
from shapley2d._tables.encoding import as_float32, encode_tables, near_one
from shapley2d._theory.axes import step_weights
from shapley2d.exceptions import InputError
from shapley2d_paper.baselines.checks import refuse_settings
from shapley2d_paper.baselines.kernels.flat_tree import follow_cells
from shapley2d_paper.baselines.tree import tree_target

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._tables.table import Column
    from shapley2d._theory.semivalues import Semivalue


def stand_in(column: Column) -> float:
    """The mean of a column of numbers or dates; the most frequent entry (or first tied) of others.

    It is missing in a column without a single entry.

    Examples
    --------
    >>> from shapley2d._tables.convert import as_table
    >>> [stand_in(column) for column in as_table([[1, "b"], [4, "a"], [4, "b"]]).columns]
    [3.0, 1.0]
    """
    known = column.entries[~np.isnan(column.entries)]
    if not known.size:
        return float("nan")
    if column.kind in ("category", "boolean"):
        codes, counts = np.unique(known, return_counts=True)
        return float(codes[np.argmax(counts)])
    # rounding must not move the mean of a constant column away from it
    return float(np.clip(known.mean(), known.min(), known.max()))


class FlatTree:
    """The game of the cells of a split; cell (i, j) is player ``i * n_columns + j``.

    The utility is the accuracy or R squared of the tree of
    :class:`~shapley2d_paper.baselines.tree.TreeGame`, grown on all rows. An entry that is missing,
    in either table, is what stands in for absent cells of its column; a missing category is none of
    the known ones.

    Parameters
    ----------
    split : Split

    Attributes
    ----------
    baseline_utility, utility_all : float
        The utilities of the table without any cell and with all of them.
    matters : ndarray of bool, shape (n_rows, n_columns)
        Which cells differ from what stands in for them; the others are worth 0.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [4], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = FlatTree(split)
    >>> game.baseline_utility, game.utility_all
    (0.5, 1.0)
    >>> game.along(np.array([3, 0, 2, 1]))
    array([0.5 , 0.75, 0.75, 1.  , 1.  ])
    """

    def __init__(self, split: Split) -> None:
        self.n_rows, self.n_columns = split.train.n_rows, split.train.n_columns
        self._target = tree_target(split)
        encoded = encode_tables(split.train, split.valid)
        self._starts = np.searchsorted(encoded.owners, np.arange(self.n_columns + 1)).astype(
            np.intp
        )
        spans = list(zip(self._starts[:-1], self._starts[1:], strict=True))
        absent = np.zeros(encoded.owners.size)
        for column, (start, stop) in zip(split.train.columns, spans, strict=True):
            entry = stand_in(column)
            if column.kind == "category":
                row = np.flatnonzero(column.entries == entry)[:1]
                absent[start:stop] = encoded.train[row, start:stop].sum(axis=0)
            else:
                absent[start:stop] = np.nan_to_num(entry, nan=0.0)
        train, valid = (np.where(np.isnan(x), absent, x) for x in (encoded.train, encoded.valid))
        self.matters = np.stack(
            [(train != absent)[:, start:stop].any(axis=1) for start, stop in spans], axis=1
        )
        train, valid, absent = near_one(train, valid, absent[None, :], by_column=True)
        self._values, self._values_valid = as_float32(train.T), as_float32(valid.T)
        self._absent = as_float32(absent[0])
        everything = np.arange(self.matters.size)
        (self.baseline_utility,) = self._follow(everything[:0], 0).tolist()
        (self.utility_all,) = self._follow(everything, everything.size).tolist()

    def along(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """Utilities while the cells join in this order, from none of them to all."""
        return self._follow(order, 0)

    def values(self, order: NDArray[np.intp], semivalue: Semivalue) -> NDArray[np.float64]:
        """The values that one order of the cells gives them."""
        values = np.empty(order.size)
        values[order] = np.diff(self.along(order)) * step_weights(order.size, semivalue)
        return values.reshape(self.matters.shape)

    def _follow(self, order: NDArray[np.intp], start: int) -> NDArray[np.float64]:
        """Utilities from the coalition of the first ``start`` cells on."""
        out = np.empty(order.size - start + 1)
        order = np.ascontiguousarray(order)  # one layout, compiled once
        target, tables = self._target, (self._values, self._absent, self._starts)
        follow_cells(
            tables, target.learned, self._values_valid, target.labels_valid, order, start, out
        )
        return target.scores(out)


class FlatDraws(Draws):
    """Random orders of all cells: a draw is one order in the game of every fold.

    Attributes
    ----------
    matters : ndarray of bool
        Which cells of the table matter in any fold.
    """

    compiled = True
    unit = "permutation"
    limit = "max_draws"
    first = 10

    def __init__(self, problem: Problem, semivalue: Semivalue, seed: int, most: int) -> None:
        self._games = [FlatTree(split) for split in problem.splits]
        self._rows = [split.rows for split in problem.splits]
        self._semivalue, self._seed = semivalue, seed
        self.shape, self.strata, self.count = problem.table.shape, [Stratum()], most
        self.matters = np.zeros(self.shape, dtype=np.bool_)
        for game, rows in zip(self._games, self._rows, strict=True):
            self.matters[rows] |= game.matters
        self.known = {
            "model": "tree",
            "baseline_utility": float(np.mean([game.baseline_utility for game in self._games])),
            "utility_all": float(np.mean([game.utility_all for game in self._games])),
            **score_facts(problem, "model"),
        }

    def __call__(self, number: int) -> Draw:
        n, m = self.shape
        values = np.zeros((n, m + 1))
        for k, (game, rows) in enumerate(zip(self._games, self._rows, strict=True)):
            stream = np.random.SeedSequence(self._seed, spawn_key=(number, k))
            order = np.random.default_rng(stream).permutation(game.matters.size)
            values[rows, :-1] += game.values(order, self._semivalue) / len(self._games)
        return Draw(values)


@dataclass(frozen=True, repr=False)
class Flat(Method):
    """1D-Shapley with a decision tree: every cell a player, absent ones their column's mean.

    Labels are always known. The values sum to the utility of the table minus that of a table of
    nothing but means, which the record holds as ``utility_all`` and ``baseline_utility``.

    Parameters
    ----------
    max_draws : int
        Stop after this many orders of the cells.
    tolerance : float
        Stop when the largest standard error is at most this share of the spread of the values.
    """

    name: ClassVar[str] = "flat"
    summary: ClassVar[str] = (
        "1D-Shapley with a decision tree: every cell a player, absent ones their column's mean"
    )
    how: ClassVar[str] = "every cell a player, absent cells filled with the mean (1D-Shapley)"
    meaning: ClassVar[str] = (
        "what it adds to the model's performance when it replaces its column's mean, on average "
        "over all orders of the cells"
    )
    total: ClassVar[str] = "the model's score less {baseline_utility:.4g}, that of a table of means"

    max_draws: Annotated[int, Option("stop after this many permutations")] = 500
    tolerance: Annotated[float, PRECISE] = TOLERANCE

    def draws(self, problem: Problem, run: Run) -> FlatDraws:
        """Random orders of the cells, the players of one game."""
        refuse_settings(self.name, scoring=problem.scoring)
        if problem.label is not None:
            raise InputError(
                f"method={shown(self.name)} cannot value the label, which nothing can stand "
                "in for: leave include_label out"
            )
        if run.semivalues[0] != run.semivalues[1]:
            raise InputError(
                f"method={shown(self.name)} has one game of all cells, so rows and columns "
                "cannot differ in their semivalue: pass one"
            )
        return FlatDraws(problem, run.semivalues[0], run.seed, self.max_draws)

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """The mean over orders; cells that equal what stands in for them are worth 0 for sure."""
        draws = self.draws(problem, run)
        estimate = solve_draws(self, draws, run, problem)
        estimate.stderr[~draws.matters] = 0.0
        return estimate
