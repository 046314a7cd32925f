"""The value of the blocks of a table, of their owners, and what to pay them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (dataclasses and their readers resolve it)

from shapley2d._base.checks import check_flag
from shapley2d._base.precision import interval_factor
from shapley2d._base.warnings import warn
from shapley2d._base.words import counted, plural, printable
from shapley2d._ownership.errors import JointErrors
from shapley2d._ownership.owners import UNOWNED
from shapley2d._ownership.payments import (
    UNTRUSTED,
    divide_total,
    payment_intervals,
    settle_rule,
    uncertain_pairs,
)
from shapley2d._results.audit import Audit
from shapley2d._results.receipt import Receipt, make_receipt
from shapley2d._results.units import Units, score_words
from shapley2d._results.valuation import Valuation
from shapley2d._tables.frames import make_frame
from shapley2d.exceptions import InputError, InputWarning, PrecisionWarning

if TYPE_CHECKING:
    import os

_SHOWN = 12  # owners in the printed summary


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
        The owners, then ``"(escrow)"`` where pay is withheld, and ``"(unowned)"`` last where a
        block has none; empty without owners: then every block counts by itself.
    owner_shares : ndarray of shape (owners, row groups, column groups) or None
        Part of every block that each owner has.
    owner_values : ndarray of shape (owners,) or None
        The sums of the owners' cells; None where an owner's value is the sum of its blocks.
    covariance : ndarray or None
        Of the errors of the owners' (or blocks') values; None where they are exact, or where there
        are more than 256 of them.
    spread : ndarray of shape (validation groups, owners) or None
        Of more than 256 owners: what other validation rows would change. ``spread.T @ spread`` is
        the covariance of that.
    covariance_dof : float
        Degrees of freedom of either, which few groups of validation rows limit.

    Examples
    --------
    >>> import numpy as np
    >>> values, names = np.array([[0.5, 0.25]]), ["bank", "shop"]
    >>> v = BlockValuation(values, np.zeros((1, 2)), np.array(["all"]), names)
    >>> v.payments(100)[["owner", "amount"]].values.tolist()
    [['bank', 66.67], ['shop', 33.33]]
    """

    kind: ClassVar[str] = "blocks"

    row_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    column_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    owner_names: list[str] = field(default_factory=list)
    owner_shares: NDArray[np.float64] | None = None
    covariance: NDArray[np.float64] | None = None
    covariance_dof: float = math.inf
    owner_values: NDArray[np.float64] | None = None
    spread: NDArray[np.float64] | None = None

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
        rows, columns = [str(row) for row in self.row_names], self.column_names
        if len(columns) == 1:
            return rows
        if len(rows) == 1:
            return columns
        return [f"{row} / {column}" for row in rows for column in columns]

    @cached_property
    def _owner_values(self) -> NDArray[np.float64]:
        if self.owner_values is not None:
            return self.owner_values
        if self.owner_shares is None:
            return self.values.ravel()
        return np.asarray(np.tensordot(self.owner_shares, self.values, axes=2))

    @cached_property
    def _owner_errors(self) -> JointErrors:
        """Errors of the owners' values, or of the blocks' where there are no owners."""
        if self.covariance is not None:
            return JointErrors.of(self.covariance)
        variance = self.stderr**2
        if self.owner_shares is None:
            return JointErrors.shared(variance.ravel())
        alone = np.tensordot(self.owner_shares**2, variance, axes=2)
        return JointErrors.shared(np.asarray(alone), self.spread)

    @property
    def has_intervals(self) -> bool:
        """Whether anything is known about the errors of the owners' values.

        Exact values of given tables have none; what other validation rows would change is another
        question, which only ``validation_groups`` answers.
        """
        return bool(self._owner_errors.variances.any())

    @property
    def _owner_dof(self) -> float:
        shared = self.covariance is not None or self.spread is not None
        return self.covariance_dof if shared else self.dof

    @property
    def owner_interval_factor(self) -> float:
        """Half the width of a 95 % interval of an owner's value, in its standard errors."""
        return interval_factor(self._owner_dof)

    @property
    def owners(self) -> Any:
        """Every owner's value: a frame of ``owner``, ``value``, ``stderr`` and ``n_cells``.

        ``n_cells`` counts cells of the table; a cell with several owners counts in parts.
        """
        return make_frame(self.owner_table(), self.frame)

    def payments(
        self, total: Any, negative: str | None = None, digits: int = 2, *, trusted: bool = False
    ) -> Any:
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
        trusted : bool
            Whether every owner's rows are trusted as a test of the others'. Without a validation
            table they are that test, and payments are refused unless you say so: rows that an
            owner invents vouch for each other.

        Returns
        -------
        frame
            ``owner``, ``value``, ``amount``, and ``low`` and ``high``, a 95 % interval of the
            amount from the standard errors of the values, by simulation; NaN where no error is
            known (``info["intervals"]``; ``validation_groups`` tells it). Where an owner owes,
            ``if_unpaid`` is what each would be paid if all debts stayed unpaid, and ``collateral``
            what each should deposit before the values are known, so that not paying gains nothing:
            what it owes at the low end of its interval. Blocks without an owner form the entry
            ``"(unowned)"``, which receives nothing; the entry ``"(escrow)"`` has what is withheld
            of shared cells, or what their owners owe. Warnings name owners who are paid, or owe,
            although the interval of their value holds 0, and debts that others' payments depend on.
        """
        columns, _ = self.divided(total, negative, digits, trusted=trusted)
        if not self.has_intervals:
            columns |= dict.fromkeys(("low", "high"), np.full(len(self._owner_names), np.nan))
        self._warn_of_chance(columns["amount"])
        if "if_unpaid" in columns:
            self._warn_of_debts(columns["amount"], digits)
        return make_frame(columns, self.frame)

    def receipt(
        self,
        total: Any = None,
        negative: str | None = None,
        digits: int = 2,
        *,
        trusted: bool = False,
        key: str | os.PathLike[str] | None = None,
    ) -> Receipt:
        """What was paid and why, in a form that anyone can check.

        It holds SHA-256 digests of every owner's block, of the table, the validation rows and who
        owns what; the settings, the seed and the versions; the values; and the payments with their
        intervals. It holds no entry of a table. ``save`` writes it to a file;
        ``Receipt.load`` refuses one in which anything does not fit; ``check_block`` lets an owner
        check its own block; and :func:`~shapley2d.verify_receipt` computes it again from the data.

        Parameters
        ----------
        total, negative, digits, trusted
            As in :meth:`payments`; without ``total`` the receipt is about values alone.
        key : path-like, optional
            A PEM file with a private Ed25519 key to sign with. Needs the package ``cryptography``
            (``pip install shapley2d[receipts]``).

        Returns
        -------
        Receipt
        """
        receipt = make_receipt(self, total, negative, digits, trusted=trusted)
        return receipt if key is None else receipt.sign(key)

    def owner_table(self) -> dict[str, Any]:
        """The columns of :attr:`owners`."""
        cells = np.outer(self.row_sizes, self.column_sizes).astype(np.float64)
        shares = self.owner_shares
        counts = cells.ravel() if shares is None else np.tensordot(shares, cells, axes=2)
        return {
            "owner": self._owner_names,
            "value": self._owner_values,
            "stderr": self._owner_errors.stderr,
            "n_cells": counts,
        }

    def _check_trust(self, *, trusted: bool) -> None:
        """Refuse to pay by the owners' own rows, unless the user trusts them."""
        check_flag(trusted, "trusted")
        tested = self.info.get("n_valid") != 0 and not self.info.get("folds")
        if not tested and not trusted:
            raise InputError(*UNTRUSTED)

    def divided(
        self, total: Any, negative: str | None, digits: int, *, trusted: bool
    ) -> tuple[dict[str, Any], str]:
        """The columns of :meth:`payments`, without warnings, and the rule for negative values."""
        self._check_trust(trusted=trusted)
        names, values = self._owner_names, self._owner_values
        negative = settle_rule(negative, self.info.get("players") if self.owner_names else None)
        paid = np.array([name != UNOWNED for name in names])
        if not paid.any():
            raise InputError("no block has an owner: there is nobody to pay")
        known: dict[str, Any] = {
            "digits": digits,
            "names": [name for name in names if name != UNOWNED],
        }
        owned = values[paid]
        amounts, low, high, unpaid = np.zeros((4, len(names)))
        amounts[paid] = divide_total(total, owned.tolist(), negative=negative, **known)
        low[paid], high[paid] = payment_intervals(
            total,
            owned,
            self._owner_errors.take(paid),
            negative=negative,
            dof=self._owner_dof,
            **known,
        )
        columns = {"owner": names, "value": values, "amount": amounts, "low": low, "high": high}
        if (amounts < 0).any():
            unpaid[paid] = divide_total(total, owned.tolist(), negative="zero", **known)
            columns |= {"if_unpaid": unpaid, "collateral": np.maximum(-low, 0.0) + 0.0}
        return columns, negative

    def _warn_of_chance(self, amounts: NDArray[np.float64]) -> None:
        """Warn of owners who are paid, or owe, although their value may be 0."""
        half = self.owner_interval_factor * self._owner_errors.stderr
        unsure = (half > 0) & (np.abs(self._owner_values) <= half)
        for those, what in ((amounts > 0, "payment"), (amounts < 0, "debt")):
            found = np.flatnonzero(those & unsure)
            if found.size:
                interval = plural(found.size, "the 95 % interval", "the 95 % intervals")
                effect = plural(found.size, f"holds 0: its {what}", f"hold 0: their {what}s")
                warn(
                    PrecisionWarning(
                        f"{interval} of {self._listed(found)} {effect} may be due to chance alone"
                    )
                )

    def _warn_of_debts(self, amounts: NDArray[np.float64], digits: int) -> None:
        """Warn that the others are paid in full only if those who owe pay."""
        owing = np.flatnonzero(amounts < 0)
        debt, promised = -amounts[owing].sum(), amounts[amounts > 0].sum()
        owes = plural(owing.size, "owes", "owe")
        warn(
            InputWarning(
                f"{self._listed(owing)} {owes} {debt:,.{digits}f}, and the others are promised "
                f"{promised:,.{digits}f}, which is that much more than the total: collect it "
                "before you pay (collateral), or pay what the total covers (if_unpaid)"
            )
        )

    def _listed(self, owners: NDArray[np.intp]) -> str:
        """Some owners by name, the first three of many."""
        named = ", ".join(repr(self._owner_names[k]) for k in owners[:3])
        return f"{named} and {owners.size - 3} more" if owners.size > 3 else named

    def uncertain_orders(self) -> Any:
        """Pairs of owners (or blocks) whose order is not certain.

        Returns
        -------
        frame
            ``owner`` (the higher estimate), ``other``, their ``difference``, and ``low`` and
            ``high``, its 95 % interval, which holds 0. Empty when every order is certain.
        """
        higher, lower, difference, stderr = uncertain_pairs(
            self._owner_values, self._owner_errors, self._owner_dof
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

    def _sums(self) -> tuple[str, list[str], NDArray[np.float64], NDArray[np.float64]]:
        spreads = self.owner_interval_factor * self._owner_errors.stderr
        heading = "block" if self.owner_shares is None else "owner"
        return heading, self._owner_names, self._owner_values, spreads

    def __repr__(self) -> str:
        n, m = self.shape
        work = self.info.get("n_utilities")
        utilities = "" if work is None else f" ({work:,} utilities)"
        headline = (
            f"BlockValuation of {counted(n, 'row group')} x {counted(m, 'column group')} "
            f"({counted(int(self.row_sizes.sum()), 'row')} x "
            f"{counted(int(self.column_sizes.sum()), 'column')}), "
            f"method {self.info.get('method', 'unknown')}{utilities}, {self.describe()}"
        )
        units = Units.of(self)
        points, summed = units.points, "" if units.score is None else score_words(self)
        lines = [headline, f"  {summed}" if summed else f"  {'total':<24} {self.total:+.5g}"]
        errors = self._owner_errors.stderr
        order = np.argsort(-self._owner_values, kind="stable")
        numbers = points.numbers(self._owner_values[order[:_SHOWN]].tolist(), signed=True)
        for k, value in zip(order[:_SHOWN].tolist(), numbers, strict=True):
            spread = points.factor * self.owner_interval_factor * errors[k]
            error = f" +- {spread:.2g}" if errors[k] else ""
            lines.append(
                f"  {printable(self._owner_names[k]):<24} {value}{error} {points.words}".rstrip()
            )
        if order.size > _SHOWN:
            lines.append(f"  and {order.size - _SHOWN} more")
        shown = np.isin(np.arange(order.size), order[:_SHOWN])
        names = [name for name, one in zip(self._owner_names, shown, strict=True) if one]
        higher, lower, _, _ = uncertain_pairs(
            self._owner_values[shown], self._owner_errors.take(shown), self._owner_dof
        )
        if higher.size:
            pairs = [
                printable(f"{names[a]} / {names[b]}") for a, b in zip(higher, lower, strict=True)
            ]
            more = f" and {len(pairs) - 3} more" if len(pairs) > 3 else ""
            lines.append(f"  order not certain: {'; '.join(pairs[:3])}{more}")
        return "\n".join(lines)
