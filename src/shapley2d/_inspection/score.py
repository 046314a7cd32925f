"""The anomaly score of every cell: how unlikely its entry is, given the rest of its row.

Learn from a table, then judge rows: :class:`Lessons` is what a table teaches. A table that is
inspected alone teaches about its own rows, which are judged by trees that have not seen them; new
rows are judged by all trees.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._base.progress import reporting
from shapley2d._inspection.binning import bin_column
from shapley2d._inspection.cells import Expected, ScoredCells
from shapley2d._inspection.columns.far import beyond_in_tail
from shapley2d._inspection.columns.finding import RARE
from shapley2d._inspection.deviation import deviation
from shapley2d._inspection.forests import (
    FEWEST_TREES,
    Bags,
    grow,
    is_predicted,
    repair_gains,
    row_chunks,
    without_trees,
)
from shapley2d._inspection.learned import WEIGHTS
from shapley2d._inspection.marginal import class_distance, odd_writing, standing_alone
from shapley2d._inspection.memory import give_back_memory
from shapley2d._inspection.novelty import as_time_goes_on
from shapley2d._inspection.own_order import OwnOrder
from shapley2d._inspection.probability import wrong_probability
from shapley2d._inspection.slips import explain_suspects
from shapley2d._tables.target import with_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._inspection.binning import BinnedColumn
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.kernels.forest import Forest
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

_GROWN, _TRIED = 0.5, 0.8
"""Shares of the time until the forests are grown and asked, and until repairs are tried."""

_FEW_TREES = 8  # of every column at least


def inspect_table(
    table: Table,
    target: Target | None,
    *,
    label_name: str = "label",
    findings: Sequence[ColumnFinding] = (),
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    limit: TimeLimit | None = None,
) -> ScoredCells:
    """Score every cell, with how likely it is wrong and what was expected instead.

    ``findings`` about columns count in the probabilities. Threads change nothing. Under a ``limit``
    there are fewer trees, and, where time is up all the same, columns that are judged by themselves
    and rows whose repairs are not tried; ``info`` says what was left out.

    >>> from shapley2d._tables.convert import as_table
    >>> grown = np.arange(60.0)
    >>> shrunk = 100 - grown
    >>> shrunk[30] = 5.0
    >>> found = inspect_table(as_table({"grown": grown, "shrunk": shrunk}), None, progress=False)
    >>> np.unravel_index(found.scores.argmax(), found.scores.shape)
    (np.int64(30), np.int64(1))
    """
    started = time.perf_counter()
    columns = table.columns if target is None else with_label(table, target, label_name).columns
    # class labels are scored apart, and the other columns by class
    has_classes = target is not None and target.task == "classification"
    with reporting(progress, "inspecting cells") as report:
        lessons = Lessons(columns, len(columns) - has_classes, seed)
        work = _Work(lessons, lessons.own_rows())
        give_back_memory()
        threads, n_columns = count_threads(n_jobs), len(columns)
        if limit is not None:
            work.fit_trees(limit, threads)
            work.limit = limit.earlier((1 - _GROWN) * limit.left())
            limit = limit.earlier((1 - _TRIED) * limit.left())
        learned = map_in_threads(work.learn, range(n_columns), threads)
        for k, _ in enumerate(learned):
            report(_GROWN * (k + 1) / n_columns, f"predicting {lessons.names[k]!r}")
        left_out = work.note_gains(threads, report, limit)
        usual = work.as_expected()
        trees, alone = lessons.bags.rows.shape, work.left_out(left_out)
        lessons.binned.clear()  # a third of the memory, and no longer needed
        work.rows.binned.clear()
        lessons.forests.clear()
        give_back_memory()
        scores = work.scores()
        probability = wrong_probability(
            scores,
            work.parts,
            columns,
            lessons.label,
            usual,
            findings,
            threads,
            in_tail=work.in_tail,
        )
        notes, suggested, expected = explain_suspects(columns, work.expected, probability, findings)
        report(1.0, "")
    return ScoredCells(
        columns=columns,
        has_label=target is not None,
        scores=scores,
        probability=probability,
        expected=expected,
        parts=work.parts,
        usual=usual,
        has_classes=has_classes,
        notes=notes,
        suggested=suggested,
        info={
            "rows_per_tree": int(trees[1]),
            "trees": int(trees[0]),
            "share_of_errors": float(probability.mean()),
            "seconds": time.perf_counter() - started,
            **alone,
        },
    )


def judge_rows(
    lessons: Lessons,
    table: ScoredCells,
    columns: tuple[Column, ...],
    findings: Sequence[ColumnFinding],
    threads: int,
) -> ScoredCells:
    """Score the cells of new rows by what a table teaches, each as if it were one more row of it.

    ``columns`` are the ``table``'s with the new rows below its own; ``findings`` are about both, by
    their positions there.
    """
    known = lessons.codes.shape[0]
    work = _Work(lessons, lessons.new_rows(columns))
    list(map_in_threads(work.judge, range(len(columns)), threads))
    work.note_gains(threads, lambda *_: None)
    scores, usual = work.scores(), work.as_expected()
    probability = wrong_probability(
        np.concatenate([table.scores, scores]),
        {name: np.concatenate([table.parts[name], part]) for name, part in work.parts.items()},
        columns,
        lessons.label,
        np.concatenate([table.usual, usual]),
        findings,
        threads,
        known,
        work.in_tail,
    )
    for j, own in enumerate(table.probability.T):
        # entries of a trusted table are right, however suspicious: as often, others are right too
        as_suspicious = known - np.searchsorted(np.sort(own), probability[:, j])
        probability[:, j] *= RARE / (RARE + as_suspicious / known)
    notes, suggested, expected = explain_suspects(columns, work.expected, probability, findings)
    new = np.arange(known, known + len(scores))
    return ScoredCells(
        columns=tuple(column.take(new) for column in columns),
        has_label=table.has_label,
        scores=scores,
        probability=probability,
        expected=expected,
        parts=work.parts,
        usual=usual,
        has_classes=table.has_classes,
        notes=notes,
        suggested=suggested,
        written_like=columns,
    )


class Lessons:
    """What a table teaches about rows: its own order, bins and codes, and trees that predict.

    All but ``given`` are in that order. ``label`` is the position of the class labels among the
    given columns, or their number; ``groups`` has the class of every row, 0 without classes;
    ``forests`` are None where none are grown.
    """

    def __init__(
        self, columns: tuple[Column, ...], label: int, seed: int, most_trees: int | None = None
    ) -> None:
        self.given, self.label, self.seed = columns, label, seed
        order = OwnOrder.of(columns, label)
        self.names = [column.name for column in order.columns]
        self.binned = [bin_column(column) for column in order.columns]
        self.order = replace(order, columns=())  # the bins have what is needed of them
        self.codes = np.column_stack([binned.codes_of(binned.values) for binned in self.binned])
        self.bags = self.draw_bags(most_trees)
        self.groups = _groups(columns, label)[self.order.row_places]
        self.forests: list[Forest | None] = [None] * len(columns)

    def draw_bags(self, most_trees: int | None = None) -> Bags:
        """Draw the rows of the trees; fewer trees where a time limit has no room for more."""
        return Bags.draw(self.order.alike, self.seed, most_trees)

    def grow(self, k: int) -> None:
        self.forests[k] = grow(self.binned, self.codes, self.bags, k, self.seed)

    def own_rows(self) -> _Rows:
        """The table's own rows, which are judged by trees that have not seen them."""
        return _Rows(
            self.given, self.binned, self.codes, self.bags.seen, self.groups, self.order.row_places
        )

    def new_rows(self, columns: tuple[Column, ...]) -> _Rows:
        """The rows below those of the table in columns of both, which no tree has seen."""
        known, n = len(self.codes), columns[0].entries.size
        binned = []
        for place, sign, own in zip(
            self.order.column_places, self.order.signs, self.binned, strict=True
        ):
            column = columns[place]
            entries = sign * as_time_goes_on(column, known)
            strays = np.array([row - known for row in column.from_text.strays if row >= known])
            strays = strays.astype(np.intp)
            binned.append(own.at(entries, strays[np.isnan(entries[strays])]))
        codes = np.column_stack([one.codes_of(one.values) for one in binned])
        seen = np.zeros((n - known, self.bags.seen.shape[1]), dtype=np.uint64)
        groups = _groups(columns, self.label)[known:]
        return _Rows(columns, binned, codes, seen, groups, np.arange(n - known), known)


