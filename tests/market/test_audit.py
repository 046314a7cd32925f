"""The audit: every number is that of a valuation of the table as it would be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from shapley2d import (
    KNN,
    Audit,
    InputError,
    MonteCarlo,
    Valuation,
    audit_owners,
    value_blocks,
    value_cells,
)
from shapley2d._market.audit_result import MOVES
from shapley2d._market.job import BlocksJob
from shapley2d.exceptions import PrecisionWarning

from small_tables import two_classes

OWNERS = [{"owner": "A", "row": "0-19"}, {"owner": "B", "row": "20-39"}]
LEFT = [{"owner": "A", "row": "0-17"}, {"owner": "B", "row": "18-37"}]  # without two rows of A
NEAREST = KNN(n_neighbors=3)


def data(seed=0):
    return two_classes(seed, n=40, m=3, n_valid=30)


def audited(tables=None, owners=OWNERS, method=NEAREST, **options):
    options = {"parties": "anonymous", "progress": False, **options}
    return audit_owners(*(tables or data()), method=method, owners=owners, **options)


def after(audit, owner, move):
    return next(
        one["after"] for one in audit._moves if one["owner"] == owner and one["move"] == MOVES[move]
    )


def amounts(v, **options):
    return dict(zip(v._owner_names, v.payments(100_000, **options)["amount"], strict=True))


def test_what_an_owner_would_gain_is_what_the_changed_table_pays():
    """Counterfactuals made by hand, from the user's side."""
    X, y, X_valid, y_valid = data()
    _, audit = audited(copies="each", look=False)
    plain = {"copies": "each", "valid_parts": 0, "parties": "anonymous"}
    before = value_blocks(X, y, X_valid, y_valid, method=NEAREST, owners=OWNERS, **plain)
    assert audit.payments == amounts(before)
    random = np.random.default_rng(0)  # any jitter: a row per row, of the same class
    made = X.iloc[np.repeat(np.arange(20), 3)] + 0.1 * random.normal(size=(60, 3))
    again = [{"owner": "A", "row": "0-19;40-99"}, OWNERS[1]]
    more = pd.concat([X, made], ignore_index=True), np.append(y, np.repeat(y[:20], 3))
    listed = value_blocks(*more, X_valid, y_valid, method=NEAREST, owners=again, **plain)
    gain = amounts(listed)["A"] - audit.payments["A"]
    for move in ("means", "jitter"):  # every row is paid, whoever made it
        assert after(audit, "A", move) - audit.payments["A"] > gain / 3 > 1000
    rows = value_blocks(X, y, X_valid, y_valid, method=NEAREST, rows=range(40), parties="anonymous")
    kept = np.setdiff1d(np.arange(40), np.argsort(rows.row_values[:20], kind="stable")[:2])
    fewer = X.iloc[kept].reset_index(drop=True), y.iloc[kept].to_numpy(), X_valid, y_valid
    left = value_blocks(*fewer, method=NEAREST, owners=LEFT, **plain)
    assert after(audit, "A", "withhold") == pytest.approx(amounts(left)["A"], abs=0.011)
    more = value_blocks(X, y, X_valid, y_valid, method=KNN(n_neighbors=6), owners=OWNERS, **plain)
    found = next(
        one["payments"] for one in audit._settings if one["setting"] == "with 6 neighbours"
    )
    assert found == amounts(more)


def test_posing_as_two_gains_nothing_by_sums_of_cells_and_something_by_known_parties():
    _, audit = audited(negative="owe", look=False)
    for owner in "AB":
        assert after(audit, owner, "two") == pytest.approx(audit.payments[owner], abs=0.021)
    assert {one["move"] for one in audit._moves} == set(MOVES.values()) and audit.complete
    _, known = audited(method=MonteCarlo(GaussianNB()), parties="known", look=False)
    assert after(known, "A", "two") > known.payments["A"] + 1000
    settings = [one["setting"] for one in known._settings]
    assert "scored by balanced_accuracy" in settings and "by the model knn" in settings
    # a table without columns is worth a half, whatever its rows are, where classes count the same
    _, fair = audited(method=NEAREST.but(votes="share"), scoring="balanced_accuracy", look=False)
    for one in fair._settings:
        same = one["payments"] == fair.payments
        assert same == one["sentence"].endswith(": nothing would change.")
    assert any(one["payments"] == fair.payments for one in fair._settings)


