"""From evidence to the probability of being wrong: one for every cell, from all that is known.

The weights were learned on tables with planted errors and on clean ones, and checked on tables that
were left out (``benchmarks/calibration.py``). How many entries of a table are wrong is not assumed:
:func:`~shapley2d._inspection.evidence.table_evidence` tells it from how the strongest evidence lies
above the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

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
from shapley2d._inspection.recipe import (
    CELL_WEIGHTS,
    FEWEST_ROWS,
    LABEL_WEIGHT,
    LABEL_WEIGHTS,
    MOST_CHANCE,
    MOST_LABEL_CHANCE,
    SLIP_CHANCE,
    SLIP_ODDS,
    STRAY_CHANCE,
    TABLE_WEIGHTS,
    WEIGHTS,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._tables.table import Column


def wrong_probability(
    scores: NDArray[np.float64],
    texts: NDArray[np.floating[Any]],
    columns: Sequence[Column],
    label: int,
    as_expected: NDArray[np.bool_],
    findings: Sequence[ColumnFinding] = (),
) -> NDArray[np.float64]:
    """The probability of being wrong of all cells.

    Parameters
    ----------
    scores : ndarray of shape (n, p)
    texts : ndarray of shape (n, p)
        The part of the scores that is about how entries are written.
    columns : sequence of Column
    label : int
        Position of the column of class labels, whose scores are on another scale; p without one.
    as_expected : ndarray of bool of shape (n, p)
        Whether entries are the expected ones.
    findings : sequence of ColumnFinding
        What was found about columns.
    """
    # evidence first, then in its place what it says: tables have millions of cells
    probability = np.empty(scores.shape)
    n = len(scores)
    logit, stated = probability[:, :label], np.zeros((n, label), dtype=bool)
    about = [[one for one in findings if one.columns[0] == column.name] for column in columns]
    found = named_cells(findings, columns[:label], n)
    table = Scores.of(scores[:, :label], found)
    for j in range(label):
        text = texts[:, j] / WEIGHTS["text"]
        evidence = cell_evidence(table, j, columns[j], text, as_expected[:, j], about[j])
        logit[:, j] = weighed(evidence, CELL_WEIGHTS, n)
        stated[:, j] = stated_chance(about[j], n) > 0
    _turn_into_chances(logit, found, stated)
    for j in range(label):
        if about[j]:
            logit[:, j] = np.maximum(logit[:, j], least_chance(about[j], n))
    for j, column in enumerate(columns):
        strays = [row for row in column.from_text.strays if np.isnan(column.entries[row])]
        probability[strays, j] = np.maximum(probability[strays, j], STRAY_CHANCE)
    if label < len(columns):
        codes = columns[label].entries.astype(np.intp)
        shares = np.bincount(codes)[codes] / n
        probability[:, label] = label_probability(scores[:, label] / LABEL_WEIGHT, shares)
    return probability


def cell_probability(
    logit: NDArray[np.float64],
    found: NDArray[np.bool_] | None = None,
    stated: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """The probability of being wrong of every cell, from the evidence of all cells of a table.

    Parameters
    ----------
    logit : ndarray of shape (n, p)
    found : ndarray of bool of shape (n, p), optional
        Cells of findings.
    stated : ndarray of bool of shape (n, p), optional
        Cells of findings that state their chance themselves.

    Examples
    --------
    >>> logit = np.random.default_rng(0).normal(-5.0, 1.0, size=(100, 10))
    >>> logit[5, 5] = 6.0
    >>> found = cell_probability(logit)
    >>> found.argmax() == 55, bool(found[5, 5] > 0.5), bool(found.mean() < 0.02)
    (np.True_, True, True)
    """
    probability = logit.copy()
    none = np.zeros(logit.shape, dtype=bool)
    _turn_into_chances(
        probability, none if found is None else found, none if stated is None else stated
    )
    return probability


def _turn_into_chances(
    logit: NDArray[np.float64], found: NDArray[np.bool_], stated: NDArray[np.bool_]
) -> None:
    """Put the probability of being wrong in the place of the evidence of every cell."""
    if not logit.size:
        return
    tail = Tail.of(logit, found, stated)
    for j in range(logit.shape[1]):
        evidence = table_evidence(tail, logit[:, j].copy(), found[:, j])
        logit[:, j] = _logistic(weighed(evidence, TABLE_WEIGHTS, len(logit)))


def with_slips(
    probability: NDArray[np.float64],
    columns: Sequence[Column],
    notes: dict[tuple[int, int], str],
) -> NDArray[np.float64]:
    """The probabilities, raised where a slip of the keyboard explains a number.

    Parameters
    ----------
    probability : ndarray of shape (n, p)
    columns : sequence of Column
        Without class labels.
    notes : dict of (int, int) to str
        The slips, by row and column.

    Examples
    --------
    >>> from shapley2d._tables.table import Column
    >>> column = Column("age", "number", np.array([32.0, 320.0]))
    >>> slips = {(1, 0): "the decimal point slipped"}
    >>> with_slips(np.array([[0.01], [0.6]]), [column], slips).round(2).ravel()
    array([0.01, 0.84])
    """
    raised = probability.copy()
    for i, j in notes:
        said = probability[i, j]
        if j < len(columns) and columns[j].kind == "number" and said >= SLIP_CHANCE:
            odds = np.log(said / (1 - said)) + SLIP_ODDS
            raised[i, j] = max(said, float(_logistic(odds)))
    return raised


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
    array([0.  , 0.33])
    """
    if surprise.size < FEWEST_ROWS:
        return np.zeros(surprise.size)
    evidence = label_evidence(surprise, shares)
    chances = _logistic(weighed(evidence, LABEL_WEIGHTS, surprise.size))
    return np.minimum(chances, MOST_LABEL_CHANCE)


def _logistic(logit: NDArray[np.float64]) -> NDArray[np.float64]:
    # a factor rather than a cut: the surest entries keep their order
    return np.asarray(MOST_CHANCE / (1 + np.exp(-np.clip(logit, -50.0, 50.0))))
