"""The options of the methods on the command line, made from their records."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Optional

import typer

from shapley2d._methods.registry import METHODS, block_methods, block_options
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._methods.record import Option

PANEL = "Method"
"""Where the help shows them."""

_OF_METHOD = (
    "_of_method"  # behind an option whose name in Python the command has for something else
)

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
    # what groups call model knn and baseline is understood for cells, too
    cells["knn"] |= {name: groups["knn"][name] for name in ("model", "baseline")}
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


def with_method_options(
    takers: Takers, summaries: dict[str, str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A decorator that gives a command the methods to choose from, and their options in the place of ``**given``.

    Typer reads a command's signature; this one is written here.

    Parameters
    ----------
    takers : dict
    summaries : dict
        A phrase on every method that ``--method`` may name.
    """
    text = " ".join(f"{name}: {summary}." for name, summary in summaries.items())
    words: Any = Literal[tuple(summaries)]
    method = Annotated[words, typer.Option("--method", "-m", help=text, rich_help_panel=PANEL)]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parameters = []
        for parameter in signature.parameters.values():
            if parameter.kind is parameter.VAR_KEYWORD:
                continue
            changes: dict[str, Any] = {"kind": parameter.KEYWORD_ONLY}
            if parameter.name == "method":
                changes["annotation"] = method
            parameters.append(parameter.replace(**changes))
            if parameter.name == "method":
                parameters += [
                    _parameter(name + _OF_METHOD * (name in signature.parameters), methods)
                    for name, methods in takers.items()
                ]

        def run(**given: Any) -> None:
            command(**given)

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return run

    return decorate


def _parameter(name: str, methods: dict[str, Option]) -> inspect.Parameter:
    option = next(iter(methods.values()))
    words = option.choices or option.names
    kind: Any = Literal[words] if words else option.kind
    declared = [text for text in (option.flag, option.short) if text]
    info = typer.Option(
        *declared,
        metavar=None if words else option.metavar,
        help=f"For {', '.join(methods)}: {option.help}. (default: {_default(methods)})",
        rich_help_panel=PANEL,
        show_default=False,
    )
    annotation = Annotated[Optional[kind], info]  # noqa: UP045  (typer reads it at run time)
    return inspect.Parameter(
        name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _default(methods: dict[str, Option]) -> str:
    first = next(iter(methods.values()))
    others = [
        f"{method}: {_word(option)}"
        for method, option in methods.items()
        if option.default_words != first.default_words
    ]
    return _word(first) + (f"; {', '.join(others)}" if others else "")


def _word(option: Option) -> str:
    return "none" if option.default_words == "None" else option.default_words.strip("'")


def given_options(method: str, given: dict[str, Any], takers: Takers) -> dict[str, Any]:
    """The options that the user gave, all of which the method must take."""
    chosen = {
        name.removesuffix(_OF_METHOD): value for name, value in given.items() if value is not None
    }
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
    """How the command line calls the options of the methods."""
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
