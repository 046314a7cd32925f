"""What a rival refuses, in one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._methods.run import Run


def refuse_semivalue(name: str, run: Run, why: str) -> None:
    """Refuse a semivalue other than Shapley's."""
    if run.semivalues != ("shapley", "shapley"):
        raise InputError(f"method={name!r} has no semivalue: {why}; leave semivalue out")


def refuse_options(name: str, **given: Any) -> None:
    """Refuse what would change nothing."""
    for option, value in given.items():
        if value is not None:
            raise InputError(f"method={name!r} takes no {option}: leave it out")
