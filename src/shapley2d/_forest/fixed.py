"""Given models: their trees in numbered batches, whose values are summed in order."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.pipeline import Pipeline

from shapley2d._forest.ensemble import (
    Ensemble,
    encoded_matrices,
    is_fitted,
    library_of,
    read_encoded,
    read_fitted,
)
from shapley2d._forest.game import LeafGame
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
        features,
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
        game = self.games[k]
        values = np.zeros((game.n_rows, game.n_columns))
        for leaves in self.held[k].leaves_in(piece):
            game.add_values(leaves, values)
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
        self._deep: list[list[int]] = []  # batches of every split with deep leaves
        self.share, self.columns = 0.0, np.zeros(pieces.games[0].n_columns, dtype=np.bool_)
        for game, held in zip(pieces.games, pieces.held, strict=True):
            deep = []
            for p, rounds in enumerate(held.pieces):
                if not any(game.is_deep(held.model.trees[t]) for one in rounds for t in one):
                    continue
                found = [game.deep_part(leaves) for leaves in held.leaves_in(p)]
                if any(named.any() for _, named in found):
                    deep.append(p)
                for share, named in found:
                    self.columns |= named
                    self.share += share / len(held.model.trees) / len(pieces.held)
            self._deep.append(deep)

    def values(self, exact: Floats, number: int) -> Floats:
        """The values of round ``number``, those of all other leaves (``exact``) included."""
        values = exact.copy()
        for k, (game, held) in enumerate(zip(self._pieces.games, self._pieces.held, strict=True)):
            part = np.zeros((game.n_rows, game.n_columns))
            for p in self._deep[k]:
                for leaves in held.leaves_in(p):
                    game.add_deep_values(leaves, (self._seed, number, k), part)
            values[self._rows[k]] += part / len(self._pieces.games)
        return values
