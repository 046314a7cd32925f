"""Owners as sums of their cells: nobody gains by splitting, merging, renaming or copying."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d import (
    KNN,
    Exact,
    Forest,
    InputError,
    MonteCarlo,
    Valuation,
    value_blocks,
    value_cells,
)
from shapley2d.exceptions import InputWarning, PrecisionWarning

from small_tables import two_classes

THREE = [
    {"owner": name, "row": rows} for name, rows in (("A", "0-9"), ("B", "10-19"), ("C", "20-29"))
]
NEAREST = KNN(n_neighbors=3)
SAMPLED = NEAREST.but(n_subsets=24)  # of 64


def by_owner(v):
    return dict(zip(v.owners["owner"], v.owners["value"], strict=True))


def valued(tables, owners, method=NEAREST, parties="anonymous", **options):
    return value_blocks(*tables, method=method, owners=owners, parties=parties, **options)


@pytest.mark.filterwarnings("ignore:A and B both claim 5 cells")
def test_owners_are_worth_the_sum_of_their_cells():
    tables = two_classes()
    owners = [
        {"owner": "A", "row": "0-9", "column": "a;b"},
        {"owner": "B", "row": "5-29", "column": "b;c;d"},
    ]
    v = valued(tables, owners)
    cells = value_cells(*tables, method=NEAREST).values
    share = np.zeros((2, 30, 4))
    share[0, :10, :2], share[1, 5:, 1:] = 1, 1
    share[:, 5:10, 1] = 0.5
    expected = (share * cells).sum(axis=(1, 2))
    np.testing.assert_allclose([by_owner(v)[name] for name in "AB"], expected, atol=1e-14)
    assert v.info["parties"] == "anonymous" and v.info["method"] == "knn"
    assert v.total == pytest.approx(cells.sum()) and v._owner_names[-1] == "(unowned)"
    assert sum(by_owner(v).values()) == pytest.approx(v.total)


@pytest.mark.parametrize(
    "method",
    [
        KNN(n_neighbors=2),
        Forest(max_trees=12, tolerance=0),
        MonteCarlo("gaussian_nb", max_permutations=3, tolerance=0),
        Exact("gaussian_nb"),
    ],
)
def test_any_method_of_cells_values_owners(method):
    X, y, X_valid, y_valid = two_classes(n=6, m=3, n_valid=9)
    y = np.array([0, 1] * 3)
    tables, owners = (
        (X, y, X_valid, y_valid),
        [{"owner": "A", "row": "0-2"}, {"owner": "B", "row": "3-5"}],
    )
    v, cells = valued(tables, owners, method), value_cells(*tables, method=method)
    np.testing.assert_allclose(
        v.owners["value"], [cells.values[:3].sum(), cells.values[3:].sum()], atol=1e-12
    )
    assert v.info["method"] == method.name and v.exact == cells.exact
    assert v.info["score"] == cells.info["score"]


@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), sampled=st.booleans(), parts=st.integers(2, 4))
def test_splitting_merging_and_renaming_owners_changes_nothing_for_the_others_to_the_bit(
    seed, sampled, parts
):
    tables = two_classes(seed, m=6)
    options = {"method": SAMPLED if sampled else NEAREST, "valid_parts": 0}
    random = np.random.default_rng(seed)
    before = by_owner(valued(tables, THREE, **options))
    shells = [
        {"owner": f"A{random.integers(parts)}", "row": int(row)} for row in random.permutation(10)
    ]
    split = by_owner(valued(tables, [*shells, *THREE[1:]], **options))
    assert (split["B"], split["C"]) == (before["B"], before["C"])
    assert sum(value for name, value in split.items() if name[0] == "A") == pytest.approx(
        before["A"], abs=1e-15
    )
    as_one = [{**line, "owner": line["owner"].replace("B", "A")} for line in THREE]
    merged = by_owner(valued(tables, as_one, **options))
    assert merged["C"] == before["C"] and merged["A"] == pytest.approx(
        before["A"] + before["B"], abs=1e-15
    )
    called = [THREE[2], {**THREE[0], "owner": "Zed"}, THREE[1]]
    renamed = by_owner(valued(tables, called, **options))
    assert [renamed[name] for name in ("Zed", "B", "C")] == [before[name] for name in "ABC"]


@settings(max_examples=5)
@given(
    seed=st.integers(0, 10_000),
    folded=st.booleans(),
    again=st.lists(st.integers(0, 29), min_size=1, max_size=20),
)
def test_listing_rows_twice_changes_no_owners_total(seed, folded, again):
    X, y, X_valid, y_valid = two_classes(seed)
    twice = np.append(np.arange(30), again)
    labels = np.repeat(["A", "B", "C"], 10)[twice]
    owners = [
        {"owner": name, "row": np.flatnonzero(labels == name).tolist()}
        for name in "ABC"
        if name in labels
    ]
    held = () if folded else (X_valid, y_valid)
    asked = {"method": NEAREST.but(votes="share"), "scoring": "balanced_accuracy"}
    before = by_owner(value_blocks(X, y, *held, owners=THREE, **{"parties": "anonymous", **asked}))
    more = X.iloc[twice].reset_index(drop=True), y.iloc[twice].to_numpy()
    after = value_blocks(*more, *held, owners=owners, **{"parties": "anonymous", **asked})
    assert {name: by_owner(after)[name] - before[name] for name in "ABC"} == dict.fromkeys(
        "ABC", 0.0
    )
    assert after.info["copies"]["n_rows"] == len(again)
    with warnings.catch_warnings(action="ignore"):  # an owner may be worth nothing
        paid = after.payments(1000.01, trusted=folded) if min(before.values()) > 0 else None
    assert paid is None or sum(round(100 * amount) for amount in paid["amount"]) == 100_001


@pytest.mark.slow
def test_the_joint_errors_of_sampled_cells_are_honest():
    """Many samples of column coalitions: the owners' sums vary as their covariances say."""
    tables = two_classes(3, n=20, m=7, n_valid=40)
    owners = [
        {"owner": "A", "row": "0-9", "column": "a;b;c"},
        {"owner": "B", "row": "5-19", "column": "b;d"},
    ]
    exact = by_owner(valued(tables, owners, valid_parts=0))
    off, variances = [], []
    for seed in range(40):
        v = valued(tables, owners, NEAREST.but(n_subsets=36), valid_parts=0, random_state=seed)
        off.append([by_owner(v)[name] - exact[name] for name in ("A", "B", "(unowned)")])
        variances.append(v._payee_errors.variances)
        assert v._payee_errors.variance_of_sum() == pytest.approx(
            0, abs=1e-12
        )  # a row's values sum to what is known
    ratio = np.sqrt(np.mean(np.square(off), axis=0) / np.mean(variances, axis=0))
    assert (ratio > 0.5).all() and (ratio < 1.5).all()


