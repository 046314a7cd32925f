"""Blocks and owners as sums of their cells, each of which is valued by itself.

What a cell is worth does not depend on who owns which cells, so that splitting, merging and
renaming owners changes nothing for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._theory.sums import BlockSums

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.grid import Grid
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

MAX_JOINT = 256
"""Owners, or blocks, up to which there is a covariance matrix of their errors.

Beyond, cells count as independent.
"""

MAX_ROW_SETS = 1024
"""Sets of rows up to which the errors of owners are kept jointly; memory grows with them."""


@dataclass(frozen=True)
class CellSums:
    """Values of the blocks, with the joint errors, and values of the owners."""

    blocks: Estimate
    owners: NDArray[np.float64] | None


def estimate_cell_sums(
    problem: Problem,
    run: Run,
    grid: Grid,
    shares: NDArray[np.float64] | None,
    method: Method,
    *,
    joint: bool = True,
) -> CellSums:
    """Values of blocks and of owners, from those of the cells.

    ``shares`` has each owner's part of every block: (owners, row sets, column sets). With
    ``joint`` the covariance of the estimate is that of the owners, or of the blocks where there are
    none.
    """
    n, m = grid.shape
    few = n * m <= MAX_JOINT
    blocks = np.eye(n * m).reshape(n * m, n, m) if few else np.zeros((0, n, m))
    owners = np.zeros((0, n, m)) if shares is None else shares
    kept = owners if joint and n <= MAX_ROW_SETS else owners[:0]
    sums = BlockSums(np.concatenate([kept, blocks]), grid.rows.labels, grid.columns.labels)
    estimate = method.solve(problem, replace(run, sums=sums if len(sums) else None))
    covariance = _covariance(estimate, sums)
    variances = sums.blocks(estimate.stderr**2)  # as if the errors of cells were independent
    inner = covariance[len(kept) :, len(kept) :].reshape(n, m, n, m) if few else None
    if inner is not None:
        variances = np.einsum("ijij->ij", inner)
    owned = BlockSums(owners, grid.rows.labels, grid.columns.labels)
    asked = covariance[: len(kept), : len(kept)] if shares is not None else covariance
    if joint and len(kept) < len(owned):  # too many sets of rows to keep errors jointly
        asked = np.diag(owned.squared(estimate.stderr**2))
    known = joint and estimate.stderr.any() and len(asked)
    return CellSums(
        replace(
            estimate,
            values=sums.blocks_rounded_once(estimate.values),
            stderr=_root(variances),
            row_stderr=_root(
                variances.sum(axis=1) if inner is None else np.einsum("ijik->i", inner)
            ),
            column_stderr=_root(
                variances.sum(axis=0) if inner is None else np.einsum("ijkj->j", inner)
            ),
            covariance=asked if known else None,
        ),
        None if shares is None else owned.rounded_once(estimate.values),
    )


def _covariance(estimate: Estimate, sums: BlockSums) -> NDArray[np.float64]:
    """Covariance of the errors of the sums; from independent cells where the method has none."""
    if estimate.covariance is not None:
        return estimate.covariance
    if not estimate.stderr.any():
        return np.zeros((len(sums), len(sums)))
    return np.diag(sums.squared(estimate.stderr**2))


def _root(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(variance, 0.0))
