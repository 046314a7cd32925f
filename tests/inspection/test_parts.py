"""The parts of a score, and the lift of entries, against direct formulas."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d._base.robust import centre_and_spread
from shapley2d._inspection.binning import bin_column
from shapley2d._inspection.deviation import (
    Scale,
    category_stories,
    deviation,
    number_stories,
    shortest_half,
)
from shapley2d._inspection.forests import (
    FLOOR_MIXED,
    SHARE_MIXED,
    Bags,
    chances,
    grow,
    is_predicted,
    repair_gains,
)
from shapley2d._inspection.kernels.forest import CODES
from shapley2d._inspection.marginal import (
    class_distance,
    odd_writing,
    rare_pairs,
    rare_shapes,
    shape_of,
    standing_alone,
    vouched,
)
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Column
from tests.inspection.test_forest_kernels import leaf_of, shares_of


def numbers(entries, kind="number", **more):
    return Column("x", kind, np.asarray(entries, dtype=np.float64), **more)


@pytest.fixture(scope="module")
def small():
    """A table of three columns, one with empty cells, with its forests."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=120)
    y = np.where(rng.random(120) < 0.1, np.nan, 2 * x + 0.1 * rng.normal(size=120))
    table = as_table({"x": x, "y": y, "z": np.where(x > 0, "up", "down").tolist()})
    coded = [bin_column(column) for column in table.columns]
    codes = np.column_stack([one.codes_of(one.values) for one in coded])
    bags = Bags.draw(np.arange(120), 0)
    return coded, codes, bags, [grow(coded, codes, bags, j, 0) for j in range(3)]


def test_bins_hold_about_equal_shares_and_keep_equal_numbers_together():
    rng = np.random.default_rng(0)
    entries = np.concatenate([rng.normal(size=400).round(2), np.zeros(100)])
    coded = bin_column(numbers(entries))
    assert coded.filled <= 24
    for b in range(coded.filled):
        stretch = coded.ordered[coded.starts[b] : coded.starts[b + 1]]
        assert sorted(entries[coded.bins == b]) == stretch.tolist()
        assert coded.shares[b] == pytest.approx(stretch.size / 500)
    for value in np.unique(entries):
        assert np.unique(coded.bins[entries == value]).size == 1
    assert coded.shares.max() < 0.3
    assert np.sort(coded.ranks)[[0, -1]] == pytest.approx([0.5 / 500, 499.5 / 500])


def test_few_numbers_have_a_bin_each_and_empty_cells_one_of_their_own():
    coded = bin_column(numbers([3, 1, np.nan, 3, 2, 1]))
    assert coded.graded
    assert coded.bins.tolist() == [2, 0, 3, 2, 1, 0]
    assert coded.n_bins == 4
    assert coded.shares == pytest.approx([2 / 6, 1 / 6, 2 / 6, 1 / 6])
    assert coded.centres.tolist() == [1, 2, 3]


def test_strays_are_neither_empty_nor_learnt_from():
    column = as_table({"a": ["1", "2", "three", "", "4", "5", "6", "7", "8", "9", "10"]}).columns[0]
    assert column.from_text.strays == {2: "three"}
    coded = bin_column(column)
    assert coded.bins[2] == -1
    assert coded.bins[3] == coded.filled


@pytest.mark.parametrize("n", [20, 5000])
def test_codes_of_inputs_keep_the_order_of_numbers_and_put_frequent_categories_first(n):
    rng = np.random.default_rng(0)
    entries = rng.normal(size=n)
    codes = bin_column(numbers(entries)).codes_of(np.sort(entries))
    assert (np.diff(codes.astype(int)) >= 0).all()
    assert 1 <= codes.min() <= codes.max() < CODES
    words = np.array([0.0, 1, 1, 2, 2, 2, np.nan])
    coded = bin_column(numbers(words, "category", categories=("a", "b", "c")))
    assert coded.codes_of(words).tolist() == [3, 2, 2, 1, 1, 1, 0]


def test_columns_that_cannot_be_predicted():
    def coded(entries, kind="number"):
        return bin_column(numbers(entries, kind, categories=tuple(map(str, range(40)))))

    assert is_predicted(coded(np.arange(40.0)))
    assert not is_predicted(coded(np.arange(40.0), "category"))  # a key
    assert is_predicted(coded(np.arange(40.0) % 20, "category"))
    assert not is_predicted(coded(np.ones(40)))
    assert not is_predicted(coded(np.arange(9.0)))


