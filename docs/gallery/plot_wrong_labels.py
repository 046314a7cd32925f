"""
Wrong labels
============

``include_label=True`` values the label as one more column. Wrong labels come out lowest.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from shapley2d import value_cells

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X = X.iloc[:, :10]
random = np.random.default_rng(0)
flipped = random.choice(len(y), 28, replace=False)
wrong = y.copy()
wrong.iloc[flipped] = 1 - wrong.iloc[flipped]

v = value_cells(X, wrong, include_label=True)
labels = v.values[:, -1]
first = np.argsort(labels)[:28]
found, by_chance = np.isin(first, flipped).sum(), 28 * 28 / len(y)
print(f"of the 28 lowest labels, {found} are wrong; by chance it would be {by_chance:.0f}")

# %%
# All labels, the wrong ones in orange.
is_wrong = np.isin(np.arange(len(y)), flipped)
fig, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
edges = np.linspace(labels.min(), labels.max(), 50)
ax.hist(
    [labels[~is_wrong], labels[is_wrong]],
    edges,
    stacked=True,
    color=["#0b5c6b", "#e07b39"],
    label=["right", "wrong"],
)
ax.set(xlabel="value of a row's label", ylabel="rows", yscale="symlog")
ax.legend(frameon=False)
