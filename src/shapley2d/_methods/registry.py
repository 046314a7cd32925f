"""The methods: a record each, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._methods import exact, flat, forest, knn, loo, mc, oob, random
from shapley2d._methods.options import MODEL_BACKEND

if TYPE_CHECKING:
    from shapley2d._methods.record import Method, Option

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        knn.METHOD,
        mc.METHOD,
        exact.METHOD,
        loo.METHOD,
        flat.METHOD,
        forest.METHOD,
        oob.METHOD,
        random.METHOD,
    )
}
"""The methods by name; the first is the default."""


def find_method(name: Any) -> Method:
    """Find a method of cells.

    Examples
    --------
    >>> find_method("oob").validates
    False
    """
    check_choice(name, "method", METHODS)
    return METHODS[name]


def find_game_method(name: Any) -> Method:
    """Find a method that values games of any kind."""
    check_choice(name, "method", game_methods())
    return METHODS[name]


def game_methods() -> tuple[str, ...]:
    """Names of the methods that value games of any kind, ``"exact"`` first."""
    names = [name for name, method in METHODS.items() if method.solve_games is not None]
    return tuple(sorted(names, key=lambda name: name != "exact"))


def block_methods() -> tuple[str, ...]:
    """Names of the methods of blocks whose players are groups."""
    return ("auto", *game_methods(), "knn")


def block_options(method: str) -> dict[str, Option]:
    """The options of a method of blocks: those of cells, without ``truncation``."""
    like = METHODS[method if method in game_methods() else "mc"]
    options = {option.name: option for option in like.options if option.name != "truncation"}
    return {**options, "backend": MODEL_BACKEND}


def all_options() -> dict[str, list[tuple[Method, Option]]]:
    """Every option by name, with the methods that take it."""
    found: dict[str, list[tuple[Method, Option]]] = {}
    for method in METHODS.values():
        for option in method.options:
            found.setdefault(option.name, []).append((method, option))
    return found


def common_default(name: str) -> Any:
    """The default of an option that all methods with one share; None where they differ.

    Examples
    --------
    >>> common_default("n_neighbors"), common_default("max_permutations")
    (10, None)
    """
    defaults = {option.default for _, option in all_options()[name] if option.default is not None}
    return defaults.pop() if len(defaults) == 1 else None
