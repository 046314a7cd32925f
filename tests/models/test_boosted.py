"""The built-in boosted trees as a model: values by brute force, scores, baselines, refusals."""

from itertools import product
from math import factorial

import numpy as np
import pandas as pd
import pytest

from shapley2d import Exact, InputError, MonteCarlo, value_cells
from shapley2d._tables.problem import make_problem
from shapley2d._trees.boosting import Boosting
from shapley2d.exceptions import OutOfTimeError

QUIET = {"progress": False, "n_jobs": 1}


def tables(seed=0, n=6, *, regression=False):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"a": rng.normal(size=n + 30), "b": rng.integers(0, 3, n + 30).astype(float)})
    X.loc[1, "a"] = np.nan
    z = X["a"].fillna(0).to_numpy() + 0.5 * rng.normal(size=n + 30)
    y = z if regression else np.where(z > 0, "yes", "no")
    return X[:n], y[:n], X[n:].reset_index(drop=True), y[n:]


def by_hand(utility, n, m):
    """Shapley values of cells from their definition."""
    values = np.zeros((n, m))
    weight = lambda s, p: factorial(s) * factorial(p - 1 - s) / factorial(p)  # noqa: E731
    h = {
        (S, F): utility(np.array(S), np.array(F))
        for S in product((False, True), repeat=n)
        for F in product((False, True), repeat=m)
    }
    for (S, F), (i, j) in product(h, product(range(n), range(m))):
        if S[i] or F[j]:
            continue
        more_S, more_F = (*S[:i], True, *S[i + 1 :]), (*F[:j], True, *F[j + 1 :])
        second = h[more_S, more_F] + h[S, F] - h[more_S, F] - h[S, more_F]
        values[i, j] += weight(sum(S), n) * weight(sum(F), m) * second
    return values


@pytest.mark.parametrize("regression", [False, True])
def test_values_are_those_of_their_definition(regression):
    X, y, X_valid, y_valid = tables(regression=regression)
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    judge, z = Boosting.coded(split.train, split.y, split.valid), split.y_valid.codes

    def utility(S, F):
        p = judge.predict(F[:, None] & S)
        codes = split.y.codes[S]
        if regression:
            middle = codes.mean() if S.any() else split.y.codes.mean()
            p = np.full((1, 30), middle) if p is None else p
            return 1 - np.mean((z - p[0]) ** 2) / np.var(z)
        if p is None:
            shares = np.bincount(codes, minlength=2) / S.sum() if S.any() else np.full(2, 0.5)
            p = np.repeat(shares[:, None], 30, axis=1)
        return p[z, np.arange(30)].mean()

    found = value_cells(X, y, X_valid, y_valid, method=Exact("boosting"), **QUIET)
    expected = by_hand(utility, *X.shape)
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(found.values, expected, atol=1e-12)
    name = "R²" if regression else "mean probability of the right label"
    assert found.info["score"]["name"] == name
    assert found.info["model"] == "boosting"


@pytest.mark.parametrize(
    ("scoring", "name"),
    [
        ("accuracy", "accuracy"),
        ("balanced_accuracy", "balanced accuracy"),
        ("neg_log_loss", "neg_log_loss"),
    ],
)
def test_scores(scoring, name):
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss

    X, y, X_valid, y_valid = tables(n=40)
    weights = np.linspace(0, 2, 30)
    found = value_cells(
        X, y, X_valid, y_valid, scoring=scoring, valid_weight=weights,
        method=MonteCarlo("boosting", max_draws=2, tolerance=0), **QUIET,
    )  # fmt: skip
    (split,) = make_problem(X, y, X_valid, y_valid).splits
    judge = Boosting.coded(split.train, split.y, split.valid)
    p = judge.predict(np.ones(judge.codes.shape, dtype=bool))
    guess = np.array(["no", "yes"])[p.argmax(axis=0)]
    expected = {
        "accuracy": accuracy_score(y_valid, guess, sample_weight=weights),
        "balanced_accuracy": balanced_accuracy_score(y_valid, guess, sample_weight=weights),
        "neg_log_loss": -log_loss(y_valid, p.T, sample_weight=weights),
    }[scoring]
    assert found.total + found.info["baseline_utility"] == pytest.approx(expected)
    assert found.info["score"]["name"] == name


def test_a_constant_column_is_worth_nothing():
    X, y, X_valid, y_valid = tables(n=8)
    X, X_valid = X.assign(c=1.0), X_valid.assign(c=1.0)
    found = value_cells(X, y, X_valid, y_valid, method=Exact("boosting"), **QUIET)
    np.testing.assert_allclose(found.column_values[2], 0, atol=1e-12)


def test_workers_change_nothing():
    X, y, X_valid, y_valid = tables(n=12)
    first, again = (
        value_cells(
            X, y, X_valid, y_valid, random_state=4, progress=False, n_jobs=n_jobs,
            method=MonteCarlo("boosting", max_draws=4, tolerance=0),
        )
        for n_jobs in (1, 2)
    )  # fmt: skip
    np.testing.assert_array_equal(first.values, again.values)


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"method": MonteCarlo("boosting", truncation=0.1)},
            "which is built in: leave it out, or use another model, such as",
        ),
        ({"method": Exact("boosting", preprocess="none")}, "hist_gradient_boosting"),
        (
            {"method": Exact("boosting"), "scoring": "f1"},
            "'boosting' in classification: use probability, accuracy",
        ),
        ({"method": MonteCarlo("boosting"), "max_time": 0.001}, "too short|is over"),
    ],
)
def test_what_it_refuses(asked, words):
    with pytest.raises((InputError, OutOfTimeError), match=words):
        value_cells(*tables(n=30), **asked, **QUIET)


@pytest.mark.parametrize(
    ("asked", "forest"), [({}, True), ({"row_groups": [k % 9 for k in range(30)]}, False)]
)
def test_too_little_time_names_only_what_answers_the_question(monkeypatch, asked, forest):
    monkeypatch.setattr("shapley2d._models.model_games._training_seconds", lambda _: 10.0)
    with pytest.raises(
        OutOfTimeError, match=r"max_time=60 is too short: .*give it more time"
    ) as no:
        value_cells(*tables(n=30), method=MonteCarlo("boosting"), max_time=60, **asked, **QUIET)
    assert ("method='forest'" in str(no.value)) is forest
