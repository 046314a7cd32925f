"""Methods by what people have: a word, an object of ours, or an estimator to value under.

Another package adds a method by an entry point in the group ``shapley2d.methods``, whose object is
a subclass of :class:`~shapley2d.Method`.
"""

from __future__ import annotations

import inspect
from dataclasses import fields
from functools import cache, wraps
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar

from shapley2d._base.checks import check_choice
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import shown
from shapley2d._forest.method import Forest
from shapley2d._knn.method import KNN
from shapley2d._methods.method import Method
from shapley2d._models.methods import Exact, MonteCarlo
from shapley2d._rivals.flat import Flat
from shapley2d._rivals.leave_one_out import LeaveOneOut
from shapley2d._rivals.out_of_bag import OutOfBag
from shapley2d._rivals.random_values import Random
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Asked = ParamSpec("_Asked")
_Result = TypeVar("_Result")


class Estimator(Protocol):
    """A model of scikit-learn, or one with its interface."""

    fit: Any
    get_params: Any


BUILT_IN: dict[str, type[Method]] = {
    one.name: one for one in (KNN, MonteCarlo, Exact, Forest, LeaveOneOut, Flat, OutOfBag, Random)
}
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
    """The method of a word, with its defaults, or of an estimator; a method is itself.

    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> find_method("knn"), find_method(RandomForestClassifier()), find_method(GaussianNB())
    (KNN(), Forest(model=RandomForestClassifier()), MonteCarlo(model=GaussianNB()))
    """
    if isinstance(method, Method):
        return method
    if isinstance(method, type) and (issubclass(method, Method) or hasattr(method, "fit")):
        raise InputError(f"method is the class {method.__name__}: make one, {method.__name__}()")
    if hasattr(method, "fit") and hasattr(method, "get_params"):
        return Forest(method) if _has_trees(method) else MonteCarlo(method)
    if isinstance(method, str) and method in BUILT_IN:
        return BUILT_IN[method]()
    check_choice(method, "method", all_methods())
    return all_methods()[method]()


def why_method(given: Any, found: Method) -> dict[str, str]:
    """Why an estimator was valued by the method that was found for it, for the record."""
    if isinstance(given, (str, Method)):
        return {}
    does = (
        "Forest reads its trees, with their splits held fixed"
        if isinstance(found, Forest)
        else "it is no ensemble of trees that Forest reads, so MonteCarlo trains it on subsets"
    )
    return {"chosen": f"method {found.name} for {type(given).__name__}: {does}"}


def _has_trees(model: Any) -> bool:
    from shapley2d._forest.ensemble import library_of

    try:
        library_of(model)
    except InputError:
        return False
    return True


def names_methods(function: Callable[_Asked, _Result]) -> Callable[_Asked, _Result]:
    """Let a function that gets an option of a method say which method has it."""
    known = inspect.signature(function).parameters

    @wraps(function)
    def called(*arguments: _Asked.args, **options: _Asked.kwargs) -> _Result:
        for name in options.keys() - known.keys():
            ways = [
                f"method={one.__name__}({name}={shown(options[name])})"
                for one in BUILT_IN.values()
                if name in {option.name for option in fields(one)}
            ]
            if ways:
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}: it is an "
                    f"option of a method, as in {' or '.join(ways)}"
                )
        return function(*arguments, **options)

    return called
