"""The weights of a score, and what was learned on other tables: ``learned.json``."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

WEIGHTS = {
    "surprise": 0.25,
    "stories": 0.5,
    "distance": 2.0,
    "class": 1.5,
    "repeat": 0.5,
    "gain": 0.5,
    "text": 1.0,
}
"""Weights of the parts of a cell's score, chosen on tables with planted errors and checked on
others (``benchmarks/detection.py``). The score of a class label is its surprise.

=========== ================================================================================
surprise    how unlikely the entry is given the rest of its row
stories     how much likelier an error would have produced it than the row
distance    how far a number is from the middle of what is expected, unless its bin is expected
class       how unusual it is among the rows of its label
repeat      it occurs once in a column whose entries repeat
gain        how much better the rest of the row fits once the entry is replaced
text        it is not written like the rest of its column
=========== ================================================================================
"""

LEARNED: dict[str, Any] = json.loads(
    (files(__package__) / "learned.json").read_text(encoding="ascii")
)
"""What ``benchmarks/calibration.py`` has learned."""

SETTINGS: dict[str, Any] = LEARNED["settings"]
"""What the models were learned with, and what was measured on tables left out.

================= ==========================================================================
height            heights above the table beyond which it does not matter how high
root of height    upper bound of heights whose root is taken
flattest          least spread of a column's scores, in that of the table
text, odd text    upper bound of the score of a text, and from where it is odd
nearly key        share of distinct entries from which a repeated one begins to be suspicious
chance            no finding counts as surer than this
high score        few correct cells score this high
high share        bounds of the share of such cells
tail              upper-tail fractions at which quantiles are taken
sure              bounds of the log share of cells that are likelier wrong than right
odds              upper bound of the log-odds against a label
order             part of the first evidence that is added to what the trees say
most              no entry is surer to be wrong
stray             least probability that a text among numbers is wrong: 99 % of 2,000 were
strays alike      texts of one shape up to which that holds: of shapes that more than 20 have, which
                  may be codes, 82 % were
stands out        probability from which an entry stands out: of clean tables, 90 % have none
true per expected 80 % interval for the true number of errors per expected one, over tables with
                  .3 % of errors or more
================= ==========================================================================
"""
