"""``shapley2d verify``: what holds, what differs, and exit codes."""

import json

import pandas as pd
import pytest

import fragment_files
from command_line import errors, run
from fragment_files import COMMAND, FILES

DATA = f"{FILES} --labels labels.csv --valid valid.csv"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A folder with files and their receipt, made once."""
    from shapley2d import value_fragments

    folder = tmp_path_factory.mktemp("receipt")
    fragment_files.write(folder)
    found = value_fragments(
        {name: folder / f"{name}.csv" for name in fragment_files.PIECES},
        "default",
        folder / "valid.csv",
        labels=folder / "labels.csv",
        on="customer",
        method="tree",
        progress=False,
    )
    found.receipt(folder / "r.json", pay=1000)
    return folder


@pytest.fixture(autouse=True)
def folder(tmp_path, made, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for path in made.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


def lines(capsys, command, code=0):
    return run(capsys, command, code).out.splitlines()


def test_a_receipt_by_itself(capsys):
    first, *rest = lines(capsys, "verify r.json")
    assert first.startswith("r.json: 3 contributors share 1000.00; dated 20")
    assert " UTC, by shapley2d " in first
    assert rest == [
        "- Nothing in the receipt was changed: its digest fits.",
        "- The receipt is not signed: anyone could have written it.",
        "- The payments of 1000.00 follow from the values to the cent.",
    ]


def test_a_receipt_from_the_files(capsys):
    told = lines(capsys, f"verify r.json {DATA} -j 1")
    assert told[-1] == "- Computed again from the files: 3 values, all the same."
    assert "- (validation): the same file." in told
    told = lines(capsys, f"verify r.json {FILES} labels.csv valid.csv")  # as *.csv gives them
    assert told[-1] == "- Computed again from the files: 3 values, all the same."


def test_files_are_matched_by_name_or_by_what_they_hold(capsys, folder):
    (folder / "shop.csv").rename("mine.csv")
    (folder / "north.csv").rename("other.csv")
    told = lines(capsys, "verify r.json mine.csv north=other.csv")
    assert "- shop: the same file." in told and "- north: the same file." in told
    assert told[-1] == (
        "- The values were not computed again: give 'south', '(labels)', '(validation)', too."
    )


def test_what_differs_is_named_and_the_exit_code_is_1(capsys, folder):
    table = pd.read_csv("shop.csv")
    table["spent"] = -table["spent"]
    table.to_csv("shop.csv", index=False)
    told = lines(capsys, f"verify r.json {DATA}", 1)
    assert "- differs: shop: not the file that was valued." in told
    assert any(line.startswith("- differs: the value of 'shop' is ") for line in told)
    record = json.loads((folder / "r.json").read_text())
    record["contributors"][0]["amount"] = "900.00"
    (folder / "r.json").write_text(json.dumps(record))
    told = lines(capsys, "verify r.json", 1)
    assert told[1].startswith("- differs: the receipt's digest does not fit")
    assert any(line.startswith("- differs: 'north' is paid 900.00, its value") for line in told)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("verify north.csv", "north.csv is refused: it is not JSON: "),
        ("verify nowhere.json", "nowhere.json cannot be read: No such file or directory"),
        ("verify r.json nowhere.csv", "nowhere.csv"),
        ("verify r.json --public-key north.csv", "is not a PEM file with a public Ed25519 key"),
    ],
)
def test_input_that_cannot_be_read_is_named_in_one_line(command, message, capsys, folder):
    if "public-key" in command:
        sign(folder)
    told = errors(run(capsys, command, 2).err)
    assert len(told) == 1 and message in told[0]


def sign(folder):
    """A receipt signed with a new key, and its public key."""
    pytest.importorskip("cryptography")
    from cryptography.hazmat.primitives import serialization as s
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    for name in ("buyer", "other"):
        private = Ed25519PrivateKey.generate()
        pem = private.private_bytes(s.Encoding.PEM, s.PrivateFormat.PKCS8, s.NoEncryption())
        (folder / f"{name}.pem").write_bytes(pem)
        public = private.public_key()
        pem = public.public_bytes(s.Encoding.PEM, s.PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{name}.pub").write_bytes(pem)
    from shapley2d.cli import main

    assert main([*COMMAND.split(), "--receipt", "r.json", "--key", "buyer.pem"]) == 0


def test_signed_receipts_say_by_whom(capsys, folder):
    sign(folder)
    capsys.readouterr()
    assert "- It was signed with the key of buyer.pub." in lines(
        capsys, "verify r.json --public-key buyer.pub"
    )
    assert lines(capsys, "verify r.json")[2].startswith("- It was signed with the key ")
    told = lines(capsys, "verify r.json --public-key other.pub", 1)
    assert "- differs: the receipt was signed with another key than that of other.pub." in told


def test_a_joined_file_is_verified_with_its_owners(capsys, folder):
    fragment_files.people(80).to_csv("all.csv", index=False)
    (folder / "owners.csv").write_text("owner,row,column\nA,,age;limit\nB,,town;spent\n")
    command = "fragments all.csv --owners owners.csv --on customer -t default --valid valid.csv"
    run(capsys, f"{command} -m tree --receipt r.json")
    told = lines(capsys, "verify r.json all.csv owners.csv valid.csv")
    assert told[-1] == "- Computed again from the files: 2 values, all the same."
