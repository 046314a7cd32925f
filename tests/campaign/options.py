"""Options of every function, method and command with values of every wrong kind.

The options come from signatures and from the methods' classes, so a new one is covered as soon as
it exists. From Python a case ends with values or with an error of ours that says what is wrong; from the command
line with 0 or 2, and one line.

    python -m tests.campaign.options --count 20000
"""

import contextlib
import inspect
import sys
import tempfile
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

import shapley2d
from shapley2d import KNN, CellValuer, inspect_cells, value_cells, value_game
from shapley2d._methods.method import options_of
from shapley2d._valuation.methods import BUILT_IN
from shapley2d.cli.app import SUMMARIES, load
from shapley2d.cli.options import flag_of
from shapley2d.exceptions import InputError, UtilityError

from .common import main, quiet, run_command

COUNT = 20_000
OURS = (InputError, UtilityError)

X = np.array([[k * 7 % 5, k * 3 % 11] for k in range(8)], dtype=float)
Y = np.array(["u", "v"] * 4)
CHEAP = {"max_draws": 4, "tolerance": 0}  # settings that keep a method short


class Strange:
    """An object that hates to be looked at."""

    def __repr__(self):
        raise RuntimeError("no")

    __hash__ = None


JUNK = [
    None, True, False, -1, 0, 1, 2, 3.0, 0.5, -0.5, 1e-300, 1e300, 5e-324, float("nan"), float("inf"), -float("inf"), 10**30,
    10**400, 10**5000, -(10**30), 2**63, "", "x", "auto", "None", "1", "é\x1b[1m", "a" * 10_000, b"x", [], [1], ["x"], [[]], {},
    {"a": 1}, {1}, (), (1, 2), ("beta", 1, 2), ("beta", "x", None), ("beta", 10**400, 1), object(), object, Ellipsis, range(3),
    np.array([1, 2]), np.array([]), np.array("x"), np.float64("nan"), np.int64(3), np.float32(0.5), np.bool_(1), np.str_("x"),
    1j, Decimal("NaN"), Decimal("sNaN"), Fraction(1, 3), lambda *_: 0.0, print, Path("/nowhere/x"), Path(), "/nowhere/x",
    Strange(), InputError, memoryview(b"x"), iter([]), np.ma.masked, np.datetime64("NaT"), float,
]  # fmt: skip
WORDS = [
    "", "x", "-1", "0", "1", "2", "0.5", "nan", "inf", "-inf", "1e-300", "1e400", "9" * 30, "1_0", "0x1", "é", "\x1b[1m\x9b", "a,b",
    ",", "--", "-", ".", "/", "/nowhere/x.csv", "true", "None", "auto", "beta:", "beta:1", "beta:1,2,3", "beta:nan,1", "\u202e",
    "a" * 5000, "knn", "t.csv", "t.csv/x", "*", "$(id)", "'", '"', "\\", "\n", "\t", "utf-16", "punycode", "y", "a", "٣", "１",  # noqa: RUF001
]  # fmt: skip


def left_out(option, value):
    """An address is waited for, and a function that fails when it is told of progress fails by itself."""
    return (option == "cluster" and isinstance(value, str)) or (
        option == "progress" and callable(value)
    )


def game(S, F):
    return float(S.sum() * F.sum())


def python_calls():
    """Every function with every option that it takes: what it is called, the option, and the call."""
    calls = []
    for name, kind in BUILT_IN.items():
        functions = [
            (value_cells, partial(value_cells, X, Y, cv=2, progress=False)),
            (CellValuer, fit),
        ]
        if kind.name in ("mc", "exact"):
            functions.append((value_game, partial(value_game, h=game, n_rows=3, n_columns=2)))
        for function, call in functions:
            known = [option for option in keywords(function) if option != "method"]
            calls += [
                (f"{function.__name__} {name}", option, partial(with_method, kind, call))
                for option in (*known, *options_of(kind))
            ]
    calls += [("value_cells", "method", partial(value_cells, X, Y))]
    calls += [("value_game", "method", partial(value_game, game, 3, 2))]
    for option in ("X", "y", "X_valid", "y_valid"):
        calls.append(("value_cells tables", option, table_call))
    for option in ("y", "valuation", "task", "kinds", "random_state", "n_jobs", "progress"):
        calls.append(("inspect_cells", option, partial(inspect_cells, X)))
    valuation = value_cells(X, Y, cv=2, progress=False)
    options = {"lowest": "n", "highest": "n", "explain_row": "row", "sum_by": "groups"}
    for name, option in options.items():
        calls.append((f"Valuation.{name}", option, getattr(valuation, name)))
    return calls


