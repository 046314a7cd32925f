"""A table in which every column follows from the others, with planted errors."""

import numpy as np
import pandas as pd

PLANTED = {(5, "age"): 433, (7, "city"): "Brimingham", (9, "income"): 30, (11, "code"): "b"}
"""Entries that are wrong, by row and column."""


def people(n: int = 160, seed: int = 1) -> tuple[pd.DataFrame, pd.Series]:
    """Numbers, text, a category, dates, booleans and gaps; the label follows from the income."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 65, n)
    city = rng.choice(["Birmingham", "London", "Leeds"], n)
    table = pd.DataFrame(
        {
            "age": age,
            "income": (800 * age + rng.normal(0, 1500, n)).round(-2),
            "city": city,
            "code": pd.Categorical([name[0].lower() if name != "Leeds" else "y" for name in city]),
            "joined": pd.Timestamp("2024-01-01") + pd.to_timedelta(10 * (age - 20), "D"),
            "senior": age > 45,
            "note": [None if k % 9 == 0 else "ok" for k in range(n)],
        }
    )
    label = pd.Series(np.where(table["income"] > 34_000, "yes", "no"), name="bought")
    for (row, column), wrong in PLANTED.items():
        if column == "code":
            wrong = "b" if table.loc[row, "code"] != "b" else "l"  # noqa: PLW2901
        table.loc[row, column] = wrong
    return table, label
