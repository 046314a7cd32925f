"""Games of built-in models, which fill the whole grid of a permutation pair in one sweep.

Other games train a model for every coalition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._base.checks import check_choice

if TYPE_CHECKING:
    from shapley2d._tables.problem import Split
    from shapley2d._theory.game import Game

SWEEPS = ("gaussian_nb", "ridge")
"""Names of the models that are swept."""


def sweep_game(
    name: str, split: Split, *, baseline: str = "labels", scoring: str | None = None
) -> Game:
    """The game of a built-in model; its utility is accuracy or R squared by default."""
    check_choice(name, "model", SWEEPS)
    if name == "gaussian_nb":
        from shapley2d._models.sweeps.naive_bayes import NaiveBayesSweep

        return NaiveBayesSweep(split, baseline=baseline, scoring=scoring)
    from shapley2d._models.sweeps.ridge import RidgeSweep

    return RidgeSweep(split, baseline=baseline, scoring=scoring)
