"""
Only 2 % positives
==================

One class is rare: frauds, failures, people who respond. Then a plain score hardly notices it, and
values by it hardly notice the columns. Balanced accuracy, in which all classes count the
same, does.
"""

# %%
# 1,600 people of the census, 2 % of whom earn more than 50,000 dollars. Half are validation rows.
import matplotlib.pyplot as plt
import numpy as np

from shapley2d import value_cells
from shapley2d.datasets import load_census

columns = ["age", "workclass", "education", "marital_status", "occupation", "sex", "hours_per_week"]
X, y = load_census("train")
rare, common = np.flatnonzero(y == ">50K")[:32], np.flatnonzero(y == "<=50K")[:1568]
chosen = np.sort(np.concatenate([rare, common]))
train, valid = chosen[::2], chosen[1::2]
print(f"{(y[train] == '>50K').sum()} of {len(train)} training rows are positive,")
print(f"{(y[valid] == '>50K').sum()} of {len(valid)} validation rows")

# %%
# By the probability of the right label, the default, the labels alone score 96 %, whatever the
# columns say, and the columns can add little. In balanced accuracy guessing scores 50 %, and what
# the columns do for the rare class shows.
points = {}
for scoring in ("probability", "balanced_accuracy"):
    v = value_cells(
        X[columns].iloc[train], y[train], X[columns].iloc[valid], y[valid], scoring=scoring
    )
    points[scoring] = 100 * v.values.sum(axis=0)
    baseline = 100 * v.info["baseline_utility"]
    print(f"{scoring:18} baseline {baseline:.1f} %, the columns add {100 * v.total:.1f} points")

# %%
# So the two disagree about the columns. By the default, ``marital_status`` is worth nothing and
# ``workclass`` does harm; by balanced accuracy ``marital_status`` comes second.
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
order = np.argsort(points["balanced_accuracy"])
for ax, (scoring, worth) in zip(axes, points.items(), strict=True):
    ax.barh(np.array(columns)[order], worth[order], color="#0b5c6b")
    ax.axvline(0, color="0.3", lw=0.8)
    ax.set(title=scoring.replace("_", " "), xlabel="points that a column adds")

# %%
# On the command line the option is ``--scoring balanced_accuracy``, for payments too. A few positives
# decide all of this, though: other validation rows would change the picture. Keep as many positives
# as you can among them.
