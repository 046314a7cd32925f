"""Which training cells made a prediction: against all subsets of rows and columns, the label one of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.special import logit
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from shapley2d import PredictionExplainer, explain_prediction
from shapley2d.exceptions import InputError

from forest_oracle import Part, leaf_of, misses, sklearn_model, tables, utility
from oracles import brute_force


def expected(model, X, y, row, output=0, sign=1.0):
    """Values of all cells and the baseline, from the definition."""
    fitted = sklearn_model(model, X, y)
    parts = []
    for one in fitted.trees:
        if one.output == output:
            leaf = leaf_of(one.tree, row)
            missed = [misses(one.tree, leaf, x, fitted.owners) for x in fitted.X]
            numbers = sign * one.scale.get(leaf, 0.0) * fitted.numbers(one)
            parts.append(Part(missed, numbers, np.flatnonzero(one.bag)))
    n, m = X.shape
    h = utility(parts, sign * fitted.start[output], label=m)
    return brute_force(h, n, m + 1), sign * fitted.start[output]


@pytest.mark.parametrize(
    ("model", "n_classes"),
    [
        (RandomForestRegressor(3, random_state=0), None),
        (RandomForestRegressor(2, bootstrap=False, max_features=1, random_state=0), None),
        (GradientBoostingRegressor(n_estimators=4, max_depth=2, random_state=0), None),
        (RandomForestClassifier(3, random_state=0), 3),
        (GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), 2),
        (GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0), 3),
    ],
)
def test_values_are_those_of_all_subsets(model, n_classes):
    asked = {"regression": True} if n_classes is None else {"n_classes": n_classes}
    X, y, X_valid, _ = tables(5, 2, 3, **asked)
    model.fit(X, y)
    binary = n_classes == 2
    explainer = PredictionExplainer(model, X, y)
    for row in X_valid:
        for label in [None] if n_classes is None else range(n_classes):
            found = explainer.explain(row, label)
            output, sign = (0, 1.0) if label is None or binary else (label, 1.0)
            sign = -1.0 if binary and label == 0 else sign
            values, baseline = expected(model, X, y, row, output, sign)
            np.testing.assert_allclose(found.values, values, atol=1e-12)
            assert found.baseline == pytest.approx(baseline, abs=1e-12)
            predicted = own_prediction(model, row, output, sign)
            assert found.prediction == pytest.approx(predicted, abs=1e-12)
            assert found.values.sum() == pytest.approx(predicted - baseline, abs=1e-12)
            assert found.exact


def own_prediction(model, row, output, sign):
    if hasattr(model, "decision_function"):
        return sign * model.decision_function([row]).reshape(1, -1)[0, output]
    if hasattr(model, "predict_proba"):
        return model.predict_proba([row])[0, output]
    return model.predict([row])[0]


UNITS = {
    "in units of the target": lambda model, row: model.predict([row])[0],
    "log of the target": lambda model, row: np.log(model.predict([row])[0]),
    "probability of 1": lambda model, row: model.predict_proba([row])[0, 1],
    "log odds of 1": lambda model, row: logit(model.predict_proba([row])[0, 1]),
    "log score of 1": lambda model, row: model.decision_function([row])[0, 1],
}


@pytest.mark.parametrize(
    ("model", "unit"),
    [
        (HistGradientBoostingRegressor(max_iter=4, min_samples_leaf=2, loss=loss), unit)
        for loss, unit in [
            ("squared_error", "in units of the target"), ("absolute_error", "in units of the target"),
            ("poisson", "log of the target"), ("gamma", "log of the target"),
        ]
    ]
    + [
        (RandomForestRegressor(3, random_state=0), "in units of the target"),
        (RandomForestClassifier(3, random_state=0), "probability of 1"),
        (GradientBoostingClassifier(n_estimators=3, random_state=0), "log score of 1"),
        (GradientBoostingClassifier(n_estimators=3, max_depth=1, random_state=0), "log odds of 1"),
    ],
    ids=str,
)  # fmt: skip
def test_the_unit_is_what_the_prediction_is_in(model, unit):
    n_classes = 3 if unit == "log score of 1" else 2
    X, y, X_valid, _ = tables(20, regression="target" in unit, n_classes=n_classes)
    y = np.abs(y) + 0.5 if "target" in unit else y
    model.fit(X, y)
    for row in X_valid:
        found = explain_prediction(model, X, y, row, label=None if "target" in unit else 1)
        assert found.unit == unit
        assert found.prediction == pytest.approx(UNITS[unit](model, row), abs=1e-9)


FRAME = pd.DataFrame({"size": [1.0, 2, 3, 4, 5, 6], "age": [3.0, 1, 2, 6, 5, 4]})
PRICE = pd.Series([10.0, 11, 12, 20, 21, 22], name="price", index=FRAME.index)
FITTED = RandomForestRegressor(5, random_state=0).fit(FRAME, PRICE)


@pytest.mark.parametrize(
    "row",
    [
        {"size": 5.5, "age": 4.5},
        {"age": 4.5, "size": 5.5},
        pd.Series({"size": 5.5, "age": 4.5}),
        [5.5, 4.5],
        (5.5, 4.5),
        np.array([5.5, 4.5]),
        [[5.5, 4.5]],
        pd.DataFrame({"size": [5.5], "age": [4.5]}),
        pl.DataFrame({"size": [5.5], "age": [4.5]}),
        {"size": [5.5], "age": [4.5]},
    ],
)
def test_a_row_in_any_form(row):
    found = explain_prediction(FITTED, FRAME, PRICE, row)
    known = explain_prediction(FITTED, FRAME, PRICE, {"size": 5.5, "age": 4.5})
    assert found.values.tobytes() == known.values.tobytes()
    asked = pd.DataFrame({"size": [5.5], "age": [4.5]})
    assert found.prediction == pytest.approx(FITTED.predict(asked)[0])


@pytest.mark.parametrize("boosted", ["lightgbm", "scikit-learn"])
def test_a_row_without_the_types_of_the_table(boosted):
    """Its categories go by their names."""
    random = np.random.default_rng(0)
    towns = pd.Categorical(random.choice(["Ulm", "Bonn", "Kiel"], 90))
    frame = pd.DataFrame({"size": random.normal(size=90), "town": towns})
    y = (frame["size"] > 0) ^ (frame["town"] == "Ulm")
    if boosted == "lightgbm":
        lightgbm = pytest.importorskip("lightgbm")
        model = lightgbm.LGBMClassifier(n_estimators=3, min_data_per_group=1, verbose=-1)
    else:
        model = HistGradientBoostingClassifier(categorical_features="from_dtype", max_iter=3)
    explainer = PredictionExplainer(model.fit(frame, y), frame, y)
    for i in (0, 1, 2, 3):
        known = explainer.explain(frame.iloc[[i]]).values
        for row in (frame.iloc[i], dict(frame.iloc[i]), frame.iloc[i].tolist()):
            np.testing.assert_array_equal(explainer.explain(row).values, known)


def test_rows_and_cells_are_listed_by_what_they_add():
    found = explain_prediction(FITTED, FRAME, PRICE, [5.5, 4.5])
    up, down = found.rows(2), found.rows(2, down=True)
    assert up["adds"].tolist() == sorted(found.row_values)[::-1][:2]
    assert down["adds"].tolist() == sorted(found.row_values)[:2]
    assert up["label"].tolist() == [str(PRICE[i]) for i in up["row"]]
    cell = found.cells(1).iloc[0]
    i, j = np.unravel_index(found.values.argmax(), found.values.shape)
    assert (cell["row"], cell["column"]) == (i, [*FRAME, "(label)"][j])
    assert cell["adds"] == found.values[i, j] and cell["content"] == str([*PRICE][i])
    np.testing.assert_allclose(found.column_values.sum(), found.values.sum())
    assert repr(found).startswith(f"Prediction {found.prediction:.4g}"[:15])


def test_leaves_with_many_columns_are_sampled_and_said_to_be():
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 40))
    y = X.sum(axis=1)
    model = RandomForestRegressor(1, max_features=1, random_state=0).fit(X, y)
    explainer = PredictionExplainer(model, X, y)
    all_found = [explainer.explain(row) for row in random.normal(size=(20, 40)) * 0.3]
    assert {one.exact for one in all_found} == {False, True}
    for one in all_found:  # the sum does not depend on the order of the columns
        assert one.values.sum() == pytest.approx(one.prediction - one.baseline)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"row": FRAME[:2]}, "row has 2 rows: pass one"),
        ({"row": {"size": 1.0}}, "age"),
        ({"row": [1.0, 2.0], "label": "a"}, "label is for classification: leave it out"),
        ({"row": [1.0, 2.0], "model": RandomForestRegressor()}, "model has to be fitted"),
        ({"row": [1.0, 2.0], "model": "forest"}, "model has to be fitted"),
    ],
)
def test_mistakes(asked, says):
    asked = {"model": FITTED, **asked}
    with pytest.raises(InputError, match=says):
        explain_prediction(asked.pop("model"), FRAME, PRICE, **asked)


def test_a_label_that_the_table_lacks():
    y = ["low"] * 3 + ["high"] * 3
    model = RandomForestClassifier(3, random_state=0).fit(FRAME, y)
    with pytest.raises(InputError, match=r"label='none' is not a label of the table: high, low"):
        explain_prediction(model, FRAME, y, [1.0, 2.0], label="none")
    found = explain_prediction(model, FRAME, y, [1.0, 2.0], label="high")
    asked = pd.DataFrame({"size": [1.0], "age": [2.0]})
    assert found.prediction == pytest.approx(model.predict_proba(asked)[0, 0])
    assert found.unit == "probability of high"
