"""
Text, dates and missing entries
===============================

A column stays one column, whatever it holds: no one-hot columns to add up, no imputation first.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shapley2d import value_cells

random = np.random.default_rng(0)
n = 240
plan = random.choice(["basic", "family", "business"], n, p=[0.5, 0.3, 0.2])
signed = pd.Timestamp("2023-01-01") + pd.to_timedelta(random.integers(0, 900, n), unit="D")
calls = random.poisson(2 + 3 * (plan == "basic"))
X = pd.DataFrame(
    {
        "plan": plan,
        "signed": signed,
        "calls": calls.astype(float),
        "city": random.choice(["Oslo", "Bergen"], n),
    }
)
leaves = (calls + 2 * (signed > "2024-09-01") + random.normal(0, 1, n) > 5).astype(int)
y = np.where(leaves, "left", "stayed")
X.loc[random.choice(n, 30, replace=False), "calls"] = np.nan

v = value_cells(X, y)
print(v.describe())

# %%
# What missing calls cost: known entries of the column help, missing ones do not.
calls_values = v.values[:, 2]
fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
left.bar(range(4), v.column_values, color="#0b5c6b")
left.set_xticks(range(4), X.columns)
left.set_ylabel("sum of cell values")
gone = X["calls"].isna()
right.boxplot(
    [calls_values[~gone], calls_values[gone]], tick_labels=["known", "missing"], showfliers=False
)
right.axhline(0, color="0.7", lw=0.8)
right.set(title="calls", ylabel="value of the cell")
