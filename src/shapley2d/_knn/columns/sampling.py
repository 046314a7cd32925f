"""Values of all cells from sampled column coalitions, with standard errors, growing in number until they are small."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.defaults import MIN_COALITIONS, TOLERANCE
from shapley2d._base.precision import convergence_ratio
from shapley2d._knn.columns.design import PairSequence
from shapley2d._knn.columns.estimators import ColumnSemivalue, EvenRidge, OddKernel, PairRidge
from shapley2d._knn.columns.expected_error import expected_error
from shapley2d._knn.columns.jackknife import GROUPS, Replicated, jackknife, jackknife_groups
from shapley2d._theory.semivalues import check_semivalue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._theory.sums import BlockSums

    Floats = NDArray[np.float64]

DEFAULT_MAX_COALITIONS = 8192
"""Where growing ends at the latest, unless the caller wants otherwise."""

KERNEL_MAX_PAIRS = 4096
"""Estimator B inverts a matrix of this many rows at most; beyond, A is used alone."""

FEW_PER_COLUMN = 3
"""Coalitions to a column below which a column that matters far more than the others can be missed."""

MANY_PER_COLUMN = 10
"""Coalitions to a column up to which expected errors count as much as the jackknife's; beyond, their share fades."""

TYPICAL_PER_COLUMN = 16
"""Coalitions to a column that the default tolerance mostly takes no more than."""

STORE_BYTES = 384 * 2**20
"""Memory for evaluated pairs: 3,000 of them for a table of 33,000 rows (in single precision)."""

# The error falls faster than the square root of the number of pairs, and sometimes as fast as the
# number.
_RATE, _MARGIN = 0.7, 1.1
_LEAST_STEP = 1.2

_PAIRS_PER_CALL = 32
_MIN_PAIRS = (MIN_COALITIONS - 2) // 2
_CHUNK_BYTES = 8 * 2**20


@dataclass(frozen=True)
class ColumnEstimate:
    """Values of n x m cells from sampled column coalitions.

    Attributes
    ----------
    values, stderr : ndarray of shape (n, m)
        The estimates and their standard errors (zeros where every coalition was evaluated).
    row_stderr : ndarray of shape (n,)
        Standard error of each row's sum: 0 for Shapley values, whose rows sum exactly.
    column_stderr : ndarray of shape (m,)
        Standard error of each column's sum.
    total_stderr : float
        Standard error of the sum of all values.
    n_subsets : int
        Evaluations spent.
    estimator : str
        ``"A"`` (pair ridge), ``"B"`` (odd kernel, then A) or ``"all"`` (every coalition evaluated,
        exact).
    converged : bool
        Whether the largest standard error is within the tolerance (and the run was not
        interrupted).
    history : list of (int, float)
        Evaluations and convergence ratio ``max(stderr) / (max(values) - min(values))`` after each
        round.
    dof : float
        Degrees of freedom behind the standard errors: few groups of the jackknife make for a noisy
        variance, which intervals allow for by Student's quantile.
    interrupted : bool
        Whether Ctrl-C ended the run; the estimate then rests on the evaluations finished before.
    covariance : ndarray or None
        Of the errors of the further sums that were asked for; None where every coalition was
        evaluated.
    """

    values: Floats
    stderr: Floats
    row_stderr: Floats
    column_stderr: Floats
    total_stderr: float
    n_subsets: int
    estimator: str
    converged: bool
    history: list[tuple[int, float]]
    dof: float = math.inf
    interrupted: bool = False
    covariance: Floats | None = None


