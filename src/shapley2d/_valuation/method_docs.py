"""Lists of the methods, their options and the models, from the records: docstrings and docs."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING, TypeVar

from shapley2d._methods.registry import METHODS, all_options
from shapley2d._models.by_name import MODELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from shapley2d._methods.record import Method, Option

F = TypeVar("F")


def with_method_docs(**lists: str) -> Callable[[F], F]:
    """A decorator that replaces the lines ``{name}`` of a docstring by lists."""

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
    """One sentence per method."""
    chosen = METHODS if names is None else {name: METHODS[name] for name in names}
    return "\n".join(
        _wrapped(f'``"{name}"``: {method.summary}.') for name, method in chosen.items()
    )


def options_list() -> str:
    """One entry per option: the methods that take it, its values, its default and what it is."""
    return "\n".join(_option_entry(takers) for takers in all_options().values())


def _names_of(takers: Iterable[tuple[Method, Option]]) -> str:
    """The methods that take an option."""
    return ", ".join(method.name for method, _ in takers)


def _defaults_of(takers: list[tuple[Method, Option]]) -> str:
    """The default of an option, with those of methods that differ."""
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
    taken = f"default {_defaults_of(takers)} ({_names_of(takers)})"
    return _wrapped(f"``{option.name}``{words}, {taken}: {option.help}.")


def _wrapped(text: str) -> str:
    return textwrap.fill(
        text, 92, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False
    )


def methods_table() -> str:
    """A Markdown table of the methods."""
    rows = [
        (
            f"`{name}`",
            method.summary,
            "yes" if method.validates else "no",
            _total_words(method.total) or "nothing in particular",
        )
        for name, method in METHODS.items()
    ]
    return _table(
        ("method", "what it does", "needs validation rows", "Shapley values sum to"), rows
    )


def _total_words(total: str) -> str:
    """What values sum to, before any run."""
    named = total.replace(
        "{baseline}", "what the labels alone predict, or the score itself if counted from 0"
    )
    return re.sub(r" ?\{[^}]*\},?", "", named)


def options_table() -> str:
    """A Markdown table of the options, with the methods that take them."""
    rows = []
    for name, takers in all_options().items():
        option = takers[0][1]
        listed = ", ".join(f'`"{word}"`' for word in option.choices)
        rows.append(
            (
                f"`{name}`",
                f"`{option.flag}`" if option.flag else "",
                _names_of(takers),
                f"`{_defaults_of(takers)}`",
                f"{option.help} ({listed})" if listed else option.help,
            )
        )
    return _table(("option", "on the command line", "methods", "default", "what it is"), rows)


def models_table() -> str:
    """A Markdown table of the models that have a name."""
    rows = [
        (
            f"`{name}`",
            model.summary,
            "classes" if model.classifies_only else "classes and numbers",
            ", ".join(f"`{option}`" for option in model.options),
        )
        for name, model in MODELS.items()
    ]
    return _table(("model", "what it is", "predicts", "takes"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
