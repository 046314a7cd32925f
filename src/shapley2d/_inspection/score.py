"""Every entry of a table, or of new rows, judged: probability, what is expected, and reasons.

Learn from a table, then judge rows: :class:`Lessons` is what a table teaches. A table that is
inspected alone teaches about its own rows, which are judged by trees that have not seen them; new
rows are judged by all trees.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._base.progress import reporting
from shapley2d._inspection.binning import bin_column
from shapley2d._inspection.cells import ScoredCells
from shapley2d._inspection.columns.finding import RARE
from shapley2d._inspection.columns.view import column_views
from shapley2d._inspection.forests import Bags, grow, is_predicted
from shapley2d._inspection.labels import label_probability
from shapley2d._inspection.memory import give_back_memory
from shapley2d._inspection.novelty import as_time_goes_on
from shapley2d._inspection.own_order import OwnOrder
from shapley2d._inspection.predict import joined, predict
from shapley2d._inspection.probability import SUSPECT, Judged, damped
from shapley2d._inspection.slips import explain_suspects
from shapley2d._inspection.suggestions import offered
from shapley2d._tables.table import Table
from shapley2d._tables.target import with_label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Ints
    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._inspection.binning import BinnedColumn
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._inspection.kernels.forest import Forest
    from shapley2d._inspection.predict import Prediction
    from shapley2d._tables.table import Column
    from shapley2d._tables.target import Target

_GROWN = 0.7
"""Share of the time until the forests are grown and asked."""

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
    """Judge every cell: how likely it is wrong, and what was expected instead.

    Some ``findings`` state a probability. Threads change nothing. Under a ``limit`` there are fewer
    trees, and, where time is up all the same, columns that are judged by themselves; ``info`` says
    what was left out.

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
    # class labels are judged apart
    has_classes = target is not None and target.task == "classification"
    views = column_views(table)
    if target is not None:
        views += column_views(Table(columns[-1:], table.row_names))
    with reporting(progress, "inspecting cells") as report:
        lessons = Lessons(columns, len(columns) - has_classes, seed)
        give_back_memory()
        threads, n_columns = count_threads(n_jobs), len(columns)
        if limit is not None:
            lessons.fit_trees(limit, threads)
            lessons.limit = limit.earlier((1 - _GROWN) * limit.left())
        said: list[Any] = [None] * n_columns
        for k, (j, one) in enumerate(map_in_threads(lessons.learn, range(n_columns), threads)):
            said[j] = one
            report(_GROWN * (k + 1) / n_columns, f"predicting {columns[j].name!r}")
        trees, alone = lessons.bags.rows.shape, lessons.left_out()
        lessons.forget()  # a third of the memory, and no longer needed
        give_back_memory()
        cells = _judged(views, said, lessons.label, findings, threads)
        report(1.0, "")
    info = {
        "rows_per_tree": int(trees[1]),
        "trees": int(trees[0]),
        "share_of_errors": float(cells.probability.mean()),
        "seconds": time.perf_counter() - started,
        **alone,
    }
    return replace(cells, has_label=target is not None, has_classes=has_classes, info=info)


def judge_rows(
    lessons: Lessons,
    views: Sequence[ColumnView],
    findings: Sequence[ColumnFinding],
    threads: int,
) -> ScoredCells:
    """Judge new rows by what a table teaches, each as if it were one more row of it.

    The columns of the ``views`` are the table's with the new rows below its own; ``findings`` are
    about both, by their positions there.
    """
    rows = lessons.new_rows([view.column for view in views])
    n = range(len(views))
    new = dict(map_in_threads(lambda k: lessons.judge(k, rows), n, threads))
    said = [joined([lessons.of_own_rows[j], new[j]]) for j in n]
    return _judged(views, said, lessons.label, findings, threads)


def _judged(
    views: Sequence[ColumnView],
    said: Sequence[Prediction],
    label: int,
    findings: Sequence[ColumnFinding],
    threads: int,
) -> ScoredCells:
    """The cells of the rows that are judged: all of a table, or those below the known ones."""
    n, known = views[0].codes.size, views[0].known
    columns = tuple(view.column for view in views)
    judged = Judged(views, said, findings, threads)
    if label < len(views):  # classes
        codes = np.nan_to_num(columns[label].entries, nan=-1.0).astype(np.intp)
        there = codes[:known][codes[:known] >= 0]
        counts = np.append(np.bincount(there, minlength=codes.max(initial=0) + 1), 0)
        is_new = np.arange(n) >= known
        shares = np.maximum(counts[codes] + is_new, 1) / (known + is_new)
        judged.logit[:, label] = said[label].surprise
        judged.probability[:, label] = label_probability(said[label].surprise, shares, known)
        for name, part in judged.parts.items():
            part[:, label] = said[label].surprise if name == "row" else 0.0
    rows = np.arange(known, n) if n > known else np.arange(n)
    probability = judged.probability[rows]
    if n > known:
        probability = damped(probability, judged.probability[:known], RARE)
    expected = [one.expected.take(rows) for one in said]
    notes, suggested, found = explain_suspects(columns, expected, probability, findings)
    suspects = probability >= SUSPECT
    offers = offered(views, judged.company, expected, suspects, n - len(rows))
    return ScoredCells(
        columns=tuple(column.take(rows) for column in columns) if n > known else columns,
        has_label=False,
        scores=judged.logit[rows],
        probability=probability,
        expected=found,
        parts={name: part[rows] for name, part in judged.parts.items()},
        notes=notes,
        suggested=offers | suggested,
        written_like=columns if n > known else None,
    )


