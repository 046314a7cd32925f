"""The call that inspects, its estimator, and whether repairing helped."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from inspected_table import people
from shapley2d import CellInspector, InputError, inspect_cells, measure_repair
from shapley2d._inspection.repair_gain import paired_interval

TABLE, LABEL = people(80)


@parametrize_with_checks([CellInspector(n_jobs=1)])
def test_follows_the_conventions(estimator, check):
    check(estimator)


def _mask(cells, like):
    return pd.DataFrame(cells, index=like.index, columns=like.columns) & ~like.isna()


def test_the_estimator_equals_the_function():
    fitted = CellInspector(random_state=3).fit(TABLE, LABEL)
    found = inspect_cells(TABLE, LABEL, random_state=3, progress=False)
    np.testing.assert_array_equal(fitted.probability_, found.probability)
    np.testing.assert_array_equal(fitted.scores_, found.scores)
    np.testing.assert_array_equal(fitted.label_probability_, found.label_probability)
    assert fitted.feature_names_in_.tolist() == list(TABLE.columns)
    assert fitted.n_features_in_ == TABLE.shape[1]
    assert CellInspector().fit(TABLE).label_scores_ is None


def test_can_be_subclassed():
    class Seeded(CellInspector):
        def __init__(self, *, seed=3, n_jobs=None):
            super().__init__(random_state=seed, n_jobs=n_jobs)
            self.seed = seed

    fitted = clone(Seeded(seed=3)).fit(TABLE, LABEL)
    assert fitted.get_params() == {"seed": 3, "n_jobs": None}
    plain = CellInspector(random_state=3).fit(TABLE, LABEL)
    np.testing.assert_array_equal(fitted.scores_, plain.scores_)


def test_any_kind_of_table_gives_the_same(tmp_path):
    path = tmp_path / "people.csv"
    whole = TABLE.assign(bought=LABEL)
    whole.to_csv(path, index=False)
    wanted = inspect_cells(TABLE, LABEL, progress=False)
    for X, y in (
        (pl.from_pandas(TABLE), LABEL.tolist()),
        (pa.Table.from_pandas(TABLE), LABEL.to_numpy()),
        (whole, "bought"),
        (path, "bought"),
        (str(path), "bought"),
        (whole.astype(object).where(whole.notna(), None).to_dict("records"), "bought"),
    ):
        found = inspect_cells(X, y, progress=False, n_jobs=1)
        np.testing.assert_allclose(found.scores[:, :4], wanted.scores[:, :4])
    assert found._fingerprint == wanted._fingerprint


def test_odd_entries_are_inspected_not_refused():
    rng = np.random.default_rng(0)
    X = {
        "key": [f"K{k}" for k in range(60)],
        "number": [*(str(k % 9) for k in range(58)), "x", "?"],
        "text": [*(["red", "blue"] * 29), "7", "8"],
        "gone": [None] * 60,
        "same": [1] * 60,
        "wild": [1e140, *rng.normal(size=59)],
    }
    y = [None, "yes", *(["yes", "no"] * 29)]
    found = inspect_cells(X, y, progress=False)
    assert found.probability[58, 1] == found.probability[:, 1].max()
    assert found.label_probability.shape == (60,) and found.label_name is not None
    assert np.isfinite(found.scores).all()
    assert ((found.probability >= 0) & (found.probability <= 1)).all()
    # nothing to learn from, yet inspected
    assert inspect_cells(X, [1] * 60, progress=False).label_name == "(label)"
    days = ["2024-01-01", "2024-02-01", "2024-03-01"] * 20
    assert inspect_cells(X, days, progress=False).label_expected[0].startswith("2024-")


def test_mistakes_are_named():
    with pytest.raises(InputError, match="y has 3 entries, but its table has 80 rows"):
        inspect_cells(TABLE, [1, 0, 1], progress=False)
    with pytest.raises(InputError, match="has no column 'boght' to predict"):
        inspect_cells(TABLE.assign(bought=LABEL), "boght")
    with pytest.raises(InputError, match="task='clasification' is not known"):
        inspect_cells(TABLE, LABEL, task="clasification")
    with pytest.raises(InputError, match="n_jobs=0"):
        inspect_cells(TABLE, LABEL, n_jobs=0)
    with pytest.raises(InputError, match="kinds="):
        inspect_cells(TABLE, LABEL, kinds={"agee": "text"})


def test_seeds_and_progress():
    heard = []
    one = inspect_cells(TABLE, LABEL, n_jobs=1, progress=lambda done, _: heard.append(done))
    two = inspect_cells(TABLE, LABEL, n_jobs=2, progress=False)
    np.testing.assert_array_equal(one.scores, two.scores)
    assert heard and heard[-1] == 1.0
    assert (one.scores != inspect_cells(TABLE, LABEL, random_state=1, progress=False).scores).any()


def spoiled():
    """Two columns that determine the class, a fifth of the entries far off, and an inspection."""
    rng = np.random.default_rng(0)
    y = np.array(["no", "yes"])[np.arange(120) % 2]
    X = pd.DataFrame(
        {"a": (y == "yes") * 4 + rng.normal(size=120), "b": (y == "yes") * 4 + rng.normal(size=120)}
    ).round(2)
    wrong = rng.choice(120, 24, replace=False)
    X.loc[wrong[:12], "a"] += rng.choice([-60, 60], 12)
    X.loc[wrong[12:], "b"] += rng.choice([-60, 60], 12)
    return X, y


def test_repairing_is_measured_on_rows_that_it_never_saw(monkeypatch):
    from shapley2d._inspection import measure

    X, y = spoiled()
    seen = []

    def watched(own, *more, **options):
        seen.append(own.index.to_numpy())
        return inspect_cells(own, *more, **options)

    monkeypatch.setattr(measure, "inspect_cells", watched)
    found = inspect_cells(X, y, progress=False)
    gain = measure_repair(
        found, X, y, n=24, cv=4, n_repeats=1, model="logistic_regression", progress=False
    )
    assert len(seen) == 4 and all(rows.size == 90 for rows in seen)
    assert not set.intersection(*(set(rows) for rows in seen))  # every row was held out once
    assert gain.gain > 0.02 and gain.gain > gain.random_gain
    low, high = gain.interval
    assert low < gain.gain < high and "as many random repairs" in repr(gain)
    assert gain.verdict == (
        "the model is better after the repairs" if low > 0 else "the difference may be chance"
    )
    worse = dataclasses.replace(gain, after=gain.before - np.array([0.1, 0.11, 0.1, 0.11]))
    assert worse.verdict == "the model is worse after the repairs"
    assert gain.changed.tolist() == [18] * 4
    assert list(gain.to_frame().columns) == ["before", "after", "random", "changed"]


def test_a_log_is_applied_to_training_rows_only():
    X, y = spoiled()
    inspection = inspect_cells(X, y, progress=False)
    _, log = inspection.repair(X, n=24)
    options = {"cv": 4, "n_repeats": 1, "model": "gaussian_nb", "progress": False}
    gain = measure_repair(log, X, y, **options)
    assert gain.changed.sum() == 3 * len(log)  # every row trains in three of four folds
    assert gain.gain > 0
    nothing = measure_repair(log.iloc[:0], X, y, **options)
    np.testing.assert_array_equal(gain.before, nothing.after)
    assert nothing.gain == 0 and nothing.interval == (0, 0)
    named = X.assign(label=y)
    np.testing.assert_array_equal(measure_repair(log, named, "label", **options).after, gain.after)


def test_labels_of_a_log_and_mistakes():
    X, y = spoiled()
    flipped = y.copy()
    flipped[:10] = np.where(y[:10] == "yes", "no", "yes")
    log = pd.DataFrame({"row": range(10), "column": "(label)", "after": y[:10]})
    gain = measure_repair(log, X, flipped, cv=4, n_repeats=1, model="knn", progress=False)
    assert gain.gain > 0
    with pytest.raises(InputError, match="repairs must be an Inspection, or the log"):
        measure_repair([1], X, y)
    with pytest.raises(InputError, match="n goes with an inspection"):
        measure_repair(log, X, flipped, n=3)
    with pytest.raises(InputError, match="repairs: there is no row 'z'"):
        measure_repair(pd.DataFrame({"row": ["z"], "column": ["a"], "after": ["1"]}), X, y)
    with pytest.raises(InputError, match="too few for cv=100"):
        measure_repair(log, X, flipped, cv=100)
    with pytest.raises(InputError, match="several rows of the same name: give it an index without"):
        measure_repair(log, X.set_index(np.zeros(len(X), dtype=int)), flipped)


def test_intervals_are_wider_than_those_of_independent_folds():
    differences = np.array([0.0, 0.1, 0.2, 0.1])
    low, high = paired_interval(differences, 4)
    assert (high - low) / 2 == pytest.approx(
        3.182 * np.sqrt((1 / 4 + 1 / 3) * differences.var(ddof=1)), rel=1e-3
    )
    assert paired_interval(np.array([0.1]), 2) == (-np.inf, np.inf)


def test_transform_replaces_suspicious_entries_of_the_rows_that_were_fitted():
    table = TABLE.copy()
    found = inspect_cells(table, LABEL, progress=False)
    least = float(np.sort(found.probability, axis=None)[-3])
    fitted = CellInspector(probability=least).fit(table, LABEL)
    at = fitted.suspicious_
    names = found.row_names.tolist(), found.column_names
    cells = [(names[0][i], names[1][j]) for i, j in np.argwhere(at)]
    wanted, log = found.repair(table, cells=cells)
    assert at.sum() == len(log) == 3
    pd.testing.assert_frame_equal(fitted.transform(table), wanted)
    assert (fitted.transform(table) != table).to_numpy()[~at & table.notna().to_numpy()].sum() == 0
    pd.testing.assert_frame_equal(table, TABLE)  # never changed
    some = np.flatnonzero(at.any(axis=1))[::-1]  # some rows, in another order
    pd.testing.assert_frame_equal(fitted.transform(table.iloc[some]), wanted.iloc[some])
    blank = CellInspector(probability=least, replacement="missing").fit(table, LABEL)
    assert blank.transform(table).isna().to_numpy()[at].all()
    unseen = table.iloc[some].assign(age=table["age"].iloc[some] + 0.25)
    judged = blank.inspect(unseen).probability >= least
    blanked = blank.transform(unseen).isna() & ~unseen.isna()
    pd.testing.assert_frame_equal(blanked, _mask(judged, unseen))
    frames = pl.from_pandas(table), pa.Table.from_pandas(table)
    for frame in frames:
        again = CellInspector(probability=least).fit(frame, LABEL.tolist()).transform(frame)
        assert type(again) is type(frame)
        texts = [
            one.astype(object).where(one.notna(), None).map(str)
            for one in (again.to_pandas(), wanted)
        ]
        assert texts[0].equals(texts[1])


def test_an_inspector_works_in_a_pipeline_and_with_set_output():
    random = np.random.default_rng(0)
    X = random.normal(size=(120, 3))
    X[:, 1] = X[:, 0] + 0.01 * random.normal(size=120)
    y = (X[:, 0] > 0).astype(int)
    X[5, 1] = 900.0
    steps = make_pipeline(
        CellInspector(replacement="missing"), SimpleImputer(), LogisticRegression()
    )
    assert steps.fit(X, y).score(X, y) > 0.9
    names = steps[:2].set_output(transform="pandas").get_feature_names_out()
    assert names.tolist() == ["x0", "x1", "x2"]
    frame = CellInspector().set_output(transform="pandas").fit_transform(X)
    assert isinstance(frame, pd.DataFrame) and list(frame.columns) == ["x0", "x1", "x2"]
    assert abs(frame.iloc[5, 1]) < 10
    assert (frame.drop(5).to_numpy() == np.delete(X, 5, axis=0)).all()
    assert clone(CellInspector(probability=0.7)).get_params()["probability"] == 0.7


@pytest.mark.parametrize(
    "wrong", [{"probability": 1.5}, {"probability": "high"}, {"replacement": "mean"}]
)
def test_what_an_inspector_cannot_do_is_named(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        CellInspector(**wrong).fit(TABLE)


@pytest.mark.parametrize("label", [None, "kind"])
def test_a_file_and_its_texts_have_the_same_findings(tmp_path, label):
    """Words for missing are the only texts of a column of numbers: they are found in a file, too."""
    random = np.random.default_rng(0)
    texts = [str(one) for one in random.integers(10, 99, 120)]
    texts[5:60:3] = ["N/A"] * 19
    X = pd.DataFrame({"ibu": texts, "abv": random.normal(size=120).round(2).astype(str)})
    X["kind"] = ["ale", "lager"] * 60
    X.to_csv(tmp_path / "beers.csv", index=False)
    found = [inspect_cells(one, label, progress=False) for one in (X, str(tmp_path / "beers.csv"))]
    said = [[(one.kind, one.columns, one.rows.tolist()) for one in each.findings] for each in found]
    assert said[0] == said[1]
    assert ("words for missing", ("ibu",), list(range(5, 60, 3))) in said[0]
    np.testing.assert_array_equal(found[0].probability, found[1].probability)


def test_numbers_with_a_unit_are_judged_as_numbers():
    random = np.random.default_rng(0)
    height = random.normal(172, 9, 200).round()
    weight = (height - 100 + random.normal(0, 5, 200)).round(1)
    weight[7] *= 10
    plain = pd.DataFrame({"height": height, "weight": weight}).astype(str)
    measured = plain + np.array([" cm", " kg"])
    one, other = (inspect_cells(X, progress=False, n_jobs=1) for X in (plain, measured))
    assert other.probability[7, 1] > 0.8
    np.testing.assert_allclose(other.probability, one.probability, atol=0.1)
    assert [finding.kind for finding in other.findings] == ["numbers far outside"]


def test_numbers_to_predict_are_written_like_their_column():
    random = np.random.default_rng(0)
    area = random.integers(20, 150, 200)
    rent = [f"1.{one:03d},50 €" for one in 4 * area + random.integers(0, 20, 200)]
    rent[7] = "99.999,50 €"
    inspection = inspect_cells({"area": area}, rent, progress=False)
    cells = inspection._cells
    assert cells.entries[1][7] == "99.999,50 €" and cells.probability[7, 1] > 0.8
    assert re.fullmatch(r"1\.\d{3},\d\d €", cells.expected_text(7, 1))


@pytest.mark.parametrize("odd", ["EG", "house"])
def test_what_many_rows_have_is_how_the_table_is_made(odd):
    random = np.random.default_rng(0)
    numbers = random.integers(1, 9 if odd == "EG" else 120, 1500).astype(str).astype(object)
    some = random.random(1500) < 0.07
    numbers[some] = odd if odd == "EG" else [f"{one}b" for one in numbers[some]]
    X = {"c": numbers.tolist(), "area": random.normal(80, 20, 1500).round()}
    inspection = inspect_cells(X, progress=False)
    assert inspection.probability[some, 0].max() < 0.5
