"""
Any model: neural networks, TabPFN and others
=============================================

Any model with scikit-learn's ``fit`` and ``predict`` works. A small network stands in for a
large one here; the call is the same.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine

from shapley2d import value_cells


class SmallNetwork(ClassifierMixin, BaseEstimator):
    """Random hidden weights and a least-squares readout: trains in a millisecond."""

    def __init__(self, width=24, seed=0):
        self.width, self.seed = width, seed

    def fit(self, X, y):
        """Train the readout."""
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.centre_, self.scale_ = X.mean(axis=0), X.std(axis=0) + 1e-9
        self.hidden_ = np.random.default_rng(self.seed).normal(
            size=(X.shape[1], self.width)
        ) / np.sqrt(X.shape[1])
        layer, wanted = self._layer(X), np.eye(self.classes_.size)[codes]
        self.readout_ = np.linalg.solve(
            layer.T @ layer + 0.1 * np.eye(self.width), layer.T @ wanted
        )
        return self

    def predict(self, X):
        """The class with the largest output."""
        return self.classes_[np.argmax(self._layer(X) @ self.readout_, axis=1)]

    def _layer(self, X):
        return np.tanh((X - self.centre_) / self.scale_ @ self.hidden_)


X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "flavanoids", "color_intensity", "proline"]]
train = np.arange(len(X)) % 8 == 0
v = value_cells(
    X[train], y[train], X[~train], y[~train], method="mc", model=SmallNetwork(), preprocess="none",
    max_permutations=12, tolerance=0, n_jobs=1,
)  # fmt: skip
print(v.describe())

# %%
# With a real network, only the model changes (not run here)::
#
#     from tabpfn import TabPFNClassifier
#     model = TabPFNClassifier()
#     v = value_cells(X, y, X_valid, y_valid, method="mc", model=model, max_permutations=20)
#
#     from skorch import NeuralNetClassifier  # torch behind scikit-learn's interface
#     model = NeuralNetClassifier(module, max_epochs=20)
#     v = value_cells(X, y, X_valid, y_valid, method="mc", model=model)
#
# Each permutation retrains the model as rows and columns are added one by one; ``checkpoint=``
# resumes an interrupted run and ``cluster=`` spreads the work.
fig, ax = plt.subplots(figsize=(6.4, 3), layout="constrained")
ax.barh(
    v.column_names,
    v.column_values,
    xerr=v.interval_factor * v.column_stderr,
    color="#0b5c6b",
    ecolor="0.2",
)
ax.axvline(0, color="0.3", lw=0.8)
ax.set_xlabel("sum of cell values")
