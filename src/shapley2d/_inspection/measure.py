"""Whether repairs help a model, measured on held-out rows that no repair has seen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import shown
from shapley2d._inspection.inspect import inspect_cells, read_label
from shapley2d._inspection.inspection import Inspection
from shapley2d._inspection.ranking import rank_cells
from shapley2d._inspection.repair_gain import RepairGain
from shapley2d._inspection.tables.changes import Changes, change_cells, change_vector
from shapley2d._inspection.tables.entry_writer import EntryWriter
from shapley2d._methods.run import Run
from shapley2d._models.by_name import check_model, knn_of
from shapley2d._models.exact import Exact
from shapley2d._tables.convert import as_table
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.intake import with_targets
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.problem import Problem, Split
from shapley2d._tables.scoring import check_scoring
from shapley2d._tables.table import native_rows
from shapley2d._tables.target import as_target, guess_task, match_target
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray


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
        With an inspection: repair all cells whose probability of being wrong is at least this; 0.5
        where neither is given.
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
        data = _Data.of(X, y, named, task, kinds)
    inspects = isinstance(repairs, Inspection)
    log: Changes = {} if inspects else _log_changes(repairs, data)
    if not inspects and (n is not None or probability is not None):
        raise InputError(
            f"{'n' if n is not None else 'probability'} goes with an inspection: the log "
            "lists the changes"
        )
    parts = [part for k in range(n_repeats) for part in _folds(data, cv, run.seed + k)]
    scores = np.zeros((3, len(parts)))
    changed = np.zeros(len(parts), dtype=np.intp)
    settings: dict[str, Any] = {
        "task": data.task, "kinds": kinds, "random_state": run.seed, "n_jobs": run.n_jobs,
        "progress": False,
    }  # fmt: skip
    pace = Pace()
    with reporting(run.progress, "measuring repairs") as report:
        for k, (train, held) in enumerate(parts):
            if run.limit is not None and run.limit.left() < (pace.seconds() or 0.0):
                run.limit.check(0.0 if k > 1 else math.inf)
                parts = parts[:k]
                break
            with without_warnings():
                own = data.take(train)
                found: Inspection | None = None
                new = _within(log, data.rows[train])
                if inspects:
                    found = inspect_cells(own.native, own.y, **settings)
                    names = [*found.column_names, own.label]
                    new = _likely(found, names, n, probability, train.size / data.rows.size)
                random = _random(own, new, found, np.random.default_rng([run.seed % 2**63, k]))
                changed[k] = sum(map(len, new.values()))
                unseen = data.take(held)
                for which, part in enumerate(({}, new, random)):
                    scores[which, k] = _score(own.changed(part), unseen, model, scoring, run)
            pace.tick()
            report((k + 1) / len(parts), f"fold {k + 1} of {len(parts)}")
    of_labels = data.task == "classification"
    name = scoring if isinstance(scoring, str) else "score"
    if scoring is None and knn_of(model) is not None:
        name = "probability of the right label" if of_labels else "neighbours' score"
    elif scoring is None:
        name = "accuracy" if of_labels else "R squared"
    before, after, control = scores[:, : len(parts)]
    return RepairGain(before, after, control, changed[: len(parts)], cv, name, given_frame)


@dataclass(frozen=True)
class _Data:
    """A table of the caller's type with its target, and the rows that are used."""

    native: Any
    y: Any
    label: str
    task: str
    kinds: Any
    row_names: NDArray[Any]
    rows: NDArray[np.intp]

    @classmethod
    def of(cls, X: Any, y: Any, named: str | None, task: str, kinds: Any) -> _Data:
        table = as_table(X, "X", kinds)
        label = read_label(y, named, table)[1].columns[0]
        # rows without a label can neither train nor be scored
        known = np.flatnonzero(~np.isnan(label.entries))
        vector = np.array(label.text(), dtype=object)
        if label.kind == "number":
            vector = label.entries
        chosen = task if task != "auto" else guess_task(vector[known])
        native = table.native
        return cls(native, vector, label.name, chosen, kinds, table.row_names, known)

    def take(self, places: NDArray[np.intp]) -> _Data:
        rows = self.rows[places]
        return replace(
            self,
            native=native_rows(self.native, rows),
            y=self.y[rows],
            row_names=self.row_names[rows],
            rows=np.arange(rows.size),
        )

    def changed(self, changes: Changes) -> _Data:
        own = dict(changes)
        labels = own.pop(self.label, {})
        native = change_cells(self.native, own) if own else self.native
        return replace(self, native=native, y=change_vector(self.y, labels))


