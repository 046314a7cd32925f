"""What a method is: a frozen dataclass whose fields are its options, and a way to value a problem.

A field says all that is known of an option: its type, its default, and as an :class:`Option` in
its annotation what it is and which values are allowed. Fields are checked when a method is made;
the command line makes its flags of them, and the docs their tables.
"""

from __future__ import annotations

import types
from abc import ABC
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from shapley2d._base.checks import check_choice, check_flag, check_number, check_whole
from shapley2d._base.words import did_you_mean
from shapley2d._methods.repeat_call import is_default, value_code
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from numpy.typing import NDArray

    from shapley2d._estimation.draws import Draws
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass(frozen=True)
class Option:
    """What a field of a method is, beside its type and default.

    Attributes
    ----------
    help : str
        A phrase that begins with a small letter and ends without a full stop.
    least : int
        The least that a number may be; a float with least 1 must be positive.
    check : callable, optional
        ``check(value, name)`` raises where a value cannot be used.
    words : tuple of str
        The words that the command line takes, where Python takes other things too.
    short : str, optional
        A short flag on the command line, such as ``-k``.
    python_only : bool
        Whether the command line leaves it out.
    shown_default : str, optional
        The default in words, where its code tells little.
    """

    help: str
    least: int = 1
    check: Callable[[Any, str], None] | None = None
    words: tuple[str, ...] = ()
    short: str | None = None
    python_only: bool = False
    shown_default: str | None = None


PRECISE = Option(
    "stop when the largest standard error is at most this share of the spread of the values",
    least=0,
)
"""The option ``tolerance`` of methods that sample."""

MOST = Option("stop after this many draws, precise or not: random orders, or trees")
"""Their option ``max_draws``."""


@dataclass(frozen=True)
class Field:
    """An option of a method: a field of its class, read."""

    name: str
    kind: Any  # int, float, bool, str or Any; without None
    choices: tuple[str, ...]  # the words that are allowed, if it is a word
    may_be_none: bool
    default: Any
    option: Option

    @property
    def default_words(self) -> str:
        """The default, for a reader."""
        return self.option.shown_default or repr(self.default)

    def checked(self, value: Any) -> Any:
        """The value, with numpy's numbers as Python's; an InputError says what is allowed."""
        value = value.item() if isinstance(value, np.generic) else value
        if value is None and self.may_be_none:
            return None
        if self.choices:
            check_choice(value, self.name, self.choices)
        elif self.kind is bool:
            check_flag(value, self.name)
        elif self.kind is int:
            check_whole(value, self.name, self.option.least)
        elif self.kind is float:
            check_number(value, self.name, zero=self.option.least == 0)
        if self.option.check is not None:
            self.option.check(value, self.name)
        return value


