"""Running means and errors of draws."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.precision import LEVEL, convergence_ratio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from shapley2d._theory.sums import BlockSums

_PARTS = ("cells", "rows", "columns")
_ROUNDING = 1e-9  # variation below this part of the largest value is that of floating-point sums


@dataclass(frozen=True)
class _State:
    """Everything that draws have left behind; replaced as a whole, so that an interrupt never halves an update."""

    count: int
    means: tuple[NDArray[np.float64], ...]
    squares: tuple[NDArray[np.float64], ...]
    sums_mean: NDArray[np.float64]
    products: NDArray[np.float64]


class Moments:
    """Running mean and sum of squared deviations (Welford), of the cells and of their row and column sums.

    Parameters
    ----------
    sums : BlockSums, optional
        Further sums of the cells, whose joint errors are kept too.

    Examples
    --------
    >>> moments = Moments()
    >>> for draw in ([[0.0, 2.0]], [[2.0, 2.0]]):
    ...     moments.add(np.array(draw))
    >>> moments.mean(), moments.stderr().round(3)
    (array([[1., 2.]]), array([[1.   , 0.707]]))
    """

    def __init__(self, sums: BlockSums | None = None) -> None:
        self._sums = sums
        size = 0 if sums is None else len(sums)
        self._state = _State(0, (), (), np.zeros(size), np.zeros((size, size)))

    @property
    def count(self) -> int:
        """Draws taken in."""
        return self._state.count

    def add(self, values: NDArray[np.float64]) -> None:
        """Take in one draw: wholly, or not at all."""
        old = self._state
        count = old.count + 1
        means, squares = [], []
        for k, part in enumerate((values, values.sum(axis=1), values.sum(axis=0))):
            mean = old.means[k] if old.count else np.zeros_like(part)
            off = part - mean
            mean = mean + off / count
            off *= part - mean
            means.append(mean)
            squares.append(old.squares[k] + off if old.count else off)
        sums_mean, products = old.sums_mean, old.products
        if self._sums is not None:
            sums = self._sums.of(values)
            apart = sums - sums_mean
            sums_mean = sums_mean + apart / count
            products = products + np.outer(apart, sums - sums_mean)
        self._state = _State(count, tuple(means), tuple(squares), sums_mean, products)

    def mean(self) -> NDArray[np.float64]:
        """Mean of the draws."""
        return self._state.means[0]

    def stderr(self, part: int = 0) -> NDArray[np.float64]:
        """Standard error of the mean: of the cells (0), the row sums (1) or the column sums (2).

        A cell that was the same in all draws is not known to be the same in all orders. Its error
        is that of one draw which is off by as much as draws of the other cells usually are, or by
        the largest value where nothing varied at all. Sums can be the same in all orders by
        construction, and are taken as they are.
        """
        squares = self._state.squares[part]
        if self.count < 2:
            return np.full_like(squares, np.inf)
        stderr = np.sqrt(squares / (self.count * (self.count - 1)))
        if part == 0:
            varied = self._varied()
            if not varied.all():
                stderr[~varied] = self._usual_deviation(varied) / self.count
        return np.asarray(stderr)

    def _usual_deviation(self, varied: NDArray[np.bool_]) -> float:
        if not varied.any():
            return float(np.abs(self.mean()).max(initial=0.0))
        return float(np.sqrt(np.mean(self._state.squares[0][varied]) / (self.count - 1)))

    def _varied(self) -> NDArray[np.bool_]:
        """Which cells differed between draws, by more than rounding."""
        squares = self._state.squares[0]
        least = _ROUNDING * float(np.abs(self.mean()).max(initial=0.0))
        return np.asarray(squares > (self.count - 1) * least**2)

    @property
    def varied(self) -> bool:
        """Whether any cell differed between draws."""
        return bool(self._varied().any())

    @property
    def dof(self) -> float:
        """Degrees of freedom behind the standard errors."""
        return float(max(self.count - 1, 1))

    def ratio(self) -> float:
        """Largest standard error of a cell relative to the spread of the means.

        Where no cell varied there is no error to relate. Then it is the share of all orders that
        may differ from those drawn: with more, so many draws would have met one with a probability
        of 95 % (the rule of three).
        """
        if self.count > 1 and not self.varied:
            return float(1.0 - (1.0 - LEVEL) ** (1.0 / self.count))
        return convergence_ratio(self.mean(), self.stderr(), self.dof)

    def covariance(self) -> NDArray[np.float64] | None:
        """Covariance of the errors of the further sums."""
        if self._sums is None:
            return None
        if self.count < 2:
            return np.diag(np.full(len(self._sums), np.inf))
        both = self._state.products + self._state.products.T  # equal except for rounding
        return np.asarray(both / (2 * self.count * (self.count - 1)))

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """The state by name, for a file; :meth:`restore` takes it back together with the count."""
        state = self._state
        named = {"sums_mean": state.sums_mean, "products": state.products}
        for part, mean, squares in zip(_PARTS, state.means, state.squares, strict=True):
            named[f"{part}_mean"], named[f"{part}_squares"] = mean, squares
        return named

    def restore(self, count: int, arrays: Mapping[str, NDArray[np.float64]]) -> None:
        """Go on from where :meth:`arrays` was taken; a ValueError says in a phrase why that cannot be."""
        names = [
            "sums_mean",
            "products",
            *(f"{part}_{what}" for part in _PARTS for what in ("mean", "squares")),
        ]
        absent = [name for name in names if name not in arrays]
        if absent or len(arrays) != len(names):
            raise ValueError(
                f"it has no {absent[0]}" if absent else "it has more arrays than it should"
            )
        n, m = arrays["cells_mean"].shape if arrays["cells_mean"].ndim == 2 else (0, 0)
        k = self._state.sums_mean.size
        shapes = {"sums_mean": (k,), "products": (k, k)}
        for part, shape in zip(_PARTS, ((n, m), (n,), (m,)), strict=True):
            shapes |= {f"{part}_mean": shape, f"{part}_squares": shape}
        for name, wanted in shapes.items():
            if arrays[name].shape != wanted or not n * m:
                raise ValueError(
                    f"its {name} has the shape {arrays[name].shape}, which does not fit"
                )
            if not np.isfinite(arrays[name]).all():
                raise ValueError(f"its {name} has entries that are not numbers")
            if name.endswith("squares") and (arrays[name] < 0).any():
                raise ValueError(f"its {name} has entries below 0")
        if self._sums is not None and self._sums.shape != (n, m):
            raise ValueError(f"its values have the shape {(n, m)}, which does not fit")
        self._state = _State(
            count,
            tuple(arrays[f"{part}_mean"] for part in _PARTS),
            tuple(arrays[f"{part}_squares"] for part in _PARTS),
            arrays["sums_mean"],
            arrays["products"],
        )
