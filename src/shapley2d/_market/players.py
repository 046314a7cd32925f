"""Who plays in a valuation of blocks, and by which method and options they are valued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._methods.record import unknown_option
from shapley2d._methods.registry import METHODS, block_methods, block_options
from shapley2d._models.by_name import check_model, is_knn
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping

PLAYERS = ("cells", "groups")
"""Every cell by itself, or groups of rows and groups of columns."""


def settle_players(players: Any, method: str, given: Mapping[str, Any], *, owned: bool) -> str:
    """The default of ``players``: cells for contributors and nearest neighbours, else groups.

    Methods that value nothing but cells take cells.
    """
    if players is not None:
        return str(players)
    model = given.get("model")
    only_cells = method not in block_methods()
    near = method in ("auto", "knn") and (model is None or is_knn(model))
    return "cells" if only_cells or (owned and near) else "groups"


def settle_method(
    players: str, method: Any, given: Mapping[str, Any]
) -> tuple[str, dict[str, Any]]:
    """The method, and all of its options, those given checked.

    For cells ``"auto"`` is nearest neighbours, or Monte Carlo where another model is given. For
    groups it stays ``"auto"`` until the number of groups is known, and ``"knn"`` is any method with
    that model.

    >>> settle_method("cells", "auto", {"n_neighbors": 3})[0]
    'knn'
    >>> settle_method("cells", "auto", {"model": "ridge"})[0]
    'mc'
    """
    return _of_cells(method, given) if players == "cells" else _of_groups(method, given)


def _of_cells(method: Any, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    check_choice(method, "method", ("auto", *METHODS))
    model = given.get("model")
    if method == "auto":
        method = "knn" if model is None or is_knn(model) else "mc"
    if method == "knn":
        _check_neighbours(model)
        given = {name: value for name, value in given.items() if name != "model"}
    return method, METHODS[method].complete(dict(given))


def _of_groups(method: Any, given: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    check_choice(method, "method", block_methods())
    known = block_options(method)
    for name in given:
        if name not in known:
            raise unknown_option(f"method {method!r}", name, known)
    check_model(given.get("model"))
    options = {name: option.checked(given.get(name)) for name, option in known.items()}
    if method == "knn":
        _check_neighbours(given.get("model"))
        options["model"] = "knn"
    return method, options


def _check_neighbours(model: Any) -> None:
    if model is not None and not is_knn(model):
        raise InputError(
            Setting("method", "knn"),
            " takes no model: use ",
            Setting("method", "auto"),
            " with a model",
        )
