"""The value of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._api.cells_task import announce_plan, cells_task
from shapley2d._api.docstrings import methods_list, options_list, with_method_docs
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._methods.call import call_code
from shapley2d._results.valuation import Valuation
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.label import with_label

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem


@with_method_docs(methods=methods_list(), options=options_list())
def value_cells(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    method: str = "knn",
    *,
    include_label: bool = False,
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
) -> Valuation:
    """Value every cell of a training table.

    Parameters
    ----------
    X : 2-D array, table, dict of columns, list of dicts, or path of a CSV, JSON or Parquet file
        The training table: of pandas, polars, pyarrow, a lazy frame (polars, DuckDB, Ibis, PySpark,
        Dask), whose rows are collected in the order in which they come, or anything that hands out
        Arrow data. Numbers, text, booleans and dates; missing entries are welcome.
    y : 1-D array, list or series, or the name of a column of X
        Labels or numbers to predict. Rows whose entry is no number where the others are get left
        out, with a warning.
    X_valid, y_valid : like X and y, optional
        The validation table. Without it: cross-valuation. The rows are split into ``cv`` folds,
        each fold in turn validates the others, and a row's values are the mean over the folds (0 in
        those where it does not train). Methods that evaluate no model (``"oob"``, ``"random"``) need neither: a table given
        is checked and not used.
    method : str
        {methods}
    include_label : bool
        Value the label too: it joins as one more column, last, without which nothing can be
        learned.
    task : {"auto", "classification", "regression"}
        ``"auto"``: text, booleans and up to 20 different whole numbers are classes.
    kinds : dict, optional
        What columns hold, by name: ``"number"``, ``"date"`` or ``"text"``, for those that are not
        what they look like.
    cv : int, scikit-learn splitter, list of (train, test) or None
        Of the cross-valuation: how many; or a splitter such as ``GroupKFold(5)``; or pairs of
        positions of rows. Every split counts the same. A row that never trains is worth 0, with a
        warning; one that never validates is valued like any other.
    groups : name of a column of X, or 1-D array, list or series, optional
        Rows that belong together, such as those of one patient: they never train and validate in
        the same fold. A column that is named is no feature.
    time : name of a column of X, or 1-D array, list or series, optional
        Numbers or dates: earlier rows train, later ones validate, as in ``TimeSeriesSplit``. A
        column that is named is no feature.
    valid_weight : name of a column, or 1-D array, list or series, optional
        What each validation row counts in the score, in any unit: of X_valid where there is one,
        else of X, within every fold. A column that is named is no feature.
    precedence : dict, optional
        Who can only join after others, such as data that were built on other data: for ``"rows"``
        and ``"columns"`` a number for every player, in order or by its name, lower ones first. A
        player is then worth its mean step over the orders that respect this, and all values still
        sum to the same. For ``"knn"``, ``"mc"`` and ``"exact"``.
    semivalue : "shapley", "banzhaf" or ("beta", a, b)
        How coalitions of different sizes count; a pair of them sets rows and columns apart.
    random_state : int, numpy generator or None
    n_jobs : int or None
        Workers; -1 for all cores. The values do not depend on it. ``"knn"`` uses all cores by
        default, the others one.
    progress : {"auto", True, False} or callable
        A bar on a terminal by default; a function is handed ``(fraction, note)``.
    **options
        Of the method; None takes the default.

        {options}

    Returns
    -------
    Valuation

    Notes
    -----
    Values count what the columns add. Without any column a model can still predict what the rows'
    labels alone say, so Shapley values of ``"knn"``, ``"mc"`` and ``"exact"`` sum to the model's
    score less that, ``info["utility_none"]``, and a column that changes nothing gets 0. With
    ``baseline="zero"`` (``"knn"``) or ``baseline="zero"`` (the others) no columns are worth 0, as in
    the paper, and the values sum to the score itself. Those of ``"flat"`` sum to the score less
    that of a table of nothing but means, ``info["utility_all"] - info["utility_none"]``. Those of
    ``"loo"``, ``"oob"`` and ``"random"`` sum to nothing in particular. ``info["about"]["total"]``
    has it in words.

    Examples
    --------
    >>> from shapley2d import value_cells
    >>> X = [[0, 5], [1, 5], [9, 5], [8, 5]]
    >>> y = ["low", "low", "high", "high"]
    >>> v = value_cells(X, y, X, y, method="exact", progress=False)
    >>> v.columns.round(6).tolist()  # the second column never varies
    [0.5, 0.0]
    >>> v.info["about"]["total"]
    "the model's score less 0.5, that of the best constant prediction"
    """
    given = dict(locals())
    job = cells_task(**given)
    found, problem, run = job.method, job.problem, job.run
    planned = announce_plan(job)
    estimate = found.solve(problem, run, **job.options)
    return _valuation(
        problem,
        estimate,
        info=run.record(
            method=found.name,
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if X_valid is None and found.validates else None,
            splits=problem.how or None,
            weighted=valid_weight is not None or None,
            label=problem.label,
            settings=options,
            about=found.about(estimate.info),
            call=call_code(value_cells, given, options, run.seed),
            **({} if planned is None else {"planned_s": planned}),
            **estimate.info,
        ),
        frame=frame_kind(X),
    )


def _valuation(problem: Problem, estimate: Any, **more: Any) -> Valuation:
    table = problem.table
    if problem.label is not None:
        table = with_label(table, problem.target, problem.label)
    return Valuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=table.row_names,
        column_names=table.column_names,
        row_stderr=estimate.row_stderr,
        column_stderr=estimate.column_stderr,
        dof=estimate.dof,
        history=estimate.history,
        table=table,
        target=problem.target.y,
        **more,
    )
