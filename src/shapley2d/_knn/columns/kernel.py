"""Kernels over column coalitions, an odd and an even one, and their semivalues in closed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack  # here, before anyone limits the threads of loaded libraries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._base.arrays import Bools, Floats


KERNEL_NOISE = 0.1
"""Noise on the diagonal of ``g(d)``: how far the smoothed game may be from the sample."""

_ODD_WEIGHTS = ((1, 5.0), (3, 1.0), (5, 0.25), (7, 0.0625), (9, 0.015625))
_EVEN_WEIGHTS = ((0, 1000.0), (2, 1.0), (4, 0.25), (6, 0.0625), (8, 0.015625))
_BLOCK = 256


def kernel_profile(n_columns: int, *, odd: bool = True) -> tuple[Floats, Floats]:
    """Profile ``g(d)`` and amplitude ``a(s)`` of a kernel, from 0 to ``n_columns``.

    ``g = 5 K1 + K3 + 0.25 K5 + ...`` in the normalised Krawtchouk polynomials of odd degree up to
    9: a game's main effects, and interactions that fade with their order. The amplitude grows
    towards the ends, where it is set to 0: the smoothed game leaves them out. The even kernel,
    ``1000 K0 + K2 + 0.25 K4 + ...``, does not grow: so it has what all coalitions are worth alike.

    (Tuned on nearest-neighbour games of 8 to 12 columns with 3 to 12 subsets to a column. Half or
    twice any of these numbers changes errors by 2 %; 20 K1 makes them 7 % larger at 3 subsets.)

    >>> profile, amplitude = kernel_profile(3)
    >>> profile.round(3).tolist(), amplitude.round(3).tolist()
    ([6.0, 0.667, -0.667, -6.0], [0.0, 1.042, 1.042, 0.0])
    """
    m = n_columns
    distance = np.arange(m + 1.0)
    polynomials = [np.ones(m + 1), 1 - 2 * distance / m]
    degrees = _ODD_WEIGHTS if odd else _EVEN_WEIGHTS
    for k in range(1, min(m, degrees[-1][0])):
        polynomials.append(((m - 2 * distance) * polynomials[k] - k * polynomials[k - 1]) / (m - k))
    profile = sum((w * polynomials[k] for k, w in degrees if k <= m), start=np.zeros(m + 1))
    amplitude = np.zeros(m + 1)
    amplitude[1:m] = (4 * distance[1:m] * (m - distance[1:m]) / m**2) ** -0.35 if odd else 1.0
    return profile, amplitude


def kernel_semivalues(joins: Floats, profile: Floats, amplitude: Floats) -> tuple[Floats, Floats]:
    """Semivalue of the game ``S -> a(|S|) g(d(S, T))`` for a member and for a non-member of ``T``.

    By symmetry they depend on ``t = |T|`` alone. A player joins ``s`` of the others with
    probability ``joins[s]``; of these, a hypergeometric number lies in ``T``, which determines the
    distance. The results are for ``t = 0 .. m // 2`` (``inside[0]`` is 0).

    ``joins`` (m,), ``profile, amplitude`` (m + 1,).

    >>> inside, outside = kernel_semivalues(np.full(3, 1 / 3), *kernel_profile(3))
    >>> inside.round(3).tolist(), outside.round(3).tolist()
    ([0.0, 4.631], [0.0, -2.316])
    """
    m = len(joins)
    from scipy.special import gammaln

    log_factorial = gammaln(np.arange(m + 1) + 1.0)
    inside, outside = np.zeros(m // 2 + 1), np.zeros(m // 2 + 1)
    joined = np.arange(m)[:, None]
    for among in range(m // 2 + 1):  # members of T among the m-1 other players
        common = np.arange(among + 1)  # members that the subset has of these
        rest = joined - common
        possible = (rest >= 0) & (rest <= m - 1 - among)
        rest = np.where(possible, rest, 0)
        log_ways = (
            log_factorial[among] - log_factorial[common] - log_factorial[among - common]
            + log_factorial[m - 1 - among] - log_factorial[rest]
            - log_factorial[np.where(possible, m - 1 - among - rest, 0)]
            - log_factorial[m - 1] + log_factorial[joined] + log_factorial[m - 1 - joined]
        )  # fmt: skip
        chance = np.where(possible, np.exp(np.where(possible, log_ways, 0.0)), 0.0)
        distance = np.where(possible, joined + among - 2 * common, 0)
        agree = (chance * profile[distance]).sum(axis=1)
        differ = (chance * profile[distance + 1]).sum(axis=1)
        outside[among] = joins @ (amplitude[1:] * differ - amplitude[:-1] * agree)
        if among + 1 < len(inside):
            inside[among + 1] = joins @ (amplitude[1:] * agree - amplitude[:-1] * differ)
    return inside, outside


class RandomGames:
    """The kernel of random games, odd or even, over the subsets of m columns; its semivalues.

    See :func:`kernel_semivalues` for its attributes.
    """

    def __init__(self, joins: Floats, *, odd: bool) -> None:
        self.odd = odd
        self.profile, self.amplitude = kernel_profile(len(joins), odd=odd)
        self.inside, self.outside = kernel_semivalues(joins, self.profile, self.amplitude)


def kernel_matrix_blocks(coalitions: Bools, profile: Floats) -> Iterator[tuple[slice, Floats]]:
    """The matrix ``g(d)`` over the pairs, some columns of it at a time."""
    n_pairs, m = coalitions.shape
    signs = np.where(coalitions, np.float32(1), np.float32(-1))
    for start in range(0, n_pairs, _BLOCK):
        agreement = signs @ signs[start : start + _BLOCK].T
        yield slice(start, start + _BLOCK), profile[((m - agreement) / 2).astype(np.intp)]


def inverse_kernel(coalitions: Bools, profile: Floats) -> Floats:
    """Inverse of ``g(d) + noise`` over the pairs, in the memory of about one such matrix."""
    n_pairs = len(coalitions)
    matrix = np.empty((n_pairs, n_pairs), order="F")
    for block, lines in kernel_matrix_blocks(coalitions, profile):
        matrix[:, block] = lines
    matrix[np.diag_indices(n_pairs)] += KERNEL_NOISE
    factor, failed = lapack.dpotrf(matrix, lower=True, overwrite_a=True)
    inverse, failed_too = lapack.dpotri(factor, lower=True, overwrite_c=True)
    if (
        failed or failed_too
    ):  # impossible: Krawtchouk polynomials are positive definite, and there is noise
        raise np.linalg.LinAlgError("the kernel's matrix is not positive definite")
    # LAPACK fills the lower triangle; block by block to the other side, since index arrays would be
    # larger.
    for start in range(0, n_pairs, _BLOCK):
        block = slice(start, min(start + _BLOCK, n_pairs))
        inverse[:start, block] = inverse[block, :start].T
        corner = np.tril(inverse[block, block])
        inverse[block, block] = corner + np.tril(corner, -1).T
    return np.asarray(inverse)
