"""2D-OOB: cells valued by how well trees that never saw a row predict it from a few columns."""

from __future__ import annotations

from shapley2d._methods.oob.cells import oob_cells

__all__ = ["oob_cells"]
