"""The command line: ``shapley2d inspect | repair | cells | fragments | report | verify | demo``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from shapley2d.cli.streams import INTERRUPTED, at_interrupt, stop_at_once

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    0: done. 2: the user's error, in one line. 130: Ctrl-C. 1: a bug in shapley2d.

    Parameters
    ----------
    arguments : sequence of str, optional
        Without the program's name; those of the process by default.

    Examples
    --------
    >>> main(["--version"])  # doctest: +ELLIPSIS
    shapley2d ...
    0
    """
    if arguments is None:  # before anything that takes long to load
        at_interrupt(stop_at_once)
    from typer import Abort

    from shapley2d.cli.app import app
    from shapley2d.cli.errors import report_error
    from shapley2d.cli.streams import long_work, open_streams, silence_stdout

    code = 0
    try:
        open_streams()
        with long_work():
            code = app(arguments, prog_name="shapley2d", standalone_mode=False) or 0
            sys.stdout.flush()
    except BrokenPipeError:
        silence_stdout()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    except (KeyboardInterrupt, Abort):
        code = INTERRUPTED
    except Exception as error:  # noqa: BLE001  (the last stop: a person gets a line, never a traceback)
        code = report_error(error)
        silence_stdout()  # what could not be written now cannot be written later either
    if arguments is None:
        at_interrupt(stop_at_once)
    return code
