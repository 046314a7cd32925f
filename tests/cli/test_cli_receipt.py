"""``blocks --receipt`` and ``shapley2d verify``."""

import json

import numpy as np
import pandas as pd
import pytest

import command_line
from shapley2d import Receipt

COMMAND = "blocks t.csv -t default --id customer --owners owners.csv --parties anonymous"
DATA = "--table t.csv --valid v.csv --owners owners.csv"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(0)
    table = pd.DataFrame(random.normal(size=(100, 3)).round(2), columns=["limit", "used", "dice"])
    table.insert(0, "customer", [f"c{k}" for k in range(100)])
    table["default"] = np.where(table["limit"] + table["used"] > 0, "yes", "no")
    table[:60].to_csv("t.csv", index=False)
    table[60:].to_csv("v.csv", index=False)
    table[:30].sample(frac=1, random_state=0).to_csv("north.csv", index=False)
    (tmp_path / "owners.csv").write_text("owner,row,column\nNorth,0-29,\nSouth,30-59,\n")
    return tmp_path


def run(capsys, command, code=0):
    out, err = command_line.run(capsys, command, code)
    return " ".join((err if code else out).split())


def write(capsys, more=""):
    run(capsys, f"{COMMAND} --valid v.csv --pay 1000 -k 3 --receipt r.json {more}")
    return Receipt.load("r.json")


def test_a_receipt_is_written_and_verified(capsys, folder):
    receipt = write(capsys, "--json")
    assert receipt.body["question"]["reading"]["target"] == "default"
    out = run(capsys, "verify r.json")
    assert "r.json: 2 owners, who share 1000.00; dated" in out
    assert (
        "It is not signed: anyone could have made it, and its date, its versions and its round"
        in out
    )
    out = run(capsys, "verify r.json --owner North --block north.csv")
    assert "The block of 'North' is the one that was valued, with these labels." in out
    out = run(capsys, f"verify r.json {DATA}")
    assert "Computed again from the data: every amount is the same." in out
    assert "every amount" in run(
        capsys, "verify r.json --table t.csv --validation v.csv --owners owners.csv -j 1"
    )


def test_other_data_are_named_in_one_line(capsys, folder):
    write(capsys)
    north = pd.read_csv("north.csv")
    north.drop(columns=["default", "customer"]).to_csv("plain.csv", index=False)
    assert "; its labels were not compared." in run(
        capsys, "verify r.json --owner North --block plain.csv"
    )
    north.assign(default="yes").to_csv("north.csv", index=False)
    err = run(capsys, "verify r.json --owner North --block north.csv", 2)
    assert err == "shapley2d: error: the entries are those of 'North', but the labels differ"
    table = pd.read_csv("t.csv")
    table.loc[40, "used"] += 1
    table.to_csv("t.csv", index=False)
    err = run(capsys, f"verify r.json {DATA}", 2)
    assert err.endswith("the data are not those of the receipt: another 'block' of 'South'")


def test_doctored_receipts_are_refused(capsys, folder):
    write(capsys)
    record = json.loads((folder / "r.json").read_text())
    record["body"]["payments"]["amounts"][0]["amount"] = "900.00"
    (folder / "r.json").write_text(json.dumps(record))
    err = run(capsys, "verify r.json", 2)
    assert err == (
        "shapley2d: error: r.json is refused: its digest does not fit: it was changed after it was "
        "written"
    )
    (folder / "page.html").write_text("<html>")
    assert "page.html is refused: its record is not JSON" in run(capsys, "verify page.html", 2)


def test_signed_receipts_tell_whose_they_are(capsys, folder):
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.generate()
    pem = private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
    (folder / "key.pem").write_bytes(pem)
    public = private.public_key().public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    (folder / "key.pub").write_bytes(public)
    receipt = write(capsys, "--sign key.pem")
    assert f"signed with the key {receipt.signature['public_key']}" in run(capsys, "verify r.json")
    out = run(capsys, "verify r.json --public-key key.pub")
    assert "It was signed with the key of key.pub." in out
    other = Ed25519PrivateKey.generate().public_key()
    (folder / "other.pub").write_bytes(
        other.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
    )
    err = run(capsys, "verify r.json --public-key other.pub", 2)
    assert "the receipt is signed, but not with --public-key other.pub" in err
    err = run(capsys, f"{COMMAND} --valid v.csv --receipt x.json --sign key.pub", 2)
    assert "--sign key.pub is not a PEM file with a private key of Ed25519" in err
    assert not (folder / "x.json").exists()


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (f"{COMMAND} --valid v.csv --receipt r.txt", "--receipt r.txt: the name must end in .json"),
        (f"{COMMAND} --valid v.csv --sign key.pem", "--sign is about a receipt: name its file by"),
        (f"{COMMAND} --receipt x.json", "there is no validation table"),
        (f"{COMMAND} --pay 100", "say --trusted if every owner's rows are trusted as a test"),
        (f"{COMMAND} --audit", "rows that an owner invents vouch for each other"),
        (f"{COMMAND} --valid v.csv --receipt no/r.json", "the folder no does not exist"),
        ("verify r.json --owner North", "--owner and --block go together"),
        ("verify r.json --valid v.csv", "--valid goes with --table"),
        ("verify r.json --table t.csv", "--table goes with --owners"),
        ("verify nowhere.json", "nowhere.json cannot be read: No such file or directory"),
        ("verify r.json --table t.csv --owners owners.csv", "made with a validation table: give"),
        ("verify r.json --owner Eve --block north.csv", "the receipt has no owner 'Eve'"),
        ("verify r.json --owner North --block owners.csv", "has none of the columns"),
    ],
)
def test_what_cannot_be_is_named_in_one_line(command, message, capsys, folder):
    if command.startswith("verify r.json"):
        write(capsys)
    before = sorted(path.name for path in folder.iterdir())
    assert message in run(capsys, command, 2)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_run_that_trusts_its_owners_says_so_in_its_receipt(capsys, folder):
    run(capsys, f"{COMMAND} --trusted --pay 10 --receipt r.json")
    receipt = Receipt.load("r.json")
    assert receipt.body["digests"]["validation"] is None
    assert "every amount is the same" in run(
        capsys, "verify r.json --table t.csv --owners owners.csv"
    )
    err = run(capsys, f"verify r.json {DATA}", 2)
    assert "made without a validation table: leave out --valid" in err


def test_columns_of_a_file_that_are_no_features_are_read_again(capsys, folder):
    table = pd.read_csv("t.csv")
    table["visit"] = np.arange(60) // 2
    table["note"] = "none"
    table.to_csv("t.csv", index=False)
    more = "--groups visit --drop note --trusted --pay 10 --receipt r.json"
    run(capsys, f"{COMMAND} {more}")
    assert Receipt.load("r.json").body["question"]["unrecorded"] == ["groups"]
    run(capsys, "verify r.json --table t.csv --owners owners.csv")
    table[:30].to_csv("north.csv", index=False)
    run(capsys, "verify r.json --owner North --block north.csv")


@pytest.mark.parametrize("more", ["", "--audit --no-look"])
def test_owners_that_a_column_names_are_read_again(more, capsys, folder):
    table = pd.read_csv("t.csv")
    table.assign(bank=np.repeat(["North", "South"], 30)).to_csv("t.csv", index=False)
    command = "blocks t.csv -t default --id customer --owner-column bank --valid v.csv -k 3 --parties anonymous"
    run(capsys, f"{command} {more} --pay 10 --receipt r.json")
    assert "every amount is the same" in run(capsys, "verify r.json --table t.csv --valid v.csv")
