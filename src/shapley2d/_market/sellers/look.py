"""A look at every seller: what is odd about its rows, beside the validation rows and in words.

No test knows what a cheat looks like. Each asks whether a seller's rows could be validation rows as
far as one thing goes (:mod:`shapley2d._market.sellers.seller`), and p-values are corrected for the
number of sellers and tests together. An alarm is what was seen, not a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.clusters import equal_lines
from shapley2d._base.streams import generator
from shapley2d._base.words import counted
from shapley2d._market.owners import UNOWNED
from shapley2d._market.sellers.exchange import corrected
from shapley2d._market.sellers.facts import (
    double_claims,
    equal_rows,
    text_among_numbers,
)
from shapley2d._market.sellers.forest import forest_features
from shapley2d._market.sellers.points import Points
from shapley2d._market.sellers.seller import MOST_ROWS, Alarm, Seller, Tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.progress import Report
    from shapley2d._market.regions import Regions
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

LEVEL = 0.01
"""The chance of any alarm where all sellers are honest."""


@dataclass(frozen=True)
class Look:
    """What was seen, and what was looked at in words."""

    alarms: list[Alarm]
    words: str


def look_at_claims(regions: Regions) -> Look:
    """A look at what needs no validation rows."""
    words = (
        "The sellers' rows were not looked at: that needs a validation table, which no seller has "
        "seen."
    )
    return Look(list(double_claims(regions)), words)


def look_at_sellers(
    table: Table,
    target: Target,
    valid: Table,
    y_valid: Target,
    regions: Regions,
    seed: int,
    report: Report | None = None,
) -> Look:
    """Look at the rows of every owner of a table.

    Parameters
    ----------
    table, target : Table, Target
        Of all rows as they were read, copies too.
    valid, y_valid : Table, Target
        The validation rows, with the columns of ``table``.
    regions : Regions
        What owners have of the table.
    seed : int
        Of the random sets and the forests.
    report : callable, optional
        Is told how far the look is.
    """
    tables = _tables(table, target, valid, y_valid)
    held = regions.of_rows()
    first = np.where(held.any(axis=0), held.argmax(axis=0), -1)
    names = [*regions.names, UNOWNED]

    def owner_of(row: int) -> str:
        return names[int(first[row])]

    tests: list[tuple[float, Callable[[], Alarm]]] = []
    sampled = valid.n_rows > MOST_ROWS
    for owner, name in enumerate(regions.names):
        if report is not None:
            report(owner / len(regions.names), f"looking at {name}")
        cells = regions.cells_of(owner)[:, : table.n_columns]
        rows, columns = _main_part(cells)
        if not rows.size:
            continue
        sampled |= rows.size > MOST_ROWS
        others = np.flatnonzero(~cells.any(axis=1))
        random = generator(seed, "sellers", owner)
        seller = Seller(name, tables, rows, columns, others, owner_of, random)
        tests.extend(seller.tests())
        if others.size:
            keys = _row_keys(table, valid, tables.labels, columns)
            tests.append(equal_rows(name, keys, rows, others, np.arange(table.n_rows, keys.size)))
        text = text_among_numbers(name, table, cells, owner_of)
        tests.extend([] if text is None else [text])
    p_values = corrected([p for p, _ in tests])
    seen = [
        make()._replace(p=p) for p, (_, make) in zip(p_values, tests, strict=True) if p <= LEVEL
    ]
    order = {name: k for k, name in enumerate(regions.names)}
    alarms = sorted([*double_claims(regions), *seen], key=lambda alarm: order[alarm.owner])
    return Look(alarms, _words(len(regions.names), len(tests), len(alarms), sampled=sampled))


def _tables(table: Table, target: Target, valid: Table, y_valid: Target) -> Tables:
    classes = target.task == "classification"
    labels = np.append(target.codes, y_valid.codes).astype(np.float64)
    features, feature_of = forest_features(table, valid, labels)
    names = [*table.column_names, "the label" if classes else "the target"]
    return Tables(
        Points.of(table, valid), labels, classes, features, feature_of, names, table.n_rows
    )


def _main_part(cells: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """An owner's largest rectangle by its own patterns: rows, and columns that it has in all.

    Examples
    --------
    >>> cells = np.array([[1, 1, 0], [1, 1, 1], [0, 0, 1], [0, 0, 0]], dtype=bool)
    >>> rows, columns = _main_part(cells)
    >>> rows.tolist(), columns.tolist()
    ([0, 1], [True, True, False])
    """
    patterns, count = np.unique(cells[cells.any(axis=1)], axis=0, return_counts=True)
    if not len(patterns):
        return np.empty(0, dtype=np.intp), np.zeros(cells.shape[1], dtype=bool)
    patterns = patterns[np.argsort(-count, kind="stable")[:64]]  # the most frequent
    sizes = [int((cells | ~columns).all(axis=1).sum() * columns.sum()) for columns in patterns]
    columns = patterns[int(np.argmax(sizes))]
    return np.flatnonzero((cells | ~columns).all(axis=1)), columns


def _row_keys(
    table: Table, valid: Table, labels: NDArray[np.float64], columns: NDArray[np.bool_]
) -> NDArray[np.intp]:
    """Numbers of all rows, the same where entries of some columns and the labels are equal."""
    lines = [
        np.append(table.columns[j].entries, valid.columns[j].entries)
        for j in np.flatnonzero(columns)
    ]
    return equal_lines(np.column_stack([*lines, labels]))


def _words(n_owners: int, n_tests: int, n_alarms: int, *, sampled: bool) -> str:
    sample = f" Distances are those of at most {MOST_ROWS} rows of each." if sampled else ""
    found = "Nothing odd was seen" if not n_alarms else f"{counted(n_alarms, 'alarm')} came up"
    return (
        f"The rows of {counted(n_owners, 'owner')} were looked at beside the validation rows: "
        f"{found} in {counted(n_tests, 'test')} (p-values corrected by Holm, alarms at 1 %)."
        f"{sample} An alarm is what was seen, not a verdict; no alarm is no proof of honesty."
    )
