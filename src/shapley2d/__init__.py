"""Which entries of a table are wrong, and what every cell is worth to a model.

>>> import shapley2d
>>> v = shapley2d.value_game(lambda S, F: S.sum() * F.sum(), n_rows=2, n_columns=3)
>>> v.total
6.0
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shapley2d._version import __version__

if TYPE_CHECKING:
    from shapley2d._estimation.draws import Draw, Draws, OneDraw, Stratum
    from shapley2d._forest.explain import Explanation, PredictionExplainer, explain_prediction
    from shapley2d._forest.method import Forest
    from shapley2d._fragments.value import value_fragments
    from shapley2d._fragments.verify import Verification, verify_receipt
    from shapley2d._inspection.inspect import inspect_cells
    from shapley2d._inspection.inspection import Inspection
    from shapley2d._inspection.inspector import CellInspector
    from shapley2d._inspection.measure import measure_repair
    from shapley2d._inspection.repair_gain import RepairGain
    from shapley2d._knn.method import KNN
    from shapley2d._methods.method import Method, Option
    from shapley2d._models.methods import Exact, MonteCarlo
    from shapley2d._rivals.flat import Flat
    from shapley2d._rivals.leave_one_out import LeaveOneOut
    from shapley2d._rivals.out_of_bag import OutOfBag
    from shapley2d._rivals.random_values import Random
    from shapley2d._valuation.cells import value_cells
    from shapley2d._valuation.comparison import Comparison
    from shapley2d._valuation.estimator import CellValuer
    from shapley2d._valuation.valuation import Valuation
    from shapley2d._valuation.value_game import value_game
    from shapley2d._valuation.what_if import WhatIf
    from shapley2d.exceptions import InputError

__all__ = [
    "KNN",
    "CellInspector",
    "CellValuer",
    "Comparison",
    "Draw",
    "Draws",
    "Exact",
    "Explanation",
    "Flat",
    "Forest",
    "InputError",
    "Inspection",
    "LeaveOneOut",
    "Method",
    "MonteCarlo",
    "OneDraw",
    "Option",
    "OutOfBag",
    "PredictionExplainer",
    "Random",
    "RepairGain",
    "Stratum",
    "Valuation",
    "Verification",
    "WhatIf",
    "__version__",
    "explain_prediction",
    "inspect_cells",
    "measure_repair",
    "value_cells",
    "value_fragments",
    "value_game",
    "verify_receipt",
]

# numba, scikit-learn, pyarrow and plotting load when they are first needed, so that the import is
# quick
_HOMES = {
    "CellInspector": "shapley2d._inspection.inspector",
    "CellValuer": "shapley2d._valuation.estimator",
    "Comparison": "shapley2d._valuation.comparison",
    "Draw": "shapley2d._estimation.draws",
    "Draws": "shapley2d._estimation.draws",
    "Exact": "shapley2d._models.methods",
    "Explanation": "shapley2d._forest.explain",
    "Flat": "shapley2d._rivals.flat",
    "Forest": "shapley2d._forest.method",
    "InputError": "shapley2d.exceptions",
    "Inspection": "shapley2d._inspection.inspection",
    "KNN": "shapley2d._knn.method",
    "LeaveOneOut": "shapley2d._rivals.leave_one_out",
    "Method": "shapley2d._methods.method",
    "MonteCarlo": "shapley2d._models.methods",
    "OneDraw": "shapley2d._estimation.draws",
    "Option": "shapley2d._methods.method",
    "OutOfBag": "shapley2d._rivals.out_of_bag",
    "PredictionExplainer": "shapley2d._forest.explain",
    "Random": "shapley2d._rivals.random_values",
    "RepairGain": "shapley2d._inspection.repair_gain",
    "Stratum": "shapley2d._estimation.draws",
    "Valuation": "shapley2d._valuation.valuation",
    "Verification": "shapley2d._fragments.verify",
    "WhatIf": "shapley2d._valuation.what_if",
    "explain_prediction": "shapley2d._forest.explain",
    "inspect_cells": "shapley2d._inspection.inspect",
    "measure_repair": "shapley2d._inspection.measure",
    "value_cells": "shapley2d._valuation.cells",
    "value_fragments": "shapley2d._fragments.value",
    "value_game": "shapley2d._valuation.value_game",
    "verify_receipt": "shapley2d._fragments.verify",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'shapley2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
