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
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._forest.game import Leaves, leaves_of
from shapley2d._forest.losses import RightProbability

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._forest.losses import Loss
    from shapley2d._forest.trees import Features, SplitTree

    Floats = NDArray[np.float64]
    Ints = NDArray[Any]

_NO_WEIGHTS = np.zeros((0, 1))

PIECE = 4
"""Boosting rounds, or trees of a forest, whose values are added to the sum as a whole."""


@dataclass(frozen=True)
class Trees:
    """The trees of a model, and what their leaves add to its outputs.

    ``leaves`` (nodes, 1), or (nodes, classes): what every leaf adds to the prediction; none where
        leaves are the means of their rows.
    ``outputs``: the output that each tree adds to; all of them in a classifying forest.
    ``rounds``: numbers of trees that were fitted on the same residuals.
    ``penalty``: the L2 penalty of leaves.
    ``start`` (outputs,): the prediction without any tree.
    """

    trees: list[SplitTree]
    leaves: list[Floats]
    outputs: list[int]
    rounds: list[list[int]]
    loss: Loss
    penalty: float = 0.0
    start: Floats = field(default_factory=lambda: np.zeros(1))

    @property
    def by_class(self) -> bool:
        """Whether every tree predicts the shares of all classes."""
        return isinstance(self.loss, RightProbability)

    def find(self, features: Floats, t: int) -> Ints:
        """The leaf of every row in tree t, in as few bytes as it takes."""
        found = leaves_of(self.trees[t], features)
        return found.astype(np.uint16) if self.trees[t].n_nodes <= 2**16 else found

    def find_all(self, features: Floats, n_threads: int) -> list[Ints]:
        """The leaf of every row in each tree."""
        numbers = range(len(self.trees))
        return list(map_in_threads(partial(self.find, features), numbers, n_threads))

    def predict(self, places: Sequence[Ints], leaves: Sequence[Floats]) -> Floats:
        """Raw predictions of rows that fall into these leaves."""
        raw = np.tile(self.start, (places[0].size, 1))
        for at, leaf, output in zip(places, leaves, self.outputs, strict=True):
            if self.by_class:
                raw += leaf[at]
            else:
                raw[:, output] += leaf[at, 0]
        return raw


@dataclass(frozen=True)
class Rows:
    """The rows of a split, as the trees see them.

    ``y, y_valid``: numbers; or classes, numbered as the model does, -1 for one that it does not
        know.
    ``weights``: of the validation rows; they sum to 1.
    ``bags``: for every tree the weights of the training rows, 0 where it was grown without one;
        else all rows count the same.
    ``places``: the model's number of every class of the table; by default they are the same.
    """

    features: Features
    y: NDArray[Any]
    y_valid: NDArray[Any]
    weights: Floats
    bags: Sequence[NDArray[Any]] | None = None
    places: NDArray[np.int64] | None = None


@dataclass(frozen=True)
class Unit:
    """The unit of a score: ``shift - factor * loss``."""

    shift: float = 0.0
    factor: float = 1.0

    def score(self, loss: float) -> float:
        """The score of a mean loss."""
        return self.shift - self.factor * loss