@dataclass(frozen=True, repr=False)
class Method(ABC):
    """A way to value cells: the base class of methods.

    A subclass is a frozen dataclass with a ``name``, a ``summary`` and :meth:`draws`; its fields
    are its options, ``name: Annotated[type, Option("what it is")] = default``.

    Attributes
    ----------
    name : str
        The word that stands for the method with its defaults.
    summary : str
        What it does, as a phrase; for the help and for the docs.
    how : str
        Completes "by ..." in the report; ``{name}`` stands for a fact of the run.
    meaning : str
        Completes "a cell's value is ..." in the report.
    total : str
        Completes "the values sum to ..." for Shapley values, likewise; empty where their sum means
        nothing.
    total_from_zero : str
        Used instead of a ``total`` with ``{baseline_utility}`` in runs whose baseline is 0.
    caution : str
        A warning to readers where values are not contributions to a score; else empty.
    needs_validation : bool
        Whether it evaluates a model, which takes a validation table or folds.
    takes_column_groups : bool
        Whether its draws have groups of columns as players, where rows are single.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from shapley2d import Method, OneDraw, value_cells
    >>> @dataclass(frozen=True)
    ... class Equal(Method):
    ...     name, summary, total = "equal", "every cell is worth the same", "1"
    ...     def draws(self, problem, run):
    ...         n, m = problem.table.n_rows, problem.table.n_columns
    ...         return OneDraw(np.full((n, m), 1 / (n * m)))
    >>> value_cells([[1, 2], [3, 4]], [0, 1], [[1, 2]], [0], method=Equal()).values
    array([[0.25, 0.25],
           [0.25, 0.25]])
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    how: ClassVar[str] = ""
    meaning: ClassVar[str] = (
        "what it adds, on average over all ways to build up the table, to the performance of the "
        "model"
    )
    total: ClassVar[str] = "the model's score less {baseline_utility:.4g}, {baseline}"
    total_from_zero: ClassVar[str] = "the model's score"
    caution: ClassVar[str] = ""
    needs_validation: ClassVar[bool] = True
    takes_column_groups: ClassVar[bool] = False

    def __post_init__(self) -> None:
        for name, one in options_of(type(self)).items():
            object.__setattr__(self, name, one.checked(getattr(self, name)))

    def draws(self, problem: Problem, run: Run) -> Draws:
        """The numbered draws that value the cells of a problem; imports what is heavy."""
        raise NotImplementedError

    def solve(self, problem: Problem, run: Run) -> Estimate:
        """Value the cells of a problem."""
        from shapley2d._methods.solve import check_draws, solve_draws

        draws = self.draws(problem, run)
        check_draws(draws, problem, self.name)
        return solve_draws(self, draws, run, problem)

    def draws_of(
        self,
        games: Sequence[Game],  # noqa: ARG002
        rows: Sequence[NDArray[np.intp] | slice],  # noqa: ARG002
        n_rows: int,  # noqa: ARG002
        run: Run,  # noqa: ARG002
    ) -> Draws:
        """The draws that value games of any kind, the mean over them.

        ``rows`` has the rows of the values, ``n_rows`` in all, behind the rows of each game.
        """
        raise InputError(
            f"method={self.name!r} values tables, not games: use method='exact' or method='mc'"
        )

    def score(self, problem: Problem, run: Run) -> float:  # noqa: ARG002
        """The score of the whole table less the baseline, which Shapley values sum to."""
        raise InputError(f"method={self.name!r} has no score: use method='knn'")

    def seconds(self, problem: Problem, run: Run) -> float:  # noqa: ARG002
        """How long the values of a table take at most, about, where that is known; else 0."""
        return 0.0

    def about(self, facts: dict[str, Any]) -> dict[str, str]:
        """The words about the method that a result keeps, with the facts of the run filled in."""
        from_zero = "{baseline_utility" in self.total and facts.get("baseline_utility") is None
        return {
            "how": self.how.format_map(facts),
            "meaning": self.meaning,
            "total": (self.total_from_zero if from_zero else self.total).format_map(facts),
            "caution": self.caution,
        }

    def settings(self) -> dict[str, Any]:
        """The options that differ from their defaults.

        >>> from shapley2d import KNN
        >>> KNN(n_neighbors=3).settings()
        {'n_neighbors': 3}
        """
        return {
            one.name: value
            for one in fields(self)
            if not is_default(value := getattr(self, one.name), one.default)
        }

    def __repr__(self) -> str:
        """The code that makes it; subclasses that are dataclasses with ``repr=False`` have it."""
        given = (f"{name}={value_code(value, name)}" for name, value in self.settings().items())
        return f"{type(self).__name__}({', '.join(given)})"

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: ARG002
        """The options, as scikit-learn asks for them."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def set_params(self, **params: Any) -> Self:
        """The method with other options: a new one, since methods do not change.

        >>> from shapley2d import KNN
        >>> KNN(n_neighbors=3).set_params(votes="share")
        KNN(n_neighbors=3, votes="share")
        """
        known = [one.name for one in fields(self)]
        for name in params:
            if name not in known:
                hint = did_you_mean(name, known) or f": it has {', '.join(known)}"
                raise ValueError(f"{type(self).__name__} has no option {name!r}{hint}")
        return replace(self, **params)

    def __sklearn_clone__(self) -> Self:
        return self  # it never changes


@cache
def options_of(method: type[Method]) -> dict[str, Field]:
    """The options of a method by name, read from the fields of its class."""
    hints = get_type_hints(method, include_extras=True)
    return {one.name: _read(one.name, hints[one.name], one.default) for one in fields(method)}


def _read(name: str, hint: Any, default: Any) -> Field:
    option = Option("")
    if get_origin(hint) is Annotated:
        hint, *extras = get_args(hint)
        option = next((one for one in extras if isinstance(one, Option)), option)
    is_union = get_origin(hint) in (Union, types.UnionType)
    parts = get_args(hint) if is_union else (hint,)
    kinds = [part for part in parts if part is not type(None)]
    choices = get_args(kinds[0]) if get_origin(kinds[0]) is Literal else ()
    kind = str if choices else kinds[0] if len(kinds) == 1 else Any
    return Field(name, kind, choices, len(kinds) < len(parts), default, option)
