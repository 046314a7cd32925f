"""
Cell values beside row values
=============================

One value per row, as other libraries give it, shows that a row hurts. It cannot show which of its
entries is to blame.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from shapley2d import KNN, value_cells

X, y = load_wine(return_X_y=True, as_frame=True)
random = np.random.default_rng(1)
rows, columns = random.choice(len(X), 20, replace=False), random.choice(X.shape[1], 20)
for i, j in zip(rows, columns, strict=True):  # somebody else's entry
    X.iloc[i, j] = X.iloc[random.integers(len(X)), j]

v = value_cells(X, y)
# Counted from zero, the cells of a row sum to its KNN-Shapley value, as other libraries compute it.
row_values = value_cells(X, y, method=KNN(votes="k"), baseline="zero").row_values

# %%
# Entries in the order in which one would look at them: single cells by value, or all cells of the
# lowest rows.
truth = np.zeros(X.shape, dtype=bool)
truth[rows, columns] = True
by_cell = np.argsort(v.values, axis=None)
by_row = np.argsort(np.repeat(row_values, X.shape[1]), kind="stable")
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name, order, colour in (("cell values", by_cell, "#0b5c6b"), ("row values", by_row, "#c8763a")):
    ax.plot(np.cumsum(truth.ravel()[order])[:400], color=colour, lw=2, label=name)
ax.plot([0, 400], [0, 400 * 20 / truth.size], color="0.6", ls=":", label="chance")
ax.set(xlabel="entries looked at", ylabel="of 20 replaced entries found")
ax.legend(frameon=False)
