"""Calibrated probabilities of being wrong: one for every cell, from all that is known.

Weights and gradient-boosted trees (Friedman 2001, doi:10.1214/aos/1013203451), monotone in the
evidence against an entry, were learned on clean tables and on tables with planted errors, and
checked on tables that were left out: ``benchmarks/calibration.py`` writes ``learned.json`` beside
this file. How many entries of a table are wrong is not assumed:
:func:`~shapley2d._inspection.evidence.table_evidence` tells it from how the strongest evidence lies
above the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.finding import LEAST, RARE, UNKNOWN
from shapley2d._inspection.evidence import (
    Scores,
    Tail,
    cell_evidence,
    is_habit,
    label_evidence,
    least_chance,
    named_cells,
    stated_chance,
    table_evidence,
    weighed,
)
from shapley2d._inspection.forests import row_chunks
from shapley2d._inspection.kernels.boosted_trees import BoostedTrees, sum_of_trees
from shapley2d._inspection.learned import LEARNED, SETTINGS
from shapley2d._inspection.marginal import vouched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._tables.table import Column

_TYPES = {"cuts": np.float32, "values": np.float64}  # of the others: int32


class Learned(NamedTuple):
    """Boosted trees and the evidence they look at; ``base`` is the log-odds before any tree."""

    evidence: tuple[str, ...]
    base: float
    trees: BoostedTrees

    @classmethod
    def load(cls, name: str) -> Learned:
        lists = LEARNED[name]
        trees = (np.array(lists[k], dtype=_TYPES.get(k, np.int32)) for k in BoostedTrees._fields)
        return cls(tuple(lists["evidence"]), lists["base"], BoostedTrees(*trees))

    def probability(
        self, evidence: dict[str, NDArray[np.float64] | float], n: int, threads: int = 1
    ) -> NDArray[np.float64]:
        """The probability of being wrong of n cells of a column, by their evidence.

        Evidence that is not there is 0. A part of the first evidence is added to the trees' log-
        odds, so that cells that end in the same leaves keep their order. A factor, not a cut, keeps
        probabilities off 1, so that the surest entries keep theirs.
        """

        def ask(some: slice) -> NDArray[np.float64]:
            rows = np.empty((some.stop - some.start, len(self.evidence)), dtype=np.float32)
            for k, name in enumerate(self.evidence):
                about = np.asarray(evidence.get(name, 0.0))
                rows[:, k] = about[some] if about.ndim else about
            return np.asarray(sum_of_trees(self.trees, rows))

        logit = np.full(n, self.base) + SETTINGS["order"] * evidence[self.evidence[0]]
        chunks = row_chunks(n)
        for some, more in zip(chunks, map_in_threads(ask, chunks, threads), strict=True):
            logit[some] += more
        return np.asarray(SETTINGS["most"] / (1 + np.exp(-np.clip(logit, -50.0, 50.0))))


CELLS, LABELS = Learned.load("cells"), Learned.load("labels")


def wrong_probability(
    scores: NDArray[np.float64],
    parts: dict[str, NDArray[np.floating[Any]]],
    columns: Sequence[Column],
    label: int,
    as_expected: NDArray[np.bool_],
    findings: Sequence[ColumnFinding] = (),
    threads: int = 1,
    known: int | None = None,
    in_tail: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probability of being wrong of all cells, or of new rows below a table.

    The column at ``label`` has class labels, whose scores are on another scale; without one it is
    the number of columns. The first ``known`` rows are a table that the others are judged by: then
    only the probabilities of those are returned. Entries that the tail of their column explains
    (``in_tail``) are not likelier wrong than right, unless a finding names them, and texts among
    numbers whose shape many rows have, such as house numbers, are a second format.
    """
    # sums of evidence first, then in their place what they say: tables have millions of cells
    probability = np.empty(scores.shape)
    n = len(scores)
    logit, stated = probability[:, :label], np.zeros((n, label), dtype=bool)
    about = [[one for one in findings if one.columns[0] == column.name] for column in columns]
    found = named_cells(findings, columns[:label], n)
    table = Scores.of(scores[:, :label], found, known)
    lift = vouched(columns[:label], threads, known)
    judged = slice(known or 0, None)
    n_judged = len(range(n)[judged])

    def evidence(j: int) -> dict[str, NDArray[np.float64] | float]:
        # made for the sums and again for the trees: to keep it would take ten times the memory
        of_column = {name: part[:, j] for name, part in parts.items()}
        return cell_evidence(
            table, j, columns[j], of_column, as_expected[:, j], lift[:, j], about[j]
        )

    for j in range(label):
        logit[:, j] = weighed(evidence(j), n)
        stated[:, j] = stated_chance(about[j], n) > 0
    tail = Tail.of(logit[:known], found[:known], stated[:known])
    for j in range(label):
        of_table = table_evidence(table, tail, logit[:, j].copy())
        of_cells = evidence(j)
        asked = {
            name: one[judged] if np.ndim(one) else one  # type: ignore[index]
            for name, one in (of_cells | of_table).items()
        }
        said = CELLS.probability(asked, n_judged, threads)
        if in_tail is not None:
            usual = in_tail[:, j] & ~found[judged, j]
            said[usual] = as_in_tail(said[usual])
        said[(is_habit(of_cells, table.known) & ~found[:, j])[judged]] *= LEAST
        logit[judged, j] = np.maximum(said, least_chance(about[j], of_cells, n)[judged])
    if label < len(columns):
        codes = columns[label].entries
        codes = np.nan_to_num(codes, nan=codes.max(initial=0, where=codes >= 0) + 1).astype(np.intp)
        new = np.arange(n) >= table.known
        counts = np.bincount(codes[: table.known], minlength=codes.max(initial=0) + 1)
        shares = (counts[codes] + new) / (table.known + new)
        said = label_probability(scores[:, label], shares, table.known)
        probability[judged, label] = said[judged]
    return probability[judged]


def as_in_tail(said: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities of numbers that a tail explains: below one half, in the order of before."""
    return np.minimum(said, UNKNOWN + RARE * said)


def label_probability(
    surprise: NDArray[np.float64], shares: NDArray[np.float64], known: int | None = None
) -> NDArray[np.float64]:
    """The probability of being wrong of every class label.

    ``surprise`` is its negative log-likelihood, out-of-bag, ``shares`` how frequent its class is;
    the first ``known`` rows are the table.

    >>> surprise = -np.log([0.97] * 98 + [0.5, 0.01])
    >>> label_probability(surprise, np.full(100, 0.5)).round(2)[-2:]
    array([0.01, 0.68])
    """
    evidence = label_evidence(surprise, shares, known) if surprise[:known].size else {}
    # where nothing predicts the target, nothing speaks against a label
    if surprise[:known].size < FEWEST_ROWS or not np.any(evidence["lift"]):
        return np.zeros(surprise.size)
    return LABELS.probability(evidence, surprise.size)
