"""Draws that a test has at hand, as a list for the one sum and the one run."""

import numpy as np

from shapley2d._estimation.draws import Draw, Draws, Stratum


class Listed(Draws):
    """``draw(number)``: cells, or a whole draw; everything else that a list can say by name."""

    def __init__(self, draw, shape=(3, 2), **said):
        self.draw, self.shape, self.strata = draw, shape, [Stratum()]
        self.count, self.first = 10**6, 8
        vars(self).update(said)

    def __call__(self, number):
        found = self.draw(number)
        return found if isinstance(found, Draw) else drawn(found)


def drawn(cells, labels=0.0, **more):
    """A draw of cells, whose rows are worth something by their labels alone."""
    cells = np.asarray(cells, dtype=float)
    return Draw(np.concatenate([cells, np.full_like(cells[:, :1], labels)], axis=1), **more)


def normal(number, shape=(3, 2)):
    """Normal numbers around 0, 1, 2, ... that depend on the number alone."""
    means = np.arange(float(np.prod(shape))).reshape(shape)
    return np.random.default_rng(number).normal(means, 3.0)
