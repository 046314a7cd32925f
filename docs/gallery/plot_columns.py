"""
Which columns carry a model, and for which rows?
================================================

A column's value is the sum of its cells' values. The cells tell more: the same column may help with
one class and mislead on another.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from shapley2d import value_cells

X, y = load_wine(return_X_y=True, as_frame=True)
v = value_cells(X, y)

# %%
# What each column adds, in points of the score.
v.plot_columns()

# %%
# One column: the value of each cell against its entry. ``marked=`` highlights entries, such as those
# that an inspection calls wrong.
v.plot_entries("flavanoids")

# %%
# The sum over each column, split by the class of the rows.
order = np.argsort(v.column_values)
classes = np.unique(y)
fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
left_positive, left_negative = np.zeros(X.shape[1]), np.zeros(X.shape[1])
for c, colour in zip(classes, ("#0b5c6b", "#c8763a", "#7a5ea8"), strict=True):
    part = 100 * v.values[y == c].sum(axis=0)[order]
    left = np.where(part > 0, left_positive, left_negative)
    ax.barh(np.arange(order.size), part, left=left, color=colour, label=f"wine {c}")
    left_positive += np.maximum(part, 0)
    left_negative += np.minimum(part, 0)
ax.set_yticks(np.arange(order.size), [v.column_names[j] for j in order])
ax.axvline(0, color="0.3", lw=0.8)
ax.set_xlabel("sum of cell values, points of the score")
ax.legend(frameon=False, loc="lower right")

# %%
# And every single cell: rows sorted by class, columns by value.
v.plot_heatmap()