def test_large_tables_have_fewer_trees_of_as_many_rows():
    small, large, larger = (Bags.draw(np.arange(n), 0) for n in (100, 60_000, 400_000))
    assert small.rows.shape[0] > large.rows.shape[0] > larger.rows.shape[0]
    assert small.rows.shape[1] < large.rows.shape[1] == larger.rows.shape[1]
    assert Bags.draw(np.arange(1), 0).rows.shape[1] == 0


def test_chances_are_means_over_unseen_trees_blurred_and_mixed(small):
    """Blur and mixture by hand, from what single trees say."""
    coded, codes, bags, forests = small
    found = chances(coded[1], forests[1], codes, bags.seen)
    filled = coded[1].filled
    for row in (0, 17, 63):
        unseen = [t for t in range(100) if not int(bags.seen[row, t // 64]) >> (t % 64) & 1]
        leaves = [leaf_of(codes[row], forests[1], t) for t in unseen]
        shares = [shares_of(forests[1], leaf, coded[1].n_bins) for leaf in leaves]
        mean = np.mean(shares, axis=0)
        blurred = mean.copy()
        for b in range(filled):
            near = mean[max(b - 1, 0)] + mean[min(b + 1, filled - 1)]
            blurred[b] = mean[b] / 2 + near / 4
        wanted = (1 - SHARE_MIXED) * blurred + SHARE_MIXED * coded[1].shares + FLOOR_MIXED / 121
        np.testing.assert_allclose(found[row], wanted, rtol=1e-12)


def test_repair_gains_are_the_logs_of_chances_with_an_entry_replaced(small):
    coded, codes, bags, forests = small
    new = codes.copy()
    new[:, 0] = codes[::-1, 0]
    new[:, 2] = 3 - codes[:, 2]
    gains = repair_gains(coded, forests, codes, new, bags.seen, slice(0, 120))
    for column in (0, 2):
        replaced = codes.copy()
        replaced[:, column] = new[:, column]
        wanted = np.zeros(120)
        for k, forest in enumerate(forests):
            rows, bins = np.arange(120), coded[k].bins
            before, after = (
                chances(coded[k], forest, one, bags.seen)[rows, bins] for one in (codes, replaced)
            )
            wanted += np.log(after) - np.log(before)
        np.testing.assert_allclose(gains[:, column], wanted, atol=1e-9)
    assert not gains[:, 1].any()
    halves = [
        repair_gains(coded, forests, codes, new, bags.seen, part)
        for part in (slice(0, 50), slice(50, 120))
    ]
    assert np.array_equal(gains, np.concatenate(halves))


def test_surprise_is_minus_the_log_of_the_chance_and_for_categories_beyond_the_usual(small):
    coded, codes, bags, forests = small
    for j, one in enumerate(coded):
        found = deviation(one, forests[j], codes, bags.seen)
        predicted = chances(one, forests[j], codes, bags.seen)
        predicted /= predicted.sum(axis=1, keepdims=True)
        plain = -np.log(predicted[np.arange(120), one.bins])
        there = one.bins < one.filled
        if one.is_category:
            usual = -(predicted * np.log(predicted)).sum(axis=1)
            np.testing.assert_allclose(found.surprise, np.maximum(0, plain - usual))
            own = predicted[np.arange(120), one.bins]
            wanted = np.log(0.5 * one.shares[one.bins] + 0.5 / (one.n_bins + 1)) - np.log(own)
            np.testing.assert_allclose(found.stories, wanted)
            np.testing.assert_allclose(
                found.surprise * 0
                + deviation(one, forests[j], codes, bags.seen, plain=True).surprise,
                plain,
            )
        else:
            np.testing.assert_allclose(found.surprise[there], plain[there])
            assert (found.distance[~there] == 0).all()


def test_expected_numbers_are_quantiles_of_what_is_predicted():
    """Without a forest the column itself is predicted, so that its own quantiles are expected."""
    rng = np.random.default_rng(0)
    entries = rng.permutation(1000).astype(float)
    coded = bin_column(numbers(entries))
    codes = np.zeros((1000, 1), dtype=np.uint8)
    expected = deviation(coded, None, codes, Bags.draw(np.arange(1000), 0).seen).expected
    assert expected.entries == pytest.approx(np.full(1000, 499.5), abs=3)
    assert expected.low == pytest.approx(np.full(1000, 100), abs=6)
    assert expected.high == pytest.approx(np.full(1000, 900), abs=6)


def test_pieces_of_rows_give_what_all_rows_give(small, monkeypatch):
    from shapley2d._inspection import forests as module

    coded, codes, bags, forests = small
    whole = [deviation(coded[j], forests[j], codes, bags.seen) for j in range(3)]
    monkeypatch.setattr(module, "_CHUNK", (7, 100))
    for j in range(3):
        parts = deviation(coded[j], forests[j], codes, bags.seen)
        assert np.array_equal(whole[j].stories, parts.stories)
        assert np.array_equal(whole[j].expected.entries, parts.expected.entries, equal_nan=True)


def test_the_shortest_half_against_all_stretches():
    rng = np.random.default_rng(0)
    centres = np.sort(rng.normal(size=7))
    predicted = rng.dirichlet(np.ones(7), size=20)
    middle, length = shortest_half(predicted, centres)
    for row, chance in enumerate(predicted):
        stretches = [
            (centres[b] - centres[a], (centres[a] + centres[b]) / 2)
            for a in range(7)
            for b in range(a, 7)
            if chance[a : b + 1].sum() >= 0.5 - 1e-9
        ]
        assert (length[row], middle[row]) == pytest.approx(min(stretches))


def test_stories_of_numbers_are_densities_on_the_squashed_scale():
    rng = np.random.default_rng(0)
    entries = rng.normal(size=200)
    coded = bin_column(numbers(entries))
    scale = Scale.of(coded)
    predicted = rng.dirichlet(np.ones(coded.n_bins), size=200)
    found = number_stories(coded, scale, entries, coded.bins, predicted)
    middle, spread = centre_and_spread(entries)
    place = np.arcsinh((entries - middle) / spread)
    for row in (3, 50, 111):
        kernel = [
            np.exp(-d) / (1 + np.exp(-d)) ** 2 / w
            for d, w in zip(
                (place[row] - scale.positions) / scale.widths, scale.widths, strict=True
            )
        ]
        belongs = (predicted[row] * kernel).sum()
        error = 0.5 * (coded.shares * kernel).sum() + 0.5 * 3 / (np.pi * (9 + place[row] ** 2))
        assert found[row] == pytest.approx(np.log(error / belongs))
    assert not scale.atoms.any()


def test_a_number_that_many_rows_share_is_a_category_among_numbers():
    entries = np.concatenate([np.zeros(100), np.random.default_rng(0).normal(50, 10, size=100)])
    coded = bin_column(numbers(entries))
    scale = Scale.of(coded)
    assert np.flatnonzero(scale.atoms).tolist() == [0]
    predicted = np.full((200, coded.n_bins), 1 / coded.n_bins)
    found = number_stories(coded, scale, entries, coded.bins, predicted)
    assert found[:100] == pytest.approx(
        category_stories(coded, np.full(100, 1 / coded.n_bins), np.zeros(100, dtype=int))
    )


def test_unusual_among_the_rows_of_a_label():
    entries = np.array([1.0, 2.0, 3.0, 10.0, 20.0, np.nan])
    groups = np.array([0, 0, 0, 1, 1, 1])
    column = bin_column(numbers(entries))
    found = class_distance(column, groups, column, groups)
    off = np.abs(np.array([-1, 0, 1])) / np.std([1, 2, 3])
    assert found == pytest.approx([*np.log1p(off), np.log(2), np.log(2), 0])
    words = bin_column(numbers([0, 0, 0, 1, 1, 1], "category", categories=("a", "b")))
    groups = np.array([0, 0, 0, 0, 1, 1])
    found = class_distance(words, groups, words, groups)
    rarity = -np.log([0.75, 0.75, 0.75, 0.25])
    assert found == pytest.approx([*np.log1p(np.maximum(0, rarity - rarity.mean())), 0, 0])


def test_entries_that_stand_alone_where_others_come_back():
    column = bin_column(numbers([5, 5, 5, 5, 7, np.nan]))
    found = standing_alone(column, column)
    usual = 4 / 5 * np.log(4)
    assert found == pytest.approx([usual - np.log(4)] * 4 + [usual, 0])


def test_rare_shapes_and_pairs_against_counts():
    words = ["AB-12", "CD-34", "EF 56", "AB-99"]
    counts = np.array([5, 3, 1, 2])
    assert [shape_of(word) for word in words] == ["a-9", "a-9", "a 9", "a-9"]
    assert rare_shapes(words, counts) == pytest.approx(-np.log(np.array([10, 10, 1, 10]) / 11))
    pairs = [{("^" + word + "$")[k : k + 2] for k in range(len(word) + 1)} for word in words]
    held = Counter(pair for one in pairs for pair in one)
    wanted = [-np.log(min(held[pair] for pair in one) / 5) for one in pairs]
    assert rare_pairs(words) == pytest.approx(wanted)


def test_odd_writing_stands_out_and_usual_writing_does_not():
    texts = ["AB-12", "AC-13", "AB-14"] * 30 + ["AB 12"]
    odd = odd_writing(as_table({"code": texts}).columns[0])
    assert odd.argmax() == 90
    assert (odd[:90] < 0.5).all()
    strays = as_table({"a": [*map(str, range(30)), "x"]}).columns[0]
    assert odd_writing(strays)[30] == odd_writing(strays).max() > odd.max()
    assert not odd_writing(as_table({"a": np.arange(5.0)}).columns[0]).any()


def test_an_entry_that_stands_hundreds_of_times_is_a_category_however_it_is_written():
    usual, odd = ["Private", "Public", "State"] * 1000, "Self-emp-inc/2"
    often = as_table({"work": [*usual, *[odd] * 400]}).columns[0]
    once = as_table({"work": [*usual, odd]}).columns[0]
    assert odd_writing(often).max() == 0
    assert odd_writing(once)[-1] > 2
    assert odd_writing(once)[-1] == odd_writing(once).max()


def test_a_column_that_nothing_predicts_is_judged_by_its_shares():
    """The short way against the long one, with the chances of every category in every row."""
    from shapley2d._inspection.deviation import _judge

    coded = bin_column(numbers([0, 1, 1, 2, np.nan, 2, 2], "category", categories=("a", "b", "c")))
    codes, bags = np.zeros((7, 1), dtype=np.uint8), Bags.draw(np.arange(7), 0)
    short = deviation(coded, None, codes, bags.seen)
    predicted = chances(coded, None, codes, bags.seen)
    predicted /= predicted.sum(axis=1, keepdims=True)
    whole = _judge(coded, None, predicted, slice(0, 7), plain=False)
    np.testing.assert_allclose(short.surprise, whole.surprise)
    np.testing.assert_allclose(short.stories, whole.stories)
    np.testing.assert_allclose(short.expected.chances, whole.expected.chances)
    assert np.array_equal(short.expected.alternatives, whole.expected.alternatives)
    assert np.array_equal(short.expected.entries, coded.values, equal_nan=True)


def by_counting(entries):
    """``vouched``, row by row, for a list of columns with None for empty cells."""
    n = len(entries[0])
    different = [len({*column}) for column in entries]
    said = np.zeros((n, len(entries)))
    for i in range(n):
        for j, own in enumerate(entries):
            for k, other in enumerate(entries):
                if j == k or own[i] is None or not 1 < different[k] <= n / 2 or different[j] == n:
                    continue
                same, same_other = ([at for at in range(n) if column[at] == column[i] and at != i] for column in (own, other))  # fmt: skip
                both = len({*same} & {*same_other})
                by_chance = len(same) * len(same_other) / (n - 1)
                said[i, j] = max(said[i, j], np.log((both + 0.5) / (by_chance + 0.5)))
    return said


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_rows_that_vouch_are_counted(data):
    n, p = data.draw(st.integers(12, 30)), data.draw(st.integers(1, 4))
    entry = st.sampled_from(["a", "b", "c", "d", "e", None])
    entries = [data.draw(st.lists(entry, min_size=n, max_size=n)) for _ in range(p)]
    entries = [column for column in entries if any(column)]
    table = as_table({f"c{j}": column for j, column in enumerate(entries)}) if entries else None
    if table is None or any(column.kind != "category" for column in table.columns):
        return
    assert vouched(table.columns) == pytest.approx(by_counting(entries), abs=1e-5)
    assert (vouched(table.columns, 2) == vouched(table.columns)).all()


def test_keys_vouch_for_nothing_and_nobody_for_them():
    keys = as_table({"id": [f"u{i:03}" for i in range(80)], "letter": [*"ab" * 40]}).columns
    assert not vouched(keys).any()
