"""From evidence to the probability of being wrong: one for every cell, from all that is known.

Weights and trees were learned on tables with planted errors and on clean ones, and checked on
tables that were left out (``benchmarks/calibration.py``). How many entries of a table are wrong is
not assumed: :func:`~shapley2d._inspection.evidence.table_evidence` tells it from how the strongest
evidence lies above the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._inspection.company import vouched
from shapley2d._inspection.evidence import (
    Scores,
    Tail,
    cell_evidence,
    label_evidence,
    least_chance,
    named_cells,
    stated_chance,
    table_evidence,
    weighed,
)
from shapley2d._inspection.learned import CELL_WEIGHTS, CELLS, LABELS
from shapley2d._inspection.recipe import FEWEST_ROWS, LABEL_WEIGHT, MOST_CHANCE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._tables.table import Column


def wrong_probability(
    scores: NDArray[np.float64],
    parts: dict[str, NDArray[np.floating[Any]]],
    columns: Sequence[Column],
    label: int,
    as_expected: NDArray[np.bool_],
    findings: Sequence[ColumnFinding] = (),
    threads: int = 1,
) -> NDArray[np.float64]:
    """The probability of being wrong of all cells.

    Parameters
    ----------
    scores : ndarray of shape (n, p)
    parts : dict of str to ndarray of shape (n, p)
        The parts of the scores, by reason.
    columns : sequence of Column
    label : int
        Position of the column of class labels, whose scores are on another scale; p without one.
    as_expected : ndarray of bool of shape (n, p)
        Whether entries are the expected ones.
    findings : sequence of ColumnFinding
        What was found about columns.
    threads : int
    """
    # sums of evidence first, then in their place what they say: tables have millions of cells
    probability = np.empty(scores.shape)
    n = len(scores)
    logit, stated = probability[:, :label], np.zeros((n, label), dtype=bool)
    about = [[one for one in findings if one.columns[0] == column.name] for column in columns]
    found = named_cells(findings, columns[:label], n)
    table = Scores.of(scores[:, :label], found)
    company = vouched(columns[:label], threads)

    def evidence(j: int) -> dict[str, NDArray[np.float64] | float]:
        # made for the sums and again for the trees: to keep it would take ten times the memory
        of_column = {name: part[:, j] for name, part in parts.items()}
        expected, vouch = as_expected[:, j], company[:, j]
        return cell_evidence(table, j, columns[j], of_column, expected, vouch, about[j])

    for j in range(label):
        logit[:, j] = weighed(evidence(j), CELL_WEIGHTS, n)
        stated[:, j] = stated_chance(about[j], n) > 0
    tail = Tail.of(logit, found, stated)
    for j in range(label):
        of_table = table_evidence(table, tail, logit[:, j].copy())
        of_cells = evidence(j)
        said = _logistic(CELLS.ask(of_cells | of_table, n, threads))
        logit[:, j] = np.maximum(said, least_chance(about[j], of_cells, n))
    if label < len(columns):
        codes = columns[label].entries.astype(np.intp)
        shares = np.bincount(codes)[codes] / n
        probability[:, label] = label_probability(scores[:, label] / LABEL_WEIGHT, shares)
    return probability


def label_probability(
    surprise: NDArray[np.float64], shares: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The probability of being wrong of every class label.

    Parameters
    ----------
    surprise : ndarray of shape (n,)
        Minus the logarithm of each label's predicted chance.
    shares : ndarray of shape (n,)
        How frequent each label's class is.

    Examples
    --------
    >>> surprise = -np.log([0.97] * 98 + [0.5, 0.01])
    >>> label_probability(surprise, np.full(100, 0.5)).round(2)[-2:]
    array([0.03, 0.67])
    """
    if surprise.size < FEWEST_ROWS:
        return np.zeros(surprise.size)
    return _logistic(LABELS.ask(label_evidence(surprise, shares), surprise.size))


def _logistic(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    # a factor rather than a cut: the surest entries keep their order
    return np.asarray(MOST_CHANCE / (1 + np.exp(-np.clip(logit, -50.0, 50.0))))
