"""Every random stream of the package by name.

A stream is ``SeedSequence(seed, spawn_key=key)``; the key says what the stream is for, then which
piece of work it belongs to. Keys are part of what a seed means: a key that changes, changes the
values that the seed gives.

=================== ================== =============================================================================
stream              key                used for
=================== ================== =============================================================================
draw                (number)           orders of rows and columns of one draw; one tree of 2D-OOB
cell order          (number, fold)     order of all cells of one draw of ``"flat"``
validation chunks   (0)                order in which validation rows are taken up, exact KNN
column pairs        (1)                sampled column coalitions of KNN
label coalitions    (2)                coalitions that the label's value is averaged over
pilot pairs         (3)                column coalitions of the pilot that sizes up the values
validation groups   (3, split)         groups of validation rows that are left out in turn
form sample         (4)                validation rows and coalitions on which the fast form is assessed
bin sample          (5, split)         validation rows and coalitions on which the bins of a GPU are assessed
owner pairs         (6)                sampled coalitions of the longer axis of ``"pairs"``
chunk pairs         (7, number)        sampled column coalitions of one chunk of validation rows of KNN
chunk pilot         (8, number)        the same of the chunks that say how many coalitions it takes
random values       ("random")         the order of the values of ``"random"``
plan                ("plan")           rows and validation rows that a run is priced on
inspection bags     ("bags")           rows that the trees of an inspection learn from
audit               ("audit", owner)   which rows go to which shell, and the order of noise, in what an owner might do
inspection trees    ("trees", column)  columns and random targets in the nodes of the forest of one column
folds               no key             rows of the folds; the folds' own seeds are spawned from it
=================== ================== =============================================================================

No two streams of one method share a key.
"""

from __future__ import annotations

import numpy as np

_KEYS: dict[str, tuple[int, ...]] = {
    "draw": (),
    "cell order": (),
    "validation chunks": (0,),
    "column pairs": (1,),
    "label coalitions": (2,),
    "pilot pairs": (3,),
    "validation groups": (3,),
    "form sample": (4,),
    "bin sample": (5,),
    "owner pairs": (6,),
    "chunk pairs": (7,),
    "chunk pilot": (8,),
    "random values": (int.from_bytes(b"random"),),
    "audit": (int.from_bytes(b"audit"),),
    "plan": (int.from_bytes(b"plan"),),
    "inspection bags": (int.from_bytes(b"bags"),),
    "inspection trees": (int.from_bytes(b"trees"),),
}
STREAMS = tuple(_KEYS)
"""Names of the streams."""


def seed_sequence(seed: int, stream: str, *numbers: int) -> np.random.SeedSequence:
    """The seed sequence of a stream, or of one piece of it.

    Examples
    --------
    >>> seed_sequence(7, "column pairs").spawn_key, seed_sequence(7, "draw", 12).spawn_key
    ((1,), (12,))
    """
    return np.random.SeedSequence(seed, spawn_key=(*_KEYS[stream], *numbers))


def generator(seed: int, stream: str, *numbers: int) -> np.random.Generator:
    """A generator of random numbers for a stream, or for one piece of it."""
    return np.random.default_rng(seed_sequence(seed, stream, *numbers))


def fold_state(seed: int) -> int:
    """The state of scikit-learn's splitter for the folds of a cross-valuation."""
    return int(np.random.SeedSequence(seed).generate_state(1)[0])


def fold_seeds(seed: int, count: int) -> list[int]:
    """Seeds of the folds' own draws."""
    children = np.random.SeedSequence(seed).spawn(count)
    return [int(child.generate_state(1, np.uint64)[0]) for child in children]


def draw_seeds(seed: int, count: int) -> list[int]:
    """Seeds of the draws of some games: the run's own where there is one game, else those of the folds."""
    return [seed] if count == 1 else fold_seeds(seed, count)
