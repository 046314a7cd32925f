"""Receipts: nothing in them can be changed unnoticed, and owners find their blocks in them."""

from __future__ import annotations

import contextlib
import copy
import hashlib
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shapley2d import KNN, InputError, MonteCarlo, Receipt, Valuation, value_blocks, verify_receipt
from shapley2d.cli.verify import _headline as headline
from shapley2d.exceptions import InputWarning, PrecisionWarning

OWNERS = [
    {"owner": "North", "row": "0-14", "column": "size;town"},
    {"owner": "South", "row": "15-29", "column": "size;town"},
    {"owner": "Lab", "row": "", "column": "dose"},
]


def tables(seed=0, n=30, n_valid=24):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": random.normal(size=n + n_valid).round(2),
            "town": random.choice(["Ulm", "Köln"], n + n_valid),
            "dose": random.normal(size=n + n_valid).round(2),
        }
    )
    table.loc[3, "size"], table.loc[5, "town"] = np.nan, None
    y = pd.Series(
        np.where(table["size"].fillna(0) + table["dose"] > 0, "ill", "well"), name="state"
    )
    return table[:n], y[:n], table[n:].reset_index(drop=True), y[n:].reset_index(drop=True)


@pytest.fixture(scope="module")
def valued():
    return value_blocks(
        *tables(), method=KNN(n_neighbors=3), owners=OWNERS, progress=False, parties="anonymous"
    )


@pytest.fixture(scope="module")
def key(tmp_path_factory):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    folder = tmp_path_factory.mktemp("keys")
    for name in ("buyer", "forger"):
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
        (folder / f"{name}.pem").write_bytes(pem)
        public = private.public_key().public_bytes(
            s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo
        )
        (folder / f"{name}.pub").write_bytes(public)
    return folder


def canonical(body):
    """The canonical form, as the documentation has it."""
    return json.dumps(body, sort_keys=True, separators=(",", ":")).encode()


def written(path, receipt, change=None, seal=True):
    """A receipt on disk, with its body changed; sealed again as a forger would."""
    receipt.save(path)
    record = json.loads(path.read_text())
    if change is not None:
        change(record["body"])
    if seal:
        record["digest"] = hashlib.sha256(canonical(record["body"])).hexdigest()
    path.write_text(json.dumps(record))
    return path


def changed(body, change):
    body = copy.deepcopy(body)
    change(body)
    return body


def test_a_receipt_comes_back_and_holds_what_was_paid(valued, tmp_path):
    receipt = valued.receipt(1000)
    receipt.save(tmp_path / "r.json")
    back = Receipt.load(tmp_path / "r.json")
    assert back.body == receipt.body and back.digest == receipt.digest and back.signature is None
    with pytest.warns(PrecisionWarning, match="may be due to chance"):
        pd.testing.assert_frame_equal(back.payments, valued.payments(1000))
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"]
    record = json.loads((tmp_path / "r.json").read_text())
    assert record["digest"] == hashlib.sha256(canonical(record["body"])).hexdigest()
    assert back.body["question"]["settings"]["method"] == {"name": "knn", "n_neighbors": 3}
    assert back.body["made"]["versions"] == valued.info["versions"]
    assert "share 1000.00, not signed" in repr(back)
    assert valued.receipt().payments is None


def test_a_valuation_from_a_file_gives_the_same_receipt(valued, tmp_path):
    valued.save(tmp_path / "v.parquet")
    again = Valuation.load(tmp_path / "v.parquet").receipt(1000)
    assert again.digest == valued.receipt(1000).digest


def oracle_digest(X, columns, y=None):
    """The digest of a block as the documentation has it, in plain Python."""
    rows = []
    for row in range(len(X)):
        entries = {
            name: float(X[name].iloc[row]) + 0.0 if name != "town" else X[name].iloc[row]
            for name in columns
            if not pd.isna(X[name].iloc[row])
        }
        parts = [entries] if y is None else [entries, str(y.iloc[row])]
        rows.append(hashlib.sha256(canonical(parts)).hexdigest())
    return hashlib.sha256("".join(f"{one}\n" for one in sorted(rows)).encode()).hexdigest()


