"""Models that the experiments train on tables of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODELS = ("tree", "knn")
"""A decision tree, as in the paper, and ten nearest neighbours on scaled columns."""


def accuracies(
    model: str,
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    held_out: list[tuple[NDArray[np.float64], NDArray[np.intp]]],
    seed: int,
) -> list[float]:
    """Train once, and give the accuracy on every table of held-out rows."""
    fitted = (
        DecisionTreeClassifier(random_state=seed)
        if model == "tree"
        else make_pipeline(StandardScaler(), KNeighborsClassifier(min(10, len(X))))
    ).fit(X, y)
    return [float((fitted.predict(rows) == labels).mean()) for rows, labels in held_out]
