"""Values under the K-nearest-neighbour utility: the column axis exact or sampled."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import reporting
from shapley2d._base.streams import generator, seed_sequence
from shapley2d._base.warnings import warn
from shapley2d._estimation.checkpoint import check_place
from shapley2d._estimation.estimate import Estimate
from shapley2d._knn.columns.sampling import (
    DEFAULT_MAX_COALITIONS,
    FEW_PER_COLUMN,
    estimate_columns,
    few_coalitions,
    fits_store,
)
from shapley2d._methods.knn.backend import on_backend
from shapley2d._methods.knn.choices import (
    TYPICAL_COALITIONS,
    amount_of_work,
    fast_pays,
    is_small,
    refuse_all_subsets,
    refuse_wide,
    sampling_limit,
    takes_all_subsets,
)
from shapley2d._methods.knn.chunk_sums import ChunkSums
from shapley2d._methods.knn.judging import corrected, judged, left_for_sampling
from shapley2d._methods.knn.split_game import SplitGame
from shapley2d._methods.knn.split_means import mean_of_splits
from shapley2d._methods.knn.streamed import (
    LEAST_CHUNKS,
    MANY_CHUNKS,
    Streamed,
    check_points,
    may_sample_rows,
)
from shapley2d._methods.knn.valid_chunks import in_turn
from shapley2d.exceptions import InputError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.knn.pieces import Keeper
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def value_knn(
    problem: Problem,
    run: Run,
    *,
    n_neighbors: int,
    metric: str,
    subsets: str,
    n_subsets: int | None,
    tolerance: float,
    baseline: str,
    backend: str,
    form: str,
    valid_rows: str = "all",
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """Values under the K-nearest-neighbour utility, mean over the splits of the problem.

    Parameters
    ----------
    problem : Problem
    run : Run
    n_neighbors : int
        K, the number of neighbours that vote.
    metric : {"auto", "sqeuclidean"}
        See :mod:`shapley2d._knn.metric`.
    subsets : {"auto", "all", "sampled"}
        All column coalitions, a sample of them, or whichever is cheaper for the tolerance.
    n_subsets : int, optional
        Column coalitions to evaluate when sampled; without it they are doubled until ``tolerance``
        is met. With fewer than three to a column the result says that its intervals are not to be
        trusted (``info["caveat"]``), and a :class:`~shapley2d.exceptions.PrecisionWarning` does.
    tolerance : float
        Largest standard error that is good enough, relative to the spread of the values.
    baseline : {"labels", "zero"}
        What no columns are worth: a vote among all rows, which all tie, or 0.
    backend : {"auto", "cpu", "cuda"}
        Where to compute: on the processor, on a GPU, or on a GPU where there is one and the work
        pays for it (``info["backend"]``).
    form : {"auto", "exact", "fast"}
        Rank all rows exactly; or the near ones only, with far rows binned; or the fast form where
        there is enough to do for it to pay (``info["form"]`` says what was taken). What bins change
        is estimated from a sample of exact rankings, taken out as far as it is known, and part of
        all standard errors (``info["form_stderr"]``). ``info["metric_bound"]`` says how far off a
        value can be because distances are rounded: 0 where the numbers of all columns lie on grids.
    valid_rows : {"all", "auto"}
        All validation rows; or random ones of them, stratified by their labels, until the tolerance
        is met, with what the others would change in all standard errors (``info["n_valid_used"]``).
    checkpoint : path-like, optional
        Where to keep what is done, and to go on from, to the same bits.
    cluster : str or distributed.Client, optional
        A Dask cluster to work on; its workers have processors only.
    """
    refuse_wide(problem.table.n_columns)
    work = amount_of_work(problem, subsets, n_subsets, tolerance)

    def compute(device: Device | None) -> Estimate:
        small = device is None and is_small(work, form)
        game = SplitGame(
            problem, run, n_neighbors, metric, baseline, device, small=small, cluster=cluster
        )
        game.path, game.valid_rows = checkpoint, valid_rows
        return _value(game, run, subsets, n_subsets, tolerance, form)

    if checkpoint is not None:
        check_place(checkpoint)  # before anything long is done
    if cluster is None:
        return on_backend(backend, work, compute)
    if backend == "cuda":
        raise InputError(
            Setting("cluster"), " works on processors: leave ", Setting("backend", "cuda"), " out"
        )
    return compute(None)


def _value(
    game: SplitGame, run: Run, subsets: str, n_subsets: int | None, tolerance: float, form: str
) -> Estimate:
    """Values on one device."""
    refuse_all_subsets(subsets, game.n_columns)
    game.use_form(game.first_form if form == "auto" else form)
    if takes_all_subsets(subsets, game.n_columns, n_subsets, tolerance):
        return _exact_columns(game, run, form, tolerance=tolerance)
    if form == "auto":
        _choose_form(game, n_subsets or TYPICAL_COALITIONS)
    limit = sampling_limit(subsets, game.n_columns, n_subsets)
    can_fall_back = limit is not None
    keeper = game.keeper(run)
    if can_fall_back and keeper.has_chunks:  # an earlier run has sampled in vain
        return _exact_columns(game, run, form, keeper, tolerance)
    estimate = _some_columns(game, run, n_subsets, tolerance, limit, keeper)
    if estimate is None or (
        can_fall_back and not estimate.info["converged"] and not estimate.info["interrupted"]
    ):
        return _exact_columns(game, run, form, keeper, tolerance)
    if n_subsets is None or estimate.info["interrupted"]:
        run.warn_of_precision(estimate, tolerance, "n_subsets", estimate.info["n_subsets"])
    elif "caveat" in estimate.info:
        warn(
            PrecisionWarning(
                Setting("n_subsets", n_subsets),
                f" is few for {game.n_columns} columns: the values of columns that matter most come out too near to "
                "the others, and their 95 % intervals hold the truth less often than that; use ",
                Setting("n_subsets", FEW_PER_COLUMN * game.n_columns),
                " or more",
            )
        )
    return estimate


def _choose_form(game: SplitGame, n_subsets: int) -> None:
    """Take the fast form where it is another one, and pays for the sample that is ranked exactly.

    How much there is to do decides, not a clock: the same call has the same result on a machine
    that is busy.
    """
    if game.device is not None:
        return  # it was chosen by the number of rows
    pays = fast_pays(game.n_rows, game.n_valid, len(game.parts), n_subsets)
    form = "fast" if pays and game.is_large else "exact"
    if form != game.form:
        game.use_form(form)


def _some_columns(
    game: SplitGame,
    run: Run,
    n_subsets: int | None,
    tolerance: float,
    limit: int | None,
    keeper: Keeper,
) -> Estimate | None:
    """A sample of column coalitions, for all validation rows or for each chunk of them; None where all cost less."""
    given = (game, run, n_subsets, tolerance, limit, keeper)
    fits = fits_store(game.n_rows, game.n_columns, n_subsets)
    estimate: Estimate | None
    if not fits or not (keeper.has_lines or keeper.saved_plan is None):
        estimate = _streamed_columns(*given, all_rows_apart=fits)
    elif _samples_rows(game, tolerance) and not keeper.has_lines:
        estimate = _streamed_columns(*given, all_rows_apart=True)
    else:
        estimate = _sampled_columns(*given)
    grows = n_subsets is None and limit is None
    if grows and estimate is not None and _ran_out_of_store(game, estimate):
        estimate = _streamed_columns(*given, all_rows_apart=False)
    return estimate


def _ran_out_of_store(game: SplitGame, estimate: Estimate) -> bool:
    """Whether sampling ended because no more row values can be kept."""
    reached = estimate.info["n_subsets"]
    ended = not any(estimate.info[name] for name in ("converged", "interrupted"))
    more = reached < min(DEFAULT_MAX_COALITIONS - 1, 2**game.n_columns)
    return ended and bool(more) and "n_chunks" not in estimate.info


def _samples_rows(game: SplitGame, tolerance: float) -> bool:
    return may_sample_rows(game.valid_rows, tolerance, min(part.n_valid for part in game.parts))


def _exact_columns(
    game: SplitGame, run: Run, form: str, keeper: Keeper | None = None, tolerance: float = 0.0
) -> Estimate:
    """All column coalitions, validation rows streamed in chunks and in random order.

    Ctrl-C keeps the chunks that are done: the validation rows seen so far are a random sample of
    all, which gives the partial values their standard errors. So does the end of a run that need
    not use all of them.
    """
    m = game.n_columns
    if form == "auto":
        _choose_form(game, 2**m)
    keeper = keeper or game.keeper(run)
    sums = [
        ChunkSums(
            part.n_valid, (part.n_rows, m), None if run.sums is None else run.sums.take_rows(rows)
        )
        for part, rows in zip(game.parts, game.rows, strict=True)
    ]
    done, interrupted, enough = 0, False, False
    chunks, checks = _chunks(game, run.seed), set()
    if _samples_rows(game, tolerance):
        chunks = game.valid_chunks(
            lambda part: min(part.walk_rows(), -(-part.n_valid // MANY_CHUNKS))
        )
        checks = check_points(LEAST_CHUNKS * len(sums), len(chunks))

    def estimate_now(info: dict[str, Any]) -> Estimate:
        dof = float(min(part.chunks for part in sums) - 1) if done < game.n_valid else np.inf
        return mean_of_splits(
            sums, game.rows, (game.n_rows, m), info, dof=dof, further=run.sums is not None
        )

    with (
        reporting(run.progress, "exact KNN values") as report,
        closing(keeper.walk(game.parts, chunks, game.column_weights(), sums)) as walk,
    ):
        try:
            for count in walk:
                done = sum(chunk.size for _, chunk in chunks[:count])
                report(done / game.n_valid, f"{done:,} of {game.n_valid:,} validation rows")
                if count in checks:
                    now = estimate_now({})
                    enough = convergence_ratio(now.values, now.stderr, now.dof) <= tolerance
                if enough:
                    break
        except KeyboardInterrupt:
            if min(part.chunks for part in sums) < 2:
                raise
            interrupted = True
    info = {
        **game.info,
        "subsets": "all",
        "n_subsets": 2**m,
        "form": game.form,
        **game.bounds(),
        "n_valid_used": done,
        "interrupted": interrupted,
        "converged": not interrupted,
    }
    if keeper.resumed_at:
        info["resumed_at"] = keeper.resumed_at
    estimate = estimate_now(info)
    if done < game.n_valid:
        info["ratio"] = convergence_ratio(estimate.values, estimate.stderr, estimate.dof)
    estimate = corrected(estimate, game, run)
    run.warn_of_precision(estimate, 0.0)
    return estimate


def _chunks(game: SplitGame, seed: int) -> list[tuple[int, NDArray[np.intp]]]:
    """Chunks of validation rows, the splits in turn, so that a partial run covers all of them alike."""
    random = generator(seed, "validation chunks")
    parts = []
    for part in game.parts:
        size, order = part.walk_rows(), random.permutation(part.n_valid)
        parts.append([np.sort(order[start : start + size]) for start in range(0, order.size, size)])
    return in_turn(parts)


def _streamed_columns(
    game: SplitGame,
    run: Run,
    n_subsets: int | None,
    tolerance: float,
    limit: int | None,
    keeper: Keeper,
    *,
    all_rows_apart: bool,
) -> Estimate | None:
    """A sample of column coalitions for every chunk of validation rows; None where all coalitions cost less.

    Where all validation rows turn out to be needed, they may as well share their coalitions.
    """
    streamed = Streamed(
        game,
        run,
        keeper,
        n_subsets=n_subsets,
        tolerance=left_for_sampling(game, tolerance),
        most=limit,
        sample=_samples_rows(game, tolerance),
        all_rows_apart=all_rows_apart,
    )
    estimate = streamed.estimate()
    if streamed.takes_all_rows:
        return _sampled_columns(game, run, n_subsets, tolerance, limit, keeper)
    return None if estimate is None else judged(estimate, game, run, n_subsets, tolerance)


def _sampled_columns(
    game: SplitGame,
    run: Run,
    n_subsets: int | None,
    tolerance: float,
    limit: int | None,
    keeper: Keeper,
) -> Estimate:
    """A sample of column coalitions, with estimators A and B and their standard errors."""
    with reporting(run.progress, "sampled KNN values") as report:
        phi = game.values if keeper.is_plain else keeper.keep_lines(game.values, game.n_rows)
        try:
            result = estimate_columns(
                phi,
                game.n_columns,
                n_subsets=n_subsets,
                tolerance=left_for_sampling(game, tolerance),
                max_coalitions=limit,
                semivalue=game.column_semivalue,
                random_state=seed_sequence(run.seed, "column pairs"),
                progress=_column_progress(report, None if n_subsets else tolerance),
                sums=run.sums,
            )
        finally:
            keeper.save_lines()
    ratio = convergence_ratio(result.values, result.stderr, result.dof)
    info = {
        **game.info,
        "subsets": "sampled",
        "n_subsets": result.n_subsets,
        "estimator": result.estimator,
        "n_valid_used": game.n_valid,
        "form": game.form,
        **game.bounds(),
        "converged": result.converged,
        "interrupted": result.interrupted,
        "ratio": ratio,
    }
    if keeper.resumed_at:
        info["resumed_at"] = keeper.resumed_at
    if result.estimator != "all" and few_coalitions(result.n_subsets, game.n_columns):
        info["caveat"] = (
            f"{result.n_subsets} column coalitions are too few for {game.n_columns} columns to trust the intervals"
        )
    estimate = Estimate(
        result.values,
        result.stderr,
        result.row_stderr,
        result.column_stderr,
        info,
        list(result.history),
        result.covariance,
        dof=result.dof,
        total_stderr=result.total_stderr,
    )
    return judged(estimate, game, run, n_subsets, tolerance)


def _column_progress(
    report: Callable[[float, str], None], tolerance: float | None
) -> Callable[[int, int, float], None]:
    """Progress of a sampled column axis: towards the doubling that is likely to reach the tolerance.

    ``tolerance`` is None where the number of coalitions is fixed.
    """
    seen = {"ratio": np.inf, "done": 0}

    def update(done: int, planned: int, ratio: float) -> None:
        if tolerance is None:
            report(done / planned, f"{done:,} of {planned:,} column coalitions")
            return
        if not np.isfinite(ratio):
            report(0.0, f"{done:,} column coalitions")  # not known yet how many it takes
            return
        if ratio != seen["ratio"]:
            seen.update(ratio=ratio, done=done)
        needed = float(
            seen["done"]
        )  # the error falls about as fast as the coalitions grow, in doublings
        while needed < min(planned, seen["done"] * ratio / max(tolerance, 1e-9)):
            needed *= 2
        note = f"error {ratio:.3f} of the spread, wanted {tolerance:g}; {done:,} column coalitions"
        report(min(done / min(needed, planned), 1.0), note)

    return update
