"""Values of blocks and of their owners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.warnings import warn
from shapley2d._base.words import counted, plural
from shapley2d._market.block_valuation import BlockValuation
from shapley2d._market.job import BlockQuestion, BlocksJob
from shapley2d._market.receipts.data_digests import data_digests
from shapley2d._methods.registry import METHODS, game_methods
from shapley2d._tables.frames import frame_kind
from shapley2d._valuation.method_docs import methods_list, with_method_docs
from shapley2d._valuation.question import FOREST
from shapley2d.exceptions import InputWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._market.job import Answer
    from shapley2d._market.regions import Ownership


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
    owner_column: str | None = None,
    method: str = "auto",
    players: str | None = None,
    copies: str | None = None,
    copy_distance: float | str = "auto",
    copy_r2: float = 0.99,
    include_label: bool = False,
    validation_groups: int | None = None,
    task: str = "auto",
    kinds: Any = None,
    cv: Any = FOLDS,
    groups: Any = None,
    time: Any = None,
    valid_weight: Any = None,
    semivalue: Any = SEMIVALUE,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    max_time: Any = None,
    **options: Any,
) -> BlockValuation:
    """Value the blocks of a table, groups of rows by groups of columns, and their owners.

    Parameters
    ----------
    X, y, X_valid, y_valid
        As in :func:`~shapley2d.value_cells`. Without a validation table the blocks are cross-valued
        over ``cv`` folds; in each of them a group is its rows that train there.
    rows, columns : 1-D array, list, series or mapping, optional
        The group of every row and of every column: one label each, or a mapping from names to
        labels. ``rows`` may also be the name of a column of X, which is then not a feature; or
        ``"clusters"`` or ``"clusters=40"`` for that many clusters of similar rows. Left out, the
        axis is one group. Groups of one axis are its contributors: they are valued as ``owners``
        are, up to 256 of them with their copies (clusters are nobody's). Groups of both axes make
        a grid of blocks, which join as wholes.
    owners : frame, list of dicts or path of a CSV or Parquet file, optional
        Who contributed what: the columns ``owner``, ``row`` and ``column``, one region per line. An
        empty row or column means all of them (the label too, where it is valued). An entry is a
        label of ``rows`` or ``columns``, a name, or a position; several of them as a list or
        separated by ``;``; or a range such as ``0-99``, both ends included. The table is cut into
        the coarsest grid that respects every owner's region, and the groups of ``rows`` and
        ``columns`` if given.
    owner_column : str, optional
        The column of X that names the owner of every row, instead of ``owners``; it is not a
        feature.
    method : str
        With ``players="cells"``: any method of :func:`~shapley2d.value_cells`; ``"auto"`` is
        ``"knn"``, or ``"mc"`` where a ``model`` is given. With ``players="groups"``: ``"auto"`` is
        exact up to 4,096 utilities of a model or 65,536 of nearest neighbours; beyond, or if
        ``max_time`` is too short for all of them, it is ``"mc"``. ``"knn"`` is ``"auto"`` with
        ``model="knn"``. The others value subsets of groups as they do those of cells:

        {methods}
    players : {"cells", "groups"}, optional
        ``"cells"``: every cell is valued by itself, and a block or an owner is worth the sum of its
        cells. Splitting, merging and renaming owners then changes no one else's value, nor, as long
        as negative values owe (the default), anyone's payment. ``"groups"``: groups of rows and of
        columns join as wholes. This values blocks as blocks and is affordable for any model; but an
        owner who splits in four is counted four times. By default cells where nearest neighbours
        value owners or the groups of one axis, else groups (``info["players"]``).
    copies : {"one", "first", "escrow", "each"}, optional
        What duplicate rows, with one label, and duplicate columns count for. ``"one"``: they are
        one row or column, which all of its owners share equally, so that listing rows again adds
        nothing. ``"first"``: they are one, which belongs to the owner of the first of them in the
        table. ``"escrow"``: they are one, and what a cell with several owners is worth, copied or
        claimed by several, goes to the entry ``"(escrow)"``, to be withheld until it is known whose
        it is. ``"each"``: all of them count. ``"one"`` by default where there are owners, or groups
        of one axis.
        ``info["copies"]`` counts them, and warnings name owners who have copies of each other.
    copy_distance : float or "auto"
        Which rows are copies. ``"auto"`` (the default) compares with a validation table: rows that
        are nearer to one another than independent rows would be more than once in 10,000 times,
        and equal rows, unless validation rows are equal as often. Without a validation table equal
        rows are copies. A number: rows within this distance, the mean over columns of their
        distance, where two random rows are 1 apart, and a missing entry counts as much beside any
        other; 0 for equal rows alone. Two missing entries are equal. All copies of one row are
        copies of one another: a chain of near rows is none.
    copy_r2 : float
        Where owners have different columns: those of which one predicts the other with at least
        this R squared, or ranks by ranks, or up to a map that keeps the order, are copies; for
        words, other names of the same groups. 0 leaves columns alone.
    include_label : bool
        Value the label too, as one more column group: without it nothing can be learned.
    validation_groups : int, optional
        Groups of validation rows to leave out one at a time, 10 or so: the standard errors in
        ``owners`` and the intervals of payments then include how much the values depend on the
        choice of validation rows. With nearest neighbours and ``players="cells"`` all groups
        together cost one more valuation, and owners get 10 by default; elsewhere each costs one
        more, and the default is 0.
    task, kinds, cv, groups, time, valid_weight, semivalue, random_state, n_jobs, progress,
    max_time
        As in :func:`~shapley2d.value_cells`.
    **options
        With ``players="cells"`` those of the method, as in :func:`~shapley2d.value_cells`; where
        owners or the groups of one axis are valued, ``scoring`` of nearest neighbours is
        ``"balanced_accuracy"`` by default, by which rows of noise are worth nothing even where a
        class is frequent. With groups
        ``model``, ``scoring``, ``preprocess``, ``baseline``; ``n_neighbors`` and ``metric`` with
        ``model="knn"``; ``checkpoint`` and ``cluster``; and, where blocks are
        sampled, ``max_permutations`` and ``tolerance``, as in :func:`~shapley2d.value_cells` with
        ``method="mc"``.

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
    question = BlockQuestion(
        X=X, y=y, X_valid=X_valid, y_valid=y_valid, rows=rows, columns=columns, owners=owners,
        owner_column=owner_column, method=method, players=players, copies=copies,
        copy_distance=copy_distance, copy_r2=copy_r2, include_label=include_label,
        validation_groups=validation_groups,
        task=task, kinds=kinds, cv=cv, groups=groups, time=time, valid_weight=valid_weight,
        semivalue=semivalue, random_state=random_state, n_jobs=n_jobs, progress=progress,
        max_time=max_time, options=options,
    )  # fmt: skip
    job = BlocksJob.prepare(question)
    by_cells = job.players == "cells" and method != "forest"
    job = replace(job, run=job.run.advising(FOREST if by_cells else ""))
    return make_valuation(job, job.answer())


def make_valuation(job: BlocksJob, found: Answer) -> BlockValuation:
    """The result that users get; warns of what may be wrong about who owns what."""
    _warn_of_owners(job, found)
    question, problem, estimate = job.asked, found.problem, found.estimate
    grid, ownership, copies = found.layout.grid, found.layout.ownership, found.layout.copies
    crossed = question.X_valid is None and problem.splits
    scoring = {"scoring": found.scoring} if found.scoring else {}
    return BlockValuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=_row_names(grid.rows.names),
        column_names=[str(name) for name in grid.columns.names],
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        dof=estimate.dof,
        info=job.run.record(
            kind="blocks",
            method=found.method,
            players=job.players,
            copies=None if copies is None else copies.record(),
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if crossed else None,
            splits=problem.how or None,
            weighted=question.valid_weight is not None or None,
            label=problem.label,
            validation_groups=found.groups or None,
            intervals=_interval_words(found),
            settings={**scoring, **question.options},
            block_owners=_block_owners(ownership),
            about=METHODS[found.method].about(estimate.info),
            call=question.code("value_blocks", job.run.seed),
            digests=data_digests(job, found),
            asked=None if ownership is None else question.recorded(),
            **estimate.info,
        ),
        history=estimate.history,
        _frame=frame_kind(question.X),
        row_sizes=grid.rows.sizes,
        column_sizes=grid.columns.sizes,
        _owner_names=[] if ownership is None else ownership.names,
        _owner_shares=None if ownership is None else ownership.shares,
        _owner_values=found.owners,
        _covariance=found.errors.covariance,
        _spread=found.errors.spread,
        _covariance_dof=found.errors.dof,
    )


