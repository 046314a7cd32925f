"""
Check a nightly file against last month's
=========================================

Forty rows arrive every night. They are too few to show what is usual; last month's rows do.
"""

# %%
# Last month's orders, and tonight's with eight errors.
import numpy as np
import pandas as pd

from shapley2d import CellInspector


def orders(n, seed, day):
    rng = np.random.default_rng(seed)
    price = rng.choice([9.5, 20.0, 49.0, 99.0], n)
    names = {9.5: "cable", 20.0: "lamp", 49.0: "desk", 99.0: "sofa"}
    days = pd.Timestamp(day) + pd.to_timedelta(rng.integers(0, 28, n), "D")
    return pd.DataFrame(
        {
            "order": [f"A{seed}-{k:05d}" for k in range(n)],
            "day": days.strftime("%Y-%m-%d"),
            "region": rng.choice(["North", "South", "East"], n),
            "product": [names[one] for one in price],
            "price": price,
            "weight": (price / 4 + rng.normal(0, 1, n)).clip(0.5).round(1),
            "age": rng.integers(18, 90, n),
        }
    )


last_month = orders(3000, 0, "2025-02-01")
tonight = orders(40, 1, "2025-03-01").assign(day="2025-03-01").astype(object)
for row, column, wrong in [
    (2, "order", "A0-00007"),  # exists already
    (5, "day", "1925-03-01"),
    (8, "region", "Nroth"),
    (11, "region", "West"),  # never seen
    (14, "product", "sofa" if tonight.loc[14, "product"] != "sofa" else "lamp"),
    (17, "weight", 8200.0),  # grams
    (20, "age", "old"),
    (23, "age", None),
]:
    tonight.loc[row, column] = wrong

# %%
# The inspector learns once. Saved, it judges the same in another process, to the bit.
inspector = CellInspector().fit(last_month)
inspection = inspector.inspect(tonight)
for finding in inspection.findings:
    print("-", finding.text)

# %%
# The entries to look at, with what last month would have said.
inspection.rank(9)[["row", "column", "entry", "expected", "probability"]]

# %%
# On the command line, with an exit code for the pipeline:
#
# .. code-block:: text
#
#    shapley2d inspect last-month.csv -o last-month.parquet
#    shapley2d inspect tonight.csv --reference last-month.parquet --fail-if 0,findings --report tonight.html
