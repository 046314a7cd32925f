"""The built-in models by name."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._games.nearest import KnnGame
    from shapley2d._tables.problem import Split
    from shapley2d._theory.game import Game

SWEEPS = ("gaussian_nb", "ridge", "knn", "tree")
"""Names of the built-in models."""


def sweep_game(
    name: str, split: Split, *, scoring: Any = None, encoding: str = "auto", **options: Any
) -> Game:
    """The game of a built-in model.

    Parameters
    ----------
    name : {"gaussian_nb", "ridge", "knn", "tree"}
    split : Split
        Training and validation rows, checked.
    scoring, encoding
        Only their defaults: accuracy or R squared (for ``"knn"`` its own utility), numbers and one-hot categories.
    **options
        ``"knn"``: ``n_neighbors=10``, ``metric="auto"``.

    Returns
    -------
    Game

    Examples
    --------
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> game = sweep_game("ridge", split)
    >>> float(game.utilities(SubsetCoalitions(4), SubsetCoalitions(1))[-1, 1])
    1.0
    """
    check_name(name)
    if scoring is not None:
        raise InputError(
            f"scoring={scoring!r} does not go with model={name!r}, which has its own score: leave it out, or pass "
            "the scikit-learn estimator instead of a name"
        )
    if encoding != "auto":
        raise InputError(
            f"encoding={encoding!r} does not go with model={name!r}: leave it out, or pass a scikit-learn pipeline"
        )
    if name == "gaussian_nb":
        from shapley2d._games.sweeps.naive_bayes import NaiveBayesSweep

        return NaiveBayesSweep(split, **options)
    if name == "ridge":
        from shapley2d._games.sweeps.ridge import RidgeSweep

        return RidgeSweep(split, **options)
    if name == "knn":
        return _knn_game(split, **options)
    from shapley2d._games.sweeps.tree import TreeSweep

    return TreeSweep(split, **options)


def check_name(name: str) -> None:
    """Check the name of a built-in model, or suggest the nearest."""
    if name not in SWEEPS:
        near = difflib.get_close_matches(name, SWEEPS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"use one of {', '.join(map(repr, SWEEPS))}"
        raise InputError(f"model={name!r} is not a scikit-learn estimator and not a built-in model: {hint}")


def _knn_game(split: Split, *, n_neighbors: int = 10, metric: str = "auto") -> KnnGame:
    """The game of nearest neighbours, in one thread: draws are what is shared out to workers."""
    from shapley2d._games.nearest import KnnGame
    from shapley2d._knn.metric import integer_columns
    from shapley2d._methods.run import check_number

    check_number(n_neighbors, "n_neighbors", whole=True)
    return KnnGame(
        integer_columns(split.train, split.valid, metric),
        split.y.codes,
        split.y_valid.codes,
        task=split.y.task,
        n_neighbors=n_neighbors,
        n_jobs=1,
    )
