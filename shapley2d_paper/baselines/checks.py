"""What a baseline refuses, in one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.words import shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.run import Run


def refuse_settings(name: str, **given: Any) -> None:
    """Refuse settings that would change nothing."""
    for setting, value in given.items():
        if value is not None:
            raise InputError(f"method={shown(name)} takes no {setting}: leave it out")


def refuse_semivalue(name: str, run: Run, why: str) -> None:
    """Refuse a semivalue other than Shapley's."""
    if run.semivalues != ("shapley", "shapley"):
        raise InputError(f"method={shown(name)} has no semivalue: {why}; leave semivalue out")
