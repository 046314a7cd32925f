"""``shapley2d fragments``: what each contributor's piece of a table is worth."""

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

from shapley2d._base.words import printable, shorten
from shapley2d._fragments.best_sets import read_costs
from shapley2d._fragments.payments import UNTRUSTED, units_of
from shapley2d._fragments.signature import sign
from shapley2d._tables.convert import as_table
from shapley2d._valuation.units import Unit, points_of
from shapley2d._version import __version__
from shapley2d.cli import options as o
from shapley2d.cli.columns import find_column
from shapley2d.cli.console import (
    how_many,
    progress,
    shown,
    titled,
    warnings_as_notes,
    worth_columns,
)
from shapley2d.cli.errors import computing
from shapley2d.cli.outputs import (
    before_writing,
    check_outputs,
    finish,
    start_clock,
    write_values,
)
from shapley2d.cli.wording import call
from shapley2d.exceptions import InputError

_FACTS = (
    *("target", "columns", "n_rows", "labels", "score", "baseline", "n_valid", "crossed", "by"),
    *("how", "n_orders", "n_trained", "held", "held_twice"),
)
_SETS, _COLUMNS = 12, 8  # lines and columns of tables
_MEANING = (
    "A value is what a contributor adds on average, over all orders in which all could join; alone "
    "is what it adds by itself. Best sets are chosen on the rows that score them, so they look a "
    "little too good. Intervals say what other validation rows and other orders would change."
)


def amount(text: str) -> Decimal:
    """An amount as people write it; one that can be read in two ways is refused."""
    if found := re.fullmatch(r"([1-9]\d{0,2})[.,](\d{3})", text):
        whole, rest = found.groups()
        raise typer.BadParameter(
            f"{text} may mean {whole}{rest} or {whole}.{rest}: write {whole}{rest}, or "
            f"{whole}.{rest[:2]}"
        )
    if not re.fullmatch(r"\d+(\.\d+)?", text):
        raise typer.BadParameter(f"{text} is not an amount: write digits, such as 10000.50")
    return Decimal(text)


def fragments(
    files: Annotated[
        list[str],
        o.argument(
            "FILE",
            "A file of each contributor, which its name names, or NAME=FILE: CSV, JSON lines, "
            "Parquet or .xlsx.",
        ),
    ],
    target: o.Target,
    on: Annotated[str, o.common("COLUMN", "The id column, by which rows are joined.")],
    labels: Annotated[
        str | None,
        o.common(
            "FILE",
            "Everybody's labels: ids and the target. (default: the files that have the target)",
        ),
    ] = None,
    valid: Annotated[
        str | None,
        o.common("FILE", "Validation rows that no contributor has seen, with the target."),
    ] = None,
    owners: Annotated[
        str | None,
        o.common("FILE", "For one joined FILE: who holds what, as owner, row, column."),
    ] = None,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    by: Annotated[
        Literal["contributor", "column"],
        o.question("NAME", "Value contributors, or also what each adds through each column."),
    ] = "contributor",
    disagree: Annotated[
        Literal["error", "first", "missing"],
        o.question(
            "NAME",
            "Where two files have different entries for one cell: an error, the first file's entry "
            "counts, or none does.",
        ),
    ] = "error",
    scoring: Annotated[
        str | None,
        o.question(
            "NAME",
            "probability, r2, roc_auc, accuracy or neg_log_loss. (default: probability of the "
            "right label, or R squared)",
        ),
    ] = None,
    task: o.Task = "auto",
    cv: o.Folds = None,
    method: Annotated[
        str,
        o.method(
            "NAME",
            "The model that is trained on every set: boosting, tree or hist_gradient_boosting.",
            "--method",
            "-m",
        ),
    ] = "boosting",
    pay: Annotated[
        Decimal | None,
        o.payments("AMOUNT", "An amount to split among the contributors.", parser=amount),
    ] = None,
    trusted: Annotated[
        bool,
        o.payments(None, "Pay without --valid, where contributors test each other.", "--trusted"),
    ] = False,
    costs: Annotated[
        str | None,
        o.payments("FILE", "What contributors cost, for the best sets: contributor, cost."),
    ] = None,
    budget: Annotated[
        float | None,
        o.payments("AMOUNT", "With --costs: the most that a set may cost."),
    ] = None,
    receipt: Annotated[
        Path | None,
        o.payments("FILE.json", "Write a receipt that shapley2d verify checks."),
    ] = None,
    key: Annotated[
        Path | None,
        o.payments("KEY.pem", "Sign the receipt with a private Ed25519 key."),
    ] = None,
    max_time: o.MaxTime = None,
    semivalue: o.Semivalue = "shapley",
    n_jobs: o.Jobs = None,
    random_state: o.Seed = 0,
    checkpoint: o.Checkpoint = None,
    cluster: o.Cluster = None,
    output: o.Output = None,
    report: o.Report = None,
    as_json: o.AsJson = False,
) -> None:
    """Value what each contributor's piece of a table is worth, and split a payment."""
    limit, named = start_clock(max_time), named_files(files)
    others = {"labels": labels, "X_valid": valid, "owners": owners, "costs": costs}
    called = {"X": files[0], **named, **{name: one for name, one in others.items() if one}}
    check_outputs([*called.values()], output, report, checkpoint, receipt)
    o.check_folds(valid, cv)
    if pay is not None:
        units_of(pay)
        if valid is None and not trusted:
            raise InputError(UNTRUSTED)
    if key is not None:
        sign(b"", key)
        if receipt is None:
            raise InputError("--key signs a receipt: name its file by --receipt")
    if owners is not None and len(files) > 1:
        raise InputError("--owners is about one joined file: give one FILE, or leave --owners out")
    call(called)
    price = None if costs is None else _costs(costs)
    read_costs(price, [*named] if owners is None else [*(price or ())], budget)

    from shapley2d import value_fragments

    kinds = o.Reading(number=number, date=date, text=text).kinds
    terms: dict[str, Any] = {"pay": pay, "trusted": trusted}
    failed: list[Exception] = []
    paid: list[dict[str, Any]] = []
    with warnings_as_notes(), computing(checkpoint):
        valuation: Any = value_fragments(
            named if owners is None else files[0],
            target,
            valid,
            labels=labels,
            owners=owners,
            on=on,
            by=by,
            disagree=disagree,
            method=method,
            task=task,
            kinds={name: kind for kind, names in kinds.items() for name in names} or None,  # type: ignore[misc]
            scoring=scoring,
            cv=cv,
            semivalue=semivalue,
            random_state=random_state,
            n_jobs=n_jobs,
            max_time=before_writing(limit, 0 if output or report else None),
            progress=progress(),
            checkpoint=checkpoint,
            cluster=cluster,
        )
        valuation = replace(valuation, _frame="pyarrow")
        best = valuation.best_sets(price, budget).to_pylist()
        try:
            if pay is not None:
                paid = valuation.payments(pay, trusted=trusted).to_pylist()
        except InputError as error:  # values are shown and written all the same
            failed, terms, receipt = [error], {}, None
    facts = _facts(valuation, named, paid) | {"best_sets": best, "valid": valid}
    facts["paid"] = float(pay) if paid and pay else None
    finish(
        valuation,
        [
            ("values", output, lambda path: write_values(valuation, path)),
            ("report", report, lambda path: valuation.to_html(path, costs=price, **terms)),
            ("receipt", receipt, lambda path: valuation.receipt(path, key=key, **terms)),
        ],
        facts if as_json else None,
        _summary(valuation, facts, points_of(valuation.info)),
        failed,
    )


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


