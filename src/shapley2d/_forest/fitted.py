"""Fitted tree ensembles as one linear game: what each tree was fitted on, and its leaves' scales.

A tree ensemble predicts ``start`` plus the leaves of a row in all trees, per output. A leaf is a
*scale* times the mean, over the training rows in it, of what its tree was fitted on: the residuals
of the loss before this tree, held at their fitted values (the target itself in a forest). Of a
coalition of rows and columns those rows predict that pass the splits of the columns present; the
scale is held too: learning rate, Newton step and shrinkage are in it. So all rows and columns give
the prediction of this very model.

The score is linear in the prediction: every validation row counts with the slope of its loss
between the start and the prediction of all (see :mod:`shapley2d._forest.losses`). So the values sum
to what this very model gains on the validation rows, as do Aumann and Shapley's prices along a
straight line (1974, Values of Non-Atomic Games). A row that a tree was not grown on does not play
in it.

Where a leaf is no multiple of the mean over the rows given (the tree was fitted on a part of them,
or with weights that are not known), its scale is the Newton step of these rows, and the rest of the
leaf is nobody's. It is reported as a share of what the model gains.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._forest.leaves import Leaves

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.model import Model
    from shapley2d._tables.problem import Split

PIECE = 4
"""Boosting rounds, or trees of a forest, whose values are added to the sum as a whole."""


@dataclass(frozen=True)
class Rows:
    """The rows of a split, as the trees see them.

    ``train, valid`` (width, n) and (width, T): one row per feature; NaN where an entry is missing.
    ``y, y_valid``: numbers; or classes, numbered as the model does, -1 for one that it does not
        know.
    ``weights``: of the validation rows; they sum to 1.
    ``bags``: for every tree the weights of the training rows, 0 where it was grown without one;
        else all rows count the same.
    ``places``: the model's number of every class of the table; by default they are the same.
    """

    train: Floats
    valid: Floats
    y: NDArray[Any]
    y_valid: NDArray[Any]
    weights: Floats
    bags: Sequence[NDArray[Any]] | None = None
    places: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        split: Split,
        train: Floats,
        valid: Floats,
        bags: Sequence[NDArray[Any]] | None = None,
        places: NDArray[np.int64] | None = None,
    ) -> Rows:
        """The rows of a split, given their features."""
        y, y_valid, weights = split.y.codes, split.y_valid.codes, split.weights
        if places is not None:
            y, y_valid = places[y], places[y_valid]
        return cls(train, valid, y, y_valid, weights / weights.sum(), bags, places)

    def numbered(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Numbers, or classes of the table by the model's number."""
        return codes if self.places is None else self.places[codes]


@dataclass(frozen=True)
class Unit:
    """The unit of a score: ``shift - factor * loss``; a share of a loss counts from 1."""

    shift: float = 0.0
    factor: float = 1.0

    def score(self, loss: float) -> float:
        """The score of a mean loss."""
        return self.shift - self.factor * loss


