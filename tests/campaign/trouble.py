"""Runs that meet trouble around them: tables in other wrappings, checkpoints of blocks, models that fail, ports where nobody
or somebody else answers.

Lists give the values that a frame gives; a run of blocks leaves its own checkpoint and nothing else;
what fails is told in one line, by an error of ours, within the time it has.

    python -m tests.campaign.trouble --count 400
"""

from __future__ import annotations

import contextlib
import io
import itertools
import socket
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.naive_bayes import GaussianNB

from shapley2d import KNN, Exact, MonteCarlo, value_blocks, value_cells
from shapley2d._estimation import cluster
from shapley2d.exceptions import InputError, UtilityError

from .common import main, quiet, run_command

COUNT = 400
ANSWER_S = 1.0
PATIENCE_S = 20.0  # with which a port is waited for, on a machine that does other things too

ENTRIES = {
    "flags": lambda random, n: (random.random(n) < 0.5).tolist(),
    "flags and gaps": lambda random, n: [[True, False, None][k] for k in random.integers(0, 3, n)],
    "whole": lambda random, n: random.integers(0, 4, n).tolist(),
    "0 and 1": lambda random, n: random.integers(0, 2, n).tolist(),
    "numbers": lambda random, n: random.normal(size=n).round(2).tolist(),
    "numbers and gaps": lambda random, n: [None if k == 0 else k / 4 for k in random.integers(0, 9, n).tolist()],
    "words": lambda random, n: [["a", "b", "c"][k] for k in random.integers(0, 3, n)],
    "dates": lambda random, n: [f"2024-01-{k:02d}" for k in random.integers(1, 29, n)],
}  # fmt: skip


class Failing(ClassifierMixin, BaseEstimator):
    """A model that fails: always, with few rows or columns, without the first row, or when it predicts."""

    def __init__(self, when="always", error=ValueError, words="no"):
        self.when, self.error, self.words = when, error, words

    def fit(self, X, y):
        if (
            self.when == "always"
            or (self.when == "few rows" and len(X) < 6)
            or (self.when == "few columns" and X.shape[1] < 2)
        ):
            raise self.error(self.words)
        self.classes_, self.model_ = np.unique(y), GaussianNB().fit(X, y)
        return self

    def predict(self, X):
        if self.when == "predicting":
            raise self.error(self.words)
        return self.model_.predict(X)


