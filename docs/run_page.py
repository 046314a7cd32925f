"""Run the commands of a page and write down what they print.

python docs/run_page.py docs/tutorial.md

A page is run from top to bottom, in one empty folder and one namespace:

- a block of ``python`` is executed; a block of ``text`` after it is what it prints;
- a block of ``console`` whose lines begin with ``$ shapley2d`` runs these commands; the other lines
  are what they print. A line ``...`` stands for lines that are left out;
- a block after ``<!-- file: NAME -->`` is written to that file.

The test of the documentation runs pages in the same way and compares.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from pathlib import Path
from typing import Any

BLOCK = re.compile(
    r"^(?:<!-- file: (?P<file>\S+) -->\n)?```(?P<kind>[^\n`]*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
WIDTH = 110
"""Columns of the terminal that commands of a page print to."""


def commands(code: str) -> list[tuple[str, str]]:
    """The commands of a block, and what the page says that each prints."""
    parts = re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]
    return [(one.partition("\n")[0], one.partition("\n")[2]) for one in parts]


def is_session(block: re.Match[str]) -> bool:
    """Whether a block runs the command line."""
    return block["kind"] == "console" and block["code"].startswith("$ shapley2d ")


def run_command(line: str) -> str:
    """What a command prints; notes on stderr are not part of it."""
    from shapley2d.cli import main

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        code = main(shlex.split(line)[1:])
    if code:
        raise RuntimeError(f"{line}: exit code {code}")
    return "".join(f"{text.rstrip()}\n" for text in printed.getvalue().splitlines())


def agrees(told: str, printed: str) -> bool:
    """Whether a page shows what was printed."""
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    return doctest.OutputChecker().check_output(told, printed, flags)


def rewritten(text: str) -> str:
    """The page with what its commands print now; what was left out of it stays out."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    result, end = [], 0
    for block in BLOCK.finditer(text):
        result.append(text[end : block.start()])
        shown, end = block[0], block.end()
        if block["file"]:
            Path(block["file"]).write_text(block["code"], encoding="utf-8")
        elif block["kind"] == "python":
            exec(compile(block["code"], "page", "exec"), namespace)  # noqa: S102  (our own page)
        elif is_session(block):
            lines = []
            for line, told in commands(block["code"]):
                printed = run_command(line)
                shortened = "..." in told and agrees(told, printed)
                lines.append(f"$ {line}\n{told if shortened else printed}")
            shown = f"```console\n{''.join(lines)}```"
        result.append(shown)
    return "".join([*result, text[end:]])


if __name__ == "__main__":
    page = Path(sys.argv[1]).resolve()
    os.environ["COLUMNS"] = str(WIDTH)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = rewritten(page.read_text(encoding="utf-8"))
    page.write_text(found, encoding="utf-8")
