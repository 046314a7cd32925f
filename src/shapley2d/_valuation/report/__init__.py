"""The report: one self-contained HTML file that shows every cell and says where to look first."""

from __future__ import annotations

from shapley2d._valuation.report.write import write_report

__all__ = ["write_report"]