def estimate_columns(
    phi: Callable[[NDArray[np.bool_]], Floats],
    n_columns: int,
    *,
    n_subsets: int | None = None,
    tolerance: float = TOLERANCE,
    semivalue: object = "shapley",
    random_state: int | np.random.SeedSequence = 0,
    max_coalitions: int | None = None,
    progress: Callable[[int, int, float], None] | None = None,
    empty: Floats | None = None,
    estimator: Literal["auto", "A", "B"] = "auto",
    sums: BlockSums | None = None,
) -> ColumnEstimate:
    """Estimate the values of all cells from the row values of sampled column coalitions.

    Parameters
    ----------
    phi : callable
        ``phi(coalitions)``, boolean (B, m) to float (B, n): the row values under each column
        coalition. It is called on at most 64 coalitions at a time. If it raises KeyboardInterrupt,
        the estimate from the evaluations finished before is returned (unless they are fewer than
        three pairs).
    n_columns : int
    n_subsets : int, optional
        Evaluations to spend: the largest even number not above, that is {}, all columns, and
        complement pairs. By default their number grows, doubling at most, from near 4 ``n_columns``
        until the tolerance is met.
    tolerance : float
        Stop when ``max(stderr) / (max(values) - min(values))`` is no larger.
    semivalue : str or tuple
        ``"shapley"``, ``"banzhaf"`` or ``("beta", a, b)``.
    random_state : int or SeedSequence
    max_coalitions : int, optional
        Where growing ends at the latest; by default 8192, or as many as fit 384 MB for the largest
        tables.
    progress : callable, optional
        ``progress(evaluations done, evaluations planned, ratio)``; the ratio is that of the last
        round (infinite before the first).
    empty : ndarray of shape (n,), optional
        Row values without any column, instead of ``phi({})``, which then is not evaluated.
    estimator : {"auto", "A", "B"}
        By default B, and A beyond 4096 pairs.
    sums : BlockSums, optional
        Further sums of the values, whose joint errors are wanted.

    Returns
    -------
    ColumnEstimate

    Notes
    -----
    If all ``2^m`` coalitions fit into the number asked for, or into the next round and
    ``max_coalitions``, all are evaluated and the values are exact.

    A variance of B is the mean of the jackknife's and of what
    :mod:`~shapley2d._knn.columns.expected_error` expects. The former does not see how far few
    coalitions make all estimates lean to the mean; the latter takes all columns to matter alike and
    games to be rougher than most are, and fades out with many coalitions. On nearest-neighbour
    games 95 % intervals of B so cover 92-99 % of all values, and from three evaluations to a column
    on that holds for the worst columns, too. With fewer (:func:`few_coalitions`) a column that
    matters far more than the others can be missed more often than not. The intervals of A, which
    shrinks, cover less on small samples (80-92 % below 20 evaluations to a column).

    Examples
    --------
    >>> def phi(coalitions):  # one row, whose value is the number of columns, squared
    ...     return coalitions.sum(axis=1, keepdims=True) ** 2.0
    >>> estimate_columns(phi, 3).values
    array([[3., 3., 3.]])
    >>> estimate = estimate_columns(phi, 20, n_subsets=200)
    >>> estimate.n_subsets, estimate.estimator, estimate.values.sum().round(6)
    (200, 'B', np.float64(400.0))
    """
    if n_columns < 1:
        raise ValueError(f"n_columns={n_columns}: there must be at least one column")
    target = ColumnSemivalue(n_columns, check_semivalue(semivalue))
    seed = random_state
    if not isinstance(seed, np.random.SeedSequence):
        seed = np.random.SeedSequence(seed)
    sequence = PairSequence(n_columns, seed, None if target.efficient else target.shares)

    ends = np.array([np.zeros(n_columns), np.ones(n_columns)], dtype=np.bool_)
    at_ends = np.asarray(phi(ends if empty is None else ends[1:]), dtype=np.float64)
    nothing = at_ends[0] if empty is None else np.asarray(empty, dtype=np.float64)
    base = target.ends[0] * nothing + target.ends[1] * at_ends[-1]

    n_pairs, most = _limits(sequence, len(base), target, n_subsets, max_coalitions)
    evaluations = _Evaluations(target, phi, base, most, sequence.n_pairs, sums)
    spent = len(at_ends)
    history: list[tuple[int, float]] = []
    try:
        while True:
            pairs = sequence.take(n_pairs)
            for start in range(evaluations.n_pairs, len(pairs), _PAIRS_PER_CALL):
                evaluations.add(pairs[start : start + _PAIRS_PER_CALL])
                if progress is not None:
                    done, planned = spent + 2 * evaluations.n_pairs, spent + 2 * most
                    progress(done, planned, history[-1][1] if history else math.inf)
            everything = n_pairs == sequence.n_pairs
            best = evaluations.exact() if everything else evaluations.estimate(estimator)
            best = replace(best, n_subsets=spent + best.n_subsets)
            ratio = convergence_ratio(best.values, best.stderr, best.dof)
            history.append((best.n_subsets, ratio))
            if ratio <= tolerance:
                return replace(best, converged=True, history=history)
            if n_pairs == most:
                return replace(best, history=history)
            n_pairs = _next_pairs(n_pairs, most, ratio, tolerance)
    except KeyboardInterrupt:
        if evaluations.n_stored < _MIN_PAIRS:
            raise
        best = evaluations.estimate(estimator)
        best = replace(best, n_subsets=spent + best.n_subsets, interrupted=True)
        history.append((best.n_subsets, convergence_ratio(best.values, best.stderr, best.dof)))
    return replace(best, history=history)


