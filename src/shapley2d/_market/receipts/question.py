"""The settings of a valuation of blocks as a receipt records them, and back.

A receipt is data: of it only the settings that are named here are read, and a method is one of the
package's own, made of its name and options, which its class checks. A method of another package is
code that nobody's file may choose: like a model object, it is given again.
"""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np

from shapley2d._base.json_record import check_form
from shapley2d._methods.method import Method
from shapley2d._valuation.methods import BUILT_IN
from shapley2d.exceptions import InputError

SETTINGS: dict[str, Any] = {
    **dict.fromkeys(("rows", "columns"), str | list | dict | None),
    **dict.fromkeys(("owner_column", "parties", "copies", "scoring"), str | None),
    **dict.fromkeys(("groups", "time_order", "valid_weight"), str | list | None),
    **dict.fromkeys(("task", "baseline", "unclaimed"), str),
    "valid_parts": int | None,
    "method": dict,
    "kinds": dict | None,
    "include_label": bool,
    "cv": int | list | None,
    "semivalue": str | list,
}
"""The settings of a question and their forms: neither data nor what changes no value.

Nothing else is recorded, read, or passed on.
"""

_UNRECORDED: Any = object()


def recorded(asked: dict[str, Any], method: Method) -> dict[str, Any]:
    """``settings`` that a file can hold; names of ``unrecorded`` ones: arrays and models."""
    given = {name: asked[name] for name in SETTINGS} | {"method": _of_method(method)}
    plain = {name: _as_json(value) for name, value in given.items()}
    settings = {name: value for name, value in plain.items() if value is not _UNRECORDED}
    return {"settings": settings, "unrecorded": [name for name in plain if name not in settings]}


def _of_method(method: Method) -> Any:
    """A method by its name and the options that differ from its defaults; so one inside it."""
    if BUILT_IN.get(method.name) is not type(method):
        return _UNRECORDED
    options = {
        name: _of_method(value) if isinstance(value, Method) else value
        for name, value in method.settings().items()
    }
    return {"name": method.name, **options}


def check_question(question: dict[str, Any]) -> None:
    """Check the settings of a receipt; a ValueError says in a phrase what does not fit."""
    settings, given = question["settings"], question["unrecorded"]
    if sorted([*settings, *given]) != sorted(SETTINGS):
        odd = [*sorted({*SETTINGS} ^ {*settings, *given}), *sorted({*settings} & {*given})]
        raise ValueError(f"its settings are not those of a question: see {(odd or given)[0]!r}")
    check_form(settings, {name: SETTINGS[name] for name in settings}, "its settings", exact=True)
    settings_of(settings)


def settings_of(record: dict[str, Any]) -> dict[str, Any]:
    """The arguments of :func:`shapley2d.value_blocks` that a checked receipt records."""
    given = {name: _tupled(value) for name, value in record.items()}
    if "method" in given:
        given["method"] = _method(record["method"])
    return given


def _method(record: Any) -> Method:
    name = record.get("name")
    if not isinstance(name, str) or name not in BUILT_IN:
        raise InputError("the receipt's method is not known")
    options = {name: value for name, value in record.items() if name != "name"}
    if isinstance(options.get("model"), dict):
        options["model"] = _method(options["model"])
    unknown = set(options) - {one.name for one in fields(BUILT_IN[name])}
    if unknown:
        raise InputError(f"the receipt has an option {min(unknown)!r}, which is not known")
    return BUILT_IN[name](**options)


def _as_json(value: Any) -> Any:
    """A setting as JSON can hold and give it back; a mark where it cannot."""
    try:
        return json.loads(json.dumps(value, allow_nan=False, default=_plain))
    except (TypeError, ValueError):
        return _UNRECORDED


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError


def _tupled(value: Any) -> Any:
    """Semivalues with numbers are tuples, which JSON does not have."""
    if isinstance(value, list) and value and value[0] == "beta":
        return tuple(value)
    if isinstance(value, list) and any(isinstance(item, list) for item in value):
        return tuple(_tupled(item) for item in value)
    return value
