"""The value of the blocks of a table, of their owners, and what to pay them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._base.warnings import warn, warn_input
from shapley2d._base.words import plural
from shapley2d._market.audit_result import Audit
from shapley2d._market.block_values import BlockValues
from shapley2d._market.payments import uncertain_pairs
from shapley2d._market.receipts.receipt import Receipt, make_receipt
from shapley2d._market.report.owners import owners_part
from shapley2d._market.storage import block_fields, block_record
from shapley2d._market.wording import owner_lines
from shapley2d._tables.frames import make_frame
from shapley2d._valuation.plots_of_columns import owner_bars
from shapley2d._valuation.valuation import Valuation
from shapley2d._valuation.wording.summaries import head_lines
from shapley2d.exceptions import InputError, PrecisionWarning

if TYPE_CHECKING:
    import os

    from numpy.typing import NDArray

    from shapley2d._valuation.sealed import SealedCells
    from shapley2d._valuation.values import PagePart, Sums


@dataclass(frozen=True, repr=False, eq=False)
class BlockValuation(BlockValues, Valuation):
    """The value of every block of row sets x column sets, and of the owners of the blocks.

    A :class:`~shapley2d.Valuation` whose rows are row sets and whose columns are column sets,
    with these attributes besides.

    Attributes
    ----------
    row_sizes, column_sizes : ndarray of int
        Rows in every row set, columns in every column set.
    row_stderr, column_stderr : ndarray
        Standard errors of the sums of row sets and column sets. Like :meth:`interval` and
        ``owners`` they include what other validation rows would change, where that was measured
        (``info["intervals"]``); ``stderr`` is of sampling alone.

    Examples
    --------
    >>> import numpy as np
    >>> values, names = np.array([[0.5, 0.25]]), ["bank", "shop"]
    >>> v = BlockValuation(values, np.zeros((1, 2)), np.array(["all"]), names)
    >>> v.payments(100)[["owner", "amount"]].values.tolist()
    [['bank', 66.67], ['shop', 33.33]]
    """

    def interval(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Lower and upper ends of the 95 % intervals of all blocks.

        They include what other validation rows would change, as those of :meth:`payments` do,
        where that was measured (``info["intervals"]``).
        """
        stderr = self.stderr if self._block_stderr is None else self._block_stderr
        half = self._interval_factor * stderr
        return self.values - half, self.values + half

    @property
    def owners(self) -> Any:
        """Every owner's value: a frame of ``owner``, ``value``, ``stderr`` and ``n_cells``.

        ``n_cells`` counts cells of the table; a cell with several owners counts in parts.
        """
        cells = np.outer(self.row_sizes, self.column_sizes).astype(np.float64)
        shares = self._owner_shares
        columns = {
            "owner": self._payee_names,
            "value": self._payee_values,
            "stderr": self._payee_errors.stderr,
            "n_cells": cells.ravel() if shares is None else np.tensordot(shares, cells, axes=2),
        }
        return make_frame(columns, self._frame)

    def payments(
        self,
        pay: Any,
        negative: Literal["zero", "owe"] = "zero",
        digits: int = 2,
        *,
        trusted: bool = False,
    ) -> Any:
        """Divide an amount among the owners, or among the blocks, in proportion to their values.

        Parameters
        ----------
        pay : number
            The amount; it is divided without a remainder.
        negative : {"zero", "owe"}
            Owners of negative value receive nothing and the others share the whole amount; or they
            owe their share and the others receive more. With ``"zero"`` an owner whose name nobody
            checks gains by moving harmful rows into a shell.
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
            known (``info["intervals"]``; ``valid_parts`` tells it). Blocks without an owner form
            the entry ``"(unowned)"``, which receives nothing. Warnings name owners who are paid, or
            owe, although the interval of their value holds 0, and debts that others' payments
            depend on.
        """
        columns = self._divided(pay, negative, digits, trusted=trusted)
        if not self._has_intervals:
            columns |= dict.fromkeys(("low", "high"), np.full(len(self._payee_names), np.nan))
        self._warn_of(columns["amount"], digits)
        return make_frame(columns, self._frame)

    def receipt(
        self,
        pay: Any = None,
        negative: Literal["zero", "owe"] = "zero",
        digits: int = 2,
        *,
        trusted: bool = False,
        round: str | None = None,  # noqa: A002  (the word that people use)
        sign: str | os.PathLike[str] | None = None,
    ) -> Receipt:
        """What was paid and why, in a form that anyone can check.

        It holds SHA-256 digests of every owner's block, of the table, the validation rows and who
        owns what; the settings, the seed and the versions; the values; and the payments with their
        intervals. It holds no entry of a table. ``save`` writes it to a file;
        ``Receipt.load`` refuses one in which anything does not fit; ``check_block`` lets an owner
        check its own block; and :func:`~shapley2d.verify_receipt` computes it again from the data.

        Parameters
        ----------
        pay, negative, digits, trusted
            As in :meth:`payments`; without ``pay`` the receipt is about values alone.
        round : str, optional
            The round of payments that it is about, such as ``"2026-07"``, so that nobody can show
            it again in the next: whoever checks the receipt names the round too.
        sign : path-like, optional
            A PEM file with a private Ed25519 key to sign with. Needs the package ``cryptography``
            (``pip install shapley2d[receipts]``).

        Returns
        -------
        Receipt
        """
        receipt = make_receipt(self, pay, negative, digits, trusted=trusted, round=round)
        return receipt if sign is None else receipt.sign(sign)

    plot_owners = owner_bars

    def _warn_of(self, amounts: NDArray[np.float64], digits: int) -> None:
        """Warn of amounts that may be due to chance, and of debts that others' payments need."""
        reach = self._payee_errors.reach
        unsure = (reach > 0) & (np.abs(self._payee_values) <= reach)
        for those, what in ((amounts > 0, "payment"), (amounts < 0, "debt")):
            found = np.flatnonzero(those & unsure)
            if found.size:
                interval = plural(found.size, "the 95 % interval", "the 95 % intervals")
                effect = plural(found.size, f"holds 0: its {what}", f"hold 0: their {what}s")
                words = f"{interval} of {self._listed(found)} {effect} may be due to chance alone"
                warn(PrecisionWarning(words))
        owing = np.flatnonzero(amounts < 0)
        if owing.size:
            debt, promised = -amounts[owing].sum(), amounts[amounts > 0].sum()
            owes = plural(owing.size, "owes", "owe")
            warn_input(
                f"{self._listed(owing)} {owes} {debt:,.{digits}f}, and the others are promised "
                f"{promised:,.{digits}f}, which is that much more than the total: collect what "
                "may be owed, down to the low ends of the intervals, before the values are "
                "known"
            )

    def _listed(self, owners: NDArray[np.intp]) -> str:
        """Some owners by name, the first three of many."""
        named = ", ".join(repr(self._payee_names[k]) for k in owners[:3])
        return f"{named} and {owners.size - 3} more" if owners.size > 3 else named

    def uncertain_orders(self) -> Any:
        """Pairs of owners (or blocks) whose order is not certain.

        Returns
        -------
        frame
            ``owner`` (the higher estimate), ``other``, their ``difference``, and ``low`` and
            ``high``, its 95 % interval, which holds 0. Empty when every order is certain.
        """
        higher, lower, difference, stderr = uncertain_pairs(self._payee_values, self._payee_errors)
        names = np.array(self._payee_names, dtype=object)
        half = interval_factor(self._payee_errors.dof) * stderr
        columns = {
            "owner": names[higher],
            "other": names[lower],
            "difference": difference,
            "low": difference - half,
            "high": difference + half,
        }
        return make_frame(columns, self._frame)

    def audit(self) -> Audit:
        """The audit that this valuation came with, from :func:`~shapley2d.audit_owners`.

        An audit needs the tables, which a valuation does not keep.
        """
        if "audit" not in self.info:
            raise InputError(
                "these values come without an audit, which needs the tables: call audit_owners "
                "with the arguments of value_blocks"
            )
        return Audit.from_dict(self.info["audit"], self._frame)

    def _more_record(self) -> dict[str, Any]:
        return block_record(self)

    @classmethod
    def _more_fields(
        cls, record: dict[str, Any], cells: SealedCells, fields: dict[str, Any]
    ) -> dict[str, Any]:
        return block_fields(record, cells, fields)

    def _more_on_page(self, payments: Any) -> PagePart:
        return owners_part(self, payments)

    @property
    def _sums(self) -> Sums:
        heading = "block" if self._owner_shares is None else "owner"
        return heading, self._payee_names, self._payee_values, self._payee_errors.reach

    def __repr__(self) -> str:
        return "\n".join([*head_lines(self), *owner_lines(self)])
