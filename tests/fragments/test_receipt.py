"""Receipts: nothing in them can be changed unnoticed, and they decide nothing."""

import copy
import hashlib
import json
from pathlib import Path

import pandas as pd
import pytest

import fragment_files
from shapley2d import InputError, value_fragments, verify_receipt
from shapley2d._fragments.receipt import make_receipt, read_receipt


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fragments")
    fragment_files.write(folder)
    return folder


@pytest.fixture(scope="module")
def given(folder):
    return {name: folder / f"{name}.csv" for name in fragment_files.PIECES}


@pytest.fixture(scope="module")
def others(folder):
    return {"labels": folder / "labels.csv", "valid": folder / "valid.csv", "progress": False}


@pytest.fixture(scope="module")
def valued(folder, given):
    return value_fragments(
        given,
        "default",
        folder / "valid.csv",
        labels=folder / "labels.csv",
        on="customer",
        method="tree",
        progress=False,
    )


@pytest.fixture(scope="module")
def receipt(valued):
    return make_receipt(valued, pay=1000)


@pytest.fixture(scope="module")
def keys(tmp_path_factory):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    folder = tmp_path_factory.mktemp("keys")
    for name in ("buyer", "forger"):
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
        (folder / f"{name}.pem").write_bytes(pem)
        public = private.public_key()
        pem = public.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{name}.pub").write_bytes(pem)
    return folder


def sealed(record, change=None):
    """A receipt, changed and with a digest that fits, as a forger would write it."""
    record = copy.deepcopy(record)
    if change is not None:
        change(record)
    body = {name: part for name, part in record.items() if name not in ("digest", "signature")}
    text = json.dumps(body, sort_keys=True, separators=(",", ":")).encode()
    return record | {"digest": hashlib.sha256(text).hexdigest()}


def differing(found):
    return [line for line in found.lines if line.startswith("differs: ")]


def test_a_receipt_holds_what_was_paid_and_the_files_it_follows_from(valued, given, tmp_path):
    path = tmp_path / "r.json"
    receipt = make_receipt(valued, path, pay=1000)
    assert json.loads(path.read_text()) == receipt == read_receipt(path)
    assert [one.name for one in tmp_path.iterdir()] == ["r.json"]
    paid = valued.payments(1000)
    each = receipt["contributors"]
    assert [one["name"] for one in each] == paid["owner"].tolist() == [*given]
    assert [float(one["amount"]) for one in each] == paid["amount"].tolist()
    assert [one["value"] for one in each] == valued.row_values.tolist()
    assert receipt["paid"] == "1000.00"
    digests = {one["name"]: one["sha256"] for one in [*each, *receipt["others"]]}
    assert [one["name"] for one in receipt["others"]] == ["(labels)", "(validation)"]
    for name, file in given.items():
        assert digests[name] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert sealed(receipt)["digest"] == receipt["digest"]
    assert set(receipt["made"]["versions"]) == {"shapley2d", "numpy", "numba"}
    assert make_receipt(valued)["paid"] is None


def test_a_receipt_verifies_by_itself_and_from_the_files(receipt, given, others):
    found = verify_receipt(receipt)
    assert found.ok and found.lines == (
        "Nothing in the receipt was changed: its digest fits.",
        "The receipt is not signed: anyone could have written it.",
        "The payments of 1000.00 follow from the values to the cent.",
    )
    found = verify_receipt(receipt, given, **others)
    assert found.ok and found.lines[3:] == (
        "north: the same file.",
        "south: the same file.",
        "shop: the same file.",
        "(labels): the same file.",
        "(validation): the same file.",
        "Computed again from the files: 3 values, all the same.",
    )
    assert str(found).splitlines() == list(found.lines)


