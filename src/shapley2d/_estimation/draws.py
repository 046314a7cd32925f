"""Numbered Monte Carlo draws of a matrix of values, by permutation sampling.

:class:`UtilityProbes` saves some utilities of a run's draws in its checkpoint and computes them
again before the run resumes. Hashes cover data and code; a game may depend on more.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from shapley2d._base.json_record import fits_float, whole_number
from shapley2d._base.streams import generator
from shapley2d._estimation.fingerprint import not_repeatable, same_utility
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d._theory.designs import Permutation, combine_axes
from shapley2d._theory.game import first_utility
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._theory.game import Game
    from shapley2d._theory.semivalues import Semivalue

MAX_PROBES = 64
"""Utilities that a checkpoint holds, at most."""


class Draws(Protocol):
    """Numbered independent draws of a matrix of values."""

    def __call__(self, number: int) -> NDArray[np.float64]:
        """Return draw ``number``, always the same for the same number."""


class PermutationDraws:
    """One random order of the rows and one of the columns per draw.

    Parameters
    ----------
    game : Game
    semivalues : (Semivalue, Semivalue)
        Of the rows and of the columns.
    seed : int
        With a draw's number, the seed of its random orders.
    """

    def __init__(self, game: Game, semivalues: tuple[Semivalue, Semivalue], seed: int) -> None:
        self.game = game
        self._semivalues = semivalues
        self._seed = seed

    def __call__(self, number: int) -> NDArray[np.float64]:
        row_order, column_order = self.orders(number)
        rows = Permutation(row_order, self._semivalues[0])
        columns = Permutation(column_order, self._semivalues[1])
        return combine_axes(self.game.utilities(rows.coalitions, columns.coalitions), rows, columns)

    def orders(self, number: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The orders in which rows and columns join in draw ``number``."""
        random = generator(self._seed, "draw", number)
        return random.permutation(self.game.n_rows), random.permutation(self.game.n_columns)


class MeanDraws:
    """Draws of a cross-valuation: the mean of its games' draws, each over its own rows.

    Parameters
    ----------
    draws : list of Draws
    rows : list of ndarray
        The rows of the whole table behind the rows of each game; the others get 0.
    n_rows : int
        Rows of the whole table.
    """

    def __init__(self, draws: list[Draws], rows: list[NDArray[np.intp]], n_rows: int) -> None:
        self._draws = draws
        self._rows = rows
        self._n_rows = n_rows

    def __call__(self, number: int) -> NDArray[np.float64]:
        mean: NDArray[np.float64] | None = None
        for draw, rows in zip(self._draws, self._rows, strict=True):
            values = draw(number) / len(self._draws)
            if mean is None:
                mean = np.zeros((self._n_rows, values.shape[1]))
            mean[rows] += values
        assert mean is not None
        return mean


class _Spot(NamedTuple):
    """A coalition that a run has met: the players who have joined by some step of a draw."""

    game: int
    draw: int
    rows: int
    columns: int

    def __str__(self) -> str:
        return f"the first {self.rows} rows and {self.columns} columns of draw {self.draw}"


class UtilityProbes:
    """Utilities of some coalitions of a run's draws.

    Parameters
    ----------
    draws : sequence of PermutationDraws
        One per game.

    Examples
    --------
    >>> from shapley2d._models.function import FunctionGame
    >>> game = FunctionGame(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> probes = UtilityProbes([PermutationDraws(game, ("shapley", "shapley"), 0)])
    >>> kept = probes.up_to(5)
    >>> probes.differences(kept, 5)
    []
    """

    def __init__(self, draws: Sequence[PermutationDraws]) -> None:
        self._draws = list(draws)
        self._kept: dict[_Spot, float] = {}
        self._spent_s = 0.0

    def up_to(self, count: int) -> list[dict[str, float]]:
        """Utilities of coalitions of the first ``count`` draws, for a checkpoint."""
        random = np.random.default_rng(count)
        for _ in range(MAX_PROBES):
            enough = len(self._kept) >= min(MAX_PROBES, 8 * count)
            if enough or self._spent_s > 1.0:  # they may take about a second in all
                break
            spot = self._draw_spot(random, count)
            if spot not in self._kept:
                begin = time.monotonic()
                try:
                    self._kept[spot] = self._utility(spot)
                except UtilityError:  # the game's own error ends the run, which saves its state
                    break
                self._spent_s += time.monotonic() - begin
        return [{**spot._asdict(), "utility": utility} for spot, utility in self._kept.items()]

    def differences(self, there: list[Any], count: int) -> list[str]:
        """Differences between saved utilities and those computed now, in words.

        A ValueError says why the saved list is not sound.
        """
        if len(there) > MAX_PROBES:
            raise ValueError("it holds too many utilities")
        probes = [self._parse(probe, count) for probe in there]
        scale = max((abs(utility) for _, utility in probes), default=0.0)
        for spot, utility in probes:
            now = self._utility(spot)
            if same_utility(utility, now, scale):
                self._kept[spot] = utility
                continue
            again = self._utility(spot)
            if not same_utility(now, again, scale):
                return [not_repeatable(str(spot), now, again)]
            return [f"the utility of {spot} is {utility:.6g} there and {now:.6g} here"]
        return []

    def _parse(self, probe: Any, count: int) -> tuple[_Spot, float]:
        if not isinstance(probe, dict) or not fits_float(probe.get("utility")):
            raise ValueError("its utilities cannot be read")

        def entry(name: str, least: int, most: int) -> int:
            return whole_number(probe.get(name), f"the {name} of a utility", least, most)

        game = entry("game", 0, len(self._draws) - 1)
        players = self._draws[game].game
        draw = entry("draw", 0, count - 1)
        spot = _Spot(
            game, draw, entry("rows", 1, players.n_rows), entry("columns", 1, players.n_columns)
        )
        if not math.isfinite(probe["utility"]):
            raise ValueError("one of its utilities is not a number")
        return spot, float(probe["utility"])

    def _draw_spot(self, random: np.random.Generator, count: int) -> _Spot:
        game = int(random.integers(len(self._draws)))
        players = self._draws[game].game
        draw = int(random.integers(count))
        rows = int(random.integers(1, players.n_rows + 1))
        return _Spot(game, draw, rows, int(random.integers(1, players.n_columns + 1)))

    def _utility(self, spot: _Spot) -> float:
        draws = self._draws[spot.game]
        masks = []
        for order, joined in zip(draws.orders(spot.draw), (spot.rows, spot.columns), strict=True):
            mask = np.zeros((1, order.size), dtype=bool)
            mask[0, order[:joined]] = True
            masks.append(MaskCoalitions(mask))
        return first_utility(draws.game.utilities(*masks))
