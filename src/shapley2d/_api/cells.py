"""The values of cells, and what they will take."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs

from shapley2d._api.method_docs import methods_list, options_list, with_method_docs
from shapley2d._api.question import Question
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.progress import announce
from shapley2d._methods.precedence import check_takes_precedence, with_precedence
from shapley2d._methods.price import PriceError
from shapley2d._methods.registry import METHODS, find_method
from shapley2d._results.plan import Plan, time_words
from shapley2d._results.valuation import Valuation
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.target import with_label
from shapley2d.exceptions import InputError, Note, Setting

if TYPE_CHECKING:
    from shapley2d._methods.price import Price
    from shapley2d._methods.record import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

GUESSED_S = 20.0
"""Runs that look this long are priced before they start, which takes a second or two."""

LONG_S = 60.0
"""Runs that may take at least this announce it."""

CELLS_A_MINUTE = 4e6
"""Cells for which a limit of a minute gives an answer: 20 million needed 75 s on two cores for a
first result, and 5 minutes give a useful one."""

FEW_VALID = 200
"""Validation rows whose time a long plan names."""

FOREST_CELLS = 1e6
"""Cells up to which a plan tries what a forest takes: that is done in a second or two."""


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
    precedence: Any = None,
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
    precedence : dict, optional
        Players that can only join after others, such as data derived from other data: for
        ``"rows"`` and ``"columns"`` a number for every player, in order or by its name, lower ones
        first. A player's value is then its mean step over the orders that respect this; the sum of
        all values stays the same. For ``"knn"``, ``"mc"`` and ``"exact"``.
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
        X=X,
        y=y,
        X_valid=X_valid,
        y_valid=y_valid,
        method=method,
        include_label=include_label,
        task=task,
        kinds=kinds,
        cv=cv,
        groups=groups,
        time=time,
        valid_weight=valid_weight,
        precedence=precedence,
        semivalue=semivalue,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        max_time=max_time,
        options=options,
    )
    return CellsJob.prepare(question).value()


def plan_cells(
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
    max_time: Any = None,
    **options: Any,
) -> Plan:
    """Predict the work, time and memory of :func:`value_cells` with the same arguments.

    The tables are read and checked as for the run. Then the real work is done for about a second,
    on the real table and a few validation rows, and multiplied. If a tolerance decides how much
    work there is, a pilot on a few rows estimates it, and counts and times are ranges. Nothing is
    written, and the values of a later run do not depend on it.

    Parameters
    ----------
    X, y, X_valid, y_valid, method, include_label, task, kinds, cv, groups, time, valid_weight,
    precedence, semivalue, random_state, n_jobs, progress, max_time
        As in :func:`value_cells`.
    **options
        Options of the method; None takes the default.

    Returns
    -------
    Plan
        ``plan.seconds`` and ``plan.memory`` are for this machine; ``plan.workers(600)`` is the
        number of workers that finish in ten minutes. ``plan.reason`` says why, if a run cannot be
        priced.

    See Also
    --------
    value_cells : Values the cells.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from shapley2d import plan_cells
    >>> X, y = load_wine(return_X_y=True)
    >>> plan = plan_cells(X[::2, :5], y[::2], X[1::2, :5], y[1::2])
    >>> plan.n_valid, plan.amounts
    (89, {'column subsets': (32, 32)})
    >>> plan.seconds[1] < 60, plan.workers(3600)
    (True, 1)
    """
    question = Question(
        X=X,
        y=y,
        X_valid=X_valid,
        y_valid=y_valid,
        method=method,
        include_label=include_label,
        task=task,
        kinds=kinds,
        cv=cv,
        groups=groups,
        time=time,
        valid_weight=valid_weight,
        precedence=precedence,
        semivalue=semivalue,
        random_state=random_state,
        n_jobs=n_jobs,
        progress=progress,
        max_time=max_time,
        options=options,
    )
    return CellsJob.prepare(question).plan()


def takes_long(seconds: tuple[float, float]) -> bool:
    """Whether a run is more likely to take over a minute than not, by its range of times.

    Examples
    --------
    >>> takes_long((4.0, 200.0)), takes_long((30.0, 200.0))
    (False, True)
    """
    return math.sqrt(seconds[0] * seconds[1]) >= LONG_S


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
            from shapley2d._methods.knn.choices import settle_valid_rows

            options["valid_rows"] = settle_valid_rows(options["valid_rows"], problem)
        run = with_precedence(
            run,
            question.precedence,
            problem.table.row_names.tolist(),
            [*problem.table.column_names, *([problem.label] if problem.label else [])],
            label=problem.label,
            given=problem.given,
        )
        check_takes_precedence(method, run)
        return cls(question, method, problem, run, options)

    def plan(self, *, advise: bool = True) -> Plan:
        """Price the run; a long one's plan can say what takes less time."""
        table = self.problem.table
        columns = table.n_columns + (self.problem.label is not None)
        sizes = (self.method.name, table.n_rows, columns, self.problem.n_valid)
        if self.method.price is None:
            return Plan(
                *sizes, reason=f"the time of method {self.method.name!r} cannot be predicted"
            )
        try:
            price = self.method.price(self.problem, self.run, **self.options)
        except PriceError as error:
            return Plan(*sizes, reason=str(error))
        return Plan(
            *sizes,
            amounts=price.amounts,
            seconds=price.seconds,
            memory=price.memory,
            cores=price.cores,
            low=price.low,
            high=price.high,
            facts=price.facts,
            notes=[*price.notes, *(self._what_fits(price) if advise else [])],
        )

    def _what_fits(self, price: Price) -> list[str]:
        """What takes less time than a long run, in sentences."""
        seconds = price.seconds[1]
        if not takes_long(price.seconds) or self.run.limit is not None:
            return []
        within, limit = self._short_limit()
        notes = [f'{within}, with its errors: max_time="{limit}" (--max-time {limit}).']
        if 2 * price.facts.get("s_per_draw", 0.0) > LONG_S * effective_n_jobs(self.run.n_jobs):
            # a limit would be refused: see training_time.check_draws
            groups = 'value_blocks with rows="clusters=40" (shapley2d blocks --rows clusters=40)'
            notes = [f"Groups of similar rows, valued by the same model within a time: {groups}."]
        n_valid = self.problem.n_valid
        if self.method.averages and "column subsets" in price.amounts and n_valid > FEW_VALID:
            fewer = time_words((0.0, seconds * FEW_VALID / n_valid)).removeprefix("0 s to ")
            notes.append(f"With a validation table of {FEW_VALID} rows: at most {fewer}.")
        forest = METHODS["forest"].price
        few = self.problem.table.n_rows * self.problem.table.n_columns <= FOREST_CELLS
        takes_forest = few and not self.run.precedence.is_set and self.problem.splits
        if self.method.name != "forest" and takes_forest and forest is not None:
            options = METHODS["forest"].complete({})
            with suppress(PriceError, InputError):
                seconds = forest(self.problem, self.run, **options).seconds[1]
                words = time_words((seconds, seconds))
                notes.append(f'Values under a forest, method="forest" (--method forest): {words}.')
        return notes

    def _short_limit(self) -> tuple[str, str]:
        """A time limit that is not refused, in words and as an option takes it."""
        minutes = math.ceil(math.prod(self.problem.table.shape) / CELLS_A_MINUTE)
        within = "An answer within " + ("a minute" if minutes == 1 else f"{minutes} minutes")
        return within, f"{minutes}m"

    def announce(self) -> list[float] | None:
        """Price a run that looks long and announce a long one; return its seconds, low and high.

        Nothing is priced where there is no progress report, nor on a cluster, whose workers cannot
        be timed from here.
        """
        quiet = self.run.progress in (False, None) or self.options.get("cluster") is not None
        if self.run.limit is not None:  # no time to lose: the run prices itself
            return None
        if self.method.guess is None or quiet or self.run.precedence.is_set:
            return None
        if self.method.guess(self.problem, self.run, **self.options) < GUESSED_S:
            return None
        plan = self.plan(advise=False)
        if not plan.priced:
            return None
        if takes_long(plan.seconds):
            within, limit = self._short_limit()
            shorter = (f". {within}, with its errors: ", Setting("max_time", limit))
            announce(self.run.progress, Note(plan.headline(), *shorter))
        elif plan.seconds[1] >= LONG_S:
            announce(self.run.progress, Note(plan.headline()))
        return [round(seconds, 1) for seconds in plan.seconds]

    def _has_time_left(self, info: dict[str, Any]) -> bool:
        """Whether a time limit leaves room for what is not asked for: a tenth of it."""
        limit = self.run.limit
        return limit is None or (not info.get("time_up") and limit.left() > limit.seconds / 10)

    def value(self) -> Valuation:
        """Value the cells."""
        planned = self.announce()
        estimate = self.method.solve(self.problem, self.run, **self.options)
        problem, table = self.problem, self.problem.table
        compared: dict[str, Any] = {}
        if self.method.compare is not None and self._has_time_left(estimate.info):
            compared = self.method.compare(problem, self.run, estimate.info, **self.options)
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
                **({} if planned is None else {"planned_s": planned}),
                **estimate.info,
                **compared,
            ),
            history=estimate.history,
            table=table,
            target=problem.target.y,
            frame=frame_kind(self.question.X),
            held=estimate.held,
        )
