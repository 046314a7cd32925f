"""Given models: their trees in numbered batches, whose values are summed in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from shapley2d._base.streams import generator
from shapley2d._forest.ensemble import (
    Ensemble,
    encoded_matrices,
    is_fitted,
    library_of,
    read_encoded,
    read_fitted,
)
from shapley2d._forest.leaves import LeafGame
from shapley2d._models.by_name import is_built_in, resolve_model
from shapley2d._models.fitting import (
    check_task,
    cloned,
    error_line,
    last_step,
    model_name,
    prepared_model,
)
from shapley2d.exceptions import InputError, Setting, UtilityError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._forest.fitted import FittedTrees
    from shapley2d._forest.trees import Features
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split


def read_model(model: Any, problem: Problem, run: Run) -> tuple[list[Ensemble], Any]:
    """The trees of a model for every split, and the model, fitted on each split if it is unfitted.

    The seed of the run is that of an unfitted model without one.
    """
    task = problem.target.task
    if isinstance(model, str):
        if is_built_in(model):
            raise InputError(
                Setting("model", model),
                " is not a tree ensemble of scikit-learn: use ",
                Setting("model", "forest"),
                " or ",
                Setting("model", "hist_gradient_boosting"),
            )
        model = resolve_model(model, task)
    if is_fitted(model):
        if hasattr(model, "fit"):  # a booster does not tell
            check_task(model, task)
        return [read_fitted(model, split) for split in problem.splits], model
    model = prepared_model(model, task, run.seed % 2**32)
    last = last_step(model)
    last.set_params(**library_of(model).quiet(last))
    return [_fit(model, split) for split in problem.splits], model


def split_game(features: Features, problem: Problem, run: Run) -> LeafGame:
    """The game of the training rows of a split, which have these features."""
    return LeafGame(
        features.owners,
        features.train.shape[1],
        run.semivalues,
        problem.table.n_columns,
        labelled=problem.label is not None,
        from_zero=problem.baseline == "zero",
    )


def _fit(model: Any, split: Split) -> Ensemble:
    library, y, classes = library_of(model), split.y.y, None
    # others name, encode or fill columns of the user's table
    encoded = not isinstance(model, Pipeline) and not library.takes_table(model, split.train)
    matrix, features = encoded_matrices(split) if encoded else (split.train.native, None)
    if library.counts_classes and split.y.task == "classification":
        used, y = np.unique(split.y.codes, return_inverse=True)
        classes = split.y.classes[used]
    try:
        fitted = cloned(model).fit(matrix, y)
    except Exception as error:
        words = f"{model_name(model)} failed on {split.rows.size:,} rows: {error_line(error)}"
        raise UtilityError(words) from error
    if features is None:
        ensemble = read_fitted(fitted, split, fitted_here=True)
    else:
        ensemble = read_encoded(fitted, split, features)
    return ensemble if classes is None else replace(ensemble, classes=classes)


class TreePieces:
    """Numbered batches of trees, and the part of each in the values, the mean over the splits."""

    def __init__(self, held: list[FittedTrees], games: list[LeafGame]) -> None:
        self.held, self.games = held, games
        self._pieces = [(k, p) for k, one in enumerate(held) for p in range(len(one.pieces))]

    def __len__(self) -> int:
        return len(self._pieces)

    def split_of(self, number: int) -> int:
        """The split of a batch."""
        return self._pieces[number][0]

    def __call__(self, number: int) -> Floats:
        k, piece = self._pieces[number]
        values = self.games[k].empty()
        for leaves in self.held[k].games(piece):
            self.games[k].add_values(leaves, values)
        values /= len(self.held)
        return values


class DeepDraws:
    """Rounds of permutation sampling in deep leaves: one random order of the columns of each.

    ``rows``: the rows of the table behind those of every split.
    ``share``: the share of the predictions that deep leaves make.
    ``columns``: the columns on the paths of deep leaves.
    """

    def __init__(self, pieces: TreePieces, rows: list[Ints], seed: int) -> None:
        self._pieces, self._rows, self._seed = pieces, rows, seed
        self._deep: list[tuple[int, int]] = []  # splits and batches with deep leaves
        self.share, self.columns = 0.0, np.zeros(pieces.games[0].n_columns, dtype=np.bool_)
        for k, (game, held) in enumerate(zip(pieces.games, pieces.held, strict=True)):
            if not any(game.may_be_deep(tree) for tree in held.model.trees):
                continue
            for p in range(len(held.pieces)):
                parts = [game.deep_part(leaves) for leaves in held.games(p)]
                if any(named.any() for _, named in parts):
                    self._deep.append((k, p))
                for share, named in parts:
                    self.columns |= named
                    self.share += share / len(held.model.trees) / len(pieces.held)

    def values(self, exact: Floats, number: int) -> Floats:
        """The values of round ``number``, those of all other leaves (``exact``) included."""
        parts = [game.empty() for game in self._pieces.games]
        for k, p in self._deep:
            for leaves in self._pieces.held[k].games(p):
                random = generator(self._seed, "path orders", number, k, leaves.number)
                self._pieces.games[k].add_order(leaves, random, parts[k])
        values = exact.copy()
        for rows, part in zip(self._rows, parts, strict=True):
            values[rows] += part[:, :-1] / len(parts)
        return values
