"""``shapley2d cells``: what every cell of a table is worth."""

import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from shapley2d._base.defaults import FOLDS
from shapley2d._base.words import counted, printable, took_words
from shapley2d._valuation.facts import Facts, evaluated_words
from shapley2d._valuation.methods import all_methods
from shapley2d._valuation.units import Unit, unit_words
from shapley2d._version import __version__
from shapley2d.cli import options as o
from shapley2d.cli.columns import groups_of_columns
from shapley2d.cli.console import (
    collect_notes,
    how_many,
    place_columns,
    progress,
    shown,
    titled,
    warnings_as_notes,
    worth_columns,
)
from shapley2d.cli.errors import computing
from shapley2d.cli.inputs import Inputs, note_result, read_inputs
from shapley2d.cli.methods import make_method
from shapley2d.cli.outputs import (
    before_writing,
    check_outputs,
    finish,
    start_clock,
    write_values,
)
from shapley2d.cli.wording import in_words

_SHOWN = 12  # columns and groups of rows
_WIDTHS = {"column": 40, "content": 40, "label": 24}
_METHODS: Any = Literal[tuple(all_methods())]


def cells(
    train: Annotated[str, o.argument("TRAIN", f"The training table: {o.TABLE_FILE}")],
    target: o.Target,
    valid: Annotated[
        str | None, o.common("FILE", "A validation table with the same columns.")
    ] = None,
    drop: o.Drop = None,
    row_id: o.RowId = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    drop_keys: Annotated[
        bool, o.table(None, "Leave out columns that look like keys.", "--drop-keys")
    ] = False,
    drop_missing_target: Annotated[
        bool, o.table(None, "Leave out rows without a target.", "--drop-missing-target")
    ] = False,
    cv: o.Folds = None,
    groups: Annotated[
        str | None, o.question("COLUMN", "Without --valid: rows with equal entries share a fold.")
    ] = None,
    time_order: Annotated[
        str | None,
        o.question("COLUMN", "Without --valid: earlier rows train, later ones validate."),
    ] = None,
    valid_weight: Annotated[
        str | None, o.question("COLUMN", "The weight of each validation row.")
    ] = None,
    task: o.Task = "auto",
    include_label: Annotated[
        bool, o.question(None, "Value the labels too, as one more column.", "--include-label")
    ] = False,
    scoring: Annotated[
        str | None,
        o.question(
            "NAME",
            "scikit-learn's name of a score; knn and forest take balanced_accuracy. (default: "
            "the probability of the right label for knn, forest and boosting, accuracy for other "
            "models, R squared for numbers)",
        ),
    ] = None,
    row_groups: Annotated[
        str | None, o.question("COLUMN", "Value groups of rows: the column that names them.")
    ] = None,
    column_groups: Annotated[
        o.Names,
        o.question(
            "NAME=COLUMN,...",
            "Value groups of columns: one option for each; other columns stay by themselves.",
        ),
    ] = None,
    baseline: Annotated[
        Literal["labels", "zero"],
        o.question("NAME", "What no columns are worth: what the labels alone predict, or zero."),
    ] = "labels",
    max_time: o.MaxTime = None,
    method: Annotated[
        _METHODS, o.common("NAME", f"{', '.join(all_methods())}.", "--method", "-m")
    ] = "knn",
    semivalue: o.Semivalue = "shapley",
    n_jobs: o.Jobs = None,
    random_state: o.Seed = 0,
    checkpoint: o.Checkpoint = None,
    cluster: o.Cluster = None,
    output: o.Output = None,
    report: o.Report = None,
    as_json: o.AsJson = False,
    top: o.Top = 10,
    **options: Any,
) -> None:
    """Value every cell of a table: which entries help a model, which harm it."""
    limit = start_clock(max_time)
    o.check_folds(valid, cv)
    check_outputs([train, valid], output, report, checkpoint)
    notes = collect_notes()
    columns = {
        "groups": groups, "time_order": time_order, "valid_weight": valid_weight,
        "row_groups": row_groups,
    }  # fmt: skip
    chosen = make_method(method, options)
    inputs = read_inputs(
        train,
        target,
        valid,
        o.Reading(separator, encoding, drop, row_id, number, date, text),
        {option: name for option, name in columns.items() if name is not None},
        drop_keys=drop_keys,
        drop_missing_target=drop_missing_target,
    )

    from shapley2d import value_cells

    n_cells = inputs.train.table.num_rows * len(inputs.features)
    writes = output is not None or report is not None
    with warnings_as_notes(), computing(checkpoint):
        valuation = value_cells(
            inputs.train,
            target,
            inputs.valid,
            method=chosen,
            task=task,
            kinds=inputs.kinds or None,
            include_label=include_label,
            cv=cv or FOLDS,
            scoring=scoring,
            baseline=baseline,
            semivalue=semivalue,
            column_groups=groups_of_columns(column_groups, inputs.features, train),
            random_state=random_state,
            n_jobs=n_jobs,
            max_time=before_writing(limit, n_cells if writes else None),
            progress=progress(),
            checkpoint=checkpoint,
            cluster=cluster,
            **columns,
        )
    note_result(valuation, target)
    valuation, table = replace(valuation, _frame="pyarrow"), valuation._table
    if table is not None:
        valuation = replace(valuation, row_names=inputs.names[valuation.row_names])
    found = {
        "column_values": valuation.columns().to_pylist(),
        "strays": valuation.strays.to_pylist(),
        "lowest": valuation.lowest(top, contents=table is not None).to_pylist(),
    }
    if valuation._grouped:
        found["row_values"] = valuation.rows().to_pylist()
    if table is not None:  # rows that have names go by them
        lines = table.lines if row_id is None else None
        table = replace(table, row_names=valuation.row_names, lines=lines)
        valuation = replace(valuation, _table=table)
    facts = {"table": Path(inputs.train.path).name, "target": target}
    if inputs.valid is not None:
        facts["validated on"] = Path(inputs.valid.path).name
    facts["command"] = shlex.join(["shapley2d", *sys.argv[1:]])
    named = row_id is not None
    finish(
        valuation,
        [
            ("values", output, lambda path: write_values(valuation, path)),
            ("report", report, lambda path: valuation.to_html(path, facts=facts, notes=notes)),
        ],
        _record(valuation, inputs, target) | found if as_json else None,
        [_headline(valuation, inputs, target), *_tables(valuation, found, named=named)],
    )


