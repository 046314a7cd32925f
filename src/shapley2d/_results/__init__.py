"""What comes out: values, errors, names, the record of the run, and how to show and keep them."""

from shapley2d._results.blocks import BlockValuation
from shapley2d._results.valuation import Valuation

__all__ = ["BlockValuation", "Valuation"]