def test_digests_are_those_that_the_documentation_describes(valued):
    X, y, X_valid, y_valid = tables()
    digests = valued.info["digests"]
    names = list(X)
    assert digests["table"] == oracle_digest(X, names, y)
    assert digests["validation"] == {"rows": oracle_digest(X_valid, names, y_valid), "n_rows": 24}
    found = {one["owner"]: one for one in digests["owners"]}
    assert found["North"]["block"] == oracle_digest(X[:15], ["town", "size"])
    assert found["North"]["labelled"] == oracle_digest(X[:15], ["town", "size"], y[:15])
    assert found["Lab"]["block"] == oracle_digest(X, ["dose"]) and found["Lab"]["n_cells"] == 30
    lines = sorted(
        [
            ["North", ["size", "town"], list(range(15))],
            ["South", ["size", "town"], list(range(15, 30))],
            ["Lab", ["dose"], list(range(30))],
        ]
    )
    assert digests["claims"] == hashlib.sha256(canonical(lines)).hexdigest()


def test_an_owner_finds_its_block_from_its_own_rows_alone(valued, tmp_path):
    X, y, *_ = tables()
    receipt = valued.receipt(1000)
    mine = X[:15][["town", "size"]].sample(frac=1, random_state=1)  # in any order
    receipt.check_block("North", mine)
    receipt.check_block("North", mine, y[mine.index])
    mine.to_csv(tmp_path / "mine.csv", index=False)
    receipt.check_block("North", tmp_path / "mine.csv", y[mine.index].tolist())
    receipt.check_block("Lab", X[["dose"]].to_dict("list"))
    for wrong, message in [
        (mine.assign(size=mine["size"] + 0.01), "this is not the block of 'North'"),
        (mine[1:], "there were 15 rows with 30 cells; here are 14 rows of 2 columns"),
        (pd.concat([mine, mine[:1]]), "not the block"),
        (mine.assign(other=1), "column 'other' is not in the receipt"),
        (mine[["town"]], "not the block"),
    ]:
        with pytest.raises(InputError, match=message):
            receipt.check_block("North", wrong)
    with pytest.raises(InputError, match="not the block of 'South'"):
        receipt.check_block("South", mine)
    with pytest.raises(InputError, match="the entries are those of 'North', but the labels differ"):
        receipt.check_block("North", mine, y[mine.index].to_numpy()[::-1])
    with pytest.raises(InputError, match="15 rows have 2 labels"):
        receipt.check_block("North", mine, ["ill", "well"])
    with pytest.raises(InputError, match="no owner 'Eve': it has 'North', 'South', 'Lab'"):
        receipt.check_block("Eve", mine)


def test_numbers_as_labels_may_come_as_text(tmp_path):
    X, y, X_valid, y_valid = tables()
    coded = [(part == "ill").astype(int) for part in (y, y_valid)]
    asked = {"method": KNN(n_neighbors=3), "owners": OWNERS, "parties": "anonymous"}
    v = value_blocks(X, coded[0], X_valid, coded[1], progress=False, **asked)
    v.receipt().check_block("Lab", X[["dose"]], [f"{label}.0" for label in coded[0]])
    v.receipt().check_block("Lab", X[["dose"]], coded[0].astype(float))


def doubled(body):
    for one in body["values"]["owners"]:
        one["value"] *= 2


def a_cent_moved(body):
    lines = body["payments"]["amounts"]
    lines[0]["amount"] = f"{float(lines[0]['amount']) + 0.01:.2f}"
    lines[1]["amount"] = f"{float(lines[1]['amount']) - 0.01:.2f}"


def set_at(*place, to):
    def change(body):
        for step in place[:-1]:
            body = body[step]
        if to == "gone":
            del body[place[-1]]
        else:
            body[place[-1]] = copy.deepcopy(to)

    return change


