"""Which rows train and which validate: random folds, groups, time, splitters and lists."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedKFold,
    TimeSeriesSplit,
)

from shapley2d import KNN, InputError, MonteCarlo, value_cells
from shapley2d._base.streams import fold_state
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputWarning

RNG = np.random.default_rng(5)
N = 24
X = RNG.integers(0, 4, (N, 2)).astype(float)
Y = np.where(X.sum(axis=1) + RNG.integers(0, 2, N) > 3, "yes", "no")
GROUPS = np.array([f"g{k}" for k in RNG.permutation(np.arange(N) % 6)])
TIME = RNG.permutation(N) * 1.5
PAIRS = RNG.permutation(np.arange(N) // 2)


def held(problem):
    """Positions of the validation rows of every split."""
    return [split.valid.row_names.tolist() for split in problem.splits]


def by_hand(parts, **options):
    """The mean over splits of values against a validation table; 0 where a row does not train."""
    values = np.zeros((N, 2))
    for train, test in parts:
        part = value_cells(X[train], Y[train], X[test], Y[test], **options)
        values[train] += part.values / len(parts)
    return values


@pytest.mark.parametrize(
    "method", [KNN(n_neighbors=3), MonteCarlo("gaussian_nb", max_draws=2, tolerance=0)]
)
def test_group_k_fold_by_hand(method):
    parts = list(GroupKFold(3).split(X, Y, GROUPS))
    v = value_cells(X, Y, cv=GroupKFold(3), groups=GROUPS, method=method)
    assert v.info["folds"] == 3 and v.info["splits"] == str(GroupKFold(3))
    if method.name != "mc":  # whose folds draw orders of their own
        np.testing.assert_allclose(v.values, by_hand(parts, method=method), atol=1e-12)
    listed = value_cells(X, Y, cv=parts, method=method)
    np.testing.assert_array_equal(listed.values, v.values)


def test_time_series_split_by_hand():
    order = np.argsort(TIME)
    parts = [(order[train], order[test]) for train, test in TimeSeriesSplit(4).split(X)]
    with pytest.warns(InputWarning, match="4 of 24 rows train in no fold: their values are 0"):
        v = value_cells(X, Y, method=KNN(n_neighbors=3), cv=4, time_order=TIME)
    np.testing.assert_allclose(v.values, by_hand(parts, method=KNN(n_neighbors=3)), atol=1e-12)
    np.testing.assert_array_equal(v.values[order[-4:]], 0.0)
    with pytest.warns(InputWarning, match="train in no fold"):
        same = value_cells(X, Y, method=KNN(n_neighbors=3), cv=TimeSeriesSplit(4), time_order=TIME)
    np.testing.assert_array_equal(same.values, v.values)
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(TIME, "D")
    with pytest.warns(InputWarning, match="train in no fold"):
        dated = value_cells(X, Y, method=KNN(n_neighbors=3), cv=4, time_order=days)
    np.testing.assert_array_equal(dated.values, v.values)


def test_values_sum_to_the_mean_gain_over_unequal_splits():
    parts = [(range(4), range(4, 20)), (range(10, 24), range(3))]
    with pytest.warns(InputWarning, match="6 of 24 rows train in no fold"):
        v = value_cells(X, Y, method=KNN(n_neighbors=3), cv=parts)
    totals = [
        value_cells(X[list(a)], Y[list(a)], X[list(b)], Y[list(b)], method=KNN(n_neighbors=3)).total
        for a, b in parts
    ]
    assert v.total == pytest.approx(np.mean(totals), abs=1e-12)
    np.testing.assert_array_equal(v.values[4:10], 0.0)  # they never train


def test_groups_take_splits_too():
    rows = np.repeat(["A", "B"], N // 2)
    with pytest.warns(InputWarning, match="12 of 24 rows train in no fold"):
        v = value_cells(X, Y, row_groups=rows, cv=[(range(12), range(12, 24))])
    assert v.row_values[1] == 0.0 and v.total == pytest.approx(v.row_values[0])
    grouped = value_cells(X, Y, row_groups=rows, cv=3, groups=GROUPS)
    assert grouped.info["splits"] == "rows of a group stay together"


@given(st.integers(0, 10**6), st.integers(2, 4), st.booleans())
def test_a_group_never_trains_and_validates_in_the_same_fold(seed, folds, regression):
    rng = np.random.default_rng(seed)
    groups = np.concatenate([np.arange(folds), rng.integers(0, folds + 3, 20)])
    y = rng.normal(size=groups.size) if regression else rng.permutation(np.arange(groups.size) % 3)
    x = rng.normal(size=(groups.size, 1))
    problem = make_problem(x, y, cv=folds, groups=groups.tolist(), seed=seed)
    assert sorted(row for part in held(problem) for row in part) == list(range(groups.size))
    for split in problem.splits:
        assert not set(groups[split.rows]) & set(groups[split.valid.row_names])


@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(6, 40))
def test_moments_are_never_parted(seed, folds, moments):
    rng = np.random.default_rng(seed)
    time = rng.integers(0, moments, 40) ** 2
    time[: folds + 1] = np.arange(folds + 1) ** 2
    with pytest.warns(InputWarning, match="train in no fold"):
        problem = make_problem(
            time[:, None], np.arange(40) % 2, cv=folds, time_order=time, seed=seed
        )
    assert len(problem.splits) == folds
    for split in problem.splits:
        assert time[split.rows].max() < time[split.valid.row_names].min()
    assert len({row for part in held(problem) for row in part}) == sum(map(len, held(problem)))


def test_groups_in_time_are_kept_apart():
    with pytest.warns(InputWarning, match="train in no fold"):
        problem = make_problem(X, Y, cv=2, groups=PAIRS, time_order=TIME)
    parted = 0
    for split in problem.splits:
        assert TIME[split.rows].max() < TIME[split.valid.row_names].min()
        assert not set(PAIRS[split.rows]) & set(PAIRS[split.valid.row_names])
        parted += int((TIME[split.valid.row_names].min() > TIME).sum()) - split.rows.size
    assert parted > 0  # some earlier rows were left out for their group


def test_columns_by_name_are_no_features():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(farm=GROUPS, day=TIME)
    for table in (frame, pl.from_pandas(frame)):
        v = value_cells(table.drop("day" if table is frame else ["day"], **({"axis": 1} if table is frame else {})), Y,
                        groups="farm", cv=3)  # fmt: skip
        assert v.column_names == ["a", "b"]
        plain = value_cells(X, Y, groups=GROUPS, cv=3)
        np.testing.assert_array_equal(v.values, plain.values)
    with pytest.warns(InputWarning, match="train in no fold"):
        both = make_problem(
            frame.drop(columns="farm").assign(y=Y, pair=PAIRS),
            "y",
            groups="pair",
            time_order="day",
            cv=2,
        )
    assert both.table.column_names == ["a", "b"]


def test_a_splitter_without_a_seed_takes_that_of_the_run():
    one, same = (held(make_problem(X, Y, cv=KFold(3, shuffle=True), seed=3)) for _ in range(2))
    assert one == same != held(make_problem(X, Y, cv=KFold(3, shuffle=True), seed=4))
    fixed = [
        held(make_problem(X, Y, cv=KFold(3, shuffle=True, random_state=1), seed=k)) for k in (3, 4)
    ]
    assert fixed[0] == fixed[1]
    assert len(make_problem(X, Y, cv=LeaveOneGroupOut(), groups=GROUPS).splits) == 6


def test_positions_are_those_of_the_table_as_it_was_given():
    """A row that is left out for its target takes part in no split, and moves no other."""
    y = np.arange(20).astype(object) * 1.5
    y[3] = "n/a?"
    folds = [(np.arange(10), np.arange(10, 20)), (np.arange(20) >= 10, np.arange(20) < 10)]
    with pytest.warns(InputWarning, match="left out"):
        problem = make_problem(
            np.arange(40.0).reshape(20, 2), y.tolist(), cv=folds, groups=np.arange(20) // 10
        )
    assert [split.train.row_names.tolist() for split in problem.splits] == [
        [0, 1, 2, 4, 5, 6, 7, 8, 9],
        list(range(10, 20)),
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cv": "five"}, "cv='five' must be a whole number of at least 2, one of scikit-learn's splitters, or"),
        ({"cv": object}, "must be a whole number of at least 2, one of"),
        ({"cv": np.array("x")}, "must be a whole number of at least 2, one of"),
        ({"cv": 2.5}, "cv=2.5 must be a whole number"),
        ({"cv": 13}, "24 rows are too few for cv=13"),
        ({"X_valid": X}, "X_valid came without y_valid"),
        ({"y_valid": Y}, "y_valid came without X_valid"),
        ({"cv": []}, "cv has no splits: list a pair"),
        ({"cv": [([0], [1]), 7]}, "cv: split 2 is not a pair of training rows and validation rows"),
        ({"cv": [([0, 1], [1, 2])]}, "cv: split 1 has row 1 on both sides: a row trains or validates, not both"),
        ({"cv": [([0, 24], [1])]}, "cv: split 1 lists row 24, but positions are 0 to 23"),
        ({"cv": [([0], [-1])]}, "cv: split 1 lists row -1, but positions are 0 to 23"),
        ({"cv": [([0, 0], [1])]}, "cv: split 1 lists row 0 twice"),
        ({"cv": [([], [1])]}, "cv: split 1 has no rows that train"),
        ({"cv": [([1], [])]}, "cv: split 1 has no rows that validate"),
        ({"cv": [([0.5], [1])]}, "cv: split 1 must list rows by their positions, as whole numbers"),
        ({"cv": KFold(99)}, r"cv=KFold\(n_splits=99.*random_state=None.* cannot split these rows: Cannot have"),
        ({"cv": GroupKFold(2)}, "cannot split these rows: The 'groups' parameter should not be None"),
        ({"cv": KFold(3), "groups": GROUPS}, "which are of the same group: use a splitter that respects groups"),
        ({"cv": KFold(3), "time_order": TIME}, "later than row 4, which validates: use a splitter that keeps the order of time"),
        ({"cv": KFold(3), "X_valid": X, "y_valid": Y}, "cv says which rows validate others, but there is a"),
        ({"groups": GROUPS, "X_valid": X, "y_valid": Y}, "groups says which rows validate others, but there is a"),
        ({"time_order": TIME, "validates": False}, "time_order says which rows validate, but this method evaluates no model"),
        ({"groups": GROUPS[:3]}, "groups has 3 entries for 24 rows"),
        ({"groups": "farm"}, "groups='farm' names a column, but X has no names: pass the entries"),
        ({"groups": 3}, "groups=3 must be the name of a column, or one entry per row"),
        ({"groups": [None] * N}, "groups is missing in 24 of 24 rows, first in row 0: fill it, or drop"),
        ({"groups": [[]] * N}, "groups must hold one label per row"),
        ({"groups": [1] * N}, "groups has 1 group, too few for cv=5: leave it out"),
        ({"time_order": GROUPS}, "time_order must hold a number or a date for every row"),
        ({"time_order": [1, np.nan] * 12}, "time_order is missing in 12 of 24 rows, first in row 1"),
        ({"time_order": ["1"] * 23 + ["soon"]}, "time_order must hold a number or a date for every row, but holds 'soon' in row 23"),
        ({"time_order": [1, 2, 3] * 8}, "time_order has 3 distinct moments, too few for cv=5, which takes 6"),
        ({"groups": [1] * N, "time_order": TIME}, "groups and time_order leave no rows to train on"),
    ],
)  # fmt: skip
def test_bad_splits_are_named(arguments, message):
    with pytest.raises(InputError, match=message):
        make_problem(X, Y, **arguments)


def test_a_column_that_is_not_there_is_named():
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(farm=GROUPS)
    with pytest.raises(
        InputError, match=r"X has no column 'fram' for groups \(did you mean 'farm'\?\)"
    ):
        make_problem(frame, Y, groups="fram")


@pytest.mark.parametrize(
    ("y", "kind"),
    [
        (Y, StratifiedKFold),
        (np.arange(N) / 7, KFold),  # numbers
        (np.arange(N) // 3, KFold),  # no class has a row for every fold
    ],
)
def test_folds_at_random_are_those_of_scikit_learn(y, kind):
    task = "regression" if y.dtype == float else "classification"
    splits = make_problem(X, y, task=task, seed=3).splits
    expected = kind(5, shuffle=True, random_state=fold_state(3)).split(X, y)
    for split, (train, held) in zip(splits, expected, strict=True):
        assert (split.rows == train).all() and (split.valid_rows == held).all()


def test_a_column_may_be_named_by_several_options():
    table = pd.DataFrame({"a": np.arange(N) % 5, "day": np.arange(N) // 4, "y": Y})
    warns = "8 of 24 rows train in no fold"
    with pytest.warns(InputWarning, match=warns):
        problem = make_problem(table, "y", groups="day", time_order="day", row_groups="day", cv=2)
    with pytest.warns(InputWarning, match=warns):
        by_time = make_problem(table[["a", "y"]], "y", time_order=table["day"], cv=2)
    assert problem.table.column_names == ["a"]
    assert len(problem.row_groups.names) == N // 4
    assert held(problem) == held(by_time)
