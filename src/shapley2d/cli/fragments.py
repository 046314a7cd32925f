"""``shapley2d fragments``: what each contributor's piece of a table is worth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from shapley2d._base.defaults import FOLDS
from shapley2d._base.words import counted, format_seconds, printable, shorten
from shapley2d._fragments.best_sets import read_costs
from shapley2d._fragments.payments import UNTRUSTED, units_of
from shapley2d._fragments.signature import sign
from shapley2d._tables.convert import as_table
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
from shapley2d.cli.reading.columns import find_column
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

_SCORES = {
    "probability": "mean probability of the right label",
    "r2": "R squared",
    "roc_auc": "AUC",
    "neg_log_loss": "mean log of the right label's probability",
}
_QUESTION = ("labels", "owners", "on", "by", "disagree", "method", "task", "scoring")
_RUN = ("random_state", "n_jobs", "checkpoint", "cluster")
_SETS, _COLUMNS = 12, 8  # lines and columns of tables


def fragments(of: FragmentOptions, run: RunOptions) -> None:
    """Value what each contributor's piece of a table is worth, and split a payment."""
    limit, named = start_clock(run), named_files(of.fragments)
    names = {**named, "X": of.fragments[0], "y": f"column {of.target!r}"}
    others = {"labels": of.labels, "X_valid": of.valid, "owners": of.owners, "costs": of.costs}
    names |= {name: path for name, path in others.items() if path is not None}
    check_outputs(run.output, run.report, [*names.values()], run.checkpoint, of.receipt)
    _check(of)
    notes, weights = collect_notes(), parse_semivalue(run.semivalue)

    from shapley2d import value_fragments

    with warnings_as_notes(names), computing(names, run.checkpoint):
        costs = None if of.costs is None else _costs(of.costs, [*named])
        valuation = value_fragments(
            named if of.owners is None else of.fragments[0],
            of.target,
            of.valid,
            **{name: getattr(of, name) for name in _QUESTION},
            **{name: getattr(run, name) for name in _RUN},
            kinds={name: kind for kind, listed in of.kinds.items() for name in listed} or None,
            cv=FOLDS if of.cv is None else of.cv,
            semivalue=weights,
            max_time=before_writing(limit, run, 0),
            progress=progress(),
        )
        valuation = replace(valuation, _frame="pyarrow")
        best = valuation.best_sets(costs, of.budget).to_pylist()
        paid, undivided = [], None
        try:
            if of.pay is not None:
                paid = valuation.payments(of.pay, trusted=of.trusted).to_pylist()
        except InputError as error:  # values are shown and written all the same
            undivided = error
    receipt = of.receipt if undivided is None else None
    files, failed = write_outputs(
        [
            ("values", run.output, lambda path: write_values(valuation, path)),
            ("report", run.report, lambda path: valuation.to_html(path, notes=notes)),
            (
                "receipt",
                receipt,
                lambda path: valuation.receipt(path, pay=of.pay, trusted=of.trusted, key=of.key),
            ),
        ]
    )
    facts = _facts(valuation, of, named, paid) | {"best_sets": best}
    if run.as_json:
        written = {what: str(path) for what, path in files.items()}
        print_json(facts | {"settings": valuation.info, "files": written})
    else:
        console = ResultConsole()
        _print_summary(facts, valuation, console)
        print_files(files, console)
    stop_if_unwritten(failed)
    if undivided is not None:
        raise undivided
    stop_if_partial(valuation)


def named_files(given: list[str]) -> dict[str, str]:
    """Files by the name of their contributor: ``NAME=FILE``, or the file's name."""
    named: dict[str, str] = {}
    for text in given:
        name, _, path = text.rpartition("=")
        if not name or Path(text).exists():
            name, path = Path(text).name.split(".")[0], text
        if name in named:
            raise InputError(f"two files are named {name!r}: name one, as in OTHER={path}")
        named[name] = path
    return named


def _costs(path: str, names: list[str]) -> dict[str, float]:
    """What contributors cost, from a file with the columns ``contributor`` and ``cost``."""
    columns = {column.name: column for column in as_table(path, "costs").columns}
    for name in ("contributor", "cost"):
        find_column(name, [*columns], "--costs", path)
    costs = dict(zip(columns["contributor"].text(), columns["cost"].entries.tolist(), strict=True))
    read_costs(costs, names)
    return costs


def _check(of: FragmentOptions) -> None:
    """Refuse before the work what could not be done after it."""
    if of.pay is not None:
        units_of(of.pay)
        if of.valid is None and not of.trusted:
            raise InputError(*UNTRUSTED)
    for flag, value, other, needed in (
        ("--key", of.key, "--receipt", of.receipt),
        ("--budget", of.budget, "--costs", of.costs),
    ):
        if value is not None and needed is None:
            raise InputError(f"{flag} goes with {other}: give it too, or leave {flag} out")
    if of.valid is not None and of.cv is not None:
        raise InputError("--valid and --cv exclude each other: give one of them")
    if of.owners is not None and len(of.fragments) > 1:
        raise InputError("--owners is about one joined file: give one FILE, or leave --owners out")
    if of.key is not None:
        sign(b"", of.key)


