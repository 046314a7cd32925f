"""The record of a method and its options: all that the rest of the package knows about them.

The functions that users call, the estimator, the command line, the tables of the docs and the words
of the report all read these records. A method that is not in a record does not exist; one that is
in the registry exists everywhere. ``value_cells(method=...)`` also takes any other record.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice, check_number, check_whole
from shapley2d._base.words import nearest_word
from shapley2d.exceptions import OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from shapley2d._estimation.estimate import Estimate


@dataclass(frozen=True)
class Option:
    """An option of a method.

    Attributes
    ----------
    name : str
        As in Python.
    default : object
    help : str
        A phrase that begins with a small letter and ends without a full stop.
    kind : type
        ``int``, ``float``, ``str`` or ``Path``: what the command line makes of the text.
    choices : tuple of str
        The words that are allowed, if it is a word.
    names : tuple of str
        The words that the command line takes, where Python takes other things too.
    check : callable, optional
        ``check(value, name)`` raises where a value cannot be used; None takes anything.
    short : str, optional
        A short flag on the command line, such as ``-k``.
    python_only : bool
        Whether the command line leaves it out.
    metavar : str, optional
        What the help calls its value.
    shown_default : str, optional
        The default in words, where its code tells little.
    """

    name: str
    default: Any
    help: str
    kind: type = str
    choices: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    check: Callable[[Any, str], None] | None = None
    short: str | None = None
    python_only: bool = False
    metavar: str | None = None
    shown_default: str | None = None

    def checked(self, value: Any) -> Any:
        """The value, checked; None takes the default."""
        if value is None:
            value = self.default
        if value is None:
            return None
        value = value.item() if isinstance(value, np.generic) else value
        if self.choices:
            check_choice(value, self.name, self.choices)
        if self.check is not None:
            self.check(value, self.name)
        return value

    def but(self, **changes: Any) -> Option:
        """The option with changes, for a method that differs."""
        return replace(self, **changes)

    @property
    def flag(self) -> str | None:
        """The flag on the command line: ``--n-neighbors`` for ``n_neighbors``."""
        return None if self.python_only else f"--{self.name.replace('_', '-')}"

    @property
    def default_words(self) -> str:
        """The default, for a reader."""
        return repr(self.default) if self.shown_default is None else self.shown_default


def whole(name: str, default: int | None, text: str, *, least: int = 1, **more: Any) -> Option:
    """An option that is a whole number."""
    more = {"metavar": "N", **more}
    return Option(
        name, default, text, int, check=lambda value, name: check_whole(value, name, least), **more
    )


def number(
    name: str, default: float | None, text: str, *, zero: bool = False, **more: Any
) -> Option:
    """An option that is a number, positive or not negative."""
    more = {"metavar": "X", **more}
    return Option(
        name,
        default,
        text,
        float,
        check=lambda value, name: check_number(value, name, zero=zero),
        **more,
    )


def choice(name: str, choices: Iterable[str], text: str, **more: Any) -> Option:
    """An option that is one of some words, by default the first."""
    words = tuple(choices)
    return Option(name, words[0], text, choices=words, **more)


def file(name: str, text: str, **more: Any) -> Option:
    """An option that names a file."""
    more = {"metavar": "FILE", **more}
    return Option(name, None, text, Path, **more)


@dataclass(frozen=True)
class Method:
    """A way to value cells.

    Attributes
    ----------
    name : str
    summary : str
        What it does, as a phrase; for the help and for the docs.
    solve : callable
        ``solve(problem, run, **options) -> Estimate``, with every option given. It imports what it
        needs when it is called, so that the record is light.
    options : tuple of Option
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
    validates : bool
        Whether it evaluates a model, which takes a validation table or folds.
    solve_games : callable, optional
        ``solve_games(games, rows, n_rows, run, **options) -> Estimate`` for games of any kind,
        where the method has no need of a table: it then serves ``value_game`` and ``value_blocks``
        too. One that does not sample is also handed what identifies games of blocks, as ``known``.
    game_options : tuple of str
        The options that ``solve_games`` takes.
    averages : bool
        Whether values are means over validation rows, so that groups of validation rows can be
        valued separately.
    score : callable, optional
        ``score(problem, run, **options) -> float``: the score of the whole table less the baseline,
        which Shapley values sum to; None where no model is evaluated.
    """

    name: str
    summary: str
    solve: Callable[..., Estimate]
    options: tuple[Option, ...] = ()
    how: str = ""
    meaning: str = (
        "what it adds, on average over all ways to build up the table, to the performance of the "
        "model"
    )
    total: str = "the model's score less {baseline_utility:.4g}, {baseline}"
    total_from_zero: str = "the model's score"
    caution: str = ""
    validates: bool = True
    averages: bool = False
    solve_games: Callable[..., Estimate] | None = None
    game_options: tuple[str, ...] = ()
    score: Callable[..., float] | None = None

    def complete(
        self, given: Mapping[str, Any], only: tuple[str, ...] | None = None
    ) -> dict[str, Any]:
        """All options of the method: the given ones, checked, and the defaults of the others.

        ``only`` names the options to take, where not all apply.
        """
        known = {
            option.name: option for option in self.options if only is None or option.name in only
        }
        for name in given:
            if name not in known:
                raise unknown_option(f"method {self.name!r}", name, known)
        return {name: option.checked(given.get(name)) for name, option in known.items()}

    def about(self, facts: dict[str, Any]) -> dict[str, str]:
        """The words about the method that a result keeps, with the facts of the run filled in."""
        counts_from_zero = (
            "{baseline_utility" in self.total and facts.get("baseline_utility") is None
        )
        total = self.total_from_zero if counts_from_zero else self.total
        return {
            "how": self.how.format_map(facts),
            "meaning": self.meaning,
            "total": total.format_map(facts),
            "caution": self.caution,
        }


def unknown_option(what: str, name: str, known: Iterable[str]) -> OptionError:
    """An error that suggests the nearest option."""
    names = list(known)
    near = nearest_word(name, names)
    listed = f"its options are {', '.join(names)}" if names else "it has none"
    hint = f"did you mean {near!r}?" if near else listed
    return OptionError(f"{what} has no option {name!r}: {hint}")
