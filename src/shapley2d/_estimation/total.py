"""The one sum that draws are added to: values, standard errors, and what they rest on.

A draw may know a part of its own error, by the column subsets that it has sampled; the rest shows
in how draws differ (Welford 1962, doi:10.2307/1266577). One formula serves all lists. With the
share f of a finite list used,

    variance of the mean  =  (1 - f) (how draws differ)  +  f (their own errors):

a list without an end has f = 0, and one that is used up leaves the draws' own errors only, 0 where
they have none. Errors by validation rows, which all draws share, are added first and squared last.

Draws of random orders know the place of every player. First places are worth most, so that plain
means are off by who came first how often. What a place is usually worth, by the draws before, is
taken from a draw, and the mean over places given back (a control variate; a place does not depend
on the draws before, so the mean stays unbiased).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._base.precision import LEVEL, convergence_ratio, interval_factor, with_unseen
from shapley2d._estimation.estimate import Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._estimation.draws import Draw, Draws, Stratum

_PARTS = ("cells", "rows", "columns", "total")
_SAME = 1e-9  # variation below this share of the largest value is that of floating-point sums


class Lines(NamedTuple):
    """What is linear after a draw: the baseline, and further sums of cells.

    ``first`` (m,): what each column gets of what the labels alone predict: 0 where values count
        from there, and the weight of the column that joins first where they count from 0. So a
        baseline is a term of rank one, the same for every method.
    ``sums`` (g, n, m): sums of cells whose joint errors are wanted.
    """

    first: Floats | None = None
    sums: Floats | None = None

    def read(self, draw: Floats, rows: Any = slice(None)) -> dict[str, Floats]:
        """The parts of values (..., n, m + 1), n being some of the rows."""
        values = draw[..., :-1]
        if self.first is not None:
            values = values + draw[..., -1:] * self.first
        columns = values.sum(axis=-2)
        found = dict(
            zip(
                _PARTS,
                (values, values.sum(axis=-1), columns, columns.sum(axis=-1, keepdims=True)),
                strict=True,
            )
        )
        if self.sums is not None:
            found["sums"] = np.einsum("gnm,...nm->...g", self.sums[:, rows], values)
        return found


class _Moments:
    """The weighted sum of one part of the draws of a stratum, and sums of squares.

    ``between``: of how draws differ; ``within``: of their own errors.
    ``joint``: whether the squares are products of all pairs.
    """

    def __init__(self, shape: tuple[int, ...], order: Any, *, joint: bool, squared: bool) -> None:
        self.joint = joint
        squares = (2 * shape if joint else shape) if squared else (0,)
        self.total = np.zeros(shape, order=order)
        self.between: Floats = np.zeros(squares, order=order)
        self.within: Floats = np.zeros(squares, order=order)

    def add(self, value: Floats, errors: Floats | None, weight: float, before: float) -> float:
        """Add a draw; returns what it adds to the squares of how draws differ."""
        added = 0.0
        if self.between.size:
            if before:
                off = self.total / -before
                off += value
                off = np.outer(off, off) if self.joint else np.square(off, out=off)
                off *= weight * before / (before + weight)
                self.between += off
                added = float(off.sum())
            if errors is not None:
                squares = errors.T @ errors if self.joint else np.einsum(
                    "l...,l...->...", errors, errors
                )  # fmt: skip
                self.within += weight**2 * squares
        self.total += weight * value if weight != 1 else value
        return added


class Total:
    """The answer so far: draws of all strata, added in their order.

    Neither workers nor restarts change a bit of it.
    """

    def __init__(self, draws: Draws, lines: Lines) -> None:
        self.draws, self.lines = draws, lines
        n, m = draws.shape
        self.count, self.notes = 0, dict[str, list[Any]]()
        self._parts, order = [], "F" if draws.by_column else "C"
        self._sizes = [len(range(n)[one.rows]) if isinstance(one.rows, slice) else len(one.rows)
                       for one in draws.strata]  # fmt: skip
        for size in self._sizes:
            shapes = dict(zip(_PARTS, ((size, m), (size,), (m,), (1,)), strict=True))
            if lines.sums is not None:
                shapes["sums"] = (len(lines.sums),)
            self._parts.append(
                {
                    name: _Moments(shape, order, joint=name == "sums", squared=not draws.exact)
                    for name, shape in shapes.items()
                }
            )
        # of every stratum: weight, draws, fourth powers of own errors, and how far draws are off:
        # the largest square of one of them, and all squares
        self._seen = np.zeros((len(self._sizes), 5))
        self._common = [np.zeros((draws.lines, size, m + 1)) for size in self._sizes]
        ordered = range(len(self._sizes)) if draws.ordered else []
        self._usual = [np.zeros(self.shape_of(k)) for k in ordered]

    def shape_of(self, k: int) -> tuple[int, ...]:
        """The shape of the values of a draw of a stratum."""
        trailing = (1 + self.draws.lines,) if self.draws.lines else ()
        return (self._sizes[k], self.draws.shape[1] + 1, *trailing)

    def add(self, draw: Draw) -> None:
        """Add the next draw."""
        k, values = draw.stratum, draw.values
        stratum, seen = self.draws.strata[k], self._seen[k]
        if draw.order is not None:
            values, off = self._in_place(draw, k)
        if self.draws.lines:
            self._common[k] += draw.weight * np.moveaxis(values[..., 1:], -1, 0)
            values = values[..., 0]
        read = self.lines.read
        errors = {} if draw.errors is None else read(draw.errors, stratum.rows)
        for name, value in read(values, stratum.rows).items():
            added = self._parts[k][name].add(value, errors.get(name), draw.weight, seen[0])
            if name == "cells" and draw.order is None:
                off = added
        if errors:
            squares = np.square(np.square(errors["cells"]).sum(axis=0)).mean()
            seen[2] += draw.weight**4 * squares / (draw.dof + 2)
        seen += draw.weight, 1, 0, max(off - seen[3], 0.0), off
        for name, note in draw.notes.items():
            self.notes.setdefault(name, []).append(note)
        self.count += 1

    def _in_place(self, draw: Draw, k: int) -> tuple[Floats, float]:
        """Values of an order, less what their places are usually worth, for the players there.

        And the square by which they are off from what is usual in their places.
        """
        assert draw.order is not None
        rows, columns = draw.order
        placed, usual, before = draw.values, self._usual[k], self._seen[k, 1]
        middle = slice(None) if self.draws.ends is None else slice(1, -1)
        mean = _mean_of_places(usual[middle])
        # by few draws it is hardly known: half of it is taken after two
        found = placed - (usual - mean) * (before / (before + 2))
        if self.draws.ends is not None:  # the first and the last place are known of every player
            first, last = self.draws.ends[:, rows]
            n = len(rows)
            expected = (first + last + (n - 2) * mean) / n
            found += expected - mean
            found[[0, -1]] = expected[[0, -1]]
            found += (placed.sum(axis=0) - found.sum(axis=0)) / n
        off = placed - usual
        usual += off / (before + 1)
        values = np.empty_like(found)
        values[np.ix_(rows, np.append(columns, len(columns)))] = found
        off = off[..., 0] if self.draws.lines else off
        return values, float(np.square(off).sum() * before / (before + 1))

    def notes_of(self, name: str) -> NDArray[Any]:
        """What draws have noted under a name."""
        return np.concatenate(self.notes[name])

    def mean(self, part: str = "cells") -> Floats:
        """The values by now, or sums of them."""
        return self._placed(part, lambda k, one: one.total * self._share(k))

    def common(self, part: str = "cells") -> Floats:
        """Error lines by the validation rows, of values or of sums of them."""
        lines = np.zeros((self.draws.lines, self.draws.shape[0], self.draws.shape[1] + 1))
        for k, one in enumerate(self._strata):
            lines[:, one.rows] += self._common[k] * self._share(k)
        return self.lines.read(lines)[part]

    def _share(self, k: int) -> float:
        """What the sum of the draws of a stratum counts."""
        return self._strata[k].share / (1.0 if self.draws.exact else max(self._seen[k, 0], 1e-300))

    def variance(self, part: str = "cells") -> Floats:
        """Variances of the mean, by draws alone."""
        return self._placed(part, self._variance_of(part))

    def _variance_of(self, part: str) -> Callable[[int, _Moments], Floats]:
        alike = part in ("cells", "rows")

        def variance(k: int, one: _Moments) -> Floats:
            factors, count, share = self._factors(k), int(self._seen[k, 1]), self._strata[k].share
            squares = one.between
            if one.joint:
                squares = squares + np.diag(4 * np.diag(squares) / max(count, 1))
            elif part == "total" and not math.isinf(self._strata[k].size):
                # the one total may not have varied yet: as if columns were apart
                columns = self._parts[k]["columns"].between
                squares = squares + (with_unseen(columns, count, alike=False) - columns).sum()
            else:
                squares = with_unseen(squares, count, alike=alike)
            return np.asarray(share**2 * (factors[0] * squares + factors[1] * one.within))

        return variance

    def _placed(self, part: str, get: Callable[[int, _Moments], Floats]) -> Floats:
        """Parts of strata at their places in the whole table, added up."""
        found: Any = 0.0
        for k, stratum in enumerate(self._strata):
            value = get(k, self._parts[k][part])
            if part in ("cells", "rows") and not isinstance(stratum.rows, slice):
                wide = np.zeros((self.draws.shape[0], *value.shape[1:]))
                wide[stratum.rows] = value
                value = wide
            found = found + value
        return np.ascontiguousarray(found)

    @property
    def _strata(self) -> list[Stratum]:
        return self.draws.strata

    def _factors(self, k: int) -> tuple[float, float]:
        """What the two sums of squares count in the variance of a stratum's mean."""
        seen, count = self._seen[k, :2].tolist()
        open_ = self._partial(k) * (1 - self._partial(k) / self._strata[k].size) / max(seen, 1e-300)
        between = open_ / (seen * (count - 1)) if count > 1 else 0.0
        return between, (1 - open_) / max(seen, 1e-300) ** 2

    def _partial(self, k: int) -> float:
        """The weight of draws of an unfinished pass; 0 once all were used equally often."""
        seen, size = self._seen[k, 0], self._strata[k].size
        if math.isinf(size):
            return float(seen)
        left = seen % size
        return 0.0 if min(left, size - left) < 1e-9 * size else float(left)

    @property
    def used(self) -> float:
        """The weight of different draws that were used, of those that can be."""
        sizes = [one.size for one in self._strata]
        return float(np.minimum(self._seen[:, 0], sizes).sum())

    @property
    def _known(self) -> bool:
        """Whether the errors are known: every stratum is used up, or has several draws."""
        whole = [self._partial(k) == 0 < self._seen[k, 0] for k in range(len(self._strata))]
        return bool((np.array(whole) | (self._seen[:, 1] > 1)).all())

    @property
    def _is_whole(self) -> bool:
        return all(
            self._partial(k) == 0 < seen and not self._parts[k]["cells"].within.any()
            for k, seen in enumerate(self._seen[:, 0])
        )

    def dof(self, part: str = "cells") -> float:
        """Degrees of freedom behind the variances of a part (Satterthwaite 1946).

        Of the folds that the rows are in, the one that has the fewest.
        """
        folds: dict[int, list[tuple[float, float]]] = {id(self.draws): []}
        for k, stratum in enumerate(self._strata if not self.draws.exact else []):
            one, factors = self._parts[k][part], self._factors(k)
            seen, count, fourth = self._seen[k, :3].tolist()
            # of few rows that are left the error is no nearer to normal than a sum of so few
            unused = 1.0 if math.isinf(stratum.size) else 1 - seen % stratum.size / stratum.size
            within = self._parts[k]["cells"].within
            own = float(np.square(within).mean()) / fourth - 2 if fourth > 0 else math.inf
            folds.setdefault(id(stratum.rows), []).extend(
                (stratum.share**2 * factor * float(squares.mean()), max(freedom, 1.0))
                for factor, squares, freedom in zip(
                    factors, (one.between, one.within), ((count - 1) * unused, own), strict=True
                )
                if factor
            )
        found = []
        for parts in folds.values():
            # equal draws are known no better than others
            fewest = min((freedom for _, freedom in parts), default=math.inf)
            if self.draws.lines:
                lines = np.square(self.common(part)).sum(axis=0)
                parts.append((float(lines.mean()), max(self.draws.lines - 1, 1)))
            # their squares may be too large
            largest = max((variance for variance, _ in parts), default=0.0) or 1.0
            spread = sum((variance / largest) ** 2 / freedom for variance, freedom in parts)
            whole = sum(variance / largest for variance, _ in parts) ** 2
            found.append(whole / spread if spread > 0 else fewest)
        return min(found)

    @property
    def varied(self) -> bool:
        """Whether any value differed between draws, by more than rounding."""
        for k, part in enumerate(self._parts):
            count, one = self._seen[k, 1], part["cells"]
            size = float(np.abs(one.total).max(initial=0.0)) / max(self._seen[k, 0], 1e-300)
            if (one.between > max(count - 1, 0) * (_SAME * size) ** 2).any():
                return True
        return False

    @property
    def largest_share(self) -> float:
        """The largest share that one draw has of how the draws of its stratum differ.

        Scores without a lower bound, such as R squared of a linear regression on a few cells, can
        be decided by one rare order. In 2,160 runs each of 20, 100 and 500 draws of games with
        known values, one draw dominated in 95 to 100 % of linear regressions, whose intervals
        covered 0.3 to 0.4 of the values, and never where the score was accuracy.
        """
        largest, whole = self._seen[:, 3], self._seen[:, 4]
        return float((largest[whole > 0] / whole[whole > 0]).max(initial=0.0))

    @property
    def one_decides(self) -> bool:
        """Whether one draw dominates, so that no standard error can be trusted."""
        fewest = float(self._seen[:, 1].min())
        endless = all(math.isinf(one.size) for one in self._strata)
        limit = 0.1 + 4.0 / max(fewest, 1)
        return endless and fewest >= 10 and self.varied and self.largest_share > limit

    @property
    def same(self) -> bool:
        """Whether all of several draws of an endless list were equal: that proves nothing."""
        endless = all(math.isinf(one.size) for one in self._strata)
        return endless and self.count > len(self._strata) and not self.varied

    def ratio(self) -> float:
        """The largest standard error by draws, relative to the spread of the values.

        Where all draws were equal, it is the upper 95 % bound for the share of orders that differ
        from those drawn (the rule of three).
        """
        if self.draws.exact or self._is_whole:
            return 0.0
        if self.same:
            return float(1.0 - (1.0 - LEVEL) ** (1.0 / self.count))
        if not self._known:
            return math.inf
        part = self.draws.judged
        return convergence_ratio(self.mean(part), np.sqrt(self.variance(part)), self.dof(part))

    def by_validation(self) -> float:
        """The same by validation rows, which more draws do not make smaller."""
        part = self.draws.judged
        spread = float(np.ptp(self.mean(part)))
        error = math.sqrt(float(np.square(self.common(part)).sum(axis=0).max(initial=0.0)))
        return error / spread if spread > 0 else 0.0

    def estimate(self) -> Estimate:
        """The values by now, with their standard errors."""
        values = self.mean()
        if self.draws.exact and not self.draws.lines:
            return Estimate.exact(values)
        dof, errors = self.dof(), {}
        for name in _PARTS:
            variance = self._known_variance(name, values)
            if self.draws.lines:
                variance = variance + np.square(self.common(name)).sum(axis=0)
            # a result has one number of degrees of freedom, and sums can have fewer
            wider = max(interval_factor(self.dof(name)) / interval_factor(dof), 1.0)
            errors[name] = np.sqrt(variance) * wider
        return Estimate(
            values, errors["cells"], errors["rows"], errors["columns"],
            total_stderr=float(errors["total"][0]), dof=dof,
        )  # fmt: skip

    def _known_variance(self, part: str, values: Floats) -> Floats:
        if self.draws.exact:
            return np.zeros_like(self.mean(part))
        found = self.variance(part)
        if not self._known:
            return np.full_like(found, np.inf)
        if self.same and part == "cells":  # as of one more draw, off by the largest value
            return np.full_like(found, (np.abs(values).max(initial=0.0) / self.count) ** 2)
        return found

    def covariance(self) -> Floats:
        """Joint variances of the sums that were asked for, by draws and by validation rows."""
        found = self._placed("sums", self._variance_of("sums")) if not self.draws.exact else 0.0
        lines = self.common("sums")
        return np.asarray(found + lines.T @ lines)

    def state(self) -> dict[str, NDArray[Any]]:
        """All numbers by name, for a checkpoint; arrays of at most two dimensions."""
        found = {name: array.reshape(len(array), -1) for name, array in self._arrays()}
        return found | {f"note {name}": self.notes_of(name) for name in self.notes}

    @property
    def n_bytes(self) -> int:
        """Memory of the sums."""
        return sum(array.nbytes for _, array in self._arrays())

    def _arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        yield "seen", self._seen
        for k, part in enumerate(self._parts):
            if self.draws.lines:
                yield f"{k} common", self._common[k]
            if self._usual:
                yield f"{k} usual", self._usual[k]
            for name, one in part.items():
                for field in ("total",) if self.draws.exact else ("total", "between", "within"):
                    yield f"{k} {name} {field}", getattr(one, field)

    def restore(self, count: int, state: Mapping[str, NDArray[Any]]) -> None:
        """Go on from such a state; a ValueError says why it is not sound."""
        arrays = dict(self._arrays())
        if not all(name in arrays or name.startswith("note ") for name in state):
            raise ValueError("it has more arrays than it should")
        for name, own in arrays.items():
            saved = state.get(name)
            wanted = own.reshape(len(own), -1).shape
            if saved is None or saved.shape != wanted or saved.dtype != np.float64:
                raise ValueError(f"its {name} does not fit")
            if not np.isfinite(saved).all():
                raise ValueError(f"its {name} has entries that are not numbers")
            if name.endswith(("between", "within", "seen")) and (saved.diagonal() if (
                "sums" in name) else saved).min(initial=0.0) < 0:  # fmt: skip
                raise ValueError(f"its {name} has entries below 0")
            own[...] = saved.reshape(own.shape)
        if int(self._seen[:, 1].sum()) != count:
            raise ValueError("its counts do not fit each other")
        self.count = count
        self.notes = {
            name.removeprefix("note "): [array]
            for name, array in state.items()
            if name.startswith("note ")
        }


def _mean_of_places(usual: Floats) -> Floats:
    """The mean over the places of rows and of columns; of the labels over those of rows."""
    found = usual.mean(axis=0, keepdims=True)
    found[:, :-1] = found[:, :-1].mean(axis=1, keepdims=True)
    return np.asarray(found)
