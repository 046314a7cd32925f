"""The warning of too few sampled subsets, which several methods share."""

from __future__ import annotations

from shapley2d._base.warnings import warn
from shapley2d._knn.columns.pair_fit import FEW_PER_PLAYER
from shapley2d.exceptions import PrecisionWarning, Setting


def warn_of_few(n_subsets: int, n_players: int, kind: str) -> None:
    """Warn of a number of subsets, which the caller has asked for, and name one that does.

    Parameters
    ----------
    n_subsets, n_players : int
    kind : str
        What the players are called.
    """
    warn(
        PrecisionWarning(
            Setting("n_subsets", n_subsets),
            f" is few for {n_players} {kind}: errors are large, and 95 % intervals can miss those "
            f"{kind} that matter most in subsets of a size that is not sampled; use ",
            Setting("n_subsets", FEW_PER_PLAYER * n_players),
            " or more",
        )
    )
