"""The report: one self-contained HTML file that shows every cell and says where to look first."""

from __future__ import annotations

from shapley2d._valuation.report.write import open_report, write_report

__all__ = ["open_report", "write_report"]