PAID = ("payments", "amounts", 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (doubled, "the owners' values sum to .*, but the table is worth"),
        (a_cent_moved, "'North' is paid .*, but its value gives"),
        (
            set_at(*PAID, "amount", to="\x1b[31m\n"),
            r"'North' is paid \\x1b\[31m\\n, but its value gives",
        ),
        (set_at("payments", "negative", to="shame"), "how it was paid is not known"),
        (set_at(*PAID, "low", to="999.99"), "the interval of 'North' does not hold its amount"),
        (set_at("values", "owners", 0, to="gone"), "the owners' values sum to"),
        (set_at(*PAID, "owner", to="Eve"), "those who are paid are not its owners"),
        (
            set_at("digests", "owners", 0, "block", to="abc"),
            "block in its record is not what it should be",
        ),
        (dict.clear, "its body lacks 'digests'"),
    ],
)
def test_what_does_not_fit_is_refused_even_with_a_new_digest(change, message, valued, tmp_path):
    with pytest.raises(InputError, match=f"r.json is refused: .*{message}"):
        Receipt.load(written(tmp_path / "r.json", valued.receipt(1000), change))


def test_signatures(valued, key, tmp_path):
    receipt = valued.receipt(1000, sign=key / "buyer.pem")
    receipt.save(tmp_path / "r.json")
    back = Receipt.load(tmp_path / "r.json")
    back.check_signer(key / "buyer.pub")
    with pytest.raises(InputError, match="signed, but not with public_key="):
        back.check_signer(key / "forger.pub")
    with pytest.raises(InputError, match="the receipt is not signed"):
        valued.receipt().check_signer(key / "buyer.pub")
    with pytest.raises(InputError, match="its signature does not fit"):  # one forged by another key
        forged = Receipt(receipt.body, {**receipt.signature, "public_key": "07" * 32})
        Receipt.load(written(tmp_path / "r.json", forged))
    with pytest.raises(InputError, match="is not one of Ed25519"):
        Receipt.load(written(tmp_path / "r.json", Receipt(receipt.body, {"algorithm": "none"})))
    for wrong, message in [
        (key / "buyer.pub", "is not a PEM file with a private key of Ed25519"),
        (key / "absent.pem", "cannot be read: No such file"),
        (tmp_path / "r.json", "is not a PEM file"),
    ]:
        with pytest.raises(InputError, match=message):
            valued.receipt(sign=wrong)


def test_signatures_without_the_package_say_what_to_install(valued, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(InputError, match=r"pip install shapley2d\[receipts\]"):
        valued.receipt(sign="any.pem")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b"[1, 2]", "its record is not a JSON object"),
        (b'{"format": "other"}', "it is not a receipt"),
        (b'{"format": "shapley2d receipt 3"}', "written by another version"),
        (b'{"format": "shapley2d receipt 2", "body": 3, "digest": 1, "signature": 1}', "not a receipt"),
        (b'{"a": 1, "a": 2}', "a field occurs twice"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"format": "shapley2d receipt 2", "body": {"a": 1e999}, "digest": 1, "signature": 1}',
         "1e999 is not a number"),
        (b'{"format": "shapley2d receipt 2", "body": {}, "digest": 1, "signature": null}',
         "its digest does not fit"),
    ],
)  # fmt: skip
def test_foreign_and_damaged_files_get_one_line(text, message, tmp_path):
    (tmp_path / "r.json").write_bytes(text)
    with pytest.raises(InputError, match=message) as error:
        Receipt.load(tmp_path / "r.json")
    assert "\n" not in str(error.value) and "r.json" in str(error.value)


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_field_removed_or_of_another_type_gets_one_line(valued, tmp_path, data):
    receipt = valued.receipt(1000)

    def places(part, path=()):
        inner = part.items() if isinstance(part, dict) else enumerate(part)
        for name, one in inner:
            yield (*path, name)
            if isinstance(one, (dict, list)) and len(path) < 5:
                yield from places(one, (*path, name))

    place = data.draw(st.sampled_from(list(places(receipt.body))))
    other = data.draw(st.sampled_from(["gone", None, 5, 2**70, -(2**70), "text", [], {}, True]))

    change = set_at(*place, to=other)
    if Receipt(receipt.body).digest != Receipt(changed(receipt.body, change)).digest:
        with pytest.raises(InputError, match="its digest does not fit"):
            Receipt.load(written(tmp_path / "r.json", receipt, change, seal=False))
    path = written(tmp_path / "r.json", receipt, change)
    said = ""
    with contextlib.suppress(InputError):  # anything else is a fault
        try:
            found = Receipt.load(path)
            repr(found), found.payments, headline(found)
            if place[0] == "question":
                verify_receipt(found, *tables(), owners=OWNERS, progress=False)
        except InputError as error:
            said = str(error)
            raise
    assert "\n" not in said


