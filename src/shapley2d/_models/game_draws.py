"""Draws of any game of two axes: all coalitions, or random orders.

A game says what coalitions are worth: ``utilities(rows, columns)``, masks in, and with no columns
what the labels of the rows alone predict. It may have error lines of validation rows behind every
utility. What rows are worth by their labels alone is the last column of a draw.
"""

from __future__ import annotations

import math
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import now
from shapley2d._base.streams import draw_seeds, generator
from shapley2d._base.words import format_seconds
from shapley2d._estimation.draws import LEAST_DRAWS, Draw, Draws, Stratum
from shapley2d._models.games import innermost
from shapley2d._theory.axes import nested, set_weights, step_weights, subsets
from shapley2d.exceptions import OutOfTimeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue

_SAMPLED = 'method="mc" with max_time="{limit}" (--method mc --max-time {limit}) samples for {time}'
_BLOCKS = 200  # of a game: enough for progress, checkpoints and many workers
_LEAST, _MOST = 16, 2**20  # utilities of a block: fewer are not worth handing to a worker


class GameDraws(Draws):
    """What draws of games have: one game for every fold, which take turns.

    ``rows``: the rows of the result, ``n_rows`` in all, behind the rows of each game.
    ``n_utilities``: what a first result takes.
    """

    n_utilities: int

    def __init__(
        self,
        games: Sequence[Game],
        rows: Sequence[Ints | slice],
        n_rows: int,
        semivalues: tuple[Semivalue, Semivalue],
    ) -> None:
        self.games, self.semivalues = games, semivalues
        self.shape = (n_rows, games[0].n_columns)
        self.lines = getattr(games[0], "n_lines", 0)
        self.compiled = all(getattr(game, "compiled", False) for game in games)
        size = 1.0 if self.exact else math.inf
        self.strata = [Stratum(one, 1 / len(games), size) for one in rows]
        self._asked, self._began = 0, now()
        for game in map(innermost, games):
            if hasattr(game, "pause"):
                game.pause = self.pause

    def utilities(self, k: int, rows: Bools, columns: Bools) -> Floats:
        """Those of game ``k``, in which no rows are worth 0 unless it says that they guess."""
        worth = self.games[k].utilities(rows, columns)
        if not getattr(self.games[k], "guesses", False):
            worth[~rows.any(axis=1)] = 0.0
        return worth

    def notes(self, k: int, rows: Bools, worth: Floats) -> dict[str, Any]:  # noqa: ARG002
        """What to keep of row coalitions under all columns, or the last of a block."""
        return {}

    def pause(self, utilities: int = 1) -> None:
        """Stop, before so many utilities, where results are no longer wanted or time is up."""
        if self.stop[0]:
            raise CancelledError
        if self.deadline is not None:
            try:
                self.deadline.check()
            except OutOfTimeError as error:
                pace_s = (now() - self._began) / max(self._asked, 1)
                words = format_seconds(pace_s * self.n_utilities)
                raise OutOfTimeError(f"{error}; at this pace it takes {words}") from None
        self._asked += utilities


