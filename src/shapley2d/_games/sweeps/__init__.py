"""Games of built-in models that fill the whole grid of a permutation pair, instead of training for each coalition."""

from __future__ import annotations

from shapley2d._games.sweeps.registry import SWEEPS, sweep_game

__all__ = ["SWEEPS", "sweep_game"]
