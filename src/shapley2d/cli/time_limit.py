"""``--max-time``: the clock of a command, which starts before its files are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.time_limit import TimeLimit

if TYPE_CHECKING:
    from shapley2d.cli.options import RunOptions

_WRITING = 0.05  # of the limit, for files that are written at the end
WRITING_CELL_S = 8e-7
"""Seconds for a cell in those files: 20 million took 12 s, and 18 to 30 s on a busy machine."""

LIKE_NAMES = ("--timeout", "--time-out", "--time-limit", "--timelimit", "--max-seconds", "--limit")
"""What other programs call ``--max-time``."""


def start_clock(run: RunOptions) -> TimeLimit | None:
    """The time limit of a command, from now; None without one."""
    return None if run.max_time is None else TimeLimit.of(run.max_time)


def before_writing(limit: TimeLimit | None, run: RunOptions, n_cells: int) -> Any:
    """The limit of what comes before the files are written; they take time by the cell."""
    if limit is None or (run.output is None and run.report is None):
        return limit
    return limit.earlier(max(_WRITING * limit.seconds, WRITING_CELL_S * n_cells))