@pytest.mark.parametrize("seed", [2**60, 2**127])
def test_any_seed_has_a_receipt(seed, tmp_path):
    method = KNN(n_neighbors=3)
    found = value_blocks(*tables(), method=method, owners=OWNERS, random_state=seed, progress=False)
    found.receipt().save(tmp_path / "r.json")
    verify_receipt(tmp_path / "r.json", *tables(), owners=OWNERS, progress=False)


SETTINGS = ("question", "settings")


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("made",), None),
        (("question",), None),
        (("made", "versions"), {"numpy": 2**70}),
        (("made", "versions", "audit"), "passed"),
        (("made", "versions", "numpy"), "2.0, as audited"),
        (("made", "date"), None),
        (("made", "date"), "2031-02-03 04:05 UTC"),
        (("made", "date"), "the 3rd of May"),
        (("made", "note"), "paid in full"),
        (("payments", "total"), "1000"),
        (("payments", "total"), "1e3"),
        (("payments", "total"), "inf"),
        (("payments", "amounts", 0, "bonus"), "9999.00"),
        (("values", "owners", 0, "stderr"), "0.0"),
        (("digests", "owners", 0), None),
        (("question", "reading"), {"separator": 5}),
        (("audit",), {"copies": "Nothing was copied."}),
        (("payments", "trusted"), True),
        ((*SETTINGS, "shoes"), 2**70),
        ((*SETTINGS, "checkpoint"), "state.npz"),
        ((*SETTINGS, "cluster"), "tcp://127.0.0.1:9"),
        ((*SETTINGS, "n_jobs"), 1),
        ((*SETTINGS, "owners"), "/etc/passwd"),
        ((*SETTINGS, "task"), None),
        ((*SETTINGS, "method", "name"), []),
        ((*SETTINGS, "method", "name"), "plugin"),
        ((*SETTINGS, "method", "checkpoint"), "state.npz"),
        (("question", "unrecorded"), ["cluster"]),
        (("question", "unrecorded"), ["method"]),
    ],
)
def test_a_forged_receipt_decides_nothing(place, value, valued, tmp_path, monkeypatch):
    """It is refused before anything is computed, written or contacted."""
    path = written(tmp_path / "r.json", valued.receipt(1000), set_at(*place, to=value))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("shapley2d._market.verify.value_blocks", None)
    forged = Receipt(json.loads(path.read_text())["body"])
    for receipt in (path, forged):
        with pytest.raises(InputError, match="is refused") as error:
            verify_receipt(receipt, *tables(), owners=OWNERS, progress=False)
        assert "\n" not in str(error.value)
    assert [one.name for one in tmp_path.iterdir()] == ["r.json"]


