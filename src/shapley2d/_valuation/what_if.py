"""What other entries would change: the score and the values of a forest whose splits are held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._valuation.values import CellValues


@dataclass(frozen=True, repr=False, eq=False)
class WhatIf:
    """The score and the values after some entries are changed.

    Attributes
    ----------
    score : float
        The new score.
    change : float
        What was added to the score.
    values : ndarray of shape (n, m)
        The new values of all cells.
    """

    score: float
    change: float
    values: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"WhatIf: score {self.score:.5g}, {self.change:+.3g}"


def what_if(valuation: CellValues, changes: Any) -> WhatIf:
    """The score and the values of all cells after some entries are changed, for ``"forest"``.

    The trees keep their splits, and nothing is computed again but the leaves that the changes
    touch. The result is that of a new run with the same splits, folds and encoding. The trees are
    kept in memory only: a valuation that was loaded from a file, or pickled, has none.

    Parameters
    ----------
    changes : dict from (row, column) to the new entry
        Rows by name, or by position where no row has that name; columns by name; None for a missing
        entry. The column ``"(label)"`` is the label. Without a validation table a changed row is
        changed where it validates, too.

    Returns
    -------
    WhatIf
        With ``score``, ``change`` (of the score) and ``values``.

    Examples
    --------
    >>> from shapley2d import Forest, value_cells
    >>> X, y = [[1.0], [2.0], [30.0], [7.0], [8.0], [9.0]], list("aaabbb")
    >>> new = ([[1.0], [3.0], [7.0], [9.0]], list("aabb"))
    >>> v = value_cells(X, y, *new, method=Forest("forest"), progress=False)
    >>> after = v.what_if({(2, "x0"): 3.0})
    >>> after
    WhatIf: score 0.94, +0.04
    >>> round(float(after.values.sum() - v.total), 6)
    0.04
    """
    before, score, added = needs_trees(valuation, "what_if").what_if(changes)
    return WhatIf(score, score - before, valuation.values + added)


def needs_trees(valuation: CellValues, asked: str) -> Any:
    """The trees of a valuation; refuses one that has none."""
    if valuation._held is not None:
        return valuation._held
    if valuation.info.get("method") == "forest" and valuation._kind == "cells":
        raise InputError(
            f"{asked} needs the trees, which a file does not keep: value the cells again with ",
            Setting("method", "forest"),
        )
    raise InputError(
        f"{asked} needs the trees of a forest, and these values have none: value the cells with ",
        Setting("method", "forest"),
    )
