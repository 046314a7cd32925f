"""``--help`` shows every option of a command, in panels, and what the methods do."""

import re
import subprocess
import sys

import pytest

from command_line import run
from shapley2d import __version__
from shapley2d._valuation.methods import all_methods
from shapley2d.cli import main
from shapley2d.cli.app import SUMMARIES, load

COMMANDS = {name: load(name) for name in SUMMARIES}


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_shows_every_option(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    assert main([command, "--help"]) == 0
    text = capsys.readouterr().out
    flags = {flag for one in COMMANDS[command].params for flag in one.opts if "--" in flag}
    assert flags <= {*re.findall(r"--[a-z0-9-]+", text.split("Examples")[0])}
    assert f"shapley2d {command}" in text.split("Examples", 1)[1]
    panels = re.findall(r"─ (\w+) ─", text)
    if command == "cells":
        assert panels[:3] == ["Arguments", "Options", "Question"] and panels[-1] == "Output"
    if command == "cells":
        told = " ".join(text.split())
        assert all(
            f"{name} {' '.join(one.summary.split())}" in told for name, one in all_methods().items()
        )


def test_the_list_of_commands_says_the_first_sentence_of_each():
    assert {
        name: " ".join(one.help.split("\n\n")[0].split()) for name, one in COMMANDS.items()
    } == SUMMARIES


def test_help_loads_no_numbers():
    """``--help`` answers at once: what computes loads with the command that is called."""
    code = "import sys; from shapley2d.cli import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "narwhals", "numba", "pyarrow", "rich"} & set(done.stdout.split())


def test_version_and_commands(capsys):
    assert run(capsys, "--version").out == f"shapley2d {__version__}\n"
    assert "cells" in run(capsys, "").out
