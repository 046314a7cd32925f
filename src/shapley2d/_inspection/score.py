"""The anomaly score of every cell: how unlikely its entry is, given the rest of its row."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._base.memory import give_back_memory
from shapley2d._base.progress import reporting
from shapley2d._inspection.binning import bin_column
from shapley2d._inspection.cells import Expected, ScoredCells
from shapley2d._inspection.deviation import deviation
from shapley2d._inspection.forests import Bags, grow, is_predicted, repair_gains, row_chunks
from shapley2d._inspection.learned import WEIGHTS
from shapley2d._inspection.marginal import class_distance, odd_writing, standing_alone
from shapley2d._inspection.own_order import OwnOrder
from shapley2d._inspection.probability import wrong_probability
from shapley2d._inspection.slips import explain_suspects
from shapley2d._tables.target import with_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._models.kernels.forest import Forest
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

_GROWN = 0.6  # share of the time until the forests are grown and asked
_FEW_TREES = 8  # of every column at least
_AFTER_CELL_S = 1e-6  # seconds for a cell once it is scored: its probability, the list, the page
_SAFE = 0.8  # of the time that is left: columns differ, and the result has to be made


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

    Parameters
    ----------
    table : Table
    target : Target or None
        Its labels.
    label_name : str
        Name of the column of labels.
    findings : sequence of ColumnFinding
        What was found about columns: it counts in the probabilities.
    seed : int
    n_jobs : int or None
        Threads, as in joblib; all processors by default. Their number changes nothing.
    progress : {"auto", True, False} or callable
    limit : TimeLimit, optional
        When to be done: with fewer trees, and, where time is up all the same, with columns that are
        judged by themselves and without trying repairs. ``info`` says what was left out.

    Returns
    -------
    ScoredCells

    Examples
    --------
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
    with reporting(progress, "inspecting cells") as report:
        work = _Work(columns, target, seed)
        give_back_memory()
        threads, n_columns = count_threads(n_jobs), len(columns)
        if limit is not None:
            limit = limit.earlier(_AFTER_CELL_S * work.codes.size)
            work.fit_trees(limit, threads)
        work.limit = None if limit is None else limit.earlier((1 - _GROWN) * limit.left())
        forests: list[Forest | None] = []
        grown = map_in_threads(work.column, range(n_columns), threads)
        for k, forest in enumerate(grown):
            forests.append(forest)
            report(_GROWN * (k + 1) / n_columns, f"predicting {work.names[k]!r}")
        left_out = work.note_gains(forests, threads, report, limit)
        as_expected = work.as_expected()
        work.binned.clear()  # a third of the memory, and no longer needed
        forests.clear()
        give_back_memory()
        scores = np.zeros(work.codes.shape)
        for part in work.parts.values():
            scores += part
        probability = wrong_probability(
            scores, work.parts, columns, work.label, as_expected, findings, threads
        )
        notes, suggested = explain_suspects(columns, work.expected, probability, findings)
        report(1.0, "")
    return ScoredCells(
        columns=columns,
        has_label=target is not None,
        scores=scores,
        probability=probability,
        expected=suggested,
        parts=work.parts,
        notes=notes,
        info={
            "rows_per_tree": int(work.bags.rows.shape[1]),
            "trees": int(work.bags.rows.shape[0]),
            "share_of_errors": float(probability.mean()),
            "seconds": time.perf_counter() - started,
            **work.left_out(left_out),
        },
    )


class _Work:
    """The work that is done column by column, in the table's own order, and its results.

    The results are in the order of the given table.
    """

    def __init__(self, columns: tuple[Column, ...], target: Target | None, seed: int) -> None:
        self.given, self.seed = columns, seed
        # class labels are scored apart, and the other columns by class
        has_classes = target is not None and target.task == "classification"
        self.label = len(columns) - has_classes
        order = OwnOrder.of(columns, self.label)
        self.names = [column.name for column in order.columns]
        self.binned = [bin_column(column) for column in order.columns]
        self.order = replace(order, columns=())  # the bins have what is needed of them
        self.codes = np.column_stack([binned.codes_of(binned.values) for binned in self.binned])
        self.bags = Bags.draw(self.order.alike, seed)
        self.limit: TimeLimit | None = None
        self.alone: set[int] = set()  # columns that were not predicted, for lack of time
        self.groups = np.zeros(len(self.codes), dtype=np.intp)
        if target is not None and has_classes:
            self.groups = target.codes.astype(np.intp)[self.order.row_places]
        self.new = np.zeros_like(self.codes)  # of the expected entries
        self.expected = [Expected(np.zeros(0))] * len(columns)
        self.parts = {name: np.zeros(self.codes.shape, dtype=np.float32) for name in WEIGHTS}

    def column(self, k: int) -> Forest | None:
        """Score the entries of a column, note what is expected there, and return its forest."""
        binned, j = self.binned[k], int(self.order.column_places[k])
        is_label = j == self.label
        forest = None
        if self.limit is None or self.limit.left() > 0:
            forest = grow(self.binned, self.codes, self.bags, k, self.seed)
        else:
            self.alone.add(k)
        off = deviation(binned, forest, self.codes, self.bags, plain=is_label)
        self.note("surprise", j, off.surprise)
        if not is_label:
            self.note("stories", j, off.stories)
            self.note("distance", j, off.distance)
            self.note("class", j, class_distance(binned, self.groups))
            self.note("repeat", j, standing_alone(binned))
            self.parts["text"][:, j] = WEIGHTS["text"] * odd_writing(self.given[j])
        self.new[:, k] = binned.codes_of(off.expected.entries)
        self.expected[j] = self.order.given(k, off.expected)
        return forest

    def fit_trees(self, limit: TimeLimit, threads: int) -> None:
        """Take as many trees as fit into the time, by how long a few take for some columns."""
        few = Bags.draw(self.order.alike, self.seed, _FEW_TREES)
        predicted = [k for k, binned in enumerate(self.binned) if is_predicted(binned)]
        if not predicted:
            return
        tried = predicted[:: max(len(predicted) // 3, 1)]

        def look(k: int) -> None:
            forest = grow(self.binned, self.codes, few, k, self.seed)
            deviation(self.binned[k], forest, self.codes, few)

        look(tried[0])  # compiles, or loads what was compiled
        begin = time.monotonic()
        for k in tried:
            look(k)
        each_s = (time.monotonic() - begin) / len(tried) / len(few.rows)
        all_s = each_s * len(predicted) / threads / _GROWN
        fitting = int(_SAFE * limit.left() / max(all_s, 1e-9))
        if fitting < len(self.bags.rows):
            self.bags = Bags.draw(self.order.alike, self.seed, max(fitting, _FEW_TREES))

    def left_out(self, n_rows: int) -> dict[str, Any]:
        """What a time limit left out, for the record; empty where nothing was."""
        names = [name for k, name in enumerate(self.names) if k in self.alone]
        found: dict[str, Any] = {"columns_not_predicted": names} if names else {}
        found |= {"rows_without_tried_repairs": n_rows} if n_rows else {}
        return {**found, "time_up": True} if found else {}

    def as_expected(self) -> NDArray[np.bool_]:
        """Whether entries have the codes of the expected ones, in the order of the given table."""
        same = np.empty(self.codes.shape, dtype=bool)
        same[np.ix_(self.order.row_places, self.order.column_places)] = self.new == self.codes
        return same

    def note(self, reason: str, j: int, against: NDArray[np.float64]) -> None:
        """Add weighted evidence against a column's entries; a label's score is its surprise."""
        weight = 1.0 if j == self.label else WEIGHTS[reason]
        self.parts[reason][self.order.row_places, j] = weight * against

    def note_gains(
        self,
        forests: list[Forest | None],
        threads: int,
        report: Callable[..., None],
        limit: TimeLimit | None = None,
    ) -> int:
        """Score how much better the rest of a row fits with the expected entry.

        Returns the number of rows that a time limit left out.
        """
        chunks = row_chunks(len(self.new))
        scored = np.flatnonzero(self.order.column_places != self.label)

        def gain(rows: slice) -> NDArray[np.float64] | None:
            if limit is not None and limit.left() < 0:
                return None
            return repair_gains(self.binned, forests, self.codes, self.new, self.bags, rows)

        of_chunks = map_in_threads(gain, chunks, threads)
        left_out = 0
        for k, (rows, gains) in enumerate(zip(chunks, of_chunks, strict=True)):
            if gains is None:
                left_out += rows.stop - rows.start
                continue
            cells = np.ix_(self.order.row_places[rows], self.order.column_places[scored])
            self.parts["gain"][cells] = WEIGHTS["gain"] * np.arcsinh(gains[:, scored])
            report(_GROWN + (1 - _GROWN) * (k + 1) / len(chunks), "trying repairs")
        return left_out
