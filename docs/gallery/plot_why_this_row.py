"""
Why does this row hurt?
=======================

A row below zero makes the model worse. Its cells show why: one slipped decimal point is enough.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine

from shapley2d import value_cells

X, y = load_wine(return_X_y=True, as_frame=True)
X.loc[5, "alcohol"] = 1.42  # it was 14.2
X.loc[60, "proline"] = 4200.0  # it was 420
v = value_cells(X, y)
v.lowest(5, contents=True)

# %%
# One row, column by column, from 0 to its sum.
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
v.plot_waterfall(60, ax=ax)

# %%
# The same as a table, with where each entry lies within its column.
v.explain_row(60).head(6)
