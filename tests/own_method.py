"""A method of one's own, as another package would have it."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np

from shapley2d import KNN, Method, OneDraw, Option


@dataclass(frozen=True, repr=False)
class LeaveOut(Method):
    """What a row and a column add together to all the others."""

    name, summary = "leave-out", "what is lost without a row and a column"
    how = "leaving out a row and a column"
    meaning = "what its row and its column add together to all the others"
    total = ""

    n_votes: Annotated[int, Option("number of neighbours that vote")] = 5
    signs: Annotated[Literal["both", "plus"], Option("values of both signs, or none below 0")] = (
        "both"
    )

    def draws(self, problem, run):
        games = KNN(n_neighbors=self.n_votes).games(problem)
        rows = [split.rows for split in problem.splits]
        return self.draws_of(games, rows, problem.table.n_rows, run)

    def draws_of(self, games, rows, n_rows, run):
        values = np.zeros((n_rows, games[0].n_columns))
        for game, own in zip(games, rows, strict=True):
            all_but_one = (1 - np.eye(n + 1, n) for n in (game.n_rows, game.n_columns))
            h = game.utilities(*(masks.astype(bool) for masks in all_but_one))
            values[own] += (h[-1, -1] - h[:-1, -1:] - h[-1:, :-1] + h[:-1, :-1]) / len(games)
        return OneDraw(values.clip(0 if self.signs == "plus" else None))