def test_the_joint_errors_of_monte_carlo_are_those_of_the_sums():
    tables = two_classes(n=8, m=3)
    method = MonteCarlo(NEAREST, max_permutations=20, tolerance=0)
    owners = [{"owner": "x", "column": "a"}, {"owner": "y", "column": "b;c"}]
    v = valued(tables, owners, method, parties="anonymous")
    cells = value_cells(*tables, method=method)
    seen = cells.column_stderr[0] ** 2 * 20 / 24  # four more draws are off by its own deviation
    # all permutations give the same total
    assert np.prod(v._payee_errors.spread, axis=1).sum() == pytest.approx(-seen)
    for stderr in (*v.owners["stderr"], v.column_stderr[0], v.stderr[0, 0]):
        assert stderr**2 == pytest.approx(seen * 24 / 20)


@dataclass(frozen=True)
class NoAverages(KNN):
    """Nearest neighbours whose values count as no means over validation rows."""

    averages: ClassVar[bool] = False


@pytest.mark.parametrize(("n_subsets", "labels"), [(None, False), (40, False), (None, True)])
def test_parts_of_the_validation_rows_valued_one_by_one_say_what_is_left_without_them(
    n_subsets, labels
):
    """The jackknife from one more valuation equals the one that leaves out each part."""
    tables, asked = two_classes(5, m=6), {"valid_parts": 5, "include_label": labels}
    quick, slow = (
        valued(tables, THREE, kind(n_neighbors=3, n_subsets=n_subsets), **asked)
        for kind in (KNN, NoAverages)
    )
    one, other = (found._payee_errors.spread for found in (quick, slow))
    np.testing.assert_allclose(one.T @ one, other.T @ other, rtol=1e-6, atol=1e-12)
    assert quick._payee_errors.dof == slow._payee_errors.dof == 4
    assert quick.info["valid_parts"] == 5 and "5 parts" in quick.info["intervals"]


