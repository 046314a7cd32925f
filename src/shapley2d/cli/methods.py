"""The options of the methods on the command line, made from the fields of their classes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from shapley2d._knn.method import KNN
from shapley2d._methods.method import options_of
from shapley2d._models.by_name import OF_NEIGHBOURS
from shapley2d._valuation.methods import all_methods
from shapley2d.cli.options import PANELS, flag_of, option
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._methods.method import Field, Method

_PANELS = {"model": None, "device": "Run"}
_METAVARS = {int: "N", float: "X", bool: None}
_TAKE_NEIGHBOURS = ("mc", "exact", "loo")  # methods whose model may be nearest neighbours


def _takers() -> dict[str, dict[str, Field]]:
    """Every option of a method by its name, with the methods that take it."""
    takers: dict[str, dict[str, Field]] = {}
    for method, kind in all_methods().items():
        for name, one in options_of(kind).items():
            if not one.option.python_only:
                takers.setdefault(name, {})[method] = one
    return takers


def method_lines() -> str:
    """What each method does, a line for each."""
    methods = all_methods()
    width = max(map(len, methods)) + 2
    return "".join(f"  {name:<{width}}{one.summary}\n" for name, one in methods.items())


def with_methods(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes the options of the methods too, except those named as its own.

    Other packages may bring methods, so their options cannot be written down in the command.
    """
    signature = inspect.signature(command)
    *own, _ = signature.parameters.values()
    taken = {str(flag) for one in own for flag in (flag_of(one.name), _info(one).default)}
    made = [
        own[0].replace(name=name, default=None, annotation=_option_of(name, methods))
        for name, methods in _takers().items()
        if flag_of(name) not in taken
    ]
    parameters = sorted([*own, *made], key=lambda one: PANELS.index(_info(one).rich_help_panel))
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return command


def _info(parameter: inspect.Parameter) -> Any:
    """What a parameter of a command says of its option."""
    return parameter.annotation.__metadata__[0]


def _option_of(name: str, methods: dict[str, Field]) -> Any:
    """An option of methods, told in a phrase; the docs have all of it."""
    first = next(iter(methods.values()))
    words = first.choices or first.option.words
    phrase = re.split("[:;]", first.option.help)[0]
    told = f"{phrase[:1].upper()}{phrase[1:]}{': ' * bool(words)}{', '.join(words)}"
    takers = f"{', '.join(methods)}; " if len(methods) <= 4 else ""
    if name in OF_NEIGHBOURS:
        takers = f"{KNN.name}, also as a model; "
    defaults = " or ".join(
        dict.fromkeys(
            one.default_words.strip("'").replace("None", "none") for one in methods.values()
        )
    )
    info = option(
        _PANELS.get(name, "Method"),
        "NAME" if words else _METAVARS.get(first.kind, "TEXT"),
        f"{told}. ({takers}default: {defaults})",
        *(text for text in (flag_of(name), first.option.short) if text),
    )
    kind: Any = Literal[words] if words else first.kind if first.kind in _METAVARS else str
    return Annotated[kind | None, info]


def make_method(method: str, given: dict[str, Any]) -> Method:
    """The method with the options that the user gave, all of which it must take.

    With ``--model knn`` the options of nearest neighbours are the model's.
    """
    kind, takers = all_methods()[method], _takers()
    chosen = {name: value for name, value in given.items() if value is not None}
    own = {name: chosen.pop(name) for name in [*chosen] if name in options_of(kind)}
    if method in _TAKE_NEIGHBOURS and own.get("model") == KNN.name:
        inner = {name: chosen.pop(name) for name in OF_NEIGHBOURS if name in chosen}
        own["model"] = KNN(**inner) if inner else KNN.name
    for name in chosen:
        ways = f"--method {' or '.join(takers[name])}"
        if name in OF_NEIGHBOURS:
            ways += f", or with --model {KNN.name} of {', '.join(_TAKE_NEIGHBOURS)}"
        raise InputError(
            f"{flag_of(name)} goes with {ways}, not with --method {method}: choose that, "
            f"or leave {flag_of(name)} out"
        )
    return kind(**own)
