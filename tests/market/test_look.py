"""What is seen of sellers: each principle of attack, and honest sellers of many kinds of tables."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from shapley2d._market.owners import read_claims
from shapley2d._market.regions import find_regions
from shapley2d._market.sellers.chances import corrected, count_p_value, excess_p_value
from shapley2d._market.sellers.look import WHAT, Alarm, look_at_sellers
from shapley2d._market.sellers.points import Points
from shapley2d._market.sellers.twins import Gaps, gaps
from shapley2d._market.sellers.units import units_of
from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import read_tables

ROWS = 40  # of each of two honest owners
AB = [{"owner": "A", "row": "0-39"}, {"owner": "B", "row": "40-79"}]


def looked(X, y, X_valid, y_valid, owners, seed=0):
    tables = read_tables(X, y, X_valid, y_valid)
    names = tables.table.row_names.tolist(), tables.table.column_names
    regions = find_regions(read_claims(owners), *names)
    return look_at_sellers(tables, regions, seed)


def data(seed=0, n=2 * ROWS, n_valid=60, columns=5, digits=2):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        random.normal(size=(n + n_valid, columns)).round(digits), columns=list("abcdefgh")[:columns]
    )
    y = (X["a"] + X["b"] + 0.5 * random.normal(size=len(X)) > 0).astype(int).to_numpy()
    rest = X[n:].reset_index(drop=True)
    return X[:n], y[:n], rest, y[n:]


def with_rows(rows, labels, owners=None, tables=None):
    """What is seen where a third seller T, or others, bring rows beside A and B."""
    X, y, X_valid, y_valid = tables or data()
    more = range(len(X), len(X) + len(rows))
    owners = [{"owner": "T", "row": list(more)}] if owners is None else owners(list(more))
    X = pd.concat([X, rows], ignore_index=True)
    return looked(X, np.append(y, labels), X_valid, y_valid, [*AB, *owners])


def seen(look, what, *, alarm=True):
    return [one for one in look.alarms if one.what == WHAT[what] and one.alarm == alarm]


def parties(alarms):
    return {frozenset((one.owner, one.victim)) for one in alarms}


def jittered(rows, size, seed=5):
    return rows + size * np.random.default_rng(seed).normal(size=rows.shape)


@pytest.mark.parametrize("size", [0.0, 0.001, 0.1])
@pytest.mark.parametrize("flipped", [False, True])
def test_near_copies_between_two_parties_name_both_and_accuse_neither(size, flipped):
    X, y, *_ = data()
    labels = 1 - y[:ROWS] if flipped else y[:ROWS]
    found = seen(with_rows(jittered(X[:ROWS], size), labels), "others")
    assert parties(found) == {frozenset("AT")}
    sentence = found[0].sentence
    assert "are near copies of each other" in sentence and found[0].p < 0.001
    assert sentence.endswith("Distances cannot tell who copied from whom.")
    assert ("of them have another label" in sentence) == flipped


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_an_owner_s_own_rows_again_are_seen_once_or_ten_times(times):
    _, y, *_ = data()
    rows = data(7)[0][:20]
    again = pd.concat([rows, *(jittered(rows, 0.01, k) for k in range(times))])
    look = with_rows(again, np.resize(y[:20], len(again)))
    (alarm,) = (one for one in look.alarms if one.alarm)
    assert (alarm.owner, alarm.what, alarm.victim) == ("T", WHAT["own"], "") and alarm.p < 0.001


def shells(rows):
    """A name for every seven rows: no name has enough to be tested alone."""
    return [{"owner": f"S{k}", "row": rows[k::6]} for k in range(6)]


def by_patterns(rows):
    """One name, and another pattern of columns for every fifth row."""
    columns = ["a;b;c;d", "b;c;d;e", "a;c;d;e", "a;b;d;e", "a;b;c;e"]
    return [{"owner": "T", "row": rows[k::5], "column": columns[k]} for k in range(5)]


def by_column(rows):
    """Every column of the rows under another name."""
    return [{"owner": f"S{k}", "row": rows, "column": "abcde"[k]} for k in range(5)]


@pytest.mark.parametrize("owners", [shells, by_patterns, by_column])
@pytest.mark.parametrize("whose", ["own", "others"])
def test_claims_drawn_differently_hide_no_copies(owners, whose):
    X, y, *_ = data()
    rows = pd.concat([jittered(data(7)[0][:20], 0.01, k) for k in range(2)])
    rows = rows if whose == "own" else jittered(X[:ROWS], 0.01)
    assert seen(with_rows(rows, y[:ROWS], owners), whose)


def test_validation_rows_are_recognised_equal_or_nearly():
    tables = data(n_valid=80)
    for size in (0.0, 0.02):
        rows = jittered(tables[2][:ROWS], size)
        found = seen(with_rows(rows, tables[3][:ROWS], tables=tables), "valid")
        assert {(one.owner, one.victim) for one in found} == {("T", "the validation table")}


def test_made_up_or_other_rows_are_information_not_an_alarm():
    X, y, *_ = data()
    random = np.random.default_rng(3)
    labels = random.integers(0, 2, ROWS)
    means = X.groupby(y).mean().to_numpy()[labels] + 0.1 * random.normal(size=(ROWS, 5))
    honest = data(11)[0][:ROWS]
    for rows in (pd.DataFrame(means, columns=X.columns), 0.4 * honest, 2.5 * honest, honest + 3):
        look = with_rows(rows, (rows["a"] + rows["b"] > 0).astype(int))
        (note,) = seen(look, "different", alarm=False)
        assert "another population, or rows that were made up" in note.sentence
        assert not any(one.alarm for one in look.alarms)
        assert "for information: honest sellers are unusual, too" in look.words


@pytest.mark.parametrize("task", ["classes", "numbers"])
def test_flipped_labels_of_one_owner_are_said(task):
    X, y, X_valid, y_valid = data(3, n=300, n_valid=100)
    if task == "numbers":
        y, y_valid = ((part["a"] + part["b"]).to_numpy() for part in (X, X_valid))
    owners = [{"owner": "Süd", "row": "0-99"}, {"owner": "Nord", "row": "100-299"}]
    assert not looked(X, y, X_valid, y_valid, owners).alarms
    y = y.copy()
    y[:35] = 1 - y[:35] if task == "classes" else -y[:35]
    (note,) = looked(X, y, X_valid, y_valid, owners).alarms
    assert (note.owner, note.what, note.alarm) == ("Süd", WHAT["labels"], False)
    assert "of Süd disagree with all others' rows" in note.sentence


def test_labels_that_others_rows_bear_out_disagree_with_nobody():
    """Rows near the border between classes: a forest is less sure of them, and right."""
    X, _, X_valid, _ = data(3, n=300, n_valid=100)
    X.loc[:99, ["a", "b"]] *= 0.5
    y, y_valid = ((part["a"] + part["b"] > 0).astype(int).to_numpy() for part in (X, X_valid))
    owners = [{"owner": "A", "row": "0-99"}, {"owner": "B", "row": "100-299"}]
    for note in seen(looked(X, y, X_valid, y_valid, owners), "labels", alarm=False):
        mine, theirs = (int(share) for share in re.findall(r"(\d+) %", note.sentence))
        assert mine < theirs


def test_claims_of_another_s_cells_are_seen_even_for_all_rows_but_one():
    owners = [*AB, {"owner": "N", "row": "1-79"}]
    found = seen(looked(*data(), owners), "claims")
    assert [(alarm.owner, alarm.victim, alarm.p) for alarm in found] == [
        ("B", "N", None),
        ("A", "N", None),
    ]
    assert found[1].sentence == (
        "A and N both claim 195 cells in 39 rows and share what they are worth: 97.5 % of what A "
        "claims, 49.4 % of what N claims."
    )


def _score(Z):
    """Mostly near 0 or 1, so that noise scrambles the ranks."""
    return 1 / (1 + np.exp(-8 * (Z["a"] + Z["d"])))


DISGUISES = {
    "other units": lambda Z: 32 - 1.8 * Z["a"],
    "a logarithm": lambda Z: np.log(Z["a"] + 9),
    "bins": lambda Z: np.floor(3 * Z["a"]),
    "a little noise": lambda Z: Z["a"] + 0.1 * np.sin(1e4 * Z["a"]),
    "a mixture": lambda Z: Z["a"] + Z["d"] / 3,
    "a score with noise": lambda Z: _score(Z) + 0.04 * np.sin(1e4 * Z["b"]),
    "words": lambda Z: pd.cut(Z["a"], [-9, -0.5, 0.5, 9], labels=["low", "mid", "high"]).astype(
        str
    ),
}


@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_column_that_others_columns_give_is_seen(disguise):
    X, y, X_valid, y_valid = data(n=200, n_valid=200)
    X, X_valid = (part.assign(made=DISGUISES[disguise](part)) for part in (X, X_valid))
    owners = [
        {"owner": "A", "column": "a;b"},
        {"owner": "B", "column": "c;d;e"},
        {"owner": "T", "column": "made"},
    ]
    look = looked(X, y, X_valid, y_valid, owners)
    named = {name for one in seen(look, "columns") for name in (one.owner, one.victim)}
    assert "T" in named and any("A" in name for name in named)
    honest = looked(X.drop(columns="made"), y, X_valid.drop(columns="made"), y_valid, owners[:2])
    assert not seen(honest, "columns")


def honest(kind, seed):
    X, y, X_valid, y_valid = data(seed, n=54, n_valid=40, digits=6)
    both = pd.concat([X, X_valid], ignore_index=True)
    if kind == "coarse":
        both = both.round(0)
    elif kind == "categories":
        both = both.apply(lambda column: pd.cut(column, [-9, -1, 0, 1, 9]).astype(str))
    elif kind == "names":  # most are in one table alone
        both["b"] = [f"name {number:.1f}" for number in both["b"]]
    elif kind == "gaps":
        both = both.mask(np.random.default_rng(seed).random(both.shape) < 0.3)
    elif kind == "rounded":
        both[:30] = both[:30].round(1)
    elif kind == "siblings":
        both = both.iloc[np.arange(94) // 2].reset_index(drop=True)
        both = jittered(both, 0.1, seed)
    labels = np.append(y, y_valid)
    labels = both["a"].to_numpy() if kind == "regression" else labels
    both = both.drop(columns="a") if kind == "regression" else both
    return both[:54], labels[:54], both[54:].reset_index(drop=True), labels[54:]


KINDS = (
    "numbers", "coarse", "categories", "names", "gaps", "regression", "rounded", "siblings",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_honest_sellers_raise_no_alarm(kind):
    rows = [{"owner": "A", "row": "0-29"}, {"owner": "B", "row": "30-53"}]
    columns = [{"owner": "A", "column": "b;c"}, {"owner": "B", "column": "d;e"}]
    pool = [{"owner": f"S{k}", "row": list(range(k, 54, 9))} for k in range(9)]
    for seed, claims in enumerate((rows, columns, pool)):
        look = looked(*honest(kind, seed), claims, seed)
        assert not any(one.alarm for one in look.alarms)
        assert "nothing looks fabricated" in look.words


# ---- the parts, against loops
# --------------------------------------------------------------------------------------------------


def test_gaps_are_those_of_a_loop_over_rows():
    random = np.random.default_rng(0)
    valid = as_table(random.normal(size=(40, 2)))
    points = Points.of(as_table(random.normal(size=(30, 2)).round(1)), valid)
    rows, among = np.arange(12), np.arange(5, 30)
    found = gaps(points, rows, among, among, 1.0)
    for row in rows:
        others = [k for k in among if k != row]
        apart = sorted((points.distances(np.array([row]), np.array([k]))[0, 0], k) for k in others)
        near = [distance + 1e-3 for distance, _ in apart[:8]]
        largest = max(np.log(near[k + 1] / near[k]) for k in range(7))
        assert found.size[row] == pytest.approx(max(largest, np.log(2)))
        assert apart[0][0] == points.distances(np.array([row]), found.nearest[[row]])[0, 0]


def test_families_are_what_the_nearest_connect():
    found = Gaps(np.arange(6), np.array([1, 1, 1, 2, 2, 0.69]), np.array([1, 0, 1, 4, 3, 0]))
    assert found.families().tolist() in ([0, 0, 0, 1, 1, 2], [0, 0, 0, 2, 2, 1])
    assert sorted(found.apart(families=True)) == [0.69, 1, 2]
    assert found.apart(families=False).tolist() == [1, 1, 2, 2]


def test_chances_hold_where_nothing_is_odd():
    random = np.random.default_rng(0)
    p = np.array([excess_p_value(*random.normal(size=(2, 30))) for _ in range(1000)])
    assert (p <= 0.05).mean() <= 0.05 and (p <= 0.01).mean() <= 0.015
    assert corrected([0.01, 0.04, 0.03]) == [0.03, 0.06, 0.06]  # by Holm
    draws = [(random.permutation(20)[:6] < 8).sum() for _ in range(20_000)]
    assert count_p_value(4, 6, 8, 20) == pytest.approx(np.mean(np.array(draws) >= 4), abs=0.01)


def test_distances_are_measured_by_validation_rows_and_rounding_makes_none_alike():
    """A jittered column that is constant there does not count."""
    valid = as_table([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    for value in (0.0, 1e-9):
        points = Points.of(as_table([[value, 1.0], [0.0, 2.0]]), valid)
        assert points.distances(np.array([0]), np.array([1]))[0, 0] == pytest.approx(
            1 / (1.5 / 1.3489795003921634) / np.sqrt(2)
        )
    points = Points.of(as_table([[1.2, 10.0], [3.4, 20.0]]), as_table([[0.123, 7.7], [1.0, 34.0]]))
    rounded = points.rounded_like(np.array([0, 1])).numbers
    assert rounded.tolist() == [[1.2, 10.0], [3.4, 20.0], [0.1, 10.0], [1.0, 30.0]]


def test_rows_are_tested_whoever_claims_them():
    claims = [
        {"owner": "A", "row": "0-39"},
        {"owner": "B", "row": "40-59", "column": "a"},
        {"owner": "C", "row": "40-59", "column": "b;c"},
        {"owner": "D", "row": "60-64"},
        {"owner": "E", "row": "65-69"},
        {"owner": "A", "row": "70-79", "column": "a;b"},
    ]
    regions = find_regions(read_claims(claims), list(range(90)), ["a", "b", "c"])
    found = {(one.name, one.rows.size, int(one.columns.sum())) for one in units_of(regions, 3)}
    assert found == {
        ("A", 50, 3), ("A", 40, 3), ("A", 10, 2), ("B", 20, 1), ("C", 20, 2),
        ("B and C", 20, 3), ("B, C and 2 others", 30, 3),
    }  # fmt: skip
    assert isinstance(looked(*data(), [{"owner": "A", "row": "0-2"}]).alarms, list)
    assert Alarm("A", "w", "", "s", None).alarm
