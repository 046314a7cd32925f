"""``shapley2d cells``: what every cell of a table is worth."""

import dataclasses
from typing import Any

from shapley2d._base.defaults import FOLDS
from shapley2d._methods.registry import METHODS
from shapley2d.cli import options as o
from shapley2d.cli.console import collect_notes, note, progress, warnings_as_notes
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.method_options import (
    cell_takers,
    given_options,
    parse_semivalue,
    with_method_options,
)
from shapley2d.cli.reading.inputs import read_inputs, refuse_two_yardsticks
from shapley2d.cli.reading.label_notes import label_notes
from shapley2d.cli.reading.within import parse_within
from shapley2d.cli.writing.outputs import (
    check_outputs,
    report_facts,
    stop_if_unwritten,
    write_outputs,
)
from shapley2d.cli.writing.plan import print_plan
from shapley2d.cli.writing.summary import as_json, lowest_cells, print_json, print_summary

_TAKERS = cell_takers()
_SUMMARIES = {name: method.summary for name, method in METHODS.items()}


@with_method_options(_TAKERS, _SUMMARIES)
def cells(
    train: o.Train,
    target: o.Target,
    drop: o.Drop = None,
    drop_keys: o.DropKeys = False,
    row_id: o.RowId = None,
    valid: o.Valid = None,
    cv: o.Cv = None,
    groups: o.Groups = None,
    time: o.Time = None,
    valid_weight: o.ValidWeight = None,
    precedence: o.Precedence = None,
    task: o.TaskOption = "auto",
    include_label: o.IncludeLabel = False,
    number: o.Number = None,
    date: o.Date = None,
    text: o.Text = None,
    separator: o.Separator = None,
    encoding: o.Encoding = None,
    drop_missing_target: o.DropMissingTarget = False,
    method: str = "knn",
    semivalue: o.SemivalueOption = "shapley",
    jobs: o.Jobs = None,
    seed: o.Seed = 0,
    output: o.Output = None,
    report: o.Report = None,
    top: o.Top = 10,
    as_json_: o.AsJson = False,
    plan: o.PlanOnly = False,
    within: o.Within = None,
    **given: Any,
) -> None:
    """Value every cell of a table: which entries help a model, which harm it."""
    seconds = parse_within(within, planned=plan)
    refuse_two_yardsticks(valid, cv=cv, groups=groups, time=time)
    given_files = [train, *([valid] if valid else [])]
    check_outputs(output, report, given_files, given.get("checkpoint"))
    weights = parse_semivalue(semivalue)
    notes = collect_notes()
    inputs = read_inputs(
        train,
        target,
        drop=drop or (),
        row_id=row_id,
        valid=valid,
        separator=separator,
        encoding=encoding,
        drop_missing_target=drop_missing_target,
        drop_keys=drop_keys,
        kinds={"number": number or (), "date": date or (), "text": text or ()},
        task=task,
        of_rows={
            "groups": groups,
            "time": time,
            "valid_weight": valid_weight,
            "precedence": precedence,
        },
    )
    for message in [*inputs.notes, *label_notes(inputs, task, valued=include_label)]:
        note(message)
    of_rows = dict(inputs.of_rows)
    if "precedence" in of_rows:
        of_rows["precedence"] = {"rows": of_rows["precedence"]}
    settings = given_options(method, given, _TAKERS)

    from shapley2d import plan_cells, value_cells

    tables = (inputs.X, inputs.y, inputs.X_valid, inputs.y_valid)
    question: dict[str, Any] = {
        "task": task,
        "include_label": include_label,
        "kinds": inputs.kinds or None,
        "cv": FOLDS if cv is None else cv,
        **of_rows,
        "semivalue": weights,
        "random_state": seed,
        "n_jobs": jobs,
        "progress": progress(),
        **settings,
    }
    with warnings_as_notes(inputs.names), computing(inputs.names, given.get("checkpoint")):
        if plan:
            print_plan(plan_cells(*tables, method, **question), seconds, as_json=as_json_)
            return
        valuation = value_cells(*tables, method, **question)
    valuation = dataclasses.replace(valuation, row_names=inputs.row_names)
    files, failed = write_outputs(
        valuation, output, report, facts=report_facts(inputs), notes=notes
    )
    lowest = lowest_cells(valuation, inputs, top)
    if as_json_:
        print_json(as_json("cells", valuation, inputs, lowest, files))
    else:
        print_summary(valuation, inputs, lowest, files)
    stop_if_unwritten(failed)
    stop_if_partial(valuation)
