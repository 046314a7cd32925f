"""About how many column coalitions a tolerance takes: sampled on few rows, extrapolated.

The error of sampled columns beside the spread of the values hardly depends on how many rows there
are and how many validation rows: on tables of 500 to 5,000 rows against 16 to 300 the same
coalitions left errors within a fifth of each other. So a pilot on few of both tells how far the
error has come down, and it falls about as fast as coalitions are added, a little slower where
columns matter together.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.streams import generator, seed_sequence
from shapley2d._estimation.batches import single_threaded
from shapley2d._knn.columns.sampling import estimate_columns
from shapley2d._methods.knn.split_game import SplitGame

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split

PILOT_ROWS = 1000
PILOT_WORK = 16_000
"""Rows times validation rows: small tables get more of these, as what a few of them say is rougher."""

PILOT_COALITIONS = 512
_PILOT_VALID = (16, 128)

# How a pilot and the run it stands for may differ, and the powers of the number of coalitions that
# errors fall by.
_BETTER, _WORSE = 0.8, 1.25
_FAST_FALL, _SLOW_FALL = 1.2, 0.75
_STEP = 1.2  # by which a run may overshoot


class Fall(NamedTuple):
    """The error of a pilot after so many coalitions, relative to the spread of the values."""

    history: Sequence[tuple[int, float]]

    def reaches(self, tolerance: float, first: int, most: int, *, lucky: bool) -> int | None:
        """The least number of coalitions whose error is within the tolerance; None if not even that of the most is.

        Examples
        --------
        >>> fall = Fall([(50, 0.2), (100, 0.1)])
        >>> fall.reaches(0.05, 50, 800, lucky=True), fall.reaches(0.05, 50, 800, lucky=False)
        (149, 413)
        >>> fall.reaches(0.001, 50, 800, lucky=True) is None
        True
        """
        factor, power = (_BETTER, _FAST_FALL) if lucky else (_WORSE, _SLOW_FALL)
        coalitions = first
        while True:
            seen = [(count, ratio) for count, ratio in self.history if count <= coalitions]
            count, ratio = seen[-1] if seen else self.history[0]
            if factor * ratio * (count / coalitions) ** power <= tolerance:
                return coalitions if lucky else min(math.ceil(_STEP * coalitions), most)
            if coalitions >= most:
                return None
            coalitions = min(math.ceil(1.02 * coalitions), most)


def pilot_fall(
    problem: Problem, run: Run, tolerance: float, *, small: bool, **settings: object
) -> Fall:
    """Sample columns on few rows and validation rows, with the kernels that the run itself will need.

    Parameters
    ----------
    problem : Problem
    run : Run
    tolerance : float
        Where the pilot can stop.
    small : bool
        Whether the run uses the kernels of small tables.
    **settings
        ``n_neighbors``, ``metric`` and ``baseline``.
    """
    n_rows = min(PILOT_ROWS, max(split.train.n_rows for split in problem.splits))
    part = few_rows(problem, n_rows, int(np.clip(PILOT_WORK // n_rows, *_PILOT_VALID)), run.seed)
    game = SplitGame(part, run, small=small, **settings)  # type: ignore[arg-type]
    game.use_form("exact")
    with single_threaded():  # threads of algebra cost more than they bring here
        result = estimate_columns(
            game.values,
            game.n_columns,
            tolerance=_BETTER * tolerance,
            max_coalitions=PILOT_COALITIONS,
            semivalue=game.column_semivalue,
            random_state=seed_sequence(run.seed, "column pairs"),
        )
    return Fall(result.history)


def few_rows(problem: Problem, n_rows: int | None, n_valid: int, seed: int) -> Problem:
    """The problem of one split, the one with the most rows, with at most so many random rows and validation rows."""
    split = max(problem.splits, key=lambda one: one.train.n_rows)
    random = generator(seed, "plan")
    valid = np.sort(random.permutation(split.valid.n_rows)[:n_valid])
    part: Split = split.take_valid(valid)
    if n_rows is not None and split.train.n_rows > n_rows:
        rows = np.sort(random.permutation(split.train.n_rows)[:n_rows])
        part = replace(
            part, rows=split.rows[rows], train=part.train.take_rows(rows), y=part.y.take(rows)
        )
    table = part.train
    part = replace(part, rows=np.arange(table.n_rows))
    return replace(problem, table=table, target=part.y, splits=[part])
