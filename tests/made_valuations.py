"""Valuations of given numbers."""

import numpy as np

from shapley2d import Valuation
from shapley2d._tables.convert import as_table


def made(values, *, error=0.0, contents=None, target=None, names=None, columns=None, **fields):
    """Values with one standard error everywhere; entries and labels where they are given."""
    values = np.asarray(values, float)
    n, m = values.shape
    given = {
        "row_stderr": np.full(n, error),
        "column_stderr": np.full(m, error),
        "_table": None if contents is None else as_table(np.array(contents, dtype=object)),
        "_target": None if target is None else np.array(target, dtype=object),
        **fields,
    }
    rows = np.arange(n) if names is None else np.array(names, dtype=object)
    columns = [f"x{j}" for j in range(m)] if columns is None else columns
    return Valuation(values, np.full((n, m), error), rows, columns, **given)
