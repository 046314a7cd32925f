"""One sum of numbered draws of values that come with the error lines of validation rows.

A draw is a matrix of values, with error lines behind every value: numbers that add up as values do,
and whose squares sum to the variance that other validation rows would make. All draws share their
validation rows, so their lines are added first and squared last. What other draws would make shows
in how draws differ.

Draws of orders know the place of every row player. First places are worth most, so that plain means
are off by who came first how often: what the place explains is therefore taken from all players
together (a control variate), and where the values of the first and of the last place are known, as
they are for one column, no order is asked for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.precision import interval_factor
from shapley2d._estimation.rounds import Rounds, pieces_needed

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._estimation.checkpoint import Checkpoint, Saved

LEAST_ORDERS = 40
"""Orders before the errors are looked at: by 10 they are too small for some players in ten."""


LEAST_ERROR = 10
"""Orders before there is an answer."""


class Draw(NamedTuple):
    """Values (n, m, 1 + lines), sets that were scored on the way, and the places of an order."""

    values: Floats
    sets: Bools  # (count, n)
    scores: Floats  # (count, 3): score, its standard error, that of what it loses against all
    places: Ints | None = None  # (n,)

    @property
    def nbytes(self) -> int:
        """Memory of a draw that waits to be added."""
        return int(self.values.nbytes + self.scores.nbytes)


class Total:
    """What draws are added to, in their order: no worker and no restart changes a bit.

    ``most``: draws at most; all of a list that ends (``orders`` is false) are needed.
    ``ends``: what the first and what the last place of an order is worth to every player, where
        that is known: (2, n, m, 1 + lines), weighted as a step of an order is.
    ``tolerance``: orders are enough where the largest error that they make is at most this share of
        the spread of the values, or where they make intervals at most a fifth wider.
    """

    def __init__(
        self,
        shape: tuple[int, int, int],
        most: int,
        *,
        orders: bool,
        ends: Floats | None = None,
        tolerance: float = 0.0,
    ) -> None:
        n, m, _ = shape
        self.shape, self.most, self.orders = shape, most, orders
        self.count, self._ends, self._tolerance = 0, ends, tolerance
        least = min(LEAST_ORDERS, most) if orders else most
        self.rounds = Rounds(least, needed=float(least) if not orders else 0.0)
        self.sum = np.zeros(shape)
        self.sets: list[Bools] = []
        self.scores: list[Floats] = []
        self._between = np.ones(n, dtype=bool)  # places whose worth is sampled
        if ends is not None:
            self._between[[0, -1]] = False
        if orders:
            self.by_place = np.zeros(shape)  # the sum over draws of who was in each place
            self.hits = np.zeros((n, n))  # how often a player was in a place
            self.at_place = np.zeros((n, n, m + 1))  # scores there, of cells and of their row
            self.squares = np.zeros((n, m + 1))
            self.column_sums, self.column_squares = np.zeros(m), np.zeros(m)

    @property
    def has_error(self) -> bool:
        """Whether there is an answer: after all draws of a list that ends, or ten orders."""
        return self.count >= (min(LEAST_ERROR, self.most) if self.orders else self.most)

    def add(self, draw: Draw) -> None:
        """Add the next draw."""
        self.sets.append(draw.sets)
        self.scores.append(draw.scores)
        self.count += 1
        if draw.places is None:
            self.sum += draw.values
            return
        players, places = np.arange(len(draw.places)), draw.places
        middle = self._between[places]
        self.by_place[places] += draw.values
        self.sum[middle] += draw.values[middle]
        score = draw.values[:, :, 0]
        own = np.concatenate([score, score.sum(axis=1, keepdims=True)], axis=1)
        self.hits[players[middle], places[middle]] += 1
        self.at_place[players[middle], places[middle]] += own[middle]
        self.squares[middle] += own[middle] ** 2
        self.column_sums += score.sum(axis=0)
        self.column_squares += score.sum(axis=0) ** 2

    def values(self, whole: Floats | None = None) -> Floats:
        """Values and their error lines; they sum to ``whole`` where it is given."""
        if not self.orders:
            return self.sum
        n, m, _ = self.shape
        usual = self.by_place / self.count
        hits, between = self.hits, self._between
        own = (self.sum - np.einsum("ip,pml->iml", hits, usual)) / self._met[:, None, None]
        found = between.mean() * (own + usual[between].mean(axis=0))
        if self._ends is not None:
            found = found + self._ends.sum(axis=0) / n
        if whole is not None:
            found = found + (whole - found.sum(axis=(0, 1))) / (n * m)
        return np.asarray(found)

    @property
    def _met(self) -> Floats:
        """In how many orders each player was between the ends."""
        return np.asarray(np.maximum(self.hits.sum(axis=1), 1.0))

    def variances(self) -> Floats:
        """What other orders would change, as variances: of cells, and last of row sums."""
        n, m, _ = self.shape
        if not self.orders:
            return np.zeros((n, m + 1))
        usual = self.by_place[:, :, 0] / self.count
        usual = np.concatenate([usual, usual.sum(axis=1, keepdims=True)], axis=1)
        met, hits = self._met[:, None], self.hits
        mean = (self.at_place.sum(axis=1) - hits @ usual) / met
        squares = self.squares - 2 * np.einsum("ipm,pm->im", self.at_place, usual) + hits @ usual**2
        spread = np.maximum(squares - met * mean**2, 0.0) / np.maximum(met - 1, 1.0)
        return np.asarray(self._between.mean() ** 2 * spread / met)

    def column_variances(self) -> Floats:
        """The same of column sums."""
        if not self.orders or self.count < 2:
            return np.zeros(self.shape[1])
        spread = self.column_squares - self.column_sums**2 / self.count
        return np.asarray(np.maximum(spread, 0.0) / (self.count * (self.count - 1)))

    @property
    def dof(self) -> float:
        """Degrees of freedom of :meth:`variances`: those of the player met least often."""
        return float(max(self._met.min() - 1, 1.0)) if self.orders else np.inf

    def look(self) -> tuple[float, float]:
        """The largest error by orders relative to the spread of values, and the draws needed."""
        if not self.orders:
            return 0.0, 0.0
        values, of_orders = self.values(), self.variances()[:, -1]
        rows = values.sum(axis=1)
        of_rows = np.square(rows[:, 1:]).sum(axis=1)
        spread = float(np.ptp(rows[:, 0]))
        error = float(np.sqrt(of_orders.max())) * interval_factor(self.dof) / interval_factor()
        ratio = error / spread if spread > 0 else float(error > 0)
        # errors add in squares: by this share of the other one the sum is a fifth longer
        wider = 0.66 * float(np.sqrt(of_rows.max())) / spread if spread > 0 else 0.0
        wanted = max(self._tolerance, wider) if self._tolerance else 0.0
        return ratio, pieces_needed(self.count, ratio, wanted)

    def note(self) -> str:
        """How far it is, for a progress report."""
        what = "random orders" if self.orders else "parts of all sets"
        return (
            f"{self.count:,} of {self.most:,} {what}"
            if not self.orders
            else (f"{self.count:,} {what}")
        )

    _SUMS = ("sum", "by_place", "hits", "at_place", "squares", "column_sums", "column_squares")

    def save(self, checkpoint: Checkpoint) -> None:
        """Save all sums."""
        checkpoint.save(self.count, self._arrays(), self.rounds.facts())

    def _arrays(self) -> dict[str, Any]:
        flat = {name: getattr(self, name) for name in self._SUMS if hasattr(self, name)}
        found = {name: one.reshape(len(one), -1) for name, one in flat.items()}
        sets = np.concatenate(self.sets) if self.sets else np.zeros((0, self.shape[0]))
        scores = np.concatenate(self.scores) if self.scores else np.zeros((0, 3))
        return {**found, "sets": sets.astype(np.float64), "scores": scores}

    def restore(self, saved: Saved) -> None:
        """Resume from a checkpoint; a ValueError says why it is not sound."""
        if saved.count > self.most:
            raise ValueError(f"it counts {saved.count:,} draws of {self.most:,}")
        shapes = {name: one.shape for name, one in self._arrays().items()}
        rows = len(saved.arrays.get("sets", ()))
        saved.check_arrays({**shapes, "sets": (rows, self.shape[0]), "scores": (rows, 3)})
        for name in self._SUMS:
            if name in saved.arrays:
                old = getattr(self, name)
                setattr(self, name, saved.arrays[name].reshape(old.shape).copy())
        self.sets, self.scores = [saved.arrays["sets"] > 0], [saved.arrays["scores"]]
        self.rounds.restore(saved.facts, saved.count)
        self.count = saved.count