def few_coalitions(n_subsets: int, n_columns: int) -> bool:
    """Whether intervals from so many sampled coalitions cannot be trusted for every column.

    Examples
    --------
    >>> few_coalitions(20, 10), few_coalitions(30, 10)
    (True, False)
    """
    return n_subsets < FEW_PER_COLUMN * n_columns


def coalitions_of_rounds(
    target: ColumnSemivalue, n_rows: int, max_coalitions: int | None = None
) -> list[int]:
    """How many coalitions have been evaluated by every look at the error, as long as it is far from the tolerance.

    Examples
    --------
    >>> coalitions_of_rounds(ColumnSemivalue(12, "shapley"), 1000, 500)
    [50, 98, 194, 386, 500]
    """
    sequence = PairSequence(
        target.n_columns, np.random.SeedSequence(0), None if target.efficient else target.shares
    )
    pairs, most = _limits(sequence, n_rows, target, None, max_coalitions)
    rounds = [pairs]
    while rounds[-1] < most:
        rounds.append(min(2 * rounds[-1], most))
    return [2 + 2 * pairs for pairs in rounds]


def first_round(n_columns: int) -> int:
    """Coalitions that sampling to a tolerance begins with.

    Examples
    --------
    >>> first_round(14), first_round(2)
    (58, 34)
    """
    return 2 + 2 * max(2 * n_columns, 16)


def fits_store(n_rows: int, n_columns: int, n_subsets: int | None = None) -> bool:
    """Whether the row values of that many coalitions, or of as many as a tolerance may take, can be kept.

    Examples
    --------
    >>> fits_store(32_561, 14), fits_store(1_000_000, 50), fits_store(1_000_000, 50, 100)
    (True, False, True)
    """
    pairs = (n_subsets or TYPICAL_PER_COLUMN * n_columns) // 2
    return n_rows * pairs * np.dtype(np.float32).itemsize <= STORE_BYTES


