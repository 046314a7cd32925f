"""Values under the K-nearest-neighbour utility: the column axis exact or sampled."""

from __future__ import annotations

import math
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.defaults import TOLERANCE
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
from shapley2d._knn.form import FEW_PAIRS, SAMPLE_COST, SMALL_WORK, SPREAD_SHARE
from shapley2d._knn.small import SMALL_GAME
from shapley2d._methods.knn.backend import on_backend
from shapley2d._methods.knn.bin_correction import SAMPLE, SAMPLE_ROWS, correct_bins
from shapley2d._methods.knn.chunk_sums import ChunkSums
from shapley2d._methods.knn.split_game import FEW_COLUMNS, SplitGame
from shapley2d._methods.knn.split_means import mean_of_splits
from shapley2d._methods.knn.streamed import LEAST_CHUNKS, MANY_CHUNKS, Streamed, check_points
from shapley2d.exceptions import InputError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.knn.pieces import Keeper
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

MAX_EXACT_COLUMNS = 24
"""Beyond here the exact column axis is refused: it would take 2^25 evaluations and more."""

MAX_SAMPLED_COLUMNS = 1024
"""Beyond here the sampled column axis is refused, too: its regressions take the third power of their number."""

# Errors of bins that are wanted at most, as a share of those of sampled coalitions: together they are 3 % larger.
_FORM_SHARE = 0.25

TYPICAL_COALITIONS = 512
"""What sampling to the default tolerance takes, give or take a doubling."""


