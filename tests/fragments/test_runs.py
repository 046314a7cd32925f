"""The same bits for any order of files, rows and columns, any number of workers, stopped or not."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from tiny_fragments import tiny, value

from shapley2d import Exact, MonteCarlo
from shapley2d._fragments.game import FragmentGame
from shapley2d.exceptions import InputWarning, UtilityError

from small_tables import two_classes


def same_bits(one, other):
    """Values, errors and what is known of sets, contributors by name."""
    order = [list(other.row_names).index(name) for name in one.row_names]
    for name in ("values", "stderr", "row_stderr"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name)[order])
    assert one.column_names == other.column_names
    np.testing.assert_array_equal(one.column_stderr, other.column_stderr)
    assert one.total_stderr == other.total_stderr
    facts, others = one._fragments, other._fragments
    assert (facts.baseline, one.dof) == (others.baseline, other.dof)
    for name in ("alone", "without", "cells", "covariance"):
        np.testing.assert_array_equal(getattr(facts, name), getattr(others, name)[order])


def worth_the_same(one, other):
    """Values by name, up to the rounding of sums."""
    order = [list(other.row_names).index(name) for name in one.row_names]
    np.testing.assert_allclose(one.values, other.values[order], rtol=0, atol=1e-14)


@given(seed=st.integers(0, 2**16))
@settings(max_examples=2)
@pytest.mark.parametrize("method", ["boosting", "tree"])
def test_the_order_of_rows_and_columns_changes_no_bit(method, seed):
    fragments, y, valid = tiny()
    random = np.random.default_rng(seed)

    def shuffled(table):
        rows = random.permutation(len(table))
        columns = random.permutation(table.shape[1]) if table.ndim == 2 else None
        return table.iloc[rows] if columns is None else table.iloc[rows, columns]

    parts = {name: shuffled(part) for name, part in fragments.items()}
    for by in ("contributor", "column"):
        plain = value(fragments, y, valid, method=method, by=by)
        same_bits(plain, value(parts, shuffled(y), shuffled(valid), method=method, by=by))
    names = random.permutation(list(parts))
    worth_the_same(plain, value({n: parts[n] for n in names}, y, valid, method=method, by=by))


def test_the_order_of_rows_changes_no_bit_of_folds():
    fragments, y, _ = tiny()
    with pytest.warns(InputWarning, match="no validation table"):
        plain = value(fragments, y, None, cv=3)
    with pytest.warns(InputWarning, match="no validation table"):
        other = value({k: v.iloc[::-1] for k, v in fragments.items()}, y.iloc[::-1], None, cv=3)
    same_bits(plain, other)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_the_order_of_validation_rows_changes_no_bit_of_a_score(scoring):
    fragments, y, valid = tiny(n_valid=40)
    weights = np.random.default_rng(0).random(40)
    one = value(fragments, y, valid, valid_weight=weights, scoring=scoring)
    other = value(fragments, y, valid[::-1], valid_weight=weights[::-1], scoring=scoring)
    same_bits(one, other)


@pytest.mark.parametrize("scoring", ["probability", "roc_auc"])
def test_more_validation_rows_than_lines(monkeypatch, scoring):
    """Rows that share an error line leave the errors about as they are."""
    fragments, y, valid = tiny(n=40, n_valid=400)
    whole = value(fragments, y, valid, scoring=scoring)
    monkeypatch.setattr("shapley2d._models.scores.MOST_LINES", 100)
    shared = value(fragments, y, valid, scoring=scoring)
    np.testing.assert_array_equal(whole.values, shared.values)
    np.testing.assert_allclose(shared.row_stderr, whole.row_stderr, rtol=0.25)


def test_a_list_of_fragments_is_a_dict_of_numbers():
    fragments, y, valid = tiny()
    listed = value(list(fragments.values()), y, valid)
    assert list(listed.row_names) == ["contributor 1", "contributor 2", "contributor 3"]
    np.testing.assert_array_equal(listed.values, value(fragments, y, valid).values)


@pytest.mark.parametrize(
    ("method", "by"),
    [
        ("boosting", "contributor"),
        ("boosting", "column"),
        (MonteCarlo("tree", max_draws=12, tolerance=0.0), "contributor"),
        pytest.param("tree", "column", marks=pytest.mark.slow),
    ],
    ids=str,
)
def test_the_number_of_workers_changes_no_bit(method, by):
    fragments, y, valid = tiny()
    one = value(fragments, y, valid, method=method, by=by, n_jobs=1)
    same_bits(one, value(fragments, y, valid, method=method, by=by, n_jobs=2))


@pytest.mark.parametrize("method", ["boosting", "tree"])
def test_nothing_depends_on_what_is_remembered(monkeypatch, method):
    fragments, y, valid = tiny()
    plain = value(fragments, y, valid, method=method, by="column")
    monkeypatch.setattr("shapley2d._fragments.game.MOST_REMEMBERED", 0)
    same_bits(plain, value(fragments, y, valid, method=method, by="column"))


class StoppedError(UtilityError):
    pass


@pytest.mark.parametrize("how", [StoppedError, KeyboardInterrupt])
@pytest.mark.parametrize(
    "method",
    [
        "boosting",
        Exact("tree"),
        MonteCarlo("tree", max_draws=20, tolerance=0.0),
    ],
    ids=str,
)
@pytest.mark.parametrize("crossed", [False, True])
@pytest.mark.filterwarnings("ignore:there is no validation table")
def test_a_stopped_run_goes_on_to_the_same_bits(method, how, crossed, tmp_path, small_pieces, monkeypatch):  # fmt: skip
    fragments, y, valid = tiny()
    parts = {**fragments, "Half": fragments["Bank"][::2], "Third": fragments["Shop"][::3]}
    asked = {"method": method, "by": "column", "cv": 2, "n_jobs": 1}
    valid = None if crossed else valid
    plain = value(parts, y, valid, **asked)
    kept, calls = FragmentGame._utility, []

    def utility(game, contributors, columns):
        calls.append(1)
        if len(calls) == 120:
            raise how
        return kept(game, contributors, columns)

    file = tmp_path / "run.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(FragmentGame, "_utility", utility)
        with pytest.raises(how):
            value(parts, y, valid, checkpoint=file, **asked)
    assert file.exists()
    resumed = value(parts, y, valid, checkpoint=file, **asked)
    assert resumed.info["resumed_at"] > 0
    same_bits(plain, resumed)
    facts, others = plain._fragments, resumed._fragments
    np.testing.assert_array_equal(facts.sets, others.sets)
    np.testing.assert_array_equal(facts.set_scores, others.set_scores)


def test_a_finished_run_needs_no_time(tmp_path):
    """What a checkpoint has counts: the limit of a call that only reads it is never too short."""
    fragments, y, valid = tiny()
    file = tmp_path / "run.checkpoint"
    plain = value(fragments, y, valid, checkpoint=file)
    same_bits(plain, value(fragments, y, valid, checkpoint=file, max_time=1e-9))


def test_a_model_that_fails_is_told_with_its_set():
    class Failing(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            raise ValueError("too little")

    fragments, y, valid = tiny()
    with pytest.raises(
        UtilityError, match=r"Failing failed on 30 rows .* and 3 columns .*: too little"
    ):
        value(fragments, y, valid, method=Failing())


@pytest.mark.filterwarnings("ignore:contributors disagree about")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("method", ["boosting", "tree"])
def test_what_others_hold_never_changes_the_worth_of_a_set(method, seed):
    """Cells of others are changed, emptied or get words of their own; the bank alone stays, bit for bit."""
    fragments, y, valid = tiny()
    random = np.random.default_rng(seed)
    alone = value(fragments, y, valid, method=method).alone
    parts = dict(fragments)
    for name in ("Shop", "Office"):
        part = parts[name].copy()
        for column in part:
            words = ["Ulm", "Rom", "Wien", "Aachen", None]
            drawn = random.choice(words, len(part)) if column == "town" else random.normal(size=len(part)) * 99  # fmt: skip
            keep = (random.random(len(part)) < 0.5) & part[column].notna()
            free = ~part.index.isin(fragments["Bank"].index) if column == "debt" else True
            part[column] = part[column].where(keep | ~np.asarray(free), drawn)
        parts[name] = part
    changed = value(parts, y, valid, method=method, disagree="first").alone
    assert changed[0] == alone[0]


@pytest.mark.parametrize("method", ["boosting", "tree"])
def test_words_of_others_never_change_the_worth_of_a_set(method):
    X, y, valid, late = two_classes(n=40)
    X["town"] = np.where(X["a"] > 0, "Ulm", "Bonn")
    valid["town"] = np.resize(["Ulm", "Bonn", "Kiel", "Rom"], len(valid))
    valid = valid.assign(late=late)
    y = y.rename("late")
    bank = X.loc[:29, ["a", "town"]]
    more = pd.DataFrame(
        {"town": [f"town {k}" for k in range(60)] + ["Kiel"]}, index=range(100, 161)
    )
    more_y = pd.concat([y, pd.Series(np.arange(61) % 2, range(100, 161))]).rename("late")
    found = [
        value({"Bank": bank, "Shop": X[["b"]], "Other": other}, more_y, valid, method=method).alone[
            0
        ]
        for other in (more, more.assign(town="Aachen"), more.assign(town="Kiel"))
    ]
    assert found[0] == found[1] == found[2]
