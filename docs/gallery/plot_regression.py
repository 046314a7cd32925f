"""
A regression
============

With a numeric target, values are shares of the reduction in squared error.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from shapley2d import value_cells

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
v = value_cells(X, y)
print(v.describe())

# %%
# One dot per cell. Left of zero, the cell makes predictions worse; the colour shows the entry.
fig, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
v.plot_beeswarm(ax=ax)

# %%
# Body mass index: which values of it help? The extreme ones, which say much about the target.
fig, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
j = v.column_names.index("bmi")
points = ax.scatter(X["bmi"], v.values[:, j], c=y, s=14, cmap="viridis")
ax.axhline(0, color="0.3", lw=0.8)
ax.set(xlabel="body mass index", ylabel="value of the cell")
fig.colorbar(points, label="target")
print(f"{np.mean(v.values[:, j] > 0):.0%} of the cells of this column help")
