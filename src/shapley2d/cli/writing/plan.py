"""The plan of a run: the time it should fit in, and the plan printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from shapley2d._base.time_limit import parse_time
from shapley2d._base.words import printable
from shapley2d.cli.console import ResultConsole
from shapley2d.cli.writing.summary import print_json
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._results.plan import Plan


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
    return parse_time(text, "within")


def print_plan(plan: Plan, within: float | None, *, as_json: bool) -> None:
    """Print a plan for people, or as one object for machines."""
    if not as_json:
        ResultConsole().print(Text(printable(plan.summary(within), "\n")), soft_wrap=True)
        return
    record: dict[str, Any] = {"command": "cells", "plan": plan.to_dict()}
    if within is not None:
        record |= {"within": within, "workers": plan.workers(within)}
    print_json(record)
