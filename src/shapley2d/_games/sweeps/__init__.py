"""Games of built-in models, which fill the whole grid of a permutation pair in one sweep.

Other games train a model for every coalition.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice

if TYPE_CHECKING:
    from shapley2d._games.nearest import KnnGame
    from shapley2d._knn.cuda.device import Device
    from shapley2d._tables.problem import Split
    from shapley2d._theory.game import Game

SWEEPS = ("gaussian_nb", "ridge", "knn", "tree")
"""Names of the built-in models."""


def sweep_game(name: str, split: Split, **options: Any) -> Game:
    """The game of a built-in model; its utility is accuracy or R squared by default.

    Parameters
    ----------
    name : {"gaussian_nb", "ridge", "knn", "tree"}
    split : Split
        Training and validation rows, checked.
    **options
        ``baseline="labels"`` and ``scoring=None``. Instead of the latter ``"knn"``, whose utility
        is that of method ``"knn"``, takes ``n_neighbors``, ``metric="auto"``, ``votes="k"``,
        ``n_jobs=1`` and ``device=None``.

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
    check_choice(name, "model", SWEEPS)
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


def _knn_game(
    split: Split,
    *,
    n_neighbors: int,
    metric: str = "auto",
    baseline: str = "labels",
    votes: str = "k",
    n_jobs: int | None = 1,
    device: Device | None = None,
) -> KnnGame:
    """The game of nearest neighbours, by default in one thread: workers share draws, not games."""
    from shapley2d._games.nearest import KnnGame
    from shapley2d._knn.metric import integer_columns

    return KnnGame(
        integer_columns(split.train, split.valid, metric),
        split.y.codes,
        split.y_valid.codes,
        task=split.y.task,
        n_neighbors=n_neighbors,
        baseline=baseline,
        votes=votes,
        n_classes=split.y.classes.size if split.y.task == "classification" else None,
        valid_weights=split.valid_weights,
        n_jobs=n_jobs,
        device=device,
    )