def test_frames_in_memory_have_digests_too(folder, given):
    pieces = {name: pd.read_csv(path, index_col="customer") for name, path in given.items()}
    y = pd.read_csv(folder / "labels.csv", index_col="customer")["default"]
    valid = pd.read_csv(folder / "valid.csv").drop(columns="customer")
    found = value_fragments(pieces, y, valid, method="tree", progress=False)
    receipt = make_receipt(found)
    assert {one["file"] for one in receipt["contributors"]} == {""}
    shuffled = pieces | {"north": pieces["north"].iloc[::-1]}
    assert verify_receipt(receipt, pieces, labels=y, valid=valid, progress=False).ok
    wrong = differing(verify_receipt(receipt, shuffled, labels=y, valid=valid, progress=False))
    assert wrong == ["differs: north: not the file that was valued."]  # but of the same values
    wrong = verify_receipt(receipt, pieces, labels=y[::-1], valid=valid, progress=False)
    assert "differs: (labels): not the file that was valued." in wrong.lines


def test_an_owner_checks_its_own_file(receipt, given, folder):
    found = verify_receipt(receipt, {"shop": given["shop"]})
    assert found.ok and found.lines[3:] == (
        "shop: the same file.",
        "The values were not computed again: give 'north', 'south', '(labels)', '(validation)', too.",
    )
    found = verify_receipt(receipt, {"mine": given["shop"]})  # recognized by what it holds
    assert found.ok and "shop: the same file." in found.lines
    found = verify_receipt(receipt, {"mine": folder / "labels.csv"})
    assert found.ok and "(labels): the same file." in found.lines
    (folder / "other.csv").write_text("a\n1\n")
    assert differing(verify_receipt(receipt, {"mine": folder / "other.csv"})) == [
        "differs: mine: no file of the receipt, neither by its name nor by its digest."
    ]


def test_a_file_that_differs_is_named_and_so_are_its_values(
    receipt, given, others, folder, tmp_path
):
    table = pd.read_csv(given["shop"])
    table["spent"] = -table["spent"]
    table.to_csv(tmp_path / "shop.csv", index=False)
    found = verify_receipt(receipt, given | {"shop": tmp_path / "shop.csv"}, **others)
    wrong = differing(found)
    assert wrong[0] == "differs: shop: not the file that was valued."
    value = receipt["contributors"][2]["value"]
    assert any(
        line.startswith("differs: the value of 'shop' is ")
        and line.endswith(f", the receipt says {value:.10g}.")
        for line in wrong
    )
    table.drop(columns="customer").to_csv(tmp_path / "shop.csv", index=False)
    wrong = differing(verify_receipt(receipt, given | {"shop": tmp_path / "shop.csv"}, **others))
    assert wrong[1].startswith("differs: the values cannot be computed again: ")
    wrong = differing(verify_receipt(make_plain(receipt), given, labels=folder / "labels.csv"))
    assert (
        wrong[0]
        == "differs: (labels): no file of the receipt, neither by its name nor by its digest."
    )


def make_plain(record):
    """The receipt of a run without files beside those of the contributors."""
    return sealed(record, lambda one: one["others"].clear())


def places(part, path=()):
    """Where everything in a receipt is."""
    for name, one in part.items() if isinstance(part, dict) else enumerate(part):
        yield (*path, name)
        if isinstance(one, (dict, list)):
            yield from places(one, (*path, name))


REFUSED = "the receipt is refused"
UNFIT = "differs: the receipt's digest does not fit: it was changed after it was written."


def said(record):
    """What differs in a receipt, or why it is refused."""
    try:
        return differing(verify_receipt(record))
    except InputError as error:
        return str(error).split(": ", 1)


def put(record, place, value):
    *outer, last = place
    for name in outer:
        record = record[name]
    record[last] = value


def test_every_field_that_is_changed_in_turn_is_found(receipt):
    for place in places(receipt):
        if place[0] == "signature":
            continue
        for value in ("text", None, 5, 0.25, [], {}, True, "1" * 64):
            changed = copy.deepcopy(receipt)
            put(changed, place, value)
            told = said(changed)
            if changed != receipt:
                assert told[0] in (REFUSED, UNFIT) and "\n" not in told[-1]