class Trouble:
    """Cases by number: the kinds in turn."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.kinds = [self.wrapping, self.checkpoint, self.failing_model, self.port]

    def __call__(self, number, random):
        return self.kinds[number % len(self.kinds)](random)

    def wrapping(self, random):
        """The same table as lists, as tuples, as a dict and as frames."""
        n, names = int(random.integers(8, 20)), list(ENTRIES)
        kinds = ["flags", *random.choice(names, int(random.integers(1, 4)))]
        columns = {f"c{j}": ENTRIES[kind](random, n) for j, kind in enumerate(kinds)}
        lines = [list(line) for line in zip(*columns.values(), strict=True)]
        y = random.permutation(np.arange(n) % 2)
        method = KNN(n_neighbors=3, subsets="all")
        if not {"words", "dates"} & set(kinds) and random.random() < 0.5:
            method = method.but(metric="sqeuclidean")  # takes numbers alone
        options = {"method": method, "progress": False, "n_jobs": 1}
        tables = {
            "frame": pd.DataFrame(columns),
            "dict": columns,
            "lists": lines,
            "tuples": [tuple(line) for line in lines],
            "objects": pd.DataFrame(columns, dtype=object),
        }
        found = {}
        for name, table in tables.items():
            found[name] = quiet(value_cells, table, y, table, y, **options).values
        for name, values in found.items():
            assert np.array_equal(values, found["frame"]), f"{name} and frame differ: {kinds}"
        return "same in every wrapping"

    def checkpoint(self, random):
        """``blocks --checkpoint``: one file when the run is done, whatever it tried in between."""
        with tempfile.TemporaryDirectory(dir=self.folder) as place:
            self.write(random, place, 16)
            before = set(Path(place).iterdir())
            parties = ["anonymous", "known"][random.integers(2)]
            method = ["mc", "exact"][random.integers(2)] if parties == "known" else "mc"
            line = ["blocks", f"{place}/t.csv", "-t", "y", "--owners", f"{place}/o.csv", "--parties", parties,
                    "-m", method, "--model", "gaussian_nb", "--valid", f"{place}/v.csv", "--valid-parts",
                    str(random.integers(2, 5)), "--checkpoint", f"{place}/run.npz", "--json"]  # fmt: skip
            if method == "mc":
                line += ["--max-permutations", "3", "--tolerance", "0"]
            code, _, err = run_command(line)
            assert code == 0, err
            left = {path.name for path in set(Path(place).iterdir()) - before}
            assert left <= {"run.npz", "run.npz.previous"}, f"left behind: {sorted(left)}"
        return "one checkpoint left"

    def failing_model(self, random):
        """A model that fails inside of blocks: one line that has the model's own words."""
        n = 12
        X = pd.DataFrame(random.normal(size=(n, 4)), columns=list("abcd"))
        y = np.arange(n) % 2
        when = ["always", "few rows", "few columns", "predicting"][random.integers(4)]
        error = [ValueError, RuntimeError, KeyError, ZeroDivisionError, OSError, np.linalg.LinAlgError][random.integers(6)]  # fmt: skip
        owners = [
            {"owner": "Ann", "row": "0-5", "column": ""},
            {"owner": "Bob", "row": "6-11", "column": ""},
        ]
        parties = ["anonymous", "known"][random.integers(2)]
        words = f"it is {random.integers(10**6)}\nand more"
        model = Failing(when, error, words)
        method = Exact(model) if parties == "known" else MonteCarlo(model, max_permutations=1)
        try:
            v = quiet(
                value_blocks, X, y, X, y, owners=pd.DataFrame(owners), parties=parties, progress=False,
                method=method, n_jobs=int(random.integers(1, 3)) if random.random() < 0.1 else 1,
            )  # fmt: skip
        except (UtilityError, InputError) as refused:
            told = str(refused)
            assert words.split("\n", maxsplit=1)[0] in told, told
            code, _, err = run_failing(refused)
            assert code == 2 and "\n" not in err.strip() and "Traceback" not in err, err
            return "failure told"
        assert when in ("few rows", "few columns") and np.isfinite(v.values).all()
        return "valued without it"

    def port(self, random):
        """A scheduler's address where nobody answers, nobody speaks, or somebody else does."""
        kind = ["closed", "silent", "hangs up", "another", "noise", "no port", "no host"][
            random.integers(7)
        ]
        words = {"another": b"SSH-2.0-OpenSSH_9.6\r\n", "noise": random.bytes(64)}.get(kind, b"")
        before, cluster._ANSWER_S = cluster._ANSWER_S, ANSWER_S
        start = time.monotonic()
        try:
            with answering(words, hangs_up=kind == "hangs up") as number:
                address = f"tcp://127.0.0.1:{number}"
                if kind == "closed":
                    address = "tcp://127.0.0.1:9"
                if kind in ("no port", "no host"):
                    address = {"no port": "localhost", "no host": "tcp://nowhere.invalid:8786"}[
                        kind
                    ]
                self.write(random, self.folder, 12)
                code, _, err = run_command(
                    ["cells", f"{self.folder}/t.csv", "-t", "y", "-m", "mc", "--model", "gaussian_nb",
                     "--max-permutations", "2", "--cluster", address]
                )  # fmt: skip
        finally:
            cluster._ANSWER_S = before
        assert code == 2, f"{kind}: exit {code}: {err}"
        assert "--cluster" in err, f"{kind}: {err}"
        assert time.monotonic() - start < PATIENCE_S, (
            f"{kind}: it took {time.monotonic() - start:.0f} s"
        )
        return "told that no scheduler answers"

    def write(self, random, place, n):
        """A table, another to validate with, and its owners."""
        for name in ("t", "v"):
            frame = pd.DataFrame(random.normal(size=(n, 3)).round(2), columns=list("abc"))
            frame["y"] = ["no", "yes"] * (n // 2)
            frame.to_csv(Path(place) / f"{name}.csv", index=False)
        half = n // 2
        (Path(place) / "o.csv").write_text(
            f"owner,row,column\nAnn,0-{half - 1},\nBob,{half}-{n - 1},a;b\nCem,{half}-{n - 1},c\n",
            encoding="utf-8",
        )


def run_failing(error):
    """What the command line makes of an error."""
    from shapley2d.cli.errors import report_error

    err = io.StringIO()
    with contextlib.redirect_stderr(err):
        code = report_error(error)
    return code, "", err.getvalue()


@contextlib.contextmanager
def answering(words, *, hangs_up):
    """A port that takes connections, says something, and keeps them or not."""
    held = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet():
            with contextlib.suppress(OSError):
                for _ in itertools.count():
                    line = server.accept()[0]
                    held.append(line)
                    with contextlib.suppress(OSError):
                        line.sendall(words)
                    if hangs_up:
                        line.close()

        threading.Thread(target=greet, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            for line in held:
                line.close()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(main("trouble", __doc__, Trouble(place), COUNT))
