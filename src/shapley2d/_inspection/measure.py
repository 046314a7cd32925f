"""Whether repairs help a model, measured on held-out rows that no repair has seen."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.warnings import without_warnings
from shapley2d._inspection.inspect import inspect_cells, read_label
from shapley2d._inspection.inspection import Inspection
from shapley2d._inspection.repair import changes_of, choose, listed_cells
from shapley2d._inspection.repair_gain import RepairGain
from shapley2d._inspection.tables.changes import Changes, change_cells, change_vector
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._methods.run import Run
from shapley2d._models.by_name import check_model, knn_of
from shapley2d._models.methods import Exact
from shapley2d._tables.convert import as_table
from shapley2d._tables.frames import frame_kind, make_frame
from shapley2d._tables.intake import with_targets
from shapley2d._tables.problem import make_problem
from shapley2d._tables.scoring import check_scoring
from shapley2d._tables.splits import split_rows
from shapley2d._tables.table import native_rows
from shapley2d._tables.target import as_target
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._tables.table import Column, Table


def measure_repair(
    repairs: Any,
    X: Any,
    y: Any,
    *,
    n: int | None = None,
    probability: float | None = None,
    model: Any = "random_forest",
    scoring: Any = None,
    cv: int = 5,
    n_repeats: int = 2,
    task: str = "auto",
    kinds: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    max_time: float | str | None = None,
    progress: Any = "auto",
) -> RepairGain:
    """Measure what repairs do for a model.

    The rows are split into folds. Each fold in turn is held out: its entries and labels are not
    repaired, and no repair of the other rows uses them. The model is trained on the other rows
    three times: original, repaired, and with as many random repairs in the same columns. All three
    are scored on the held-out rows.

    Parameters
    ----------
    repairs : Inspection, or the log of a repair
        An inspection: the training rows of every fold are inspected by themselves, and the cells
        chosen by ``n`` or ``probability`` are repaired. A log (of
        :meth:`~shapley2d.Inspection.repair`, or a frame of ``row``, ``column`` and ``after``): its
        changes in the training rows are made. They were suggested with all rows in view, so the
        gain is a little too good; pass the inspection for a fair one.
    X, y : the table before the repairs, and its target
    n : int
        With an inspection: how many cells of the whole table to repair, the likeliest wrong first.
    probability : float
        With an inspection: what :meth:`~shapley2d.Inspection.repair` does with it; 0.5 where
        neither is given.
    model : str or scikit-learn estimator
        As for :func:`~shapley2d.value_cells`.
    scoring : str, callable or None
        Any scikit-learn scoring; None takes accuracy, or R squared.
    cv, n_repeats : int
        Number of folds, and how often the rows are split into them.
    task, kinds, random_state, n_jobs, progress
        As for :func:`~shapley2d.inspect_cells`.
    max_time : float or str, optional
        Seconds, or text such as ``"5m"``, counted from the call: no fold is begun that would end
        later, and the gain is that of the folds by then, at least two.

    Returns
    -------
    RepairGain
        With ``gain``, its 95 % ``interval``, ``random_gain`` and ``random_interval``.

    Examples
    --------
    >>> from shapley2d import inspect_cells, measure_repair
    >>> X = {"a": [k % 20 for k in range(60)], "b": [float(k % 20) for k in range(60)]}
    >>> y = ["low" if k % 20 < 10 else "high" for k in range(60)]
    >>> X["b"][7] = 700.0
    >>> inspection = inspect_cells(X, y, progress=False)
    >>> options = {"model": "tree", "cv": 3, "n_repeats": 1, "progress": False}
    >>> measure_repair(inspection, X, y, n=1, **options).changed.tolist()
    [1, 1, 1]
    """
    run = Run.create(random_state, "shapley", n_jobs, progress, max_time).advising()
    check_model(model)
    check_scoring(scoring)
    check_whole(cv, "cv", 2)
    check_whole(n_repeats, "n_repeats", 1)
    given_frame = frame_kind(X)
    named = y if isinstance(y, str) else None
    X, y, _, _ = with_targets(X, y, None, None)
    with without_warnings():
        table = as_table(X, "X", kinds)
        label = read_label(y, named, table)[1].columns[0]
        # rows without a label can neither train nor be scored
        known = np.flatnonzero(~np.isnan(label.entries))
        is_number = label.kind == "number"
        y = label.entries if is_number else np.array(label.text(), dtype=object)
        target = as_target(y[known], table.take_rows(known), task)
        known = known if target.kept is None else known[target.kept]
    inspects = isinstance(repairs, Inspection)
    if not inspects and (n is not None or probability is not None):
        raise InputError(
            f"{'n' if n is not None else 'probability'} goes with an inspection: the log "
            "lists the changes"
        )
    log = {} if inspects else _read_log(repairs, table, label.name)
    rows = table.take_rows(known)
    parts = [
        part
        for k in range(n_repeats)
        for part in split_rows(rows, target, cv, seed=run.seed + k).splits
    ]
    question: dict[str, Any] = {"task": target.task, "kinds": kinds}
    settings = {**question, "random_state": run.seed, "n_jobs": run.n_jobs, "progress": False}
    scores = np.zeros((3, len(parts)))
    changed = np.zeros(len(parts), dtype=np.intp)
    pace = Pace()
    with reporting(run.progress, "measuring repairs") as report:
        for k, (train, held) in enumerate(parts):
            if run.limit is not None and run.limit.left() < (pace.seconds() or 0.0):
                run.limit.check(0.0 if k > 1 else math.inf)
                parts = parts[:k]
                break
            own, others = known[train], known[held]
            with without_warnings():
                X_own, y_own = native_rows(table.native, own), y[own]
                found = None
                new = _within(log, own)
                if inspects:
                    labels = make_frame({label.name: y_own}, "pyarrow")
                    found = inspect_cells(X_own, labels, **settings)
                    new = _chosen(found, n, probability, own.size / known.size)
                typed = [*table.take_rows(own).columns, label.take(own)]
                random = _random(typed, new, found, np.random.default_rng([run.seed % 2**63, k]))
                changed[k] = sum(map(len, new.values()))
                for which, part in enumerate(({}, new, random)):
                    problem = make_problem(
                        change_cells(
                            X_own, {name: one for name, one in part.items() if name != label.name}
                        ),
                        change_vector(y_own, part.get(label.name, {})),
                        native_rows(table.native, others),
                        y[others],
                        scoring=scoring,
                        baseline="zero",
                        **question,
                    )
                    game = Exact(model).games(problem, run)[0][0]
                    whole = (
                        np.ones((1, size), dtype=bool) for size in (game.n_rows, game.n_columns)
                    )
                    scores[which, k] = game.utilities(*whole).item()
            pace.tick()
            report((k + 1) / len(parts), f"fold {k + 1} of {len(parts)}")
    of_labels = target.task == "classification"
    name = scoring if isinstance(scoring, str) else "score"
    if scoring is None and knn_of(model) is not None:
        name = "probability of the right label" if of_labels else "neighbours' score"
    elif scoring is None:
        name = "accuracy" if of_labels else "R squared"
    before, after, control = scores[:, : len(parts)]
    return RepairGain(before, after, control, changed[: len(parts)], cv, name, given_frame)


def _chosen(found: Inspection, n: int | None, probability: float | None, share: float) -> Changes:
    """What an inspection of this share of the rows repairs."""
    if n is not None:
        check_whole(n, "n", 0)
        n = round(n * share)
    elif probability is None:
        probability = 0.5
    return changes_of(found, choose(found, found._cells.names, n=n, probability=probability))


def _random(
    columns: Sequence[Column], new: Changes, found: Inspection | None, rng: np.random.Generator
) -> Changes:
    """Random control: as many changes in the same columns, to the entries expected there.

    Without an inspection the usual entry is expected.
    """
    random: Changes = {}
    for name, part in new.items():
        j = next(j for j, one in enumerate(columns) if one.name == name)
        wanted = _usual(columns[j]) if found is None else found._cells.expected_texts(j)
        pairs = enumerate(zip(columns[j].text(), wanted, strict=True))
        others = [i for i, (is_there, usual) in pairs if i not in part and is_there != usual]
        rows = rng.choice(
            np.array(others, dtype=np.intp), min(len(part), len(others)), replace=False
        )
        random[name] = {int(i): wanted[i] for i in rows}
    return random


def _usual(column: Column) -> list[str | None]:
    """The median of numbers and dates, the commonest of other entries, in every row."""
    known, n = column.entries[~np.isnan(column.entries)], column.entries.size
    if not known.size:
        return [None] * n
    values, counts = np.unique(known, return_counts=True)
    is_number = column.kind in ("number", "date")
    entry = np.median(known) if is_number else values[counts.argmax()]
    return [EntryWriter.of(column).text(float(entry))] * n


def _read_log(log: Any, table: Table, label: str) -> Changes:
    """The changes of a log, by column and row position."""
    frame = nw.from_native(log, eager_only=True, pass_through=True)
    wanted = {"row", "column", "after"}
    if not isinstance(frame, nw.DataFrame) or not wanted <= {*frame.columns}:
        raise InputError(
            "repairs must be an Inspection, or the log of a repair: a frame of row, column "
            "and after"
        )
    if len({*map(str, table.row_names.tolist())}) < table.n_rows:
        raise InputError("X has several rows of the same name: give it an index without repeats")
    changes: Changes = {}
    names = list(dict.fromkeys([*table.column_names, label]))
    for i, column, (new,) in listed_cells(log, table.row_names, names, "repairs"):
        changes.setdefault(column, {})[i] = new
    return changes


def _within(log: Changes, rows: NDArray[np.intp]) -> Changes:
    """The changes in some rows, by position among these rows."""
    place = {int(row): k for k, row in enumerate(rows)}
    found = {
        name: {place[i]: text for i, text in part.items() if i in place}
        for name, part in log.items()
    }
    return {name: part for name, part in found.items() if part}
