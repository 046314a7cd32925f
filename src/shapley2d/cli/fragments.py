"""``shapley2d fragments``: what each contributor's piece of a table is worth."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from shapley2d._base.words import counted, format_seconds, printable, shorten
from shapley2d._fragments.best_sets import read_costs
from shapley2d._fragments.payments import UNTRUSTED, units_of
from shapley2d._fragments.signature import sign
from shapley2d._tables.convert import as_table
from shapley2d._valuation.units import Unit, points_of
from shapley2d._version import __version__
from shapley2d.cli.console import (
    ResultConsole,
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

_QUESTION = ("labels", "owners", "on", "by", "disagree", "method", "task", "scoring", "cv")
_RUN = ("random_state", "n_jobs", "checkpoint", "cluster")
_FACTS = (
    *("target", "columns", "n_rows", "labels", "score", "baseline", "n_valid", "crossed", "by"),
    *("how", "n_orders", "n_trained", "held", "held_twice"),
)
_SETS, _COLUMNS = 12, 8  # lines and columns of tables


def fragments(of: FragmentOptions, run: RunOptions) -> None:
    """Value what each contributor's piece of a table is worth, and split a payment."""
    limit, named = start_clock(run), named_files(of.fragments)
    others = {"labels": of.labels, "X_valid": of.valid, "owners": of.owners, "costs": of.costs}
    names = {**named, "X": of.fragments[0]}
    names |= {name: path for name, path in others.items() if path is not None}
    check_outputs(run.output, run.report, [*names.values()], run.checkpoint, of.receipt)
    _check(of)
    weights = parse_semivalue(run.semivalue)
    kinds: dict[str, Any] = {name: kind for kind, some in of.kinds.items() for name in some}

    from shapley2d import value_fragments

    with warnings_as_notes(names), computing(names, run.checkpoint):
        costs = None if of.costs is None else _costs(of.costs, [] if of.owners else [*named])
        valuation: Any = value_fragments(
            named if of.owners is None else of.fragments[0],
            of.target,
            of.valid,
            **{name: getattr(of, name) for name in _QUESTION},
            **{name: getattr(run, name) for name in _RUN},
            kinds=kinds or None,
            semivalue=weights,
            max_time=before_writing(limit, run, 0),
            progress=progress(),
        )
        valuation = replace(valuation, _frame="pyarrow")
        best = valuation.best_sets(costs, of.budget).to_pylist()
        paid, undivided = None, None
        try:
            if of.pay is not None:
                paid = valuation.payments(of.pay, trusted=of.trusted).to_pylist()
        except InputError as error:  # values are shown and written all the same
            undivided = error
    terms = {"pay": of.pay if undivided is None else None, "trusted": of.trusted}
    files, failed = write_outputs(
        [
            ("values", run.output, lambda path: write_values(valuation, path)),
            ("report", run.report, lambda path: valuation.to_html(path, costs=costs, **terms)),
            (
                "receipt",
                of.receipt if undivided is None else None,
                lambda path: valuation.receipt(path, key=of.key, **terms),
            ),
        ]
    )
    facts = _facts(valuation, of, named, paid) | {"best_sets": best}
    if run.as_json:
        written = {what: str(path) for what, path in files.items()}
        print_json(facts | {"settings": valuation.info, "files": written})
    else:
        console = ResultConsole()
        score = valuation._fragments.score_words(valuation)
        _print_summary(facts, score, points_of(valuation.info), console)
        print_files(files, console)
    stop_if_unwritten(failed)
    if undivided is not None:
        raise undivided
    stop_if_partial(valuation)


def named_files(given: list[str]) -> dict[str, str]:
    """Files by the name of their contributor: ``NAME=FILE``, or the file's name."""
    named: dict[str, str] = {}
    for text in given:
        name, mark, path = text.partition("=")
        if not mark:
            name, path = Path(text).name.split(".")[0], text
        if name in named:
            raise InputError(f"two files are named {name!r}: name one, as in OTHER={path}")
        named[name] = path
    return named


def _costs(path: str, names: list[str]) -> dict[str | None, float]:
    """What contributors cost, from a file with the columns ``contributor`` and ``cost``."""
    columns = {column.name: column for column in as_table(path, "costs").columns}
    for name in ("contributor", "cost"):
        find_column(name, [*columns], "--costs", path)
    costs = dict(zip(columns["contributor"].text(), columns["cost"].entries.tolist(), strict=True))
    if names:
        read_costs(costs, names)
    return costs


def _check(of: FragmentOptions) -> None:
    """Refuse before the work what could not be done after it."""
    if of.pay is not None:
        units_of(of.pay)
        if of.valid is None and not of.trusted:
            raise InputError(UNTRUSTED)
    if of.key is not None:
        sign(b"", of.key)
        if of.receipt is None:
            raise InputError("--key signs a receipt: name its file by --receipt")
    if of.budget is not None and of.costs is None:
        raise InputError("--budget needs --costs: what each contributor costs")
    if of.valid is not None and of.cv is not None:
        raise InputError("--valid and --cv exclude each other: give one of them")
    if of.owners is not None and len(of.fragments) > 1:
        raise InputError("--owners is about one joined file: give one FILE, or leave --owners out")


