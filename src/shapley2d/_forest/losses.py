"""Losses of tree ensembles: what their trees are fitted on, and what a prediction is worth.

A loss knows its residuals, minus its derivative by every output: each tree is fitted on them. Its
*slope* between two predictions is that derivative averaged over the straight line between them, so
that the change of the loss is the slope times the change of the prediction, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy.special import expit, logsumexp, softmax, xlogy

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[Any]


@dataclass(frozen=True)
class Loss:
    """The loss of a model whose raw predictions have one or several outputs.

    Targets are numbers, or the numbers of classes; -1 is a class that the model does not know.
    """

    name: ClassVar[str]
    curved: ClassVar[bool] = True

    def each(self, y: Numbers, raw: Floats) -> Floats:
        """The loss of every row; ``raw`` has one column per output."""
        raise NotImplementedError

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        """Minus the derivatives of the loss by the outputs, of the shape of ``raw``."""
        raise NotImplementedError

    def curvature(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        """The second derivatives, up to a factor; ones where there are none."""
        return np.ones_like(raw)

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:
        """The raw prediction that fits targets best without any column."""
        raise NotImplementedError

    def readable(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        """Predictions as people know them: of the target, or the probability of a label."""
        return np.asarray(raw[:, 0])

    def slopes(self, y: Numbers, start: Floats, raw: Floats) -> Floats:
        """Minus the derivatives, averaged over the straight lines from ``start`` to ``raw``."""
        step = raw - start
        start = np.broadcast_to(start, raw.shape)
        moves = np.abs(step) > 1e-9 * (1 + np.abs(start))
        change = self.each(y, start) - self.each(y, raw)
        found = np.divide(change[:, None], step, out=np.zeros_like(raw), where=moves)
        return np.asarray(np.where(moves, found, self.residuals(y, start)))


class RightProbability(Loss):
    """Minus the probability of the right label, in forests of classification: linear."""

    name = "probability"
    curved = False

    def each(self, y: Numbers, raw: Floats) -> Floats:
        return -np.where(y >= 0, raw[np.arange(y.size), y], 0.0)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray((y[:, None] == np.arange(raw.shape[1])).astype(np.float64))

    def readable(self, y: Numbers, raw: Floats) -> Floats:
        return -self.each(y, raw)

    def slopes(self, y: Numbers, start: Floats, raw: Floats) -> Floats:  # noqa: ARG002
        return self.residuals(y, raw)

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:
        return np.asarray(np.bincount(y, weights, n_outputs) / weights.sum())


class SquaredError(Loss):
    """The squared error."""

    name = "squared error"

    def each(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray((y - raw[:, 0]) ** 2)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(y[:, None] - raw)

    def slopes(self, y: Numbers, start: Floats, raw: Floats) -> Floats:
        return np.asarray(2.0 * y[:, None] - start - raw)

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:  # noqa: ARG002
        return np.array([np.average(y, weights=weights)])


class LogLoss(Loss):
    """The log loss of two classes; the output is the log odds of the second."""

    name = "log loss"

    def each(self, y: Numbers, raw: Floats) -> Floats:
        return np.where(y >= 0, np.logaddexp(0.0, raw[:, 0]) - y * raw[:, 0], 0.0)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(np.where(y >= 0, y - expit(raw[:, 0]), 0.0)[:, None])

    def readable(self, y: Numbers, raw: Floats) -> Floats:
        return np.exp(-self.each(y, raw))

    def curvature(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        right = expit(raw)
        return np.asarray(right * (1.0 - right))

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:  # noqa: ARG002
        share = np.average(y, weights=weights)
        return np.array([np.log(share) - np.log1p(-share)])


class SoftmaxLoss(Loss):
    """The log loss of several classes, one output for each."""

    name = "log loss"

    def each(self, y: Numbers, raw: Floats) -> Floats:
        return np.where(y >= 0, logsumexp(raw, axis=1) - raw[np.arange(y.size), y], 0.0)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        is_class = y[:, None] == np.arange(raw.shape[1])
        return np.asarray(np.where(y[:, None] >= 0, is_class - softmax(raw, axis=1), 0.0))

    def readable(self, y: Numbers, raw: Floats) -> Floats:
        return np.exp(-self.each(y, raw))

    def curvature(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        right = softmax(raw, axis=1)
        return np.asarray(right * (1.0 - right))

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:
        with np.errstate(divide="ignore"):  # a class without rows
            return np.asarray(np.log(np.bincount(y, weights, n_outputs) / weights.sum()))

    def slopes(self, y: Numbers, start: Floats, raw: Floats) -> Floats:
        """By Gauss and Legendre: the nodes grow with the longest step, to full precision."""
        step = raw - start
        count = 16 + 4 * int(np.ceil(np.ptp(step, axis=1).max(initial=0.0)))
        places, weights = np.polynomial.legendre.leggauss(count)
        found = np.zeros_like(raw)
        for place, weight in zip((places + 1) / 2, weights / 2, strict=True):
            found += weight * self.residuals(y, start + place * step)
        return found


class PoissonLoss(Loss):
    """Half the Poisson deviance; the output is the logarithm of the mean."""

    name = "Poisson deviance"

    def each(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(np.exp(raw[:, 0]) - y * raw[:, 0] + xlogy(y, y) - y)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(y[:, None] - np.exp(raw))

    def readable(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        return np.exp(raw[:, 0])

    def curvature(self, y: Numbers, raw: Floats) -> Floats:  # noqa: ARG002
        return np.exp(raw)

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:  # noqa: ARG002
        return np.log([np.average(y, weights=weights)])


class GammaLoss(PoissonLoss):
    """Half the Gamma deviance; the output is the logarithm of the mean."""

    name = "Gamma deviance"

    def each(self, y: Numbers, raw: Floats) -> Floats:
        ratio = y * np.exp(-raw[:, 0])
        return np.asarray(ratio - np.log(ratio) - 1.0)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(y[:, None] * np.exp(-raw) - 1.0)

    def curvature(self, y: Numbers, raw: Floats) -> Floats:
        return np.asarray(y[:, None] * np.exp(-raw))


@dataclass(frozen=True)
class QuantileLoss(Loss):
    """The pinball loss of a quantile; half the absolute error for the median."""

    name = "pinball loss"
    curved = False

    quantile: float = 0.5

    def each(self, y: Numbers, raw: Floats) -> Floats:
        off = y - raw[:, 0]
        return np.asarray(np.where(off >= 0, self.quantile, self.quantile - 1.0) * off)

    def residuals(self, y: Numbers, raw: Floats) -> Floats:
        return np.where(y[:, None] >= raw, self.quantile, self.quantile - 1.0)

    def best_constant(self, y: Numbers, weights: Floats, n_outputs: int) -> Floats:  # noqa: ARG002
        order = np.argsort(y)
        reached = np.cumsum(weights[order]) / weights.sum()
        return np.array([y[order][np.searchsorted(reached, self.quantile)]], dtype=np.float64)
