"""Groups of rows and columns as players, against the definition; and sums by any grouping."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from shapley2d import (
    KNN,
    Exact,
    Forest,
    InputError,
    Method,
    MonteCarlo,
    OneDraw,
    Valuation,
    value_cells,
    value_game,
)  # fmt: skip
from shapley2d._valuation import groups as groups_module

from oracles import brute_force, knn_utility
from small_tables import two_classes

ROWS, COLUMNS = list("abbac"), ["u", "v", "u"]
OF_ROWS, OF_COLUMNS = [{0, 3}, {1, 2}, {4}], [{0, 2}, {1}]


def table(seed=0, n=5, m=3, n_valid=6):
    random = np.random.default_rng(seed)
    X, X_valid = random.normal(size=(n, m)).round(1), random.normal(size=(n_valid, m)).round(1)
    return X, np.arange(n) % 2, X_valid, np.arange(n_valid) % 2


def of_groups(h, rows=OF_ROWS, columns=OF_COLUMNS):
    """The game of groups that a game of rows and columns makes."""

    def joined(chosen, groups):
        return frozenset().union(*(groups[k] for k in chosen))

    return lambda S, F: h(joined(S, rows), joined(F, columns))


def tree_score(X, y, X_valid, y_valid):
    """The score of a tree on some rows and the columns that differ between them, else of their labels.

    0 where no rows or no columns are asked for.
    """

    def h(S, F):
        rows = sorted(S)
        columns = [j for j in sorted(F) if np.unique(X[rows, j]).size > 1]
        if not rows or not F:
            return 0.0
        labels, counts = np.unique(y[rows], return_counts=True)
        if labels.size < 2 or not columns:
            most = labels[counts == counts.max()]
            return float(np.mean(y_valid[:, None] == most))
        model = DecisionTreeClassifier(random_state=0).fit(X[np.ix_(rows, columns)], y[rows])
        return float(model.score(X_valid[:, columns], y_valid))

    return h


TREE = Exact(DecisionTreeClassifier(random_state=0))


@pytest.mark.parametrize("votes", ["k", "share"])
@pytest.mark.parametrize("baseline", ["labels", "zero"])
def test_neighbours_are_the_definition(baseline, votes):
    data, knn = table(), KNN(n_neighbors=2, votes=votes, metric="sqeuclidean")
    h = knn_utility(*data, 2, baseline=baseline, votes=votes)
    groups = {"row_groups": ROWS, "column_groups": COLUMNS}
    v = value_cells(*data, method=knn, baseline=baseline, **groups)
    np.testing.assert_allclose(v.values, brute_force(of_groups(h), 3, 2), atol=1e-12)
    assert v.row_names.tolist() == ["a", "b", "c"] and v.column_names == ["u", "v"]
    assert v.info["method"] == "exact" and v.exact
    same = value_cells(*data, method=Exact(knn), baseline=baseline, **groups)
    np.testing.assert_array_equal(same.values, v.values)
    # groups of one axis alone
    rows, columns = [{k} for k in range(5)], [{k} for k in range(3)]
    by_rows = value_cells(*data, method=knn, baseline=baseline, row_groups=ROWS)
    expected = brute_force(of_groups(h, columns=columns), 3, 3)
    np.testing.assert_allclose(by_rows.values, expected, atol=1e-12)
    by_columns = value_cells(*data, method=knn, baseline=baseline, column_groups=COLUMNS)
    expected = brute_force(of_groups(h, rows=rows), 5, 2)
    np.testing.assert_allclose(by_columns.values, expected, atol=1e-12)


@pytest.mark.parametrize("semivalue", ["shapley", "banzhaf", ("beta", 4, 1)])
def test_models_are_the_definition(semivalue):
    data = table(1)
    v = value_cells(
        *data, method=TREE, row_groups=ROWS, column_groups=COLUMNS, baseline="zero", semivalue=semivalue
    )  # fmt: skip
    expected = brute_force(of_groups(tree_score(*data)), 3, 2, semivalue, semivalue)
    np.testing.assert_allclose(v.values, expected, atol=1e-12)


def test_the_mean_over_folds_of_the_groups_that_train():
    X, y, *_ = table(2, n=8)
    rows, splits = list("aabbccab"), [([0, 1, 4, 5], [2, 3, 6, 7]), (range(2, 8), [0, 1])]
    v = value_cells(X, y, method=TREE, row_groups=rows, cv=splits, baseline="zero")
    expected = np.zeros((3, 3))
    for train, held in splits:
        names = [rows[k] for k in train]
        present = sorted(set(names))
        groups = [{k for k, name in enumerate(names) if name == one} for one in present]
        seen = (one[list(part)] for part in (train, held) for one in (X, y))
        h = of_groups(tree_score(*seen), groups, [{0}, {1}, {2}])
        places = ["abc".index(one) for one in present]
        expected[places] += brute_force(h, len(present), 3) / 2
    np.testing.assert_allclose(v.values, expected, atol=1e-12)


@given(st.integers(0, 50), st.lists(st.sampled_from("xyz"), min_size=8, max_size=8))
@settings(max_examples=15, deadline=None)
def test_axioms(seed, labels):
    X, y, X_valid, y_valid = table(seed, n=8)
    X[:, 2] = 1.0  # adds nothing
    method = {"method": Exact(KNN(n_neighbors=3))}
    v = value_cells(X, y, X_valid, y_valid, row_groups=labels, **method)
    np.testing.assert_allclose(v.values[:, 2], 0.0, atol=1e-12)
    # rows sum to the game of rows alone, columns to that of columns alone, all to the score
    one = value_cells(
        X, y, X_valid, y_valid, row_groups=labels, column_groups=["all"] * 3, **method
    )
    np.testing.assert_allclose(v.row_values, one.values[:, 0], atol=1e-12)
    whole = value_cells(X, y, X_valid, y_valid, row_groups=[0] * 8, **method)
    np.testing.assert_allclose(v.column_values, whole.values[0], atol=1e-12)
    cells = value_cells(X, y, X_valid, y_valid, method=KNN(n_neighbors=3))
    assert v.total == pytest.approx(cells.total, abs=1e-12)
    # neither the order of the rows nor the names of the groups matter
    order = np.random.default_rng(seed).permutation(8)
    moved = value_cells(
        X[order], y[order], X_valid, y_valid, row_groups=[labels[k] * 2 for k in order], **method
    )
    places = [moved.row_names.tolist().index(name * 2) for name in v.row_names]
    np.testing.assert_allclose(moved.values[places], v.values, atol=1e-12)


def test_groups_of_one_are_cells():
    data = table(3)
    cells = value_cells(*data, method=KNN(n_neighbors=2))
    alone = value_cells(*data, method=KNN(n_neighbors=2), row_groups=range(5), column_groups={})
    np.testing.assert_allclose(alone.values, cells.values, atol=1e-12)
    assert alone.row_names.tolist() == list("01234") and alone.column_names == ["x0", "x1", "x2"]
    single = value_cells(*data, method=TREE, row_groups=[0] * 5, column_groups=["all"] * 3)
    assert single.shape == (1, 1)
    assert single.total == pytest.approx(value_cells(*data, method=TREE).total, abs=1e-12)


@pytest.mark.parametrize(
    "model", ["gaussian_nb", DecisionTreeClassifier()], ids=["built in", "tree"]
)
def test_workers_change_nothing_and_draws_find_the_exact_values(model):
    data, groups = two_classes(), {"row_groups": np.arange(30) % 4, "column_groups": [0, 0, 1, 2]}
    method = MonteCarlo(model, max_draws=40, tolerance=0)
    one, two = (value_cells(*data, method=method, n_jobs=jobs, **groups) for jobs in (1, 2))
    np.testing.assert_array_equal(one.values, two.values)
    np.testing.assert_array_equal(one.stderr, two.stderr)
    exact = value_cells(*data, method=Exact(model), **groups)
    assert np.abs(one.values - exact.values).max() < 5 * one.stderr.max()


def test_a_method_that_takes_groups_of_columns_is_asked_itself():
    @dataclass(frozen=True)
    class Halves(Method):
        name, summary, takes_column_groups = "halves", "half for each group", True

        def draws(self, problem, run):
            return OneDraw(np.full((problem.table.n_rows, len(problem.column_groups.names)), 0.5))

    v = value_cells(*table(), method=Halves(), column_groups=COLUMNS)
    assert v.info["method"] == "halves" and v.column_names == ["u", "v"] and v.total == 5.0
    with pytest.raises(InputError, match="row_groups makes groups the players"):
        value_cells(*table(), method=Halves(), row_groups=ROWS)


def test_many_groups_of_neighbours_are_sampled(monkeypatch):
    data, groups = two_classes(), {"row_groups": np.arange(30) % 4, "column_groups": [0, 0, 1, 1]}
    exact = value_cells(*data, method=KNN(n_neighbors=3), **groups)
    monkeypatch.setattr(groups_module, "MAX_UTILITIES", 2)
    sampled = value_cells(*data, method=KNN(n_neighbors=3), **groups)
    assert (exact.info["method"], sampled.info["method"]) == ("exact", "mc")
    assert np.abs(sampled.values - exact.values).max() < 5 * sampled.stderr.max()


def test_ways_to_name_groups():
    X, y, X_valid, y_valid = two_classes()
    frame, valid = (pd.DataFrame(one, columns=list("abcd")) for one in (X, X_valid))
    labels = np.array(["N", "S", "W"])[np.arange(30) % 3]
    wanted = value_cells(X, y, X_valid, y_valid, row_groups=labels, method=TREE)
    valid["office"] = "E"  # is no feature of either table
    frame["office"] = labels
    named = value_cells(frame, y, valid, y_valid, row_groups="office", method=TREE)
    np.testing.assert_array_equal(named.values, wanted.values)
    assert named.row_names.tolist() == ["N", "S", "W"] and named.column_names == list("abcd")
    own = value_cells(
        pl.from_pandas(frame), y, row_groups="office", groups="office", cv=3, method=TREE
    )
    assert own.info["splits"] == "rows of a group stay together"
    # a series goes by its index
    frame = frame.drop(columns="office").set_axis([f"r{k}" for k in range(30)])
    series = pd.Series(labels, frame.index).sample(frac=1, random_state=0)
    aligned = value_cells(frame, y, X_valid, y_valid, row_groups=series, method=TREE)
    assert aligned.row_names.tolist() == ["N", "S", "W"]
    np.testing.assert_array_equal(aligned.values, wanted.values)
    groups = value_cells(
        frame, y, X_valid, y_valid, row_groups=labels, column_groups={"d": "two", "b": "two"}, method=TREE
    )  # fmt: skip
    assert groups.column_names == ["a", "two", "c"]
    listed = value_cells(
        X, y, X_valid, y_valid, row_groups=labels.tolist(), column_groups=np.array([1, 2, 3, 2]), method=TREE
    )  # fmt: skip
    assert listed.column_names == ["1", "2", "3"]
    np.testing.assert_array_equal(listed.values, groups.values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row_groups": list("ab")}, "row_groups has 2 entries for 5 rows"),
        ({"row_groups": 7}, "row_groups=7 must be the name of a column, or one entry per row"),
        ({"row_groups": ["a", None, "b", "", "b"]}, "row_groups is missing in 2 of 5 rows, first in row 1"),
        ({"row_groups": [["a"]] * 5}, "row_groups must hold text, numbers or dates, not lists"),
        ({"column_groups": list("ab")}, "column_groups has 2 entries for 3 columns"),
        ({"column_groups": 7}, "column_groups=7 must be a mapping from names, or one entry per column"),
        ({"column_groups": ["a", np.nan, "b"]}, "column_groups has no label for the column 'x1'"),
        ({"column_groups": {"x9": "a"}}, "column_groups names the column 'x9', which the table does not have"),
        ({"row_groups": ROWS, "method": Forest()}, r"method='forest' values single cells.*use MonteCarlo\(\"random_forest\"\)"),
        ({"row_groups": ROWS, "method": KNN(subsets="all")}, "subsets='all' does not go with row_groups"),
        ({"row_groups": ROWS, "method": MonteCarlo(truncation=0.1)}, "truncation does not go with groups"),
    ],
)  # fmt: skip
def test_messages(options, message):
    with pytest.raises(InputError, match=message):
        value_cells(*table(), **options)


def test_the_result_is_of_groups(tmp_path):
    v = value_cells(*table(), method=TREE, row_groups=ROWS, column_groups=COLUMNS)
    assert repr(v).startswith("Valuation of 3 groups of rows x 2 groups of columns, method exact")
    with pytest.raises(InputError, match="needs the entries of a table"):
        v.to_frame(contents=True)
    v.save(tmp_path / "v.parquet")
    again = Valuation.load(tmp_path / "v.parquet")
    assert again == v and again._nouns == v._nouns and again.row_names.tolist() == ["a", "b", "c"]
    v.to_html(tmp_path / "v.html")
    assert "3 groups of rows by 2 groups of columns" in (tmp_path / "v.html").read_text()
    assert v.plot_columns().get_yticklabels()
    v.plot_heatmap()
    with pytest.raises(InputError, match="compare needs another valuation of blocks"):
        v.compare(value_cells(*table(), method=TREE))


# ---- sums by any grouping


def sampled():
    random = np.random.default_rng(0)
    values, stderr = random.normal(size=(4, 3)), random.random((4, 3))
    of_rows, of_columns = 0.9 * stderr.sum(axis=1), 0.5 * stderr.sum(axis=0)
    return Valuation(
        values, stderr, np.arange(4), list("abc"), of_rows, of_columns, dof=9.0, total_stderr=0.25
    )


def by_group(v, groups):
    return v.sum_by(groups).set_index("group")


def test_sums_of_rows_and_cells():
    v = sampled()
    sums = by_group(v, ["x", "y", "x", None])
    assert list(v.sum_by(["x", "y", "x", None])["value"]) == sorted(sums["value"], reverse=True)
    assert sums.loc["x", "value"] == pytest.approx(v.values[[0, 2]].sum())
    assert sums.loc["y", "stderr"] == pytest.approx(v.row_stderr[1])  # one row: known
    assert sums.loc["x", "stderr"] == pytest.approx(v.row_stderr[[0, 2]].sum())
    half = v._interval_factor * sums["stderr"]
    np.testing.assert_allclose(sums["low"], sums["value"] - half)
    np.testing.assert_allclose(sums["high"], sums["value"] + half)
    columns = np.array([["u", "v", "v"]] * 4)
    sums = by_group(v, columns)
    assert sums.loc["u", "stderr"] == pytest.approx(v.column_stderr[0])
    assert sums.loc["v", "stderr"] == pytest.approx(v.column_stderr[1:].sum())
    cells = np.full((4, 3), None)
    cells[1, 2], cells[2, :] = "one", "row"
    sums = by_group(v, cells)
    assert sums.loc["one"].tolist()[:2] == pytest.approx([v.values[1, 2], v.stderr[1, 2]])
    assert sums.loc["row", "stderr"] == pytest.approx(v.row_stderr[2])
    everything = by_group(v, ["all"] * 4).loc["all"]
    assert everything["value"] == pytest.approx(v.total)
    assert everything["stderr"] == pytest.approx(0.25)


def test_who_takes_two_names_gets_no_more_by_sums_of_cells():
    data = two_classes()
    v = value_cells(*data)
    whole, split = (np.array(one)[np.arange(30) % 3] for one in (list("ABC"), ["A1", "B", "C"]))
    split[::2] = np.char.replace(split[::2], "A1", "A2")
    one, two = by_group(v, whole), by_group(v, split)
    assert two.loc[["A1", "A2"], "value"].sum() == pytest.approx(one.loc["A", "value"])
    np.testing.assert_array_equal(two.loc[["B", "C"], "value"], one.loc[["B", "C"], "value"])
    assert (one["stderr"] == 0).all()
    assert one["value"].sum() == pytest.approx(v.total)


def test_sums_come_as_the_callers_frame():
    X, y, X_valid, y_valid = two_classes()
    v = value_cells(pl.DataFrame(X), y, pl.DataFrame(X_valid), y_valid)
    sums = v.sum_by(pl.Series(["a", "b"] * 15))
    assert isinstance(sums, pl.DataFrame)
    assert sums.columns == ["group", "value", "stderr", "low", "high"]


def test_labels_with_an_index_go_by_it():
    v = value_game(lambda S, F: S @ [1, 2, 4], 3, 2, row_names=["p", "q", "r"])
    labels = pd.Series([*"abc"], index=["r", "p", "q"])
    expected = {"a": 4.0, "b": 1.0, "c": 2.0}
    assert by_group(v, labels)["value"].to_dict() == pytest.approx(expected)
    cells = pd.concat([labels, labels], axis=1)
    assert by_group(v, cells)["value"].to_dict() == pytest.approx(expected)
    X = pd.DataFrame({"a": [1, 2, 3, 4]}, index=[3, 1, 2, 0])
    v = value_cells(X, [0, 1, 0, 1], X, [0, 1, 0, 1])
    sums = by_group(v, pd.Series([*"abcd"]))["value"]  # one label per row, of rows 0 to 3
    np.testing.assert_allclose(sums[[*"dbca"]], v.row_values)
    by_position = by_group(v, pd.Series([*"abcd"], index=[*"wxyz"]).to_numpy())["value"]
    np.testing.assert_allclose(by_position[[*"abcd"]], v.row_values)
    with pytest.raises(InputError, match="groups has no row 3 in its index"):
        v.sum_by(pd.Series([*"abcd"], index=[*"wxyz"]))


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a"] * 3, "groups has 3 labels: pass one for each of the 4 rows, or an array of 4 x 3 for the cells"),
        (np.full((3, 4), "a"), "groups has 3 x 4 labels"),
        ("abcd", "groups has no labels"),
        ([None] * 4, "groups names no group"),
    ],
)  # fmt: skip
def test_messages_of_sums(groups, message):
    with pytest.raises(InputError, match=message):
        sampled().sum_by(groups)


def test_sums_of_a_game():
    v = value_game(lambda S, F: float(S.sum() * F[0]), 3, 2)
    assert by_group(v, [1, 1, 2])["value"].to_dict() == pytest.approx({"1": 2.0, "2": 1.0})
