"""How precise an estimate is in the end: without what is known of the errors of bins, and against the tolerance."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.defaults import TOLERANCE
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import warn
from shapley2d._methods.knn.bin_correction import correct_bins
from shapley2d._methods.knn.choices import most_sampled_exactly
from shapley2d.exceptions import PrecisionWarning, Setting

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.knn.split_game import SplitGame
    from shapley2d._methods.run import Run

SPREAD_SHARE = 1e-3
"""An error of this part of the spread of the values is never worth more work."""

# Errors of bins that are wanted at most, as a share of those of sampled coalitions: together they
# are 3 % larger.
_FORM_SHARE = 0.25


def corrected(
    estimate: Estimate, game: SplitGame, run: Run, tolerance: float = TOLERANCE
) -> Estimate:
    """The estimate without the errors of bins, as far as a sample of exact rankings knows them."""
    if not game.is_binned:
        return estimate
    sampled = estimate.stderr
    spread = float(np.ptp(estimate.values))
    wanted = max(SPREAD_SHARE * spread, _FORM_SHARE * float(estimate.stderr.max()))
    with reporting(run.progress, "ranking a sample exactly") as report:
        estimate = correct_bins(
            estimate,
            game.parts,
            [part.ranked() for part in game.parts],
            game.rows,
            game.column_weights(),
            run.seed,
            report,
            wanted=wanted,
            most=_most_coalitions(game, estimate.info["n_subsets"]),
        )
    if run.sums is not None and estimate.covariance is not None:
        left_over = np.diag(
            run.sums.squared(estimate.stderr**2 - sampled**2)
        )  # as if bins erred apart
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


def _most_coalitions(game: SplitGame, n_subsets: int) -> int:
    """Coalitions that may be ranked exactly without taking much of the time: on a GPU no more than at first."""
    if game.device is not None:
        return 0
    return most_sampled_exactly(game.n_valid, n_subsets, len(game.parts))


def left_for_sampling(game: SplitGame, tolerance: float) -> float:
    """The tolerance less what bins may have of it."""
    return tolerance / math.hypot(1.0, _FORM_SHARE) if game.is_binned else tolerance


def judged(
    estimate: Estimate, game: SplitGame, run: Run, n_subsets: int | None, tolerance: float
) -> Estimate:
    """The estimate without the errors of bins, and whether it is as precise as asked."""
    interrupted = estimate.info["interrupted"]
    estimate = corrected(estimate, game, run, tolerance if n_subsets is None else TOLERANCE)
    if game.is_binned and n_subsets is None and not interrupted:
        estimate = estimate.noting(converged=estimate.info["ratio"] <= tolerance)
    return estimate
