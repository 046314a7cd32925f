"""
Pay three hospitals
===================

Three hospitals contribute to one table: two bring patients, the third two laboratory columns for all
patients. A study pays 100,000 for the data. Who gets what? The study has patients of its own, which no
hospital has seen, to test the data on: payments need such a table, because rows that a hospital invents
would vouch for each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from shapley2d import MonteCarlo, value_blocks
from shapley2d.datasets import load_breast_cancer_original

X, y = load_breast_cancer_original()
own = np.random.default_rng(0).permutation(len(X)) < 200  # the study's patients
X_valid, y_valid = X[own], y[own]
X, y = X[~own].reset_index(drop=True), y[~own]
half = len(X) // 2
laboratory = ["bare_nuclei", "bland_chromatin"]
clinical = [name for name in X.columns if name not in laboratory]
owners = [
    {"owner": "North", "row": f"0-{half - 1}", "column": clinical},
    {"owner": "South", "row": f"{half}-{len(X) - 1}", "column": clinical},
    {"owner": "Laboratory", "row": "", "column": laboratory},
]
v = value_blocks(X, y, X_valid, y_valid, owners=owners, method=MonteCarlo("logistic"))
paid = v.payments(100_000)
paid

# %%
# Payments add up to the cent. The lines are 95 % intervals.
table = {name: np.asarray(paid[name]) for name in paid.columns}
fig, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
height = np.arange(len(table["owner"]))
ax.barh(height, table["amount"], color=["#0b5c6b", "#c8763a", "#7a5ea8"])
ax.hlines(height, table["low"], table["high"], color="0.15", lw=2)
ax.set_yticks(height, table["owner"])
ax.set_xlabel("amount")
ax.invert_yaxis()

# %%
# A receipt has digests of all data. Each hospital can check that its own rows were valued, and the
# study that nobody has changed an amount since.
receipt = v.receipt(100_000)
receipt.check_block("North", X[clinical][:half], y[:half])
receipt
