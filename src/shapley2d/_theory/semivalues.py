"""Semivalues: weights of a player's marginal contributions, by the size of the coalition it joins.

Every value of this package weights the marginal contributions of a player to the coalitions ``S``
without it by ``p(|S|; n)``: Shapley (1953), Banzhaf (Wang and Jia 2023, arXiv:2205.15466) and Beta
(Kwon and Zou 2022, arXiv:2110.14049).

================= ============================ =====================================================
semivalue         p(s; n)                      what it is good for
================= ============================ =====================================================
``"shapley"``     s! (n-s-1)! / n!             the only one whose values sum to the total utility
``"banzhaf"``     1 / 2^(n-1)                  rankings that are robust to noise in the utility
``("beta",a,b)``  B(s+b, n-s-1+a) / B(a, b)    ``a > b`` stresses small coalitions, ``b > a`` large
================= ============================ =====================================================

All are mixtures over a probability ``t`` that another player has joined, so one closed form serves
them all: ``t`` is uniform for Shapley, 1/2 for Banzhaf and Beta(b, a) for Beta(a, b).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from shapley2d._base.words import shown
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

Semivalue = Literal["shapley", "banzhaf"] | tuple[Literal["beta"], float, float]
"""The name of a semivalue: ``"shapley"``, ``"banzhaf"`` or ``("beta", a, b)``."""


def check_semivalue(semivalue: object) -> Semivalue:
    """Check a semivalue and return its canonical form.

    >>> check_semivalue("Shapley")
    'shapley'
    >>> check_semivalue(("beta", 16, 1))
    ('beta', 16.0, 1.0)
    """
    if isinstance(semivalue, str) and semivalue.lower() == "shapley":
        return "shapley"
    if isinstance(semivalue, str) and semivalue.lower() == "banzhaf":
        return "banzhaf"
    if isinstance(semivalue, (tuple, list)) and len(semivalue) == 3 and str(semivalue[0]) == "beta":
        try:
            a, b = float(semivalue[1]), float(semivalue[2])
        except (TypeError, ValueError, OverflowError):
            a = b = math.nan
        if min(a, b) >= 1e-6 and max(a, b) <= 1e6:  # beyond, rounding errors exceed the weights
            return ("beta", a, b)
    raise InputError(
        f"semivalue={shown(semivalue)} is not known: use 'shapley', 'banzhaf' or ('beta', a, "
        "b) with a and b from 1e-6 to 1e6"
    )


def axis_semivalues(semivalue: object) -> tuple[Semivalue, Semivalue]:
    """Split the option ``semivalue`` into one for the rows and one for the columns.

    A single semivalue applies to both axes.

    >>> axis_semivalues("banzhaf")
    ('banzhaf', 'banzhaf')
    >>> axis_semivalues(("shapley", ("beta", 4, 1)))
    ('shapley', ('beta', 4.0, 1.0))
    """
    if isinstance(semivalue, (tuple, list)) and len(semivalue) == 2:
        return check_semivalue(semivalue[0]), check_semivalue(semivalue[1])
    one = check_semivalue(semivalue)
    return one, one


def marginal_weights(semivalue: Semivalue, n_players: int) -> NDArray[np.float64]:
    """Weights ``p(s; n)`` of a marginal contribution to ``s = 0 .. n-1`` other players.

    Over all coalitions without the player they sum to 1: ``sum(comb(n-1, s) p(s)) = 1``.

    >>> marginal_weights("shapley", 3).round(4)
    array([0.3333, 0.1667, 0.3333])
    >>> marginal_weights("banzhaf", 3)
    array([0.25, 0.25, 0.25])
    """
    if semivalue == "banzhaf":
        return np.full(n_players, 0.5 ** (n_players - 1))
    if semivalue == "shapley" and n_players <= 1000:  # correctly rounded: binomials fit a float
        return np.array([1 / (n_players * math.comb(n_players - 1, s)) for s in range(n_players)])
    from scipy.special import betaln

    s = np.arange(n_players, dtype=np.float64)
    _, a, b = ("beta", 1.0, 1.0) if semivalue == "shapley" else semivalue
    return np.asarray(np.exp(betaln(s + b, n_players - s - 1 + a) - betaln(a, b)))


def size_probabilities(semivalue: Semivalue, n_players: int) -> NDArray[np.float64]:
    """Probabilities ``comb(n-1, s) p(s; n)`` that a player joins ``s = 0 .. n-1`` others.

    >>> size_probabilities("shapley", 4)
    array([0.25, 0.25, 0.25, 0.25])
    >>> size_probabilities("banzhaf", 4)
    array([0.125, 0.375, 0.375, 0.125])
    """
    if semivalue == "shapley":
        return np.full(n_players, 1.0 / n_players)
    from scipy.special import betaln, gammaln

    s = np.arange(n_players, dtype=np.float64)
    log_comb = gammaln(n_players) - gammaln(s + 1) - gammaln(n_players - s)
    if semivalue == "banzhaf":
        log_weight = np.full(n_players, -(n_players - 1) * math.log(2.0))
    else:
        _, a, b = semivalue
        log_weight = betaln(s + b, n_players - s - 1 + a) - betaln(a, b)
    probabilities = np.exp(log_comb + log_weight)
    return np.asarray(probabilities / probabilities.sum())


def feature_semivalue(semivalue: Semivalue) -> tuple[float, Semivalue]:
    """The factor and the semivalue that value a feature where the label is a player too.

    A feature has no utility without the label, so its value is a semivalue of the game without the
    label: joining ``s`` features and the label has weight ``p(s + 1; m + 1)``. In the mixture over
    ``t`` that is one more factor ``t``, which gives a named semivalue times the mean of ``t``.

    >>> feature_semivalue("shapley")
    (0.5, ('beta', 1.0, 2.0))
    >>> feature_semivalue("banzhaf")
    (0.5, 'banzhaf')
    """
    if semivalue == "banzhaf":
        return 0.5, "banzhaf"
    _, a, b = ("beta", 1.0, 1.0) if semivalue == "shapley" else semivalue
    return b / (a + b), ("beta", a, b + 1)
