"""Losses of tree ensembles: what their trees are fitted on, and what a prediction is worth.

A loss knows its residuals, minus its derivative by every output: each tree is fitted on them. Its
*slope* between two predictions is that derivative averaged over the straight line between them, so
that the change of the loss is the slope times the change of the prediction, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax, xlogy

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats


def _average(y: NDArray[Any], weights: Floats) -> Floats:
    return np.array([np.average(y, weights=weights)])


def _shares(y: NDArray[Any], weights: Floats, n_outputs: int) -> Floats:
    return np.asarray(np.bincount(y, weights, n_outputs) / weights.sum())


def _is_class(y: NDArray[Any], raw: Floats) -> Floats:
    return np.asarray((y[:, None] == np.arange(raw.shape[1])).astype(np.float64))


def _bend(share: Floats) -> Floats:
    return np.asarray(share * (1.0 - share))


def _with_known(y: NDArray[Any], found: Floats) -> Floats:
    """The loss of rows whose class the model knows, 0 of others."""
    return np.where((y >= 0).reshape(-1, *[1] * (found.ndim - 1)), found, 0.0)


@dataclass(frozen=True, eq=False)
class Loss:
    """The loss of a model whose raw predictions have one or several outputs.

    Targets are numbers, or the numbers of classes; -1 is a class that the model does not know.

    ``each(y, raw)``: the loss of every row; ``raw`` has one column per output.
    ``residuals(y, raw)``: minus the derivatives of the loss by the outputs, of the shape of
        ``raw``.
    ``best_constant(y, weights, n_outputs)``: the raw prediction that fits best without any column.
    ``curvature(y, raw)``: the second derivatives, up to a factor; ones where there are none.
    ``readable(y, raw)``: predictions as people know them: of the target, or the probability of a
        label.
    ``straight(y, start, raw)``: the slopes, where the change of the loss does not give them.
    ``curved``: whether there are second derivatives.
    ``by_class``: whether all trees predict the shares of all classes.
    ``names``: what the libraries call it.
    ``scikit_learn, factor``: the score of scikit-learn that is minus this loss times the factor.
    """

    name: str
    each: Callable[..., Floats]
    residuals: Callable[..., Floats]
    best_constant: Callable[..., Floats]
    curvature: Callable[..., Floats] = lambda _, raw: np.ones_like(raw)
    readable: Callable[..., Floats] = lambda _, raw: raw[:, 0]
    straight: Callable[..., Floats] | None = None
    curved: bool = True
    by_class: bool = False
    names: tuple[str, ...] = ()
    scikit_learn: str = ""
    factor: float = 1.0

    @property
    def share(self) -> str:
        """The name of the default score: the share of this loss that predictions remove."""
        own = {PROBABILITY.name: "probability", SQUARED.name: "r2"}
        return own.get(self.name, f"{self.name.lower().replace(' ', '_')}_removed")

    def slopes(self, y: NDArray[Any], start: Floats, raw: Floats) -> Floats:
        """Minus the derivatives, averaged over the straight lines from ``start`` to ``raw``."""
        if self.straight is not None:
            return self.straight(y, start, raw)
        step, start = raw - start, np.broadcast_to(start, raw.shape)
        moves = np.abs(step) > 1e-9 * (1 + np.abs(start))
        change = self.each(y, start) - self.each(y, raw)
        found = np.divide(change[:, None], step, out=np.zeros_like(raw), where=moves)
        return np.asarray(np.where(moves, found, self.residuals(y, start)))


PROBABILITY = Loss(
    "probability",
    each=lambda y, raw: -_with_known(y, raw[np.arange(y.size), y]),
    residuals=_is_class,
    best_constant=_shares,
    readable=lambda y, raw: _with_known(y, raw[np.arange(y.size), y]),
    straight=lambda y, _, raw: _is_class(y, raw),
    curved=False,
    by_class=True,
)
"""Minus the probability of the right label, in forests of classification: linear."""

SQUARED = Loss(
    "squared error",
    each=lambda y, raw: (y - raw[:, 0]) ** 2,
    residuals=lambda y, raw: y[:, None] - raw,
    best_constant=lambda y, weights, _: _average(y, weights),
    straight=lambda y, start, raw: 2.0 * y[:, None] - start - raw,
    names=("squared_error", "regression", "reg:squarederror", "RMSE"),
    scikit_learn="neg_mean_squared_error",
)

LOG: Loss = Loss(
    "log loss",
    each=lambda y, raw: _with_known(y, np.logaddexp(0.0, raw[:, 0]) - y * raw[:, 0]),
    residuals=lambda y, raw: _with_known(y, y[:, None] - expit(raw)),
    best_constant=lambda y, weights, _: np.asarray(logit(_average(y, weights))),
    curvature=lambda _, raw: _bend(expit(raw)),
    readable=lambda y, raw: np.exp(-LOG.each(y, raw)),
    names=("binary", "binary:logistic", "binary:logitraw", "Logloss"),
    scikit_learn="neg_log_loss",
)
"""The log loss of two classes; the output is the log odds of the second."""


def _log_shares(y: NDArray[Any], weights: Floats, n_outputs: int) -> Floats:
    with np.errstate(divide="ignore"):  # a class without rows
        return np.asarray(np.log(_shares(y, weights, n_outputs)))


def _softmax_slopes(y: NDArray[Any], start: Floats, raw: Floats) -> Floats:
    """By Gauss and Legendre: the nodes grow with the longest step, to full precision."""
    step, found = raw - start, np.zeros_like(raw)
    count = 16 + 4 * int(np.ceil(np.ptp(step, axis=1).max(initial=0.0)))
    for place, weight in zip(*np.polynomial.legendre.leggauss(count), strict=True):
        found += weight / 2 * SOFTMAX.residuals(y, start + (place + 1) / 2 * step)
    return found


SOFTMAX: Loss = Loss(
    "log loss",
    each=lambda y, raw: _with_known(y, logsumexp(raw, axis=1) - raw[np.arange(y.size), y]),
    residuals=lambda y, raw: _with_known(y, _is_class(y, raw) - softmax(raw, axis=1)),
    best_constant=_log_shares,
    curvature=lambda _, raw: _bend(softmax(raw, axis=1)),
    readable=lambda y, raw: np.exp(-SOFTMAX.each(y, raw)),
    straight=_softmax_slopes,
    names=("multiclass", "multi:softmax", "multi:softprob", "MultiClass"),
    scikit_learn="neg_log_loss",
)
"""The log loss of several classes, one output for each."""

POISSON = Loss(
    "Poisson deviance",
    each=lambda y, raw: np.exp(raw[:, 0]) - y * raw[:, 0] + xlogy(y, y) - y,
    residuals=lambda y, raw: y[:, None] - np.exp(raw),
    best_constant=lambda y, weights, _: np.log(_average(y, weights)),
    curvature=lambda _, raw: np.exp(raw),
    readable=lambda _, raw: np.exp(raw[:, 0]),
    names=("poisson", "count:poisson", "Poisson"),
    scikit_learn="neg_mean_poisson_deviance",
    factor=2.0,
)
"""Half the Poisson deviance; the output is the logarithm of the mean."""

GAMMA = Loss(
    "Gamma deviance",
    each=lambda y, raw: y * np.exp(-raw[:, 0]) - np.log(y) + raw[:, 0] - 1.0,
    residuals=lambda y, raw: y[:, None] * np.exp(-raw) - 1.0,
    best_constant=POISSON.best_constant,
    curvature=lambda y, raw: y[:, None] * np.exp(-raw),
    readable=POISSON.readable,
    names=("gamma", "reg:gamma"),
    scikit_learn="neg_mean_gamma_deviance",
    factor=2.0,
)
"""Half the Gamma deviance; the output is the logarithm of the mean."""


def quantile_loss(quantile: float) -> Loss:
    """The pinball loss of a quantile; half the absolute error for the median."""

    def side(off: Floats) -> Floats:
        return np.where(off >= 0, quantile, quantile - 1.0)

    def reached(y: NDArray[Any], weights: Floats, _: int) -> Floats:
        order = np.argsort(y)
        shares = np.cumsum(weights[order]) / weights.sum()
        return np.array([y[order][np.searchsorted(shares, quantile)]], dtype=np.float64)

    return Loss(
        "pinball loss",
        each=lambda y, raw: side(y - raw[:, 0]) * (y - raw[:, 0]),
        residuals=lambda y, raw: side(y[:, None] - raw),
        best_constant=reached,
        curved=False,
        scikit_learn="neg_mean_absolute_error" if quantile == 0.5 else "",
        factor=2.0,
    )


MEDIANS = ("absolute_error", "regression_l1", "reg:absoluteerror", "MAE")
QUANTILES = ("quantile", "reg:quantileerror", "Quantile")
"""What libraries call the losses of the median, and of a quantile that is given."""

LOSSES = {name: loss for loss in (SQUARED, LOG, SOFTMAX, POISSON, GAMMA) for name in loss.names}
"""Other losses of boosted trees, by all of their names."""
