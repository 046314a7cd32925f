"""Utilities of coalitions that a run has drawn: kept with its state, and computed again before it goes on.

Hashes know data and code; a game may depend on more. A coalition is known by the game, the number
of the draw and the numbers of rows and columns that have joined by then, so that a file needs no
masks.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.json_record import is_number, whole_number
from shapley2d._estimation.fingerprint import not_repeatable, same_utility
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d.exceptions import UtilityError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._estimation.draws import PermutationDraws

MAX_KEPT = 64
"""Coalitions that a file keeps at most."""

BUDGET_S = 1.0
"""Seconds that their utilities may take in all, the last one aside."""

Place = tuple[int, int, int, int]  # game, draw, rows and columns that have joined


class DrawnUtilities:
    """Utilities of some coalitions of a run's draws.

    Parameters
    ----------
    draws : sequence of PermutationDraws
        One per game.

    Examples
    --------
    >>> from shapley2d._estimation.draws import PermutationDraws
    >>> from shapley2d._games.function import FunctionGame
    >>> game = FunctionGame(lambda S, F: S.sum() * F.sum(), 3, 2)
    >>> drawn = DrawnUtilities([PermutationDraws(game, ("shapley", "shapley"), 0)])
    >>> kept = drawn.up_to(5)
    >>> drawn.differences(kept, 5)
    []
    """

    def __init__(self, draws: Sequence[PermutationDraws]) -> None:
        self._draws = list(draws)
        self._kept: dict[Place, float] = {}
        self._spent_s = 0.0

    def up_to(self, count: int) -> list[list[float]]:
        """Places and utilities of coalitions of the first ``count`` draws; more of them as the run goes on."""
        random = np.random.default_rng(count)
        for _ in range(MAX_KEPT):
            if self._spent_s > BUDGET_S or len(self._kept) >= min(MAX_KEPT, 8 * count):
                break
            game = int(random.integers(len(self._draws)))
            place = (game, int(random.integers(count)), *self._sizes(game, random))
            if place not in self._kept:
                begin = time.monotonic()
                try:
                    self._kept[place] = self._utility(place)
                except (
                    UtilityError
                ):  # a run that ends by an error of its game keeps its state all the same
                    break
                self._spent_s += time.monotonic() - begin
        return [[*place, utility] for place, utility in self._kept.items()]

    def differences(self, there: list[Any], count: int) -> list[str]:
        """What differs between utilities of a file and those computed now, in words; empty where nothing does.

        Raises a ValueError where the file's list cannot be one.
        """
        entries = [self._entry(entry, count) for entry in there[: MAX_KEPT + 1]]
        if len(entries) > MAX_KEPT:
            raise ValueError("it holds too many utilities")
        scale = max((abs(utility) for _, utility in entries), default=0.0)
        for place, utility in entries:
            now = self._utility(place)
            if same_utility(utility, now, scale):
                self._kept[place] = utility
                continue
            again = self._utility(place)
            if not same_utility(now, again, scale):
                return [not_repeatable(self._name(place), now, again)]
            return [f"the utility of {self._name(place)} is {utility:.6g} there and {now:.6g} here"]
        return []

    def _entry(self, entry: Any, count: int) -> tuple[Place, float]:
        if not isinstance(entry, list) or len(entry) != 5 or not is_number(entry[4]):
            raise ValueError("its utilities cannot be read")
        what = "a place of its utilities"
        game = whole_number(entry[0], what, 0, len(self._draws) - 1)
        draw = whole_number(entry[1], what, 0, count - 1)
        rows = whole_number(entry[2], what, 1, self._draws[game].game.n_rows)
        columns = whole_number(entry[3], what, 1, self._draws[game].game.n_columns)
        if not math.isfinite(entry[4]):
            raise ValueError("one of its utilities is not a number")
        return (game, draw, rows, columns), float(entry[4])

    def _sizes(self, game: int, random: np.random.Generator) -> tuple[int, int]:
        players = self._draws[game].game
        return int(random.integers(1, players.n_rows + 1)), int(
            random.integers(1, players.n_columns + 1)
        )

    def _utility(self, place: Place) -> float:
        game, draw, n_rows, n_columns = place
        players = self._draws[game].game
        masks = []
        for order, joined in zip(self._draws[game].orders(draw), (n_rows, n_columns), strict=True):
            mask = np.zeros((1, order.size), dtype=bool)
            mask[0, order[:joined]] = True
            masks.append(MaskCoalitions(mask))
        return float(players.utilities(*masks)[0, 0])

    @staticmethod
    def _name(place: Place) -> str:
        return f"the first {place[2]} rows and {place[3]} columns of draw {place[1]}"
