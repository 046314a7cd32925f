"""
Cost against precision
======================

On large tables column subsets are sampled. Twice as many take twice the time; how much more precise
are the values?
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from shapley2d import KNN, value_cells

X, y = load_wine(return_X_y=True)
X, X_valid, y, y_valid = X[::2], X[1::2], y[::2], y[1::2]
exact = value_cells(X, y, X_valid, y_valid, method=KNN(subsets="all"))

counts = [64, 128, 256, 512, 1024]
claimed, actual, covered = [], [], []
for count in counts:
    v = value_cells(X, y, X_valid, y_valid, method=KNN(n_subsets=count))
    low, high = v.interval()
    claimed.append(np.sqrt(np.mean(v.stderr**2)))
    actual.append(np.sqrt(np.mean((v.values - exact.values) ** 2)))
    covered.append(np.mean((low <= exact.values) & (exact.values <= high)))

# %%
# The stated errors beside the true ones, which are known here: all 8,192 subsets were evaluated
# too.
spread = np.ptp(exact.values)
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
ax.loglog(counts, 100 * np.array(claimed) / spread, "o-", color="#0b5c6b", label="stated")
ax.loglog(counts, 100 * np.array(actual) / spread, "s--", color="#c8763a", label="actual")
ax.set(xlabel="column subsets", ylabel="error (% of the spread of values)")
ax.set_xticks(counts, [str(count) for count in counts])
ax.minorticks_off()
ax.legend(frameon=False)
for count, share in zip(counts, covered, strict=True):
    print(f"{count:5d} subsets: the 95 % intervals hold {share:.0%} of the true values")
