"""The same contributors give the same answer, whatever names them: labels, a column or a file."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from command_line import run
from shapley2d import KNN, MonteCarlo, audit_owners, value_blocks, value_game, verify_receipt
from shapley2d.exceptions import InputError

HOSPITALS = np.array(["Charité", "Köln", "Ulm"])


def tables(n=60, n_valid=40, seed=3):
    random = np.random.default_rng(seed)
    X = pd.DataFrame(random.normal(size=(n + n_valid, 3)).round(2), columns=list("abc"))
    y = np.where(X["a"] + 0.5 * random.normal(size=n + n_valid) > 0, "ill", "well")
    where = HOSPITALS[random.integers(0, 3, n)]
    X.iloc[7, :] = X.iloc[3, :]  # a copy that two hospitals have
    y[7], where[3], where[7] = y[3], "Charité", "Ulm"
    return X[:n], y[:n], X[n:].reset_index(drop=True), y[n:], where


def lines(where):
    return [
        {"owner": name, "row": np.flatnonzero(where == name).tolist()}
        for name in dict.fromkeys(where.tolist())
    ]


def test_labels_a_column_and_a_list_of_owners_give_one_answer():
    X, y, X_valid, y_valid, where = tables()
    table = X.assign(hospital=where)
    with pytest.warns(match="have copies of the same 1 row"):
        named = value_blocks(X, y, X_valid, y_valid, owners=lines(where), parties="anonymous")
    assert named.info["parties"] == "anonymous" and named.info["valid_parts"] == 10
    assert named.owners["stderr"].min() > 1e-4
    for given, option in ((X, {"rows": where}), (table, {"rows": "hospital"}),
                          (table, {"owner_column": "hospital"})):  # fmt: skip
        with pytest.warns(match="have copies of the same 1 row"):
            found = value_blocks(given, y, X_valid, y_valid, **{"parties": "anonymous", **option})
        pd.testing.assert_frame_equal(found.owners, named.owners)
        pd.testing.assert_frame_equal(found.payments(1000), named.payments(1000))
        for fact in ("method", "parties", "scoring", "votes", "copies", "intervals", "settings"):
            assert found.info.get(fact) == named.info.get(fact), fact


def test_the_owners_column_is_no_feature_of_either_table_and_can_be_audited_and_verified():
    X, y, X_valid, y_valid, where = tables(30, 20)
    given = X.assign(hospital=where), y, X_valid.assign(hospital="elsewhere"), y_valid
    with pytest.warns(match="have copies"):
        found = value_blocks(*given, owner_column="hospital", parties="anonymous")
    assert found.column_sizes.sum() == 3 and sorted(found._owner_names) == sorted(HOSPITALS)
    receipt = found.receipt(100)
    verify_receipt(receipt, *given, progress=False)
    with pytest.raises(InputError, match=r"another 'block' of 'Charité'|other rows"):
        verify_receipt(receipt, given[0].iloc[::-1].reset_index(drop=True), y[::-1], *given[2:])
    with pytest.warns(match="have copies"):
        _, audit = audit_owners(
            *given,
            method=KNN(n_neighbors=3),
            owner_column="hospital",
            look=False,
            parties="anonymous",
        )
    assert set(audit.payments) == set(HOSPITALS)


def test_owners_of_a_column_are_owners_however_many():
    X, y, X_valid, y_valid, _ = tables(600, 20)
    many = X.assign(hospital=[f"p{k % 300}" for k in range(600)], number=range(600))
    X_valid = X_valid.assign(number=0.5)
    asked = {"owner_column": "hospital", "parties": "anonymous", "progress": False, "look": True}
    v = value_blocks(many, y, X_valid, y_valid, **asked)
    assert len(v.receipt(100).body["payments"]["amounts"]) == 300
    assert "300 owners were looked at" in v.info["look"]["words"]
    with pytest.raises(
        InputError, match=r"owners names 10,001, more than the 10,000 .*value_cells"
    ):
        value_blocks(X, y, owners=[{"owner": str(k), "row": 0} for k in range(10_001)])


def test_who_the_owners_are_is_said_once():
    X, y, X_valid, y_valid, where = tables(30, 20)
    table = X.assign(hospital=where)
    with pytest.raises(InputError, match="names the owners, and so does owners: give one of them"):
        value_blocks(table, y, owner_column="hospital", owners=lines(where), parties="anonymous")
    with pytest.raises(InputError, match="names the owners, and so does rows: give one of them"):
        value_blocks(table, y, owner_column="hospital", rows=where, parties="anonymous")
    with pytest.raises(
        InputError, match=r"X has no column 'Hospital' for owner_column.*'hospital'"
    ):
        value_blocks(table, y, owner_column="Hospital", parties="anonymous")
    with pytest.raises(InputError, match="has no names: pass the entries"):
        value_blocks(X.to_numpy(), y, owner_column="hospital", parties="anonymous")
    table.loc[4, "hospital"] = None
    with pytest.raises(InputError, match="owner_column has no label for row 4: name its owner"):
        value_blocks(table, y, owner_column="hospital", parties="anonymous")
    with pytest.raises(InputError, match="an audit is about owners"):
        audit_owners(X, y, X_valid, y_valid, parties="anonymous")


def test_an_interval_that_nobody_knows_is_not_printed_as_a_point(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y, X_valid, y_valid, where = tables(30, 20)
    X.assign(y=y, hospital=where).to_csv("t.csv", index=False)
    X_valid.assign(y=y_valid).to_csv("v.csv", index=False)
    command = "blocks t.csv -t y --valid v.csv --owner-column hospital --pay 100"
    printed = run(capsys, f"{command} --valid-parts 0 --report r.html").out
    assert [line.split()[-2:] for line in printed.splitlines() if line[:3] == "Ulm"] == [["-", "-"]]
    assert "There are no intervals" in printed
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    for end in ("from", "to"):
        assert page.count(f'<td class="right number" data-name="{end}">\u2013</td>') == 3
    owners = json.loads(run(capsys, f"{command} --valid-parts 0 --json").out)["owners"]
    assert all(one["low"] is None and one["amount"] is not None for one in owners)
    owners = json.loads(run(capsys, f"{command} --json").out)["owners"]
    assert all(one["low"] < one["amount"] < one["high"] for one in owners)
    (tmp_path / "gap.csv").write_text("a,y,h\n1,u,A\n2,v,\n3,u,B\n4,v,B\n", encoding="utf-8")
    told = run(capsys, "blocks gap.csv -t y --owner-column h", 2).err
    assert "--owner-column h is empty in 1 of 4 rows, first in line 3" in told


def test_rounding_is_no_standard_error():
    weights = [Fraction(k, 7) for k in (1, 2, 3)]

    def h(S, F):  # every order gives the same sums, up to rounding
        return float(sum(w for w, s in zip(weights, S, strict=True) if s)) * (
            0.1 * F[0] + 0.3 * F[1]
        )

    v = value_game(h, 3, 2, method=MonteCarlo(max_permutations=30, tolerance=0), progress=False)
    assert not v.row_stderr.any() and not v.column_stderr.any()
    rows = [float(weight * Fraction(2, 5)) for weight in weights]  # the game adds up
    np.testing.assert_allclose(v.row_values, rows, rtol=1e-12)


def test_labels_that_read_alike_are_one_owner():
    X, y, X_valid, y_valid, _ = tables(30, 20)
    found, same = (
        value_blocks(X, y, X_valid, y_valid, rows=rows, parties="anonymous", progress=False)
        for rows in ([1, "1", "A "] * 10, ["1", "1", "A"] * 10)
    )
    pd.testing.assert_frame_equal(found.owners, same.owners)