def _groups(columns: Sequence[Column], label: int) -> Ints:
    """The class of every row: 0 without classes, -1 where it is missing."""
    if label == len(columns):
        return np.zeros(columns[0].entries.size, dtype=np.intp)
    return np.nan_to_num(columns[label].entries, nan=-1.0).astype(np.intp)


@dataclass(frozen=True)
class _Rows:
    """Rows to judge, in a table's own order of columns.

    The ``given`` columns have the given order; the rows to judge begin there at ``known``, below
    those of the table, and ``places`` is where each is among them.
    """

    given: tuple[Column, ...]
    binned: list[BinnedColumn]
    codes: NDArray[np.uint8]
    seen: NDArray[np.uint64]
    groups: Ints
    places: Ints
    known: int = 0


def _in_tail(table: BinnedColumn, judged: BinnedColumn, surprise: Floats) -> Bools:
    """Which numbers their column's own tail explains: it puts about one or more in such rows."""
    found = np.zeros(judged.bins.size, dtype=bool)
    there = np.flatnonzero((judged.bins >= 0) & ~np.isnan(judged.values))
    if there.size and not judged.is_category:
        own, usual = np.exp(-surprise[there]), table.shares[judged.bins[there]]
        beyond = beyond_in_tail(table.ordered, judged.values[there])
        # forests tell the share of a bin in such rows up to a factor of two
        found[there] = np.isfinite(beyond) & (2 * beyond * own >= usual)
    return found


