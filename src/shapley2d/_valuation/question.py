"""The arguments of a valuation as one record."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_flag
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._tables.problem import make_problem
from shapley2d._tables.target import label_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._methods.record import Method
    from shapley2d._tables.problem import Changes, Problem

FOREST = 'method="forest" (--method forest) values the cells under a forest, usually in seconds'
"""Advice on the fastest method."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """The arguments that ``value_cells`` and ``value_blocks`` share.

    Fields and defaults are those of the functions (a test compares them); ``options`` are the
    method's that the user gave.
    """

    X: Any
    y: Any
    X_valid: Any = None
    y_valid: Any = None
    method: str | Method = "knn"
    include_label: bool = False
    task: str = "auto"
    kinds: Any = None
    cv: Any = FOLDS
    groups: Any = None
    time: Any = None
    valid_weight: Any = None
    semivalue: Any = SEMIVALUE
    random_state: Any = 0
    n_jobs: int | None = None
    progress: Any = "auto"
    max_time: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    def start(self) -> Run:
        """Check what needs no table, and start the clock."""
        run = Run.create(
            self.random_state, self.semivalue, self.n_jobs, self.progress, self.max_time
        )
        check_flag(self.include_label, "include_label")
        return run

    def problem(
        self,
        run: Run,
        *,
        validates: bool = True,
        change: Changes | None = None,
    ) -> Problem:
        """Read, check and split the tables; ``validates``: whether the method evaluates a model."""
        problem = make_problem(
            self.X,
            self.y,
            self.X_valid,
            self.y_valid,
            task=self.task,
            kinds=self.kinds,
            cv=self.cv,
            groups=self.groups,
            time=self.time,
            valid_weight=self.valid_weight,
            seed=run.seed,
            validates=validates,
            change=change,
        )
        if not self.include_label:
            return problem
        return replace(problem, label=label_name(self.y, problem.table.column_names))

    def code(self, function: str, seed: int) -> str:
        """The call that repeats the question, as code; settings with their default are left out."""
        given = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name == "method" or not is_default(value, one.default):
                given[one.name] = value
        options = given.pop("options", {})
        given.pop("random_state", None)
        return repeat_call(function, {**given, "random_state": seed, **options})


def is_default(value: Any, default: Any) -> bool:
    """Whether a setting is the default, as far as plain values can be compared."""
    if value is default:
        return True
    plain = type(value) is type(default) and isinstance(value, (str, int, float, tuple))
    return plain and bool(value == default)
