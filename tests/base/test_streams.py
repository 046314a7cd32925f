"""Random streams that never meet."""

import numpy as np

from shapley2d._base.streams import fold_seeds, generator, seed_sequence


def test_no_two_streams_of_a_run_share_a_key():
    """Draws are numbered from 0, and so they may share keys with streams of KNN, which draws none."""
    of_knn = ["validation chunks", "chunk pairs"]
    keys = [seed_sequence(0, name).spawn_key for name in of_knn]
    assert len(set(keys)) == len(keys)


def test_a_seed_means_the_same_numbers_as_ever():
    assert generator(7, "draw", 3).integers(1000, size=3).tolist() == (
        np.random.default_rng(np.random.SeedSequence(7, spawn_key=(3,)))
        .integers(1000, size=3)
        .tolist()
    )
    assert fold_seeds(1, 2) == [
        int(child.generate_state(1, np.uint64)[0]) for child in np.random.SeedSequence(1).spawn(2)
    ]
