"""The functions that users call."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._games.function import FunctionGame
from shapley2d._methods.registry import CELL_METHODS, GAME_METHODS, WITHOUT_VALIDATION, find_method
from shapley2d._methods.run import Run
from shapley2d._results.valuation import Valuation
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.label import label_name, with_label
from shapley2d._tables.problem import make_problem
from shapley2d._theory.game import Game
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray


def value_cells(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    method: str = "knn",
    *,
    include_label: bool = False,
    task: str = "auto",
    folds: int = 5,
    semivalue: Any = "shapley",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    **options: Any,
) -> Valuation:
    """Value every cell of a training table.

    Parameters
    ----------
    X : 2-D array, or a pandas, polars or pyarrow table
        The training table. Numbers, text, booleans and dates; missing entries are welcome.
    y : 1-D array, list or series
        Labels or numbers to predict.
    X_valid, y_valid : like X and y, optional
        The validation table. Without it: cross-valuation over ``folds``; each fold validates the others in turn,
        a row's values are the mean over the folds (0 in the one where it validates). ``"oob"`` and ``"random"``
        need neither: a table given is checked and not used.
    method : {"knn", "mc", "exact", "loo", "flat", "oob", "random"}
        ``"knn"``: the K-nearest-neighbour utility, no model is trained. ``"mc"``: Monte Carlo for any model.
        ``"exact"``: every coalition, for a dozen rows and columns in all. ``"loo"``: 2D leave-one-out. Baselines to
        compare with: ``"flat"``, the 1D-Shapley value of every cell as a player of one game, in which absent cells are
        filled with their column's mean; ``"oob"``, 2D-OOB, the out-of-bag scores of trees on random columns;
        ``"random"``, random numbers.
    include_label : bool
        Value the label too: it joins as one more column, last, without which a coalition is worth 0.
    task : {"auto", "classification", "regression"}
        ``"auto"``: text, booleans and up to 20 different whole numbers are classes.
    folds : int
        Folds of the cross-valuation.
    semivalue : "shapley", "banzhaf" or ("beta", a, b)
        How coalitions of different sizes count; a pair of them sets rows and columns apart.
    random_state : int, numpy generator or None
    n_jobs : int or None
        Workers; -1 for all cores. The values do not depend on it. ``"knn"`` uses all cores by default, the others
        one.
    progress : {"auto", True, False} or callable
        A bar on a terminal by default; a function is handed ``(fraction, note)``.
    **options
        Of the method. ``"knn"``: ``n_neighbors=10``, ``metric="auto" | "sqeuclidean"``,
        ``columns="auto" | "exact" | "sampled"``, ``n_coalitions=None``, ``tolerance=0.025``,
        ``empty="zero" | "ties"``, ``backend="auto" | "cpu"``, ``form="auto" | "exact" | "fast"``.
        ``"mc"``, ``"exact"``, ``"loo"``, ``"flat"``: ``model=None`` (any scikit-learn estimator, a decision tree by
        default, or a built-in sweep by name: ``"gaussian_nb"``, ``"ridge"``, ``"tree"``, ``"knn"``; for ``"flat"``
        only ``"tree"`` and ``"gaussian_nb"``), ``scoring=None``, ``encoding="auto" | "none"``.
        ``"mc"``, ``"flat"``: ``max_permutations=1000`` (``"flat"``: 500), ``tolerance=0.025``, ``truncation=None``
        (stop adding rows, or cells, once within it of the utility of all; biased), ``checkpoint=None`` (a file to keep
        the state in: after a crash, a kill or Ctrl-C the same call goes on from there, to the same bits),
        ``cluster=None`` (the address of a Dask scheduler, or a client of it, to work on; needs the extra
        ``distributed``). ``"oob"``: ``n_trees=1000``, ``column_share=0.25`` (of the columns, or a whole number of
        them), ``oob_score="correct" | "distance"``.

    Returns
    -------
    Valuation

    Notes
    -----
    Shapley values of ``"knn"``, ``"mc"`` and ``"exact"`` sum to the model's score; those of ``"flat"`` to the score
    minus that of a table of nothing but means, ``info["utility_all"] - info["utility_none"]``. Those of ``"loo"``,
    ``"oob"`` and ``"random"`` sum to nothing in particular.

    Examples
    --------
    >>> from shapley2d import value_cells
    >>> X = [[0, 5], [1, 5], [9, 5], [8, 5]]
    >>> y = ["low", "low", "high", "high"]
    >>> v = value_cells(X, y, X, y, method="exact", progress=False)
    >>> round(v.total, 6)
    1.0
    >>> bool(v.columns[0] > v.columns[1])
    True
    """
    run = Run.create(random_state, semivalue, n_jobs, progress)
    solve = find_method(CELL_METHODS, method, options)
    validates = method not in WITHOUT_VALIDATION
    problem = make_problem(X, y, X_valid, y_valid, task=task, folds=folds, seed=run.seed, validates=validates)
    table = problem.table
    if include_label:
        problem = replace(problem, label=label_name(y, table.column_names))
        table = with_label(table, problem.target, str(problem.label))
    estimate = solve(problem, run, **options)
    return Valuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=table.row_names,
        column_names=table.column_names,
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        info=run.record(
            method=method,
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if X_valid is None and validates else None,
            label=problem.label,
            settings=options,
            **estimate.info,
        ),
        history=estimate.history,
        frame=frame_kind(X),
        table=table,
        target=problem.target.y,
    )


def value_game(
    h: Callable[..., float] | Game,
    n_rows: int,
    n_columns: int,
    method: str = "exact",
    *,
    semivalue: Any = "shapley",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[str] | None = None,
    **options: Any,
) -> Valuation:
    """Value the rows and columns of any game.

    Parameters
    ----------
    h : callable or Game
        ``h(S, F)``: the utility of rows ``S`` under columns ``F``, two boolean masks; no rows or no columns are
        worth 0 and are not asked for. Or any object with the methods of :class:`shapley2d._theory.game.Game`.
    n_rows, n_columns : int
        The numbers of players.
    method : {"exact", "mc", "loo"}
    semivalue, random_state, n_jobs, progress
        As in :func:`value_cells`.
    row_names, column_names : sequence, optional
        Names for the result.
    **options
        ``"mc"``: ``max_permutations=1000``, ``tolerance=0.025``, ``checkpoint=None``, ``cluster=None``.

    Returns
    -------
    Valuation

    Examples
    --------
    A game in which rows 0 and 1 need column 0 and each other: the worth of 1 is split between the two cells.

    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S[0] and S[1] and F[0], 3, 2).values
    array([[0.5, 0. ],
           [0.5, 0. ],
           [0. , 0. ]])
    """
    for name, count in (("n_rows", n_rows), ("n_columns", n_columns)):
        if not isinstance(count, (int, np.integer)) or count < 1:
            raise InputError(f"{name}={count!r} must be a whole number of at least 1")
    names = _names(row_names, n_rows, "row_names"), _names(column_names, n_columns, "column_names")
    run = Run.create(random_state, semivalue, n_jobs, progress)
    solve = find_method(GAME_METHODS, method, options)
    game: Game = h if isinstance(h, Game) else FunctionGame(h, int(n_rows), int(n_columns))
    if (game.n_rows, game.n_columns) != (n_rows, n_columns):
        raise InputError(
            f"the game has {game.n_rows} rows and {game.n_columns} columns, not n_rows={n_rows}, "
            f"n_columns={n_columns}"
        )
    estimate = solve([game], [np.arange(n_rows)], int(n_rows), run, **options)
    return Valuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=names[0],
        column_names=[str(name) for name in names[1].tolist()],
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        info=run.record(method=method, settings=options, **estimate.info),
        history=estimate.history,
        frame=frame_kind(None),
    )


def _names(names: Sequence[Any] | None, count: int, option: str) -> NDArray[Any]:
    """Names of players, one each; positions by default."""
    if names is None:
        return np.arange(count)
    if len(names) != count:
        raise InputError(f"{option} has {len(names)} entries for {count} players")
    if all(isinstance(name, (str, int, float, np.generic)) for name in names):
        return np.asarray(names)
    return np.array([str(name) for name in names], dtype=object)