class _Work:
    """The work that is done column by column, in the table's own order, and its results.

    The results are in the order of the given table.
    """

    def __init__(self, lessons: Lessons, rows: _Rows) -> None:
        self.lessons, self.rows, self.order = lessons, rows, lessons.order
        self.limit: TimeLimit | None = None
        self.alone: set[int] = set()  # columns that were not predicted, for lack of time
        self.new = np.zeros_like(rows.codes)  # of the expected entries
        self.expected = [Expected(np.zeros(0))] * len(lessons.names)
        self.parts = {name: np.zeros(rows.codes.shape, dtype=np.float32) for name in WEIGHTS}
        self.in_tail = np.zeros(rows.codes.shape, dtype=bool)

    def learn(self, k: int) -> None:
        """Grow the forest of a column, if there is time, and judge the entries by it."""
        if self.limit is None or self.limit.left() > 0:
            self.lessons.grow(k)
        else:
            self.alone.add(k)
        self.judge(k)

    def judge(self, k: int) -> None:
        """Score the entries of a column, and note what is expected there."""
        rows, binned, j = self.rows, self.rows.binned[k], int(self.order.column_places[k])
        is_label = j == self.lessons.label
        forest = self.lessons.forests[k]
        off = deviation(binned, forest, rows.codes, rows.seen, plain=is_label)
        self.note("surprise", j, off.surprise)
        if not is_label:
            self.note("stories", j, off.stories)
            self.note("distance", j, off.distance)
            table = self.lessons.binned[k]
            off_class = class_distance(table, self.lessons.groups, binned, rows.groups)
            self.note("class", j, off_class)
            self.note("repeat", j, standing_alone(table, binned))
            odd = odd_writing(rows.given[j], rows.known or None)[rows.known :]
            self.parts["text"][:, j] = WEIGHTS["text"] * odd
            self.in_tail[rows.places, j] = _in_tail(table, binned, off.surprise)
        self.new[:, k] = binned.codes_of(off.expected.entries)
        self.expected[j] = self.order.given(k, off.expected, rows.places)

    def scores(self) -> Floats:
        scores = np.zeros(self.rows.codes.shape)
        for part in self.parts.values():
            scores += part
        return scores

    def fit_trees(self, limit: TimeLimit, threads: int) -> None:
        """Take as many trees as fit into the time, by how long a few take for some columns."""
        lessons = self.lessons
        few = lessons.draw_bags(_FEW_TREES)
        predicted = [k for k, binned in enumerate(lessons.binned) if is_predicted(binned)]
        if not predicted:
            return
        took_s = []
        for k in [*predicted[:1], *predicted[:: max(len(predicted) // 3, 1)]]:
            if limit.left() <= 0:
                break
            begin = time.monotonic()
            forest = grow(lessons.binned, lessons.codes, few, k, lessons.seed)
            deviation(lessons.binned[k], forest, lessons.codes, few.seen)
            took_s.append(time.monotonic() - begin)
        # the first compiles, or loads what was compiled
        each_s = float(np.mean(took_s[1:] or took_s or [np.inf])) / len(few.rows)
        fitting = int(_GROWN * limit.left() * threads / max(each_s * len(predicted), 1e-9))
        if fitting < len(lessons.bags.rows):
            lessons.bags = lessons.draw_bags(max(fitting, _FEW_TREES))
            self.rows = lessons.own_rows()

    def left_out(self, n_rows: int) -> dict[str, Any]:
        """What a time limit left out, for the record; empty where nothing was."""
        names = [name for k, name in enumerate(self.lessons.names) if k in self.alone]
        found: dict[str, Any] = {"columns_not_predicted": names} if names else {}
        found |= {"rows_without_tried_repairs": n_rows} if n_rows else {}
        return {**found, "time_up": True} if found else {}

    def as_expected(self) -> Bools:
        """Whether entries have the codes of the expected ones, in the order of the given table."""
        same = np.empty(self.new.shape, dtype=bool)
        same[np.ix_(self.rows.places, self.order.column_places)] = self.new == self.rows.codes
        return same

    def note(self, reason: str, j: int, against: Floats) -> None:
        """Add weighted evidence against a column's entries; a label's score is its surprise."""
        weight = 1.0 if j == self.lessons.label else WEIGHTS[reason]
        self.parts[reason][self.rows.places, j] = weight * against

    def note_gains(
        self, threads: int, report: Callable[..., None], limit: TimeLimit | None = None
    ) -> int:
        """Score how much better the rest of a row fits with the expected entry.

        Returns the number of rows that a time limit left out.
        """
        chunks, judged, forests = row_chunks(len(self.new)), self.rows, self.lessons.forests
        # repairs of new rows are tried with as few trees as are needed, the first ones
        seen = without_trees(judged.seen, FEWEST_TREES) if judged.known else judged.seen
        scored = np.flatnonzero(self.order.column_places != self.lessons.label)

        def gain(rows: slice) -> Floats | None:
            if limit is not None and limit.left() < 0:
                return None
            return repair_gains(judged.binned, forests, judged.codes, self.new, seen, rows)

        of_chunks = map_in_threads(gain, chunks, threads)
        left_out = 0
        for k, (rows, gains) in enumerate(zip(chunks, of_chunks, strict=True)):
            if gains is None:
                left_out += rows.stop - rows.start
                continue
            cells = np.ix_(judged.places[rows], self.order.column_places[scored])
            self.parts["gain"][cells] = WEIGHTS["gain"] * np.arcsinh(gains[:, scored])
            report(_GROWN + (1 - _GROWN) * (k + 1) / len(chunks), "trying repairs")
        return left_out