def test_owners_get_parts_of_the_validation_rows_by_default_and_grids_do_not():
    tables = two_classes()
    assert valued(tables, THREE).info["valid_parts"] == 10
    assert valued(tables, THREE, valid_parts=0)._errors.spread.size == 0
    few = value_blocks(
        *tables[:2], tables[2].iloc[:4], tables[3].iloc[:4], owners=THREE, parties="anonymous"
    )
    assert few.info["valid_parts"] == 4
    assert valued(tables, THREE, parties="known").info["valid_parts"] == 10
    grid = value_blocks(*tables, rows=[0, 1] * 15, columns=[0, 1, 1, 1], method="knn")
    assert grid.info["parties"] == "known" and grid.info["valid_parts"] is None


def test_the_owners_values_survive_their_file(tmp_path):
    v = valued(two_classes(), THREE, NEAREST.but(n_subsets=12), copies="each")
    v.save(tmp_path / "v.parquet")
    back = Valuation.load(tmp_path / "v.parquet")
    assert back == v and back.info == v.info and back.info["copies"]["rule"] == "each"
    assert back._owner_values.tobytes() == v._owner_values.tobytes()
    with warnings.catch_warnings(action="ignore"):
        pd.testing.assert_frame_equal(back.payments(10), v.payments(10))


def with_a_thief():
    """Rows of A again under another name; one with another label, which is no copy."""
    X, y, X_valid, y_valid = two_classes()
    stolen = X.iloc[:10]
    labels = np.append(y, y.iloc[:10])
    labels[39] = 1 - labels[39]
    owners = [*THREE, {"owner": "Thief", "row": "30-39"}]
    return (pd.concat([X, stolen], ignore_index=True), labels, X_valid, y_valid), owners


def test_copies_are_shared_by_their_owners_or_count_each():
    tables, owners = with_a_thief()
    honest = by_owner(
        value_blocks(tables[0][:30], tables[1][:30], *tables[2:], owners=THREE, parties="anonymous")
    )
    with pytest.warns(
        InputWarning, match="'A' and 'Thief' have copies of the same 9 rows: their owners share"
    ):
        one = value_blocks(*tables, owners=owners, parties="anonymous")
    assert one.shape[0] == 5  # A with the thief, A alone, B, C, the thief alone
    found = by_owner(one)
    shared = one.values[0].sum()
    assert (
        found["A"] == pytest.approx(shared / 2 + one.values[1].sum())
        and honest.keys() < found.keys()
    )
    assert one.info["copies"] == {
        "rule": "one", "n_rows": 9, "within": [], "between": [["A", "Thief", 9]], "n_pairs": 1,
    }  # fmt: skip
    with pytest.warns(InputWarning, match="every copy is paid for; use copies='one'"):
        each = value_blocks(*tables, owners=owners, copies="each", parties="anonymous")
    assert each.row_sizes.sum() == 40 and one.row_sizes.sum() == 31


