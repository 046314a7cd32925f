"""Every random stream of the package by name.

A stream is ``SeedSequence(seed, spawn_key=key)``; the key says what the stream is for, then which
piece of work it belongs to. Keys define what a seed means: changing a key changes the values that a
seed gives. No two streams of one method share a key.

=================== ================== =============================================================
stream              key                used for
=================== ================== =============================================================
draw                (number)           row and column orders of one draw
validation chunks   (0)                order of validation rows, exact KNN
chunk pairs         (7, number)        column subsets of one chunk of validation rows of KNN
path orders         (8, round, split,  order of the columns on the path of every deep leaf of a tree
                    tree)
inspection bags     ("bags")           rows that the trees of an inspection learn from
inspection trees    ("trees", column)  columns and random targets of the forest of one column, by
                                       its place in the table's own order
folds               no key             rows of the folds, whose own seeds are spawned from it
=================== ================== =============================================================
"""

from __future__ import annotations

import numpy as np

_KEYS: dict[str, tuple[int, ...]] = {
    "draw": (),
    "validation chunks": (0,),
    "chunk pairs": (7,),
    "path orders": (8,),
    "inspection bags": (int.from_bytes(b"bags"),),
    "inspection trees": (int.from_bytes(b"trees"),),
}


def seed_sequence(seed: int, stream: str, *numbers: int) -> np.random.SeedSequence:
    """The seed sequence of a stream or of one piece of it."""
    return np.random.SeedSequence(seed, spawn_key=(*_KEYS[stream], *numbers))


def generator(seed: int, stream: str, *numbers: int) -> np.random.Generator:
    """A random generator for a stream or for one piece of it."""
    return np.random.default_rng(seed_sequence(seed, stream, *numbers))


def fold_state(seed: int) -> int:
    """``random_state`` of scikit-learn's splitter for the folds of a cross-valuation."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def fold_seeds(seed: int, count: int) -> list[int]:
    """Seeds of the folds' own draws."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0]) for child in children]


def draw_seeds(seed: int, count: int) -> list[int]:
    """Seeds for the draws of several games: the run's own seed if there is one game only."""
    return [seed] if count == 1 else fold_seeds(seed, count)