def _limits(
    sequence: PairSequence,
    n_rows: int,
    target: ColumnSemivalue,
    n_subsets: int | None,
    max_coalitions: int | None,
) -> tuple[int, int]:
    """Numbers of pairs to begin with, and at most."""
    if n_subsets is not None:
        pairs = (n_subsets - 2) // 2
        if pairs < min(_MIN_PAIRS, sequence.n_pairs):
            raise ValueError(
                f"n_subsets={n_subsets} is too few: at least {MIN_COALITIONS} are needed"
            )
        return min(pairs, sequence.n_pairs), min(pairs, sequence.n_pairs)
    if max_coalitions is None:
        fit = STORE_BYTES // (
            n_rows * np.dtype(np.float32).itemsize * (1 if target.symmetric else 2)
        )
        most = min(DEFAULT_MAX_COALITIONS // 2 - 1, max(fit, 2 * sequence.n_columns))
    else:
        most = (max_coalitions - 2) // 2
        if most < min(_MIN_PAIRS, sequence.n_pairs):
            raise ValueError(
                f"max_coalitions={max_coalitions} is too few: at least {MIN_COALITIONS} are needed"
            )
    most = min(most, sequence.n_pairs)
    return min(first_round(sequence.n_columns) // 2 - 1, most), most


def _next_pairs(n_pairs: int, most: int, ratio: float, tolerance: float) -> int:
    """Pairs of the next round: as many as are likely to meet the tolerance, and twice as many at most.

    Examples
    --------
    >>> _next_pairs(112, 4095, 0.031, 0.025), _next_pairs(56, 4095, 0.086, 0.025), _next_pairs(112, 4095, 0.0251, 0.025)
    (168, 112, 135)
    """
    short = 2.0 if tolerance == 0 else _MARGIN * (ratio / tolerance) ** (1 / _RATE)
    return min(math.ceil(n_pairs * min(max(short, _LEAST_STEP), 2.0)), most)


class _Evaluations:
    """The odd (and even) parts of the evaluated pairs, and the values that follow from them."""

    def __init__(
        self,
        target: ColumnSemivalue,
        phi: Callable[[NDArray[np.bool_]], Floats],
        base: Floats,
        planned: int,
        total: int,
        sums: BlockSums | None = None,
    ) -> None:
        self._sums = sums
        self._target, self._phi, self._base = target, phi, base
        # Only the odd part is kept where it decides alone: half the rows. Large tables are kept in
        # single
        # precision, which is far finer than the sampling error.
        self._n_parts = 1 if target.symmetric else 2
        numbers = len(base) * self._n_parts
        self._dtype = np.dtype(np.float64 if 8 * numbers * planned <= STORE_BYTES else np.float32)
        self._coalitions: list[NDArray[np.bool_]] = []
        self._parts: list[list[NDArray[np.floating]]] = [[] for _ in range(self._n_parts)]
        self.n_pairs = self.n_stored = 0
        # Where all pairs are going to be evaluated, their sum is taken on the way, and the store
        # only serves an
        # interrupt: it need not hold them all.
        self._exact = np.tile(base[:, None], target.n_columns) if planned == total else None
        self._room = (
            STORE_BYTES // (numbers * self._dtype.itemsize) if planned == total else planned
        )

    def add(self, pairs: NDArray[np.bool_]) -> None:
        """Evaluate pairs and their complements."""
        results = np.asarray(self._phi(np.concatenate([pairs, ~pairs])), dtype=np.float64)
        half, other = results[: len(pairs)], results[len(pairs) :]
        parts = [(half - other) / 2, (half + other) / 2][: self._n_parts]
        if self._exact is not None:
            for part, weights in zip(parts, self._target.exact_weights(pairs), strict=True):
                self._exact += part.T @ weights.T
        self.n_pairs += len(pairs)
        if self.n_pairs <= self._room:
            self.n_stored = self.n_pairs
            self._coalitions.append(pairs)
            for stored, part in zip(self._parts, parts, strict=True):
                stored.append(part.astype(self._dtype))

    def exact(self) -> ColumnEstimate:
        """The values, once all pairs are evaluated."""
        assert self._exact is not None
        n, m = self._exact.shape
        exact = Replicated(
            self._exact.copy(), np.zeros((n, m)), np.zeros(n), np.zeros(m), 0.0, math.inf
        )
        return _unassessed(exact, 2 * self.n_pairs, "all")

    def estimate(self, estimator: str) -> ColumnEstimate:
        """Estimate from the stored pairs; its variances are the means of a jackknife's and of those to be expected."""
        target, coalitions = self._target, np.concatenate(self._coalitions)
        if estimator == "auto":
            estimator = "B" if len(coalitions) <= KERNEL_MAX_PAIRS else "A"
        odd: OddKernel | PairRidge
        if estimator == "B":
            odd = OddKernel(target, coalitions)
        else:
            odd = PairRidge(target, coalitions, (lines[0] for _, lines in self._chunks()))
        weights = [odd.weights]
        if not target.symmetric:
            weights.append(EvenRidge(target, coalitions).weights)
        group = jackknife_groups(coalitions.sum(axis=1), target.counts)
        result = jackknife(weights, self._chunks(), group, self._base, self._sums)
        if isinstance(odd, OddKernel):
            expected = self._expected(odd, coalitions)
            if not target.symmetric:  # the kernel knows the odd part alone
                chunks = ((rows, lines[1:]) for rows, lines in self._chunks())
                even = jackknife(weights[1:], chunks, group, self._base, self._sums)
                together = _added(expected.covariance, even.covariance)
                expected = result._replace(**_mix(np.hypot, expected, even), covariance=together)
            share = 0.5 * min(1.0, MANY_PER_COLUMN * target.n_columns / (2 * len(coalitions)))
            joint = _added(result.covariance, expected.covariance, 1 - share, share)
            result = result._replace(**_mix(_averaged(share), result, expected), covariance=joint)
        if target.efficient:
            result = result._replace(row_stderr=np.zeros(len(self._base)), total_stderr=0.0)
        return _unassessed(result, 2 * len(coalitions), estimator)

    def _expected(self, odd: OddKernel, coalitions: NDArray[np.bool_]) -> Replicated:
        """Standard errors that the kernel expects of games as varied as those of the rows."""
        everything = np.ones(len(coalitions), dtype=np.bool_)
        squared = expected_error(self._target, coalitions, odd.weights(everything))
        scale, together = np.empty(len(self._base)), np.zeros((len(coalitions), 1))
        groups = np.zeros(
            (0 if self._sums is None else self._sums.weights.shape[1], len(coalitions))
        )
        for rows, lines in self._chunks():
            scale[rows] = odd.scale(lines[0])
            together += lines[0].sum(axis=1, keepdims=True)
            if self._sums is not None:
                part = self._sums.take_rows(np.arange(len(self._base))[rows])
                groups += part.by_row_group(lines[0].T)
        whole = float(odd.scale(together)[0])  # of the game whose value is the sum over all rows
        return Replicated(
            np.empty(0),
            np.sqrt(scale[:, None] * squared.columns),
            np.sqrt(scale * squared.row_sum),
            np.sqrt(whole * squared.columns),
            math.sqrt(whole * squared.row_sum),
            math.inf,
            None
            if self._sums is None
            else self._expected_joint(odd.products(groups.T), squared.columns),
        )

    def _expected_joint(self, scales: Floats, squared: Floats) -> Floats:
        """Expected covariance of the further sums.

        Parameters
        ----------
        scales : ndarray of shape (row groups, row groups)
            How alike the games of the groups of rows are, each the sum of the games of its rows.
        squared : ndarray of shape (m,)
            Expected squared errors of the columns of a game of scale 1. They are taken to have
            nothing in common, except that the errors of a row sum to 0 where its values sum to what
            is known.
        """
        assert self._sums is not None
        size, directions = np.linalg.eigh(scales)
        root = directions * np.sqrt(np.maximum(size, 0.0))
        by_column = np.matmul(root.T, self._sums.weights[:, :, self._sums.columns])
        m = self._target.n_columns
        if self._target.efficient and m > 1:
            by_column = (by_column - by_column.mean(axis=2, keepdims=True)) * math.sqrt(m / (m - 1))
        lines = (by_column * np.sqrt(squared)).reshape(len(by_column), -1)
        return np.asarray(lines @ lines.T)

    def _chunks(self) -> Iterator[tuple[slice, list[Floats]]]:
        """The parts on all stored pairs, a few rows of the table at a time."""
        n_lines = max(self.n_stored * self._n_parts, GROUPS * self._target.n_columns)
        step = max(_CHUNK_BYTES // (8 * n_lines), 1)
        for start in range(0, len(self._base), step):
            rows = slice(start, start + step)
            yield (
                rows,
                [
                    np.concatenate([b[:, rows] for b in part], dtype=np.float64)
                    for part in self._parts
                ],
            )


def _mix(mean: Callable[[Any, Any], Any], one: Replicated, other: Replicated) -> dict[str, Any]:
    """The standard errors of two results, each pair of them made one."""
    names = ("stderr", "row_stderr", "column_stderr", "total_stderr")
    return {name: mean(getattr(one, name), getattr(other, name)) for name in names}


def _added(
    one: Floats | None, other: Floats | None, weight: float = 1.0, other_weight: float = 1.0
) -> Floats | None:
    return None if one is None or other is None else weight * one + other_weight * other


def _averaged(share: float) -> Callable[[Any, Any], Any]:
    """Standard errors whose variances are weighted means, the second of them with its share."""
    return lambda one, other: np.hypot(math.sqrt(1 - share) * one, math.sqrt(share) * other)


def _unassessed(result: Replicated, n_subsets: int, estimator: str) -> ColumnEstimate:
    return ColumnEstimate(
        result.values,
        result.stderr,
        result.row_stderr,
        result.column_stderr,
        result.total_stderr,
        n_subsets=n_subsets,
        estimator=estimator,
        converged=False,
        history=[],
        dof=result.dof,
        covariance=result.covariance,
    )