def test_owners_of_some_columns_split_them_and_withhold_their_cells_alone():
    owners = [{"owner": "A", "column": "a;b"}, {"owner": "B", "column": "c"}]
    v, audit = audited(owners=owners, negative="owe", look=False)
    assert after(audit, "A", "two") == pytest.approx(audit.payments["A"], abs=0.021)
    assert after(audit, "A", "withhold") != audit.payments["A"]
    assert not {MOVES["means"], MOVES["jitter"]} & {one["move"] for one in audit._moves}
    assert v.audit()._moves == audit._moves


def test_an_audit_survives_its_file_and_is_in_the_report(tmp_path):
    v, audit = audited()
    v.save(tmp_path / "v.parquet")
    back = Valuation.load(tmp_path / "v.parquet", frame="polars").audit()
    assert (
        isinstance(back, Audit)
        and back.to_dict() == audit.to_dict()
        and back.gains.columns[0] == "owner"
    )
    assert len(back.shifts) == 2 * len(audit._settings)
    values = v.values * np.linspace(1, 2, v.shape[0])[:, None]
    worth = np.tensordot(v._owner_shares, values, axes=2)
    replace(v, values=values, _owner_values=worth).save(tmp_path / "other.parquet")
    with pytest.raises(InputError, match="its audit is about other payments"):
        Valuation.load(tmp_path / "other.parquet")
    v.to_html(tmp_path / "v.html")
    page = (tmp_path / "v.html").read_text()
    assert 'id="audit-gains"' in page and MOVES["means"] in page
    with pytest.raises(
        InputError, match="come without an audit, which needs the tables: call audit_owners"
    ):
        value_blocks(*data(), owners=OWNERS, parties="anonymous").audit()


@pytest.mark.parametrize(
    "key", ["total", "payments", "moves", "settings", "copies", "alarms", "look", "complete"]
)
def test_a_record_that_is_no_audit_is_refused(key):
    record = {
        "total": 1.0,
        "payments": {"A": 1.0},
        "moves": [],
        "settings": [],
        "copies": "",
        "alarms": [
            {"owner": "A", "what": "w", "victim": "", "sentence": "s", "p": None, "alarm": True}
        ],
        "look": "",
        "complete": True,
    }
    assert Audit.from_dict(record).payments == {"A": 1.0}
    for wrong in (None, [{"owner": 1}], {"A": "much"}):
        with pytest.raises(ValueError, match="its audit is not what it should be"):
            Audit.from_dict({**record, key: wrong})
    for p in ("1", 2, -1, float("nan")):
        with pytest.raises(ValueError, match="its audit is not what it should be"):
            Audit.from_dict({**record, "alarms": [{**record["alarms"][0], "p": p}]})


def stolen(name="T<i>"):
    """Tables in which a third owner has jittered the first one's rows."""
    X, y, X_valid, y_valid = data()
    rows = X[:20] + 0.01 * np.random.default_rng(1).normal(size=(20, 3))
    tables = pd.concat([X, rows], ignore_index=True), np.append(y, y[:20]), X_valid, y_valid
    return tables, [*OWNERS, {"owner": name, "row": "40-59"}]


