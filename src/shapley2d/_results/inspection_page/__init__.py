"""The page on which a person decides: suspect entries with what was expected, one self-contained HTML file."""

from __future__ import annotations

from shapley2d._results.inspection_page.write import render_inspection, write_inspection

__all__ = ["render_inspection", "write_inspection"]