def _score(train: _Data, held: _Data, model: Any, scoring: Any, run: Run) -> float:
    """The score on held-out rows of a model trained on a table."""
    table = as_table(train.native, "X", train.kinds)
    target = as_target(train.y, table, train.task)
    if target.kept is not None:
        table = table.take_rows(target.kept)
    read = as_table(held.native, "X", like=table)
    y_valid = match_target(held.y, read, target)
    read = read if y_valid.kept is None else read.take_rows(y_valid.kept)
    split = Split(np.arange(table.n_rows), table, target, match_columns(read, table, "X"), y_valid)
    problem = Problem(table, target, [split], scoring=scoring, baseline="zero")
    game = Exact(model).games(problem, run).games[0]
    everything = (np.ones((1, size), dtype=bool) for size in (game.n_rows, game.n_columns))
    return float(game.utilities(*everything).item())


def _likely(
    found: Inspection, names: list[str], n: int | None, probability: float | None, share: float
) -> Changes:
    """The repairs of an inspection of this share of the rows."""
    cells, least = found._cells, 0.5 if n is None else 0.0
    order = rank_cells(found, least=least if probability is None else probability)
    if n is not None:
        check_whole(n, "n", 0)
        order = order[: round(n * share)]
    new: Changes = {}
    for i, j in order:
        if (text := cells.expected_text(i, j)) != cells.entries[j][i]:
            new.setdefault(names[j], {})[i] = text
    return new


def _random(
    own: _Data, new: Changes, found: Inspection | None, rng: np.random.Generator
) -> Changes:
    """Random control: as many changes in the same columns, to the entries expected there."""
    random: Changes = {}
    for name, part in new.items():
        entries, wanted = _expected(own, name, found)
        others = np.array(
            [i for i in own.rows.tolist() if i not in part and wanted[i] != entries[i]],
            dtype=np.intp,
        )
        rows = rng.choice(others, size=min(len(part), others.size), replace=False)
        random[name] = {int(i): wanted[i] for i in rows}
    return random


def _expected(
    own: _Data, name: str, found: Inspection | None
) -> tuple[list[str | None], list[str | None]]:
    """The entries of a column, and the expected ones; without an inspection the usual entry."""
    if found is not None:
        j = [*found.column_names, own.label].index(name)
        return found._cells.entries[j], found._cells.expected_texts(j)
    column = (
        as_table({name: own.y}, "y").columns[0]
        if name == own.label
        else next(one for one in as_table(own.native, "X", own.kinds).columns if one.name == name)
    )
    known = column.entries[~np.isnan(column.entries)]
    values, counts = np.unique(known, return_counts=True)
    usual = None
    if known.size:
        is_number = column.kind in ("number", "date")
        entry = np.median(known) if is_number else values[counts.argmax()]
        usual = EntryWriter.of(column).text(float(entry))
    return column.text(), [usual] * column.entries.size


def _log_changes(log: Any, data: _Data) -> Changes:
    """The changes of a log, by column and row position."""
    frame = nw.from_native(log, eager_only=True, pass_through=True)
    wanted = ("row", "column", "after")
    if not isinstance(frame, nw.DataFrame) or any(name not in frame.columns for name in wanted):
        raise InputError(
            "repairs must be an Inspection, or the log of a repair: a frame of row, column "
            "and after"
        )
    places = {str(name): i for i, name in enumerate(data.row_names.tolist())}
    if len(places) < data.row_names.size:
        raise InputError("X has several rows of the same name: give it an index without repeats")
    known = {data.label, *as_table(data.native, "X", data.kinds).column_names}
    changes: Changes = {}
    for row, column, after in frame.select(wanted).rows():
        if str(row) not in places or str(column) not in known:
            raise InputError(f"repairs changes row {row!r}, column {column!r}, which X lacks")
        gone = after is None or after != after  # noqa: PLR0124  (NaN)
        changes.setdefault(str(column), {})[places[str(row)]] = None if gone else str(after)
    return changes


def _within(log: Changes, rows: NDArray[np.intp]) -> Changes:
    """The changes in some rows, by position among these rows."""
    place = {int(row): k for k, row in enumerate(rows)}
    found = {
        name: {place[i]: text for i, text in part.items() if i in place}
        for name, part in log.items()
    }
    return {name: part for name, part in found.items() if part}


def _folds(data: _Data, cv: int, seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    from sklearn.model_selection import KFold, StratifiedKFold

    count = data.rows.size
    if count < 2 * cv:
        raise InputError(f"{count} rows with a label are too few for cv={shown(cv)}")
    labels = data.y[data.rows].astype(str)
    _, sizes = np.unique(labels, return_counts=True)
    stratify = data.task == "classification" and sizes.max() >= cv
    kind = StratifiedKFold if stratify else KFold
    splitter = kind(n_splits=cv, shuffle=True, random_state=seed % 2**32)
    return list(splitter.split(np.zeros(count), labels if stratify else None))
