"""The methods: a record each, and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._forest import method as forest
from shapley2d._knn import method as knn
from shapley2d._methods.record import Method
from shapley2d._models import exact
from shapley2d._models import monte_carlo as mc

if TYPE_CHECKING:
    from shapley2d._methods.record import Option

METHODS: dict[str, Method] = {
    method.name: method for method in (knn.METHOD, mc.METHOD, exact.METHOD, forest.METHOD)
}
"""The methods by name; the first is the default."""


def find_method(method: Any) -> Method:
    """The method of a name; a record, which may be the caller's own, is the method itself."""
    if isinstance(method, Method):
        return method
    check_choice(method, "method", METHODS)
    return METHODS[method]


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
    return {option.name: option for option in like.options if option.name != "truncation"}


def all_options() -> dict[str, list[tuple[Method, Option]]]:
    """Every option by name, with the methods that take it."""
    found: dict[str, list[tuple[Method, Option]]] = {}
    for method in METHODS.values():
        for option in method.options:
            found.setdefault(option.name, []).append((method, option))
    return found


def common_default(name: str) -> Any:
    """The default of an option that all methods with one share; None where they differ."""
    options = [option for _, option in all_options()[name]]
    if len({option.default_words for option in options}) > 1:
        return None
    return next((option.default for option in options if option.default is not None), None)
