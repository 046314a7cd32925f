"""
Noise columns and the baseline
==============================

How much of a score of 0.9 is due to the columns, if votes drawn from the labels alone already score
0.54? Values count from that baseline, so a column of noise is worth next to nothing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from shapley2d import KNN, value_cells

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[::2, [0, 1, 4, 6, 7]].reset_index(drop=True)
y = y.iloc[::2].reset_index(drop=True)
random = np.random.default_rng(0)
X["constant"] = 1.0
X["noise"] = random.normal(size=len(X))
X["more noise"] = random.normal(size=len(X))

from_nothing = value_cells(X, y)
from_zero = value_cells(X, y, method=KNN(votes="k"), baseline="zero")

# %%
# Counted from 0, as in the paper, a constant column gets a share that no column earned.
fig, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
place = np.arange(X.shape[1])
ax.bar(
    place - 0.2,
    100 * from_nothing.column_values,
    0.38,
    color="#0b5c6b",
    label="from what the labels alone predict (default)",
)
ax.bar(
    place + 0.2,
    100 * from_zero.column_values,
    0.38,
    color="#d9a273",
    label='from zero (baseline="zero")',
)
ax.set_xticks(place, X.columns, rotation=30, ha="right")
ax.axhline(0, color="0.3", lw=0.8)
ax.set_ylabel("points of the score")
ax.legend(frameon=False)
print(f"all values: {100 * from_nothing.total:.1f} and {100 * from_zero.total:.1f} points")