def _facts(valuation: Any, of: FragmentOptions, named: dict[str, str], paid: Any) -> dict[str, Any]:
    """What is printed, as one record for machines; contributors by worth."""
    found, info = valuation._fragments, valuation.info
    best = np.argsort(-valuation.column_values, kind="stable")
    order, through = [valuation.column_names[j] for j in best], valuation.values[:, best].tolist()
    each = [
        one | {
            "file": named.get(one["contributor"]),
            "amount": paid[k]["amount"] if paid else None,
            "through": dict(zip(order, through[k], strict=True)),
        }
        for k, one in enumerate(found.each(valuation))
    ]  # fmt: skip
    return {
        "schema": "shapley2d fragments 1",
        "version": __version__,
        "valid": of.valid,
        "paid": of.pay and float(of.pay),
        **{name: getattr(found, name) for name in _FACTS},
        "seconds": info["seconds"],
        "total": found.whole,
        "contributors": sorted(each, key=lambda one: -one["value"]),
        "partial": bool(info.get("interrupted")),
    }


def _print_summary(facts: dict[str, Any], score: str, unit: Unit, console: ResultConsole) -> None:
    each = facts["contributors"]
    parts: list[Any] = [f"{_headline(facts)}\n{score}", _contributors(each, unit)]
    if facts["by"] == "column":
        parts.append(_by_column(each, unit))
    for part in [*parts, _label_words(facts), _best_sets(facts["best_sets"], unit), _how(facts)]:
        words = isinstance(part, str)
        console.print(Text(printable(part, "\n")) if words else part, soft_wrap=words)
        console.print()


def _headline(facts: dict[str, Any]) -> str:
    """The table and its holes."""
    size = f"{counted(facts['n_rows'], 'row')} x {counted(len(facts['columns']), 'column')}"
    return (
        f"{counted(len(facts['contributors']), 'contributor')}: {size}, predicting "
        f"{facts['target']!r}. {100 * facts['held']:.0f} % of the entries are held, "
        f"{100 * facts['held_twice']:.0f} % by two or more."
    )


def _contributors(each: list[dict[str, Any]], unit: Unit) -> Table:
    values = [one["value"] for one in each]
    half = unit.spreads([one["half"] for one in each], values)
    columns: dict[str, list[Any]] = {
        "contributor": [shown(one["contributor"]) for one in each],
        unit.words or "value": unit.numbers(values, signed=True),
        "95 %": [reach and f"+- {reach}" for reach in half],
    }
    if each[0]["amount"] is not None:
        columns["payment"] = [f"{one['amount']:,.2f}" for one in each]
    columns["alone"] = unit.numbers([one["alone"] for one in each], signed=True)
    return make_table("What contributors are worth", columns)


def _by_column(each: list[dict[str, Any]], unit: Unit) -> Table:
    columns: dict[str, list[Any]] = {"contributor": [shown(one["contributor"]) for one in each]}
    for name in [*each[0]["through"]][:_COLUMNS]:
        part = [one["through"][name] for one in each]
        columns[printable(shorten(name, 16))] = unit.numbers(part, signed=True)
    return make_table(f"Through which columns, {unit.words or 'in units of the score'}", columns)


def _label_words(facts: dict[str, Any]) -> str:
    if not facts["labels"]:
        return "The labels are everybody's: nobody is paid for them."
    return (
        f"Labels are held by {', '.join(facts['labels'])}: a row trains only where a set holds its "
        "label, so labels are valued too. Who holds all of them takes a large share."
    )


def _best_sets(found: list[dict[str, Any]], unit: Unit) -> Table:
    best = found[:_SETS]
    columns: dict[str, list[Any]] = {
        "size": [str(one["size"]) for one in best],
        "contributors": [shown(one["contributors"], 100) for one in best],
        unit.words or "value": unit.numbers([one["score"] for one in best], signed=True),
    }
    title = "Best set of every size"
    if "cost" in best[0]:
        columns["cost"] = [f"{one['cost']:,.2f}" for one in best]
        title = "Sets that no cheaper one equals"
    more = f" ({_SETS} of {len(found)})" if len(found) > _SETS else ""
    return make_table(f"{title}{more}", columns)


def _how(facts: dict[str, Any]) -> str:
    """How it was computed, and on which rows."""
    rows, orders = counted(facts["n_valid"], "row"), facts["n_orders"]
    where = (
        f"on {rows} of {facts['valid']}" if facts["valid"] else f"by cross-validation, on {rows}"
    )
    sets = counted(orders, "random order") if orders else "all sets of contributors"
    return (
        "A value is what a contributor adds on average, over all orders in which all could join; "
        "alone is what it adds by itself. Best sets are chosen on the rows that score them, so "
        "they look a little too good.\n"
        f"Scored {where}; {sets}, {facts['n_trained']:,} trainings, "
        f"{format_seconds(facts['seconds'])}. Intervals say what other validation rows"
        f"{' and other orders' if orders else ''} would change."
    )
