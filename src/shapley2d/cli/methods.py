"""The options of the methods on the command line, made from the fields of their classes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from shapley2d._knn.method import KNN
from shapley2d._methods.method import options_of
from shapley2d._models.by_name import OF_NEIGHBOURS
from shapley2d._valuation.methods import all_methods
from shapley2d.cli.options import COMMON, METHOD, PANELS, RUN, flag_of, option
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._methods.method import Field, Method

_PANELS = {"model": COMMON, "device": RUN}
_METAVARS = {int: "N", float: "X", bool: None}
_TAKE_NEIGHBOURS = ("mc", "exact")  # methods whose model may be nearest neighbours


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
    own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
    taken = {flag for one in own for flag in (flag_of(one.name), *_flags_of(one))}
    names = tuple(all_methods())
    kinds: dict[str, Any] = {
        "method": Annotated[
            Literal[names], option(COMMON, "NAME", f"{', '.join(names)}.", "--method", "-m")
        ]
    }
    for name, methods in _takers().items():
        if flag_of(name) not in taken:
            kinds[name] = _option_of(name, methods)
    made = [
        own[0].replace(name=name, default=KNN.name if name == "method" else None, annotation=kind)
        for name, kind in kinds.items()
    ]
    parameters = sorted([*own, *made], key=lambda one: PANELS.index(_info(one).rich_help_panel))
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ |= kinds
    return command


def _info(parameter: inspect.Parameter) -> Any:
    """What a parameter of a command says of its option."""
    return parameter.annotation.__metadata__[0]


def _flags_of(parameter: inspect.Parameter) -> list[str]:
    info = _info(parameter)  # where typer keeps the first flag as the default
    return [str(one) for one in (info.default, *(info.param_decls or ()))]


def _option_of(name: str, methods: dict[str, Field]) -> Any:
    """An option of methods, told in a phrase; the docs have all of it."""
    first = next(iter(methods.values()))
    words = first.choices or first.option.words
    phrase = re.split("[:;]", first.option.help)[0]
    told = f"{phrase[:1].upper()}{phrase[1:]}{': ' * bool(words)}{', '.join(words)}"
    takers = f"{', '.join(methods)}; " if len(methods) <= 3 else ""
    if name in OF_NEIGHBOURS:
        takers = f"{KNN.name}, also as a model; "
    info = option(
        _PANELS.get(name, METHOD),
        "NAME" if words else _METAVARS.get(first.kind, "TEXT"),
        f"{told}. ({takers}default: {_default(methods)})",
        *(text for text in (flag_of(name), first.option.short) if text),
    )
    kind: Any = Literal[words] if words else first.kind if first.kind in _METAVARS else str
    return Annotated[kind | None, info]


def _default(methods: dict[str, Field]) -> str:
    """The default of the first method, and that of others where it differs."""
    others: dict[str, list[str]] = {}
    for method, one in methods.items():
        word = "none" if one.default_words == "None" else one.default_words.strip("'")
        others.setdefault(word, []).append(method)
    first, *rest = others
    return "; ".join([first, *(f"{', '.join(others[word])}: {word}" for word in rest)])


def make_method(method: str, **given: Any) -> Method:
    """The method with the options that the user gave, all of which it must take.

    With ``--model knn`` the options of nearest neighbours are the model's.
    """
    kind = all_methods()[method]
    chosen = {name: value for name, value in given.items() if value is not None}
    own = {name: value for name, value in chosen.items() if name in options_of(kind)}
    if own.get("model") == KNN.name and method in _TAKE_NEIGHBOURS:
        inner = {name: chosen.pop(name) for name in OF_NEIGHBOURS if name in chosen}
        own["model"] = KNN(**inner) if inner else KNN.name
    takers = _takers()
    for name in chosen:
        if name not in own:
            methods = takers[name]
            fitting = [one for one in methods if all(one in takers[other] for other in chosen)]
            advice = [f"set --method {fitting[0]}"] if fitting else []
            if name in OF_NEIGHBOURS and method in _TAKE_NEIGHBOURS and "model" not in own:
                advice.append(f"set --model {KNN.name}")
            *ways, last = [*advice, f"leave {flag_of(name)} out"]
            raise InputError(
                f"{flag_of(name)} goes with --method {' or '.join(methods)}, not with {method}: "
                f"{', '.join(ways)}{' or ' * bool(ways)}{last}"
            )
    return kind(**own)


def parse_semivalue(text: str) -> Any:
    """The semivalue behind a word."""
    from shapley2d._theory.semivalues import check_semivalue

    name, _, numbers = text.partition(":")
    try:
        return check_semivalue(("beta", *numbers.split(",")) if name == "beta" else text)
    except InputError:
        raise InputError(
            f"--semivalue {text} is not known: use shapley, banzhaf, or beta:A,B such as beta:16,1"
        ) from None
