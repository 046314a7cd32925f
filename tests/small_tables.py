"""Small random tables that several test modules value."""

from __future__ import annotations

import numpy as np
import pandas as pd


def two_classes(seed=0, n=30, m=4, n_valid=25):
    """Training and validation frames of random numbers; the class follows from the first two columns."""
    random = np.random.default_rng(seed)
    names = list("abcdefg")[:m]
    X, X_valid = (
        pd.DataFrame(random.normal(size=(size, m)).round(2), columns=names) for size in (n, n_valid)
    )
    y, y_valid = ((part["a"] + part["b"] > 0).astype(int) for part in (X, X_valid))
    return X, y, X_valid, y_valid
