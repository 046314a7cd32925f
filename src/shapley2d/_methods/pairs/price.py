"""What a run of ``"pairs"`` will take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.columns.pair_fit import MAX_SUBSETS
from shapley2d._methods.pairs.games import check_pairs
from shapley2d._methods.pairs.sampling import coalitions_of_rounds
from shapley2d._methods.price import Price
from shapley2d._methods.work_price import price_designs
from shapley2d._theory.designs import AllSubsets, Permutation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._methods.run import Run
    from shapley2d._theory.designs import AxisDesign
    from shapley2d._theory.game import Game


def price_pairs(
    games: Sequence[Game], n_rows: int, run: Run, *, n_subsets: int | None, tolerance: float
) -> Price:
    """What utilities take, for as many subsets as asked for, or as the tolerance may need."""
    n_columns = games[0].n_columns
    check_pairs(n_rows, n_columns, n_subsets)
    rounds = coalitions_of_rounds(max(n_rows, n_columns), n_subsets, MAX_SUBSETS)
    low, high = (
        (rounds[-1] if n_subsets is not None or tolerance == 0 else rounds[0]),
        rounds[-1],
    )
    # what a utility takes is timed on coalitions of half of the players, as those of pairs are on
    # average
    designs: list[tuple[AxisDesign, AxisDesign]] = [
        (AllSubsets(game.n_rows), Permutation(range(n_columns)))
        if n_rows < n_columns
        else (Permutation(range(game.n_rows)), AllSubsets(n_columns))
        for game in games
    ]
    one = price_designs(games, designs, (n_rows, n_columns), n_jobs=run.n_jobs)
    per_coalition = sum(2 ** (n_columns if n_rows >= n_columns else game.n_rows) for game in games)
    costs = []
    for count in (low, high):
        share = count * per_coalition / one.amounts["utilities"][0]
        costs.append(
            type(one.low)(
                one.low.alone_s * share,
                one.low.shared_s * share,
                max(count // 8, 1),
                max(count // 64, 1),
                one.low.handover_s,
            )
        )
    notes = [] if low == high else ["How many subsets the tolerance takes is not known beforehand."]
    return Price(
        costs[0], costs[1], one.cores, one.memory, {"subsets": (low, high)}, one.facts, notes
    )
