"""Two valuations side by side: two runs, or two versions of a table; what moved."""

from __future__ import annotations

from shapley2d._valuation.comparison.compare import Comparison, compare

__all__ = ["Comparison", "compare"]
