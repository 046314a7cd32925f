"""``shapley2d paper``: every table and figure of the paper, ours beside theirs."""

# ruff: noqa: UP045  (typer reads these at run time)
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.text import Text

from shapley2d._base.progress import format_seconds
from shapley2d.cli.console import ResultConsole, note
from shapley2d.cli.errors import INTERRUPTED
from shapley2d.exceptions import InputError
from shapley2d_paper import EXPERIMENTS

Experiments = Annotated[
    Optional[list[str]],
    typer.Argument(
        metavar="EXPERIMENT",
        help=f"Any of {', '.join(EXPERIMENTS)}; all by default.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write everything.")]
Quick = Annotated[bool, typer.Option("--quick", help="Small tables, few seeds: a trial in two minutes.")]
Again = Annotated[bool, typer.Option("--again", help="Compute anew what is there.")]
Page = Annotated[
    Optional[Path],
    typer.Option(
        "--page",
        metavar="FILE.md",
        help="Where the page of claims goes. (default: reproduction.md in the folder)",
        show_default=False,
    ),
]
Jobs = Annotated[
    Optional[int], typer.Option("--jobs", "-j", metavar="N", help="Worker processes. (default: all cores)")
]


def paper(
    experiments: Experiments = None,
    out: Out = Path("shapley2d-paper"),
    quick: Quick = False,
    again: Again = False,
    page: Page = None,
    jobs: Jobs = None,
) -> None:
    """Compute the paper's experiments anew, with its rivals beside it, and judge its claims.

    Every experiment writes a CSV file with its numbers and a figure; index.html shows them all, reproduction.md says
    claim by claim what holds. What is there is not computed again: after Ctrl-C the same command goes on.
    """
    import time

    from shapley2d_paper import find_experiments
    from shapley2d_paper.harness.pages import spaced
    from shapley2d_paper.harness.run import run_experiments

    chosen = find_experiments(experiments or [])
    if page is not None and not page.parent.is_dir():
        raise InputError(f"--page {page}: the folder {page.parent} does not exist: make it first")
    if page is not None and page.is_dir():
        raise InputError(f"--page {page} is a folder: name a file in it")
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise InputError(f"--jobs {jobs} must be a number of workers, or -1 for all cores")
    console = ResultConsole()
    started = time.monotonic()
    try:
        for outcome in run_experiments(chosen, out, quick=quick, again=again, n_jobs=jobs, page=page):
            for reason in dict.fromkeys(outcome.left_out.values()):
                count = list(outcome.left_out.values()).count(reason)
                note(f"{outcome.experiment.name}: {count} piece{'s' * (count > 1)} left out: {reason}")
            if outcome.headline:
                console.print(
                    Text(outcome.experiment.name, style="bold"),
                    Text(spaced(outcome.headline)),
                    soft_wrap=True,
                )
    except KeyboardInterrupt:
        sys.stderr.write(
            f"shapley2d: interrupted: what was computed is kept in {out}; the same command goes on from there\n"
        )
        raise typer.Exit(INTERRUPTED) from None
    console.print()
    console.print(Text(f"{format_seconds(time.monotonic() - started)}; written:"))
    for path in (out / "index.html", page or out / "reproduction.md"):
        if path.exists():
            console.print(Text(f"  {path}"), soft_wrap=True)
