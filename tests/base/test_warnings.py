"""Warnings point at the user's line, whatever lies between."""

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest

from shapley2d import CellValuer, MonteCarlo, value_cells, value_game
from shapley2d.exceptions import LeakWarning, PrecisionWarning, UnseenLabelWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
Y = (X[:, 0] > 0).astype(int)
FEW = MonteCarlo("ridge", max_draws=3, tolerance=1e-9)


def leak():
    table = pd.DataFrame(X, columns=["a", "b"]).assign(copy=Y)
    return lambda: value_cells(table, Y)


CALLS = {
    "cells": (PrecisionWarning, lambda: value_cells(X, Y, X, Y, method=FEW)),
    "game": (
        PrecisionWarning,
        lambda: value_game(lambda S, F: float(S[0] and F[0] and S.sum() > 2), 4, 3, method=FEW),
    ),
    "groups": (PrecisionWarning, lambda: value_cells(X, Y, X, Y, method=FEW, row_groups=range(24))),
    "estimator": (PrecisionWarning, lambda: CellValuer(FEW).fit(X, Y, X, Y)),
    "labels": (UnseenLabelWarning, lambda: value_cells(X, Y, X, np.where(Y == 1, 5, 0))),
    "leak": (LeakWarning, leak()),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_of_the_call(name):
    category, call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    (found,) = [warning for warning in caught if warning.category is category]
    assert found.filename == __file__
    lines, start = inspect.getsourcelines(call)
    assert start <= found.lineno < start + len(lines)