def _record(valuation: Any, inputs: Inputs, target: str) -> dict[str, Any]:
    """A valuation for machines."""
    n, m = valuation.shape
    return {
        "command": "cells",
        "version": __version__,
        "file": inputs.train.path,
        "target": target,
        "valid": inputs.valid.path if inputs.valid else None,
        "rows": n,
        "columns": m,
        "unit": unit_words(valuation.info),
        "total": valuation.total,
        "exact": valuation.exact,
        "largest_stderr": float(valuation.stderr.max()),
        "partial": bool(valuation.info.get("interrupted")),
    }


def _headline(valuation: Any, inputs: Inputs, target: str) -> str:
    """The table, the validation rows, the score, what the columns add, and how certain it is."""
    info, facts = valuation.info, Facts.of(valuation)
    certain = "no sampling error" if valuation.exact else facts.certainty
    rows = evaluated_words(valuation._run, inputs.valid.path if inputs.valid else "")
    n, m = inputs.train.table.num_rows, len(inputs.features)
    took = took_words(info.get("seconds"))
    table = f"{inputs.train.path}: {counted(n, 'row')} x {counted(m, 'column')}"
    lines = [
        f"{table}, predicting {target!r} ({info.get('task')}), {rows}",
        facts.score,
        *map(in_words, facts.notes),
        f"method {info.get('method')}: {certain}.",
        facts.below_zero,
        f"took {took}" if took else "",
        *([] if valuation.exact else facts.precision),
    ]
    return "\n".join(printable(line) for line in lines if line) + "\n"


def _tables(valuation: Any, found: dict[str, list[dict[str, Any]]], *, named: bool) -> list[Any]:
    """What to look at first: stray entries, the columns that add most, the lowest cells."""
    units, lowest, parts = valuation._units, found["lowest"], []
    less = ("line",) if named else ()
    if first := found["strays"][: len(lowest)]:
        columns = place_columns(first, {"column": 40, "content": 40}, named=named)
        columns["expected type"] = [shown(cell["kind"]) for cell in first]
        title = f"Entries to check first{how_many(len(first), found['strays'])}"
        parts += [*titled(title, columns, "expected type", *less), ""]
    for axis, name in enumerate(("row", "column")):
        sums = found.get(f"{name}_values", [])[::-1]
        if valuation._run.score is None or not lowest or not sums:
            continue
        columns = {name: [shown(str(one[name])) for one in sums[:_SHOWN]]}
        columns |= _worth(valuation, units.points, sums[:_SHOWN])
        if valuation._run.sums_to_score and valuation.total > 0:
            shares = [round(100 * one["value"] / valuation.total) for one in sums[:_SHOWN]]
            columns["share"] = [f"{share} %" for share in shares]
        title = f"What the {valuation._nouns[1 + axis][1]} add{how_many(_SHOWN, sums)}"
        parts += [*titled(title, columns, "95 %"), ""]
    if lowest:
        widths = _WIDTHS if "content" in lowest[0] else {"column": 40}
        columns = place_columns(lowest, widths, named=named) | _worth(
            valuation, units.cells, lowest
        )
        caution = (valuation.info.get("about") or {}).get("caution")
        noun = valuation._nouns[0][1]
        hurt = lowest[0]["value"] < 0 and not caution
        title = f"{noun.capitalize()} that hurt most" if hurt else f"Lowest {noun}"
        parts += titled(title, columns, "95 %", *less)
    return parts


def _worth(valuation: Any, unit: Unit, found: list[dict[str, Any]]) -> dict[str, list[Any]]:
    halves = [valuation._interval_factor * one["stderr"] for one in found]
    return worth_columns(unit, [one["value"] for one in found], halves)