def test_payments_and_sums_of_a_resealed_receipt_are_found(receipt):
    def swap(record):
        one, other = record["contributors"][:2]
        one["amount"], other["amount"] = other["amount"], one["amount"]

    name = receipt["contributors"][0]["name"]
    right, wrong = (receipt["contributors"][k]["amount"] for k in (0, 1))
    found = differing(verify_receipt(sealed(receipt, swap)))
    assert found[0] == f"differs: '{name}' is paid {wrong}, its value gives {right}."

    def more(record):
        record["paid"] = "1000.01"

    assert differing(verify_receipt(sealed(receipt, more)))

    def a_cent(record):
        for one, by in zip(record["contributors"], (0.01, -0.01), strict=False):
            one["amount"] = f"{float(one['amount']) + by:.2f}"

    assert len(differing(verify_receipt(sealed(receipt, a_cent)))) == 2

    def unpaid(record):
        record["paid"] = None

    assert (
        f"differs: '{name}' is paid {right}, its value gives None."
        in verify_receipt(sealed(receipt, unpaid)).lines
    )

    def nothing(record):
        for one in record["contributors"]:
            one["value"] = -1.0

    assert "nobody is worth more than 0" in differing(verify_receipt(sealed(receipt, nothing)))[0]


@pytest.mark.parametrize("part", ["value", "plus_minus"])
def test_numbers_of_a_resealed_receipt_are_found_from_the_files(part, valued, given, others):
    def change(record):
        record["contributors"][1][part] += 1e-6

    forged = sealed(make_receipt(valued), change)
    assert verify_receipt(forged).ok
    wrong = differing(verify_receipt(forged, given, **others))
    what = "value" if part == "value" else "interval"
    assert wrong[-1].startswith(f"differs: the {what} of 'south' is ")


def test_other_versions_are_named_where_values_differ(valued, given, others):
    def change(record):
        record["baseline"] += 0.1
        record["made"]["versions"]["numpy"] = "1.0"

    found = verify_receipt(sealed(make_receipt(valued), change), given, **others)
    assert found.lines[-1].startswith("The receipt was made by {'shapley2d': ")


def test_signatures_tell_who_wrote_a_receipt(valued, keys, receipt):
    signed = make_receipt(valued, key=keys / "buyer.pem")
    found = verify_receipt(signed, public_key=keys / "buyer.pub")
    assert found.ok and f"It was signed with the key of {keys / 'buyer.pub'}." in found.lines
    key = signed["signature"]["public_key"]
    assert f"It was signed with the key {key}." in verify_receipt(signed).lines
    assert differing(verify_receipt(signed, public_key=keys / "forger.pub")) == [
        f"differs: the receipt was signed with another key than that of {keys / 'forger.pub'}."
    ]
    assert differing(verify_receipt(receipt, public_key=keys / "buyer.pub")) == [
        "differs: The receipt is not signed: anyone could have written it."
    ]

    def change(record):
        record["score"] = "accuracy"

    unfit = ["differs: the signature does not fit what the receipt says."]
    assert differing(verify_receipt(sealed(signed, change))) == unfit
    odd = copy.deepcopy(signed)
    odd["signature"]["public_key"] = "f" * 64
    assert differing(verify_receipt(odd)) == unfit


def test_keys_that_are_none_are_named(valued, keys, tmp_path):
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    path = tmp_path / "key.pem"
    for content in (b"no key", (keys / "buyer.pub").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(InputError, match="is not a PEM file with a private Ed25519 key"):
            make_receipt(valued, key=path)
    other = generate_private_key(SECP256R1())
    path.write_bytes(other.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption()))
    with pytest.raises(InputError, match="is not a PEM file with a private Ed25519 key"):
        make_receipt(valued, key=path)
    locked = s.BestAvailableEncryption(b"secret")
    private = Ed25519PrivateKey.generate()
    path.write_bytes(private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, locked))
    with pytest.raises(InputError, match="a private Ed25519 key without a password"):
        make_receipt(valued, key=path)


