"""Whole numbers that float64 cannot hold: beyond 2^53, neighbours become the same number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.warnings import warn
from shapley2d.exceptions import InputWarning, Place

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

EXACT = 2.0**53
"""Up to here every whole number is a float64 of its own."""


def warn_of_rounding(
    numbers: NDArray[np.float64], count_exact: Callable[[], int], key: str, name: str
) -> None:
    """Warn where different whole numbers of a column have become the same.

    Parameters
    ----------
    numbers : ndarray
        The column as float64.
    count_exact : callable
        How many different numbers it held before; only asked where some are large.
    key, name : str
        The column and its table.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_of_rounding(np.array([1e17, 1e17]), lambda: 2, "account", "X")
    >>> str(caught[0].message)[:80]
    "X: column 'account' holds whole numbers of 18 digits, too long for calculations:"
    """
    present = numbers[~np.isnan(numbers)]
    if not present.size or np.abs(present).max() <= EXACT:
        return
    exact, kept = count_exact(), np.unique(present).size
    if kept < exact:
        digits = len(str(int(np.abs(present[np.isfinite(present)]).max())))
        warn(
            InputWarning(
                Place(name),
                f": column {key!r} holds whole numbers of {digits} digits, too long for calculations: its {exact} "
                f"different ones are rounded to {kept}; if they are keys or codes, drop the column or make it text",
            )
        )
