"""What the scripts share: their arguments, a random stream per case, and the summary."""

from __future__ import annotations

import argparse
import contextlib
import io
import sys
import time
import traceback
import unicodedata
import warnings
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.cli import main as command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_TOLD_EVERY_S = 30.0
_CONTROL = ("Cc", "Cf", "Cs", "Zl", "Zp")


def quiet(function, *arguments, **options):
    """Call a function; its warnings are of no interest, a panic of a library in Rust is a failure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*arguments, **options)
        except (Exception, KeyboardInterrupt):
            raise
        except BaseException as panic:
            raise AssertionError(f"{type(panic).__name__}: {panic}") from panic


def run_command(arguments):
    """A command in this process: its exit code and what it printed.

    It ends with 0, or with 2 and one line of error; no letter steers a terminal.
    """
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = command(arguments)
    printed, told = out.getvalue(), err.getvalue()
    assert code in (0, 2), f"exit {code}: {told} {arguments}"
    errors = [line for line in told.splitlines() if not line.startswith("note: ")]
    assert len(errors) == (1 if code else 0), f"{told} {arguments}"
    letters = {*printed, *told} - {*"\n\u200c\u200d"}
    wrong = [one for one in letters if unicodedata.category(one) in _CONTROL]
    assert not wrong, f"{wrong!r} reached the terminal: {arguments}"
    return code, printed, told


def run_cases(
    name: str, case: Callable[[int, np.random.Generator], str], cases: Iterable[int], seed: int
) -> tuple[Counter[str], list[str]]:
    """Run cases by number; each returns how it ended in a word, or raises. Returns the counts and the failures."""
    outcomes: Counter[str] = Counter()
    failures: list[str] = []
    told = time.monotonic()
    for number in cases:
        try:
            outcomes[case(number, np.random.default_rng((seed, number)))] += 1
        except Exception as error:  # noqa: BLE001  (whatever it is, it is told with the number that repeats it)
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
            failures.append(
                f"--seed {seed} --only {number}: {type(error).__name__} at {where}: {error}"
            )
            print(f"{name}: FAILED {failures[-1]}", file=sys.stderr, flush=True)
        if time.monotonic() - told > _TOLD_EVERY_S:
            told = time.monotonic()
            print(f"{name}: {summary(outcomes, failures)}", file=sys.stderr, flush=True)
    return outcomes, failures


def summary(outcomes: Counter[str], failures: list[str]) -> str:
    """One line of counts."""
    total = sum(outcomes.values()) + len(failures)
    parts = [f"runs={total}", *(f"{word}={outcomes[word]}" for word in sorted(outcomes))]
    return ", ".join([*parts, f"failures={len(failures)}"])


def run_short(name, case, cases, seed=0):
    """Cases as a test: none may fail. Returns the counts."""
    outcomes, failures = run_cases(name, case, cases, seed)
    assert not failures, summary(outcomes, failures)
    return outcomes


def main(
    name: str, doc: str | None, case: Callable[[int, np.random.Generator], str], count: int
) -> int:
    """Run a script: the cases of ``--seed`` up to ``--count``, or ``--only`` one of them."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.campaign.{name}", description=doc)
    parser.add_argument(
        "--count", type=int, default=count, help="how many cases (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="of all cases (default: %(default)s)")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first case, to go on from (default: 0)"
    )
    parser.add_argument("--only", type=int, default=None, metavar="NUMBER", help="one case alone")
    given = parser.parse_args()
    cases = range(given.first, given.count) if given.only is None else [given.only]
    begin = time.monotonic()
    outcomes, failures = run_cases(name, case, cases, given.seed)
    for failure in failures:
        print(failure)
    print(
        f"{name}: {summary(outcomes, failures)} (seed {given.seed}, {time.monotonic() - begin:.0f} s)"
    )
    return 1 if failures else 0
