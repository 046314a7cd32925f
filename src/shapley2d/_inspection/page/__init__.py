"""The page on which a person decides about suspect entries: one self-contained HTML file."""

from __future__ import annotations

from shapley2d._inspection.page.write import write_inspection

__all__ = ["write_inspection"]
