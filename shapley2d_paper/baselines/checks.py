"""What a baseline refuses, in one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def refuse_scoring(name: str, problem: Problem) -> None:
    """Refuse a score of the caller's, which would change nothing."""
    if problem.scoring is not None:
        raise InputError(
            Setting("method", name), " takes no ", Setting("scoring"), ": leave it out"
        )


def refuse_semivalue(name: str, run: Run, why: str) -> None:
    """Refuse a semivalue other than Shapley's."""
    if run.semivalues != ("shapley", "shapley"):
        raise InputError(
            Setting("method", name),
            f" has no semivalue: {why}; leave ",
            Setting("semivalue"),
            " out",
        )