def _facts(
    valuation: Any, of: FragmentOptions, named: dict[str, str], paid: list[Any]
) -> dict[str, Any]:
    """What is printed, as one record for machines; contributors by worth."""
    found, values, names = valuation._fragments, valuation.row_values, valuation.row_names
    half = valuation._interval_factor * valuation.row_stderr
    numbers = (values, values - half, values + half, found.alone, found.without)
    lines = zip(names, *(part.tolist() for part in numbers), found.cells.sum(axis=1), strict=True)
    each = [
        {
            "contributor": name,
            "file": named.get(name),
            "value": value,
            "low": low,
            "high": high,
            "amount": paid[k]["amount"] if paid else None,
            "alone": alone,
            "without": without,
            "cells": int(cells),
        }
        for k, (name, value, low, high, alone, without, cells) in enumerate(lines)
    ]
    every = found.n_rows * len(found.columns)
    same = ("target", "columns", "labels", "score", "baseline", "n_valid", "crossed", "by")
    of_run = ("how", "n_orders", "n_trained", "seconds")
    return {
        "schema": "shapley2d fragments 1",
        "version": __version__,
        "valid": of.valid,
        "rows": found.n_rows,
        **{name: getattr(found, name) for name in (*same, *of_run)},
        "held": int(found.union.sum()) / every,
        "held_twice": int(found.overlap.sum()) / every,
        "total": valuation.total,
        "paid": None if of.pay is None else float(of.pay),
        "contributors": sorted(each, key=lambda one: -one["value"]),
        "values": valuation.values.tolist() if found.by == "column" else None,
        "partial": bool(valuation.info.get("interrupted")),
    }


def _print_summary(facts: dict[str, Any], valuation: Any, console: ResultConsole) -> None:
    unit = Unit() if facts["score"] == "neg_log_loss" else Unit(100.0, "points")
    parts = [_headline(facts, unit), _contributors(facts["contributors"], unit)]
    if facts["values"] is not None:
        parts.append(_by_column(facts, valuation, unit))
    for part in [*parts, _label_words(facts), _best_sets(facts["best_sets"], unit), _how(facts)]:
        console.print(
            part if isinstance(part, Table) else Text(printable(part, "\n")), soft_wrap=True
        )
        console.print()


def _headline(facts: dict[str, Any], unit: Unit) -> str:
    """The table and its holes; the score and what the contributors add."""
    total, start = facts["total"], facts["baseline"]
    full, labels = (
        f"{100 * score:.1f} %" if unit.words else f"{score:.4g}" for score in (start + total, start)
    )
    size = f"{counted(facts['rows'], 'row')} x {counted(len(facts['columns']), 'column')}"
    return (
        f"{counted(len(facts['contributors']), 'contributor')}: {size}, predicting "
        f"{facts['target']!r}. Nobody holds {1 - facts['held']:.0%} of the entries; two or more "
        f"hold {facts['held_twice']:.0%}.\n"
        f"Score {full} ({_SCORES.get(facts['score'], facts['score'])}); the labels alone give "
        f"{labels}. The contributors add {unit.text(total)}: that is what their values sum to."
    )


def _contributors(each: list[dict[str, Any]], unit: Unit) -> Table:
    values = [one["value"] for one in each]
    half = unit.spreads([one["high"] - one["value"] for one in each], values)
    columns: dict[str, list[Any]] = {
        "contributor": [shown(one["contributor"]) for one in each],
        unit.words or "value": unit.numbers(values, signed=True),
        "95 %": [reach and f"+- {reach}" for reach in half],
    }
    if each[0]["amount"] is not None:
        columns["payment"] = [f"{one['amount']:,.2f}" for one in each]
    columns["alone"] = unit.numbers([one["alone"] for one in each], signed=True)
    return make_table("What contributors are worth", columns)


def _by_column(facts: dict[str, Any], valuation: Any, unit: Unit) -> Table:
    """What contributors add through the columns that are worth most."""
    names = [str(name) for name in valuation.row_names]
    order = [names.index(one["contributor"]) for one in facts["contributors"]]
    columns: dict[str, list[Any]] = {"contributor": [shown(names[k]) for k in order]}
    for j in np.argsort(-valuation.column_values, kind="stable")[:_COLUMNS].tolist():
        name = printable(shorten(valuation.column_names[j], 16))
        columns[name] = unit.numbers(valuation.values[order, j].tolist(), signed=True)
    return make_table("Through which columns", columns)


def _label_words(facts: dict[str, Any]) -> str:
    if not facts["labels"]:
        return "The labels are everybody's: nobody is paid for them."
    return (
        f"Labels are held by {', '.join(facts['labels'])}: a row trains only where a set holds its "
        "label, so labels are valued too. Who holds all of them takes a large share."
    )


def _best_sets(best: list[dict[str, Any]], unit: Unit) -> Table:
    best = best[:_SETS]
    columns: dict[str, list[Any]] = {
        "size": [str(one["size"]) for one in best],
        "contributors": [shown(one["contributors"], 100) for one in best],
        unit.words or "value": unit.numbers([one["score"] for one in best], signed=True),
    }
    if "cost" in best[0]:
        columns["cost"] = [f"{one['cost']:,.2f}" for one in best]
    return make_table("Best set of every size", columns)


def _how(facts: dict[str, Any]) -> str:
    """How it was computed, and on which rows."""
    rows, orders = counted(facts["n_valid"], "row"), facts["n_orders"]
    where = (
        f"on {rows} of {facts['valid']}" if facts["valid"] else f"by cross-validation, on {rows}"
    )
    sets = counted(orders, "random order") if orders else "all sets of contributors"
    return (
        f"Scored {where}; {sets}, {facts['n_trained']:,} trainings, "
        f"{format_seconds(facts['seconds'])}. Intervals say what other validation rows"
        f"{' and other orders' if orders else ''} would change."
    )
