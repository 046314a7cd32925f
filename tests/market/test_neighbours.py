"""Statistics of sets of rows, against loops over their rows."""

from __future__ import annotations

import numpy as np
import pytest

from shapley2d._market.sellers.neighbours import Neighbours

FLOOR, MOST = 1e-3, 3.0


def points(seed=0, n=30):
    random = np.random.default_rng(seed)
    places = random.normal(size=(n, 2)).round(1)  # some rows tie, some coincide
    places[5], places[7] = places[6], places[8]
    apart = np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))
    labels = random.integers(0, 3, n).astype(float)
    return apart, labels, random.random(n), random


def nearest(apart, row, among, count=1):
    others = [k for k in among if k != row]
    return sorted(apart[row, others])[:count]


def floor(apart):
    first = [nearest(apart, row, range(len(apart)))[0] for row in range(len(apart))]
    return FLOOR * np.median([one for one in first if one > 0])


def test_ratios_of_distances_are_those_of_a_loop():
    apart, labels, elsewhere, random = points()
    found = Neighbours(apart, labels, classes=True, elsewhere=elsewhere)
    least = floor(apart)

    def ratio(far, near):
        return np.clip(np.log((far + least) / (near + least)), -MOST, MOST)

    sets = random.permuted(np.repeat([np.arange(30) < 12], 5, axis=0), axis=1)
    for line, chosen in enumerate(sets):
        rows, rest = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        own = {row: nearest(apart, row, rows, 4) for row in rows}
        others = np.mean([ratio(own[row][0], elsewhere[row]) for row in rows])
        outside = np.mean([ratio(own[row][0], nearest(apart, row, rest)[0]) for row in rows])
        gaps = np.mean([max(ratio(own[row][k + 1], own[row][k]) for k in range(3)) for row in rows])
        assert found.near_others(sets)[line] == pytest.approx(others)
        assert found.near_rest(sets)[line] == pytest.approx(outside)
        assert found.twins(sets)[line] == pytest.approx(gaps)


@pytest.mark.parametrize("classes", [True, False])
def test_labels_are_compared_with_the_five_nearest_outside(classes):
    apart, labels, _, random = points(1)
    apart = apart + np.triu(1e-6 * random.random(apart.shape), 1)  # without ties
    apart = np.triu(apart, 1) + np.triu(apart, 1).T
    found = Neighbours(apart, labels, classes=classes)
    inside = random.permutation(np.arange(30) < 10)
    gaps = []
    for row in np.flatnonzero(inside):
        five = sorted(np.flatnonzero(~inside), key=lambda other: apart[row, other])[:5]
        if classes:
            gaps.append(np.mean(labels[five] != labels[row]))
        else:
            gaps.append(abs(np.mean(labels[five]) - labels[row]))
    assert found.odd_labels(inside[None])[0] == pytest.approx(np.mean(gaps))
