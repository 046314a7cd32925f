"""Which entries of a table are wrong, and what every cell and every owner is worth to a model.

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
    from shapley2d._api.audit import audit_owners
    from shapley2d._api.blocks import value_blocks
    from shapley2d._api.cells import value_cells
    from shapley2d._api.estimator import CellValuer
    from shapley2d._api.game import value_game
    from shapley2d._api.inspect import inspect_cells
    from shapley2d._api.inspector import CellInspector
    from shapley2d._api.measure import measure_repair
    from shapley2d._api.receipt import verify_receipt
    from shapley2d._results.audit import Audit
    from shapley2d._results.blocks import BlockValuation
    from shapley2d._results.inspection import Inspection
    from shapley2d._results.receipt import Receipt
    from shapley2d._results.repair_gain import RepairGain
    from shapley2d._results.valuation import Valuation
    from shapley2d._results.what_if import WhatIf
    from shapley2d.exceptions import InputError

__all__ = [
    "Audit",
    "BlockValuation",
    "CellInspector",
    "CellValuer",
    "InputError",
    "Inspection",
    "Receipt",
    "RepairGain",
    "Valuation",
    "WhatIf",
    "__version__",
    "audit_owners",
    "inspect_cells",
    "measure_repair",
    "value_blocks",
    "value_cells",
    "value_game",
    "verify_receipt",
]

# numba, scikit-learn, pyarrow and plotting load when they are first needed, so that the import is
# quick
_HOMES = {
    "Audit": "shapley2d._results.audit",
    "BlockValuation": "shapley2d._results.blocks",
    "CellInspector": "shapley2d._api.inspector",
    "CellValuer": "shapley2d._api.estimator",
    "InputError": "shapley2d.exceptions",
    "Inspection": "shapley2d._results.inspection",
    "Receipt": "shapley2d._results.receipt",
    "RepairGain": "shapley2d._results.repair_gain",
    "Valuation": "shapley2d._results.valuation",
    "WhatIf": "shapley2d._results.what_if",
    "audit_owners": "shapley2d._api.audit",
    "inspect_cells": "shapley2d._api.inspect",
    "measure_repair": "shapley2d._api.measure",
    "value_blocks": "shapley2d._api.blocks",
    "value_cells": "shapley2d._api.cells",
    "value_game": "shapley2d._api.game",
    "verify_receipt": "shapley2d._api.receipt",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'shapley2d' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
