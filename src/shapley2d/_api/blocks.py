"""The value of blocks: the players are groups of rows and groups of columns."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.docstrings import methods_list, with_method_docs
from shapley2d._base.checks import check_flag, check_whole
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.warnings import warn
from shapley2d._estimation.checkpoint import check_place
from shapley2d._methods.blocks import complete_options, estimate_blocks
from shapley2d._methods.call import call_code
from shapley2d._methods.registry import METHODS, game_methods
from shapley2d._methods.run import Run
from shapley2d._methods.validation_error import jackknife_covariance, problems_without_a_group
from shapley2d._ownership.grid import Grid, Groups, label_groups
from shapley2d._ownership.owners import Claim, Ownership, cut_grid, read_claims
from shapley2d._results.blocks import MAX_JOINT, BlockValuation
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.label import label_name
from shapley2d._tables.problem import Problem, make_problem
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.texts.column import clean_texts
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray


@with_method_docs(methods=methods_list(game_methods()))
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
    kinds: Any = None,
    folds: Any = FOLDS,
    groups: Any = None,
    time: Any = None,
    valid_weight: Any = None,
    semivalue: Any = SEMIVALUE,
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
    owners : frame, list of dicts or path of a CSV or Parquet file, optional
        Who contributed what: the columns ``owner``, ``row`` and ``column``, one region per line. An empty row or
        column means all of them (the label included, where it is one); an entry is a label of ``rows`` or
        ``columns``, a name, or a position, several of them as a list or separated by ``;``, or a range of numbers
        such as ``0-99``, both ends included. The table is cut into the coarsest grid that respects every owner's
        region, and the groups of ``rows`` and ``columns`` if given.
    method : str
        ``"auto"``: exact up to 4,096 utilities of a model or 65,536 of nearest neighbours, Monte Carlo beyond.
        ``"knn"``: ``"auto"`` with ``model="knn"``. The others value coalitions of groups as they do those of cells:

        {methods}
    include_label : bool
        The label joins as one more column group, without which nothing can be learned.
    validation_groups : int
        Groups of validation rows to leave out one at a time, 10 or so: the standard errors in ``owners`` and the
        intervals of payments then also include how much the values depend on the choice of validation rows. Each
        group costs one more valuation. 0: the validation table is taken as it is.
    task, kinds, folds, groups, time, valid_weight, semivalue, random_state, n_jobs, progress
        As in :func:`~shapley2d.value_cells`.
    **options
        ``model``, ``scoring``, ``preprocess``, ``baseline``; ``n_neighbors``, ``metric`` and ``backend`` with
        ``model="knn"``; and, where blocks are sampled, ``max_permutations``, ``tolerance``, ``checkpoint`` and
        ``cluster``. All are as in :func:`~shapley2d.value_cells` with ``method="mc"``.

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
    ((2, 2), 'exact', 16, 0.5)
    """
    given = dict(locals())
    run = Run.create(random_state, semivalue, n_jobs, progress)
    check_flag(include_label, "include_label")
    check_whole(validation_groups, "validation_groups", 0)
    complete = complete_options(method, options)
    _check_checkpoints(complete, validation_groups)
    problem = make_problem(
        X,
        y,
        X_valid,
        y_valid,
        task=task,
        folds=folds,
        groups=groups,
        time=time,
        valid_weight=valid_weight,
        seed=run.seed,
        kinds=kinds,
    )
    if include_label:
        problem = replace(problem, label=label_name(y, problem.table.column_names))
    grid, ownership = _layout(problem, rows, columns, owners)
    sums = _sums(ownership, grid)
    estimate, chosen = estimate_blocks(problem, run, grid, sums, method=method, options=complete)
    covariance, covariance_dof = estimate.covariance, estimate.dof
    if validation_groups:
        if sums is None:
            raise InputError(Setting("validation_groups"), f" is for at most {MAX_JOINT} owners or blocks")
        if chosen == "mc":  # the same permutations, so that only the validation rows differ
            complete = {**complete, "tolerance": 0, "max_permutations": estimate.info["n_permutations"]}
        replicates = [
            np.tensordot(
                sums,
                estimate_blocks(
                    part, run, grid, None, method=chosen, options=_of_replicate(complete, chosen, k)
                )[0].values,
                axes=2,
            )
            for k, part in enumerate(problems_without_a_group(problem, validation_groups, run.seed))
        ]
        spread = jackknife_covariance(np.array(replicates))
        covariance = spread if covariance is None else covariance + spread
        covariance_dof = min(covariance_dof, float(validation_groups - 1))
    return BlockValuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=_row_names(grid.rows.names),
        column_names=[str(name) for name in grid.columns.names],
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        dof=estimate.dof,
        info=run.record(
            kind="blocks",
            method=chosen,
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if X_valid is None else None,
            splits=problem.how or None,
            weighted=valid_weight is not None or None,
            label=problem.label,
            validation_groups=validation_groups or None,
            settings=options,
            block_owners=_block_owners(ownership),
            about=METHODS[chosen].about(estimate.info),
            call=call_code(value_blocks, given, options, run.seed),
            **estimate.info,
        ),
        history=estimate.history,
        frame=frame_kind(X),
        row_sizes=grid.rows.sizes,
        column_sizes=grid.columns.sizes,
        owner_names=[] if ownership is None else ownership.names,
        owner_shares=None if ownership is None else ownership.shares,
        covariance=covariance,
        covariance_dof=covariance_dof,
    )


