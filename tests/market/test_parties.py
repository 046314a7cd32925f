"""Known parties: exact values against brute force over sets of owners, axioms, seeds, runs."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from shapley2d import InputError, MonteCarlo, Valuation, value_blocks
from shapley2d._market.parties import settle_parties
from shapley2d._market.validation_parts import deal_parts
from shapley2d._tables.problem import read_tables, split_tables

MODEL = GaussianNB()


def tables(seed=0, n=24, n_valid=40):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n + n_valid, 3))
    y = (X[:, 0] + X[:, 1] + random.normal(size=len(X)) > 0).astype(int)
    y[:8] = [0, 1] * 4  # of every owner both classes
    return X[:n], y[:n], X[n:], y[n:]


def valued(data, model=MODEL, **options):
    options = {"method": MonteCarlo(model), "valid_parts": 0, "progress": False, **options}
    return value_blocks(*data, **options)


def brute_force(data, labels, model, by_columns):
    """Shapley values of owners: a model for every set of them, and every order."""
    X, y, X_valid, y_valid = data
    names = sorted({*labels})

    def score(owners):
        mine = np.isin(labels, list(owners))
        if not mine.any():
            return 0.0
        rows = np.ones(len(y), dtype=bool) if by_columns else mine
        columns = mine if by_columns else np.ones(X.shape[1], dtype=bool)
        fitted = clone(model).fit(X[rows][:, columns], y[rows])
        return (fitted.predict(X_valid[:, columns]) == y_valid).mean()

    orders = list(itertools.permutations(names))
    values = dict.fromkeys(names, 0.0)
    for order in orders:
        for k, name in enumerate(order):
            values[name] += (score(order[: k + 1]) - score(order[:k])) / len(orders)
    return values


@pytest.mark.parametrize("by_columns", [False, True])
@given(seed=st.integers(0, 50))
@settings(max_examples=5, deadline=None)
def test_exact_values_are_those_of_all_orders_of_owners(by_columns, seed):
    data = tables(seed)
    labels = ["A", "B", "C"] if by_columns else list("AABBCCDD" * 3)
    axis = "columns" if by_columns else "rows"
    v = valued(data, baseline="zero", copies="each", **{axis: labels})
    found = dict(zip(v.owners["owner"], v.owners["value"], strict=True))
    expected = brute_force(data, labels, MODEL, by_columns)
    assert found == pytest.approx(expected, abs=1e-12)
    assert v.info["parties"] == "known" and v.info["method"] == "exact"


def test_shares_symmetry_dummies_and_the_order_of_owners():
    X, y, X_valid, y_valid = tables()
    X[12:] = X[:12]
    y[12:] = y[:12]
    X[:, 2], X_valid[:, 2] = 1.0, 1.0  # says nothing
    data = X, y, X_valid, y_valid
    v = valued(data, rows=["A"] * 6 + ["B"] * 6 + ["C"] * 6 + ["D"] * 6, copies="each")
    worth = dict(zip(v.owners["owner"], v.owners["value"], strict=True))
    assert worth["A"] == pytest.approx(worth["C"]) and worth["B"] == pytest.approx(worth["D"])
    assert sum(worth.values()) == pytest.approx(v.info["pooled"] - v.info["baseline_utility"])
    by_columns = valued(data, columns=["A", "B", "none"])
    assert by_columns.owners["value"].tolist()[2] == pytest.approx(0, abs=1e-12)
    claims = [{"owner": name, "row": rows} for name, rows in (("A", "0-9"), ("B", "10-23"))]
    one, other = (valued(tables(5), owners=given) for given in (claims, claims[::-1]))
    assert dict(zip(one.owners["owner"], one.owners["value"], strict=True)) == pytest.approx(
        dict(zip(other.owners["owner"], other.owners["value"], strict=True))
    )
    # with two parties the value is the mean of what each adds first and last
    first = np.array(one.info["alone"]), np.array(one.info["without"])
    assert first[0].tolist() == pytest.approx(first[1][::-1].tolist())


def test_a_model_that_draws_is_asked_with_several_seeds():
    """Values are means over seeds; a jackknife leaves out a seed with a part of the rows."""
    X, y, X_valid, y_valid = tables(3)
    order = np.lexsort([*X_valid.T, y_valid])  # parts are dealt in an order of the rows' own
    data, rows, n_parts = (X, y, X_valid[order], y_valid[order]), list("AABBCCDD" * 3), 4
    forest = RandomForestClassifier(2, max_depth=3)
    v = valued(data, forest, rows=rows, valid_parts=n_parts)
    assert v.info["n_seeds"] == n_parts and "other seeds of the model" in v.info["intervals"]
    problem = split_tables(read_tables(*data), cv=None, seed=0)
    (parts,) = deal_parts(problem, n_parts, 0)
    found = np.empty((n_parts, n_parts + 1, 4))
    for k in range(n_parts):
        seed = int(np.random.SeedSequence(0, spawn_key=(k,)).generate_state(1)[0])
        fixed = forest.set_params(random_state=seed)
        for part in range(-1, n_parts):
            some = (*data[:2], data[2][parts != part], data[3][parts != part])
            found[k, part] = valued(some, fixed, rows=rows).owners["value"]
    values = v.owners["value"].to_numpy()
    np.testing.assert_allclose(values, found[:, -1].mean(axis=0), atol=1e-12)
    without = np.array([np.delete(found[:, k], k, axis=0).mean(axis=0) for k in range(n_parts)])
    off = without - without.mean(axis=0)
    stderr = np.sqrt((n_parts - 1) / n_parts * (off**2).sum(axis=0))
    np.testing.assert_allclose(v.owners["stderr"], stderr, atol=1e-12)
    assert v._payee_errors.dof == n_parts - 1


@pytest.mark.parametrize("count", [3, 14])
def test_runs_in_pieces_and_by_workers_are_the_same(count, tmp_path):
    """All sets of few owners, orders of many: the same values however they are computed."""
    data = tables(n=56)
    method = MonteCarlo(DecisionTreeClassifier(max_depth=2), max_permutations=12, tolerance=0)
    asked = {"rows": [f"o{k % count}" for k in range(56)], "method": method, "valid_parts": 3}
    plain = valued(data, **asked)
    assert plain.exact == (count == 3) and plain._payee_errors.spread.shape[0] >= 3
    kept = valued(data, **asked, checkpoint=tmp_path / "run")
    again = valued(data, **asked, checkpoint=tmp_path / "run")
    more = [valued(data, **asked, n_jobs=2)] if count == 14 else []  # workers take a while to start
    for other in (kept, again, *more):
        np.testing.assert_array_equal(other.values, plain.values)
        np.testing.assert_array_equal(other.owners["stderr"], plain.owners["stderr"])


def test_clusters_are_nobody_s():
    assert settle_parties(None, None, nobody=True)[0] == "anonymous"


def test_files_keep_negative_scores_and_refuse_a_look_that_is_none(tmp_path):
    X, _, X_valid, _ = tables()
    random = np.random.default_rng(1)
    data = X, random.normal(size=len(X)), X_valid, random.normal(size=len(X_valid))
    v = valued(data, LinearRegression(), rows=list("AABBCCDD" * 3), scoring="r2")
    assert min(v.info["alone"]) < 0
    v.save(tmp_path / "v.parquet")
    assert Valuation.load(tmp_path / "v.parquet") == v
    alarm = {"owner": "A", "what": "odd", "victim": "", "sentence": "So.", "p": 0.1}
    for wrong in ({}, {"words": "", "alarms": [alarm]}):
        replace(v, info={**v.info, "look": wrong}).save(tmp_path / "v.parquet")
        with pytest.raises(InputError, match="in its record is not what it should be"):
            Valuation.load(tmp_path / "v.parquet")
    told = [{**alarm, "alarm": True}, {**alarm, "owner": "B", "alarm": False}]
    seen = replace(v, info={**v.info, "look": {"words": "Looked.", "alarms": told}})
    seen.to_html(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    alarms, notes = (
        page.partition(f'id="audit-{kind}"')[2].partition("</table>")[0]
        for kind in ("alarms", "notes")
    )
    assert all(f">{100 * one:,.1f} %<" in page for one in v.info["alone"])
    assert "<bdi>A</bdi>" in alarms and "<bdi>B</bdi>" not in alarms
    assert "<bdi>B</bdi>" in notes and "<bdi>A</bdi>" not in notes
