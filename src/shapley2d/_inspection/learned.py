"""What was learned on other tables: ``learned.json``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

LEARNED: dict[str, Any] = json.loads(
    (files(__package__) / "learned.json").read_text(encoding="ascii")
)
"""What ``benchmarks/calibration.py`` has learned."""

SETTINGS: dict[str, Any] = LEARNED["settings"]
"""What the models were learned with, and what was measured on tables left out.

================= ==========================================================================
odds              upper bound of the log-odds against a label
order             part of the first evidence that is added to what the trees say
most              no entry is surer to be wrong
stands out        probability from which an entry stands out: of clean tables, 93 % have none
true per expected 80 % interval for the true number of errors per expected one, over tables with
                  .3 % of errors or more
================= ==========================================================================
"""
