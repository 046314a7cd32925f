"""Tables of the methods, their options and the models, in Markdown, for the docs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from shapley2d._api.docstrings import defaults_of, names_of
from shapley2d._methods.models import MODELS
from shapley2d._methods.registry import METHODS, all_options

if TYPE_CHECKING:
    from collections.abc import Sequence


def methods_table() -> str:
    """One row per method."""
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
        "{nothing}", "what the labels alone predict, or the score itself if counted from 0"
    )
    return re.sub(r" ?\{[^}]*\},?", "", named)


def options_table() -> str:
    """One row per option, with the methods that take it."""
    rows = []
    for name, takers in all_options().items():
        option = takers[0][1]
        listed = ", ".join(f'`"{word}"`' for word in option.choices)
        rows.append(
            (
                f"`{name}`",
                f"`{option.flag}`" if option.flag else "",
                names_of(takers),
                f"`{defaults_of(takers)}`",
                f"{option.help} ({listed})" if listed else option.help,
            )
        )
    return _table(("option", "on the command line", "methods", "default", "what it is"), rows)


def models_table() -> str:
    """One row per model that has a name."""
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