def value_knn(
    problem: Problem,
    run: Run,
    *,
    n_neighbors: int,
    metric: str,
    columns: str,
    n_coalitions: int | None,
    tolerance: float,
    empty: str,
    backend: str,
    form: str,
    valid: str = "all",
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
    columns : {"auto", "exact", "sampled"}
        All column coalitions, a sample of them, or whichever is cheaper for the tolerance.
    n_coalitions : int, optional
        Column coalitions to evaluate when sampled; without it they are doubled until ``tolerance`` is met. With fewer
        than three to a column the result says that its intervals are not to be trusted (``info["caveat"]``), and a
        :class:`~shapley2d.exceptions.PrecisionWarning` does.
    tolerance : float
        Largest standard error that is good enough, relative to the spread of the values.
    empty : {"ties", "zero"}
        What no columns are worth: a vote among all rows, which all tie, or 0.
    backend : {"auto", "cpu", "cuda"}
        Where to compute: on the processor, on a GPU, or on a GPU where there is one and the work pays for it
        (``info["backend"]``).
    form : {"auto", "exact", "fast"}
        Rank all rows exactly; or the near ones only, with far rows binned; or the fast form where there is enough
        to do for it to pay (``info["form"]`` says what was taken). What bins change is estimated from a sample of
        exact rankings, taken out as far as it is known, and part of all standard errors (``info["form_stderr"]``).
        ``info["metric_bound"]`` says how far off a value can be because distances are rounded: 0 where the numbers
        of all columns lie on grids.
    valid : {"all", "auto"}
        All validation rows; or random ones of them, stratified by their labels, until the tolerance is met, with what
        the others would change in all standard errors (``info["n_valid_used"]``).
    checkpoint : path-like, optional
        Where to keep what is done, and to go on from, to the same bits.
    cluster : str or distributed.Client, optional
        A Dask cluster to work on; its workers have processors only.
    """
    refuse_wide(problem.table.n_columns)
    work = amount_of_work(problem, columns, n_coalitions, tolerance)

    def compute(device: Device | None) -> Estimate:
        small = device is None and is_small(work, form)
        game = SplitGame(problem, run, n_neighbors, metric, empty, device, small=small, cluster=cluster)
        game.path, game.valid = checkpoint, valid
        return _value(game, run, columns, n_coalitions, tolerance, form)

    if checkpoint is not None:
        check_place(checkpoint)  # before anything long is done
    if cluster is None:
        return on_backend(backend, work, compute)
    if backend == "cuda":
        raise InputError(
            Setting("cluster"), " works on processors: leave ", Setting("backend", "cuda"), " out"
        )
    return compute(None)


def amount_of_work(problem: Problem, columns: str, n_coalitions: int | None, tolerance: float) -> float:
    """About how many triples of row, validation row and column coalition there are to evaluate."""
    n_columns = problem.table.n_columns
    exact = columns == "exact" or (columns == "auto" and exact_is_cheaper(n_columns, n_coalitions, tolerance))
    evaluated = 2.0**n_columns if exact else float(n_coalitions or TYPICAL_COALITIONS)
    return evaluated * sum(float(split.train.n_rows) * split.valid.n_rows for split in problem.splits)


def is_small(work: float, form: str) -> bool:
    """Whether the kernels of small tables are done before those of large ones are compiled."""
    return form != "fast" and work <= SMALL_GAME


def _value(
    game: SplitGame, run: Run, columns: str, n_coalitions: int | None, tolerance: float, form: str
) -> Estimate:
    """Values on one device."""
    refuse_all_subsets(columns, game.n_columns)
    game.use_form(game.first_form if form == "auto" else form)
    if columns == "exact" or (
        columns == "auto" and exact_is_cheaper(game.n_columns, n_coalitions, tolerance)
    ):
        return _exact_columns(game, run, form, tolerance=tolerance)
    if form == "auto":
        _choose_form(game, n_coalitions or TYPICAL_COALITIONS)
    limit = sampling_limit(columns, game.n_columns, n_coalitions)
    can_fall_back = limit is not None
    keeper = game.keeper(run)
    if can_fall_back and keeper.has_chunks:  # an earlier run has sampled in vain
        return _exact_columns(game, run, form, keeper, tolerance)
    estimate = _some_columns(game, run, n_coalitions, tolerance, limit, keeper)
    if estimate is None or (
        can_fall_back and not estimate.info["converged"] and not estimate.info["interrupted"]
    ):
        return _exact_columns(game, run, form, keeper, tolerance)
    if n_coalitions is None or estimate.info["interrupted"]:
        run.warn_of_precision(estimate, tolerance, "n_coalitions", estimate.info["n_coalitions"])
    elif "caveat" in estimate.info:
        warn(
            PrecisionWarning(
                Setting("n_coalitions", n_coalitions),
                f" is few for {game.n_columns} columns: the values of columns that matter most come out too near to "
                "the others, and their 95 % intervals hold the truth less often than that; use ",
                Setting("n_coalitions", FEW_PER_COLUMN * game.n_columns),
                " or more",
            )
        )
    return estimate


def sampling_limit(columns: str, n_columns: int, n_coalitions: int | None) -> int | None:
    """Where sampling ends and all subsets are evaluated instead; None where they never are."""
    may_fall_back = columns == "auto" and n_coalitions is None and n_columns <= MAX_EXACT_COLUMNS
    return 2 ** (n_columns - 2) if may_fall_back else None


def refuse_all_subsets(columns: str, n_columns: int) -> None:
    """Refuse all subsets of more columns than anyone can wait for."""
    if columns == "exact" and n_columns > MAX_EXACT_COLUMNS:
        raise InputError(
            Setting("columns", "exact"),
            f" needs 2^{n_columns} column coalitions for {n_columns} columns: use ",
            Setting("columns", "sampled"),
        )


def refuse_wide(n_columns: int) -> None:
    """Refuse, before anything long is done, more columns than the regression over coalitions of them can take."""
    if n_columns > MAX_SAMPLED_COLUMNS:
        raise InputError(
            f"{n_columns:,} columns are more than the {MAX_SAMPLED_COLUMNS:,} that ",
            Setting("method", "knn"),
            " can take: use ",
            Setting("method", "mc"),
            " with ",
            Setting("model", "knn"),
            ", value groups of columns as blocks, or drop columns",
        )


def _choose_form(game: SplitGame, n_coalitions: int) -> None:
    """Take the fast form where it is another one, and pays for the sample that is ranked exactly.

    How much there is to do decides, not a clock: the same call has the same result on a machine that is busy.
    """
    if game.device is not None:
        return  # it was chosen by the number of rows
    pays = fast_pays(game.n_rows, game.n_valid, len(game.parts), n_coalitions)
    form = "fast" if pays and game.is_large else "exact"
    if form != game.form:
        game.use_form(form)


def fast_pays(n_rows: int, n_valid: int, n_splits: int, n_coalitions: int) -> bool:
    """Whether there is enough to do for the fast form to pay for the sample that is ranked exactly."""
    pairs = float(n_valid) * n_coalitions
    return pairs >= FEW_PAIRS * SAMPLE * SAMPLE_ROWS * n_splits and n_rows * pairs >= SMALL_WORK


def exact_is_cheaper(n_columns: int, n_coalitions: int | None, tolerance: float) -> bool:
    """Whether all column coalitions are evaluated without asking whether a sample would do."""
    if n_coalitions is not None:
        return bool(2**n_columns <= n_coalitions)
    return n_columns <= FEW_COLUMNS or (tolerance == 0 and n_columns <= MAX_EXACT_COLUMNS)


def _some_columns(
    game: SplitGame, run: Run, n_coalitions: int | None, tolerance: float, limit: int | None, keeper: Keeper
) -> Estimate | None:
    """A sample of column coalitions, for all validation rows or for each chunk of them; None where all cost less."""
    given = (game, run, n_coalitions, tolerance, limit, keeper)
    fits = fits_store(game.n_rows, game.n_columns, n_coalitions)
    estimate: Estimate | None
    if not fits or not (keeper.has_lines or keeper.saved_plan is None):
        estimate = _streamed_columns(*given, all_rows_apart=fits)
    elif _samples_rows(game, tolerance) and not keeper.has_lines:
        estimate = _streamed_columns(*given, all_rows_apart=True)
    else:
        estimate = _sampled_columns(*given)
    grows = n_coalitions is None and limit is None
    if grows and estimate is not None and _ran_out_of_store(game, estimate):
        estimate = _streamed_columns(*given, all_rows_apart=False)
    return estimate


def _ran_out_of_store(game: SplitGame, estimate: Estimate) -> bool:
    """Whether sampling ended because no more row values can be kept."""
    reached = estimate.info["n_coalitions"]
    ended = not any(estimate.info[name] for name in ("converged", "interrupted"))
    more = reached < min(DEFAULT_MAX_COALITIONS - 1, 2**game.n_columns)
    return ended and bool(more) and "n_chunks" not in estimate.info


def _samples_rows(game: SplitGame, tolerance: float) -> bool:
    return may_sample_rows(game.valid, tolerance, min(part.n_valid for part in game.parts))


def may_sample_rows(valid: str, tolerance: float, n_valid: int) -> bool:
    """Whether a run may end before all validation rows were used, the smallest split having so many of them."""
    return valid == "auto" and tolerance > 0 and n_valid >= 2 * LEAST_CHUNKS


def _exact_columns(
    game: SplitGame, run: Run, form: str, keeper: Keeper | None = None, tolerance: float = 0.0
) -> Estimate:
    """All column coalitions, validation rows streamed in chunks and in random order.

    Ctrl-C keeps the chunks that are done: the validation rows seen so far are a random sample of all, which gives
    the partial values their standard errors. So does the end of a run that need not use all of them.
    """
    m = game.n_columns
    if form == "auto":
        _choose_form(game, 2**m)
    keeper = keeper or game.keeper(run)
    sums = [
        ChunkSums(part.n_valid, (part.n_rows, m), None if run.sums is None else run.sums.take_rows(rows))
        for part, rows in zip(game.parts, game.rows, strict=True)
    ]
    done, interrupted, enough = 0, False, False
    chunks, checks = _chunks(game, run.seed), set()
    if _samples_rows(game, tolerance):
        chunks = game.valid_chunks(lambda part: min(part.walk_rows(), -(-part.n_valid // MANY_CHUNKS)))
        checks = check_points(LEAST_CHUNKS * len(sums), len(chunks))

    def estimate_now(info: dict[str, Any]) -> Estimate:
        dof = float(min(part.chunks for part in sums) - 1) if done < game.n_valid else np.inf
        return mean_of_splits(sums, game.rows, (game.n_rows, m), info, dof=dof, further=run.sums is not None)

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
        "columns": "exact",
        "n_coalitions": 2**m,
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
    estimate = _corrected(estimate, game, run)
    run.warn_of_precision(estimate, 0.0)
    return estimate


def _corrected(estimate: Estimate, game: SplitGame, run: Run, tolerance: float = TOLERANCE) -> Estimate:
    """The estimate without the errors of bins, as far as a sample of exact rankings knows them."""
    if not game.is_binned:
        return estimate
    sampled = estimate.stderr**2
    spread = float(np.ptp(estimate.values))
    wanted = max(SPREAD_SHARE * spread, _FORM_SHARE * float(estimate.stderr.max()))
    with reporting(run.progress, "ranking a sample exactly") as report:
        estimate = correct_bins(
            estimate,
            game.parts,
            game.make_parts("exact"),
            game.rows,
            game.column_weights(),
            run.seed,
            report,
            wanted=wanted,
            most=_most_coalitions(game, estimate.info["n_coalitions"]),
        )
    if run.sums is not None and estimate.covariance is not None:
        left_over = np.diag(run.sums.squared(estimate.stderr**2 - sampled))  # as if bins erred apart
        estimate = replace(estimate, covariance=estimate.covariance + left_over)
    left, spread = estimate.info["form_stderr"], float(np.ptp(estimate.values))
    if left > max(tolerance, SPREAD_SHARE) * spread:
        warn(
            PrecisionWarning(
                f"bins leave a standard error of up to {left / max(spread, 1e-300):.3g} of the spread of the values, "
                "more than wanted: use ",
                Setting("form", "exact"),
                *([] if game.device is None else [" or ", Setting("backend", "cpu")]),
            )
        )
    return estimate


def _most_coalitions(game: SplitGame, n_coalitions: int) -> int:
    """Coalitions that may be ranked exactly without taking much of the time: on a GPU no more than at first."""
    if game.device is not None:
        return 0
    return most_sampled_exactly(game.n_valid, n_coalitions, len(game.parts))


def most_sampled_exactly(n_valid: int, n_coalitions: int, n_splits: int) -> int:
    """The same, by what there is to do."""
    return int(n_valid * n_coalitions / (SAMPLE_COST * SAMPLE_ROWS * n_splits))


def _chunks(game: SplitGame, seed: int) -> list[tuple[int, NDArray[np.intp]]]:
    """Chunks of validation rows, the splits in turn, so that a partial run covers all of them alike."""
    random = generator(seed, "validation chunks")
    chunks = []
    for k, part in enumerate(game.parts):
        size = part.walk_rows()
        order = random.permutation(part.n_valid)
        chunks += [
            (start // size, k, np.sort(order[start : start + size])) for start in range(0, order.size, size)
        ]
    return [(k, chunk) for _, k, chunk in sorted(chunks, key=lambda entry: entry[:2])]


def _streamed_columns(
    game: SplitGame,
    run: Run,
    n_coalitions: int | None,
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
        n_coalitions=n_coalitions,
        tolerance=_left_for_sampling(game, tolerance),
        most=limit,
        sample=_samples_rows(game, tolerance),
        all_rows_apart=all_rows_apart,
    )
    estimate = streamed.estimate()
    if streamed.takes_all_rows:
        return _sampled_columns(game, run, n_coalitions, tolerance, limit, keeper)
    return None if estimate is None else _judged(estimate, game, run, n_coalitions, tolerance)


def _left_for_sampling(game: SplitGame, tolerance: float) -> float:
    """The tolerance less what bins may have of it."""
    return tolerance / math.hypot(1.0, _FORM_SHARE) if game.is_binned else tolerance


def _judged(
    estimate: Estimate, game: SplitGame, run: Run, n_coalitions: int | None, tolerance: float
) -> Estimate:
    """The estimate without the errors of bins, and whether it is as precise as asked."""
    interrupted = estimate.info["interrupted"]
    estimate = _corrected(estimate, game, run, tolerance if n_coalitions is None else TOLERANCE)
    if game.is_binned and n_coalitions is None and not interrupted:
        estimate = estimate.noting(converged=estimate.info["ratio"] <= tolerance)
    return estimate


def _sampled_columns(
    game: SplitGame,
    run: Run,
    n_coalitions: int | None,
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
                n_coalitions=n_coalitions,
                tolerance=_left_for_sampling(game, tolerance),
                max_coalitions=limit,
                semivalue=game.column_semivalue,
                random_state=seed_sequence(run.seed, "column pairs"),
                progress=_column_progress(report, None if n_coalitions else tolerance),
                sums=run.sums,
            )
        finally:
            keeper.save_lines()
    ratio = convergence_ratio(result.values, result.stderr, result.dof)
    info = {
        **game.info,
        "columns": "sampled",
        "n_coalitions": result.n_coalitions,
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
    if result.estimator != "all" and few_coalitions(result.n_coalitions, game.n_columns):
        info["caveat"] = (
            f"{result.n_coalitions} column coalitions are too few for {game.n_columns} columns to trust the intervals"
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
    return _judged(estimate, game, run, n_coalitions, tolerance)


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
        needed = float(seen["done"])  # the error falls about as fast as the coalitions grow, in doublings
        while needed < min(planned, seen["done"] * ratio / max(tolerance, 1e-9)):
            needed *= 2
        note = f"error {ratio:.3f} of the spread, wanted {tolerance:g}; {done:,} column coalitions"
        report(min(done / min(needed, planned), 1.0), note)

    return update
