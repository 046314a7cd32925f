"""A given model: its trees in numbered pieces, whose values are summed up in order."""

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
from shapley2d._forest.tree_values import may_be_deep
from shapley2d._games.fitting import check_task, cloned, error_line, model_name, prepared_model
from shapley2d._methods.models import is_built_in, resolve_model
from shapley2d.exceptions import InputError, Setting, UtilityError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._forest.trees import SplitTree
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split

PIECE_TREES = 4
"""Trees of a piece: the values of a piece are added to the sum as a whole."""


LEAST_PIECES = 5
"""Pieces that say how much trees differ, at least: 20 trees."""


def read_model(model: Any, problem: Problem, run: Run) -> tuple[list[Ensemble], Any]:
    """The trees of a model for every split, and the model; one that is not fitted is fitted there.

    Parameters
    ----------
    model : estimator or str
    problem : Problem
    run : Run
        Its seed is that of an unfitted model without one.
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
        model = resolve_model(model, task, {})
    if is_fitted(model):
        if hasattr(model, "fit"):  # a booster does not tell
            check_task(model, task)
        return [read_fitted(model, split) for split in problem.splits], model
    model = prepared_model(model, task, run.seed % 2**32)
    last = last_step(model)
    last.set_params(**library_of(model).quiet(last))
    return [_fit(model, split) for split in problem.splits], model


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
    """Numbered pieces of trees: what the trees of each add to the mean over trees and splits.

    Parameters
    ----------
    ensembles : list of Ensemble
        One per split.
    problem : Problem
    run : Run
    """

    def __init__(self, ensembles: list[Ensemble], problem: Problem, run: Run) -> None:
        self.games = [
            LeafGame(
                ensemble.features,
                split.y,
                split.y_valid,
                split.valid_weights,
                run.semivalues,
                problem.table.n_columns,
                labelled=problem.label is not None,
            )
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
        """The split that a piece belongs to."""
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
        """Standard errors of the columns' values over trees that could have been others.

        Parameters
        ----------
        sums : list of ndarray
            Sums over the rows, of all pieces in order.

        Returns
        -------
        ndarray or None
            None where a split has too few pieces to tell.
        """
        variances = np.zeros(self.games[0].n_columns)
        for k, trees in enumerate(self.trees):
            full = [
                one
                for one, (split, start) in zip(sums, self._pieces, strict=True)
                if split == k and start + PIECE_TREES <= len(trees)
            ]
            if len(full) < LEAST_PIECES:
                return None
            # the variance of a sum of independent pieces, the last trees of all included
            variances += np.var(full, axis=0, ddof=1) * len(trees) / PIECE_TREES
        return np.asarray(np.sqrt(variances))


class DeepDraws:
    """Rounds of random orders of columns, one for every deep leaf; the other leaves are exact.

    Parameters
    ----------
    pieces : TreePieces
    rows : list of ndarray
        The rows of the table behind those of every split.
    seed : int

    Attributes
    ----------
    share : float
        Of the predictions, the part that falls into deep leaves.
    columns : ndarray of bool
        The columns on the paths of these.
    """

    def __init__(self, pieces: TreePieces, rows: list[NDArray[np.intp]], seed: int) -> None:
        self._games, self._rows, self._seed = pieces.games, rows, seed
        self._counts = [len(trees) for trees in pieces.trees]
        self._deep: list[list[tuple[int, SplitTree]]] = []
        self.share, self.columns = 0.0, np.zeros(pieces.games[0].n_columns, dtype=np.bool_)
        for game, trees in zip(pieces.games, pieces.trees, strict=True):
            deep = []
            for number, tree in enumerate(trees):
                if may_be_deep(tree, game.features):
                    mass, named = game.deep_part(tree)
                    if named.any():
                        deep.append((number, tree))
                        self.columns |= named
                        self.share += mass / len(trees) / len(pieces.trees)
            self._deep.append(deep)

    def values(self, exact: NDArray[np.float64], number: int) -> NDArray[np.float64]:
        """Round ``number``, with the values of all other leaves added."""
        values = exact.copy()
        for k, (game, deep) in enumerate(zip(self._games, self._deep, strict=True)):
            part = np.zeros((game.n_rows, game.n_columns))
            for t, tree in deep:
                random = generator(self._seed, "path orders", number, k, t)
                game.add_deep_values(tree, random, part)
            values[self._rows[k]] += part / (len(self._games) * self._counts[k])
        return values