class AllSets(GameDraws):
    """Every coalition of rows under every one of columns: a draw is a block of these.

    Their sum is the 2D-Shapley value (Definition 3.2) in the form of the paper's Theorem 3.3.

    A block has all of either axis if the game asks for it (``takes_all_rows``), or some row
    coalitions under all of columns.
    """

    exact = True
    unit = "block"
    in_time = _SAMPLED

    def __init__(self, games: Sequence[Game], *asked: Any) -> None:
        super().__init__(games, *asked)
        n, m = (max(getattr(game, name) for game in games) for name in ("n_rows", "n_columns"))
        self._by_column = any(getattr(game, "takes_all_rows", False) for game in games)
        own, other = (2**m, 2**n) if self._by_column else (2**n, 2**m)
        self._step = min(max(-(-own // _BLOCKS), -(-_LEAST // other)), max(_MOST // other, 1))
        self.count = self.first = -(-own // self._step) * len(games)
        self.n_utilities = sum(2 ** (game.n_rows + game.n_columns) for game in games)

    def __call__(self, number: int) -> Draw:
        block, k = divmod(number, len(self.games))
        game, (of_rows, of_columns) = self.games[k], self.semivalues
        part = block * self._step, (block + 1) * self._step
        rows = subsets(game.n_rows, *(() if self._by_column else part))
        columns = subsets(game.n_columns, *(part if self._by_column else ()))
        worth = self.utilities(k, rows, columns)
        # the last column: what the rows are worth by their labels alone
        weights: Floats = np.column_stack([set_weights(columns, of_columns), ~columns.any(axis=1)])
        by_column = np.tensordot(weights, worth, (0, 1))  # (m + 1, row coalitions, ...)
        values = np.tensordot(set_weights(rows, of_rows), by_column, (0, 1))
        return Draw(values, stratum=k, notes=self.notes(k, rows, worth[:, -1]))

    def facts(self, count: int) -> dict[str, Any]:  # noqa: ARG002
        return {"n_utilities": self.n_utilities}

    def note(self, count: int) -> str:
        return f"{self.n_utilities * count // self.count:,} of {self.n_utilities:,} utilities"


class Orders(GameDraws):
    """Random orders of rows and of columns (Castro, Gomez and Tejada 2009).

    A draw is a pass of the paper's Algorithm 1, 2D-MC: its values are the second differences
    of the grid of nested coalitions.

    With ``truncation``: once a utility is that close to the one of all rows under the same columns,
    the latter is taken for the rest (TMC-Shapley, Ghorbani and Zou, ICML 2019).
    """

    unit = "permutation"
    limit = "max_draws"

    def __init__(self, *asked: Any, seed: int, most: int, truncation: float | None = None) -> None:
        super().__init__(*asked)
        folds, game = len(self.games), self.games[0]
        self._seeds, self._most, self._truncation = draw_seeds(seed, folds), most, truncation
        self.count, self.first, self.a_pass = most * folds, 10 * folds, folds
        self.whole_passes = folds > 1
        self.n_utilities = self.least * game.n_rows * game.n_columns

    @property
    def least(self) -> int:
        """Eight orders of every fold."""
        return min(LEAST_DRAWS * len(self.games), self.count)

    def __call__(self, number: int) -> Draw:
        own, k = divmod(number, len(self.games))
        game, random = self.games[k], generator(self._seeds[k], "draw", own)
        order = random.permutation(game.n_rows), random.permutation(game.n_columns)
        H = self._grid(k, *map(nested, order))
        of_rows, of_columns = map(step_weights, map(len, order), self.semivalues)
        trailing = (1,) * (H.ndim - 2)
        cells = np.diff(H, axis=1) * of_columns.reshape(-1, *trailing)
        by_row = np.concatenate([cells, H[:, :1]], axis=1)
        values = np.diff(by_row, axis=0) * of_rows.reshape(-1, 1, *trailing)
        placed = np.empty_like(values)
        places = np.ix_(order[0], np.append(order[1], len(order[1])))
        placed[places] = self.placed(values, order)
        return Draw(placed, stratum=k, notes=self.notes(k, nested(order[0]), H[:, -1]))

    def placed(self, values: Floats, order: tuple[Ints, Ints]) -> Floats:  # noqa: ARG002
        """The values of an order, by places, that count."""
        return values

    def _grid(self, k: int, rows: Bools, columns: Bools) -> Floats:
        """Utilities of nested coalitions."""
        if self._truncation is None:
            return self.utilities(k, rows, columns)
        H = np.repeat(self.utilities(k, rows[-1:], columns), len(rows), axis=0)
        H[0] = self.utilities(k, rows[:1], columns)[0]
        for b in range(len(columns)):
            for a in range(1, len(rows) - 1):
                H[a, b] = self.utilities(k, rows[a : a + 1], columns[b : b + 1]).item()
                if b and abs(H[a, b] - H[-1, b]) <= self._truncation:
                    break
        return H

    def facts(self, count: int) -> dict[str, Any]:
        return {"n_permutations": count // len(self.games)}

    def note(self, count: int) -> str:
        return f"{-(-count // len(self.games)):,} of {self._most:,} permutations"
