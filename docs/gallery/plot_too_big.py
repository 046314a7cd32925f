"""
My table is too big: what now?
==============================

Nearest neighbours compare every training row with every validation row, for many subsets of the
columns. With tens of thousands of both that takes a while. Four ways out, on the 32,561 people of
the census.
"""

# %%
# **Say how long it may take.** ``max_time`` (``--max-time 5m`` on the command line) gives the best
# answer within that time: as many random test rows as fit, with errors that include the others.
# It says how many signs are certain, and what twice the time would give. With ``checkpoint=`` a
# second call goes on where the first one ended::
#
#     limited = value_cells(X, y, X_test, y_test, max_time="5m", checkpoint="census.npz")
#     limited.info["n_valid_used"]  # of 16,281 test rows
import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestClassifier

from shapley2d import Exact, Forest, value_cells
from shapley2d.datasets import load_census

X, y = load_census("train")
X_test, y_test = load_census("test")

# %%
# **Ask a forest.** A forest of fixed splits has a closed form: all 455,854 cells, judged by all
# 16,281 test rows.
model = RandomForestClassifier(100, max_depth=6, random_state=0)
forest = value_cells(X, y, X_test, y_test, method=Forest(model))
print(forest)

# %%
# **Take a sample,** or better two: they show how far to trust one. With 600 rows each, these
# agree about ``marital_status`` and ``capital_gain``, and not at all about ``age``.
random = np.random.default_rng(0)
samples = []
for _ in range(2):
    rows, judges = random.permutation(len(X))[:600], random.permutation(len(X_test))[:200]
    samples.append(value_cells(X.iloc[rows], y[rows], X_test.iloc[judges], y_test[judges]))
order = np.argsort(forest.values.sum(axis=0))
fig, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
names = np.array(forest.column_names)[order]
ax.barh(names, 100 * forest.values.sum(axis=0)[order], color="#c9d6d8", label="forest, all rows")
for v, marker, which in zip(samples, "ox", ("a sample", "another"), strict=True):
    ax.plot(100 * v.values.sum(axis=0)[order], names, marker, color="#0b5c6b", label=which)
ax.axvline(0, color="0.3", lw=0.8)
ax.set_xlabel("points that a column adds")
legend = ax.legend()

# %%
# **Ask about groups.** If the question is about sources, not about single rows, let groups of rows
# be the players: here, kinds of employers. Then any model will do, and it is trained only as often
# as there are subsets of groups: 16 times for four of them.
rows = random.permutation(len(X))[:3000]
employer = X["workclass"].astype(object).fillna("unknown").iloc[rows]
kinds = {"Private": "private", "unknown": "unknown"}
kinds |= {name: "government" for name in employer if str(name).endswith("-gov")}
groups = employer.map(lambda name: kinds.get(name, "self-employed or unpaid"))
features = X.columns.drop("workclass")
value_cells(
    X[features].iloc[rows],
    y[rows],
    X_test[features][:2000],
    y_test[:2000],
    method=Exact("random_forest"),
    row_groups=groups.to_numpy(),
    column_groups=["all"] * len(features),
    scoring="balanced_accuracy",
)
