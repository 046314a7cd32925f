"""The method ``LeaveOneOut``: the whole table without a row, a column, and both.

The paper's 2D-LOO: of all pairs of subsets in a 2D-Shapley value it takes the largest one alone,

    h(N, M) - h(N - i, M) - h(N, M - j) + h(N - i, M - j),

which is (n + 1) (m + 1) trainings.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from shapley2d._models.methods import AnyModel, ModelMethod, Preprocess
from shapley2d._rivals.refusals import refuse_semivalue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._methods.run import Run
    from shapley2d._models.game_draws import GameDraws
    from shapley2d._theory.game import Game


@dataclass(frozen=True, repr=False)
class LeaveOneOut(ModelMethod):
    """2D leave-one-out: any model, without a row, without a column, and without both.

    Parameters
    ----------
    model : str, scikit-learn estimator or KNN
        As in :class:`~shapley2d.MonteCarlo`.
    preprocess : {"auto", "none"}
        ``"auto"`` encodes the table as numbers, one-hot where needed; ``"none"`` passes it on
        unchanged.

    Examples
    --------
    >>> from shapley2d import LeaveOneOut, value_game
    >>> v = value_game(lambda S, F: S.sum() ** 2 * F.sum(), 3, 2, method=LeaveOneOut())
    >>> v.values.tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """

    name: ClassVar[str] = "loo"
    summary: ClassVar[str] = (
        "2D leave-one-out: the whole table without a row, without a column, and without both"
    )
    how: ClassVar[str] = "leaving out one row and one column at a time"
    meaning: ClassVar[str] = (
        "what the whole table's performance owes to its row and its column together"
    )
    total: ClassVar[str] = ""

    model: AnyModel = "tree"
    preprocess: Preprocess = "auto"

    def draws_of(
        self, games: Sequence[Game], rows: Sequence[Ints | slice], n_rows: int, run: Run
    ) -> GameDraws:
        """A draw for every row that is left out."""
        from shapley2d._rivals.left_out import LeftOut

        refuse_semivalue(self.name, run, "it only looks at the whole table")
        return LeftOut(games, rows, n_rows, run.semivalues)