def _check_checkpoints(options: dict[str, Any], validation_groups: int) -> None:
    """Refuse names of checkpoints that would fail only when their turn comes."""
    path = options.get("checkpoint")
    if path is None:
        return
    check_place(path)
    if isinstance(validation_groups, int):
        for k in range(validation_groups):
            check_place(_replicate_path(path, k))


def _replicate_path(path: Any, number: int) -> str:
    return f"{path}.without-{number}"


def _of_replicate(options: dict[str, Any], chosen: str, number: int) -> dict[str, Any]:
    """Options for the valuation without one validation group, which has a checkpoint of its own."""
    path = options.get("checkpoint")
    if path is None or chosen != "mc":
        return options
    return {**options, "checkpoint": _replicate_path(path, number)}


def _layout(problem: Problem, rows: Any, columns: Any, owners: Any) -> tuple[Grid, Ownership | None]:
    """The grid of blocks, and who owns them."""
    row_names, column_names, label = (
        problem.table.row_names.tolist(),
        problem.table.column_names,
        problem.label,
    )
    row_groups = None if rows is None else _row_groups(problem, rows)
    column_groups = None if columns is None else label_groups(columns, column_names, "columns")
    if label is not None:
        column_groups = None if column_groups is None else column_groups.with_player(label)
        column_names = [*column_names, label]
    if owners is not None:
        return cut_grid(_claims(owners), row_names, column_names, row_groups, column_groups)
    if row_groups is None and column_groups is None:
        raise InputError(
            "name the blocks by ",
            Setting("rows"),
            ", ",
            Setting("columns"),
            " or ",
            Setting("owners"),
            "; single cells are for value_cells",
        )
    if column_groups is None:
        column_groups = Groups.single(problem.table.n_columns, "all columns")
        column_groups = column_groups if label is None else column_groups.with_player(label)
    return Grid(row_groups or Groups.single(len(row_names), "all rows"), column_groups), None


def _row_groups(problem: Problem, rows: Any) -> Groups:
    """The groups of the rows, without those rows that were left out for their targets."""
    if problem.given is None:
        return label_groups(rows, problem.table.row_names.tolist(), "rows")
    groups = label_groups(rows, problem.given.names.tolist(), "rows")
    labels = [groups.names[label] for label in groups.labels[problem.given.kept]]
    return label_groups(labels, problem.table.row_names.tolist(), "rows")


def _claims(owners: Any) -> list[Claim]:
    if not isinstance(owners, (str, os.PathLike)):
        return read_claims(owners)
    if not _exists(owners):
        raise InputError(Setting("owners", os.fspath(owners)), ": there is no such file")
    source = read_table(os.fspath(owners))
    for note in source.notes:
        warn(InputWarning(*note.args))
    return read_claims(
        clean_texts(source.table), source.path, lambda row: f"{source.path}, {source.where(row)}"
    )


def _exists(path: str | os.PathLike[str]) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name that cannot be one
        return False


def _sums(ownership: Ownership | None, grid: Grid) -> NDArray[np.float64] | None:
    """Weights of the sums whose joint errors payments need: those of the owners, or the blocks themselves."""
    if ownership is not None:
        return ownership.shares if len(ownership.names) <= MAX_JOINT else None
    n, m = grid.shape
    return np.eye(n * m).reshape(n * m, n, m) if n * m <= MAX_JOINT else None


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
