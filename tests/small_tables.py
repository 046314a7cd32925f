"""Small random tables for tests: whole numbers with ties, gaps, classes or numbers to predict, and mixed frames."""

import numpy as np
import pandas as pd

from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import Split
from shapley2d._tables.target import Target


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


def two_classes(seed=0, n=30, m=4, n_valid=25):
    """Training and validation frames of random numbers; the class follows from the first two columns."""
    random = np.random.default_rng(seed)
    names = list("abcdefg")[:m]
    X, X_valid = (
        pd.DataFrame(random.normal(size=(size, m)).round(2), columns=names) for size in (n, n_valid)
    )
    y, y_valid = ((part["a"] + part["b"] > 0).astype(int) for part in (X, X_valid))
    return X, y, X_valid, y_valid


def split_of(X, y, X_valid, y_valid, task, n_classes=3):
    """A split whose labels are codes of classes, -1 for one that no training row has, or numbers."""
    known = np.arange(n_classes if task == "classification" else 0)
    kind = int if task == "classification" else float
    y, y_valid = (Target(task, one, np.asarray(one).astype(kind), known) for one in (y, y_valid))
    return Split(np.arange(len(X)), as_table(X), y, as_table(X_valid), y_valid)
