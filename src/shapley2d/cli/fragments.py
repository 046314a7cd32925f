"""``shapley2d fragments``: what each contributor's piece of a table is worth."""

from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from shapley2d._base.defaults import FOLDS
from shapley2d._base.words import counted, format_seconds, is_share, printable
from shapley2d._valuation.wording.units import Unit
from shapley2d._version import __version__
from shapley2d.cli.console import (
    ResultConsole,
    collect_notes,
    make_table,
    progress,
    shown,
    warnings_as_notes,
)
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.methods import parse_semivalue
from shapley2d.cli.options import FragmentOptions, RunOptions
from shapley2d.cli.writing.outputs import (
    before_writing,
    check_outputs,
    start_clock,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.writing.summary import print_files, print_json
from shapley2d.exceptions import InputError

SCORES = {
    "probability": "mean probability of the right label",
    "r2": "R squared",
    "roc_auc": "AUC",
    "neg_log_loss": "mean log of the right label's probability",
}
_SETS = 12  # lines of best sets


def fragments(of: FragmentOptions, run: RunOptions) -> None:
    """Value what each contributor's piece of a table is worth, and split a payment."""
    limit = start_clock(run)
    named = named_files(of.fragments)
    others = [one for one in (of.labels, of.valid, of.owners, of.costs) if one is not None]
    outputs = (run.output, run.report)
    check_outputs(*outputs, [*named.values(), *others], run.checkpoint, of.receipt)
    _check(of)
    weights, costs = parse_semivalue(run.semivalue), read_costs(of.costs)
    notes = collect_notes()

    from shapley2d import value_fragments

    names = {**named, "labels": of.labels, "X_valid": of.valid, "owners": of.owners}
    names |= {"X": of.fragments[0], "y": f"column {of.target!r}"}
    known = {name: str(path) for name, path in names.items() if path is not None}
    with warnings_as_notes(known), computing(known, run.checkpoint):
        valuation = value_fragments(
            named if of.owners is None else of.fragments[0],
            of.target,
            of.valid,
            labels=of.labels,
            owners=of.owners,
            kinds={name: kind for kind, listed in of.kinds.items() for name in listed} or None,
            cv=FOLDS if of.cv is None else of.cv,
            semivalue=weights,
            max_time=before_writing(limit, run, 0),
            progress=progress(),
            **{name: getattr(of, name) for name in _QUESTION},
            **{name: getattr(run, name) for name in _RUN},
        )
        best = valuation.best_sets(costs=costs, budget=of.budget).to_pylist()
        paid, undivided = None, None
        try:
            if of.pay is not None:
                paid = valuation.payments(of.pay, trusted=of.trusted).to_pylist()
        except InputError as error:  # values are shown and written all the same
            undivided = error
    files, failed = write_outputs(
        [
            ("values", run.output, lambda path: write_values(valuation, path)),
            ("report", run.report, lambda path: valuation.to_html(path, notes=notes)),
            (
                "receipt",
                of.receipt if undivided is None else None,
                lambda path: valuation.receipt(path, pay=of.pay, trusted=of.trusted, key=of.key),
            ),
        ]
    )
    facts = _facts(valuation, of, named, paid, best)
    if run.as_json:
        print_json({**facts, "settings": valuation.info, "files": {k: str(v) for k, v in files.items()}})
    else:
        _print_summary(facts, valuation)
        print_files(files, ResultConsole())
    stop_if_unwritten(failed)
    if undivided is not None:
        raise undivided
    stop_if_partial(valuation)


_QUESTION = ("on", "by", "disagree", "method", "task", "scoring")
_RUN = ("random_state", "n_jobs", "checkpoint", "cluster")


def named_files(given: list[str]) -> dict[str, str]:
    """Files by the name of their contributor: ``NAME=FILE``, or the file's name."""
    named: dict[str, str] = {}
    for text in given:
        name, mark, path = text.partition("=")
        if not mark or Path(text).exists():
            name, path = Path(text).name.split(".")[0], text
        if name in named:
            raise InputError(
                f"{named[name]} and {path} are both named {name!r}: give one another name, as in "
                f"OTHER={path}"
            )
        named[name] = path
    return named


def read_costs(path: str | None) -> dict[str, float] | None:
    """What contributors cost, from a file with the columns ``contributor`` and ``cost``."""
    if path is None:
        return None
    table = clean_texts(read_table(path).table)
    for name in ("contributor", "cost"):
        find_column(name, table.column_names, "--costs", path)
    costs: dict[str, float] = {}
    for who, cost in zip(*(table[name].to_pylist() for name in ("contributor", "cost")), strict=True):
        try:
            costs[str(who)] = float(cost)
        except (TypeError, ValueError):
            raise InputError(f"--costs {path}: the cost of {who!r} is no number: {cost!r}") from None
    return costs


def _check(of: FragmentOptions) -> None:
    """Refuse before the work what could not be done after it."""
    if of.pay is not None and of.valid is None and not of.trusted:
        raise InputError(
            "--pay needs --valid: without it contributors' rows test each other, and invented rows "
            "vouch for each other; add --trusted if all are trusted"
        )
    goes_with = {
        "--key": (of.key, "--receipt", of.receipt),
        "--budget": (of.budget, "--costs", of.costs),
    }
    for flag, (value, other, needed) in goes_with.items():
        if value is not None and needed is None:
            raise InputError(f"{flag} goes with {other}: give it too, or leave {flag} out")
    if of.valid is not None and of.cv is not None:
        raise InputError("--valid and --cv exclude each other: give one of them")
    if of.owners is not None and len(of.fragments) > 1:
        raise InputError("--owners is about one joined file: give one FILE, or leave --owners out")
    if of.key is not None:
        sign(b"", of.key)


def _facts(
    valuation: Any, of: FragmentOptions, named: dict[str, str], paid: Any, best: list[Any]
) -> dict[str, Any]:
    """What is printed, as one record for machines; contributors by worth."""
    found, values = valuation._fragments, valuation.row_values
    half = valuation._interval_factor * valuation.row_stderr
    amounts = {line["owner"]: line for line in paid or []}
    each = [
        {
            "contributor": str(name),
            "file": named.get(str(name)) if of.owners is None else None,
            "value": float(values[k]),
            "low": float(values[k] - half[k]),
            "high": float(values[k] + half[k]),
            "amount": amounts[str(name)]["amount"] if paid else None,
            "alone": float(found.alone[k]),
            "without": float(found.without[k]),
            "cells": int(found.cells[k].sum()),
        }
        for k, name in enumerate(valuation.row_names)
    ]
    every = found.n_rows * len(found.columns)
    return {
        "schema": "shapley2d fragments 1",
        "version": __version__,
        "target": found.target,
        "valid": of.valid,
        "rows": found.n_rows,
        "columns": found.columns,
        "held": int(found.union.sum()) / every,
        "held_twice": int(found.overlap.sum()) / every,
        "labels": list(found.labels) or None,
        "score": found.score,
        "baseline": found.baseline,
        "total": valuation.total,
        "validation_rows": found.n_valid,
        "crossed": found.crossed,
        "contributors": sorted(each, key=lambda one: -one["value"]),
        "values": valuation.values.tolist() if found.by == "column" else None,
        "paid": None if of.pay is None else float(of.pay),
        "best_sets": best,
        "how": {"sets": found.how, "orders": found.n_orders, "trained": found.n_trained},
        "seconds": found.seconds,
        "partial": bool(valuation.info.get("interrupted")),
    }


def _print_summary(facts: dict[str, Any], valuation: Any) -> None:
    console = ResultConsole()

    def say(words: str) -> None:
        console.print(Text(printable(words, "\n")), soft_wrap=True)

    unit = _unit(facts)
    say("\n".join(_headline(facts)) + "\n")
    console.print(_contributors(facts, unit))
    if facts["values"] is not None:
        console.print(_by_column(facts, valuation, unit))
    say("\n" + "\n".join(_assumed(facts, valuation)))
    console.print(_best(facts, unit))
    
