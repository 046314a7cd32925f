"""``shapley2d cells``: what every cell of a table is worth."""

import math
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from shapley2d._base.defaults import FOLDS
from shapley2d._base.words import counted, printable, took_words
from shapley2d._valuation.facts import Facts, evaluated_words
from shapley2d._valuation.units import Unit, unit_words
from shapley2d._version import __version__
from shapley2d.cli import options as o
from shapley2d.cli.columns import groups_of_columns
from shapley2d.cli.console import (
    collect_notes,
    place_columns,
    progress,
    show,
    show_files,
    show_json,
    shown,
    spread,
    titled,
    warnings_as_notes,
)
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.inputs import WEIGHT, Inputs, note_labels, read_inputs
from shapley2d.cli.methods import make_method, parse_semivalue
from shapley2d.cli.outputs import (
    before_writing,
    check_outputs,
    start_clock,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.wording import in_words
from shapley2d.exceptions import InputError

_SHOWN = 12  # columns and groups of rows
_WIDTHS = {"column": 40, "content": 40, "label": 24}


def cells(
    train: Annotated[str, o.argument("TRAIN", f"The training table: {o.TABLE_FILE}")],
    target: o.Target,
    valid: Annotated[
        str | None, o.option(o.COMMON, "FILE", "A validation table with the same columns.")
    ] = None,
    drop: o.Drop = None,
    row_id: o.RowId = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    drop_keys: Annotated[
        bool, o.flag(o.TABLE, "Leave out columns that look like keys.", "--drop-keys")
    ] = False,
    drop_missing_target: Annotated[
        bool, o.flag(o.TABLE, "Leave out rows without a target.", "--drop-missing-target")
    ] = False,
    cv: o.Folds = None,
    groups: Annotated[
        str | None, o.column(o.QUESTION, "Without --valid: rows with equal entries share a fold.")
    ] = None,
    time_order: Annotated[
        str | None,
        o.column(o.QUESTION, "Without --valid: earlier rows train, later ones validate."),
    ] = None,
    valid_weight: Annotated[
        str | None, o.column(o.QUESTION, "The weight of each validation row.")
    ] = None,
    task: o.Task = "auto",
    include_label: Annotated[
        bool, o.flag(o.QUESTION, "Value the labels too, as one more column.", "--include-label")
    ] = False,
    scoring: Annotated[
        str | None,
        o.option(
            o.QUESTION,
            "NAME",
            "scikit-learn's name of a score; knn and forest take balanced_accuracy. (default: "
            "accuracy or R squared)",
        ),
    ] = None,
    row_groups: Annotated[
        str | None, o.column(o.QUESTION, "Value groups of rows: the column that names them.")
    ] = None,
    column_groups: Annotated[
        o.Names,
        o.option(
            o.QUESTION,
            "NAME=COLUMN,...",
            "Value groups of columns: one option for each; other columns stay by themselves.",
        ),
    ] = None,
    baseline: Annotated[
        Literal["labels", "zero"],
        o.option(
            o.QUESTION, "NAME", "What no columns are worth: what the labels alone predict, or zero."
        ),
    ] = "labels",
    max_time: o.MaxTime = None,
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
    columns = {
        "groups": groups, "time_order": time_order, WEIGHT: valid_weight, "row_groups": row_groups
    }  # fmt: skip
    for option, given in {"cv": cv, "groups": groups, "time_order": time_order}.items():
        if valid is not None and given is not None:
            raise InputError(
                f"--valid and {o.flag_of(option)} exclude each other: give one of them"
            )
    check_outputs([train, valid], output, report, checkpoint)
    weights = parse_semivalue(semivalue)
    notes = collect_notes()
    chosen = make_method(**options)
    inputs = read_inputs(
        train,
        target,
        valid,
        o.Reading(separator, encoding, drop, row_id, number, date, text),
        {option: name for option, name in columns.items() if name is not None},
        drop_keys=drop_keys,
        drop_missing_target=drop_missing_target,
    )
    note_labels(inputs, target, task, valued=include_label)

    from shapley2d import value_cells

    writes = output is not None or report is not None
    with warnings_as_notes(), computing(checkpoint):
        valuation = value_cells(
            inputs.X,
            inputs.y,
            inputs.X_valid,
            inputs.y_valid,
            method=chosen,
            task=task,
            kinds=inputs.kinds or None,
            include_label=include_label,
            cv=FOLDS if cv is None else cv,
            scoring=scoring,
            baseline=baseline,
            semivalue=weights,
            column_groups=groups_of_columns(column_groups, inputs.X, train),
            random_state=random_state,
            n_jobs=n_jobs,
            max_time=before_writing(limit, math.prod(inputs.X.shape) if writes else None),
            progress=progress(),
            checkpoint=checkpoint,
            cluster=cluster,
            **inputs.of_rows,
        )
    lines = None if valuation._grouped else valuation.lines
    if row_id is not None and valuation._table is not None:  # rows go by their names
        valuation = replace(valuation, _table=replace(valuation._table, lines=None))
    facts = {"table": Path(inputs.train.path).name, "target": target}
    if inputs.valid is not None:
        facts["validated on"] = Path(inputs.valid.path).name
    facts["command"] = shlex.join(["shapley2d", *sys.argv[1:]])
    files, failed = write_outputs(
        [
            ("values", output, lambda path: write_values(valuation, path)),
            ("report", report, lambda path: valuation.to_html(path, facts=facts, notes=notes)),
        ]
    )

    def place(i: int, j: int, content: str | None) -> dict[str, Any]:
        row = valuation.row_names[i]
        return {
            "row": row.item() if isinstance(row, np.generic) else row,
            "line": None if lines is None else int(lines[i]),
            "column": valuation.column_names[j],
            "content": content,
            "label": valuation._label(i),
        }

    strays = [place(i, j, entry) | {"kind": kind} for i, j, entry, kind in valuation._strays]
    lowest = [
        place(i, j, valuation._entry(i, j))
        | {"value": float(valuation.values[i, j]), "stderr": float(valuation.stderr[i, j])}
        for i, j in (
            divmod(k, valuation.shape[1]) for k in valuation._part("cells").first(top).tolist()
        )
    ]
    if as_json:
        found = {"strays": strays, "lowest": lowest, "settings": valuation.info, "files": files}
        show_json(_record(valuation, inputs, target) | found)
    else:
        show(*_summary(valuation, inputs, target, strays, lowest, named=row_id is not None))
        show_files(files)
    stop_if_unwritten(failed)
    stop_if_partial(valuation)


def _record(valuation: Any, inputs: Inputs, target: str) -> dict[str, Any]:
    """A valuation for machines."""
    n, m = valuation.shape
    sums = {"column_values": _sums(valuation, 1)}
    if valuation._grouped:
        sums["row_values"] = _sums(valuation, 0)
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
        **sums,
    }


def _sums(valuation: Any, axis: int) -> list[dict[str, Any]]:
    """The values of rows (axis 0) or columns."""
    name = ("row", "column")[axis]
    parts = (getattr(valuation, f"{name}_{part}") for part in ("names", "values", "stderr"))
    return [
        {name: str(one), "value": float(value), "stderr": float(error)}
        for one, value, error in zip(*parts, strict=True)
    ]


def _summary(
    valuation: Any,
    inputs: Inputs,
    target: str,
    strays: list[dict[str, Any]],
    lowest: list[dict[str, Any]],
    *,
    named: bool,
) -> list[Any]:
    """What was valued, how certain it is, and what to look at first."""
    units, less = valuation._units, ("line",) if named else ()
    parts: list[Any] = [_headline(valuation, inputs, target)]
    if first := strays[: len(lowest)]:
        more = "" if len(first) == len(strays) else f" ({len(first)} of {len(strays)})"
        columns = place_columns(first, _WIDTHS, named=named)
        columns["expected type"] = [shown(cell["kind"]) for cell in first]
        parts += [*titled(f"Entries to check first{more}", columns, "expected type", *less), ""]
    if valuation._run.score is not None and lowest:
        for axis in range(1 - valuation._grouped, 2):
            parts += [*_sums_table(valuation, units.points, axis), ""]
    if lowest:
        widths = {"column": 40} if valuation._grouped else _WIDTHS
        columns = place_columns(lowest, widths, named=named)
        columns |= _worth(valuation, units.cells, lowest)
        caution = (valuation.info.get("about") or {}).get("caution")
        hurt = bool((valuation.values < 0).any()) and not caution
        noun = valuation._nouns[0][1]
        title = f"{noun.capitalize()} that hurt most" if hurt else f"Lowest {noun}"
        parts += titled(title, columns, "95 %", *less)
    return parts


def _headline(valuation: Any, inputs: Inputs, target: str) -> str:
    """The table, the validation rows, the score, what the columns add, and how certain it is."""
    info, facts = valuation.info, Facts.of(valuation)
    certain = "no sampling error" if valuation.exact else facts.certainty
    rows = evaluated_words(valuation._run, printable(inputs.valid.path) if inputs.valid else "")
    n, m = inputs.X.shape
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


def _sums_table(valuation: Any, points: Unit, axis: int) -> list[Any]:
    """The columns, or groups of rows, that add most, in points of the score."""
    found = sorted(_sums(valuation, axis), key=lambda one: -one["value"])
    best, name = found[:_SHOWN], ("row", "column")[axis]
    more = f" ({len(best)} of {len(found)})" if len(best) < len(found) else ""
    columns: dict[str, list[Any]] = {name: [shown(one[name]) for one in best]}
    columns |= _worth(valuation, points, best)
    if valuation._run.sums_to_score and valuation.total > 0:
        shares = [round(100 * one["value"] / valuation.total) for one in best]
        columns["share"] = [f"{share} %" for share in shares]
    return titled(f"What the {valuation._nouns[1 + axis][1]} add{more}", columns, "95 %")


def _worth(valuation: Any, unit: Unit, found: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Columns of values, and of half the widths of their intervals where there are errors."""
    values = [one["value"] for one in found]
    reach = [valuation._interval_factor * one["stderr"] for one in found]
    columns: dict[str, list[Any]] = {unit.words or "value": unit.numbers(values, signed=True)}
    if any(reach):  # sums may be exact where cells are not
        columns["95 %"] = [spread(half) for half in unit.spreads(reach, values)]
    return columns
