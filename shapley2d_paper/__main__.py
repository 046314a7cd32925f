"""``python -m shapley2d_paper``: every table and figure of the paper, ours beside theirs."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from shapley2d._base.words import format_seconds, printable
from shapley2d.exceptions import InputError
from shapley2d_paper.experiments import EXPERIMENTS, find_experiments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d_paper.harness.run import Outcome

USER_ERROR = 2
INTERRUPTED = 130

_EPILOG = """\
examples:
  python -m shapley2d_paper --out trial --quick
  python -m shapley2d_paper outliers removal --out paper
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the experiments and return an exit code: 0, 2 for a user's error, 130 for Ctrl-C."""
    options = _parser().parse_args(arguments)
    try:
        _run(options)
    except InputError as error:
        _complain(f"error: {error}")
        return USER_ERROR
    except KeyboardInterrupt:
        _complain(
            f"interrupted: finished pieces are kept in {options.out}; "
            "run the same command again to go on"
        )
        return INTERRUPTED
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m shapley2d_paper",
        description="Compute the paper's experiments again, with other detectors as baselines, and "
        "judge its claims. Every experiment writes a CSV file with its numbers and a figure; "
        "index.html shows them all, and reproduction.md gives a verdict on each claim. Finished "
        "pieces are not computed again unless their code or settings have changed.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "experiments",
        nargs="*",
        metavar="EXPERIMENT",
        help=f"any of {', '.join(EXPERIMENTS)} (default: all)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("shapley2d-paper"),
        metavar="FOLDER",
        help="folder for all files (default: %(default)s)",
    )
    parser.add_argument(
        "--quick", action="store_true", help="small tables, few seeds: a trial in two minutes"
    )
    parser.add_argument(
        "--again",
        action="store_true",
        help="compute finished pieces again; needed after a change of other packages, the data or "
        "the machine, which is not detected",
    )
    parser.add_argument(
        "--pages-only",
        action="store_true",
        help="compute nothing: draw the figures and write the pages from the existing CSV files",
    )
    parser.add_argument(
        "--page",
        type=Path,
        metavar="FILE.md",
        help="the page of claims (default: reproduction.md in the folder)",
    )
    parser.add_argument(
        "--jobs", "-j", type=int, metavar="N", help="worker processes (default: all cores)"
    )
    return parser


def _run(options: argparse.Namespace) -> None:
    from shapley2d_paper.harness.run import run_experiments, show_experiments

    chosen, every = find_experiments(options.experiments), find_experiments()
    _check(options)
    if options.pages_only:
        show_experiments(every, options.out, options.page)
        _print_files("written:", options)
        return
    started = time.monotonic()
    for outcome in run_experiments(
        chosen,
        options.out,
        on_pages=every,
        quick=options.quick,
        again=options.again,
        n_jobs=options.jobs,
        page=options.page,
    ):
        _print_outcome(outcome)
    _print_files(f"\n{format_seconds(time.monotonic() - started)}; written:", options)


def _check(options: argparse.Namespace) -> None:
    from shapley2d._base.atomic_write import why_unwritable

    if options.page is not None and (reason := why_unwritable(options.page)):
        raise InputError(f"--page {options.page}: {reason}")
    if options.jobs is not None and (options.jobs == 0 or options.jobs < -1):
        raise InputError(f"--jobs {options.jobs} must be a number of workers, or -1 for all cores")
    if options.pages_only and (options.quick or options.again or options.experiments):
        raise InputError(
            "--pages-only shows all existing results: leave out --quick, --again and names of "
            "experiments"
        )


def _print_outcome(outcome: Outcome) -> None:
    from shapley2d_paper.harness.pages import spaced

    name = outcome.experiment.name
    if outcome.code_changed:
        _note(f"{name}: {_pieces(outcome.code_changed)} computed again: code changed")
    reasons = list(outcome.left_out.values())
    for reason in dict.fromkeys(reasons):
        _note(f"{name}: {_pieces(reasons.count(reason))} left out: {reason}")
    if outcome.headline:
        sys.stdout.write(f"{name} {spaced(outcome.headline)}\n")


def _pieces(count: int) -> str:
    return f"{count} piece{'s' * (count > 1)}"


def _print_files(heading: str, options: argparse.Namespace) -> None:
    sys.stdout.write(f"{heading}\n")
    for path in (options.out / "index.html", options.page or options.out / "reproduction.md"):
        if path.exists():
            sys.stdout.write(f"  {printable(str(path))}\n")


def _note(words: str) -> None:
    sys.stderr.write(f"note: {printable(words)}\n")


def _complain(words: str) -> None:
    sys.stderr.write(f"shapley2d_paper: {printable(words)}\n")


if __name__ == "__main__":
    sys.exit(main())
