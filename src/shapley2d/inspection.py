"""Find and fix wrong entries: all that is public of it, also importable from ``shapley2d``.

>>> from shapley2d.inspection import inspect_cells
>>> inspection = inspect_cells({"a": [1, 2, 3] * 20, "b": [2, 4, 6] * 20}, progress=False)
>>> inspection.to_dict()["stand_out"]
0
"""

from __future__ import annotations

from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.inspect import inspect_cells
from shapley2d._inspection.inspection import Inspection
from shapley2d._inspection.inspector import CellInspector
from shapley2d._inspection.measure import measure_repair
from shapley2d._inspection.repair_gain import RepairGain

__all__ = [
    "CellInspector",
    "ColumnFinding",
    "Inspection",
    "RepairGain",
    "inspect_cells",
    "measure_repair",
]
