"""Errors of the command line in this program's own words, and no longer than a line."""

import shlex

import pytest

from shapley2d.cli import main

LONG = "n" * 5000


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{k},{k % 7},,{'yes' if k % 3 else 'no'}" for k in range(40)]
    (tmp_path / "people.csv").write_text("\n".join(["age,size,empty,label", *rows]))
    (tmp_path / "long.csv").write_text("\n".join([f"age,size,{LONG},label", *rows]))


@pytest.mark.parametrize(
    "arguments",
    [
        f"cells people.csv -t {LONG}",
        f"cells people.csv -t label --{LONG}",
        f"cells people.csv -t label --method {LONG}",
        f"cells long.csv -t label --number {LONG}x",
        f"cells long.csv -t label --drop {LONG}",
        f"inspect people.csv -t {LONG}",
    ],
)
def test_messages_quote_at_most_80_characters_of_a_name(arguments, people, capsys):
    main([*shlex.split(arguments)])
    found = capsys.readouterr()
    assert "n" * 81 not in found.err
    assert len(max(found.err.splitlines(), key=len, default="")) < 600


def test_an_empty_column_is_named(people, capsys):
    assert main(shlex.split("cells people.csv -t label")) == 0
    assert (
        "column 'empty' is empty throughout: nothing can be learned from it, so drop it"
        in capsys.readouterr().err
    )


def test_more_neighbours_than_rows_have_no_score(people, capsys):
    assert main(shlex.split("cells people.csv -t label --drop empty --n-neighbors 500")) == 0
    found = capsys.readouterr()
    assert "all of them are always neighbours" in found.err
    assert "Score" not in found.out + found.err
