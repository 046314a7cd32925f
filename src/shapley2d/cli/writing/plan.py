"""What a run would take, printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.text import Text

from shapley2d._base.words import printable
from shapley2d.cli.console import ResultConsole
from shapley2d.cli.writing.summary import print_json

if TYPE_CHECKING:
    from shapley2d._results.plan import Plan


def print_plan(plan: Plan, within: float | None, *, as_json: bool) -> None:
    """Print a plan for people, or as one object for machines."""
    if not as_json:
        ResultConsole().print(Text(printable(plan.summary(within), "\n")), soft_wrap=True)
        return
    record: dict[str, Any] = {"command": "cells", "plan": plan.to_dict()}
    if within is not None:
        record |= {"within": within, "workers": plan.workers(within)}
    print_json(record)