def test_signatures_name_the_package_that_they_need(valued, keys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives", None)
    with pytest.raises(InputError, match=r"pip install shapley2d\[receipts\]"):
        make_receipt(valued, key=keys / "buyer.pem")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>", "it is not JSON: Expecting value"),
        ("[" * 100_000 + "]" * 100_000, "it is longer, or nested more deeply, than any receipt"),
        ('{"format": 1, "format": 2}', "it is not JSON: an entry occurs twice"),
        ('{"total": NaN}', "it is not JSON: Out of range float"),
        ('{"total": 1e999}', "it is not JSON: Out of range float"),
        ('{"total": ' + "9" * 5000 + "}", "it is not JSON: Exceeds the limit"),
        ("[]", "its format is None, this version reads 'shapley2d receipt 3'"),
        ('{"format": "shapley2d receipt 2"}', "its format is 'shapley2d receipt 2'"),
        ('{"format": "shapley2d receipt 3"}', "it lacks 'baseline'"),
        ("\xff", "'utf-8' codec can't decode byte 0xff"),
        (" " * (2**24 + 1), "it is longer, or nested more deeply, than any receipt"),
    ],
)
def test_files_that_are_no_receipts_are_refused_in_one_line(text, message, tmp_path):
    path = tmp_path / "r.json"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError) as error:
        verify_receipt(path)
    assert str(error.value).startswith(f"{path} is refused: {message}")
    assert "\n" not in str(error.value)


def test_records_in_memory_are_checked_alike(receipt):
    nested: dict = {}
    for _ in range(100_000):
        nested = {"a": nested}
    for odd in (nested, {"total": float("nan")}, {1: 2}, {"a": {1, 2}}):
        with pytest.raises(InputError, match="the receipt is refused"):
            verify_receipt(odd)

    def twice(record):
        record["contributors"][1]["name"] = record["contributors"][0]["name"]

    with pytest.raises(InputError, match="two of its files have one name"):
        verify_receipt(sealed(receipt, twice))

    def huge(record):
        record["baseline"] = 10**400

    with pytest.raises(InputError, match="a number in it is not a number"):
        verify_receipt(sealed(receipt, huge))
    with pytest.raises(InputError, match="cannot be read: No such file"):
        verify_receipt("nowhere.json")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("checkpoint", "state.npz"),
        ("cluster", "tcp://127.0.0.1:9"),
        ("owners", "/etc/passwd"),
        ("labels", "/etc/passwd"),
        ("n_jobs", 1),
        ("y", ["/etc/passwd"]),
        ("method", {"model": "os.system"}),
        ("kinds", {"age": "pickle"}),
        ("by", "file"),
        ("cv", "5"),
    ],
)
def test_a_forged_question_decides_nothing(name, value, receipt, given, others, monkeypatch):
    """It is refused before anything is computed, opened or contacted."""
    monkeypatch.setattr("shapley2d._fragments.verify.value_fragments", None)
    monkeypatch.setattr("shapley2d._fragments.verify.content_digest", None)
    forged = sealed(receipt, lambda record: record["question"].update({name: value}))
    with pytest.raises(InputError, match="the receipt is refused") as error:
        verify_receipt(forged, given, **others)
    assert "\n" not in str(error.value)


def test_files_named_in_a_receipt_are_not_opened(receipt, given, others, folder):
    def elsewhere(record):
        for one in [*record["contributors"], *record["others"]]:
            one["file"] = "/etc/passwd"

    opened = []
    path_open = Path.open
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            Path, "open", lambda self, *a, **k: opened.append(self) or path_open(self, *a, **k)
        )
        assert verify_receipt(sealed(receipt, elsewhere), given, **others).ok
    assert all(folder in path.parents for path in opened if path.suffix == ".csv")
    assert not [path for path in opened if "passwd" in path.name]


def test_a_model_of_ones_own_is_given_again(folder, given, others):
    from sklearn.tree import DecisionTreeClassifier

    model = DecisionTreeClassifier(random_state=0)
    found = value_fragments(
        given,
        "default",
        folder / "valid.csv",
        labels=folder / "labels.csv",
        on="customer",
        method=model,
        progress=False,
    )
    receipt = make_receipt(found)
    with pytest.raises(InputError, match="give it again as method"):
        verify_receipt(receipt, given, **others)
    assert verify_receipt(receipt, given, method=model, **others).ok


def test_a_run_that_ended_early_has_no_receipt(valued):
    from dataclasses import replace

    for how in ("time_up", "interrupted"):
        early = replace(valued, info=valued.info | {how: True})
        with pytest.raises(InputError, match="ended early, so nobody could repeat it"):
            make_receipt(early)
