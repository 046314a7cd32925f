"""The value of the blocks of a table, of their owners, and what to pay them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (dataclasses and their readers resolve it)

from shapley2d._base.precision import interval_factor
from shapley2d._base.warnings import warn
from shapley2d._base.words import plural, printable
from shapley2d._ownership.owners import UNOWNED
from shapley2d._ownership.payments import (
    divide_total,
    payment_intervals,
    settle_rule,
    uncertain_pairs,
)
from shapley2d._results.audit import Audit
from shapley2d._results.valuation import Valuation
from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError, PrecisionWarning


@dataclass(frozen=True, repr=False, eq=False)
class BlockValuation(Valuation):
    """The value of every block of row groups x column groups, and of the owners of the blocks.

    A :class:`~shapley2d.Valuation` whose rows are row groups and whose columns are column groups,
    with these attributes besides.

    Attributes
    ----------
    row_sizes, column_sizes : ndarray of int
        Rows in every row group, columns in every column group.
    owner_names : list of str
        The owners, ``"(unowned)"`` last where a block has none; empty without owners: then every
        block counts by itself.
    owner_shares : ndarray of shape (owners, row groups, column groups) or None
        Part of every block that each owner has.
    owner_values : ndarray of shape (owners,) or None
        The sums of the owners' cells; None where an owner's value is the sum of its blocks.
    covariance : ndarray or None
        Of the errors of the owners' (or blocks') values; None where they are exact, or where there
        are more than 256 of them.
    covariance_dof : float
        Its degrees of freedom, which few groups of validation rows limit.

    Examples
    --------
    >>> import numpy as np
    >>> values, names = np.array([[0.5, 0.25]]), ["bank", "shop"]
    >>> v = BlockValuation(values, np.zeros((1, 2)), np.array(["all"]), names)
    >>> v.payments(100).values.tolist()
    [['all / bank', 0.5, 66.67, 66.67, 66.67], ['all / shop', 0.25, 33.33, 33.33, 33.33]]
    """

    kind: ClassVar[str] = "blocks"

    row_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    column_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    owner_names: list[str] = field(default_factory=list)
    owner_shares: NDArray[np.float64] | None = None
    covariance: NDArray[np.float64] | None = None
    covariance_dof: float = math.inf
    owner_values: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for axis, name in enumerate(("row_sizes", "column_sizes")):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.ones(self.values.shape[axis], dtype=np.intp))

    @cached_property
    def _owner_names(self) -> list[str]:
        """One name per owner, or per block where there are no owners."""
        if self.owner_shares is not None:
            return self.owner_names
        return [f"{row} / {column}" for row in self.row_names for column in self.column_names]

    @cached_property
    def _owner_values(self) -> NDArray[np.float64]:
        if self.owner_values is not None:
            return self.owner_values
        if self.owner_shares is None:
            return self.values.ravel()
        return np.asarray(np.tensordot(self.owner_shares, self.values, axes=2))

    @cached_property
    def _owner_covariance(self) -> NDArray[np.float64]:
        if self.covariance is not None:
            return self.covariance
        variance = self.stderr**2
        if self.owner_shares is None:
            return np.diag(variance.ravel())
        return np.diag(np.tensordot(self.owner_shares**2, variance, axes=2))

    @property
    def _owner_dof(self) -> float:
        return self.dof if self.covariance is None else self.covariance_dof

    @property
    def owner_interval_factor(self) -> float:
        """Half the width of a 95 % interval of an owner's value, in its standard errors."""
        return interval_factor(self._owner_dof)

    @property
    def owners(self) -> Any:
        """Every owner's value: a frame of ``owner``, ``value``, ``stderr`` and ``n_cells``.

        ``n_cells`` counts cells of the table; a cell with several owners counts in parts.
        """
        cells = np.outer(self.row_sizes, self.column_sizes).astype(np.float64)
        shares = self.owner_shares
        counts = cells.ravel() if shares is None else np.tensordot(shares, cells, axes=2)
        columns = {
            "owner": self._owner_names,
            "value": self._owner_values,
            "stderr": np.sqrt(np.diag(self._owner_covariance)),
            "n_cells": counts,
        }
        return make_frame(columns, self.frame)

    def payments(self, total: Any, negative: str | None = None, digits: int = 2) -> Any:
        """Divide an amount among the owners, or among the blocks, in proportion to their values.

        Parameters
        ----------
        total : number
            The amount; it is divided without a remainder.
        negative : {"zero", "owe"}, optional
            Owners of negative value receive nothing and the rest is rescaled, or they owe their
            share. By default they owe where an owner is worth the sum of its cells
            (``players="cells"``): then nobody gains by splitting into several. With ``"zero"`` an
            owner gains by moving harmful rows into a shell.
        digits : int
            Decimals of the amounts: 2 for cents.

        Returns
        -------
        frame
            ``owner``, ``value``, ``amount``, and ``low`` and ``high``, a 95 % interval of the
            amount from the standard errors of the values, by simulation. Blocks without an owner
            form the entry ``"(unowned)"``, which receives nothing. A warning names owners who are
            paid although the interval of their value holds 0.
        """
        names, values = self._owner_names, self._owner_values
        negative = settle_rule(negative, self.info.get("players") if self.owner_names else None)
        paid = np.array([name != UNOWNED for name in names])
        if not paid.any():
            raise InputError("no block has an owner: there is nobody to pay")
        amounts, low, high = np.zeros((3, len(names)))
        owned = values[paid]
        amounts[paid] = divide_total(total, owned.tolist(), negative=negative, digits=digits)
        joint = self._owner_covariance[np.ix_(paid, paid)]
        low[paid], high[paid] = payment_intervals(
            total, owned, joint, negative=negative, digits=digits, dof=self._owner_dof
        )
        self._warn_of_chance(paid & (amounts > 0))
        columns = {"owner": names, "value": values, "amount": amounts, "low": low, "high": high}
        return make_frame(columns, self.frame)

    def _warn_of_chance(self, paid: NDArray[np.bool_]) -> None:
        """Warn of owners who are paid although their value may be 0."""
        half = self.owner_interval_factor * np.sqrt(np.diag(self._owner_covariance))
        unsure = [
            self._owner_names[k]
            for k in np.flatnonzero(paid & (half > 0) & (self._owner_values <= half))
        ]
        if unsure:
            count = len(unsure)
            named = ", ".join(repr(name) for name in unsure[:3])
            more = f" and {count - 3} more" if count > 3 else ""
            interval = plural(count, "the 95 % interval", "the 95 % intervals")
            effect = plural(count, "holds 0: its payment", "hold 0: their payments")
            warn(
                PrecisionWarning(f"{interval} of {named}{more} {effect} may be due to chance alone")
            )

    def uncertain_orders(self) -> Any:
        """Pairs of owners (or blocks) whose order is not certain.

        Returns
        -------
        frame
            ``owner`` (the higher estimate), ``other``, their ``difference``, and ``low`` and
            ``high``, its 95 % interval, which holds 0. Empty when every order is certain.
        """
        higher, lower, difference, stderr = uncertain_pairs(
            self._owner_values, self._owner_covariance, self._owner_dof
        )
        names = np.array(self._owner_names, dtype=object)
        half = self.owner_interval_factor * stderr
        columns = {
            "owner": names[higher],
            "other": names[lower],
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
        }
        return make_frame(columns, self.frame)

    def audit(self) -> Audit:
        """The audit that this valuation came with, from :func:`~shapley2d.audit_owners`.

        An audit needs the tables, which a valuation does not keep.
        """
        if "audit" not in self.info:
            raise InputError(
                "these values come without an audit, which needs the tables: call audit_owners "
                "with the arguments of value_blocks"
            )
        return Audit.from_dict(self.info["audit"], self.frame)

    def __repr__(self) -> str:
        n, m = self.shape
        work = self.info.get("n_utilities")
        utilities = "" if work is None else f" ({work:,} utilities)"
        headline = (
            f"BlockValuation of {n} row groups x {m} column groups ({self.row_sizes.sum()} rows x "
            f"{self.column_sizes.sum()} columns), "
            f"method {self.info.get('method', 'unknown')}{utilities}, {self.describe()}"
        )
        lines = [headline, f"  {'total':<24} {self.total:+.5g}"]
        errors = np.sqrt(np.diag(self._owner_covariance))
        order = np.argsort(-self._owner_values, kind="stable")
        for k in order[:12]:
            error = f" +- {self.owner_interval_factor * errors[k]:.2g}" if errors[k] else ""
            lines.append(
                f"  {printable(self._owner_names[k]):<24} {self._owner_values[k]:+.4g}{error}"
            )
        if order.size > 12:
            lines.append(f"  and {order.size - 12} more")
        higher, lower, _, _ = uncertain_pairs(
            self._owner_values, self._owner_covariance, self._owner_dof
        )
        if higher.size:
            pairs = [
                printable(f"{self._owner_names[a]} / {self._owner_names[b]}")
                for a, b in zip(higher, lower, strict=True)
            ]
            more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
            lines.append(f"  order not certain: {'; '.join(pairs[:3])}{more}")
        return "\n".join(lines)
