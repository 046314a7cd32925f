"""The options of the methods on the command line, made from their records."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from shapley2d._methods.registry import METHODS, block_methods, block_options
from shapley2d.cli.options import METHOD
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._methods.record import Option

Takers = dict[str, dict[str, "Option"]]
"""Every option by name, with the methods that take it."""


def cell_takers() -> Takers:
    """The options of ``cells``."""
    return _takers({name: {o.name: o for o in method.options} for name, method in METHODS.items()})


def block_takers(players: str | None = None, model: str | None = None) -> Takers:
    """The options of ``blocks``.

    Parameters
    ----------
    players : {"cells", "groups"}, optional
        Those of either kind of players; all of them by default.
    model : str, optional
        The model that the user named: without one, or with nearest neighbours, ``auto`` is ``knn``
        for cells.
    """
    groups = {name: block_options(name) for name in block_methods()}
    if players == "groups":
        return _takers(groups)
    cells = {name: {o.name: o for o in method.options} for name, method in METHODS.items()}
    cells["knn"]["model"] = groups["knn"]["model"]  # --model knn is understood for cells, too
    if players == "cells":
        return _takers({"auto": cells["knn" if model in (None, "knn") else "mc"], **cells})
    cells["auto"] = {**cells["mc"], **cells["knn"]}
    return _takers({name: {**groups.get(name, {}), **cells[name]} for name in (*groups, *cells)})


def _takers(methods: dict[str, dict[str, Option]]) -> Takers:
    takers: Takers = {}
    for method, options in methods.items():
        for name, option in options.items():
            if option.flag is not None:
                takers.setdefault(name, {})[method] = option
    return takers


def method_parameters(
    takers: Takers, default: str, auto: str | None = None
) -> list[inspect.Parameter]:
    """The option ``--method`` and the options of the methods, as parameters of a command.

    Parameters
    ----------
    takers : dict
    default : str
    auto : str, optional
        A phrase on the method ``auto``, if the command has it.
    """
    text = method_words(METHODS)
    words: Any = Literal[tuple(METHODS)]
    if auto is not None:
        text, words = f"auto: {auto}. {text}", Literal[("auto", *METHODS)]
    info = typer.Option("--method", "-m", help=text, rich_help_panel=METHOD)
    method = inspect.Parameter(
        "method",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[words, info],
    )
    return [method, *(_parameter(name, methods) for name, methods in takers.items())]


def method_words(names: Iterable[str]) -> str:
    """What each of these methods does, in a sentence.

    Examples
    --------
    >>> method_words(["knn"])
    'knn: nearest neighbours, trains no model.'
    """
    return " ".join(f"{name}: {METHODS[name].summary}." for name in names)


def _parameter(name: str, methods: dict[str, Option]) -> inspect.Parameter:
    option = next(iter(methods.values()))
    words = option.choices or option.names
    kind: Any = Literal[words] if words else option.kind
    declared = [text for text in (option.flag, option.short) if text]
    info = typer.Option(
        *declared,
        metavar=None if words else option.metavar,
        help=f"For {', '.join(methods)}: {option.help}. (default: {_default(methods)})",
        rich_help_panel=METHOD,
        show_default=False,
    )
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, info],
    )


def _default(methods: dict[str, Option]) -> str:
    """The default of the first method, and that of others where it differs."""
    others: dict[str, list[str]] = {}
    for method, option in methods.items():
        others.setdefault(_word(option), []).append(method)
    first, *rest = others
    return "; ".join([first, *(f"{', '.join(others[word])}: {word}" for word in rest)])


def _word(option: Option) -> str:
    return "none" if option.default_words == "None" else option.default_words.strip("'")


def given_options(method: str, given: dict[str, Any], takers: Takers) -> dict[str, Any]:
    """The options that the user gave, all of which the method must take."""
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        methods = takers[name]
        if method not in methods:
            flag = next(iter(methods.values())).flag
            fitting = [
                other for other in methods if all(other in takers[option] for option in chosen)
            ]
            advice = (
                f"set --method {fitting[0]} or leave {flag} out" if fitting else f"leave {flag} out"
            )
            raise InputError(
                f"{flag} goes with --method {' or '.join(methods)}, not with {method}: {advice}"
            )
    return {
        name: str(value) if isinstance(value, Path) else value for name, value in chosen.items()
    }


def flags() -> dict[str, str]:
    """The flag of each option of a method, by its name in Python."""
    return {
        name: option.flag
        for takers in (cell_takers(), block_takers())
        for name, methods in takers.items()
        for option in methods.values()
        if option.flag is not None
    }


def parse_semivalue(text: str) -> Any:
    """The semivalue behind a word.

    Examples
    --------
    >>> parse_semivalue("beta:16,1")
    ('beta', 16.0, 1.0)
    """
    from shapley2d._theory.semivalues import check_semivalue

    name, _, numbers = text.partition(":")
    try:
        return check_semivalue(("beta", *numbers.split(",")) if name == "beta" else text)
    except InputError:
        raise InputError(
            f"--semivalue {text} is not known: use shapley, banzhaf, or beta:A,B such as beta:16,1"
        ) from None
