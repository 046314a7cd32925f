"""The values of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._methods.registry import find_method
from shapley2d._models.by_name import MODELS
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.target import with_label
from shapley2d._valuation.method_docs import methods_list, options_list, with_method_docs
from shapley2d._valuation.question import FOREST, Question
from shapley2d._valuation.valuation import Valuation

if TYPE_CHECKING:
    from shapley2d._methods.record import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


@with_method_docs(methods=methods_list(), options=options_list())
def value_cells(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    method: str | Method = "knn",
    *,
    include_label: bool = False,
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
    method : str or Method
        {methods}

        Or the record of a method of your own.
    include_label : bool
        Value the label too: it joins as one more column, the last, without which no model can
        learn.
    task : {"auto", "classification", "regression"}
        ``"auto"``: text, booleans and up to 20 different whole numbers are classes.
    kinds : dict, optional
        The type of columns, by name, where auto-detection is wrong: ``"number"``, ``"date"`` or
        ``"text"``.
    cv : int, scikit-learn splitter, list of (train, test) or None
        For cross-valuation: the number of folds; or a splitter such as ``GroupKFold(5)``; or pairs
        of row positions. Every split has the same weight. A row that never trains gets 0, with a
        warning; one that never validates is valued like any other.
    groups : name of a column of X, or 1-D array, list or series, optional
        Rows that belong together, such as those of one patient: they never train and validate in
        the same fold. A column named here is not a feature.
    time : name of a column of X, or 1-D array, list or series, optional
        Numbers or dates: earlier rows train, later ones validate, as in ``TimeSeriesSplit``. A
        column named here is not a feature.
    valid_weight : name of a column, or 1-D array, list or series, optional
        The weight of each validation row in the score, in any unit: of the rows of X_valid, or,
        without it, of the rows of X. A column named here is not a feature.
    semivalue : "shapley", "banzhaf" or ("beta", a, b)
        The weights of subsets of different sizes; a pair sets rows and columns apart.
    random_state : int, numpy generator or None
    n_jobs : int or None
        Workers; -1 for all cores. The values do not depend on it. ``"knn"`` and ``"forest"`` use
        all cores by default, the others one.
    progress : {"auto", True, False} or callable
        A bar on a terminal by default; a function is called with ``(fraction, note)``.
    max_time : float or str, optional
        Seconds, or text such as ``"5m"`` or ``"1h30m"``, counted from the call: the best answer in
        that time. Sampling ends when time is up, and what would not fit is sampled, validation rows
        too; errors say how precise it got, ``info["time_up"]`` whether more time would help. Which
        draws fit depends on the machine; without it the result does not.
    **options
        Options of the method; None takes the default.

        {options}

    Returns
    -------
    Valuation

    Notes
    -----
    Values measure what the columns add. Without any column a model can still predict from the
    labels alone; this score is the baseline. Shapley values of ``"knn"``, ``"forest"``, ``"mc"``
    and ``"exact"`` sum to the model's score less the baseline, ``info["baseline_utility"]``, and a
    column that changes nothing gets 0. With ``baseline="zero"`` the values sum to the score itself,
    as in the paper. ``info["about"]["total"]`` says what the values sum to.

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
    question = Question(
        X=X, y=y, X_valid=X_valid, y_valid=y_valid, method=method, include_label=include_label,
        task=task, kinds=kinds, cv=cv, groups=groups, time=time, valid_weight=valid_weight,
        semivalue=semivalue, random_state=random_state, n_jobs=n_jobs, progress=progress,
        max_time=max_time, options=options,
    )  # fmt: skip
    return CellsJob.prepare(question).value()


@dataclass(frozen=True)
class CellsJob:
    """A question about cells, checked and ready to run, with all options of its method."""

    question: Question
    method: Method
    problem: Problem
    run: Run
    options: dict[str, Any]

    @classmethod
    def prepare(cls, question: Question) -> CellsJob:
        """Check a question and read its tables."""
        run = question.start()
        method = find_method(question.method)
        options = method.complete(question.options)
        problem = question.problem(run, validates=method.validates)
        if "valid_rows" in options:
            from shapley2d._knn.options import settle_valid_rows

            options["valid_rows"] = settle_valid_rows(options["valid_rows"], problem)
        closed = options.get("scoring") in (None, *MODELS["knn"].scorings)
        run = run.advising(FOREST if closed and method.name != "forest" else "")
        return cls(question, method, problem, run, options)

    def value(self) -> Valuation:
        """Value the cells."""
        estimate = self.method.solve(self.problem, self.run, **self.options)
        problem, table = self.problem, self.problem.table
        if problem.label is not None:
            table = with_label(table, problem.target, problem.label)
        crossed = self.question.X_valid is None and self.method.validates
        return Valuation(
            values=estimate.values,
            stderr=estimate.stderr,
            row_names=table.row_names,
            column_names=table.column_names,
            row_stderr=estimate.row_stderr,
            column_stderr=estimate.column_stderr,
            dof=estimate.dof,
            info=self.run.record(
                method=self.method.name,
                task=problem.target.task,
                n_valid=problem.n_valid,
                folds=len(problem.splits) if crossed else None,
                splits=problem.how or None,
                weighted=self.question.valid_weight is not None or None,
                label=problem.label,
                settings=dict(self.question.options),
                about=self.method.about(estimate.info),
                call=self.question.code("value_cells", self.run.seed),
                **estimate.info,
            ),
            history=estimate.history,
            _table=table,
            _target=problem.target.y,
            _frame=frame_kind(self.question.X),
            _held=estimate.held,
        )