def test_copies_by_column_are_shared_among_the_owners_of_that_column():
    X, y, X_valid, y_valid = two_classes()
    X, y = pd.concat([X, X.iloc[:10]], ignore_index=True), np.append(y, y.iloc[:10])
    owners = [{"owner": "A", "row": "0-29"}, {"owner": "T", "row": "30-39", "column": "a"},
              {"owner": "U", "row": "30-39", "column": "a;b"}]  # fmt: skip
    with (
        pytest.warns(InputWarning, match="copies"),
        pytest.warns(InputWarning, match="^T and U both claim 10 cells in 10 rows and share"),
    ):
        v = value_blocks(X, y, X_valid, y_valid, owners=owners, parties="anonymous")
    by_block = {
        (row, column): v._owner_shares[:, i, j].tolist()
        for i, row in enumerate(v.row_names)
        for j, column in enumerate(v.column_names)
    }
    assert by_block["rows 0-9", "a"] == pytest.approx([1 / 3] * 3)
    assert by_block["rows 0-9", "b"] == [0.5, 0, 0.5] and by_block["rows 0-9", "c + d"] == [1, 0, 0]


def test_an_owner_of_everything_shares_with_all():
    with pytest.warns(InputWarning, match="A and Nobody both claim .* 100 % of what A claims"):
        v = valued(two_classes(), [*THREE, {"owner": "Nobody"}])
    assert by_owner(v)["Nobody"] == pytest.approx(v.total / 2)


@pytest.mark.parametrize("model", ["knn", "gaussian_nb", "ridge"])
@pytest.mark.parametrize("parties", ["anonymous", "known"])
def test_columns_of_noise_earn_nothing_under_accuracy(model, parties):
    random = np.random.default_rng(4)
    X, y, X_valid, y_valid = two_classes(7, n=60, n_valid=200)
    for part in (X, X_valid):
        part["dice"] = random.integers(1, 7, len(part))
    sampler = MonteCarlo(model, max_permutations=40, tolerance=0)
    method = KNN(votes="share") if model == "knn" else sampler
    owners = [{"owner": "data", "column": "a;b;c;d"}, {"owner": "dice", "column": "dice"}]
    v = valued((X, y, X_valid, y_valid), owners, method, parties)
    data_value, dice = v.owners["value"]
    assert data_value > 0.1 and abs(dice) < 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"parties": "rows"}, "parties='rows' is not known"),
        ({"copies": "none"}, "copies='none' is not known"),
        ({"parties": "anonymous", "method": "magic"}, "method='magic' is not known"),
        ({"parties": "known", "method": "forest"}, "method='forest' values cells, not parties"),
        (
            {"owners": None, "rows": [0, 1] * 15, "columns": range(4), "copies": "one"},
            "about owners: name",
        ),
    ],
)
def test_wrong_players_and_copies_are_named(options, message):
    with pytest.raises(InputError, match=message):
        value_blocks(*two_classes(), **{"owners": THREE, "parties": "anonymous", **options})


@pytest.mark.parametrize(
    ("scoring", "method"),
    [(None, NEAREST), ("balanced_accuracy", NEAREST), (None, NEAREST.but(n_subsets=40))],
)
def test_parts_of_the_validation_rows_make_up_the_whole_by_their_weights(scoring, method):
    from shapley2d._market.validation_parts import deal_parts, problem_of_part
    from shapley2d._methods.run import Run
    from shapley2d._models.model_games import part_shares
    from shapley2d._tables.problem import make_problem, weigh_problem

    X, y, X_valid, y_valid = two_classes(2, m=6)
    weights = np.linspace(1, 3, len(y_valid))
    problem = make_problem(X, y, X_valid, y_valid, valid_weight=weights, scoring=scoring)
    run = Run.create(progress=False)
    whole = method.solve(problem, run)
    weighed = replace(weigh_problem(problem), scoring=None)  # its weights are those of all rows
    parts = deal_parts(weighed, 5, 0)
    shares = part_shares(weighed.splits[0], parts[0])
    assert shares.sum() == pytest.approx(1)
    alone = [problem_of_part(weighed, parts, k, alone=True) for k in range(5)]
    solved = [(share, method.solve(part, run)) for share, part in zip(shares, alone, strict=True)]
    together = sum(share * found.values for share, found in solved)
    # sampled subsets are drawn anew for every part
    variance = sum((share * found.stderr) ** 2 for share, found in solved) + whole.stderr**2
    assert (np.abs(together - whole.values) < 5 * np.sqrt(variance) + 1e-12).all()
    assert whole.stderr.any() == (method.n_subsets is not None)


