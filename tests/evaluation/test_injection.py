"""Injected errors: how many, where, and that each is of its kind."""

import itertools

import numpy as np
import pytest
from scipy.stats import gaussian_kde

from shapley2d import InputError
from shapley2d.evaluation import ERROR_KINDS, inject_errors, mistype_ages
from shapley2d.evaluation.cell_errors import mistype_number

CELL_KINDS = [kind for kind in ERROR_KINDS if kind != "labels"]
CONTINUOUS, POSITIVE, GRADES, WHOLE, CATEGORY = range(5)


def table(n=300, seed=0):
    """One column of each sort, related to the label, some entries missing."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 2
    numbers = np.column_stack(
        [
            rng.normal(3.0 * labels, 1.0),
            rng.gamma(2.0, 1.0 + labels),
            np.clip(rng.poisson(1 + 4 * labels), 0, 9),
            np.round(rng.normal(40 + 100 * labels, 12)).clip(1),
            np.where(rng.uniform(size=n) < 0.03, 2, (labels + (rng.uniform(size=n) < 0.2)) % 2),
        ]
    ).astype(float)
    numbers[rng.integers(n, size=10), rng.integers(5, size=10)] = np.nan
    return numbers, labels, np.array([False] * 4 + [True])


def corrupt(kind, share=0.05, seed=1, **options):
    numbers, labels, categorical = table(**options)
    return (
        numbers,
        labels,
        inject_errors(kind, numbers, labels, categorical, share, np.random.default_rng(seed)),
    )


@pytest.mark.parametrize("kind", CELL_KINDS)
@pytest.mark.parametrize("share", [0.004, 0.02, 0.09])
def test_as_many_cells_as_asked_differ_and_no_other(kind, share):
    numbers, labels, corrupted = corrupt(kind, share)
    wanted = round(share * numbers.size)
    assert corrupted.cells.sum() == wanted - (wanted % 2 if kind == "swapped" else 0)
    present = ~np.isnan(numbers)
    assert (np.isnan(corrupted.numbers) == ~present).all()
    assert ((corrupted.numbers != numbers)[present] == corrupted.cells[present]).all()
    assert not corrupted.cells[~present].any()
    assert (corrupted.labels == labels).all() and not corrupted.rows.any()


@pytest.mark.parametrize("kind", ERROR_KINDS)
def test_a_seed_decides_everything_and_the_input_stays(kind):
    numbers, labels, categorical = table()
    before = numbers.copy(), labels.copy()
    first, again, other = (
        inject_errors(kind, numbers, labels, categorical, 0.05, np.random.default_rng(s))
        for s in (1, 1, 2)
    )
    assert np.array_equal(numbers, before[0], equal_nan=True) and (labels == before[1]).all()
    assert np.array_equal(first.numbers, again.numbers, equal_nan=True)
    assert (first.labels == again.labels).all()
    assert (first.cells != other.cells).any() or (first.rows != other.rows).any()


def test_the_kind_of_every_changed_cell_is_given():
    _, _, corrupted = corrupt("typo")
    assert (corrupted.kinds[corrupted.cells] == "typo").all() and (
        corrupted.kinds[~corrupted.cells] == ""
    ).all()
    _, _, flipped = corrupt("labels", 0.1)
    assert flipped.kinds.shape == flipped.cells.shape and (flipped.kinds == "").all()


def test_several_kinds_share_the_errors_equally_and_no_cell_changes_twice():
    kinds = ["unlikely", "low-density", "tail", "swapped", "typo", "units", "labels"]
    numbers, _, corrupted = corrupt(kinds, 0.14)
    counts = {kind: int((corrupted.kinds == kind).sum()) for kind in kinds[:-1]}
    assert counts == dict.fromkeys(kinds[:-1], 30)
    assert corrupted.rows.sum() == 6  # a seventh of 14 % of 300 labels
    present = ~np.isnan(numbers)
    assert ((corrupted.numbers != numbers)[present] == corrupted.cells[present]).all()
    swapped = corrupted.kinds == "swapped"
    for before, after, changed in zip(numbers.T, corrupted.numbers.T, swapped.T, strict=True):
        np.testing.assert_array_equal(np.sort(before[changed]), np.sort(after[changed]))


def test_each_kind_is_read_off_the_clean_table():
    numbers, labels, corrupted = corrupt(["tail", "unlikely"], 0.2)
    for j in (GRADES, CATEGORY):
        for label in (0, 1):
            new = corrupted.numbers[(corrupted.kinds[:, j] == "unlikely") & (labels == label), j]
            peers = numbers[(labels == label) & ~np.isnan(numbers[:, j]), j]
            assert ((peers[:, None] == new).mean(axis=0) < 0.05).all()
    tail = corrupted.kinds == "tail"
    off = np.abs(corrupted.numbers - np.nanmean(numbers, axis=0)) / np.nanstd(numbers, axis=0)
    assert (off[tail] >= 3 - 1e-9).all()


@pytest.mark.parametrize("kind", ["unlikely", "typo", "swapped"])
def test_errors_are_spread_over_all_columns(kind):
    _, _, corrupted = corrupt(kind, 0.2)
    assert (corrupted.cells.sum(axis=0) > 20).all()


@pytest.mark.parametrize("kind", ["unlikely", "low-density"])
def test_unlikely_values_are_rare_among_their_peers(kind):
    numbers, labels, corrupted = corrupt(kind, 0.1)
    groups = labels if kind == "unlikely" else np.zeros_like(labels)
    for j, group in itertools.product(range(5), np.unique(groups)):
        new = corrupted.numbers[corrupted.cells[:, j] & (groups == group), j]
        peers = numbers[(groups == group) & ~np.isnan(numbers[:, j]), j]
        assert new.size or (
            j == WHOLE and kind == "low-density"
        )  # over both classes no whole number is rare
        if j in (GRADES, CATEGORY):
            assert ((peers[:, None] == new).mean(axis=0) < 0.05).all()
        else:
            # scipy's estimate has another bandwidth, so allow for some of the difference
            density = gaussian_kde(peers, 0.9 * peers.size**-0.2)
            peak = density(np.linspace(peers.min(), peers.max(), 100)).max()
            assert (density(new) < 0.1 * peak).all()
        if j in (GRADES, WHOLE, CATEGORY):
            assert np.isin(new, numbers[:, j]).all()
        if j == POSITIVE:
            assert (new >= 0).all()


def test_what_is_unlikely_depends_on_the_class():
    _, labels, corrupted = corrupt("unlikely", 0.2)
    changed = corrupted.cells[:, CONTINUOUS]
    new = corrupted.numbers[:, CONTINUOUS]
    low, high = new[changed & (labels == 0)], new[changed & (labels == 1)]
    # the typical range of the one class is open to errors of the other
    assert ((low > 2.8) & (low < 4)).any() and ((high > -1) & (high < 0.2)).any()
    _, _, overall = corrupt("low-density", 0.2)
    new = overall.numbers[overall.cells[:, CONTINUOUS], CONTINUOUS]
    assert not ((new > -1) & (new < 4)).any()


def test_tail_values_lie_three_to_five_deviations_off():
    numbers, _, corrupted = corrupt("tail", 0.1)
    assert not corrupted.cells[:, CATEGORY].any()
    assert (
        corrupted.numbers[:, CONTINUOUS]
        < numbers[~np.isnan(numbers[:, CONTINUOUS]), CONTINUOUS].min()
    ).any()
    for j in (CONTINUOUS, POSITIVE, GRADES, WHOLE):
        column, new = numbers[:, j], corrupted.numbers[corrupted.cells[:, j], j]
        off = np.abs(new - np.nanmean(column))
        spread = np.nanstd(column)
        rounding = 1 if j in (GRADES, WHOLE) else 1e-9
        assert (off >= 3 * spread - 1e-9).all() and (off <= 5 * spread + rounding).all()
        if j != CONTINUOUS:
            assert (new >= 0).all()
        if j in (GRADES, WHOLE):
            assert (new == np.round(new)).all()


def test_swapped_entries_change_places_between_classes():
    numbers, labels, corrupted = corrupt("swapped", 0.1)
    for before, after, changed in zip(
        numbers.T, corrupted.numbers.T, corrupted.cells.T, strict=True
    ):
        np.testing.assert_array_equal(np.sort(before), np.sort(after))
        # pairs across the classes: as many in the one as in the other, each with what the other had
        ones, others = changed & (labels == 0), changed & (labels == 1)
        np.testing.assert_array_equal(np.sort(before[ones]), np.sort(after[others]))
        np.testing.assert_array_equal(np.sort(before[others]), np.sort(after[ones]))


def test_swaps_stay_in_a_class_where_there_is_only_one():
    numbers, labels, categorical = table()
    corrupted = inject_errors(
        "swapped", numbers, np.zeros_like(labels), categorical, 0.02, np.random.default_rng(0)
    )
    assert corrupted.cells.sum() == 30


@pytest.mark.parametrize(
    ("entry", "whole", "among", "not_among"),
    [
        (17, True, [71, 117, 177, 1, 7, 170, 14, 18, 47], [17, 1.7, 16, 37]),
        (10, True, [1, 100, 110, 40, 20, 12], [10, 30]),
        (1.25, False, [12.5, 0.125, 1.52, 1.2, 1.5, 11.25, 1.22, 4.25, 1.55, 1.28], [1.25]),
        (-3.0, True, [-30, -33, -2, -6], [3, 33, -3]),
        (0.0, True, [2], [0]),
        (0.1 + 0.2, False, [3.0, 0.03, 0.33, 0.6], [0.3, 0.30000000000000004]),
    ],
)
def test_slips_of_the_finger(entry, whole, among, not_among):
    slips = mistype_number(entry, whole=whole)
    assert set(among) <= set(slips) and not set(not_among) & set(slips)


def test_typos_are_slips_and_categories_other_categories():
    numbers, _, corrupted = corrupt("typo", 0.1)
    for i, j in np.argwhere(corrupted.cells):
        old, new = numbers[i, j], corrupted.numbers[i, j]
        if j == CATEGORY:
            assert new in (0, 1, 2)
        else:
            assert new in mistype_number(old, whole=j in (GRADES, WHOLE))


def test_units_shift_part_of_one_continuous_column():
    columns, factors = set(), set()
    for seed in range(25):
        numbers, _, corrupted = corrupt("units", 0.05, seed=seed)
        (j,) = np.flatnonzero(corrupted.cells.any(axis=0))
        columns.add(j)
        rows = corrupted.cells[:, j]
        ratio = corrupted.numbers[rows, j] / numbers[rows, j]
        if j == WHOLE:
            assert (corrupted.numbers[rows, j] == np.round(corrupted.numbers[rows, j])).all()
            assert np.ptp(ratio) < 1 / numbers[rows, j].min()  # one factor, except for rounding
        else:
            factors.add(round(float(ratio[0]), 6))
            np.testing.assert_allclose(ratio, ratio[0])
    assert columns == {CONTINUOUS, POSITIVE, WHOLE}
    assert len(factors) > 3 and min(factors) < 1 < max(factors)


def test_units_leave_half_of_the_column_right():
    numbers, _, corrupted = corrupt("units", 0.15)  # 225 of 300 rows
    (j,) = np.flatnonzero(corrupted.cells.any(axis=0))
    assert corrupted.cells.sum() == np.count_nonzero(~np.isnan(numbers[:, j])) // 2
    with pytest.raises(InputError, match=r"only \d+ of 300 errors of kind 'units' fit"):
        corrupt("units", 0.2, n=300, seed=0)


def test_units_take_grades_where_nothing_is_continuous():
    numbers = np.tile(np.arange(1.0, 11), 10)[:, None]
    corrupted = inject_errors(
        "units", numbers, np.zeros(100, int), np.array([False]), 0.2, np.random.default_rng(0)
    )
    assert corrupted.cells.sum() == 20


def test_flipped_labels():
    rng = np.random.default_rng(0)
    labels = rng.choice([3, 7, 8], 200)
    numbers = rng.normal(size=(200, 2))
    corrupted = inject_errors("labels", numbers, labels, np.zeros(2, bool), 0.1, rng)
    assert corrupted.rows.sum() == 20 and (corrupted.rows == (corrupted.labels != labels)).all()
    assert set(corrupted.labels[corrupted.rows]) == {3, 7, 8}
    assert (corrupted.numbers == numbers).all() and not corrupted.cells.any()


@pytest.mark.parametrize(
    ("kind", "share", "numbers", "message"),
    [
        ("outlier", 0.1, np.eye(10), "kind 'outlier' is not known: use one of 'unlikely', 'low-density'"),
        ("tail", 0.0, np.eye(10), "share=0.0 must lie between 0 and 1"),
        ("tail", 1, np.eye(10), "share=1 must lie between 0 and 1"),
        ([], 0.1, np.eye(10), "kinds is empty: name one or more of 'unlikely'"),
        (["tail", "tail"], 0.1, np.eye(10), "kinds has 'tail' more than once"),
        ("tail", 0.001, np.eye(10), "a share of 0.001 of this table gives no error of kind 'tail'"),
        ("swapped", 0.01, np.eye(10), "no error of kind 'swapped'"),
        ("swapped", 0.1, np.ones((10, 10)), "only 0 of 10 errors of kind 'swapped' fit"),
        ("units", 0.1, np.zeros((10, 10)), "only 0 of 10 errors of kind 'units' fit"),
        ("labels", 0.1, np.eye(10), "labels of one class cannot be flipped"),
        ("tail", 0.1, np.full((10, 10), np.nan), "a column has only missing entries"),
    ],
)  # fmt: skip
def test_what_cannot_be_injected(kind, share, numbers, message):
    with pytest.raises(InputError, match=message):
        inject_errors(
            kind, numbers, np.zeros(10, int), np.zeros(10, bool), share, np.random.default_rng(0)
        )


def test_fewer_errors_where_the_table_has_no_more_room():
    numbers = np.column_stack([np.ones(20), np.arange(20.0)])  # a constant column cannot be swapped
    corrupted = inject_errors(
        "swapped", numbers, np.arange(20) % 2, np.zeros(2, bool), 0.9, np.random.default_rng(0)
    )
    assert corrupted.cells.sum() == 20 and not corrupted.cells[:, 0].any()


def test_ages_are_mistyped_in_both_directions():
    ages = np.repeat([17.0, 71, 18, 81, 19, 40, 90], 5)
    mixed, changed = mistype_ages(ages, 25, np.random.default_rng(0))
    assert (changed == (mixed != ages)).all() and changed.sum() == 25
    assert mixed.tolist() == np.repeat([71.0, 17, 81, 18, 91, 40, 90], 5).tolist()
    with pytest.raises(InputError, match="only 25 ages can be mistyped, not 26"):
        mistype_ages(ages, 26, np.random.default_rng(0))


@pytest.mark.parametrize("kind", ["unlikely", "low-density"])
def test_a_column_of_one_fraction_has_no_rare_values(kind):
    rng = np.random.default_rng(0)
    numbers = np.column_stack([np.full(60, 0.5), rng.normal(size=60)])
    found = inject_errors(kind, numbers, np.arange(60) % 2, np.zeros(2, dtype=bool), 0.1, rng)
    assert found.cells.sum(axis=0).tolist() == [0, 12]
