"""Defaults that several rooms need, each written once."""

from __future__ import annotations

from typing import Final

N_NEIGHBORS = 10
"""K: how many neighbours vote."""

TOLERANCE = 0.025
"""Largest standard error that is precise enough, relative to the spread of the values."""

FOLDS = 5
"""Parts of a cross-valuation."""

SEMIVALUE: Final = "shapley"
"""How subsets of different sizes are weighted."""

MIN_COALITIONS = 8
"""Fewest column subsets of an estimate: no columns, all columns and three complementary pairs."""
