"""The metrics in fractions, from their description in the documentation, and tables full of ties to try them on."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd

NORMAL_IQR = Fraction(1.3489795003921634)


def as_fraction(entry) -> Fraction | None:
    """A number as its shortest decimal says; None where missing."""
    return None if entry is None or entry != entry else Fraction(repr(float(entry)))


def exact_column(train, valid, metric, *, nominal):
    """The dissimilarities of a column: (T, n), as fractions."""
    if nominal:
        there = [x for x in train if x is not None]
        alike = sum(there.count(x) ** 2 for x in set(there))
        gap = 1 - Fraction(alike, len(there) ** 2) if there else Fraction(1)
        return [[gap if a is None or b is None else Fraction(a != b) for a in train] for b in valid]
    t, v = [as_fraction(x) for x in train], [as_fraction(x) for x in valid]
    there = [x for x in t if x is not None]
    if metric == "auto":
        if len(set(there)) < 2:
            return [[Fraction(0)] * len(t) for _ in v]
        lowest, highest = cut(there)
        t, v, there = (
            [None if x is None else min(max(x, lowest), highest) for x in part]
            for part in (t, v, there)
        )
    mean = sum(there) / max(len(there), 1)
    spread = 2 * sum((x - mean) ** 2 for x in there) / max(len(there), 1)
    unit, gap = (spread, Fraction(1)) if metric == "auto" else (Fraction(1), Fraction(spread))
    return [[gap if a is None or b is None else (a - b) ** 2 / unit for a in t] for b in v]


def cut(numbers):
    """Three robust deviations below and above the median."""
    ordered = sorted(numbers)

    def quantile(share):
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    low, centre, high = (quantile(Fraction(k, 4)) for k in (1, 2, 3))
    off = sorted(abs(x - centre) for x in numbers if x != centre)
    reach = 3 * (high - low) / NORMAL_IQR
    if not reach:
        reach = 3 * (off[(len(off) - 1) // 2] + off[len(off) // 2]) / 2
    return centre - reach, centre + reach


def exact_distances(train, valid, metric="auto"):
    """Dissimilarities of two frames by column: a list of (T, n) lists of fractions."""
    result = []
    for name in train.columns:
        nominal = not pd.api.types.is_numeric_dtype(train[name])
        parts = [
            [None if pd.isna(x) else x for x in frame[name].tolist()] for frame in (train, valid)
        ]
        result.append(exact_column(*parts, metric, nominal=nominal))
    return result


KINDS = ("bits", "counts", "wide counts", "decimals", "words", "cents", "rare", "levels", "floats")


def random_column(kind, rng, n):
    """A column of a kind in which distances tie, as a list; of floats they do not."""
    if kind == "bits":
        return (rng.random(n) < rng.uniform(0.1, 0.9)).astype(float)
    if kind == "counts":
        return rng.poisson(rng.uniform(0.3, 3), n).astype(float)
    if kind == "wide counts":
        return rng.integers(0, 60, n).astype(float)
    if kind == "decimals":
        return rng.normal(size=n).round(1)
    if kind == "cents":
        return (rng.integers(0, 400, n) / 100).round(2)
    if kind == "words":
        return np.array(["north", "south", "east", "west"], dtype=object)[
            rng.integers(0, rng.integers(2, 5), n)
        ]
    if kind == "rare":
        return np.where(rng.random(n) < 0.8, 0.0, rng.integers(1, 30, n))
    if kind == "levels":
        return rng.choice([0.0, 2.5, 5.0, 20.0], n)
    return rng.normal(size=n)


def random_tables(rng, n, n_valid, m, *, kinds=KINDS[:-1], gaps=None):
    """A training and a validation frame of some kinds of columns, with some rows repeated."""
    share = rng.choice([0.0, 0.0, 0.1, 0.3]) if gaps is None else gaps
    columns = {}
    for j in range(m):
        kind = kinds[rng.integers(len(kinds))]
        entries = random_column(kind, rng, n + n_valid)
        if share:
            gone = rng.random(n + n_valid) < share
            entries = np.where(gone, None if kind == "words" else np.nan, entries)
        columns[f"{kind} {j}"] = entries
    frame = pd.DataFrame(columns)
    order = np.arange(n + n_valid)
    if rng.random() < 0.4:  # duplicated rows, and validation rows that are among them
        order = rng.integers(0, max(n // 2, 2), n + n_valid)
    frame = frame.iloc[order].reset_index(drop=True)
    return frame.iloc[:n], frame.iloc[n:].reset_index(drop=True)