class FittedTrees:
    """A fitted model on the rows of a split.

    ``known``: ``places`` and ``predicted``, where known.
    ``leaves``: what every leaf adds to the prediction.
    ``scales, rest``: of every leaf, see the module; of the same shape.
    ``places``: the leaf of every validation row in each tree.
    ``slopes`` (T, outputs): what a unit of the prediction of each validation row adds to the score.
    ``masses``: their sums in every leaf, by kind.
    ``pieces``: numbered batches of rounds of trees.
    """

    def __init__(
        self,
        model: Trees,
        rows: Rows,
        unit: Unit,
        known: tuple[list[Ints], Floats] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.model, self.rows, self.unit, self._n_threads = model, rows, unit, n_threads
        self.n_rows = rows.y.size
        self.pieces = _pieces(model.rounds)
        self._kinds = self._find_kinds()
        self._seen = rows.features.train  # what the trees were fitted on
        self._before: list[Floats] = []  # raw predictions of the training rows, for every piece
        self.sums: list[Any] = []  # of residuals in every leaf, by kind
        self.counts: list[Any] = []  # of rows in every leaf
        self.leaves: list[Floats] = []
        self.scales: list[Floats] = []
        self.rest: list[Floats] = []
        self._hold()
        self._validate(known)

    def changed(self, rows: Rows) -> FittedTrees:
        """The model on changed rows: splits, scales, and what others were fitted on are held."""
        other = copy(self)
        other._change(rows)  # noqa: SLF001
        return other

    def _change(self, rows: Rows) -> None:
        self.rows = rows
        self._kinds = self._find_kinds()
        self.sums, self.counts = [], []
        for piece in range(len(self.pieces)):
            for leaves in self.fitted_on(piece):
                self._add_sums(self.model.find(rows.features.train, leaves.number), leaves)
        sums = zip(self.scales, self.sums, self.counts, self.rest, strict=True)
        self.leaves = [scale * _ratio(one, n[:, None]) + rest for scale, one, n, rest in sums]
        self._validate()

    def _find_kinds(self) -> Ints:
        if self.model.by_class:
            return self.rows.y.astype(np.int32)
        return np.zeros(self.n_rows, dtype=np.int32)

    @property
    def n_kinds(self) -> int:
        """Weights of a leaf: one per class in a classifying forest, else one."""
        return self.model.start.size if self.model.by_class else 1

    def _hold(self) -> None:
        """Find the residuals before every piece, and the scale and the rest of every leaf."""
        numbers = [t for piece in self.pieces for one in piece for t in one]
        find = partial(self.model.find, self._seen)
        places = map_in_threads(find, numbers, self._n_threads)
        raw = np.broadcast_to(self.model.start, (self.n_rows, self.model.start.size))
        bends: list[Any] = []
        for piece in self.pieces:
            self._before.append(raw)
            for one in piece:
                found = [next(places) for _ in one]
                for leaves, at in zip(self._of_round(raw, one), found, strict=True):
                    self._add_sums(at, leaves)
                bends += self._bends(raw, one, found)
                if len(self.model.rounds) > 1:
                    raw = self._after(raw, one, found)
        self._scale(bends)

    def _bends(self, raw: Floats, numbers: list[int], places: list[Ints]) -> list[Any]:
        """Sums of the curvature over the rows in every leaf of some trees."""
        if self.model.by_class:  # those of the weights
            return [self.sums[t].sum(axis=1) for t in numbers]
        curvature = self.model.loss.curvature(self.rows.y, raw)
        found = []
        for t, at in zip(numbers, places, strict=True):
            bend = curvature[:, self.model.outputs[t]]
            if self.rows.bags is not None:
                bend = bend * self.rows.bags[t]
            found.append(np.bincount(at, bend, self.model.trees[t].n_nodes))
        return found

    def _of_round(self, raw: Floats, numbers: list[int]) -> Iterator[Leaves]:
        """What the trees of a round were fitted on, after these predictions; without weights.

        A class is a kind of row, and its share is predicted.
        """
        everybody = np.ones(self.n_rows)
        residuals = everybody[:, None]
        if not self.model.by_class:
            residuals = self.model.loss.residuals(self.rows.y, raw)
        for t in numbers:
            own, plays = np.ascontiguousarray(residuals[:, self.model.outputs[t]]), everybody
            plain = self.model.by_class
            if self.rows.bags is not None:
                bag = self.rows.bags[t]
                own, plays = own * bag, (bag > 0).astype(np.float64)
                plain &= bag.dtype == np.bool_
            yield Leaves(t, self.model.trees[t], _NO_WEIGHTS, self._kinds, own, plays, plain)

    def fitted_on(self, piece: int) -> Iterator[Leaves]:
        """What the trees of a piece were fitted on."""
        raw, rounds = self._before[piece], self.pieces[piece]
        for k, numbers in enumerate(rounds):
            yield from self._of_round(raw, numbers)
            if k + 1 < len(rounds):
                found = [self.model.find(self._seen, t) for t in numbers]
                raw = self._after(raw, numbers, found)

    def _after(self, raw: Floats, numbers: list[int], places: list[Ints]) -> Floats:
        """Raw predictions of the training rows after some trees, whose leaves they fall into."""
        raw = raw.copy()
        for t, leaves in zip(numbers, places, strict=True):
            raw[:, self.model.outputs[t]] += self.model.leaves[t][leaves, 0]
        return raw

    def _add_sums(self, places: Ints, leaves: Leaves) -> None:
        """Keep the sums of the rows in every leaf of a tree."""
        size, n_kinds = leaves.tree.n_nodes, self.n_kinds
        cells = places if n_kinds == 1 else places.astype(np.intp) * n_kinds + leaves.kinds
        sums = np.bincount(cells, leaves.numbers, size * n_kinds)
        self.sums.append(sums.reshape(size, n_kinds))
        whole = self.model.by_class and self.rows.bags is None
        self.counts.append(
            self.sums[-1].sum(axis=1) if whole else np.bincount(places, leaves.plays, size)
        )

    def _scale(self, bends: list[Floats]) -> None:
        model = self.model
        means = [_ratio(sums, n[:, None]) for sums, n in zip(self.sums, self.counts, strict=True)]
        least = 1e-12 * max(float(np.abs(mean).max(initial=0.0)) for mean in means)
        means = [np.where(np.abs(mean) > least, mean, 0.0) for mean in means]  # no rounding errors
        if not model.leaves:  # the mean over the trees of the means of their rows
            self.scales = [np.full_like(mean, 1.0 / len(means)) for mean in means]
            self.leaves = [mean / len(means) for mean in means]
            self.rest = [np.zeros_like(mean) for mean in means]
            return
        self.leaves = model.leaves
        steps = [
            _ratio(n, bend + model.penalty)[:, None]
            for n, bend in zip(self.counts, bends, strict=True)
        ]
        ratios = [_ratio(leaf, mean) for leaf, mean in zip(self.leaves, means, strict=True)]
        rate = _rate(ratios, steps)
        free = not model.loss.curved
        self.scales = [
            np.where((ratio > 0) & (free | (ratio <= 2.0 * rate * step)), ratio, rate * step)
            for ratio, step in zip(ratios, steps, strict=True)
        ]
        self.rest = [
            leaf - scale * mean
            for leaf, scale, mean in zip(self.leaves, self.scales, means, strict=True)
        ]

    def _validate(self, known: tuple[list[Ints], Floats] | None = None) -> None:
        """Predict the validation rows, and sum their slopes in every leaf."""
        if known is None:
            places = self.model.find_all(self.rows.features.valid, self._n_threads)
            known = places, self.model.predict(places, self.leaves)
        self.places, self.predicted = known
        start = np.broadcast_to(self.model.start, self.predicted.shape)
        slopes = self.model.loss.slopes(self.rows.y_valid, start, self.predicted)
        self.slopes = slopes * (self.unit.factor * self.rows.weights)[:, None]
        self.masses = [self.masses_of(t, at, self.slopes) for t, at in enumerate(self.places)]

    def masses_of(self, t: int, places: Ints, slopes: Floats) -> Floats:
        """Sums of slopes of the validation rows in every leaf of tree t, by kind."""
        size, n_kinds = self.model.trees[t].n_nodes, self.n_kinds
        if not self.model.by_class:
            found = np.bincount(places, slopes[:, self.model.outputs[t]], size)
        else:
            # only the slope of the right label is not 0; none where the model does not know it
            cells = places.astype(np.intp) * n_kinds + np.maximum(self.rows.y_valid, 0)
            found = np.bincount(cells, slopes.sum(axis=1), size * n_kinds)
        return np.asarray(found.reshape(size, n_kinds), dtype=np.float64)

    def score(self, raw: Floats | None = None) -> float:
        """The score of raw predictions of the validation rows; by default of the model's own."""
        raw = self.predicted if raw is None else raw
        each = self.model.loss.each(self.rows.y_valid, raw)
        return self.unit.score(float(self.rows.weights @ each))

    def blind(self) -> float:
        """The score without any rows."""
        return self.score(np.broadcast_to(self.model.start, self.predicted.shape))

    def summed(self) -> tuple[float, float]:
        """The score of all rows without any column, and the part of the score that is nobody's."""
        blind, nobodys = 0.0, 0.0
        for t in range(len(self.model.trees)):
            mass = self.masses[t]
            means = self.sums[t].sum(axis=0) / max(self.counts[t].sum(), 1.0)
            blind += float((mass * self.scales[t]).sum(axis=0) @ means)
            nobodys += float((mass * self.rest[t]).sum())
        return self.blind() + blind, nobodys

    def moved(self) -> float:
        """The sum of what the predictions of all validation rows move the score, up or down."""
        return float(np.abs((self.slopes * (self.predicted - self.model.start)).sum(axis=1)).sum())

    def leaves_in(self, piece: int, masses: Sequence[Floats] | None = None) -> Iterator[Leaves]:
        """The game of every tree of a piece; ``masses`` are others than the model's."""
        for leaves in self.fitted_on(piece):
            t = leaves.number
            mass = self.masses[t] if masses is None else masses[t]
            yield replace(leaves, weights=mass * self.scales[t])


def _pieces(rounds: list[list[int]]) -> list[list[list[int]]]:
    """Batches of rounds; of a forest, whose trees are all fitted on the target, of its trees."""
    if len(rounds) > 1:
        return [rounds[i : i + PIECE] for i in range(0, len(rounds), PIECE)]
    (numbers,) = rounds
    return [[numbers[i : i + PIECE]] for i in range(0, len(numbers), PIECE)]


def _rate(ratios: list[Floats], steps: list[Floats]) -> float:
    """The learning rate: the leaves over their Newton steps, in the middle."""
    both = zip(ratios, steps, strict=True)
    known = np.concatenate([_ratio(ratio, step).ravel() for ratio, step in both])
    known = known[known > 0]
    return float(np.median(known)) if known.size else 0.0


def _ratio(one: Floats, other: Floats) -> Floats:
    """A quotient; 0 where the divisor is 0."""
    shape = np.broadcast_shapes(one.shape, other.shape)
    return np.divide(one, other, out=np.zeros(shape), where=np.broadcast_to(other != 0, shape))
