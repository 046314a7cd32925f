"""The one sum: values and errors of any list of draws, by numpy and by brute force over what could have been drawn."""

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from shapley2d._base.precision import convergence_ratio, interval_factor
from shapley2d._estimation.checkpoint import Saved
from shapley2d._estimation.draws import Draw, Stratum
from shapley2d._estimation.run import run_draws
from shapley2d._estimation.total import PARTS, Total
from tests.listed_draws import Listed, drawn, normal

from oracles import semivalue_weight

SUMS = {
    "cells": lambda cells: cells,
    "rows": lambda cells: cells.sum(axis=-1),
    "columns": lambda cells: cells.sum(axis=-2),
    "total": lambda cells: cells.sum(axis=(-2, -1))[..., None],
}


def total_of(draws, count, first=None):
    total = Total(draws, first)
    for number in range(count):
        total.add(draws(number))
    return total


def with_unseen(squares, count, part):
    """Sums of squares with four more draws that are as far off as is usual."""
    usual = squares.mean(axis=0) if part in ("cells", "rows") else squares
    return squares + 4 / count * usual


# draws without an end


@pytest.mark.parametrize("part", SUMS)
def test_means_and_errors_are_those_of_numpy(part):
    cells = np.array([normal(number, (4, 3)) + 100 for number in range(9)])
    total = total_of(Listed(cells.__getitem__, (4, 3)), 9)
    found = SUMS[part](cells)
    np.testing.assert_allclose(total.mean(part), found.mean(axis=0))
    squares = 9 * found.var(axis=0)
    np.testing.assert_allclose(total.by_draws(part), with_unseen(squares, 9, part) / (9 * 8))
    assert total.dof() == pytest.approx(8)


def test_weighted_draws():
    cells, weights = np.array([normal(k) for k in range(6)]), np.array([1, 2, 1, 3, 1, 2.0])
    draws = Listed(lambda k: drawn(cells[k], weight=weights[k]))
    total, mean = total_of(draws, 6), np.average(cells, axis=0, weights=weights)
    np.testing.assert_allclose(total.mean(), mean)
    squares = np.average((cells - mean) ** 2, axis=0, weights=weights)
    np.testing.assert_allclose(total.by_draws(), with_unseen(squares, 6, "cells") / 5)


def test_where_values_count_from():
    """What the labels predict goes to columns by the weights with which they join first."""
    first, labels = np.array([0.25, 0.75]), np.array([1.0, 0.0, -2.0])
    draws = Listed(lambda k: Draw(np.column_stack([normal(k), (k + 1) * labels])))
    cells = np.array([normal(k) + (k + 1) * np.outer(labels, first) for k in range(5)])
    total = total_of(draws, 5, first)
    np.testing.assert_allclose(total.mean(), cells.mean(axis=0))
    expected = with_unseen(5 * cells.sum(axis=2).var(axis=0), 5, "rows") / 20
    np.testing.assert_allclose(total.by_draws("rows"), expected)


def test_a_cell_that_never_varied_has_an_error():
    """Column 1 matters in one order of 30: draws without it say little about it."""
    cells = [np.hstack([normal(k, (3, 1)), np.full((3, 1), 0.5)]) for k in range(20)]
    total = total_of(Listed(cells.__getitem__), 20)
    varied = 20 * np.var(cells, axis=0)
    np.testing.assert_allclose(total.by_draws()[:, 1], 4 / 20 * varied.mean() / (20 * 19))
    expected = convergence_ratio(total.mean(), np.sqrt(total.by_draws()), 19)
    assert total.ratio() == pytest.approx(expected)


# strata


FOLDS = [np.array([0, 2]), np.array([1, 3, 4])]


def folds(number):
    k = number % 2
    return drawn(normal(number, (len(FOLDS[k]), 2)), labels=k, stratum=k)


def test_folds_are_strata():
    strata = [Stratum(rows, share) for rows, share in zip(FOLDS, (0.25, 0.75), strict=True)]
    total = total_of(Listed(folds, (5, 2), strata=strata), 14)
    for k, (rows, _, _) in enumerate(strata):
        share = strata[k].share
        cells = np.array([folds(number).values[:, :2] for number in range(k, 14, 2)])
        np.testing.assert_allclose(total.mean()[rows], share * cells.mean(axis=0))
        expected = share**2 * with_unseen(7 * cells.var(axis=0), 7, "cells") / 42
        np.testing.assert_allclose(total.by_draws()[rows], expected)
    np.testing.assert_allclose(total.mean("total"), total.mean().sum())