@pytest.mark.filterwarnings("ignore:'A' and 'T<i>' have copies of the same")
def test_what_is_seen_of_owners_is_kept_shown_and_escaped(tmp_path):
    tables, owners = stolen()
    v, audit = audited(tables, owners)
    found = audit.findings
    near = found[found["what"] == "near copies of each other's rows"]
    assert list(zip(near["owner"], near["victim"], strict=True)) == [("A", "T<i>")]
    assert (near["p"] < 0.01).all() and near["alarm"].all()
    assert audit.sentences[0].startswith("The rows of 3 owners were looked at beside the valid")
    assert audit.sentences[1].startswith("A, near copies of each other's rows: ")
    v.save(tmp_path / "v.parquet")
    back = Valuation.load(tmp_path / "v.parquet").audit()
    assert back._alarms == audit._alarms and back.look == audit.look
    v.to_html(tmp_path / "v.html")
    page = (tmp_path / "v.html").read_text()
    assert 'id="audit-alarms"' in page and "a row of T&lt;i&gt; lies" in page
    assert "T<i>" not in page.partition('id="audit-alarms"')[2].partition("</table>")[0]


@pytest.mark.filterwarnings("ignore:A and N both claim 57 cells")
@pytest.mark.filterwarnings("ignore:'A' and 'T<i>' have copies of the same")
def test_the_look_can_be_left_out_and_needs_validation_rows():
    tables, owners = stolen()
    _, audit = audited(tables, owners, look=False)
    assert audit._alarms == [] and audit.look == "" and len(audit.findings) == 0
    with pytest.raises(InputError, match="look='no' must be True or False"):
        audited(tables, owners, look="no")
    claims = [*owners, {"owner": "N", "row": "1-19"}]
    with pytest.raises(InputError, match="say trusted=True if every owner's rows are trusted"):
        audited(tables[:2], claims)
    _, audit = audited(tables[:2], claims, trusted=True)
    assert audit.look.startswith("The sellers' rows were not looked at: that needs a validation")
    assert [(one["owner"], one["victim"]) for one in audit._alarms] == [("A", "N")]


def test_an_interrupt_keeps_what_was_asked(monkeypatch):
    asked, answer = [], BlocksJob.answer

    def interrupted(*given):
        asked.append(given)
        if len(asked) == 4:
            raise KeyboardInterrupt
        return answer(*given)

    monkeypatch.setattr(BlocksJob, "answer", interrupted)
    with pytest.warns(PrecisionWarning, match="the audit keeps what was computed by then"):
        _, audit = audited()
    assert not audit.complete and len(audit._moves) == 2 and not audit._settings
    assert audit.sentences[-1] == "The audit ended early and is incomplete."
    first = audit._moves[0]
    shown = f"<td>{first['move']}</td><td>{first['before']:,.2f}</td><td>{first['after']:,.2f}</td>"
    assert shown in audit._repr_html_() and audit.sentences[-1] in audit._repr_html_()


def test_an_audit_without_owners_is_refused():
    with pytest.raises(InputError, match="an audit is about owners: name them by owners"):
        audit_owners(*data(), owners=None)
    with pytest.raises(InputError, match="negative='some' is not known"):
        audited(negative="some")


def test_what_is_withheld_is_what_is_worth_least_by_the_score_that_pays():
    """Accuracy and balanced accuracy disagree on which rows are worst where a class is rare."""
    X, _, X_valid, _ = data()
    y, y_valid = ((part["a"] > 0.8).astype(int).rename("y") for part in (X, X_valid))
    asked = {"method": NEAREST, "scoring": "balanced_accuracy", "progress": False}
    cells = value_cells(X, y, X_valid, y_valid, **asked)
    worst = np.argsort(cells.row_values[:20], kind="stable")[:2]
    kept = np.setdiff1d(np.arange(40), worst)
    fewer = X.iloc[kept].reset_index(drop=True), y.iloc[kept].to_numpy(), X_valid, y_valid
    without = value_blocks(*fewer, owners=LEFT, parties="anonymous", valid_parts=0, **asked)
    _, audit = audited((X, y, X_valid, y_valid), scoring="balanced_accuracy", look=False)
    assert after(audit, "A", "withhold") == pytest.approx(amounts(without)["A"], abs=0.02)
