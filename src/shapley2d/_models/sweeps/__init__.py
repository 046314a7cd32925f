"""Games of built-in models, which fill the whole grid of a permutation pair in one sweep.

Other games train a model for every coalition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._models.sweeps.naive_bayes import NaiveBayesSweep
from shapley2d._models.sweeps.ridge import RidgeSweep

if TYPE_CHECKING:
    from shapley2d._models.sweeps.encoded import Sweep

SWEEPS: dict[str, type[Sweep]] = {"gaussian_nb": NaiveBayesSweep, "ridge": RidgeSweep}
"""The models that are swept, by name."""