def keywords(function):
    """The parameters of a function, but for its tables."""
    tables = ("X", "y", "X_valid", "y_valid")
    return [name for name in inspect.signature(function).parameters if name not in tables]


def with_method(kind, call, **given):
    """Make a method of the options that are its own, and call a function with the others."""
    own = {name: value for name, value in CHEAP.items() if name in options_of(kind)}
    own |= {name: given.pop(name) for name in options_of(kind) if name in given}
    return call(method=kind(**own), **given)


def fit(**options):
    return CellValuer(**{"cv": 2, **options}).fit(X, Y)


def table_call(**changed):
    given = {"X": X, "y": Y, "X_valid": X, "y_valid": Y, **changed}
    return value_cells(given.pop("X"), given.pop("y"), method=KNN(n_neighbors=2), **given)


class Options:
    """Cases by number: first every option with every value, then two at a time."""

    def __init__(self, folder):
        self.folder = Path(folder)
        rows = "\n".join(f"{k * k % 7},{k % 3},{'uv'[k % 2]}" for k in range(12))
        (self.folder / "t.csv").write_text(f"a,b,y\n{rows}\n")
        self.calls = python_calls()
        self.flags = command_flags()

    def total(self):
        """Cases that try every option with every value once."""
        return len(self.calls) * len(JUNK) + len(self.flags) * len(WORDS)

    def __call__(self, number, random):
        n_python = len(self.calls) * len(JUNK)
        # a large step that shares no factor visits all of them in an order that mixes everything
        place = (number * 1_000_003) % self.total()
        if place < n_python:
            what, option, call = self.calls[place // len(JUNK)]
            given = {option: JUNK[place % len(JUNK)]}
            if number >= self.total():
                others = [c for c in self.calls if c[0] == what]
                given[others[random.integers(len(others))][1]] = JUNK[random.integers(len(JUNK))]
            return self.python(what, call, given)
        place -= n_python
        name, flag, extra = self.flags[place // len(WORDS)]
        given = [flag, WORDS[place % len(WORDS)]]
        return self.shell(name, [*extra, *given])

    def python(self, what, call, given):
        if any(left_out(name, value) for name, value in given.items()):
            return "left out"
        try:
            with contextlib.chdir(self.folder):  # a checkpoint may be called anything
                result = quiet(call, **given)
        except OURS as error:
            text = str(error)
            assert text and "\n" not in text.strip(), (what, given.keys(), text)
            assert len(text) < 2000, (what, given.keys(), len(text))
            return "refused"
        except Exception as error:
            shown = {name: describe(value) for name, value in given.items()}
            raise AssertionError(f"{what} {shown}: {type(error).__name__}: {error}") from error
        values = getattr(result, "values", None)
        if (
            isinstance(values, np.ndarray)
            and values.dtype.kind == "f"
            and isinstance(result, shapley2d.Valuation)
        ):
            assert np.isfinite(values).all(), (
                what,
                {name: describe(value) for name, value in given.items()},
            )
        return "valued"

    def shell(self, name, arguments):
        with contextlib.chdir(self.folder):
            return f"command {run_command(arguments)[0]}"


def describe(value):
    try:
        return repr(value)[:80]
    except Exception:  # noqa: BLE001
        return f"<{type(value).__name__}>"


def command_flags():
    """Every option of every command, with the words that come before it."""
    found = []
    before = {
        "cells": ["cells", "t.csv", "-t", "y", "--cv", "2", "--top", "1"],
        "report": ["report", "v.parquet"],
        "inspect": ["inspect", "t.csv", "-t", "y", "--top", "1"],
        "repair": ["repair", "t.csv", "d.csv", "-o", "c.csv"],
        "demo": ["demo", "--json"],
    }
    takers = {flag_of(one): name for name, kind in BUILT_IN.items() for one in options_of(kind)}
    for name in SUMMARIES:
        for parameter in load(name).params:
            flag = (getattr(parameter, "opts", None) or [""])[0]
            if (
                not flag.startswith("-")
                or getattr(parameter, "is_flag", False)
                or name == "demo"
                or flag == "--cluster"
            ):
                continue
            extra = before[name]
            if name == "cells":
                extra = [*extra, "-m", takers.get(flag, "knn")]
                if takers.get(flag) == "mc" and flag != "--max-draws":
                    extra = [*extra, "--max-draws", "3"]
            if flag in ("--method", "--cv", "--top", "--target"):
                extra = [
                    word
                    for k, word in enumerate(extra)
                    if word not in (flag, "-m", "-t")
                    and (k == 0 or extra[k - 1] not in (flag, "-m", "-t"))
                ]
            found.append((name, flag, extra))
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        sys.exit(main("options", __doc__, Options(place), COUNT))
