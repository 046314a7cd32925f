"""``--help`` shows what people use, ``--help-all`` every option."""

import re

import pytest
import typer

from shapley2d import Valuation
from shapley2d.cli import main
from shapley2d.cli.app import app

COMMANDS = typer.main.get_command(app).commands


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")


def help_of(capsys, command):
    assert main(command.split()) == 0
    return " ".join(capsys.readouterr().out.replace("│", " ").split())


def flags(command):
    return {flag for option in COMMANDS[command].params for flag in option.opts if "--" in flag}


def shown(text, command):
    """The flags that stand in the tables of a help, not in the words about others."""
    return {*re.findall(r"--[a-z0-9-]+", text.split("Examples")[0])} & {*flags(command), "--help"}


@pytest.mark.parametrize("command", ["cells", "blocks"])
def test_help_shows_ten_options_and_help_all_every_one(command, capsys):
    short = help_of(capsys, f"{command} --help")
    common = set(COMMANDS[command].common)
    assert len(common) == 10
    assert common <= shown(short, command)
    # a few are named in the words about one that is shown
    assert shown(short, command) - common <= {"--help", "--help-all", "--model", "--valid"}
    n_more = len(flags(command) - common - {"--help-all"})
    assert n_more > 30
    assert short.endswith(f"{n_more} more options: shapley2d {command} --help-all")
    assert shown(help_of(capsys, f"{command} --help-all"), command) == {*flags(command), "--help"}


def test_the_other_options_work_after_a_short_help(capsys, tmp_path):
    """Options are left out of the help, not out of the command."""
    help_of(capsys, "cells --help")
    lines = [f"{i % 7},{'ab'[i % 7 > 3]}" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]))
    assert (
        main(
            [
                "cells",
                str(tmp_path / "t.csv"),
                "-t",
                "y",
                "-k",
                "2",
                "-o",
                str(tmp_path / "v.parquet"),
            ]
        )
        == 0
    )
    assert Valuation.load(tmp_path / "v.parquet").info["n_neighbors"] == 2
