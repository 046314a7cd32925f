"""Given models: their trees in numbered batches, whose values are summed in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._forest.ensemble import (
    Ensemble,
    encoded_matrices,
    is_fitted,
    library_of,
    read_encoded,
    read_fitted,
)
from shapley2d._forest.game import LeafGame
from shapley2d._forest.pipelines import is_pipeline, last_step
from shapley2d._models.by_name import is_built_in, resolve_model
from shapley2d._models.fitting import check_task, cloned, error_line, model_name, prepared_model
from shapley2d.exceptions import InputError, Setting, UtilityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import Features, SplitTree
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.semivalues import Semivalue

PIECE_TREES = 4
"""Trees of a batch: its values are added to the sum as a whole."""


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


def split_game(
    features: Features, split: Split, semivalues: tuple[Semivalue, Semivalue], *, labelled: bool
) -> LeafGame:
    """The game of one split, whose tables have these features."""
    target = (split.y, split.y_valid, split.valid_weights)
    return LeafGame(features, *target, semivalues, split.train.n_columns, labelled=labelled)


def _fit(model: Any, split: Split) -> Ensemble:
    library, y = library_of(model), split.y.y
    # others name, encode or fill columns of the user's table
    encoded = not is_pipeline(model) and not library.takes_table(model, split.train)
    matrix, features = encoded_matrices(split) if encoded else (split.train.native, None)
    if library.counts_classes and split.y.task == "classification":
        y = np.unique(split.y.codes, return_inverse=True)[1]
    try:
        fitted = cloned(model).fit(matrix, y)
    except Exception as error:
        words = f"{model_name(model)} failed on {split.rows.size:,} rows: {error_line(error)}"
        raise UtilityError(words) from error
    if features is None:
        return read_fitted(fitted, split)
    return read_encoded(fitted, split.train, features)


class TreePieces:
    """Numbered batches of trees, and the part of each in the mean over trees and splits.

    Parameters
    ----------
    ensembles : list of Ensemble
        One per split.
    problem : Problem
    run : Run
    """

    def __init__(self, ensembles: list[Ensemble], problem: Problem, run: Run) -> None:
        labelled = problem.label is not None
        self.games = [
            split_game(ensemble.features, split, run.semivalues, labelled=labelled)
            for ensemble, split in zip(ensembles, problem.splits, strict=True)
        ]
        self.trees = [ensemble.trees for ensemble in ensembles]
        self._pieces = [
            (k, start)
            for k, trees in enumerate(self.trees)
            for start in range(0, len(trees), PIECE_TREES)
        ]

    def __len__(self) -> int:
        return len(self._pieces)

    def split_of(self, number: int) -> int:
        """The split of a batch."""
        return self._pieces[number][0]

    def __call__(self, number: int) -> NDArray[np.float64]:
        k, start = self._pieces[number]
        game = self.games[k]
        values = np.zeros((game.n_rows, game.n_columns))
        for tree in self.trees[k][start : start + PIECE_TREES]:
            game.add_values(tree, values)
        values /= len(self.trees) * len(self.trees[k])
        return values

    def column_errors(self, sums: list[NDArray[np.float64]]) -> NDArray[np.float64] | None:
        """Standard errors of the columns' values over other random trees; None for few trees.

        Parameters
        ----------
        sums : list of ndarray
            Sums over the rows, of all batches in order.
        """
        variances = np.zeros(self.games[0].n_columns)
        for k, trees in enumerate(self.trees):
            full = [
                one
                for one, (split, start) in zip(sums, self._pieces, strict=True)
                if split == k and start + PIECE_TREES <= len(trees)
            ]
            if len(full) < 5:  # too few to estimate a variance
                return None
            # the variance of a sum of independent batches, the last trees of all included
            variances += np.var(full, axis=0, ddof=1) * len(trees) / PIECE_TREES
        return np.asarray(np.sqrt(variances))


class DeepDraws:
    """Rounds of permutation sampling in deep leaves: one random order of the columns of each.

    Parameters
    ----------
    pieces : TreePieces
    rows : list of ndarray
        The rows of the table behind those of every split.
    seed : int

    Attributes
    ----------
    share : float
        The share of the predictions that deep leaves make.
    columns : ndarray of bool
        The columns on the paths of deep leaves.
    """

    def __init__(self, pieces: TreePieces, rows: list[NDArray[np.intp]], seed: int) -> None:
        self._games, self._rows, self._seed = pieces.games, rows, seed
        self._counts = [len(trees) for trees in pieces.trees]
        self._deep: list[list[tuple[int, SplitTree]]] = []
        self.share, self.columns = 0.0, np.zeros(pieces.games[0].n_columns, dtype=np.bool_)
        for game, trees in zip(pieces.games, pieces.trees, strict=True):
            deep = []
            for number, tree in enumerate(trees):
                mass, named = game.deep_part(tree)
                if named.any():
                    deep.append((number, tree))
                    self.columns |= named
                    self.share += mass / len(trees) / len(pieces.trees)
            self._deep.append(deep)

    def values(self, exact: NDArray[np.float64], number: int) -> NDArray[np.float64]:
        """The values of round ``number``, those of all other leaves (``exact``) included."""
        values = exact.copy()
        for k, (game, deep) in enumerate(zip(self._games, self._deep, strict=True)):
            part = np.zeros((game.n_rows, game.n_columns))
            for t, tree in deep:
                random = generator(self._seed, "path orders", number, k, t)
                game.add_deep_values(tree, random, part)
            values[self._rows[k]] += part / (len(self._games) * self._counts[k])
        return values