class Lessons:
    """What a table teaches about rows: its own order, bins and codes, and trees that predict.

    All but ``given`` are in that order. ``label`` is the position of the class labels among the
    given columns, or their number; ``forests`` are None where none are grown.
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
        self.forests: list[Forest | None] = [None] * len(columns)
        self.limit: TimeLimit | None = None
        self.alone: set[int] = set()  # columns that were not predicted, for lack of time

    def draw_bags(self, most_trees: int | None = None) -> Bags:
        """Draw the rows of the trees; fewer trees where a time limit has no room for more."""
        return Bags.draw(self.order.alike, self.seed, most_trees)

    def grow(self, k: int) -> None:
        self.forests[k] = grow(self.binned, self.codes, self.bags, k, self.seed)

    def learn(self, k: int) -> tuple[int, Prediction]:
        """Grow the forest of a column, if there is time, and judge the table's own rows by it."""
        if self.limit is None or self.limit.left() > 0:
            self.grow(k)
        else:
            self.alone.add(k)
        return self.judge(k)

    def judge(self, k: int, rows: _Rows | None = None) -> tuple[int, Prediction]:
        """What the forest of a column says of rows, and where the column is in the given table."""
        rows = self.own_rows if rows is None else rows
        j = int(self.order.column_places[k])
        is_label = j == self.label
        said = predict(rows.binned[k], self.forests[k], rows.codes, rows.seen, plain=is_label)
        back = np.argsort(rows.places)
        arrays: dict[str, Any] = {
            name: array[back] for name, array in vars(said).items() if isinstance(array, np.ndarray)
        }
        return j, replace(said, **arrays, expected=self.order.given(k, said.expected, rows.places))

    @cached_property
    def own_rows(self) -> _Rows:
        """The table's own rows, which are judged by trees that have not seen them."""
        return _Rows(self.binned, self.codes, self.bags.seen, self.order.row_places)

    @cached_property
    def of_own_rows(self) -> dict[int, Prediction]:
        """What grown forests say of the table's own rows, by column of the given table."""
        return dict(self.judge(k) for k in range(len(self.names)))

    def new_rows(self, columns: Sequence[Column]) -> _Rows:
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
        return _Rows(binned, codes, seen, np.arange(n - known))

    def fit_trees(self, limit: TimeLimit, threads: int) -> None:
        """Take as many trees as fit into the time, by how long a few take for some columns."""
        few = self.draw_bags(_FEW_TREES)
        predicted = [k for k, binned in enumerate(self.binned) if is_predicted(binned)]
        if not predicted:
            return
        took_s = []
        for k in [*predicted[:1], *predicted[:: max(len(predicted) // 3, 1)]]:
            if limit.left() <= 0:
                break
            begin = time.monotonic()
            forest = grow(self.binned, self.codes, few, k, self.seed)
            predict(self.binned[k], forest, self.codes, few.seen)
            took_s.append(time.monotonic() - begin)
        # the first compiles, or loads what was compiled
        each_s = float(np.mean(took_s[1:] or took_s or [np.inf])) / len(few.rows)
        fitting = int(_GROWN * limit.left() * threads / max(each_s * len(predicted), 1e-9))
        if fitting < len(self.bags.rows):
            self.bags = self.draw_bags(max(fitting, _FEW_TREES))

    def left_out(self) -> dict[str, Any]:
        """What a time limit left out, for the record; empty where nothing was."""
        names = [name for k, name in enumerate(self.names) if k in self.alone]
        return {"columns_not_predicted": names, "time_up": True} if names else {}

    def forget(self) -> None:
        """Free what is needed only as long as rows are judged."""
        self.binned.clear()
        self.forests.clear()
        self.__dict__.pop("own_rows", None)


@dataclass(frozen=True)
class _Rows:
    """Rows to judge, in a table's own order of columns; ``places`` are theirs in the given one."""

    binned: list[BinnedColumn]
    codes: NDArray[np.uint8]
    seen: NDArray[np.uint64]
    places: Ints
