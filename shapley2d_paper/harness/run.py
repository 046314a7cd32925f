"""Running experiments: missing pieces are computed one by one, then gathered, drawn and judged."""

from __future__ import annotations

import time
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from joblib import Parallel, delayed, effective_n_jobs
from threadpoolctl import threadpool_limits

from shapley2d._base.progress import reporting
from shapley2d.exceptions import InputError
from shapley2d_paper.harness.code import library_digest, work_digest
from shapley2d_paper.harness.experiment import Unavailable
from shapley2d_paper.harness.figures import save_figure
from shapley2d_paper.harness.folder import RUN_FILE, Folder
from shapley2d_paper.harness.pages import write_pages
from shapley2d_paper.harness.records import read_records

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
    code_changed : int
        Pieces that were there but had been computed by other code: they are computed again.
    left_out : dict
        Pieces that this machine lacks something for, with the reason.
    headline : str
    """

    experiment: Experiment
    computed: int = 0
    kept: int = 0
    code_changed: int = 0
    left_out: dict[str, str] = field(default_factory=dict)
    headline: str = ""


def run_experiments(
    experiments: Sequence[Experiment],
    out: Path,
    *,
    on_pages: Sequence[Experiment] | None = None,
    quick: bool = False,
    again: bool = False,
    n_jobs: int | None = None,
    page: Path | None = None,
    progress: Any = "auto",
) -> Iterator[Outcome]:
    """Run experiments in turn, yield the outcome of each, and write the pages after each.

    Parameters
    ----------
    experiments : sequence of Experiment
    out : Path
        The folder for everything.
    on_pages : sequence of Experiment, optional
        All that the pages show if they have a CSV file in the folder, run now or before; by default
        those run now.
    quick : bool
        Small tables and few seeds: a trial in minutes.
    again : bool
        Compute again what is there.
    n_jobs : int or None
        Worker processes; None for all cores. The figures do not depend on it, except for the times
        measured.
    page : Path, optional
        Where the page of claims goes; ``reproduction.md`` in the folder by default.
    progress : {"auto", True, False} or callable
    """
    folder = Folder(out, quick=quick)
    library = library_digest()
    for experiment in experiments:
        if again:
            folder.forget(experiment)
        code = work_digest(experiment.work.__module__, library)
        outcome = _compute_missing(experiment, folder, code, n_jobs, progress)
        folder.note_left_out(experiment.name, outcome.left_out)
        if outcome.computed + outcome.kept:
            records = folder.gather(experiment, experiment.pieces(quick), code)
            save_figure(experiment.draw, records, folder.figure(experiment.name))
            outcome.headline = experiment.headline(records)
        write_pages(folder.path, experiments if on_pages is None else on_pages, page)
        yield outcome


def show_experiments(
    experiments: Sequence[Experiment], out: Path, page: Path | None = None
) -> None:
    """Draw the figures and write the pages from the CSV files in a folder, without its pieces.

    Parameters
    ----------
    experiments : sequence of Experiment
        Those without a CSV file are passed over.
    out : Path
    page : Path, optional
        Where the page of claims goes; ``reproduction.md`` in the folder by default.
    """
    if not (out / RUN_FILE).exists():
        raise InputError(
            f"--out {out} holds no run to show: compute one first, without --pages-only"
        )
    for experiment in experiments:
        path = out / f"{experiment.name}.csv"
        if path.exists():
            save_figure(experiment.draw, read_records(path), out / f"{experiment.name}.png")
    write_pages(out, experiments, page)


def _compute_missing(
    experiment: Experiment, folder: Folder, code: str, n_jobs: int | None, progress: Any
) -> Outcome:
    """Compute the pieces that are not there."""
    pieces = experiment.pieces(folder.quick)
    states = [folder.state(experiment, piece, code) for piece in pieces]
    missing = [piece for piece, state in zip(pieces, states, strict=True) if state != "done"]
    outcome = Outcome(
        experiment, kept=states.count("done"), code_changed=states.count("code changed")
    )
    started = time.monotonic()
    with reporting(progress, experiment.name) as report:
        for piece, reason in _each(experiment, missing, folder, code, n_jobs):
            if reason is None:
                outcome.computed += 1
            else:
                outcome.left_out[piece.name] = reason
            count = outcome.computed + len(outcome.left_out)
            left = (time.monotonic() - started) / count * (len(missing) - count)
            report((outcome.kept + count) / len(pieces), f"{count} of {len(missing)} pieces", left)
    return outcome


def _each(
    experiment: Experiment, pieces: list[Piece], folder: Folder, code: str, n_jobs: int | None
) -> Iterator[tuple[Piece, str | None]]:
    """Compute pieces, in parallel where there are several, and yield how each went."""
    workers = (
        1
        if experiment.alone
        else min(effective_n_jobs(-1 if n_jobs is None else n_jobs), len(pieces))
    )
    if workers <= 1:
        for piece in pieces:
            yield _compute(experiment, piece, folder, code, limited=not experiment.alone)
        return
    parallel = Parallel(
        n_jobs=workers, return_as="generator_unordered", batch_size=1, pre_dispatch=workers
    )
    yield from parallel(
        delayed(_compute)(experiment, piece, folder, code, limited=True) for piece in pieces
    )


def _compute(
    experiment: Experiment, piece: Piece, folder: Folder, code: str, *, limited: bool
) -> tuple[Piece, str | None]:
    """Compute one piece and write it down here, so that it outlives whatever happens elsewhere."""
    started = time.perf_counter()
    try:
        # one thread in BLAS and OpenMP: the same sums everywhere, and no more threads than cores
        with threadpool_limits(limits=1) if limited else nullcontext():
            rows = experiment.work(**piece.settings)
    except Unavailable as reason:
        return piece, str(reason)
    folder.keep(experiment, piece, code, rows, time.perf_counter() - started)
    return piece, None
