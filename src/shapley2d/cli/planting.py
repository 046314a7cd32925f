"""Errors as people make them, planted in a table of small whole numbers.

Three kinds, a third of the cells each:

- *unlikely*: a value that fewer than 2 % of the rows of this class have;
- *swapped*: two rows of different classes have exchanged their entries in one column;
- *typo*: a zero too many or too few (1 and 10), or the key above or below on a number pad (4 becomes 1 or 7).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARE = 0.02
SEED = 2023
_RARE = 0.02


@dataclass(frozen=True)
class Planted:
    """A table with errors.

    Attributes
    ----------
    entries : ndarray of shape (n, m)
        The table with the errors; NaN where an entry is missing.
    original : ndarray of shape (n, m)
    kinds : ndarray of shape (n, m)
        ``"unlikely"``, ``"swapped"``, ``"typo"``, or empty where nothing was changed.
    """

    entries: NDArray[np.float64]
    original: NDArray[np.float64]
    kinds: NDArray[np.str_]

    @property
    def changed(self) -> NDArray[np.bool_]:
        """Which cells hold an error."""
        return np.asarray(self.kinds != "")


def plant_errors(
    entries: NDArray[np.float64], labels: NDArray[np.str_], share: float = SHARE, seed: int = SEED
) -> Planted:
    """Change a share of the cells, each to another value than it had.

    Parameters
    ----------
    entries : ndarray of shape (n, m)
        Whole numbers from 1 to 10; NaN where missing.
    labels : ndarray of shape (n,)
    share : float
        Of the cells.
    seed : int

    Examples
    --------
    >>> entries = np.tile(np.arange(1.0, 11), (20, 1))
    >>> labels = np.repeat(["a", "b"], 10)
    >>> entries[:10] = 1
    >>> planted = plant_errors(entries, labels, share=0.06)
    >>> int(planted.changed.sum()), bool((planted.entries != entries)[planted.changed].all())
    (12, True)
    """
    rng = np.random.default_rng(seed)
    spoiled, kinds = entries.copy(), np.full(entries.shape, "", dtype="U8")
    third = round(share * entries.size / 3)
    wanted = {"unlikely": third, "typo": third, "swapped": 2 * (third // 2)}
    for flat in rng.permutation(entries.size):
        i, j = np.unravel_index(flat, entries.shape)
        open_kinds = [kind for kind, count in wanted.items() if count > 0]
        if not open_kinds:
            break
        if kinds[i, j] or np.isnan(entries[i, j]):
            continue
        kind = str(rng.choice(open_kinds))
        if kind == "swapped":
            others = (labels != labels[i]) & (entries[:, j] != entries[i, j]) & (kinds[:, j] == "")
            partners = np.flatnonzero(others & ~np.isnan(entries[:, j]))
            if not partners.size:
                continue
            k = rng.choice(partners)
            spoiled[i, j], spoiled[k, j] = entries[k, j], entries[i, j]
            kinds[k, j] = kind
            wanted[kind] -= 1
        else:
            new = (
                _typo(float(entries[i, j]), rng)
                if kind == "typo"
                else _unlikely(entries[:, j], labels == labels[i], float(entries[i, j]), rng)
            )
            if new is None:
                continue
            spoiled[i, j] = new
        kinds[i, j] = kind
        wanted[kind] -= 1
    return Planted(spoiled, entries, kinds)


def _typo(entry: float, rng: np.random.Generator) -> float:
    if entry in (1, 10):
        return 11 - entry
    return float(rng.choice([key for key in (entry - 3, entry + 3) if 1 <= key <= 9]))


def _unlikely(
    column: NDArray[np.float64], same: NDArray[np.bool_], entry: float, rng: np.random.Generator
) -> float | None:
    values = np.unique(column[~np.isnan(column)])
    rare = [value for value in values if value != entry and (column[same] == value).mean() < _RARE]
    return float(rng.choice(rare)) if rare else None
