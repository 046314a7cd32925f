"""
Your own game
=============

Any score of a set of rows and a set of columns can be divided: here, the revenue of shops that sell
products.
"""

import matplotlib.pyplot as plt
import numpy as np

from shapley2d import value_game

random = np.random.default_rng(0)
shops, products = ["A", "B", "C", "D"], ["bread", "milk", "coffee", "cake", "tea"]
demand = random.gamma(2.0, 1.0, (4, 5))


def revenue(S, F):
    """Products sell better together, and a second shop nearby takes customers away."""
    sold = demand[np.ix_(S, F)].sum(axis=1) * (1 + 0.1 * max(F.sum() - 1, 0))
    return float(np.sum(np.sort(sold)[::-1] * 0.8 ** np.arange(sold.size)))


v = value_game(revenue, n_rows=4, n_columns=5, row_names=shops, column_names=products)

# %%
# Shares add up to the revenue of all shops with all products.
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
v.plot_heatmap(ax=ax)
everything = np.ones(4, dtype=bool), np.ones(5, dtype=bool)
print(f"sum of the shares {v.total:.4f}, revenue {revenue(*everything):.4f}")
