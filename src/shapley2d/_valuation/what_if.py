"""What other entries would change: the score and the values of a forest whose splits are held."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.words import figure
from shapley2d._valuation.units import Score
from shapley2d.exceptions import InputError

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
    predictions : dict from row to (float, float)
        What the trees predict for each changed row, before and after: the target, or the
        probability of the row's label.
    """

    score: float
    change: float
    values: NDArray[np.float64]
    predictions: dict[Any, tuple[float, float]]
    _shown: Score | None = None

    def __repr__(self) -> str:
        shown = self._shown or Score("")
        level = shown.level(self.score, shown.decimals(self.change))
        lines = [f"Score {level} ({shown.gain(self.change, signed=True)})"]
        for row, (before, after) in list(self.predictions.items())[:5]:
            lines.append(f"row {row}: prediction {figure(before)} -> {figure(after)}")
        if len(self.predictions) > 5:
            lines.append(f"{len(self.predictions) - 5:,} more rows in `predictions`")
        return "; ".join(lines)


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
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[1.0], [2.0], [30.0], [7.0], [8.0], [9.0]], list("aaabbb")
    >>> new = ([[1.0], [3.0], [7.0], [9.0]], list("aabb"))
    >>> stump = DecisionTreeClassifier(max_depth=1, random_state=0)
    >>> v = value_cells(X, y, *new, method=Forest(stump), progress=False)
    >>> after = v.what_if({(2, "x0"): 3.0})
    >>> after
    Score 100.0 % (+12.5 points); row 2: prediction 0.250 -> 1.00
    >>> round(float(after.values.sum() - v.total), 6)
    0.125
    """
    if valuation._held is None:
        lacks = " of a forest, and these values have none: value the cells with "
        if valuation._run.method == "forest":
            lacks = ", which a file does not keep: value the cells again with "
        raise InputError(f"what_if needs the trees{lacks}method='forest'")
    before, score, added, own = valuation._held.what_if(changes)
    return WhatIf(score, score - before, valuation.values + added, own, valuation._run.score)
