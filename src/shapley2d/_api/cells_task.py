"""A call for the values of cells, checked: what is asked, of which table, by which method. And what it will take."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_flag
from shapley2d._base.progress import announce
from shapley2d._methods.ordered import check_ordered, check_precedence, with_precedence
from shapley2d._methods.price import PriceError
from shapley2d._methods.registry import find_method
from shapley2d._methods.run import Run
from shapley2d._results.plan import Plan
from shapley2d._tables.label import label_name
from shapley2d._tables.problem import make_problem

if TYPE_CHECKING:
    from shapley2d._methods.record import Method
    from shapley2d._tables.problem import Problem

GUESSED_S = 20.0
"""Runs that look at least so long are priced before they start: that takes a second or two."""

LONG_S = 60.0
"""Runs with a price of at least so much say it."""


@dataclass(frozen=True)
class CellsTask:
    """A checked call.

    Attributes
    ----------
    method : Method
    problem : Problem
    run : Run
    options : dict
        All of the method's.
    """

    method: Method
    problem: Problem
    run: Run
    options: dict[str, Any]

    def plan(self) -> Plan:
        """What it will take."""
        table = self.problem.table
        columns = table.n_columns + (self.problem.label is not None)
        sizes = (self.method.name, table.n_rows, columns, self.problem.n_valid)
        if self.method.price is None:
            return Plan(
                *sizes, reason=f"what method {self.method.name!r} takes is not known beforehand"
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
            notes=price.notes,
        )


def cells_task(
    X: Any,
    y: Any,
    X_valid: Any,
    y_valid: Any,
    method: str,
    *,
    include_label: bool,
    task: str,
    kinds: Any,
    cv: Any,
    groups: Any,
    time: Any,
    valid_weight: Any,
    precedence: Any,
    semivalue: Any,
    random_state: Any,
    n_jobs: int | None,
    progress: Any,
    options: dict[str, Any],
) -> CellsTask:
    """Check the arguments of :func:`~shapley2d.value_cells`."""
    run = Run.create(random_state, semivalue, n_jobs, progress)
    check_flag(include_label, "include_label")
    check_precedence(precedence)
    found = find_method(method)
    complete = found.complete(options)
    problem = make_problem(
        X,
        y,
        X_valid,
        y_valid,
        task=task,
        cv=cv,
        groups=groups,
        time=time,
        valid_weight=valid_weight,
        seed=run.seed,
        validates=found.validates,
        kinds=kinds,
    )
    if include_label:
        problem = replace(problem, label=label_name(y, problem.table.column_names))
    columns = [*problem.table.column_names, *([problem.label] if problem.label else [])]
    run = with_precedence(
        run,
        precedence,
        problem.table.row_names.tolist(),
        columns,
        label=problem.label,
        given=problem.given,
    )
    check_ordered(found, run)
    return CellsTask(found, problem, run, complete)


def announce_plan(task: CellsTask) -> list[float] | None:
    """Price a run that looks long, say so where it is, and return the seconds, at best and at worst.

    Where nobody wants to hear of progress, nothing is priced; nor on a cluster, whose workers are
    not ours to time.
    """
    guess = task.method.guess
    if (
        guess is None
        or task.run.progress in (False, None)
        or task.options.get("cluster") is not None
    ):
        return None
    if task.run.precedence.orders or guess(task.problem, task.run, **task.options) < GUESSED_S:
        return None
    plan = task.plan()
    if not plan.priced:
        return None
    if plan.seconds[1] >= LONG_S:
        announce(task.run.progress, plan.headline())
    return [round(seconds, 1) for seconds in plan.seconds]
