"""``shapley2d cells``: what every cell of a table is worth."""

import dataclasses
import math
from typing import Any

from shapley2d.cli.console import collect_notes, note, warnings_as_notes
from shapley2d.cli.errors import computing, stop_if_partial
from shapley2d.cli.methods import make_method, parse_semivalue
from shapley2d.cli.options import CellOptions, FileOptions, RunOptions, TrainOptions
from shapley2d.cli.reading.inputs import check_split, label_notes, read_inputs
from shapley2d.cli.writing.outputs import (
    before_writing,
    check_outputs,
    report_facts,
    start_clock,
    stop_if_unwritten,
    write_outputs,
    write_values,
)
from shapley2d.cli.writing.summary import as_json, lowest_cells, print_json, print_summary


def cells(
    table: TrainOptions,
    file: FileOptions,
    method: str,
    run: RunOptions,
    only: CellOptions,
    **given: Any,
) -> None:
    """Value every cell of a table: which entries help a model, which harm it."""
    limit = start_clock(run)
    check_split(table)
    given_files = [table.train, *([table.valid] if table.valid else [])]
    check_outputs(run.output, run.report, given_files, run.checkpoint)
    weights = parse_semivalue(run.semivalue)
    notes = collect_notes()
    chosen = make_method(method, given)
    inputs = read_inputs(table, file)
    of_labels = label_notes(inputs, table.task, valued=table.include_label)
    for message in [*inputs.notes, *of_labels]:
        note(message)

    from shapley2d import value_cells

    tables = (inputs.X, inputs.y, inputs.X_valid, inputs.y_valid)
    left = before_writing(limit, run, math.prod(inputs.X.shape))
    with warnings_as_notes(inputs.names), computing(inputs.names, run.checkpoint):
        valuation = value_cells(
            *tables, method=chosen, **inputs.question(table, run, weights, left)
        )
    if table.row_groups is None:
        valuation = dataclasses.replace(valuation, row_names=inputs.row_names)
    facts = report_facts(inputs)
    files, failed = write_outputs(
        [
            ("values", run.output, lambda path: write_values(valuation, path)),
            ("report", run.report, lambda path: valuation.to_html(path, facts=facts, notes=notes)),
        ]
    )
    lowest = lowest_cells(valuation, inputs, only.top)
    if run.as_json:
        print_json(as_json("cells", valuation, inputs, lowest, files))
    else:
        print_summary(valuation, inputs, lowest, files)
    stop_if_unwritten(failed)
    stop_if_partial(valuation)