def test_errors_of_strata_of_the_same_rows_add_up():
    """And so do their degrees of freedom, as Satterthwaite's formula has it."""
    strata, scales = [Stratum(share=share) for share in (0.2, 0.8)], (1.0, 3.0)
    draws = Listed(lambda k: drawn(scales[k % 2] * normal(k), stratum=k % 2), strata=strata)
    total, parts = total_of(draws, 20), []
    for k, stratum in enumerate(strata):
        cells = scales[k] * np.array([normal(number) for number in range(k, 20, 2)])
        parts.append(stratum.share**2 * with_unseen(10 * cells.var(axis=0), 10, "cells") / 90)
    np.testing.assert_allclose(total.by_draws(), sum(parts))
    means = np.array([part.mean() for part in parts])
    assert total.dof() == pytest.approx(means.sum() ** 2 / (means**2 / 9).sum())


def test_errors_are_not_known_before_every_stratum_has_two_draws():
    strata = [Stratum(share=0.5), Stratum(share=0.5)]
    draws = Listed(lambda k: drawn(normal(k), stratum=int(k == 2)), strata=strata)
    assert total_of(draws, 3).ratio() == math.inf
    assert np.isinf(total_of(draws, 3).estimate().stderr).all()
    used_up = Listed(draws.draw, strata=[strata[0], Stratum(share=0.5, size=1.0)])
    assert 0 < total_of(used_up, 3).ratio() < math.inf


# lists that end: what is left out is what could have been drawn


POPULATION = np.array([1.0, 4.0, -2.0, 0.5, 3.0, 3.5])


def finite_total(values, noise=0.0):
    """The sum of some of the population, and the variance that it tells, without the unseen."""
    errors = np.array([[[noise, 0.0]]]) if noise else None
    draws = Listed(
        lambda k: drawn([[values[k]]], errors=errors), (1, 1), strata=[Stratum(size=6.0)]
    )
    total = total_of(draws, len(values))
    unseen = 1 + 4 / len(values)  # what four more draws add to how they differ
    variances = [variance[0, 0] for variance, _ in total.sums[0].variances()]
    if total.sums[0].open:
        variances[0] /= unseen
    return total, sum(variances)


@pytest.mark.parametrize("noise", [0.0, 1.5])
@pytest.mark.parametrize("count", [2, 4, 6])
def test_the_variance_of_some_of_a_list_is_what_all_choices_have(count, noise):
    """Draws have errors of their own: noise up or down."""
    signs = itertools.product(*[[-1, 1] * bool(noise) or [0]] * count)
    choices = itertools.product(itertools.combinations(POPULATION, count), signs)
    values = [np.array(chosen) + noise * np.array(up) for chosen, up in choices]
    found = [finite_total(one, noise) for one in values]
    errors = np.array([total.mean().item() for total, _ in found]) - POPULATION.mean()
    assert np.mean([told for _, told in found]) == pytest.approx(np.mean(errors**2), abs=1e-12)


def test_a_second_pass_leaves_less_open():
    whole = finite_total(POPULATION)[0]
    assert whole.ratio() == 0.0 and whole.dof() == math.inf and not whole.estimate().stderr.any()
    found = [finite_total([*POPULATION, *more]) for more in itertools.combinations(POPULATION, 3)]
    errors = np.array([total.mean().item() for total, _ in found]) - POPULATION.mean()
    assert np.mean([told for _, told in found]) == pytest.approx(np.mean(errors**2), rel=0.1)
    assert finite_total([*POPULATION, *POPULATION])[0].ratio() == 0.0


def test_degrees_of_freedom_of_lists_that_end():
    """Those of the draws shrink as they are used up; own errors have theirs."""
    assert finite_total(POPULATION[:4])[0].dof() == pytest.approx(3 * (1 - 4 / 6))
    errors = np.random.default_rng(0).normal(size=(5, 1, 2))
    draws = Listed(
        lambda k: drawn([[POPULATION[k]]], errors=errors, dof=10.0),
        (1, 1), strata=[Stratum(size=6.0)],
    )  # fmt: skip
    assert total_of(draws, 6).dof() == pytest.approx(6 * 12 - 2)  # of six that are alike
    variance = np.square(errors[:, 0, 0]).sum() / 6
    np.testing.assert_allclose(total_of(draws, 6).by_draws(), variance)


