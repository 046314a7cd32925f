"""The value of blocks: the players are groups of rows and groups of columns."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._games.sweeps import SWEEPS
from shapley2d._methods.blocks import block_games, choose_method, exact_by_columns, knn_games, sampled
from shapley2d._methods.registry import exact_games, loo_games, model_games
from shapley2d._methods.run import Run
from shapley2d._methods.validation_error import jackknife_covariance, problems_without_a_group
from shapley2d._ownership.grid import Grid, Groups, label_groups
from shapley2d._ownership.owners import Ownership, cut_grid, read_lines
from shapley2d._results.blocks import MOST_JOINT, BlockValuation
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.label import label_name
from shapley2d._tables.problem import Problem, make_problem
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate

_MODEL_OPTIONS = ("model", "scoring", "encoding")
_KNN_OPTIONS = ("model", "n_neighbors", "metric")
_SAMPLING_OPTIONS = ("max_permutations", "tolerance", "checkpoint", "cluster")
_METHODS = ("auto", "exact", "mc", "loo", "knn")


def value_blocks(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    rows: Any = None,
    columns: Any = None,
    owners: Any = None,
    method: str = "auto",
    include_label: bool = False,
    validation_groups: int = 0,
    task: str = "auto",
    folds: int = 5,
    semivalue: Any = "shapley",
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    **options: Any,
) -> BlockValuation:
    """Value the blocks of a table that groups of rows and groups of columns cut out, and their owners.

    Parameters
    ----------
    X, y, X_valid, y_valid
        As in :func:`~shapley2d.value_cells`. Without a validation table the blocks are cross-valued over the
        ``folds``; in each of them a group is its rows that train there.
    rows, columns : 1-D array, list, series or mapping, optional
        The group of every row and of every column: one label each, or a mapping from names to labels. Left out,
        the axis is one group.
    owners : frame, list of dicts or path of a CSV file, optional
        Who contributed what: the columns ``owner``, ``row`` and ``column``, one region per line. An empty row or
        column means all of them (the label included, where it is one); an entry is a label of ``rows`` or
        ``columns``, a name, or a position, several of them as a list or separated by ``;``, or a range of numbers
        such as ``0-99``, both ends included. The table is cut into the coarsest grid that respects every owner's
        region, and the groups of ``rows`` and ``columns`` if given.
    method : {"auto", "exact", "mc", "loo", "knn"}
        ``"exact"``: all coalitions of groups. ``"mc"``: Monte Carlo. ``"loo"``: leave one group out. ``"auto"``:
        exact up to 4,096 utilities of a model or 65,536 of nearest neighbours, Monte Carlo beyond. ``"knn"``:
        ``"auto"`` with ``model="knn"``.
    include_label : bool
        The label joins as one more column group; a coalition without it is worth 0.
    validation_groups : int
        Groups of validation rows to leave out one at a time, 10 or so: the owners' (or blocks') standard errors and
        the intervals of payments then also tell how much the values hang on the choice of validation rows. Each
        group costs one more valuation. 0: the validation table is taken as it is.
    task, folds, semivalue, random_state, n_jobs, progress
        As in :func:`~shapley2d.value_cells`.
    **options
        ``model=None`` (any scikit-learn estimator, a decision tree by default, or one of ``"gaussian_nb"``,
        ``"ridge"``, ``"tree"``, ``"knn"``), ``scoring=None``,
        ``encoding="auto" | "none"``. With ``model="knn"``: ``n_neighbors=10``, ``metric="auto" | "sqeuclidean"``.
        Monte Carlo: ``max_permutations=1000``, ``tolerance=0.025``, ``checkpoint=None``, ``cluster=None``, as in
        :func:`~shapley2d.value_cells`.

    Returns
    -------
    BlockValuation

    Examples
    --------
    >>> from shapley2d import value_blocks
    >>> X = [[0, 5, 1], [1, 5, 0], [9, 5, 1], [8, 5, 0]]
    >>> y = ["low", "low", "high", "high"]
    >>> v = value_blocks(X, y, X, y, rows=["A", "A", "B", "B"], columns=["bank", "shop", "shop"])
    >>> v.shape, v.info["method"], v.info["n_utilities"], round(v.total, 6)
    ((2, 2), 'exact', 16, 1.0)
    """
    run = Run.create(random_state, semivalue, n_jobs, progress)
    _check_options(method, options)
    settings = options
    if method == "knn":
        method, options = "auto", {**options, "model": "knn"}
    problem = make_problem(X, y, X_valid, y_valid, task=task, folds=folds, seed=run.seed)
    if include_label:
        problem = replace(problem, label=label_name(y, problem.table.column_names))
    grid, ownership = _layout(problem, rows, columns, owners)
    sums = _sums(ownership, grid)
    estimate, chosen = _estimate(problem, run, grid, sums, method=method, options=options)
    covariance = estimate.covariance
    if validation_groups:
        if sums is None:
            raise InputError(f"validation_groups= is for at most {MOST_JOINT} owners or blocks")
        if chosen == "mc":  # the same permutations, so that only the validation rows differ
            options = {**options, "tolerance": 0, "max_permutations": estimate.info["n_permutations"]}
        replicates = [
            np.tensordot(
                sums,
                _estimate(part, run, grid, None, method=chosen, options=_of_replicate(options, k))[0].values,
                axes=2,
            )
            for k, part in enumerate(problems_without_a_group(problem, validation_groups, run.seed))
        ]
        spread = jackknife_covariance(np.array(replicates))
        covariance = spread if covariance is None else covariance + spread
    return BlockValuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=_row_names(grid.rows.names),
        column_names=[str(name) for name in grid.columns.names],
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        info=run.record(
            kind="blocks",
            method=chosen,
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if X_valid is None else None,
            label=problem.label,
            validation_groups=validation_groups or None,
            settings=settings,
            block_owners=_block_owners(ownership),
            **estimate.info,
        ),
        history=estimate.history,
        frame=frame_kind(X),
        row_sizes=grid.rows.sizes,
        column_sizes=grid.columns.sizes,
        owner_names=[] if ownership is None else ownership.names,
        owner_shares=None if ownership is None else ownership.shares,
        covariance=covariance,
    )


def _estimate(
    problem: Problem,
    run: Run,
    grid: Grid,
    sums: NDArray[np.float64] | None,
    *,
    method: str,
    options: dict[str, Any],
) -> tuple[Estimate, str]:
    """Values of the blocks, and the method that was used."""
    uses_knn = _is_knn(options.get("model"))
    games = knn_games(problem, run, **_only(options, _KNN_OPTIONS[1:])) if uses_knn else (
        model_games(problem, run, **_only(options, _MODEL_OPTIONS))[0]
    )  # fmt: skip
    blocks, members = block_games(games, problem, grid)
    chosen = choose_method(method, blocks, "knn" if uses_knn else "model")
    n_groups = grid.shape[0]
    if chosen == "mc":
        if options.get("checkpoint") is not None:
            settings = {name: item for name, item in options.items() if name not in _SAMPLING_OPTIONS}
            groups = {"rows": grid.rows.labels, "columns": grid.columns.labels, "owners": sums}
            run.identify(problem, method="mc of blocks", **settings, **groups)
        return sampled(
            blocks,
            members,
            n_groups,
            run,
            sums=sums,
            uses_knn=uses_knn,
            **_only(options, _SAMPLING_OPTIONS),
        ), chosen
    solve = loo_games if chosen == "loo" else exact_by_columns if uses_knn else exact_games
    return solve(blocks, members, n_groups, run), chosen


def _of_replicate(options: dict[str, Any], number: int) -> dict[str, Any]:
    """Options for the valuation without one validation group, which has a checkpoint of its own."""
    path = options.get("checkpoint")
    return options if path is None else {**options, "checkpoint": f"{path}.without-{number}"}


def _is_knn(model: Any) -> bool:
    return isinstance(model, str) and model == "knn"


def _only(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: options[name] for name in names if name in options}


def _check_options(method: str, options: dict[str, Any]) -> None:
    if method not in _METHODS:
        raise InputError(f"method={method!r} is not known: use one of {', '.join(map(repr, _METHODS))}")
    model = options.get("model")
    if isinstance(model, str) and model not in SWEEPS:
        names = ", ".join(map(repr, SWEEPS))
        raise InputError(f"model={model!r} is not known: use one of {names}, or a scikit-learn estimator")
    if method == "knn" and model is not None and not _is_knn(model):
        raise InputError("method='knn' takes no model: use method='auto' with a model")
    known: tuple[str, ...] = _KNN_OPTIONS if method == "knn" or _is_knn(model) else _MODEL_OPTIONS
    if method not in ("exact", "loo"):
        known += _SAMPLING_OPTIONS
    for option in options:
        if option not in known:
            near = difflib.get_close_matches(option, known, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"its options are {', '.join(known)}"
            what = "model 'knn'" if _is_knn(model) else f"method {method!r}"
            raise TypeError(f"{what} has no option {option!r}: {hint}")


def _layout(problem: Problem, rows: Any, columns: Any, owners: Any) -> tuple[Grid, Ownership | None]:
    """The grid of blocks, and who owns them."""
    row_names, column_names, label = (
        problem.table.row_names.tolist(),
        problem.table.column_names,
        problem.label,
    )
    row_groups = None if rows is None else label_groups(rows, row_names, "rows")
    column_groups = None if columns is None else label_groups(columns, column_names, "columns")
    if label is not None:
        column_groups = None if column_groups is None else column_groups.with_player(label)
        column_names = [*column_names, label]
    if owners is not None:
        return cut_grid(read_lines(owners), row_names, column_names, row_groups, column_groups)
    if row_groups is None and column_groups is None:
        raise InputError("name the blocks by rows=, columns= or owners=; single cells are for value_cells")
    if column_groups is None:
        column_groups = Groups.single(problem.table.n_columns, "all columns")
        column_groups = column_groups if label is None else column_groups.with_player(label)
    return Grid(row_groups or Groups.single(len(row_names), "all rows"), column_groups), None


def _sums(ownership: Ownership | None, grid: Grid) -> NDArray[np.float64] | None:
    """Weights of the sums whose joint errors payments need: those of the owners, or the blocks themselves."""
    if ownership is not None:
        return ownership.shares if len(ownership.names) <= MOST_JOINT else None
    n, m = grid.shape
    return np.eye(n * m).reshape(n * m, n, m) if n * m <= MOST_JOINT else None


def _row_names(names: list[Any]) -> NDArray[Any]:
    """Names of the row groups as one type, so that files can hold them."""
    if all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names], dtype=object)


def _block_owners(ownership: Ownership | None) -> list[list[Any]] | None:
    """Owners of every block by position, as words."""
    if ownership is None:
        return None
    held = ownership.shares > 0
    _, n, m = held.shape
    names = np.array(ownership.names, dtype=object)
    return [[i, j, ", ".join(names[held[:, i, j]])] for i in range(n) for j in range(m)]
