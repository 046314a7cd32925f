"""The draws of ``LeaveOneOut``: one for every row that is left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._estimation.draws import Draw
from shapley2d._models.game_draws import GameDraws

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats


class LeftOut(GameDraws):
    """Draw i has the values of row i, in the games of the folds in turn; the others are 0."""

    exact = True
    unit = "row"

    def __init__(self, *asked: Any) -> None:
        super().__init__(*asked)
        self.count = self.first = max(game.n_rows for game in self.games) * len(self.games)
        self.n_utilities = sum((one.n_rows + 1) * (one.n_columns + 1) for one in self.games)
        self._whole: dict[int, Floats] = {}

    def __call__(self, number: int) -> Draw:
        row, k = divmod(number, len(self.games))
        game = self.games[k]
        n, m = game.n_rows, game.n_columns
        # error lines of validation rows, where a game has them, stand behind every value
        values = np.zeros((n, m + 1, 1 + self.lines) if self.lines else (n, m + 1))
        if row < n:
            columns = np.vstack([np.ones(m, dtype=bool), ~np.eye(m, dtype=bool)])
            if k not in self._whole:  # by all rows, once
                self._whole[k] = self._scores(k, np.ones(n, dtype=bool), columns)
            lost = self._whole[k] - self._scores(k, np.arange(n) != row, columns)
            values[row, :-1] = lost[0] - lost[1:]
            if m == 1:  # without its only column the labels alone are left
                values[row, -1] = lost[1]
        return Draw(values, stratum=k)

    def _scores(self, k: int, rows: Bools, columns: Bools) -> Floats:
        """Scores by some rows, under all columns and under all but one."""
        return np.asarray(self.utilities(k, rows[None], columns)[0])

    def facts(self, count: int) -> dict[str, Any]:  # noqa: ARG002
        return {"n_utilities": self.n_utilities}
