"""Every entry predicted from the rest of its row and its label, and how much speaks against it."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from shapley2d._base.progress import reporting
from shapley2d._inspection.chance import cell_chances, label_chances
from shapley2d._inspection.coding import code_column
from shapley2d._inspection.column_alone import class_distance, odd_writing, standing_alone
from shapley2d._inspection.deviation import deviation
from shapley2d._inspection.findings import Findings
from shapley2d._inspection.forests import Bags, grow, repair_gains, row_chunks
from shapley2d._inspection.recipe import LABEL_WEIGHT, STRAY_CHANCE, WEIGHTS
from shapley2d._inspection.suspects import explain_suspects
from shapley2d._tables.label import with_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._inspection.findings import Expected
    from shapley2d._kernels.forest import Forest
    from shapley2d._tables.table import Column, Table
    from shapley2d._tables.target import Target

T = TypeVar("T")

_GROWN = 0.6  # share of the time until the forests are grown and asked


def inspect_table(
    table: Table,
    target: Target | None,
    *,
    label_name: str = "label",
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
) -> Findings:
    """Say of every cell how odd it is, how likely wrong, and what was expected instead.

    Parameters
    ----------
    table : Table
    target : Target or None
        Its labels, or none.
    label_name : str
        What to call their column.
    seed : int
    n_jobs : int or None
        Threads, as in joblib; all processors by default. Their number changes nothing.
    progress : {"auto", True, False} or callable

    Returns
    -------
    Findings

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
        threads = max(1, effective_n_jobs(-1 if n_jobs is None else n_jobs))
        n_columns = len(columns)
        done = []
        for j, piece in enumerate(_in_order(work.column, range(n_columns), threads)):
            done.append(piece)
            report(_GROWN * (j + 1) / n_columns, f"predicting {columns[j].name!r}")
        gains = _gains(
            work, [expected for _, _, expected in done], [forest for forest, _, _ in done], threads, report
        )
        parts = _weighted([raw for _, raw, _ in done], gains, columns, target)
        scores = np.sum([part.astype(np.float64) for part in parts.values()], axis=0)
        probability = _probability(scores, columns, target)
        suspects, expected = explain_suspects(columns, [expected for _, _, expected in done], probability)
        report(1.0, "")
    return Findings(
        columns=columns,
        has_label=target is not None,
        scores=scores,
        probability=probability,
        expected=expected,
        parts=parts,
        suspects=suspects,
        info={
            "rows_per_tree": int(work.bags.rows.shape[1]),
            "trees": int(work.bags.rows.shape[0]),
            "seconds": time.perf_counter() - started,
        },
    )


class _Work:
    """What is done column by column, and what that needs."""

    def __init__(self, columns: tuple[Column, ...], target: Target | None, seed: int) -> None:
        self.columns, self.seed = columns, seed
        self.coded = [code_column(column) for column in columns]
        self.codes = np.column_stack([coded.codes_of(coded.values) for coded in self.coded])
        n_rows = len(self.codes)
        self.bags = Bags.draw(n_rows, seed)
        self.classes = target is not None and target.task == "classification"
        self.groups = (
            target.codes.astype(np.intp) if self.classes and target else np.zeros(n_rows, dtype=np.intp)
        )

    def column(self, j: int) -> tuple[Forest | None, dict[str, NDArray[np.float64]], Expected]:
        """The forest of a column, what speaks against its entries, and what they should be."""
        coded = self.coded[j]
        is_label = self.classes and j == len(self.columns) - 1
        forest = grow(self.coded, self.codes, self.bags, j, self.seed)
        off = deviation(coded, forest, self.codes, self.bags, plain=is_label)
        raw = {"surprise": off.surprise}
        if not is_label:
            raw |= {
                "stories": off.stories,
                "distance": off.distance,
                "class": class_distance(coded, self.groups),
                "repeat": standing_alone(coded),
                "text": odd_writing(self.columns[j]),
            }
        return forest, raw, off.expected


def _gains(
    work: _Work,
    expected: list[Expected],
    forests: list[Forest | None],
    threads: int,
    report: Callable[..., None],
) -> NDArray[np.float64]:
    """How much better the rest of a row fits once an entry is what was expected."""
    new = np.column_stack(
        [coded.codes_of(one.entries) for coded, one in zip(work.coded, expected, strict=True)]
    )
    chunks = row_chunks(len(new))

    def gain(rows: slice) -> NDArray[np.float64]:
        return repair_gains(work.coded, forests, work.codes, new, work.bags, rows)

    gains = np.empty(new.shape)
    for k, (rows, piece) in enumerate(zip(chunks, _in_order(gain, chunks, threads), strict=True)):
        gains[rows] = piece
        report(_GROWN + (1 - _GROWN) * (k + 1) / len(chunks), "trying repairs")
    return gains


def _weighted(
    raw: list[dict[str, NDArray[np.float64]]],
    gains: NDArray[np.float64],
    columns: tuple[Column, ...],
    target: Target | None,
) -> dict[str, NDArray[np.float32]]:
    """The parts of the scores, weighted, one array for each reason."""
    label = len(columns) - 1 if target is not None and target.task == "classification" else -1
    parts = {name: np.zeros(gains.shape, dtype=np.float32) for name in WEIGHTS}
    for j, of_column in enumerate(raw):
        for name, values in of_column.items():
            parts[name][:, j] = values * (LABEL_WEIGHT if j == label else WEIGHTS[name])
        if j != label:
            parts["gain"][:, j] = WEIGHTS["gain"] * np.arcsinh(gains[:, j])
    return parts


def _probability(
    scores: NDArray[np.float64], columns: tuple[Column, ...], target: Target | None
) -> NDArray[np.float64]:
    """The chance of being wrong of all cells; class labels, whose scores are others, by themselves."""
    probability = np.empty_like(scores)
    label = len(columns) - 1 if target is not None and target.task == "classification" else len(columns)
    probability[:, :label] = cell_chances(scores[:, :label])
    if label < len(columns):
        probability[:, label] = label_chances(scores[:, label] / LABEL_WEIGHT)
    for j, column in enumerate(columns):
        strays = [row for row in column.from_text.strays if np.isnan(column.entries[row])]
        probability[strays, j] = np.maximum(probability[strays, j], STRAY_CHANCE)
    return probability


def _in_order(do: Callable[[Any], T], items: Any, threads: int) -> Iterator[T]:
    """Results in the order of the items, by some threads; what has not begun is dropped when the caller stops."""
    if threads == 1:
        yield from map(do, items)
        return
    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(do, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
