"""The plan of a run: the time it should fit in, and the plan printed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.text import Text

from shapley2d._base.words import printable
from shapley2d.cli.console import ResultConsole
from shapley2d.cli.writing.summary import print_json
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._results.plan import Plan


_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)")
_NAMES = {"": "s", "sec": "s", "min": "m"}


def parse_within(text: str | None, *, planned: bool) -> float | None:
    """The option ``--within`` in seconds.

    Examples
    --------
    >>> parse_within("90", planned=True), parse_within("1h30m", planned=True)
    (90.0, 5400.0)
    """
    if text is None:
        return None
    if not planned:
        raise InputError("--within sets the time a plan should fit in: use it with --plan")
    compact = text.strip().lower().replace(" ", "")
    parts = _PART.findall(compact)
    units = [_NAMES.get(unit, unit) for _, unit in parts]
    complete = "".join(number + unit for number, unit in parts) == compact
    understood = complete and all(unit in _UNITS for unit in units)
    if not parts or not understood:
        raise InputError(f"--within {text} is not a time: write it as 90s, 10m, 2h or 1h30m")
    seconds = sum(
        float(number) * _UNITS[unit] for (number, _), unit in zip(parts, units, strict=True)
    )
    if not 0 < seconds < 1e12:
        raise InputError(
            f"--within {text} must be more than 0 seconds and less than a thousand years"
        )
    return seconds


def print_plan(plan: Plan, within: float | None, *, as_json: bool) -> None:
    """Print a plan for people, or as one object for machines."""
    if not as_json:
        ResultConsole().print(Text(printable(plan.summary(within), "\n")), soft_wrap=True)
        return
    record: dict[str, Any] = {"command": "cells", "plan": plan.to_dict()}
    if within is not None:
        record |= {"within": within, "workers": plan.workers(within)}
    print_json(record)
