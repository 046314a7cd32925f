"""The value of rows and columns in any game."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_whole
from shapley2d._base.defaults import SEMIVALUE
from shapley2d._base.entries import as_text, with_texts
from shapley2d._base.words import shown
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._methods.solve import solve_draws
from shapley2d._models.games import FunctionGame, PausingGame
from shapley2d._tables.frames import frame_kind
from shapley2d._valuation.methods import find_method
from shapley2d._valuation.valuation import Valuation
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from shapley2d._methods.method import Method
    from shapley2d._theory.game import Game
    from shapley2d._valuation.arguments import PathLike, Progress, Seed, Semivalues


def value_game(
    h: Callable[..., float] | Game,
    n_rows: int,
    n_columns: int,
    *,
    method: str | Method = "exact",
    semivalue: Semivalues = SEMIVALUE,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    max_time: float | str | None = None,
    progress: Progress = "auto",
    checkpoint: PathLike | None = None,
    cluster: Any = None,
    row_names: Sequence[Any] | None = None,
    column_names: Sequence[str] | None = None,
    name: str | None = None,
) -> Valuation:
    """Value the rows and columns of any game.

    Values are linear in the game and do not depend on the order or the names of rows and columns
    (Axiom 1 and Axiom 3 of the paper).

    Parameters
    ----------
    h : callable or Game
        ``h(S, F)``: the utility of rows ``S`` under columns ``F``, two boolean masks. Without rows
        or without columns the utility is 0, and h is not called. Or any object with ``n_rows``,
        ``n_columns`` and ``utilities(rows, columns)``: a matrix of the utilities of row coalitions
        under column coalitions, boolean masks of shape (coalitions, n_rows) and (coalitions,
        n_columns).
    n_rows, n_columns : int
        The numbers of players.
    method : Method or str
        :class:`~shapley2d.Exact`, by default, or :class:`~shapley2d.MonteCarlo`; their ``model`` is
        not asked. Or a method of your own that values games.
    semivalue, random_state, n_jobs, max_time, progress, checkpoint, cluster
        As in :func:`value_cells`.
    row_names, column_names : sequence, optional
        Names for the result.
    name : str, optional
        Name of the game, which a ``checkpoint`` needs: it goes on only under the same name. Give
        the game another name when you change ``h``.

    Returns
    -------
    Valuation

    Examples
    --------
    A game in which rows 0 and 1 need column 0 and each other: the utility of 1 is split between
    their two cells.

    >>> from shapley2d import value_game
    >>> value_game(lambda S, F: S[0] and S[1] and F[0], 3, 2).values
    array([[0.5, 0. ],
           [0.5, 0. ],
           [0. , 0. ]])
    """
    asked = {**locals()}
    for option, count in (("n_rows", n_rows), ("n_columns", n_columns)):
        check_whole(count, option, 1)
    names = _names(row_names, n_rows, "row_names"), _names(column_names, n_columns, "column_names")
    run = Run.create(random_state, semivalue, n_jobs, progress, max_time, checkpoint, cluster)
    found = find_method(method)
    if name is None and checkpoint is not None:
        raise InputError(
            "checkpoint cannot tell one game of yours from another: say which it is by name, and "
            "take another name when you change it"
        )
    given: Any = h  # isinstance does not see attributes that an object hands over
    is_game = hasattr(given, "utilities")
    game: Game = given if is_game else FunctionGame(given, int(n_rows), int(n_columns))
    if (game.n_rows, game.n_columns) != (n_rows, n_columns):
        raise InputError(
            f"the game has {game.n_rows} rows and {game.n_columns} columns, not {n_rows=}, "
            f"{n_columns=}"
        )
    if run.limit is not None and not hasattr(game, "pause"):
        game = PausingGame(game)
    run = replace(run.advising(), game=None if name is None else str(name))
    estimate = solve_draws(found, found.draws_of([game], [slice(None)], int(n_rows), run), run)
    call = {**asked, "method": found, "random_state": run.seed, "name": None}
    return Valuation._of(
        estimate,
        row_names=names[0],
        column_names=[str(name) for name in names[1].tolist()],
        info=run.record(
            method=found.name,
            settings=found.settings(),
            about=found.about(estimate.info),
            call=repeat_call(value_game, call),
            **estimate.info,
        ),
        _frame=frame_kind(None),
    )


def _names(names: Sequence[Any] | None, count: int, option: str) -> NDArray[Any]:
    """Names of players, one each; positions by default."""
    if names is None:
        return np.arange(count)
    listed = hasattr(names, "__len__") and hasattr(names, "__getitem__")
    if isinstance(names, (str, bytes)) or not listed or getattr(names, "ndim", 1) != 1:
        raise InputError(f"{option}={shown(names)} must be a list of {count} names")
    if len(names) != count:
        raise InputError(f"{option} has {len(names)} entries for {count} players")
    if all(isinstance(name, (str, int, float, np.generic)) for name in names):
        return np.asarray(with_texts(names))
    return np.array([as_text(name) for name in names], dtype=object)
