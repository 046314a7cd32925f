"""
Find and fix errors in a table
==============================

Some entries of a table are wrong: mistyped, swapped with another row's, in the wrong unit. Which,
and what should they say?
"""

# %%
# The table comes with the package. We inject the errors, so the truth is known.
import matplotlib.pyplot as plt
import numpy as np

from shapley2d import inspect_cells, measure_repair, value_cells
from shapley2d.datasets import load_breast_cancer_original
from shapley2d.evaluation import detection_curve, inject_errors

right, y = load_breast_cancer_original()
codes = np.unique(y, return_inverse=True)[1]
numbers = right.to_numpy(dtype=float)
errors = inject_errors(
    ["typo", "swapped", "unlikely"],
    numbers,
    codes,
    np.zeros(numbers.shape[1], bool),
    0.02,
    np.random.default_rng(0),
)
X = right.mask(errors.cells, errors.numbers)
print(f"{errors.cells.sum()} of {errors.cells.size} entries are wrong now")

# %%
# Every entry is predicted from the rest of its row. Those that disagree come first, with what was
# expected and why.
inspection = inspect_cells(X, y)
inspection.rank(6)

# %%
# How many of the errors are among the first entries to look at? For comparison, the order of cell
# values: they measure what an entry does to a model, not whether it is wrong.
looked_at = np.linspace(0, 0.2, 41)
valuation = value_cells(X, y)
fig, ax = plt.subplots(figsize=(6.4, 4), layout="constrained")
for name, scores, colour in (
    ("inspection", inspection.scores, "#0b5c6b"),
    ("cell values", -valuation.values, "#c8763a"),
):
    found = detection_curve(scores, errors.cells, looked_at * errors.cells.size)
    ax.plot(100 * looked_at, 100 * found, color=colour, lw=2, label=name)
ax.plot([0, 20], [0, 20], color="0.6", ls=":", label="chance")
ax.set(xlabel="entries looked at (%)", ylabel="errors found (%)", xlim=(0, 20), ylim=(0, 100))
ax.legend(frameon=False)

# %%
# Repair the first of them in a copy, and measure whether that helps a model, on rows that the
# repairs never saw.
clean, log = inspection.repair(X, n=60)
print(measure_repair(log, X, y))
