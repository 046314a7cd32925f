"""Errors injected into a clean table, so that it is known which cells a detector should find.

A table is an array of numbers (categories as whole-number codes, NaN where an entry is missing),
the labels of its rows and a mask of the columns that hold categories. A column is *graded* if it
holds categories or at most 20 different whole numbers; any other is *continuous*. The kinds of
errors:

============= ======================================================================================
unlikely      a value that is rare in its class. Graded: one that fewer than 5 % of the rows of the
              class have. Continuous: one where the density of the class (a Gaussian kernel
              estimate) is below 5 % of its peak; for whole numbers, one that occurs in the column
low-density   the same with the distribution of all rows, as in the paper
tail          numbers only: the mean plus or minus 3 to 5 standard deviations of the column. Whole
              numbers stay whole, and columns without negative numbers get none
swapped       entries of two rows swapped in one column; the rows differ in class if possible
typo          numbers: two digits transposed, a digit doubled, dropped or replaced by a key next to
              it, or the decimal point moved; categories: another category
units         up to half of one numeric column multiplied by a factor between two units
labels        another label; no cell changes
============= ======================================================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import shown
from shapley2d.evaluation.cell_errors import CELL_ERRORS, CleanTable
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Bools, Floats, Ints

ERROR_KINDS = (*CELL_ERRORS, "labels")
"""The kinds of errors of :func:`inject_errors`."""


@dataclass(frozen=True)
class Corrupted:
    """A table with injected errors.

    Attributes
    ----------
    numbers : ndarray of shape (n, m)
    labels : ndarray of shape (n,)
    cells : ndarray of bool, shape (n, m)
        The cells that differ from the clean table.
    rows : ndarray of bool, shape (n,)
        The rows whose label differs.
    kinds : ndarray of str, shape (n, m)
        The kind of error of each changed cell, empty elsewhere.
    """

    numbers: Floats
    labels: Ints
    cells: Bools
    rows: Bools
    kinds: NDArray[np.str_]


def inject_errors(
    kinds: str | Sequence[str],
    numbers: Floats,
    labels: Ints,
    categorical: Bools,
    share: float,
    rng: np.random.Generator,
) -> Corrupted:
    """Inject errors of one or several kinds into a share of the cells or of the labels.

    Every changed cell differs from the original. Their number is the share, rounded (for
    ``"swapped"`` down to an even number), or as many as the table allows if that is at least half
    of it.

    Parameters
    ----------
    kinds : str or sequence of str
        ``"unlikely"``, ``"low-density"``, ``"tail"``, ``"swapped"``, ``"typo"``, ``"units"`` or
        ``"labels"``. Several kinds get equal parts and are injected in this order; no cell changes
        twice.
    numbers : ndarray of shape (n, m)
    labels : ndarray of shape (n,)
    categorical : ndarray of bool, shape (m,)
    share : float
        Of the cells; for ``"labels"`` of the rows.
    rng : numpy generator

    Returns
    -------
    Corrupted

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> numbers = rng.normal(size=(50, 4))
    >>> labels = np.arange(50) % 2
    >>> none = np.zeros(4, dtype=bool)
    >>> corrupted = inject_errors("tail", numbers, labels, none, 0.05, rng)
    >>> int(corrupted.cells.sum()), bool((corrupted.numbers != numbers)[corrupted.cells].all())
    (10, True)
    >>> both = inject_errors(["swapped", "typo"], numbers, labels, none, 0.04, rng)
    >>> [int((both.kinds == kind).sum()) for kind in ("swapped", "typo")]
    [4, 4]
    """
    named = _check_kinds(kinds)
    if not 0 < share < 1:
        raise InputError(f"share={shown(share)} must lie between 0 and 1")
    entries, classes = np.asarray(numbers, dtype=np.float64), np.asarray(labels)
    if np.isnan(entries).all(axis=0).any():
        raise InputError("a column has only missing entries: leave it out")
    present = ~np.isnan(entries)
    new, new_labels = entries.copy(), classes.copy()
    kind_of = np.full(entries.shape, "", dtype=f"U{max(map(len, ERROR_KINDS))}")
    for kind in named:
        wanted = _count(kind, share / len(named), entries.size, classes.size)
        if kind == "labels":
            new_labels = _flip(classes, wanted, rng)
            injected = int((new_labels != classes).sum())
        else:
            free = present & (kind_of == "")
            clean = CleanTable(entries, classes, np.asarray(categorical), free)
            with_errors = CELL_ERRORS[kind](clean, wanted, rng)
            changed = present & (with_errors != entries)
            new[changed], kind_of[changed] = with_errors[changed], kind
            injected = int(changed.sum())
        if 2 * injected < wanted:
            raise InputError(
                f"only {injected} of {wanted} errors of kind {kind!r} fit in this table: "
                "lower the share"
            )
    return Corrupted(new, new_labels, kind_of != "", new_labels != classes, kind_of)


def _check_kinds(kinds: str | Sequence[str]) -> list[str]:
    named = [kinds] if isinstance(kinds, str) else list(kinds)
    known = ", ".join(map(repr, ERROR_KINDS))
    if not named:
        raise InputError(f"kinds is empty: name one or more of {known}")
    for kind in named:
        if kind not in ERROR_KINDS:
            raise InputError(f"kind {kind!r} is not known: use one of {known}")
        if named.count(kind) > 1:
            raise InputError(f"kinds has {kind!r} more than once: name it once")
    return named


def _count(kind: str, share: float, n_cells: int, n_rows: int) -> int:
    """The number of errors of a kind."""
    wanted = round(share * (n_rows if kind == "labels" else n_cells))
    if kind == "swapped":
        wanted -= wanted % 2
    if wanted == 0:
        raise InputError(
            f"a share of {share:g} of this table gives no error of kind {kind!r}: raise it"
        )
    return wanted


def _flip(labels: Ints, wanted: int, rng: np.random.Generator) -> Ints:
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise InputError("labels of one class cannot be flipped")
    rows = rng.choice(labels.size, wanted, replace=False)
    codes[rows] = (codes[rows] + rng.integers(1, classes.size, size=wanted)) % classes.size
    return np.asarray(classes[codes])
