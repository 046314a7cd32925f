"""Small random tables for tests: whole numbers with ties, gaps, classes or numbers to predict, and mixed frames."""

from __future__ import annotations

import numpy as np
import pandas as pd


def numbers(n, m=4, seed=0, *, gaps=0.0):
    """Whole numbers with ties, and a number to predict from the first three columns."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 8, (n, m)).astype(float)
    y = X[:, 0] + X[:, 1] * (X[:, 2] > 3) + random.normal(size=n)
    X[random.random((n, m)) < gaps] = np.nan
    return X, y


def classes(n, m=4, seed=0, *, gaps=0.0, names=(0, 1, 2)):
    """Whole numbers with ties, and three classes to predict."""
    X, y = numbers(n, m, seed, gaps=gaps)
    return X, np.array(names)[(y > 3).astype(int) + (y > 8)]


def mixed(n, seed=0):
    """A frame of numbers with gaps, text, booleans and dates; two classes depend on the first two columns."""
    random = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "size": random.normal(size=n).round(1),
            "town": random.choice(["Ulm", "Bonn", "Kiel", "Jena"], n),
            "pay": random.integers(0, 9, n).astype(float),
            "new": random.random(n) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 99, n), "D"),
        }
    )
    y = (frame["size"] > 0) ^ frame["town"].isin(["Ulm", "Kiel"])
    frame.loc[::7, "pay"] = np.nan
    return frame, y.to_numpy().astype(int)
