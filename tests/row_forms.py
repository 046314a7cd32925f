"""Nearest neighbours that rank all rows, or bin the far ones, whatever the table would make them do."""

import math
from unittest.mock import patch

from shapley2d import value_cells
from shapley2d._methods.knn import choices


def in_form(form):
    """A context in which runs on the processor take one form, "exact" or "fast", from 1,024 rows on."""
    if form == "exact":
        return patch.multiple(choices, SMALL_WORK=math.inf)
    return patch.multiple(choices, SMALL_WORK=0.0, FEW_PAIRS=0.0, SMALL_GAME=0.0)


def cells_in_form(form, *tables, **options):
    """What ``value_cells`` gives in one form."""
    with in_form(form):
        return value_cells(*tables, **options)
