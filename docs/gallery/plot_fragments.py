"""
Who gets what: files of several contributors
============================================

A bank, an employer and a registry each know something else about people, and not about the same
ones. What is each one's file worth to a model, what is it paid, and whom would one sign?
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from shapley2d import value_fragments
from shapley2d.datasets import load_census

X, y = load_census("train")
later, y_later = load_census("test")
files = {
    "Bank": X.loc[:599, ["age", "capital_gain", "capital_loss"]],
    "Employer": X.loc[400:999, ["occupation", "hours_per_week", "education_num"]],
    "Registry": X.loc[200:799, ["marital_status", "sex", "education_num"]],
    "Empty": pd.DataFrame(np.nan, X.index[:1000], ["age", "sex"]),
}
v = value_fragments(files, pd.Series(y[:1000]), later[:1000], y_later[:1000], progress=False)
print(v)

# %%
# Who holds no entry is worth exactly 0. The lines are 95 % intervals: what other validation rows
# would change.
half = v.row_stderr * 1.96
fig, ax = plt.subplots(figsize=(6.4, 2.4), layout="constrained")
ax.barh(v.row_names, 100 * v.row_values, xerr=100 * half, color="#0b5c6b", ecolor="0.4")
ax.set_xlabel("points that a contributor adds")

# %%
# An amount in proportion to the values, to the cent:
print(v.payments(100_000).round(3).to_string(index=False))

# %%
# The best set of every size. ``lost`` is what the rest would still add.
print(v.best_sets()[["size", "contributors", "score", "lost"]].round(3).to_string(index=False))
