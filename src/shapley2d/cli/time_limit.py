"""``--max-time``: the clock of a command, which starts before its files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._base.time_limit import TimeLimit

if TYPE_CHECKING:
    from shapley2d.cli.options import RunOptions

_WRITING = 0.05  # of the limit, for files that are written at the end

LIKE_NAMES = ("--timeout", "--time-out", "--time-limit", "--timelimit", "--max-seconds", "--limit")
"""What other programs call ``--max-time``."""


def start_clock(run: RunOptions) -> TimeLimit | None:
    """The time limit of a command, from now; None without one."""
    if run.max_time is None:
        return None
    limit = TimeLimit.of(run.max_time)
    writes = run.output is not None or run.report is not None
    return limit.earlier(_WRITING * limit.seconds) if writes else limit
