"""
Any model: a neural network on groups of rows
=============================================

Any model with scikit-learn's ``fit`` and ``predict`` works. It is trained once for every subset,
so what it can value depends on how long one training takes: cells of a few hundred rows if that
is a millisecond, groups of rows if it is a second. Here a neural network values four groups of
similar wines by three groups of columns: 2\\ :sup:`7` subsets, all of them trained.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_wine
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shapley2d import Exact, value_cells

X, y = load_wine(return_X_y=True, as_frame=True)
train = np.arange(len(X)) % 2 == 0
network = make_pipeline(StandardScaler(), MLPClassifier((8,), solver="lbfgs", max_iter=40))
themes = {
    "taste": ["alcohol", "malic_acid", "ash", "alcalinity_of_ash", "magnesium", "proline"],
    "phenols": ["total_phenols", "flavanoids", "nonflavanoid_phenols", "proanthocyanins"],
    "colour": ["color_intensity", "hue", "od280/od315_of_diluted_wines"],
}
theme_of = {column: theme for theme, columns in themes.items() for column in columns}
alike = KMeans(4, n_init=4, random_state=0).fit_predict(StandardScaler().fit_transform(X[train]))
v = value_cells(
    *(X[train], y[train], X[~train], y[~train]),
    row_groups=[f"group {k + 1}" for k in alike],
    column_groups=theme_of,
    method=Exact(network),
    progress=False,
)
print(v)

# %%
# In the frame 0.1 is 10 points of accuracy. The
# values sum to what the network gains over always guessing the most frequent class.
print(v.to_frame().round(3).to_string(index=False))

fig, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
v.plot_heatmap(ax=ax)

# %%
# More groups, or a slower model: random orders within a time limit::
#
#     v = value_cells(X, y, row_groups=labels, method=MonteCarlo(model), max_time="10m")
#     print(v.describe())
#
# ``model`` may be ``TabPFNClassifier()``, skorch's ``NeuralNetClassifier(module)``, or LightGBM's;
# for boosted trees, ``method=Forest(model)`` values every single cell in seconds.
