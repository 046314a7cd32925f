"""Two stories of an entry: it belongs to its row, or it is an error. The log of the ratio of their likelihoods.

It belongs: drawn from what the forest expects there. It is an error: half the time another entry of
the column, such as a swap, half the time anything, that is any category alike or a number from a
wide distribution with heavy tails.

Numbers are compared by densities, on a scale on which far ones draw together: asinh of the distance
from the median in spreads. A number that many rows share has a mass instead, as a category has.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.recipe import (
    ANYTHING,
    ATOM_ROWS,
    ATOM_SHARE,
    HALF_WIDTH,
    NARROWEST,
    WIDE,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._inspection.coding import Coded

_FAR = 1e100  # spreads from the median; beyond, numbers are alike
_NEVER = 1e-300


@dataclass(frozen=True)
class Scale:
    """Where the bins of a column of numbers lie on the squashed scale.

    Attributes
    ----------
    middle, spread : float
        Of the column.
    positions, widths : ndarray of shape (bins,)
        Of the kernels that stand for the bins.
    atoms : ndarray of bool, shape (bins,)
        Bins of one number that many rows have.
    """

    middle: float
    spread: float
    positions: NDArray[np.float64]
    widths: NDArray[np.float64]
    atoms: NDArray[np.bool_]

    @classmethod
    def of(cls, coded: Coded) -> Scale:
        """The scale of a column."""
        entries, centres = coded.ordered, coded.centres
        middle, spread = float(np.median(entries)), _spread(entries)
        positions = squash(centres, middle, spread)
        gaps = np.diff(positions)
        # every kernel reaches as far as its nearer neighbour
        nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
        if centres.size > 2:
            nearest[0], nearest[-1] = gaps[:2].min(), gaps[-2:].min()
        counts = np.diff(coded.starts)
        single = coded.ordered[coded.starts[:-1]] == coded.ordered[coded.starts[1:] - 1]
        return cls(
            middle,
            spread,
            positions,
            (0.25 if coded.graded else 0.5) * np.maximum(nearest, NARROWEST),
            single & (counts >= max(ATOM_ROWS, ATOM_SHARE * entries.size)),
        )


def _spread(entries: NDArray[np.float64]) -> float:
    """The interquartile range as standard deviations; where it is 0, the usual distance of those that differ."""
    low, high = np.percentile(entries, [25, 75])
    if high > low:
        return float((high - low) / HALF_WIDTH)
    away = np.abs(entries - np.median(entries))
    away = away[away > 0]
    return float(np.median(away)) if away.size else 1.0


def squash(entries: NDArray[np.float64], middle: float, spread: float) -> NDArray[np.float64]:
    """Distances from the middle in spreads, far ones drawn together."""
    with np.errstate(over="ignore"):
        return np.asarray(np.arcsinh(((entries - middle) / spread).clip(-_FAR, _FAR)))


def category_stories(
    coded: Coded, own: NDArray[np.float64], bins: NDArray[np.int32]
) -> NDArray[np.float64]:
    """Log-likelihood of an error minus that of belonging, for bins without order; ``own`` is the chance of the bin."""
    error = (1 - ANYTHING) * coded.shares[bins] + ANYTHING / (coded.n_bins + 1)
    return np.asarray(np.log(error) - np.log(own))


def number_stories(
    coded: Coded,
    scale: Scale,
    values: NDArray[np.float64],
    bins: NDArray[np.int32],
    chances: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The same for numbers.

    Parameters
    ----------
    coded, scale
        The column.
    values, bins : ndarray of shape (rows,)
        Its entries and their bins in some rows.
    chances : ndarray of shape (rows, bins)
    """
    rows = np.arange(values.size)
    place = squash(values, scale.middle, scale.spread)
    near = logistic_density((place[:, None] - scale.positions) / scale.widths) / scale.widths
    filled = coded.filled
    belongs = np.einsum("ij,ij->i", chances[:, :filled], near)
    another = np.einsum(
        "ij,j->i", near, coded.shares[:filled]
    )  # BLAS may round otherwise on other machines
    anything = 1 / (np.pi * WIDE * (1 + (place / WIDE) ** 2))
    mass = 1.0 / (coded.n_bins + 1)
    atom = scale.atoms[bins]
    if coded.graded and scale.atoms.any():
        # few values, most of them frequent: the others have what their kernel holds within a step
        step = 2 * scale.widths[bins]
        belongs, another, anything = (
            belongs * step,
            another * step,
            np.minimum(anything * step, mass),
        )
    belongs = np.where(atom, chances[rows, bins], belongs)
    another = np.where(atom, coded.shares[bins], another)
    if not coded.graded:
        anything = np.where(atom, mass, anything)
    error = (1 - ANYTHING) * another + ANYTHING * anything
    return np.asarray(np.log(error + _NEVER) - np.log(belongs + _NEVER))


def logistic_density(distance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Density of the logistic distribution."""
    fallen = np.exp(-np.abs(distance))
    return np.asarray(fallen / (1 + fallen) ** 2)
