"""What the columns would add with half and with twice as many neighbours.

The sum of a column's cells is its 1D value in the game of all rows, which needs no row values: one
look at the distances gives the score for every number of neighbours. All of them see the same
validation rows and the same column subsets, so that what they differ by is not sampling.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._knn.distances import subset_sums
from shapley2d._knn.metric import integer_columns
from shapley2d._methods.knn.choices import FEW_COLUMNS
from shapley2d._tables.problem import weigh_problem
from shapley2d._theory.designs import AllSubsets, Permutation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.designs import AxisDesign

SHARE = 0.05
"""Triples of row, validation row and column subset, relative to those of the run.

One takes up to about as long here, in numpy, as in the run's kernels: on 800 x 6 with 600
validation rows 4.1 million took 0.11 s beside 1.0 s of one core, on 1,000 x 20 with 300 2 % of the
run.
"""

SMALL = 2.0**21
"""Triples that take about 0.06 s on one core, whatever the run was: any command takes a second."""

LEAST_ROWS = 40
"""Training rows and validation rows below which a change says more about the rows than about K."""

ENOUGH_ROWS = 400
"""Random validation rows, or all there are: with 40 of 800 the line said +4.0 points where a run
with the other number gave +0.9, with 50 of 400 -2.5 for -0.3; the error falls as their root."""

ORDERS = 8
"""Of the columns where there are too many for all subsets, half of them reversed."""

_AT_A_TIME = 2**22  # distances in memory
_TOGETHER = 2**14  # distances under several subsets: small tables would spend all time in calls


def other_neighbors(
    problem: Problem, run: Run, found: dict[str, Any], **options: Any
) -> dict[str, Any]:
    """Values of the columns with other numbers of neighbours, for a result's record.

    Parameters
    ----------
    problem : Problem
    run : Run
    found : dict
        What the run recorded.
    **options
        All options of the method.

    Returns
    -------
    dict
        ``other_neighbors``: the number of the run, the validation rows that were used and what all
        columns add by number of neighbours (``totals``), and the sums of the columns where they
        were affordable. Empty where it would cost too much or say nothing.
    """
    k, n_columns = int(options["n_neighbors"]), problem.table.n_columns
    n_rows = min((split.rows.size for split in problem.splits), default=0)
    numbers = sorted({max(k // 2, 1), k, 2 * k})
    plain = run.semivalues == ("shapley", "shapley") and problem.label is None
    if not plain or found.get("interrupted"):
        return {}
    if n_rows < max(LEAST_ROWS, numbers[-1]):
        return {}
    if problem.n_valid < LEAST_ROWS:
        return {}
    rows = _affordable(found, n_rows) / n_rows  # times subsets
    settings = {"metric": options["metric"], "from_zero": options["baseline"] == "zero"}

    def taken(n_subsets: int) -> Problem | None:
        n_valid = min(int(rows / n_subsets), problem.n_valid)
        if n_valid < min(ENOUGH_ROWS, problem.n_valid):
            return None
        return weigh_problem(_some_rows(problem, n_valid, run.seed), options.get("scoring"))

    designs = _designs(n_columns, run.seed, rows / problem.n_valid)
    part = taken(sum(len(one.coalitions) for one in designs))
    if part is not None:
        columns = column_values(part, designs, numbers, **settings)
        totals = columns.sum(axis=0)
        by_column = {
            "columns": {str(one): columns[:, place].tolist() for place, one in enumerate(numbers)}
        }
    else:  # all columns together need two subsets only
        part, by_column = taken(2), {}
        if part is None:
            return {}
        totals = all_columns(part, numbers, **settings)
    return {
        "other_neighbors": {
            "n_neighbors": k,
            "n_valid": part.n_valid,
            "totals": {str(one): float(totals[place]) for place, one in enumerate(numbers)},
            **by_column,
        }
    }


def _designs(n_columns: int, seed: int, affordable: float) -> list[AxisDesign]:
    """All column subsets if as many are affordable, else a few orders, every other one reversed."""
    if n_columns <= FEW_COLUMNS and 2**n_columns <= affordable:
        return [AllSubsets(n_columns)]
    random = generator(seed, "other neighbors")
    orders = [random.permutation(n_columns) for _ in range(ORDERS // 2)]
    return [Permutation(one) for order in orders for one in (order, order[::-1])]


def column_values(
    problem: Problem,
    designs: Sequence[AxisDesign],
    numbers: Sequence[int],
    *,
    metric: str,
    from_zero: bool,
) -> NDArray[np.float64]:
    """Values of the columns (lines) by number of neighbours, the mean over splits and designs.

    Parameters
    ----------
    problem : Problem
        With the weights of its validation rows.
    designs : sequence of AxisDesign
    numbers : sequence of int
    metric : str
    from_zero : bool
        Whether no columns are worth 0, not what the labels alone predict.
    """
    masks = [design.coalitions.masks() for design in designs]
    # designs share subsets, all columns and none at least
    distinct, place = np.unique(np.concatenate(masks), axis=0, return_inverse=True)
    places = np.split(place.ravel(), np.cumsum([len(one) for one in masks])[:-1])
    means = []
    for split in problem.splits:
        utilities = _utilities(split, distinct, numbers, metric)
        if from_zero:
            utilities[~distinct.any(axis=1)] = 0.0
        means += [
            design.combine(utilities[own]) for design, own in zip(designs, places, strict=True)
        ]
    return np.asarray(np.mean(means, axis=0))


def all_columns(
    problem: Problem, numbers: Sequence[int], *, metric: str, from_zero: bool
) -> NDArray[np.float64]:
    """What all columns add by number of neighbours, the mean over splits."""
    both = np.array([[False], [True]]).repeat(problem.table.n_columns, axis=1)
    found = [_utilities(split, both, numbers, metric) for split in problem.splits]
    return np.asarray(np.mean([one[1] - (0.0 if from_zero else one[0]) for one in found], axis=0))


def _utilities(
    split: Split, masks: NDArray[np.bool_], numbers: Sequence[int], metric: str
) -> NDArray[np.float64]:
    """The score with all rows for every column subset (lines) and number of neighbours."""
    coded = integer_columns(split.train, split.valid, metric, tells=False)
    step = max(_AT_A_TIME // (max(coded.n_columns, 1) * coded.n_rows), 1)
    scores = np.empty((len(masks), len(numbers), coded.n_valid))
    classifies = split.y.task == "classification"
    for start in range(0, coded.n_valid, step):
        rows = slice(start, start + step)
        apart = np.array([coded.dissimilarities(j, rows) for j in range(coded.n_columns)])
        y, right = split.y.codes, split.y_valid.codes[rows]
        votes = y[None, :] == right[:, None] if classifies else y[None, :] - right[:, None]
        together = max(_TOGETHER // votes.size, 1)
        votes = np.tile(votes.astype(float), (min(together, len(masks)), 1))
        for first in range(0, len(masks), together):
            some = masks[first : first + together]
            distances = subset_sums(apart, some).reshape(-1, coded.n_rows)
            found = _scores(distances, votes[: len(distances)], numbers, classifies)
            by_mask = found.reshape(len(numbers), len(some), -1)
            scores[first : first + together, :, rows] = by_mask.transpose(1, 0, 2)
    return np.asarray(np.average(scores, axis=2, weights=split.valid_weights))


def _scores(
    distances: NDArray[np.int64],
    votes: NDArray[np.float64],
    numbers: Sequence[int],
    classifies: bool,
) -> NDArray[np.float64]:
    """Scores of validation rows by number of neighbours: means over the orders of tied rows.

    ``votes`` are 1 where a row has the right label, or how far its target is off. Of a group of
    tied rows that has more than are wanted, each subset is as likely.
    """
    most = max(numbers)
    near = np.argpartition(distances, most - 1, axis=1)[:, :most]
    ranked, voted = (np.take_along_axis(one, near, axis=1) for one in (distances, votes))
    edge = ranked.max(axis=1, keepdims=True)
    # rows tied with the last of them can be anywhere in the table, all others are among them
    on_edge = distances == edge
    sums = [on_edge.sum(axis=1), np.einsum("tn,tn->t", votes, on_edge)]
    sums += [] if classifies else [np.einsum("tn,tn,tn->t", votes, votes, on_edge)]
    in_order = np.sort(ranked, axis=1)
    found = np.empty((len(numbers), len(distances)))
    for place, number in enumerate(numbers):
        last = in_order[:, number - 1 : number]
        closer, tied, at_edge = ranked < last, ranked == last, (last == edge)[:, 0]
        size, total, *squares = (
            np.where(at_edge, of_edge, (voted**power * tied).sum(axis=1))
            for power, of_edge in enumerate(sums)
        )
        wanted, mean = number - closer.sum(axis=1), total / size
        average = ((voted * closer).sum(axis=1) + wanted * mean) / number
        if classifies:
            found[place] = average
            continue
        spread = squares[0] / size - mean**2
        chosen = wanted * (size - wanted) / np.maximum(size - 1, 1) * spread
        found[place] = -(average**2) - chosen / number**2
    return found


def _affordable(found: dict[str, Any], n_rows: int) -> float:
    """Triples that may be spent: a share of what the run did on this machine's processor."""
    here = found.get("backend") == "cpu" and "n_valid_used" in found and "n_subsets" in found
    done = float(found["n_valid_used"]) * found["n_subsets"] * n_rows if here else 0.0
    return max(SHARE * done, SMALL)


def _some_rows(problem: Problem, n_valid: int, seed: int) -> Problem:
    """The problem with a random part of the validation rows of every split."""
    if n_valid >= problem.n_valid:
        return problem
    splits = []
    for k, split in enumerate(problem.splits):
        size = split.valid.n_rows
        kept = max(round(n_valid * size / problem.n_valid), 1)
        order = generator(seed, "other neighbors", k).permutation(size)
        splits.append(split.take_valid(np.sort(order[:kept])))
    return replace(problem, splits=splits)
