"""Owners and blocks as sums: of cells that are valued by themselves, or of blocks that join.

What a cell is worth does not depend on who owns which cells, so that splitting, merging and
renaming owners changes nothing for the others. Errors that owners share are a few replicates of all
values, for any number of owners: a covariance matrix would be larger than the table.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.precision import interval_factor, without_rounding
from shapley2d._theory.sums import BlockSums

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._market.layout import BlockLayout


MAX_JOINT = 256
"""Owners, or blocks, up to which sampling errors are kept jointly; beyond, as if independent."""

MAX_ROW_SETS = 1024
"""Sets of rows up to which the errors of owners are kept jointly; memory grows with them."""


@dataclass(frozen=True, eq=False)
class JointErrors:
    """Errors of k values with covariance ``diag(variance) + spread.T @ spread``."""

    variance: Floats  # (k,): of errors that are independent between values
    spread: Floats  # (r, k): replicates of the errors that values share
    dof: float = math.inf  # degrees of freedom of both

    @classmethod
    def of(cls, covariance: Floats, dof: float = math.inf) -> JointErrors:
        """Errors with a covariance matrix."""
        k = len(covariance)
        if not np.isfinite(covariance).all():  # of a single draw
            return cls(np.diag(covariance).copy(), np.zeros((0, k)), dof)
        scale, directions = np.linalg.eigh(covariance)
        kept = scale > 0
        # either sign is an eigenvector: the one whose largest part is positive, on every machine
        largest = np.take_along_axis(directions, np.abs(directions).argmax(axis=0)[None], axis=0)
        spread = (directions * np.copysign(1.0, largest))[:, kept].T * np.sqrt(scale[kept])[:, None]
        return cls(np.zeros(k), np.ascontiguousarray(spread), dof)

    @classmethod
    def jackknife(cls, replicates: Floats) -> JointErrors:
        """Errors of values, from replicates (parts, values) with one part left out in each."""
        parts, k = replicates.shape
        off = (replicates - replicates.mean(axis=0)) * math.sqrt((parts - 1) / parts)
        stderr = without_rounding(np.sqrt((off**2).sum(axis=0)), np.abs(replicates[0]).sum())
        off[:, stderr == 0] = 0.0
        return cls(np.zeros(k), off, float(parts - 1))

    def __add__(self, other: JointErrors) -> JointErrors:
        return JointErrors(
            self.variance + other.variance,
            np.concatenate([self.spread, other.spread]),
            min(one.dof if one.variances.any() else math.inf for one in (self, other)),
        )

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JointErrors) and all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in ("variance", "spread", "dof")
        )

    @property
    def variances(self) -> Floats:
        """The variance of every value."""
        return np.asarray(self.variance + (self.spread**2).sum(axis=0))

    @property
    def stderr(self) -> Floats:
        """The standard error of every value."""
        return np.sqrt(self.variances)

    @property
    def reach(self) -> Floats:
        """Half the widths of the 95 % intervals."""
        return interval_factor(self.dof) * self.stderr

    def variance_of_sum(self) -> float:
        """The variance of the sum of all values."""
        return float(self.variance.sum() + (self.spread.sum(axis=1) ** 2).sum())

    def variance_of_differences(self, one: Ints, other: Ints) -> Floats:
        """The variances of differences of pairs of values, by their positions."""
        together = ((self.spread[:, one] - self.spread[:, other]) ** 2).sum(axis=0)
        return np.asarray(self.variance[one] + self.variance[other] + together)

    def take(self, kept: Bools | Ints | slice) -> JointErrors:
        """The errors of some of the values."""
        return JointErrors(self.variance[kept], self.spread[:, kept], self.dof)


@dataclass(frozen=True)
class Sums:
    """The payees, owners or blocks, and the blocks, as sums of what is valued."""

    rows: Ints  # the set of every valued row, and of every valued column
    columns: Ints
    payees: Floats  # (payees, row sets, column sets): the part of every block that each has
    owned: bool  # whether these are owners; blocks by themselves else

    @classmethod
    def of(cls, layout: BlockLayout, *, cells: bool) -> Sums:
        """Sums of owners, or of few blocks where there are none; of cells or of whole blocks."""
        grid, owned = layout.grid, layout.ownership
        by = grid.rows.labels, grid.columns.labels
        rows, columns = by if cells else (np.arange(size) for size in grid.shape)
        return cls(rows, columns, owned.shares if owned else _each(*grid.shape), owned is not None)

    @property
    def asked(self) -> BlockSums | None:
        """The sums whose joint sampling errors a method should keep: owners, then blocks."""
        weights = np.concatenate([self._payees_kept, _each(*self.payees.shape[1:])])
        return BlockSums(weights, self.rows, self.columns) if len(weights) else None

    @property
    def _payees_kept(self) -> Floats:
        few = len(self.payees) <= MAX_JOINT and self.payees.shape[1] <= MAX_ROW_SETS
        return self.payees if self.owned and few else self.payees[:0]

    def blocks(self, values: Floats) -> Floats:
        """The blocks of what is valued."""
        return BlockSums(self.payees[:0], self.rows, self.columns).blocks(values)

    def summed(self, estimate: Estimate, replicates: Floats | None) -> Summed:
        """Blocks and payees with their errors; replicates are blocks without a part of the rows."""
        _, n, m = self.payees.shape
        all_of_it = BlockSums(self.payees, self.rows, self.columns)
        kept = len(self._payees_kept)
        covariance, asked = estimate.covariance, self.asked
        if covariance is None:  # as if cells were independent
            covariance = np.diag([] if asked is None else asked.squared(estimate.stderr**2))
        inner = covariance[kept:, kept:]
        variances = all_of_it.blocks(estimate.stderr**2)  # as if cells were independent
        of_rows, of_columns = variances.sum(axis=1), variances.sum(axis=0)
        if len(inner):
            inner = inner.reshape(n, m, n, m)
            variances = np.einsum("ijij->ij", inner)
            of_rows, of_columns = np.einsum("ijik->i", inner), np.einsum("ijkj->j", inner)
        if estimate.stderr.any() and (kept or not self.owned):
            errors = JointErrors.of(covariance[: len(self.payees), : len(self.payees)])
        else:
            alone = all_of_it.squared(estimate.stderr**2)
            errors = JointErrors(alone, np.zeros((0, alone.size)))
        errors = replace(errors, dof=estimate.dof)
        blocks = replace(
            estimate,
            values=all_of_it.blocks_rounded_once(estimate.values),
            stderr=np.sqrt(np.maximum(variances, 0.0)),
            row_stderr=np.sqrt(np.maximum(of_rows, 0.0)),
            column_stderr=np.sqrt(np.maximum(of_columns, 0.0)),
            covariance=None,
        )
        payees = all_of_it.rounded_once(estimate.values) if self.owned else None
        if replicates is None:
            return Summed(blocks, payees, errors, None)
        of_payees = np.tensordot(replicates, self.payees, axes=([1, 2], [1, 2]))
        return Summed(blocks, payees, errors + JointErrors.jackknife(of_payees), replicates)


@dataclass(frozen=True)
class Summed:
    """Values of blocks and of owners, with their errors."""

    blocks: Estimate
    owners: Floats | None
    errors: JointErrors  # of the owners; of the blocks where there are none
    replicates: Floats | None  # of the blocks: (parts, row sets, column sets)

    def with_parts(self, stderr: Floats, *axes: int) -> Floats:
        """Sampling errors with the choice of validation rows, of blocks summed over some axes."""
        if self.replicates is None:
            return stderr
        found, values = self.replicates, self.blocks.values
        if axes:
            found = found.sum(axis=tuple(1 + axis for axis in axes))
        off = JointErrors.jackknife(found.reshape(len(found), -1)).variances.reshape(stderr.shape)
        return without_rounding(np.sqrt(stderr**2 + off), values)


def _each(n: int, m: int) -> Floats:
    """Every block by itself, where these are few."""
    return np.eye(n * m if n * m <= MAX_JOINT else 0, n * m).reshape(-1, n, m)