def _costs(path: str) -> dict[str | None, float]:
    """What contributors cost, from a file with the columns ``contributor`` and ``cost``."""
    columns = {column.name: column for column in as_table(path, "costs").columns}
    for name in ("contributor", "cost"):
        find_column(name, [*columns], "--costs", path)
    return dict(zip(columns["contributor"].text(), columns["cost"].entries.tolist(), strict=True))


def _facts(valuation: Any, named: dict[str, str], paid: list[dict[str, Any]]) -> dict[str, Any]:
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
        **{name: getattr(found, name) for name in _FACTS},
        "seconds": info["seconds"],
        "total": found.whole,
        "contributors": sorted(each, key=lambda one: -one["value"]),
        "partial": bool(info.get("interrupted")),
    }


def _summary(valuation: Any, facts: dict[str, Any], unit: Unit) -> list[Any]:
    """Who is worth what, and how that was found."""
    each, best = facts["contributors"], facts["best_sets"]
    lines = valuation._fragments.lines(valuation)
    names = [shown(one["contributor"]) for one in each]
    columns: dict[str, list[Any]] = {"contributor": names}
    columns |= worth_columns(unit, *([one[name] for one in each] for name in ("value", "half")))
    if each[0]["amount"] is not None:
        columns["payment"] = [f"{one['amount']:,.2f}" for one in each]
    columns["alone"] = unit.numbers([one["alone"] for one in each], signed=True)
    parts = [*lines[:2], "", *titled("What contributors are worth", columns), ""]
    if facts["by"] == "column":
        through: dict[str, list[Any]] = {"contributor": names}
        for name in [*each[0]["through"]][:_COLUMNS]:
            part = [one["through"][name] for one in each]
            through[printable(shorten(name, 16))] = unit.numbers(part, signed=True)
        title = f"Through which columns, {unit.words or 'in units of the score'}"
        parts += [*titled(title, through), ""]
    sets: dict[str, list[Any]] = {
        "size": [str(one["size"]) for one in best[:_SETS]],
        "contributors": [shown(one["contributors"], 100) for one in best[:_SETS]],
        unit.words or "value": unit.numbers([one["score"] for one in best[:_SETS]], signed=True),
    }
    title = "Best set of every size"
    if "cost" in best[0]:
        title = "Sets that no cheaper one equals"
        sets["cost"] = [f"{one['cost']:,.2f}" for one in best[:_SETS]]
    parts += titled(f"{title}{how_many(_SETS, best)}", sets)
    return [*parts, "", *lines[-4:], "", _MEANING, ""]
