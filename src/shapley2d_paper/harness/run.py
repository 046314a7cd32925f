"""Running experiments: what is missing is computed piece by piece, then gathered, drawn and judged."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, effective_n_jobs

from shapley2d._base.progress import reporting
from shapley2d._estimation.batches import single_threaded
from shapley2d_paper.harness.experiment import Unavailable
from shapley2d_paper.harness.folder import Folder
from shapley2d_paper.harness.pages import write_pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from shapley2d_paper.harness.experiment import Experiment, Piece


@dataclass
class Outcome:
    """What a run of one experiment came to.

    Attributes
    ----------
    experiment : Experiment
    computed, kept : int
        Pieces computed now, and found from before.
    left_out : dict
        Pieces that this machine lacks something for, with the reason.
    headline : str
    """

    experiment: Experiment
    computed: int = 0
    kept: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    headline: str = ""


def run_experiments(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    quick: bool = False,
    again: bool = False,
    n_jobs: int | None = None,
    page: Path | None = None,
    progress: Any = "auto",
) -> Iterator[Outcome]:
    """Run experiments one after the other, and yield what each came to; the pages are written after each.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path
        The folder for everything.
    quick : bool
        Small tables and few seeds: a trial in minutes.
    again : bool
        Compute anew what is there.
    n_jobs : int or None
        Worker processes; None for all cores. The figures do not depend on it, but for the times measured.
    page : Path, optional
        Where the page of claims goes; ``reproduction.md`` in the folder by default.
    progress : {"auto", True, False} or callable
    """
    folder = Folder(out, quick=quick)
    for experiment in experiments:
        if again:
            folder.forget(experiment)
        yield _run(experiment, folder, n_jobs, page, progress)


def _run(
    experiment: Experiment, folder: Folder, n_jobs: int | None, page: Path | None, progress: Any
) -> Outcome:
    pieces = experiment.pieces(folder.quick)
    missing = [piece for piece in pieces if not folder.is_done(experiment, piece)]
    outcome = Outcome(experiment, kept=len(pieces) - len(missing))
    started = time.monotonic()
    with reporting(progress, experiment.name) as report:
        for piece, reason in _each(experiment, missing, folder, n_jobs):
            if reason is None:
                outcome.computed += 1
            else:
                outcome.left_out[piece.name] = reason
            count = outcome.computed + len(outcome.left_out)
            left = (time.monotonic() - started) / count * (len(missing) - count)
            report((outcome.kept + count) / len(pieces), f"{count} of {len(missing)} pieces", left)
    folder.note_left_out(experiment.name, outcome.left_out)
    if outcome.computed + outcome.kept:
        records = folder.gather(experiment, pieces)
        from shapley2d_paper.harness.figures import save_figure

        save_figure(experiment.draw, records, folder.figure(experiment.name))
        outcome.headline = experiment.headline(records)
    write_pages(folder.path, page)
    return outcome


def _each(
    experiment: Experiment, pieces: list[Piece], folder: Folder, n_jobs: int | None
) -> Iterator[tuple[Piece, str | None]]:
    """Compute pieces, each by a process of its own where there are several, and say how each went."""
    workers = 1 if experiment.alone else min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(pieces))
    if workers <= 1:
        for piece in pieces:
            yield _compute(experiment, piece, folder, limited=not experiment.alone)
        return
    parallel = Parallel(n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch=workers)
    yield from parallel(delayed(_compute)(experiment, piece, folder, limited=True) for piece in pieces)


def _compute(
    experiment: Experiment, piece: Piece, folder: Folder, *, limited: bool
) -> tuple[Piece, str | None]:
    """Compute one piece and write it down here, so that it outlives whatever happens elsewhere."""
    started = time.perf_counter()
    try:
        with single_threaded() if limited else nullcontext():
            rows = experiment.work(**piece.settings)
    except Unavailable as reason:
        return piece, str(reason)
    folder.keep(experiment, piece, rows, time.perf_counter() - started)
    return piece, None
