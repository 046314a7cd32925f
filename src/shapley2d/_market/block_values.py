"""The numbers of a valuation of blocks: who owns what, what that is worth, and how certain."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray  # noqa: TC002  (dataclasses and their readers resolve it)

from shapley2d._base.checks import check_flag
from shapley2d._base.precision import interval_factor
from shapley2d._base.words import counted
from shapley2d._market.cell_sums import JointErrors
from shapley2d._market.owners import UNOWNED
from shapley2d._market.payments import UNTRUSTED, divide_total, payment_intervals
from shapley2d._valuation.values import CellValues, Nouns
from shapley2d.exceptions import InputError


@dataclass(frozen=True, repr=False, eq=False)
class BlockValues(CellValues):
    """What payments, receipts and pages read of a :class:`~shapley2d.BlockValuation`.

    A *payee* is an owner, or a block where there are no owners.
    """

    _kind: ClassVar[str] = "blocks"
    _nouns: ClassVar[tuple[Nouns, Nouns, Nouns]] = (
        ("block", "blocks"),
        ("set of rows", "sets of rows"),
        ("set of columns", "sets of columns"),
    )
    _harm: ClassVar[str] = "these rows make these columns less useful to the model"

    row_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    column_sizes: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    # the owners, and UNOWNED last where a block has none; empty without owners
    _owner_names: list[str] = field(default_factory=list)
    # (owners, row sets, column sets): the part of every block that each has
    _owner_shares: NDArray[np.float64] | None = None
    # sums of the owners' cells; None where an owner's value is the sum of its blocks
    _owner_values: NDArray[np.float64] | None = None
    _errors: JointErrors | None = None  # of the payees; None where blocks count as independent
    # of the blocks, with what other validation rows would change; None where that is not known
    _block_stderr: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for axis, name in enumerate(("row_sizes", "column_sizes")):
            if not getattr(self, name).size:
                object.__setattr__(self, name, np.ones(self.values.shape[axis], dtype=np.intp))

    @property
    def _size_words(self) -> str:
        n, m = self.shape
        rows, columns = int(self.row_sizes.sum()), int(self.column_sizes.sum())
        sets = f"{counted(n, 'row set')} x {counted(m, 'column set')}"
        return f"{sets} ({counted(rows, 'row')} x {counted(columns, 'column')})"

    @cached_property
    def _payee_names(self) -> list[str]:
        if self._owner_shares is not None:
            return self._owner_names
        rows, columns = [str(row) for row in self.row_names], self.column_names
        if len(columns) == 1:
            return rows
        if len(rows) == 1:
            return columns
        return [f"{row} / {column}" for row in rows for column in columns]

    @cached_property
    def _payee_values(self) -> NDArray[np.float64]:
        if self._owner_values is not None:
            return self._owner_values
        if self._owner_shares is None:
            return self.values.ravel()
        return np.asarray(np.tensordot(self._owner_shares, self.values, axes=2))

    @cached_property
    def _payee_errors(self) -> JointErrors:
        count = len(self._payee_names)
        if self._errors is not None and len(self._errors.variance) == count:
            return self._errors
        variance = self.stderr.ravel() ** 2
        if self._owner_shares is not None:
            variance = self._owner_shares.reshape(count, -1) ** 2 @ variance
        return JointErrors(variance, np.zeros((0, count)), self.dof)

    @property
    def _interval_factor(self) -> float:
        # few parts of the validation rows limit the degrees of freedom of all errors
        return interval_factor(self.dof if self._block_stderr is None else self._payee_errors.dof)

    @property
    def _has_intervals(self) -> bool:
        """Whether anything is known about the errors of the payees' values."""
        return bool(self._payee_errors.variances.any())

    def _payee_lines(self) -> list[dict[str, Any]]:
        """Every payee with its value and the ends of its 95 % interval, None where unknown."""
        reach = self._payee_errors.reach
        reach = np.where(np.isfinite(reach), reach, 0.0)
        ends = np.stack([self._payee_values - reach, self._payee_values + reach], axis=1).tolist()
        if not self._has_intervals:
            ends = [[None, None]] * len(self._payee_names)
        return [
            {"owner": name, "value": value, "amount": None, "low": low, "high": high}
            for name, value, (low, high) in zip(
                self._payee_names, self._payee_values.tolist(), ends, strict=True
            )
        ]

    def _divided(self, total: Any, negative: str, digits: int, *, trusted: bool) -> dict[str, Any]:
        """The columns of ``payments``, without warnings."""
        check_flag(trusted, "trusted")
        tested = self.info.get("n_valid") != 0 and not self.info.get("folds")
        if not tested and not trusted:  # the owners' own rows would decide what they are paid
            raise InputError(*UNTRUSTED)
        names, values = self._payee_names, self._payee_values
        paid = np.array([name != UNOWNED for name in names])
        if not paid.any():
            raise InputError("no block has an owner: there is nobody to pay")
        how: dict[str, Any] = {"negative": negative, "digits": digits}
        amounts = np.array(divide_total(total, values.tolist(), names=names, **how))
        low, high = np.zeros((2, len(names)))
        owners = [name for name in names if name != UNOWNED]
        errors = self._payee_errors.take(paid)
        low[paid], high[paid] = payment_intervals(total, values[paid], errors, names=owners, **how)
        return {"owner": names, "value": values, "amount": amounts, "low": low, "high": high}
