"""Docstrings that list the methods and their options, from the records."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, TypeVar

from shapley2d._methods.registry import METHODS, all_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from shapley2d._methods.record import Method, Option

F = TypeVar("F")
_WIDTH = 112


def with_method_docs(**lists: str) -> Callable[[F], F]:
    """A decorator that puts lists into a docstring, where ``{name}`` stands on a line of its own."""

    def fill(documented: F) -> F:
        text = documented.__doc__
        if text is None:  # python -OO leaves them out
            return documented
        for name, entries in lists.items():
            marker = f"{{{name}}}"
            line = next(line for line in text.splitlines() if line.strip() == marker)
            text = text.replace(line, textwrap.indent(entries, line[: -len(marker)]))
        documented.__doc__ = text
        return documented

    return fill


def methods_list(names: Iterable[str] | None = None) -> str:
    """One sentence per method.

    Examples
    --------
    >>> print(methods_list(["knn"]))
    - ``"knn"``: nearest neighbours, trains no model.
    """
    chosen = METHODS if names is None else {name: METHODS[name] for name in names}
    return "\n".join(
        _wrapped(f'``"{name}"``: {method.summary}.') for name, method in chosen.items()
    )


def options_list() -> str:
    """One entry per option: the methods that take it, its values, its default and what it is."""
    return "\n".join(_option_entry(takers) for takers in all_options().values())


def names_of(takers: Iterable[tuple[Method, Option]]) -> str:
    """The methods that take an option.

    Examples
    --------
    >>> names_of(all_options()["n_trees"])
    'oob'
    """
    return ", ".join(method.name for method, _ in takers)


def defaults_of(takers: list[tuple[Method, Option]]) -> str:
    """The default of an option, with those of methods that differ.

    Examples
    --------
    >>> defaults_of(all_options()["max_permutations"])
    '1000 (flat: 500)'
    """
    first = takers[0][1].default_words
    others = [
        f"{method.name}: {option.default_words}"
        for method, option in takers
        if option.default_words != first
    ]
    return first + (f" ({'; '.join(others)})" if others else "")


def _option_entry(takers: list[tuple[Method, Option]]) -> str:
    option = takers[0][1]
    words = f" {{{', '.join(map(repr, option.choices))}}}" if option.choices else ""
    return _wrapped(
        f"``{option.name}``{words}, default {defaults_of(takers)} ({names_of(takers)}): {option.help}."
    )


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, _WIDTH - 8, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )
