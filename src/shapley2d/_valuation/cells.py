"""The values of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.checks import check_flag
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.progress import RunProgress
from shapley2d._base.words import format_seconds
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._methods.score_facts import CLOSED_SCORES
from shapley2d._tables.frames import frame_kind, objects
from shapley2d._tables.problem import make_problem
from shapley2d._tables.target import with_label
from shapley2d._valuation.groups import method_of_groups
from shapley2d._valuation.methods import find_method, names_methods, why_method
from shapley2d._valuation.valuation import Valuation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._methods.method import Method
    from shapley2d._tables.problem import Problem
    from shapley2d._valuation.arguments import (
        CV,
        Kind,
        MethodLike,
        PathLike,
        Progress,
        Scoring,
        Seed,
        Semivalues,
    )  # fmt: skip

FOREST = 'method="forest" (--method forest) values the cells under a forest'
"""Advice on the fastest method."""

RUN = ("random_state", "semivalue", "n_jobs", "progress", "max_time", "checkpoint", "cluster")
"""The arguments of a run; what else is neither a table nor the method is the question."""


@names_methods
def value_cells(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    method: MethodLike = "knn",
    row_groups: Any = None,
    column_groups: Any = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    kinds: Mapping[str, Kind] | None = None,
    include_label: bool = False,
    cv: CV = FOLDS,
    groups: Any = None,
    time_order: Any = None,
    valid_weight: Any = None,
    scoring: Scoring = None,
    baseline: Literal["labels", "zero"] = "labels",
    semivalue: Semivalues = SEMIVALUE,
    random_state: Seed = 0,
    n_jobs: int | None = None,
    max_time: float | str | None = None,
    progress: Progress = "auto",
    checkpoint: PathLike | None = None,
    cluster: Any = None,
) -> Valuation:
    """Value every cell of a training table.

    Parameters
    ----------
    X : 2-D array, table, dict of columns, list of dicts, or path of a CSV, JSON or Parquet file
        The training table: a frame of pandas, polars or pyarrow, a lazy frame (polars, DuckDB,
        Ibis, PySpark, Dask), whose rows are collected in the order of the query, or any object that
        exports Arrow data. Columns hold numbers, text, booleans or dates; entries may be missing.
    y : 1-D array, list or series, or the name of a column of X
        Labels or numbers to predict. If almost all entries are numbers, rows with another entry are
        left out, with a warning.
    X_valid, y_valid : like X and y, optional
        The validation table. Without it: cross-valuation. The rows are split into ``cv`` folds,
        each fold in turn validates the others, and a row's values are the mean over the folds (0 in
        those where it does not train).
    method : Method, str or scikit-learn estimator
        How cells are valued: :class:`~shapley2d.KNN`, :class:`~shapley2d.Forest`,
        :class:`~shapley2d.MonteCarlo` or :class:`~shapley2d.Exact`, with options of their own; or
        a method of your own. A word stands for one with its defaults: ``"knn"``, ``"forest"``,
        ``"mc"``, ``"exact"``. An estimator is the model to value under: an ensemble of trees is
        ``Forest(estimator)``, any other ``MonteCarlo(estimator)``; ``info["chosen"]`` says which.
    row_groups : name of a column of X, or 1-D array, list or series, optional
        The group of every row, such as the hospital that it comes from. The players are then these
        groups, in order of first appearance, each of which joins as a whole: values, errors, plots
        and the report are those of groups (the paper's blocks, where there are groups of columns
        too). A column named here is not a feature; a pandas series goes by the index of X.
        In cross-valuation a group is its rows that train. ``MonteCarlo`` and ``Exact`` value
        groups; so does ``KNN``, from all subsets of the groups where these are few and from random
        orders otherwise.
    column_groups : dict, or 1-D array or list, optional
        The group of every column: one label for each, or a mapping from names of columns to groups.
        A column that a mapping does not name is a group by its own name. A method whose closed form
        takes groups of columns keeps it where rows are single.
    task : {"auto", "classification", "regression"}
        ``"auto"``: text, booleans and up to 20 different whole numbers are classes.
    kinds : dict, optional
        The type of columns, by name, where auto-detection is wrong: ``"number"``, ``"date"`` or
        ``"text"``.
    include_label : bool
        Value the label too: it joins as one more column, the last, without which no model can
        learn.
    cv : int, scikit-learn splitter, list of (train, test) or None
        For cross-valuation: the number of folds; or a splitter such as ``GroupKFold(5)``; or pairs
        of row positions. Every split has the same weight. A row that never trains gets 0, with a
        warning; one that never validates is valued like any other.
    groups : name of a column of X, or 1-D array, list or series, optional
        Rows that belong together, such as those of one patient: they never train and validate in
        the same fold. A column named here is not a feature.
    time_order : name of a column of X, or 1-D array, list or series, optional
        Numbers or dates: earlier rows train, later ones validate, as in ``TimeSeriesSplit``. A
        column named here is not a feature.
    valid_weight : name of a column, or 1-D array, list or series, optional
        The weight of each validation row in the score, in any unit: of the rows of X_valid, or,
        without it, of the rows of X. A column named here is not a feature.
    scoring : str or callable, optional
        What a model is scored by: scikit-learn's name of a score, or a scorer. By default accuracy,
        or R squared, shown as such for squared errors. ``KNN`` and ``Forest`` have closed forms for
        ``"probability"``, their default (that of the right label; of nearest neighbours the share
        that has it), ``"balanced_accuracy"``, in which all classes count the same, and
        ``"neg_mean_squared_error"``. ``info["scoring"]`` has the name of the score.
    baseline : {"labels", "zero"}
        What no columns are worth: what the rows' labels alone predict, or 0, as in the paper.
    semivalue : "shapley", "banzhaf" or ("beta", a, b)
        The weights of subsets of different sizes; a pair sets rows and columns apart.
    random_state : int, numpy generator or None
    n_jobs : int or None
        Cores to use; all by default, a model in Python after two seconds of work. -1 is all at
        once. The values do not depend on it.
    max_time : float or str, optional
        Seconds, or text such as ``"5m"`` or ``"1h30m"``, counted from the call: the best answer in
        that time. Sampling ends when time is up, and what would not fit is sampled, validation rows
        too; errors say how precise it got, ``info["time_up"]`` whether more time would help. Which
        draws fit depends on the machine; without it the result does not.
    progress : {"auto", True, False} or callable
        A bar on a terminal by default; a function is called with ``(fraction, note)``.
    checkpoint : path-like, optional
        File for the state: after a crash or Ctrl-C the same call resumes, with the same result.
    cluster : str, client or pool, optional
        Where to work: the address of a Dask scheduler, or its client (needs the extra
        ``distributed``); or a pool whose ``submit(...)`` returns a future, such as an executor of
        ``concurrent.futures``.

    Returns
    -------
    Valuation

    Notes
    -----
    Values measure what the columns add. Without any column a model can still predict from the
    labels alone; this score is the baseline. Shapley values sum to the model's score less the
    baseline, ``info["baseline_utility"]``, and a column that changes nothing gets 0 (it is a dummy:
    Definition 3.1 and Axiom 2 of the paper). With
    ``baseline="zero"`` the values sum to the score itself, as in the paper.
    ``info["about"]["total"]`` says what the values sum to.

    Examples
    --------
    >>> from shapley2d import value_cells
    >>> X = [[0, 5], [1, 5], [9, 5], [8, 5]]
    >>> y = ["low", "low", "high", "high"]
    >>> v = value_cells(X, y, X, y, method="exact", progress=False)
    >>> v.column_values.round(6).tolist()  # the second column never varies
    [0.5, 0.0]
    >>> v.info["about"]["total"]
    "the model's score less 0.5, that of the best constant prediction"
    """
    valuation, _ = valued_cells(**locals())
    return valuation


def valued_cells(
    X: Any, y: Any, X_valid: Any, y_valid: Any, *, method: Any, **asked: Any
) -> tuple[Valuation, Problem]:
    """The valuation of a table by the arguments of :func:`value_cells`, and the problem made."""
    run = Run.create(**{name: asked[name] for name in RUN})
    check_flag(asked["include_label"], "include_label")
    found = find_method(method)
    question = {name: one for name, one in asked.items() if name not in RUN}
    problem = make_problem(
        X, y, X_valid, y_valid, seed=run.seed, validates=found.needs_validation, **question
    )
    played = method_of_groups(found, problem) if problem.grouped else found
    run = _foretelling(run, played, problem)
    estimate = played.solve(problem, run)
    table = problem.table
    if problem.label is not None:
        table = with_label(table, problem.target, problem.label)
    of_rows, of_columns = problem.row_groups, problem.column_groups
    players = (
        "row" if of_rows is None else "group of rows",
        "column" if of_columns is None else "group of columns",
    )
    call = {"X": X, "y": y, "X_valid": X_valid, "y_valid": y_valid, **asked, "method": found}
    valuation = Valuation._of(
        estimate,
        row_names=table.row_names if of_rows is None else objects(of_rows.names),
        column_names=table.column_names if of_columns is None else of_columns.names,
        info=run.record(
            method=played.name,
            **why_method(method, found),
            **({"players": players} if problem.grouped else {}),
            task=problem.target.task,
            n_repeated=_n_repeated(problem) or None,
            n_valid=problem.n_valid if found.needs_validation else 0,
            folds=len(problem.splits) if X_valid is None and found.needs_validation else None,
            splits=problem.how or None,
            weighted=asked["valid_weight"] is not None or None,
            label=problem.label,
            settings={**problem.asked(), **played.settings()},
            about=played.about(estimate.info),
            call=repeat_call(value_cells, {**call, "random_state": run.seed}),
            **estimate.info,
        ),
        _table=None if problem.grouped else table,
        _target=None if problem.grouped else problem.target.y,
        _frame=frame_kind(X),
        _held=estimate.held,
    )
    return valuation, problem


def _foretelling(run: Run, method: Method, problem: Problem) -> Run:
    """The run, whose progress says how long it takes and what would be faster."""
    closed = problem.scoring in (None, *CLOSED_SCORES[problem.target.task][-1:])
    otherwise = ""
    if closed and method.name != "forest" and not problem.grouped:
        takes = format_seconds(find_method("forest").seconds(problem, run))
        otherwise = f"{FOREST} in about {takes}"
    run = run.advising(otherwise)
    if run.limit is None and isinstance(run.progress, RunProgress):
        run.progress.foretell(method.seconds(problem, run))
    return run


def _n_repeated(problem: Problem) -> int:
    """Rows that repeat an earlier one, by a hash of their entries and target."""
    hashed = np.zeros(problem.table.n_rows, dtype=np.uint64)
    for part in (*(column.entries for column in problem.table.columns), problem.target.codes):
        words = (np.asarray(part, dtype=np.float64) + 0.0).view(np.uint64)  # no -0.0
        hashed = (hashed ^ words) * np.uint64(0x9E3779B97F4A7C15)  # odd, of the golden ratio
        hashed ^= hashed >> np.uint64(29)
    return int(hashed.size - np.unique(hashed).size)
