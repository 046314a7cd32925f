"""The paper's run times, ours relative to each other, and how times are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Records


CELLS = (1_000, 5_000, 10_000, 20_000, 50_000, 100_000)
"""The sizes of the paper's table."""

PAPER_KNN = dict(zip(CELLS, (11, 25, 37, 44, 53, 88), strict=True))
"""The paper's seconds for 2D-KNN."""

PAPER_MC = dict(zip(CELLS, (280, 1661, 3127, 9258, 17786, 26209), strict=True))
"""The paper's seconds for 2D-MC."""

PAPER_EXACT = dict(
    zip(
        CELLS,
        ("1.5E+301 s", "2.0E+1505 s", "2.8E+3010 s", "5.6E+6020 s", "4.4E+15051 s", "1.4E+30103 s"),
        strict=True,
    )
)
"""The paper's projection for exact values."""

MODELS = {
    "tree": "decision tree, built in",
    "gaussian_nb": "naive Bayes, built in",
    "sklearn": "decision tree, scikit-learn",
}
"""The models of 2D-MC, for a reader."""


def speedups(records: Records, model: str) -> dict[int, float]:
    """How many times faster than Monte Carlo nearest neighbours are, by cells."""
    found = {}
    for (cells,), part in records.groups("cells"):
        knn, mc = part.where(what="knn"), part.where(what=model)
        if len(knn) and len(mc):
            found[cells] = mc.mean("projected") / knn.mean("seconds")
    return dict(sorted(found.items()))


def exact_digits(n_rows: int, n_columns: int, seconds_per_model: float) -> float:
    """Decimal logarithm of the seconds for all pairs of coalitions, one model each.

    Examples
    --------
    >>> round(exact_digits(10, 10, 1e-6), 2)
    0.02
    """
    return float((n_rows + n_columns) * np.log10(2) + np.log10(seconds_per_model))


def seconds_text(seconds: float) -> str:
    """Seconds with their unit."""
    return f"{number_text(seconds)} s"


def number_text(number: float) -> str:
    """A number to three digits, or to the last before the point."""
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def time_text(records: Records, name: str = "seconds") -> str:
    """The mean time of some records; empty without any."""
    return seconds_text(records.mean(name)) if len(records) else ""
