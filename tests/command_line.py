"""The command line as a function: a command as one writes it, its exit code, what it prints."""

import shlex

from shapley2d.cli import main


def run(capsys, command, code=0):
    """Standard output and standard error of a command that ends with this exit code."""
    assert main(shlex.split(command)) == code
    return capsys.readouterr()


def errors(told):
    """Lines on standard error but for notes, of which a busy machine has some."""
    return [line for line in told.splitlines() if not line.startswith("note: ")]
