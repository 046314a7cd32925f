"""The methods by the word that stands for each: the package's own, and those of other packages.

Another package adds a method by an entry point in the group ``shapley2d.methods``, whose object is
a subclass of :class:`~shapley2d.Method`.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._base.warnings import warn_input
from shapley2d._forest.method import Forest
from shapley2d._knn.method import KNN
from shapley2d._methods.method import Method
from shapley2d._models.exact import Exact
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

BUILT_IN: dict[str, type[Method]] = {one.name: one for one in (KNN, MonteCarlo, Exact, Forest)}
"""The package's own methods by name; the first is the default."""


@cache
def all_methods() -> Mapping[str, type[Method]]:
    """All methods by name; one of another package does not hide the package's own.

    One that cannot be loaded is left out with a warning: whoever asks for another does not need it.
    """
    found: dict[str, type[Method]] = {}
    for entry in entry_points(group="shapley2d.methods"):
        try:
            method = entry.load()
        except Exception as error:  # noqa: BLE001  (whatever another package raises)
            warn_input(f"the method {entry.value} cannot be loaded: {error}")
            continue
        if isinstance(method, type) and issubclass(method, Method):
            found[method.name] = method
        else:
            warn_input(f"the method {entry.value} is not a subclass of shapley2d.Method")
    return {**found, **BUILT_IN}


def find_method(method: Any) -> Method:
    """The method of a word, with its defaults; a method is itself."""
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and issubclass(method, Method):
        raise InputError(
            Setting("method"), f" is the class {method.__name__}: make one, {method.__name__}()"
        )
    if isinstance(method, str) and method in BUILT_IN:
        return BUILT_IN[method]()
    check_choice(method, "method", all_methods())
    return all_methods()[method]()
