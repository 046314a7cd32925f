"""The parts of a score, and the lift of entries, against direct formulas."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shapley2d._base.robust import centre_and_spread
from shapley2d._inspection import predict as module
from shapley2d._inspection import signals
from shapley2d._inspection.binning import bin_column
from shapley2d._inspection.columns.view import column_views, shape_of
from shapley2d._inspection.company import company
from shapley2d._inspection.forests import (
    FLOOR_MIXED,
    SHARE_MIXED,
    Bags,
    chances,
    grow,
    is_predicted,
)
from shapley2d._inspection.kernels.forest import CODES
from shapley2d._inspection.predict import predict
from shapley2d._tables.convert import as_table
from shapley2d._tables.table import Column, Table
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


def test_surprise_is_minus_the_log_of_the_chance_and_for_categories_beyond_the_usual(small):
    coded, codes, bags, forests = small
    rows = np.arange(120)
    for j, one in enumerate(coded):
        found = predict(one, forests[j], codes, bags.seen)
        predicted = chances(one, forests[j], codes, bags.seen)
        predicted /= predicted.sum(axis=1, keepdims=True)
        own = predicted[rows, one.bins]
        usual = -(predicted * np.log(predicted)).sum(axis=1)
        np.testing.assert_allclose(found.doubt, usual)
        np.testing.assert_allclose(found.rivalled, np.log(predicted.max(axis=1) / own))
        if one.is_category:
            np.testing.assert_allclose(found.surprise, -np.log(own) - usual)
            wanted = np.log(0.5 * one.shares[one.bins] + 0.5 / (one.n_bins + 1)) - np.log(own)
            np.testing.assert_allclose(found.stories, wanted)
            plain = predict(one, forests[j], codes, bags.seen, plain=True).surprise
            np.testing.assert_allclose(plain, -np.log(own))
        else:
            np.testing.assert_allclose(found.surprise, -np.log(own))
            assert (found.distance[one.bins == one.filled] == 0).all()


def test_expected_numbers_are_quantiles_of_what_is_predicted():
    """Without a forest the column itself is predicted, so that its own quantiles are expected."""
    rng = np.random.default_rng(0)
    entries = rng.permutation(1000).astype(float)
    coded = bin_column(numbers(entries))
    codes = np.zeros((1000, 1), dtype=np.uint8)
    expected = predict(coded, None, codes, Bags.draw(np.arange(1000), 0).seen).expected
    assert expected.entries == pytest.approx(np.full(1000, 499.5), abs=3)
    assert expected.low == pytest.approx(np.full(1000, 100), abs=6)
    assert expected.high == pytest.approx(np.full(1000, 900), abs=6)


def test_pieces_of_rows_give_what_all_rows_give(small, monkeypatch):
    from shapley2d._inspection import forests as of_forests

    coded, codes, bags, forests = small
    whole = [predict(coded[j], forests[j], codes, bags.seen) for j in range(3)]
    monkeypatch.setattr(of_forests, "_CHUNK", (7, 100))
    for j in range(3):
        parts = predict(coded[j], forests[j], codes, bags.seen)
        assert np.array_equal(whole[j].stories, parts.stories)
        assert np.array_equal(whole[j].expected.entries, parts.expected.entries, equal_nan=True)


def test_stories_of_numbers_are_densities_on_the_squashed_scale():
    rng = np.random.default_rng(0)
    entries = rng.normal(size=230)
    coded = bin_column(numbers(entries))
    predicted = rng.dirichlet(np.ones(coded.n_bins), size=230)
    own = predicted[np.arange(230), coded.bins]
    found = module._number_stories(coded, entries, coded.bins, predicted, own)
    middle, spread = centre_and_spread(entries)
    place, kernels = (np.arcsinh((one - middle) / spread) for one in (entries, coded.centres))
    gaps = np.diff(kernels)
    widths = 0.5 * np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    for row in (3, 50, 111):
        far = np.abs(place[row] - kernels) / widths
        kernel = np.exp(-far) / (1 + np.exp(-far)) ** 2 / widths
        belongs = (predicted[row] * kernel).sum()
        error = 0.5 * (coded.shares * kernel).sum() + 0.5 * 3 / (np.pi * (9 + place[row] ** 2))
        assert found[row] == pytest.approx(np.log(error / belongs))


def test_a_number_that_many_rows_share_is_a_category_among_numbers():
    coded = bin_column(numbers(np.repeat([0.0, 1, 2, 5], [100, 50, 40, 10])))
    predicted = np.random.default_rng(0).dirichlet(np.ones(4), size=200)
    own = predicted[np.arange(200), coded.bins]
    found = module._number_stories(coded, coded.values, coded.bins, predicted, own)
    wanted = np.log(0.5 * coded.shares[coded.bins] + 0.5 / 5) - np.log(own)
    assert found == pytest.approx(wanted)


def of_column(entries, known=None, kind="category"):
    """All signals of a column alone."""
    table = as_table({"x": entries})
    assert table.columns[0].kind == kind
    return signals.signals(column_views(table, known)[0])


def test_new_rows_are_as_rare_and_as_far_out_as_if_each_were_one_more_row():
    random = np.random.default_rng(0)
    for _ in range(30):
        n = int(random.integers(2, 30))
        entries = np.where(random.random(n) < 0.2, np.nan, random.poisson(3, n))
        known = int(random.integers(1, n + 1))
        column = Column("a", "number", entries)
        (view,) = column_views(Table((column,), np.arange(n)), known)
        rare, far, times = (one(view) for one in (signals.as_rare, signals.as_far, signals.times))
        for i in range(n):
            own = np.append(entries[:known], entries[i]) if i >= known else entries[:known]
            there, one = own[~np.isnan(own)], entries[i]
            if np.isnan(one):
                assert rare[i] == far[i] == times[i] == 0
                continue
            counts = np.array([(there == each).sum() for each in there])
            assert times[i] == pytest.approx(np.log((there == one).sum()))
            assert rare[i] == pytest.approx(np.log(np.mean(counts <= (there == one).sum())))
            outside = min((there <= one).sum(), (there >= one).sum())
            assert far[i] == pytest.approx(np.log(min(1, 2 * outside / there.size)))


def test_a_repeated_entry_of_a_nearly_unique_column_is_suspicious():
    unique, few = [f"u{k}" for k in range(200)], [f"u{k % 50}" for k in range(200)]
    unique[7] = unique[3]
    assert np.flatnonzero(of_column(unique)["repeated_key"]).tolist() == [3, 7]
    assert not np.any(of_column(few)["repeated_key"])


def test_rare_shapes_and_pairs_against_counts():
    words = ["AB-12"] * 5 + ["CD-34"] * 3 + ["EF 56"] + ["AB-99"] * 2
    assert [shape_of(word) for word in ("AB-12", "EF 56")] == ["a-9", "a 9"]
    found = of_column(words)
    usual = -(10 * np.log(10 / 11) + np.log(1 / 11)) / 11
    assert found["odd_shape"][[0, 8]] == pytest.approx(-np.log([10 / 11, 1 / 11]) - usual)
    distinct = list(dict.fromkeys(words))
    pairs = {word: {("^" + word + "$")[k : k + 2] for k in range(len(word) + 1)} for word in words}
    held = Counter(pair for word in distinct for pair in pairs[word])
    rare = {word: -np.log(min(held[pair] for pair in pairs[word]) / 5) for word in distinct}
    wanted = np.array([rare[word] for word in words])
    assert found["odd_pair"] == pytest.approx(wanted - wanted.mean())


def test_numbers_at_the_end_of_a_gap_and_spikes_are_told():
    entries = [*np.linspace(50, 90, 100).round(1), *np.zeros(8), 400.0]
    found = of_column([float(one) for one in entries], kind="number")
    assert found["gap"].argmax() == found["far_out"].argmax() == 108
    assert np.flatnonzero(found["end_times"] > 1).tolist() == [*range(100, 108)]
    assert not np.any(found["odd_shape"])  # its texts tell nothing


def test_texts_among_numbers_are_strays_and_those_of_one_shape_alike():
    entries = [str(k) for k in range(200)]
    entries[5:9] = ["4A", "17A", "5B", "80C"]
    entries[60] = "12?!4"
    found = of_column(entries, kind="number")
    assert np.flatnonzero(found["stray"]).tolist() == [5, 6, 7, 8, 60]
    assert np.expm1(found["strays_alike"][[5, 8, 60, 100]]) == pytest.approx([4, 4, 1, 0])


def test_slips_variants_and_slips_inside_texts_are_told():
    entries = ["Birmingham"] * 40 + ["Boston"] * 20 + ["Brimingham", "BOSTON", "Leeds"]
    found = of_column(entries)
    assert np.flatnonzero(found["slip"]).tolist() == [60]
    assert found["slip"][60] == pytest.approx(np.log(40))
    assert np.flatnonzero(found["variant"]).tolist() == [61]
    inside = [f"{one} Street {k}" for k, one in enumerate(["Main", "North"] * 30)] + [
        "Main Streat 9"
    ]
    assert np.flatnonzero(of_column(inside)["odd_token"]).tolist() == [60]


def test_rows_with_the_same_entry_elsewhere_outvote_one():
    town = [f"town {k % 6}" for k in range(90)]
    state = [f"state {k % 3}" for k in range(90)]
    state[7], town[50] = "state 0", None
    views = column_views(as_table({"town": town, "state": state, "n": [str(k) for k in range(90)]}))
    of_town, of_state, of_n = company(views)
    assert of_state.broken.argmax() == 7
    assert views[1].words[of_state.usual[7]] == "state 1" and of_state.cause[7] == 0
    assert of_state.votes[7] == of_state.majority[7] == 1
    assert of_state.against[7] == 1 and not of_state.against[:7].any()
    assert views[0].words[of_town.usual[50]] in ("town 2", "town 5")  # an empty cell
    assert not of_n.broken.any() and not of_n.vouched.any()


def by_counting(entries):
    """``vouched``, row by row, for a list of columns with None for empty cells."""
    n = len(entries[0])
    different = [len({*column} - {None}) for column in entries]
    said = np.zeros((n, len(entries)))
    for i in range(n):
        for j, own in enumerate(entries):
            for k, other in enumerate(entries):
                if (
                    j == k
                    or own[i] is None
                    or other[i] is None
                    or different[j] < 2
                    or not 1 < different[k] <= n / 2
                ):
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
    found = np.column_stack([one.vouched for one in company(column_views(table))])
    assert found == pytest.approx(by_counting(entries), abs=1e-5)


def test_keys_vouch_for_nothing_and_nobody_for_them():
    keys = as_table({"id": [f"u{i:03}" for i in range(80)], "letter": [*"ab" * 40]})
    assert not any(one.vouched.any() for one in company(column_views(keys)))