def test_copies_are_left_out_of_splits_of_ones_own():
    X, y, _, _ = two_classes()
    twice = np.append(np.arange(30), np.arange(5))
    X2, y2 = X.iloc[twice].reset_index(drop=True), y.iloc[twice].to_numpy()
    owners = [{"owner": "A", "row": "0-9;30-34"}, *THREE[1:]]
    even, odd, batches = np.arange(0, 30, 2), np.arange(1, 30, 2), np.arange(30) % 6
    halves = [(even, odd), (odd, even)]
    for before, after in (
        ({"cv": halves}, {"cv": halves}),
        ({"groups": batches, "cv": 3}, {"groups": batches[twice], "cv": 3}),
    ):
        once, again = valued((X, y), THREE, **before), valued((X2, y2), owners, **after)
        assert by_owner(again) == by_owner(once)


def test_payments_are_by_a_score_and_a_rule_that_nobody_gains_from():
    """Where classes count the same, moving harmful rows into a shell changes no payment."""
    X, y, X_valid, y_valid = two_classes(1)
    y = y.copy()
    y.iloc[:4] = 1 - y.iloc[:4]
    tables = X, y, X_valid, y_valid
    asked = {"scoring": "balanced_accuracy", "valid_parts": 0}
    v = valued(tables, THREE, **asked)
    shells = [{"owner": "shell", "row": "0-3"}, {"owner": "A", "row": "4-9"}, *THREE[1:]]
    split = valued(tables, shells, **asked)
    assert min(split.owners["value"]) < 0
    with pytest.warns(InputWarning, match="'A' owes"):
        whole = dict(zip(v._owner_names, v.payments(1000, "owe")["amount"], strict=True))
    with pytest.warns(InputWarning, match="'shell'.* owe"):
        parts = dict(zip(split._owner_names, split.payments(1000, "owe")["amount"], strict=True))
    assert parts["shell"] + parts["A"] == pytest.approx(whole["A"], abs=0.03)
    hidden, openly = (
        dict(zip(one._owner_names, one.payments(1000)["amount"], strict=True)) for one in (split, v)
    )
    assert hidden["shell"] + hidden["A"] > openly["A"] + 1


def test_owners_are_valued_by_the_score_of_cells_unless_another_is_asked_for():
    tables = two_classes(1)
    by_default, same, other = (
        valued(tables, THREE, valid_parts=0, scoring=scoring)
        for scoring in (None, "accuracy", "balanced_accuracy")
    )
    assert by_owner(by_default) == by_owner(same) != by_owner(other)
    assert "scoring" not in by_default.info["settings"]
    assert other.info["settings"]["scoring"] == "balanced_accuracy"


def test_ctrl_c_among_other_validation_rows_keeps_the_values(monkeypatch):
    whole, solve, calls = valued(two_classes(), THREE, valid_parts=5), KNN.solve, []

    def stop(*args):
        calls.append(args)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return solve(*args)

    monkeypatch.setattr(KNN, "solve", stop)
    with pytest.warns(
        PrecisionWarning, match="interrupted while other validation rows were tried: the intervals"
    ):
        v = valued(two_classes(), THREE, valid_parts=5)
    np.testing.assert_array_equal(v.values, whole.values)
    assert not v._has_intervals and v.info["valid_parts"] is None


def test_sampling_errors_stay_where_there_are_too_many_groups_of_rows(monkeypatch):
    """Errors of cells count as independent there; they were dropped beside other validation rows."""
    monkeypatch.setattr("shapley2d._market.cell_sums.MAX_ROW_SETS", 2)
    alone, both = (valued(two_classes(m=6), THREE, SAMPLED, valid_parts=parts) for parts in (0, 5))
    assert (alone._payee_errors.variances > 0).all()
    assert (both._payee_errors.variances > alone._payee_errors.variances).all()
