"""What is seen of sellers: each kind of attack, and honest sellers of many kinds of tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from shapley2d._market.owners import read_claims
from shapley2d._market.regions import find_regions
from shapley2d._market.sellers.look import look_at_sellers
from shapley2d._market.sellers.points import Points
from shapley2d._market.sellers.seller import WHAT
from shapley2d._tables.convert import as_table
from shapley2d._tables.problem import make_problem
from shapley2d.exceptions import InputWarning

ROWS = 40  # of each of two honest owners


def looked(X, y, X_valid, y_valid, owners, seed=0):
    problem = make_problem(X, y, X_valid, y_valid)
    (split,) = problem.splits
    regions = find_regions(
        read_claims(owners), problem.table.row_names.tolist(), problem.table.column_names
    )
    return look_at_sellers(problem.table, problem.target, split.valid, split.y_valid, regions, seed)


def data(seed=0, n=2 * ROWS, n_valid=60, columns=5, digits=2):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        random.normal(size=(n + n_valid, columns)).round(digits), columns=list("abcdefgh")[:columns]
    )
    y = (X["a"] + X["b"] + 0.5 * random.normal(size=len(X)) > 0).astype(int).to_numpy()
    rest = X[n:].reset_index(drop=True)
    return X[:n], y[:n], rest, y[n:]


def with_seller(rows, labels, tables=None):
    """What is seen where a third seller T brings rows beside A and B."""
    X, y, X_valid, y_valid = tables or data()
    owners = [
        {"owner": "A", "row": f"0-{ROWS - 1}"},
        {"owner": "B", "row": f"{ROWS}-{2 * ROWS - 1}"},
        {"owner": "T", "row": list(range(len(X), len(X) + len(rows)))},
    ]
    X = pd.concat([X, rows], ignore_index=True)
    return looked(X, np.append(y, labels), X_valid, y_valid, owners)


def seen(look, owner):
    return {alarm.what: alarm for alarm in look.alarms if alarm.owner == owner}


def jittered(rows, size, seed=5):
    return rows + size * np.random.default_rng(seed).normal(size=rows.shape)


@pytest.mark.parametrize("size", [0.001, 0.1])
def test_a_thief_who_jitters_another_s_rows_is_seen_with_its_victim(size):
    X, y, *_ = data()
    look = with_seller(jittered(X[:ROWS], size), y[:ROWS])
    for owner, victim in (("T", "A"), ("A", "T")):
        alarm = seen(look, owner)[WHAT["others"]]
        assert alarm.victim == victim and alarm.p < 0.001
        assert "Distances cannot tell who copied from whom." in alarm.sentence
    assert not seen(look, "B")
    if size == 0.001:
        assert seen(look, "T")[WHAT["others"]].sentence.startswith(
            "40 of T's 40 rows lie nearer to a row of A than any two validation rows lie to each"
        )


def test_numbers_in_the_evidence_are_those_of_a_loop_over_pairs():
    X, y, X_valid, _ = data()
    rows = jittered(X[:ROWS], 0.2)
    look = with_seller(rows, y[:ROWS])
    scale = [np.subtract(*np.percentile(X_valid[c], [75, 25])) / 1.3489795 for c in X]

    def nearest(one, others):
        return min(np.linalg.norm((one - other) / scale) for other in others)

    held = X_valid.to_numpy()
    closest = min(nearest(one, np.delete(held, k, axis=0)) for k, one in enumerate(held))
    count = sum(nearest(one, X.to_numpy()) < closest for one in rows.to_numpy())
    assert 3 <= count < ROWS
    assert seen(look, "T")[WHAT["others"]].sentence.startswith(f"{count} of T's 40 rows lie nearer")


@pytest.mark.parametrize("times", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_an_owner_s_own_rows_again_are_seen_once_or_ten_times(times):
    _, y, *_ = data()
    rows = data(7)[0][:20]
    again = pd.concat([rows, *(jittered(rows, 0.01, k) for k in range(times))])
    look = with_seller(again, np.resize(y[:20], len(again)))
    alarm = seen(look, "T")[WHAT["own"]]
    assert alarm.victim == "" and "of T's" in alarm.sentence and alarm.p < 0.001
    assert not seen(look, "A") and not seen(look, "B")


def test_a_shell_that_flips_labels_is_seen_with_its_victim():
    X, y, *_ = data()
    look = with_seller(jittered(X[:ROWS], 0.01), 1 - y[:ROWS])
    found = seen(look, "T")
    assert "40 of them with another label" in found[WHAT["others"]].sentence
    assert "agree with" in found[WHAT["labels"]].sentence and found[WHAT["labels"]].p < 1e-4


def test_rows_that_are_made_up_are_called_different():
    X, y, *_ = data()
    random = np.random.default_rng(3)
    means = X.groupby(y).mean().to_numpy()
    labels = random.integers(0, 2, ROWS)
    at_means = pd.DataFrame(means[labels] + 0.1 * random.normal(size=(ROWS, 5)), columns=X.columns)
    blank = pd.DataFrame(np.full((ROWS, 5), np.nan), columns=X.columns)
    for rows in (at_means, blank):
        alarm = seen(with_seller(rows, labels), "T")[WHAT["different"]]
        assert "another population, or rows that were made up" in alarm.sentence
    correlated = data()
    correlated = [part.copy() for part in correlated]
    for part in (correlated[0], correlated[2]):
        part["c"], part["d"], part["e"] = part["a"] + part["c"] / 9, -part["a"], part["b"]
    noise = correlated[0][:ROWS].apply(lambda column: random.permutation(column.to_numpy()))
    assert WHAT["different"] in seen(with_seller(noise, labels, correlated), "T")


def test_smote_is_seen():
    """Rows between two rows of others, of the same label."""
    X, y, *_ = data()
    random = np.random.default_rng(3)
    one = random.integers(0, 2 * ROWS, 60)
    two = np.array([random.choice(np.flatnonzero(y == y[k])) for k in one])
    share = random.random((60, 1))
    rows = share * X.to_numpy()[one] + (1 - share) * X.to_numpy()[two]
    found = seen(with_seller(pd.DataFrame(rows, columns=X.columns), y[one]), "T")
    assert found


def test_an_honest_seller_of_another_population_is_different_and_no_copier():
    for change in (lambda Z: 0.4 * Z, lambda Z: 2.5 * Z, lambda Z: Z + 3):
        rows = change(data(11)[0][:ROWS])
        labels = (rows["a"] + rows["b"] > (rows["a"] + rows["b"]).mean()).astype(int)
        found = seen(with_seller(rows, labels), "T")
        assert WHAT["different"] in found
        assert not {WHAT["others"], WHAT["own"], WHAT["valid"]} & set(found)


def test_validation_rows_are_recognised_equal_or_nearly():
    tables = data(n_valid=80)
    found = seen(with_seller(tables[2][:ROWS], tables[3][:ROWS], tables), "T")
    assert found[WHAT["equal"]].victim == "the validation table"
    assert "40 of T's 40 rows equal a validation row" in found[WHAT["equal"]].sentence
    found = seen(with_seller(jittered(tables[2][:ROWS], 0.02), tables[3][:ROWS], tables), "T")
    assert found[WHAT["valid"]].victim == "the validation table"


def test_claims_of_another_s_cells_are_seen_even_for_all_rows_but_one():
    tables = data()
    owners = [
        {"owner": "A", "row": "0-39"},
        {"owner": "B", "row": "40-79"},
        {"owner": "N", "row": "1-79"},
    ]
    found = [alarm for alarm in looked(*tables, owners).alarms if alarm.what == WHAT["claims"]]
    assert [(alarm.owner, alarm.victim, alarm.p) for alarm in found] == [
        ("A", "N", None),
        ("B", "N", None),
        ("N", "B", None),
        ("N", "A", None),
    ]
    assert (
        found[0].sentence
        == found[3].sentence
        == (
            "A and N both claim 195 cells in 39 rows and share what they are worth: 97.5 % of what A "
            "claims, 49.4 % of what N claims."
        )
    )


def test_text_in_a_column_of_numbers_is_its_owner_s():
    X, y, X_valid, y_valid = data()
    X["a"] = X["a"].astype(str)
    X.loc[45:70, "a"] = "n/k"
    X_valid["a"] = X_valid["a"].astype(str)
    owners = [{"owner": "A", "row": "0-39"}, {"owner": "B", "row": "40-79"}]
    with pytest.warns(InputWarning, match="in the training table text is among them"):
        look = looked(X, y, X_valid, y_valid, owners)
    found = seen(look, "B")[WHAT["text"]]
    assert found.victim == "A" and found.sentence.startswith(
        "26 of B's 40 entries in 'a' are text, and 0 of the 40 of others"
    )


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
    labels = np.append(y, y_valid)
    labels = both["a"].to_numpy() if kind == "regression" else labels
    both = both.drop(columns="a") if kind == "regression" else both
    return both[:54], labels[:54], both[54:].reset_index(drop=True), labels[54:]


@pytest.mark.parametrize("kind", ["numbers", "coarse", "categories", "names", "gaps", "regression"])
def test_honest_sellers_raise_no_alarm(kind):
    owners = [{"owner": "A", "row": "0-29"}, {"owner": "B", "row": "30-53"}]
    columns = [{"owner": "A", "column": "b;c"}, {"owner": "B", "column": "d;e"}]
    for seed, claims in enumerate((owners, columns)):
        look = looked(*honest(kind, seed), claims, seed)
        assert look.alarms == [] and "Nothing odd was seen" in look.words


@pytest.mark.slow
def test_one_audit_of_honest_owners_in_a_hundred_has_an_alarm_at_most():
    """Two owners in each of 240 audits; 2.4 audits with an alarm would be expected at 1 %."""
    owners = [{"owner": "A", "row": "0-29"}, {"owner": "B", "row": "30-53"}]
    kinds = ("numbers", "coarse", "categories", "names", "gaps", "regression")
    found = [
        bool(looked(*honest(kind, seed), owners, seed).alarms)
        for kind in kinds
        for seed in range(100, 140)
    ]
    assert sum(found) <= 6


def test_a_jittered_column_that_is_mostly_constant_does_not_change_distances():
    """Scales come from the validation rows."""
    valid = as_table([[0.0, 0.0], [0.0, 1.0], [0.0, 2.0], [0.0, 3.0]])
    still, jittery = (as_table([[value, 1.0], [0.0, 2.0]]) for value in (0.0, 1e-9))
    for train in (still, jittery):
        points = Points.of(train, valid)
        assert points.distances(np.array([0]), np.array([1]))[0, 0] == pytest.approx(
            1 / (1.5 / 1.3489795003921634) / np.sqrt(2)
        )


def test_owners_of_few_rows_or_none_are_passed_over():
    look = looked(*data(), [{"owner": "A", "row": "0-2"}, {"owner": "B", "row": "3-79"}])
    assert not look.alarms and "7 tests" in look.words
