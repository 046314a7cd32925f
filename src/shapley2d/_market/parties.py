"""Who is paid: parties that a contract names, or names that anybody can take.

*Known* parties are players: the sets of rows and of columns that they brought join as wholes, and a
model judges what each adds (2D-Shapley of blocks). Nothing is gained by rows that teach the model
nothing; something is gained by posing as two. For *anonymous* ones every cell is valued by itself
and an owner has the sum of its cells. Nothing is gained by splitting up; something is gained by
fabricated rows. No rule prevents both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._knn.method import KNN
from shapley2d._models.exact import Exact
from shapley2d._models.monte_carlo import MonteCarlo
from shapley2d._valuation.methods import find_method
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._methods.method import Method

_TOLERANCE = 0.1  # of a judge of many parties: 100 orders; other validation rows change more

HOLDS = {
    "known": (
        "The parties are known and each is one player: a model is trained on every set of them, "
        "and a party is worth what it adds on average. "
        "Identities must be the contract's: a party that poses as two is paid more."
    ),
    "anonymous": (
        "The parties are anonymous: every cell is valued by itself, and an owner is worth the sum "
        "of its cells, so splitting up changes no value. "
        "Rows must be real: an owner that fabricates rows is paid more."
    ),
}
"""Which setting holds, and what it does not prevent."""


def settle_parties(parties: Any, method: Any, *, nobody: bool) -> tuple[str, Method]:
    """The parties and the method, with their defaults; ``nobody`` owns clusters of rows."""
    if parties is not None:
        check_choice(parties, "parties", HOLDS)
    found = None if method is None else find_method(method)
    by_cells = found is not None and not isinstance(found, (KNN, MonteCarlo, Exact))
    if parties is None:
        trains = isinstance(found, (MonteCarlo, Exact))
        parties = "anonymous" if by_cells or (nobody and not trains) else "known"
    if found is None:
        judge = MonteCarlo("forest", tolerance=_TOLERANCE)
        return parties, judge if parties == "known" else KNN()
    if parties == "known" and by_cells:
        raise InputError(
            Setting("method", found.name),
            " values cells, not parties that join as wholes: use ",
            Setting("parties", "anonymous"),
            ", or a method that trains a model, such as ",
            Setting("method", "mc"),
        )
    return parties, found
