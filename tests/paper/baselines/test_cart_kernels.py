"""Where the tree grower splits; its trees are compared with one by hand in test_tree_game.py."""

import numpy as np

from shapley2d_paper.baselines.kernels.cart import best_binary, split_threshold


def test_columns_that_do_not_vary_are_not_split():
    values, codes = np.full((1, 4), 2.0, np.float32), np.array([0, 1, 0, 1], np.int32)
    values[0, 3] += 1e-8  # nothing in 32 bits
    work, active = np.arange(4, dtype=np.int32)[None], np.zeros(1, np.intp)
    assert best_binary(values, codes, work, active, np.ones(5)) == (-1, -1)


def test_thresholds_lie_between_their_values_and_never_on_the_upper():
    assert split_threshold(np.float32(1), np.float32(2)) == 1.5
    largest = np.finfo(np.float32).max
    assert split_threshold(np.float32(-largest), np.float32(largest)) == 0.0
    low = np.float64(1.0)
    for kernel in (split_threshold, split_threshold.py_func):
        assert kernel(low, np.nextafter(low, 2)) == low
