"""Blocks and owners as sums of their cells, each of which is valued by itself.

What a cell is worth does not depend on who owns which cells, so that splitting, merging and
renaming owners changes nothing for the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._methods.models import is_knn
from shapley2d._methods.registry import METHODS
from shapley2d._theory.sums import BlockSums
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods.run import Run
    from shapley2d._ownership.grid import Grid
    from shapley2d._tables.problem import Problem

MAX_BLOCKS = 256
"""Up to so many blocks their errors are kept jointly; beyond, those of their cells count as independent."""

MAX_ROW_GROUPS = 1024
"""Up to so many groups of rows the errors of owners are kept jointly."""


@dataclass(frozen=True)
class CellSums:
    """Values of the blocks as an estimate, the owners' values, and how the cells' errors add up."""

    blocks: Estimate
    owners: NDArray[np.float64] | None


def cell_methods() -> tuple[str, ...]:
    """Names of the methods of blocks whose players are cells."""
    return ("auto", *METHODS)


def complete_cell_options(method: Any, given: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method of cells that a name stands for, and all of its options, those given checked.

    ``"auto"`` is nearest neighbours, or Monte Carlo where another model is given. What groups of
    nearest neighbours call ``model="knn"``, cells know as ``method="knn"``.

    Examples
    --------
    >>> complete_cell_options("auto", {"n_neighbors": 3})[0], complete_cell_options("auto", {"model": "ridge"})[0]
    ('knn', 'mc')
    """
    check_choice(method, "method", cell_methods())
    model = given.get("model")
    near = model is None or is_knn(model)
    if method == "auto":
        method = "knn" if near else "mc"
    if method == "knn":
        if not near:
            raise InputError(
                Setting("method", "knn"),
                " takes no model: use ",
                Setting("method", "auto"),
                " with a model",
            )
        given = {name: value for name, value in given.items() if name != "model"}
    return method, METHODS[method].complete(given)


def estimate_cell_sums(
    problem: Problem,
    run: Run,
    grid: Grid,
    shares: NDArray[np.float64] | None,
    *,
    method: str,
    options: dict[str, Any],
    joint: bool = True,
) -> CellSums:
    """Values of blocks and of owners, from those of the cells.

    Parameters
    ----------
    problem : Problem
    run : Run
    grid : Grid
        The groups of rows and of columns.
    shares : ndarray of shape (owners, row groups, column groups) or None
        Part of every block that an owner has; None where no one owns anything.
    method : str
        Of cells.
    options : dict
        All of them, see :func:`complete_cell_options`.
    joint : bool
        Whether the joint errors of the owners, or of the blocks where there are none, are wanted:
        the covariance of the estimate that is returned.
    """
    n, m = grid.shape
    few = n * m <= MAX_BLOCKS
    blocks = np.eye(n * m).reshape(n * m, n, m) if few else np.zeros((0, n, m))
    owners = np.zeros((0, n, m)) if shares is None else shares
    kept = owners if joint and n <= MAX_ROW_GROUPS else owners[:0]
    sums = BlockSums(np.concatenate([kept, blocks]), grid.rows.labels, grid.columns.labels)
    estimate = METHODS[method].solve(
        problem, replace(run, sums=sums if len(sums) else None), **options
    )
    covariance = _covariance(estimate, sums)
    variances = sums.blocks(estimate.stderr**2)  # as if the errors of cells had nothing in common
    inner = covariance[len(kept) :, len(kept) :].reshape(n, m, n, m) if few else None
    if inner is not None:
        variances = np.einsum("ijij->ij", inner)
    asked = covariance[: len(kept), : len(kept)] if shares is not None else covariance
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
        None
        if shares is None
        else BlockSums(shares, grid.rows.labels, grid.columns.labels).rounded_once(estimate.values),
    )


def _covariance(estimate: Estimate, sums: BlockSums) -> NDArray[np.float64]:
    """Of the errors of the sums; where the method does not know, as if the errors of cells had nothing in common."""
    if estimate.covariance is not None:
        return estimate.covariance
    if not estimate.stderr.any():
        return np.zeros((len(sums), len(sums)))
    return np.diag(sums.squared(estimate.stderr**2))


def _root(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.maximum(variance, 0.0))
