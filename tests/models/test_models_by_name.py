"""Models by name: the package's own, and scikit-learn's."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from shapley2d import KNN, Exact, InputError, value_cells
from shapley2d._models.by_name import MODELS, is_built_in, resolve_model


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_models_by_name(name, task):
    if MODELS[name].classifies_only and task == "regression":
        with pytest.raises(
            InputError, match=f"model='{name}' predicts classes, but the task is regression"
        ):
            resolve_model(name, task)
        return
    model = resolve_model(name, task)
    built_in = KNN() if name == "knn" else name
    assert model == built_in if is_built_in(name) else hasattr(model, "fit")
    assert MODELS[name].summary


def test_a_name_that_is_not_built_in_is_scikit_learns_model():
    X, y = [[0, 1], [1, 0], [2, 3], [3, 1]], [0, 0, 1, 1]
    named, given = (
        value_cells(X, y, X, y, method=Exact(model), random_state=3)
        for model in ("tree", DecisionTreeClassifier(random_state=3))
    )
    assert named.info["model"] == given.info["model"] == "DecisionTreeClassifier(random_state=3)"
    np.testing.assert_array_equal(named.values, given.values)
