"""The value of blocks: the players are cells, or groups of rows and groups of columns."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.block_layout import claims_of
from shapley2d._api.block_question import Question, answer, replicate_path
from shapley2d._api.method_docs import methods_list, with_method_docs
from shapley2d._base.checks import check_choice, check_flag, check_number, check_whole
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.warnings import warn
from shapley2d._estimation.checkpoint import check_place
from shapley2d._methods.players import PLAYERS, settle_players
from shapley2d._methods.precedence import check_precedence
from shapley2d._methods.registry import METHODS, game_methods
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._ownership.copies import RULES as COPIES
from shapley2d._results.blocks import BlockValuation
from shapley2d._tables.frames import frame_kind
from shapley2d.exceptions import InputError, InputWarning, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._api.block_question import Answer
    from shapley2d._ownership.regions import Ownership


_READING = ("task", "kinds", "cv", "groups", "time", "valid_weight")


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
    players: str | None = None,
    copies: str | None = None,
    copy_distance: float = 0.0,
    include_label: bool = False,
    validation_groups: int | None = None,
    task: str = "auto",
    kinds: Any = None,
    cv: Any = FOLDS,
    groups: Any = None,
    time: Any = None,
    valid_weight: Any = None,
    precedence: Any = None,
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
        As in :func:`~shapley2d.value_cells`. Without a validation table the blocks are cross-valued
        over ``cv`` folds; in each of them a group is its rows that train there.
    rows, columns : 1-D array, list, series or mapping, optional
        The group of every row and of every column: one label each, or a mapping from names to
        labels. Left out, the axis is one group. With cells as players, ``columns`` can also be a
        word, ``"exact"`` or ``"sampled"``: the option of ``method="knn"``.
    owners : frame, list of dicts or path of a CSV or Parquet file, optional
        Who contributed what: the columns ``owner``, ``row`` and ``column``, one region per line. An
        empty row or column means all of them (the label included, where it is one); an entry is a
        label of ``rows`` or ``columns``, a name, or a position, several of them as a list or
        separated by ``;``, or a range of numbers such as ``0-99``, both ends included. The table is
        cut into the coarsest grid that respects every owner's region, and the groups of ``rows``
        and ``columns`` if given.
    method : str
        With ``players="cells"``: any method of :func:`~shapley2d.value_cells`; ``"auto"`` is
        ``"knn"``, or ``"mc"`` where a ``model`` is given. With ``players="groups"``: ``"auto"`` is
        exact up to 4,096 utilities of a model or 65,536 of nearest neighbours; beyond, ``"pairs"``
        where one axis has at most 4 groups, else ``"mc"``; and ``"knn"`` is ``"auto"`` with
        ``model="knn"``. The others value coalitions of groups as they do those of cells:

        {methods}
    players : {"cells", "groups"}, optional
        ``"cells"``: every cell is valued by itself, and a block or an owner is worth the sum of its
        cells. Splitting, merging and renaming owners then changes the values of no one else; what
        is paid for them neither, as long as negative values owe, as they do by default.
        ``"groups"``: groups of rows and of columns join as wholes, which asks what the blocks are
        worth as blocks, and can be had for any model; but an owner who splits in four is counted
        four times. By default cells where there are ``owners`` and nearest neighbours value them,
        groups otherwise (``info["players"]``).
    copies : {"one", "first", "each"}, optional
        What rows count for that say the same in every column and have the same label. ``"one"``:
        such a cluster of copies is one row, which all of its owners share equally, so that listing
        rows again adds nothing. ``"first"``: it belongs to whoever has the first of them in the
        table. ``"each"``: every row counts. ``"one"`` by default where there are ``owners``.
        ``info["copies"]`` counts them, and copies between owners are warned of.
    copy_distance : float
        Rows within this distance are copies too: the mean over columns of their distance, where two
        random rows are 1 apart.
    include_label : bool
        The label joins as one more column group, without which nothing can be learned.
    validation_groups : int, optional
        Groups of validation rows to leave out one at a time, 10 or so: the standard errors in
        ``owners`` and the intervals of payments then also include how much the values depend on the
        choice of validation rows. With nearest neighbours and ``players="cells"`` all groups
        together cost one more valuation, and owners get 10 by default; elsewhere each costs one
        more, and the default is 0: the validation table is taken as it is.
    precedence : dict, optional
        Groups that can only join after others: for ``"rows"`` and ``"columns"`` a number for every
        group, in order or by its name, lower ones first; names left out come first of all. It takes
        ``players="groups"``, which is then the default.
    task, kinds, cv, groups, time, valid_weight, semivalue, random_state, n_jobs, progress
        As in :func:`~shapley2d.value_cells`.
    **options
        With ``players="cells"`` those of the method, as in :func:`~shapley2d.value_cells`; where
        there are owners, ``scoring`` of nearest neighbours is ``"balanced_accuracy"`` by default,
        by which rows of noise are worth nothing even where a class is frequent. With groups
        ``model``, ``scoring``, ``preprocess``, ``baseline``; ``n_neighbors``, ``metric`` and
        ``backend`` with ``model="knn"``; ``checkpoint`` and ``cluster``; and, where blocks are
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
    given = dict(locals())
    run = Run.create(random_state, semivalue, n_jobs, progress)
    question = ask(given)
    found = answer(question, run)
    warn_of_owners(found, question)
    return make_valuation(question, run, found, given)


def ask(given: dict[str, Any]) -> Question:
    """The question that the arguments of :func:`value_blocks` make, checked as far as no table is needed."""
    check_flag(given["include_label"], "include_label")
    groups = given["validation_groups"]
    if groups is not None:
        check_whole(groups, "validation_groups", 0)
    owned, options, columns = given["owners"] is not None, given["options"], given["columns"]
    if given["players"] is not None:
        check_choice(given["players"], "players", PLAYERS)
    check_precedence(given["precedence"])
    players = settle_players(given["players"], given["method"], options, owned=owned)
    if given["precedence"] is not None:
        if given["players"] == "cells":
            raise InputError(
                Setting("precedence"),
                " is about groups that join in turn: set ",
                Setting("players", "groups"),
            )
        players = "groups"
    copies = ("one" if owned else "each") if given["copies"] is None else given["copies"]
    check_choice(copies, "copies", COPIES)
    check_number(given["copy_distance"], "copy_distance", zero=True)
    if not owned and (copies != "each" or given["copy_distance"]):
        name = "copies" if copies != "each" else "copy_distance"
        raise InputError(
            Setting(name, given[name]),
            " is about the owners of rows: name them by ",
            Setting("owners"),
        )
    question = Question(
        tables=(given["X"], given["y"], given["X_valid"], given["y_valid"]),
        reading={name: given[name] for name in _READING},
        include_label=given["include_label"],
        rows=given["rows"],
        columns=columns,
        claims=None,
        method=given["method"],
        given=options,
        players=players,
        players_asked=given["players"] is not None,
        copies=copies,
        copy_distance=float(given["copy_distance"]),
        validation_groups=groups,
        precedence=given["precedence"],
    )
    _, complete = question.complete()
    _check_checkpoints(complete, groups)
    return replace(question, claims=claims_of(given["owners"]))


def make_valuation(
    question: Question, run: Run, found: Answer, given: dict[str, Any]
) -> BlockValuation:
    """The result that users get."""
    problem, grid, ownership = found.problem, found.layout.grid, found.layout.ownership
    estimate, copies = found.estimate, found.layout.copies
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
            method=found.method,
            players=question.players,
            copies=None if copies is None else copies.record(),
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if question.tables[2] is None and problem.splits else None,
            splits=problem.how or None,
            weighted=given["valid_weight"] is not None or None,
            label=problem.label,
            validation_groups=found.groups or None,
            intervals=_interval_words(found),
            settings={**({"scoring": found.scoring} if found.scoring else {}), **question.given},
            block_owners=_block_owners(ownership),
            about=METHODS[found.method].about(estimate.info),
            call=repeat_call("value_blocks", _as_asked(given, question, run.seed)),
            **estimate.info,
        ),
        history=estimate.history,
        frame=frame_kind(given["X"]),
        row_sizes=grid.rows.sizes,
        column_sizes=grid.columns.sizes,
        owner_names=[] if ownership is None else ownership.names,
        owner_shares=None if ownership is None else ownership.shares,
        owner_values=found.owners,
        covariance=found.covariance,
        covariance_dof=found.dof,
    )


def _as_asked(given: dict[str, Any], question: Question, seed: int) -> dict[str, Any]:
    """The arguments that differ from their defaults."""
    usual = {"task": "auto", "cv": FOLDS, "semivalue": SEMIVALUE, "include_label": False}
    usual |= {"copy_distance": 0.0}
    asked = {**given, "random_state": seed}
    del asked["options"]
    changed = {
        name: value
        for name, value in asked.items()
        if not (name in usual and type(value) is type(usual[name]) and value == usual[name])
    }
    return {**changed, **question.given}


def _interval_words(found: Answer) -> str:
    """What the intervals of owners are about, in words."""
    parts = ["sampling"] if found.estimate.stderr.any() else []
    if found.groups:
        parts.append(f"other validation rows ({found.groups} groups of them left out in turn)")
    if not parts:
        return "no error: the values of these tables are exact, but other validation rows would give others"
    words = " and ".join(parts)
    return words if found.groups else f"{words}, but not other validation rows"


def warn_of_owners(found: Answer, question: Question) -> None:
    """Say what may be wrong about who owns what."""
    regions, copies = found.layout.regions, found.layout.copies
    if regions is None or copies is None:
        return
    for name in regions.owners_of_everything() if len(regions.names) > 1 else []:
        warn(
            InputWarning(
                f"owner {name!r} has every cell of the table and so a share of all that others own: in ",
                Setting("owners"),
                " an empty row and an empty column mean all of them; remove the line if that is not meant",
            )
        )
    if copies.between:
        one, other, count = copies.between[0]
        more = (
            f", and {copies.n_pairs - 1} more pairs of owners have copies"
            if copies.n_pairs > 1
            else ""
        )
        found_out = (
            f"{one!r} and {other!r} have copies of the same {count:,} {_rows(count)}{more}: "
        )
        effect = {
            "one": ("their owners share what these are worth; find out who copied from whom",),
            "first": ("whoever comes first in the table is paid for them",),
            "each": ("every copy is paid for; use ", Setting("copies", "one")),
        }[copies.rule]
        warn(InputWarning(found_out, *effect))
    if question.players == "groups" and not question.players_asked:
        warn(
            InputWarning(
                "players are groups, so that an owner who splits into several gains by it: use ",
                Setting("players", "cells"),
                ", where it does not, but which takes longer for a model of your own, or ",
                Setting("players", "groups"),
                " to keep it",
            )
        )


def _rows(count: int) -> str:
    return "row" if count == 1 else "rows"


def _check_checkpoints(options: dict[str, Any], validation_groups: int | None) -> None:
    """Refuse names of checkpoints that would fail only when their turn comes."""
    path = options.get("checkpoint")
    if path is None:
        return
    check_place(path)
    for k in range(validation_groups or 0):
        check_place(replicate_path(path, k))


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