def test_keys_of_small_order_are_refused(valued, key, tmp_path):
    """Anyone could have signed with them: [8]A is the neutral point for each, by plain arithmetic."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p

    def double(x, y):
        k = d * x * x * y * y % p
        return 2 * x * y * pow(1 + k, -1, p) % p, (y * y + x * x) * pow(1 - k, -1, p) % p

    from shapley2d._market.receipts.signature import _SMALL

    for y in _SMALL:
        square = (y * y - 1) * pow(d * y * y + 1, -1, p) % p
        root = pow(square, (p + 3) // 8, p)
        root = root if root * root % p == square else root * pow(2, (p - 1) // 4, p) % p
        assert root * root % p == square
        assert double(*double(*double(root, y))) == (0, 1)
    receipt = valued.receipt(1000, sign=key / "buyer.pem")
    for y in [*_SMALL, p, p + 1]:  # and the same coordinates written otherwise
        for sign in (0, 1 << 255):
            weak = (y | sign).to_bytes(32, "little").hex()
            forged = Receipt(receipt.body, {**receipt.signature, "public_key": weak})
            with pytest.raises(InputError, match="its key is of small order"):
                forged.check()


def test_a_receipt_of_one_round_does_not_serve_for_another(valued, tmp_path):
    first, second = (valued.receipt(1000, round=name) for name in ("2026-06", "2026-07"))
    assert first.digest != second.digest and "round '2026-06'" in repr(first)
    first.save(tmp_path / "r.json")
    Receipt.load(tmp_path / "r.json").check_round("2026-06")
    verify_receipt(first, *tables(), owners=OWNERS, round="2026-06", progress=False)
    with pytest.raises(
        InputError, match="the receipt is of round '2026-06', not of round='2026-07"
    ):
        verify_receipt(first, *tables(), owners=OWNERS, round="2026-07", progress=False)
    with pytest.raises(InputError, match="the receipt is of no round"):
        valued.receipt().check_round("2026-07")
    with pytest.raises(InputError, match="round=7 must be text"):
        valued.receipt(round=7)


def test_owners_and_validation_rows_may_come_in_another_order(valued):
    X, y, X_valid, y_valid = tables()
    order = np.random.default_rng(5).permutation(len(X_valid))
    other = X_valid.iloc[order].reset_index(drop=True), y_valid.iloc[order].reset_index(drop=True)
    receipt = valued.receipt(1000)
    verify_receipt(receipt, X, y, *other, owners=OWNERS[::-1], progress=False)


def test_what_cannot_have_a_receipt(valued, tmp_path):
    grid = {"rows": np.arange(30) % 2, "columns": [0, 0, 1]}
    blocks = value_blocks(*tables(), progress=False, **{"parties": "anonymous", **grid})
    with pytest.raises(InputError, match="a receipt is about owners"):
        blocks.receipt(100)
    X, y, *_ = tables()
    crossed = value_blocks(
        X, y, method=KNN(n_neighbors=3), owners=OWNERS, progress=False, parties="anonymous"
    )
    with pytest.raises(InputError, match="trusted=True"):
        crossed.receipt(100)
    receipt = crossed.receipt(100, trusted=True)
    assert receipt.body["digests"]["validation"] is None
    verify_receipt(receipt, X, y, owners=OWNERS, progress=False)
    with pytest.raises(InputError, match="cannot write"):
        valued.receipt().save(tmp_path / "nowhere" / "r.json")


def test_a_receipt_is_computed_again_from_the_data(valued, tmp_path):
    data = tables()
    receipt = valued.receipt(1000)
    receipt.save(tmp_path / "r.json")
    verify_receipt(tmp_path / "r.json", *data, owners=OWNERS, progress=False)
    X, y, X_valid, y_valid = data
    other = X.copy()
    other.loc[20, "size"] += 1
    swapped = [{**OWNERS[0], "owner": "South"}, {**OWNERS[1], "owner": "North"}, OWNERS[2]]
    for given_tables, owners, message in [
        ((other, y, X_valid, y_valid), OWNERS, "another 'block' of 'South'"),
        ((X, y[::-1].to_numpy(), X_valid, y_valid), OWNERS, "other labels of 'North'"),
        ((X, y, X_valid[1:], y_valid[1:]), OWNERS, "other validation rows"),
        ((X, y, X_valid, y_valid), swapped, "another 'block' of '(North|South)'"),
        ((X, y, X_valid, y_valid), OWNERS[:2], "there is no owner 'Lab'"),
        ((X.rename(columns={"dose": "dosis"}), y, X_valid.rename(columns={"dose": "dosis"}),
          y_valid), [*OWNERS[:2], {"owner": "Lab", "column": "dosis"}], "another column 'dosis'"),
    ]:  # fmt: skip
        with pytest.raises(InputError, match=f"the data are not those of the receipt: .*{message}"):
            verify_receipt(receipt, *given_tables, owners=owners, progress=False)


def test_values_that_do_not_follow_from_the_data_are_named(valued):
    """All values doubled: every sum fits, and only the data tell."""
    body = changed(valued.receipt(1000).body, doubled)
    body["values"]["worth"] *= 2
    with pytest.raises(InputError, match=r"does not follow from the data: another '(worth|value)'"):
        verify_receipt(Receipt(body), *tables(), owners=OWNERS, progress=False)
    body = valued.receipt(1000).body
    high = float(body["payments"]["amounts"][0]["high"])
    for place, value, message in [
        (("payments", "amounts", 0, "high"), f"{high + 0.05:.2f}", "another 'high' of 'North'"),
        (("values", "owners", 0, "stderr"), None, "another standard error of 'North'"),
        (("values", "owners", 0, "stderr"), 0.001, "another standard error of 'North'"),
        (("made", "intervals"), "no error", "another 'intervals'"),
        (("digests", "owners", 0, "n_cells"), 3, "another 'n_cells' of 'North'"),
    ]:
        with pytest.raises(InputError, match=message):
            verify_receipt(
                Receipt(changed(body, set_at(*place, to=value))),
                *tables(),
                owners=OWNERS,
                progress=False,
            )


def test_settings_that_no_file_can_hold_are_given_again():
    from sklearn.naive_bayes import GaussianNB

    X, y, X_valid, y_valid = tables()
    X, X_valid = X[["size", "dose"]].fillna(0), X_valid[["size", "dose"]].fillna(0)
    owners = [{"owner": "A", "row": "0-14"}, {"owner": "B", "row": "15-29"}]
    data = X, y, X_valid, y_valid
    with pytest.warns(InputWarning, match="only Shapley values add up"):
        v = value_blocks(*data, method=MonteCarlo(GaussianNB()), owners=owners, parties="known", semivalue=("beta", 4, 1), random_state=np.random.default_rng(7), progress=False)  # fmt: skip
    receipt = v.receipt()
    assert receipt.body["question"]["unrecorded"] == ["method"]
    with pytest.raises(InputError, match="was made with method, which no file can hold"):
        verify_receipt(receipt, *data, owners=owners, progress=False)
    method = MonteCarlo(GaussianNB())
    verify_receipt(receipt, *data, owners=owners, method=method, progress=False)
    with pytest.raises(InputError, match="scoring is recorded in the receipt"):
        verify_receipt(receipt, *data, owners=owners, method=method, scoring="r2", progress=False)


def test_saved_values_that_contradict_themselves_do_not_load(valued, tmp_path):
    """Doubled values of an owner, sealed again."""
    more = valued._owner_values * np.array([2, 1, 1])
    replace(valued, _owner_values=more).save(tmp_path / "v.parquet")
    with pytest.raises(InputError, match="its owners are not worth the sum of their blocks"):
        Valuation.load(tmp_path / "v.parquet")
    shares = valued._owner_shares.copy()
    shares[0] += 1  # who owes a part of what another has: they still add up
    shares[1] -= 1
    worth = np.tensordot(shares, valued.values, axes=2)
    for held, why in [(shares, "shares in its record is not a number from 0 on"),
                      (2 * valued._owner_shares, "the shares of a block do not add up")]:  # fmt: skip
        replace(valued, _owner_shares=held, _owner_values=worth).save(tmp_path / "v.parquet")
        with pytest.raises(InputError, match=why):
            Valuation.load(tmp_path / "v.parquet")


def test_many_owners_have_a_receipt(tmp_path):
    random = np.random.default_rng(0)
    X, X_valid = random.normal(size=(260, 2)), random.normal(size=(40, 2))
    y, y_valid = (np.where(part[:, 0] > 0, "a", "b") for part in (X, X_valid))
    owners = [{"owner": f"o{k:03d}", "row": k} for k in range(260)]
    v = value_blocks(X, y, X_valid, y_valid, owners=owners, progress=False, parties="anonymous")
    assert v._payee_errors.spread.shape == (10, 260)
    with pytest.warns((InputWarning, UserWarning)):
        paid = v.payments(100)
    assert (paid["high"] > paid["low"]).mean() > 0.9
    v.receipt(100).save(tmp_path / "r.json")
    verify_receipt(tmp_path / "r.json", X, y, X_valid, y_valid, owners=owners, progress=False)