def _interval_words(found: Answer) -> str:
    """What the intervals of owners include, in words."""
    parts = ["sampling"] if found.estimate.stderr.any() else []
    if found.groups:
        parts.append(f"other validation rows ({found.groups} groups of them left out in turn)")
    if not parts:
        return (
            "no error: the values of these tables are exact, "
            "but other validation rows would give others"
        )
    words = " and ".join(parts)
    info = found.estimate.info
    if info.get("n_valid_used", found.problem.n_valid) < found.problem.n_valid:
        return f"{words}, of validation rows too"
    return words if found.groups else f"{words}, but not other validation rows"


def _warn_of_owners(job: BlocksJob, found: Answer) -> None:
    regions, copies = found.layout.regions, found.layout.copies
    if regions is None or copies is None:
        return
    if job.run.semivalues != ("shapley", "shapley"):
        warn(
            InputWarning(
                "only Shapley values add up to what the table is worth: with ",
                Setting("semivalue"),
                ", payments are shares of what the owners' values happen to sum to",
            )
        )
    for name in regions.owners_of_everything() if len(regions.names) > 1 else []:
        warn(
            InputWarning(
                f"owner {name!r} has every cell of the table and so a share of all that others "
                "own: in ",
                Setting("owners"),
                " an empty row and an empty column mean all of them; remove the line if that is "
                "not meant",
            )
        )
    named = job.asked.owners is not None or job.asked.owner_column is not None
    if copies.between and (named or copies.rule != "each"):
        one, other, count = copies.between[0]
        left = copies.n_pairs - 1
        pairs = f"{counted(left, 'more pair')} of owners {plural(left, 'has', 'have')} copies"
        more = f", and {pairs}" if left else ""
        effect = {
            "one": ("their owners share what these are worth; find out who copied from whom",),
            "first": ("the first in the table is paid for them",),
            "escrow": ("what these are worth is withheld; find out who copied from whom",),
            "each": ("every copy is paid for; use ", Setting("copies", "one")),
        }[copies.rule]
        rows = counted(count, "row")
        warn(InputWarning(f"{one!r} and {other!r} have copies of the same {rows}{more}: ", *effect))
    if copies.columns and copies.rule != "each":
        one, other, r2 = copies.columns[0]
        left = len(copies.columns) - 1
        more = f", and {counted(left, 'more column')} {plural(left, 'repeats', 'repeat')} others"
        meaning = {
            "one": "their owners share what they are worth as one column",
            "escrow": "what both of their owners have is withheld",
            "first": "the first in the table is paid for them",
        }[copies.rule]
        warn(
            InputWarning(
                f"columns {one!r} and {other!r} say the same (R squared {r2:.4f})"
                f"{more if left else ''}: {meaning}; set ",
                Setting("copy_r2", 0),
                " to pay for each",
            )
        )
    if named and job.players == "groups" and job.question.players is None:
        warn(
            InputWarning(
                "players are groups, so an owner gains by splitting into several: use ",
                Setting("players", "cells"),
                ", where it does not, but which takes longer for a model of your own, or ",
                Setting("players", "groups"),
                " to keep it",
            )
        )


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