def test_one_draw_of_a_total_that_could_vary_has_an_error():
    """Chunks of validation rows may agree in the total so far; random orders always do."""

    def draw(number):
        cells = normal(number)
        return drawn(cells - cells.mean())

    orders, chunks = (
        total_of(Listed(draw, strata=[Stratum(size=size)]), 10) for size in (math.inf, 20.0)
    )
    assert orders.estimate().total_stderr == 0.0
    assert chunks.estimate().total_stderr > 0.1


# validation rows


def test_validation_rows_are_an_error_that_all_draws_share():
    lines = np.random.default_rng(3).normal(size=(3, 2, 30)) / 10

    def draw(number):
        return drawn(np.concatenate([normal(number)[:, :, None], lines], axis=2))

    total, plain = total_of(Listed(draw, lines=30), 12), total_of(Listed(normal), 12)
    np.testing.assert_allclose(
        total.means()[(slice(1, None), *PARTS["cells"])], np.moveaxis(lines, -1, 0)
    )
    found, alone = total.estimate(), plain.estimate()
    np.testing.assert_allclose(found.stderr**2, alone.stderr**2 + np.square(lines).sum(axis=2))
    assert total.by_validation() == pytest.approx(
        np.sqrt(np.square(lines).sum(axis=2).max()) / np.ptp(total.mean())
    )
    exact = Listed(draw, lines=30, exact=True, count=1, strata=[Stratum(size=1.0)])
    estimate = total_of(exact, 1).estimate()
    np.testing.assert_allclose(estimate.row_stderr**2, np.square(lines.sum(axis=1)).sum(axis=1))
    assert estimate.dof == 29


# draws that tell nothing of their errors


@pytest.mark.parametrize("cells", [np.zeros((3, 2)), np.full((3, 2), 0.1)])
def test_equal_draws_prove_little(cells):
    """Up to 5 % of all draws can differ from 58 that are equal: the rule of three."""
    total = total_of(Listed(lambda _: cells), 58)
    assert total.same and total.ratio() == pytest.approx(1 - 0.05 ** (1 / 58))
    estimate = total.estimate()
    np.testing.assert_allclose(estimate.stderr, cells.max() / 58)
    assert estimate.dof == 57


class Lookup:
    """R squared of a ridge regression on every subset of the cells of a small table, by its bits."""

    def __init__(self, penalty, seed, n=5, m=2, n_valid=40):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(n + n_valid, m))
        y = X @ np.arange(1, m + 1) / m + rng.normal(size=n + n_valid) / 2
        self.shape = n, m
        present = np.arange(2 ** (n * m))[:, None] >> np.arange(n * m) & 1
        centre, targets, known = X[:n].mean(axis=0), y[:n] - y[:n].mean(), y[n:]
        filled = (present * (X[:n] - centre).ravel()).reshape(-1, n, m)
        means = filled.mean(axis=1, keepdims=True)
        apart = filled - means
        squares = np.swapaxes(apart, 1, 2) @ apart + penalty * np.eye(m)
        slopes = np.linalg.pinv(squares, rcond=1e-12, hermitian=True) @ (
            np.swapaxes(apart, 1, 2) @ targets[:, None]
        )
        found = y[:n].mean() + ((X[n:] - centre)[None] - means) @ slopes
        self.utilities = 1 - np.mean((found[:, :, 0] - known) ** 2, axis=1) / known.var()

    def draws(self, seed):
        """Values of the cells in random orders of them, by number."""

        def draw(number):
            order = np.random.default_rng([seed, number]).permutation(math.prod(self.shape))
            steps = np.diff(self.utilities[np.append(0, np.cumsum(1 << order))])
            return steps[np.argsort(order)].reshape(self.shape)

        return draw

    def exact(self):
        cells = math.prod(self.shape)
        subsets = np.arange(len(self.utilities))
        size = np.array([subset.bit_count() for subset in subsets.tolist()])
        values = np.empty(cells)
        for cell in range(cells):
            without = subsets[subsets >> cell & 1 == 0]
            weight = [semivalue_weight("shapley", s, cells) for s in size[without]]
            more = self.utilities[without | 1 << cell] - self.utilities[without]
            values[cell] = weight @ more
        return values.reshape(self.shape)


