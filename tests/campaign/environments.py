"""The command in odd surroundings: no home, a read-only installation, no compiler, other languages, narrow terminals, no room
for temporary files.

It works and gives the values that it gives anywhere, or it says in one line what is missing and
ends with 2.

    python -m tests.campaign.environments --count 125
"""

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

import shapley2d
from service_account import NOBODY, become_nobody, installed_read_only, reason_to_skip

from .common import main

COUNT = 125  # every environment with every command
PATIENCE_S = 600

COMMANDS = [
    ["cells", "t.csv", "-t", "größe", "-k", "3", "--cv", "2", "--json"],
    ["cells", "t.csv", "-t", "größe", "--cv", "2", "-m", "mc", "--model", "knn", "-k", "3", "--max-draws", "3",
     "--tolerance", "0", "--json"],
    ["cells", "t.csv", "-t", "größe", "--cv", "2", "-m", "forest", "--max-draws", "4", "--tolerance", "0", "--json"],
    ["cells", "t.csv", "-t", "größe", "--cv", "2", "-m", "mc", "--max-draws", "3", "--tolerance", "0", "--json"],
    ["cells", "t.csv", "-t", "größe", "--column-groups", "g=a,b", "--cv", "2", "-m", "exact", "--json"],
]  # fmt: skip
CHEAP = 3  # the command that compiles nothing

ENVIRONMENTS = {
    "as usual": {},
    "no home": {"unset": ["HOME", "XDG_CACHE_HOME"]},
    "a home that is not there": {"set": {"HOME": "/nowhere"}},
    "a service account": {"nobody": True},
    "no compiler": {"set": {"NUMBA_DISABLE_JIT": "1"}, "cheap": True},
    "LANG=C": {"set": {"LANG": "C", "LC_ALL": "C"}},
    "POSIX, no UTF-8": {
        "set": {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
        "code": 2,
    },
    "Turkish": {"set": {"LC_ALL": "tr_TR.UTF-8"}},
    "20 columns": {"set": {"COLUMNS": "20"}, "table": True},
    "1 column": {"set": {"COLUMNS": "1"}, "table": True},
    "no columns": {"set": {"COLUMNS": "0"}, "table": True},
    "columns that are no number": {"set": {"COLUMNS": "wide"}, "table": True},
    "a dumb terminal": {"set": {"TERM": "dumb"}, "table": True},
    "colours by force": {"set": {"FORCE_COLOR": "1"}, "table": True},
    "all cores": {"extra": ["-j", "-1"]},
    "three workers": {"extra": ["-j", "3"]},
    "all but many cores": {"extra": ["-j", "-100"]},
    "no folder for temporary files": {
        "set": {"TMPDIR": "/nowhere", "TEMP": "/nowhere", "TMP": "/nowhere"}
    },
    "python -OO": {"python": ["-OO"]},
    "python -I": {"python": ["-I"], "isolated": True},
    "warnings are errors": {"python": ["-W", "error"], "cheap": True},
    "few open files": {"shell": "ulimit -n 64; {}"},
    "no zone": {"set": {"TZ": "No/Where"}},
    "one thread": {"set": {"NUMBA_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}},
    "from another folder": {"read_only_folder": True},
}
"""What is odd, and what is expected then: exit code 0 and the usual values unless it says otherwise."""


class Environments:
    """Cases by number: every environment with one command, then with the next."""

    def __init__(self, folder, only_cheap=False):
        self.folder = Path(folder)
        self.folder.chmod(0o755)
        self.only_cheap = only_cheap
        rows = [f"{k * k % 11},{k % 3},n{k % 4},{'uv'[k // 2 % 2]}" for k in range(16)]
        (self.folder / "t.csv").write_text(
            "\n".join(["a,b,ö,größe", *rows]) + "\n", encoding="utf-8"
        )
        (self.folder / "o.csv").write_text(
            "owner,row,column\nAnn,0-7,\nBöb,8-15,\n", encoding="utf-8"
        )
        for path in self.folder.iterdir():
            path.chmod(0o644)
        self.usual = {}

    def __call__(self, number, random):
        names = list(ENVIRONMENTS)
        name, turn = names[number % len(names)], number // len(names)
        spec = ENVIRONMENTS[name]
        which = (
            CHEAP if self.only_cheap or (spec.get("cheap") and turn == 0) else turn % len(COMMANDS)
        )
        if spec.get("nobody") and reason_to_skip():
            return f"left out ({reason_to_skip()})"
        done = self.run(spec, COMMANDS[which])
        self.judge(name, spec, which, done)
        return "as expected"

    def judge(self, name, spec, which, done):
        wanted = spec.get("code", 0)
        assert "Traceback" not in done.stderr, f"{name}: {done.stderr}"
        assert done.returncode == wanted, f"{name}: exit {done.returncode}: {done.stderr}"
        if wanted:
            errors = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
            assert len(errors) == 1, f"{name}: {done.stderr}"
            return
        if spec.get("table"):
            return
        found = values(done.stdout)
        if name == "as usual":
            self.usual.setdefault(which, found)
        if which not in self.usual:
            self.usual[which] = values(self.run({}, COMMANDS[which]).stdout)
        assert found == self.usual[which], f"{name}: other values: {done.stdout}"

    def run(self, spec, arguments):
        arguments = [*arguments, *spec.get("extra", [])]
        if spec.get("table"):
            arguments = [word for word in arguments if word != "--json"]
        package = Path(shapley2d.__file__).parents[1]
        with ExitStack() as stack:
            place = self.folder
            environment = {**os.environ, "PYTHONPATH": str(package), **spec.get("set", {})}
            start_as = become_nobody if spec.get("nobody") else None
            if spec.get("nobody"):
                package = stack.enter_context(installed_read_only())
                temporary = stack.enter_context(tempfile.TemporaryDirectory(dir="/tmp"))
                os.chown(temporary, NOBODY, NOBODY)
                environment = {
                    "PATH": os.environ["PATH"],
                    "PYTHONPATH": str(package),
                    "TMPDIR": temporary,
                }
            for key in spec.get("unset", ()):
                environment.pop(key, None)
            if spec.get("read_only_folder"):
                place = "/"
                arguments = [
                    str(self.folder / word) if word.endswith(".csv") else word for word in arguments
                ]
            start = [sys.executable, *spec.get("python", []), "-m", "shapley2d"]
            if spec.get("isolated"):  # takes no PYTHONPATH
                load = f"import sys; sys.path.insert(0, {str(package)!r}); from shapley2d.cli import main; sys.exit(main())"
                start = [sys.executable, *spec["python"], "-c", load]
            line = [*start, *arguments]
            if "shell" in spec:
                quoted = " ".join(f"'{word}'" for word in line)
                line = ["/bin/sh", "-c", spec["shell"].format(quoted)]
            return subprocess.run(
                line, cwd=place, env=environment, capture_output=True, text=True, encoding="utf-8", errors="replace",
                timeout=PATIENCE_S, check=False, preexec_fn=start_as,
            )  # fmt: skip


def values(printed):
    """What a command printed, less what differs from run to run."""
    found = json.loads(printed)
    return {
        key: found[key]
        for key in ("total", "column_values", "lowest", "rows", "columns")
        if key in found
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        sys.exit(main("environments", __doc__, Environments(place), COUNT))
