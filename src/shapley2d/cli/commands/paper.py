"""``shapley2d paper``: every table and figure of the paper, ours beside theirs."""

# ruff: noqa: UP045  (typer reads these at run time)
import sys
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.text import Text

from shapley2d._base.printable import printable
from shapley2d._base.progress import format_seconds
from shapley2d.cli.console import ResultConsole, note
from shapley2d.cli.errors import INTERRUPTED
from shapley2d.cli.writing.outputs import check_file
from shapley2d.exceptions import InputError
from shapley2d_paper.experiments import EXPERIMENTS

Experiments = Annotated[
    Optional[list[str]],
    typer.Argument(
        metavar="EXPERIMENT",
        help=f"Any of {', '.join(EXPERIMENTS)}; all by default.",
        show_default=False,
    ),
]
Out = Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write everything.")]
Quick = Annotated[
    bool, typer.Option("--quick", help="Small tables, few seeds: a trial in two minutes.")
]
Again = Annotated[
    bool,
    typer.Option(
        "--again",
        help="Compute again what is there. Changed code and settings are noticed without it; other packages, another "
        "machine or other data are not.",
    ),
]
PagesOnly = Annotated[
    bool,
    typer.Option(
        "--pages-only",
        help="Compute nothing: draw the figures and write the pages from the CSV files that are there.",
    ),
]
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
    Optional[int],
    typer.Option("--jobs", "-j", metavar="N", help="Worker processes. (default: all cores)"),
]


def paper(
    experiments: Experiments = None,
    out: Out = Path("shapley2d-paper"),
    quick: Quick = False,
    again: Again = False,
    pages_only: PagesOnly = False,
    page: Page = None,
    jobs: Jobs = None,
) -> None:
    """Compute the paper's experiments again, with other detectors as baselines, and judge its claims.

    Every experiment writes a CSV file with its numbers and a figure; index.html shows them all,
    reproduction.md says claim by claim what holds. What is there is not computed again, unless its
    code or settings have changed: after Ctrl-C the same command goes on.
    """
    import time

    from shapley2d_paper.experiments import find_experiments
    from shapley2d_paper.harness.pages import spaced
    from shapley2d_paper.harness.run import run_experiments, show_experiments

    chosen, every = find_experiments(experiments or []), find_experiments()
    if page is not None:
        check_file(page, "--page")
    if jobs is not None and (jobs == 0 or jobs < -1):
        raise InputError(f"--jobs {jobs} must be a number of workers, or -1 for all cores")
    if pages_only and (quick or again or experiments):
        raise InputError(
            "--pages-only shows all that is there: leave out --quick, --again and names of experiments"
        )
    console = ResultConsole()
    if pages_only:
        show_experiments(every, out, page)
        _print_pages(console, "written:", out, page)
        return
    started = time.monotonic()
    try:
        for outcome in run_experiments(
            chosen, out, on_pages=every, quick=quick, again=again, n_jobs=jobs, page=page
        ):
            if outcome.code_changed:
                note(
                    f"{outcome.experiment.name}: {_pieces(outcome.code_changed)} computed again: code changed"
                )
            for reason in dict.fromkeys(outcome.left_out.values()):
                count = list(outcome.left_out.values()).count(reason)
                note(f"{outcome.experiment.name}: {_pieces(count)} left out: {reason}")
            if outcome.headline:
                console.print(
                    Text(outcome.experiment.name, style="bold"),
                    Text(spaced(outcome.headline)),
                    soft_wrap=True,
                )
    except KeyboardInterrupt:
        sys.stderr.write(
            f"shapley2d: interrupted: what was computed is kept in {printable(str(out))}; the same command goes on "
            "from there\n"
        )
        raise typer.Exit(INTERRUPTED) from None
    console.print()
    _print_pages(console, f"{format_seconds(time.monotonic() - started)}; written:", out, page)


def _pieces(count: int) -> str:
    return f"{count} piece{'s' * (count > 1)}"


def _print_pages(console: ResultConsole, heading: str, out: Path, page: Path | None) -> None:
    console.print(Text(heading))
    for path in (out / "index.html", page or out / "reproduction.md"):
        if path.exists():
            console.print(Text(printable(f"  {path}")), soft_wrap=True)