def warned_and_covered(penalty, n_runs, n_draws):
    """How many runs are warned of, and how many values the intervals of the others hold."""
    warned, covered = [], []
    for seed in range(n_runs):
        game = Lookup(penalty, seed % 5)
        draws = Listed(game.draws(seed), game.shape, count=n_draws)
        estimate, total = run_draws(draws)
        warned.append(bool(total.dominant))
        assert ("largest_share" in estimate.info) == warned[-1]
        if not warned[-1]:
            off = np.abs(estimate.values - game.exact())
            covered.append(np.mean(off <= interval_factor(estimate.dof) * estimate.stderr))
    return np.mean(warned), np.mean(covered) if covered else np.nan


def test_one_draw_that_decides_is_told():
    """R squared of a line through two near points is -1e7: intervals held .3 of the values."""
    assert warned_and_covered(0.0, 5, 100)[0] >= 0.8
    warned, covered = warned_and_covered(1.0, 10, 100)
    assert warned == 0 and covered >= 0.9


@pytest.mark.slow
def test_intervals_hold_unless_one_draw_decides():
    warned, _ = warned_and_covered(0.0, 200, 100)
    assert warned >= 0.95
    for penalty in (0.1, 0.3, 1.0):
        warned, covered = warned_and_covered(penalty, 200, 100)
        assert warned <= 0.05 and covered >= 0.93


# memory and states


def test_memory_at_census_size():
    """Sums and squares of 32,561 x 14 cells, and draws: a few arrays of 3.6 MB, however many draws."""
    shape = (32_561, 14)
    draws = Listed(lambda number: np.random.default_rng(number).random(shape), shape, count=8)
    tracemalloc.start()
    try:
        run_draws(draws)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 * 8 * shape[0] * shape[1]


LISTS = {
    "orders": lambda: Listed(normal),
    "exact": lambda: Listed(normal, exact=True, count=9, strata=[Stratum(size=9.0)]),
    "folds": lambda: Listed(folds, (5, 2), strata=[Stratum(rows, 0.5) for rows in FOLDS]),
    "lines": lambda: Listed(lambda k: drawn(normal(k, (3, 2, 5))), lines=4),
    "by column": lambda: Listed(lambda k: drawn(np.asfortranarray(normal(k))), by_column=True),
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_sum_goes_on_from_its_state_to_the_same_bits(kind):
    draws = LISTS[kind]()
    first = np.array([0.5, 0.25])
    whole, half, further = total_of(draws, 7, first), total_of(draws, 4, first), Total(draws, first)
    state = {name: array.copy() for name, array in half.state().items()}
    assert all(array.ndim <= 2 for array in state.values())
    assert half.n_bytes == sum(array.nbytes for array in state.values())
    further.restore(Saved(4, state, {}))
    for number in range(4, 7):
        further.add(draws(number))
    for name, one in further.state().items():
        assert one.tobytes("K") == whole.state()[name].tobytes("K"), name


def test_what_draws_note_is_kept():
    draws = Listed(lambda k: drawn(normal(k), notes={"sizes": np.full((k + 1, 2), float(k))}))
    draws.notes_kept = {"sizes": 2}
    half, further = total_of(draws, 2), Total(draws)
    further.restore(Saved(2, half.state(), {}))
    further.add(draws(2))
    assert further.notes_of("sizes")[:, 0].tolist() == [0, 1, 1, 2, 2, 2]


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("0 total", lambda array: None, "it has no 0 total"),
        ("0 total", lambda array: array.T, r"its 0 total has the shape \(3, 4\)"),
        ("0 between", lambda array: array.astype(np.float32), r"its 0 between has the shape"),
        ("0 total", lambda array: array + np.nan, "its 0 total has entries that are not numbers"),
        ("0 between", lambda array: -array, "its 0 between has entries below 0"),
        ("0 seen", lambda array: -array, "its 0 seen has entries below 0"),
        ("0 seen", lambda array: array + 1, "its counts do not fit each other"),
        ("more", lambda _: np.zeros((2, 1)), "it has more arrays than it should"),
    ],
)  # fmt: skip
def test_unsound_states_are_refused(name, change, words):
    draws = Listed(normal)
    state = total_of(draws, 4).state()
    changed = change(state.pop(name, None))
    with pytest.raises(ValueError, match=words):
        arrays = state if changed is None else state | {name: changed}
        Total(draws).restore(Saved(4, arrays, {}))
