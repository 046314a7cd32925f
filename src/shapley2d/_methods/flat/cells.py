"""Shapley values of single cells: permutations of all cells, each joining the table one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._estimation.draws import Draws, MeanDraws
from shapley2d._estimation.monte_carlo import monte_carlo
from shapley2d._methods.models import FLAT_MODELS, built_in_weighs_not, is_built_in, resolve_model
from shapley2d._methods.score_facts import score_facts
from shapley2d._theory.designs import Permutation
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.flat.game import FlatGame
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem, Split
    from shapley2d._theory.semivalues import Semivalue


def flat_cells(
    problem: Problem,
    run: Run,
    *,
    model: Any,
    scoring: Any,
    preprocess: str,
    truncation: float | None,
    max_permutations: int,
    tolerance: float,
    checkpoint: Any,
    cluster: Any,
) -> Estimate:
    """Values of cells as players of one game; an absent cell is filled with its column's mean.

    Labels are always known. The values sum to the utility of the table minus that of a table of
    nothing but means, which the record holds as ``utility_all`` and ``baseline_utility``.
    """
    if problem.label is not None:
        raise InputError(
            Setting("method", "flat"),
            " cannot value the label, which nothing can stand in for: leave ",
            Setting("include_label"),
            " out, or use ",
            Setting("method", "mc"),
        )
    if run.semivalues[0] != run.semivalues[1]:
        raise InputError(
            Setting("method", "flat"),
            " has one game of all cells, so rows and columns cannot differ in their semivalue: "
            "pass one",
        )
    if checkpoint is not None:
        from shapley2d._estimation.checkpoint import check_place

        check_place(checkpoint)  # before a model is trained
    settings = {
        "model": model,
        "scoring": scoring,
        "preprocess": preprocess,
        "truncation": truncation,
    }
    games = [flat_game(split, seed=run.seed, **settings) for split in problem.splits]
    estimate = monte_carlo(
        flat_draws(games, problem, run),
        tolerance=tolerance,
        max_draws=max_permutations,
        n_jobs=run.n_jobs,
        progress=run.progress,
        title="flat",
        sums=run.sums,
        checkpoint=_checkpoint(checkpoint, problem, run, games, settings),
        cluster=cluster,
        limit=run.limit,
    )
    estimate.stderr[~_can_matter(problem)] = 0.0
    run.warn_of_precision(estimate, tolerance, "max_permutations", max_permutations)
    return estimate.noting(
        model=model if is_built_in(model) else repr(getattr(games[0], "model", None)),
        baseline_utility=float(np.mean([game.baseline_utility for game in games])),
        utility_all=float(np.mean([game.utility_all for game in games])),
        **score_facts(problem, scoring, "model"),
    )


def _can_matter(problem: Problem) -> NDArray[np.bool_]:
    """Which cells differ, in some split, from what stands in for them; the others are worth 0."""
    from shapley2d._methods.flat.fill import encode_cells

    matters = np.zeros((problem.table.n_rows, problem.table.n_columns), dtype=np.bool_)
    for split in problem.splits:
        matters[split.rows] |= encode_cells(split.train, split.valid, keep_missing=True).matters()
    return matters


def flat_game(
    split: Split,
    *,
    model: Any,
    scoring: Any = None,
    preprocess: str = "auto",
    truncation: float | None = None,
    seed: int = 0,
) -> FlatGame:
    """The game of the cells of one split.

    Parameters
    ----------
    split : Split
    model : estimator or str
        ``"tree"`` and ``"gaussian_nb"`` are built in; other names are scikit-learn's estimators.
    scoring, preprocess
        Of an estimator; the built-in models only have their defaults.
    truncation : float or None
    seed : int
        Of the estimator's random parts.

    Examples
    --------
    >>> from shapley2d._tables.problem import make_problem
    >>> X, y = [[0], [1], [8], [9]], [0, 0, 1, 1]
    >>> (split,) = make_problem(X, y, X, y).splits
    >>> flat_game(split, model="tree").utility_all
    1.0
    """
    from shapley2d._methods.flat.game import FlatModelGame

    if is_built_in(model) and model not in FLAT_MODELS:
        raise InputError(
            Setting("method", "flat"),
            " has no ",
            Setting("model", model),
            ", which is built in for rows and columns only: use "
            f"{', '.join(FLAT_MODELS)}, or one of scikit-learn's",
        )
    if is_built_in(model) and split.valid_weights is not None:
        raise built_in_weighs_not(model)
    if is_built_in(model) and scoring is not None:
        raise InputError(
            Setting("scoring", scoring),
            " does not go with ",
            Setting("method", "flat"),
            " and the built-in ",
            Setting("model", model),
            ", which has its own: leave it out, or use another model, such as ",
            Setting("model", "sklearn_tree"),
        )
    resolved = resolve_model(model, split.y.task, {"scoring": scoring, "preprocess": preprocess})
    if not isinstance(resolved, str):
        return FlatModelGame(
            resolved,
            split,
            scoring=scoring,
            preprocess=preprocess,
            truncation=truncation,
            random_state=seed % 2**32,
        )
    from shapley2d._methods.flat.built_in import BuiltInGame, FlatNaiveBayes, FlatTree

    built_in = FlatTree(split) if model == "tree" else FlatNaiveBayes(split)
    return BuiltInGame(built_in, truncation)


class FlatDraws:
    """One random order of all cells per draw.

    Parameters
    ----------
    game : FlatGame
    semivalue : Semivalue
    seed, part : int
        With a draw's number, the seed of its random order; ``part`` is the fold of a
        cross-valuation.
    """

    def __init__(self, game: FlatGame, semivalue: Semivalue, seed: int, part: int = 0) -> None:
        self._game = game
        self._semivalue = semivalue
        self._seed = seed
        self._part = part

    def __call__(self, number: int) -> NDArray[np.float64]:
        random = generator(self._seed, "cell order", number, self._part)
        return self.values(random.permutation(self._game.n_rows * self._game.n_columns))

    def values(self, order: NDArray[np.intp]) -> NDArray[np.float64]:
        """The values that one order of the cells gives them."""
        steps = Permutation(order, self._semivalue).combine(self._game.along(order))
        return steps.reshape(self._game.n_rows, self._game.n_columns)


def flat_draws(games: list[FlatGame], problem: Problem, run: Run) -> Draws:
    """Draws of the game of all cells, the mean over the splits."""
    draws: list[Draws] = [
        FlatDraws(game, run.semivalues[0], run.seed, k) for k, game in enumerate(games)
    ]
    if len(draws) == 1:
        return draws[0]
    return MeanDraws(draws, [split.rows for split in problem.splits], problem.table.n_rows)


def _checkpoint(
    path: Any, problem: Problem, run: Run, games: list[FlatGame], settings: dict[str, Any]
) -> Checkpoint | None:
    """The checkpoint at a path, for this problem and these games only; None without a path."""
    if path is None:
        return None
    from shapley2d._methods.identity import checkpoint_of, identity_of_sums

    utilities = [utility for game in games for utility in (game.baseline_utility, game.utility_all)]
    return checkpoint_of(
        path,
        run,
        {"utilities": utilities},
        method="flat",
        shape=(problem.table.n_rows, problem.table.n_columns),
        problem=problem,
        **settings,
        **identity_of_sums(run),
    )
