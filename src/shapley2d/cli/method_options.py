"""The options of the methods on the command line, made from their records."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from shapley2d._methods.registry import METHODS, block_methods, block_options
from shapley2d.cli.options import COMMON, METHOD, QUESTION, RUN, option
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.record import Option

Takers = dict[str, dict[str, "Option"]]
"""Every option by name, with the methods that take it."""

_PANELS = {
    "model": COMMON,
    "scoring": QUESTION,
    "baseline": QUESTION,
    "checkpoint": RUN,
    "cluster": RUN,
    "backend": RUN,
    "device": RUN,
}


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
        for name, one in options.items():
            if one.flag is not None:
                takers.setdefault(name, {})[method] = one
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
    names = tuple(METHODS) if auto is None else ("auto", *METHODS)
    words = ", ".join(METHODS) if auto is None else f"{', '.join(METHODS)}, or auto: {auto}"
    info = option(COMMON, "NAME", f"{words}.", "--method", "-m", show_default=True)
    method = inspect.Parameter(
        "method",
        inspect.Parameter.KEYWORD_ONLY,
        default=default,
        annotation=Annotated[Literal[names], info],
    )
    return [method, *(_parameter(name, methods) for name, methods in takers.items())]


def method_lines() -> str:
    """What each method does, a line for each."""
    return "".join(f"  {name:<8}{method.summary}\n" for name, method in METHODS.items())


def _parameter(name: str, methods: dict[str, Option]) -> inspect.Parameter:
    """An option of methods, told in a phrase; the docs have all of it."""
    first = next(iter(methods.values()))
    words = first.choices or first.names
    phrase = re.split("[:;]", first.help)[0]
    told = f"{phrase[:1].upper()}{phrase[1:]}{': ' * bool(words)}{', '.join(words)}"
    takers = f"{', '.join(methods)}; " if len(methods) <= 3 else ""
    info = option(
        _PANELS.get(name, METHOD),
        "NAME" if words else first.metavar,
        f"{told}. ({takers}default: {_default(methods)})",
        *(text for text in (first.flag, first.short) if text),
    )
    kind: Any = Literal[words] if words else first.kind
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, info],
    )


def _default(methods: dict[str, Option]) -> str:
    """The default of the first method, and that of others where it differs."""
    others: dict[str, list[str]] = {}
    for method, one in methods.items():
        word = "none" if one.default_words == "None" else one.default_words.strip("'")
        others.setdefault(word, []).append(method)
    first, *rest = others
    return "; ".join([first, *(f"{', '.join(others[word])}: {word}" for word in rest)])


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