class FittedTrees:
    """A fitted model on the rows of a split.

    ``leaves`` (nodes, kinds): what every leaf of each tree adds to the prediction.
    ``scales, rest``: of every leaf, see the module; of the same shape.
    ``places``: the leaf of every validation row in each tree.
    ``slopes`` (T, outputs): what a unit of the prediction of each validation row adds to the score.
    ``masses``: their sums in every leaf, by kind.
    ``pieces``: numbered batches of rounds of trees.
    """

    def __init__(self, model: Model, rows: Rows, unit: Unit) -> None:
        self.model, self.rows, self.unit = model, rows, unit
        self.n_kinds = model.start.size if model.loss.by_class else 1  # weights of a leaf
        self.pieces = _pieces(model.rounds)
        self._seen = rows.train  # what the trees were fitted on
        start = np.broadcast_to(model.start, (rows.y.size, model.start.size))
        self._before = [start]  # raw predictions of the training rows, for every piece
        self._whole: list[Floats] = []  # means over all rows, by kind
        means, steps, known, curvature = [], [], np.zeros(0), np.zeros(0)
        for piece in range(len(self.pieces)):
            for leaves, raw, places in self._trees(piece):
                if raw is not known:  # once for all trees of a round
                    known, curvature = raw, model.loss.curvature(rows.y, raw)
                at, sums, count = self._sums(leaves, places)
                bends = curvature[:, model.outputs[leaves.number]]
                if rows.bags is not None:
                    bends = bends * rows.bags[leaves.number]
                bend = _sum_by(at, bends, leaves.tree.n_nodes)
                means.append(_ratio(sums, count[:, None]))
                steps.append(_ratio(count, bend + model.penalty)[:, None])
                self._whole.append(sums.sum(axis=0) / max(count.sum(), 1.0))
        self._scale(means, steps)
        self._validate()

    def changed(self, rows: Rows) -> FittedTrees:
        """The model on changed rows: splits, scales, and what others were fitted on are held."""
        other = copy(self)
        other.rows, other.leaves = rows, []
        for leaves in other.games():
            _, sums, count = self._sums(leaves, None)
            mean = _ratio(sums, count[:, None])
            other.leaves.append(self.scales[leaves.number] * mean + self.rest[leaves.number])
        other._validate()  # noqa: SLF001
        return other

    def games(
        self, piece: int | None = None, masses: Sequence[Floats] | None = None
    ) -> Iterator[Leaves]:
        """The game of every tree, or of those of a piece; ``masses`` replace the model's."""
        masses = self.masses if masses is None else masses
        for one in range(len(self.pieces)) if piece is None else [piece]:
            for leaves, *_ in self._trees(one):
                t = leaves.number
                yield replace(leaves, weights=masses[t] * self.scales[t])

    def _trees(self, piece: int) -> Iterator[tuple[Leaves, Floats, NDArray[Any] | None]]:
        """What every tree was fitted on, without weights, and the raw predictions before it.

        And where it was boosted, the leaf of every row that it was fitted on. A class is a kind of
        row, and its share is predicted.
        """
        model, rows, raw = self.model, self.rows, self._before[piece]
        by_class, everybody = model.loss.by_class, np.ones(rows.y.size)
        kinds = rows.y.astype(np.int32) if by_class else np.zeros(rows.y.size, dtype=np.int32)
        none, boosts = np.zeros((0, self.n_kinds)), len(model.rounds) > 1
        for numbers in self.pieces[piece]:
            residuals = everybody[:, None] if by_class else model.loss.residuals(rows.y, raw)
            after = raw.copy() if boosts else raw
            for t in numbers:
                own, plays, plain = residuals[:, model.outputs[t]], everybody, by_class
                if rows.bags is not None:
                    bag = rows.bags[t]
                    own, plays = own * bag, (bag > 0).astype(np.float64)
                    plain &= bag.dtype == np.bool_
                own, tree = np.ascontiguousarray(own), model.trees[t]
                at = None
                if boosts:
                    at = tree.leaves_of(self._seen)
                    after[:, model.outputs[t]] += model.leaves[t][at, 0]
                yield Leaves(t, tree, rows.train, none, kinds, own, plays, plain), raw, at
            raw = after
        if len(self._before) == piece + 1:
            self._before.append(raw)

    def _sums(self, leaves: Leaves, at: NDArray[Any] | None) -> tuple[NDArray[Any], Floats, Floats]:
        """The leaf of every row; the sums by kind of what the tree was fitted on; and the rows."""
        at = leaves.tree.leaves_of(leaves.features) if at is None else at
        size = leaves.tree.n_nodes
        cells = at if self.n_kinds == 1 else at.astype(np.intp) * self.n_kinds + leaves.kinds
        sums = _sum_by(cells, leaves.numbers, size * self.n_kinds).reshape(size, -1)
        return at, sums, _sum_by(at, leaves.plays, size)

    def _scale(self, means: list[Floats], steps: list[Floats]) -> None:
        model = self.model
        self.leaves, self.scales, self.rest = model.leaves, [], []
        if not model.leaves:  # the mean over the trees of the means of their rows
            self.leaves = [mean / len(means) for mean in means]
            self.scales = [np.full_like(mean, 1.0 / len(means)) for mean in means]
            self.rest = [np.zeros_like(mean) for mean in means]
            return
        least = 1e-12 * max(float(np.abs(mean).max(initial=0.0)) for mean in means)
        means = [np.where(np.abs(mean) > least, mean, 0.0) for mean in means]  # no rounding errors
        ratios = [_ratio(leaf, mean) for leaf, mean in zip(self.leaves, means, strict=True)]
        both = zip(ratios, steps, strict=True)
        rates = np.concatenate([_ratio(ratio, step).ravel() for ratio, step in both])
        rate = float(np.median(rates[rates > 0])) if (rates > 0).any() else 0.0  # of learning
        for leaf, mean, ratio, step in zip(self.leaves, means, ratios, steps, strict=True):
            fits = (ratio > 0) & ((ratio <= 2.0 * rate * step) | (not model.loss.curved))
            self.scales.append(np.where(fits, ratio, rate * step))
            self.rest.append(leaf - self.scales[-1] * mean)

    def _validate(self) -> None:
        """Predict the validation rows, and sum their slopes in every leaf."""
        self.places = self.model.places(self.rows.valid)
        self.predicted = self.model.predict(self.places, self.leaves)
        slopes = self.model.loss.slopes(self.rows.y_valid, self.model.start, self.predicted)
        self.slopes = slopes * (self.unit.factor * self.rows.weights)[:, None]
        self.masses = [self.mass(t, at, self.slopes) for t, at in enumerate(self.places)]

    def mass(self, t: int, places: NDArray[Any], slopes: Floats) -> Floats:
        """Sums of slopes of rows in every leaf of tree t, by kind."""
        outputs = range(self.n_kinds) if self.model.loss.by_class else [self.model.outputs[t]]
        size = self.model.trees[t].n_nodes
        return np.stack([_sum_by(places, slopes[:, k], size) for k in outputs], axis=1)

    def score(self, raw: Floats | None = None) -> float:
        """The score of raw predictions of the validation rows; by default of the model's own."""
        raw = self.predicted if raw is None else raw
        return self.unit.score(
            float(self.rows.weights @ self.model.loss.each(self.rows.y_valid, raw))
        )

    def blind(self) -> float:
        """The score without any rows."""
        return self.score(np.broadcast_to(self.model.start, self.predicted.shape))

    def without_columns(self) -> float:
        """The score of all rows without any column: in every tree all rows predict."""
        trees = zip(self.masses, self.scales, self._whole, strict=True)
        return self.blind() + sum(float((m * scale).sum(axis=0) @ mean) for m, scale, mean in trees)

    def nobodys(self) -> float:
        """The part of the score that the rows do not explain."""
        both = zip(self.masses, self.rest, strict=True)
        return sum(float((mass * rest).sum()) for mass, rest in both)

    def moved(self) -> float:
        """The sum of what the predictions of all validation rows move the score, up or down."""
        return float(np.abs((self.slopes * (self.predicted - self.model.start)).sum(axis=1)).sum())


def _pieces(rounds: list[list[int]]) -> list[list[list[int]]]:
    """Batches of rounds; of a forest, whose trees are all fitted on the target, of its trees."""
    if len(rounds) > 1:
        return [rounds[i : i + PIECE] for i in range(0, len(rounds), PIECE)]
    (numbers,) = rounds
    return [[numbers[i : i + PIECE]] for i in range(0, len(numbers), PIECE)]


def _sum_by(places: NDArray[Any], numbers: Floats, size: int) -> Floats:
    """Sums of numbers in places 0 .. size - 1."""
    return np.asarray(np.bincount(places, numbers, size), dtype=np.float64)


def _ratio(one: Floats, other: Floats) -> Floats:
    """A quotient; 0 where the divisor is 0."""
    shape = np.broadcast_shapes(one.shape, other.shape)
    return np.divide(one, other, out=np.zeros(shape), where=np.broadcast_to(other != 0, shape))
