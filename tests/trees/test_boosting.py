"""The judge of coalitions: against a slow twin, and what a coalition's predictions may depend on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shapley2d._tables.problem import make_problem
from shapley2d._trees import boosting
from shapley2d._trees.boosting import Boosting

TWO, MANY, NUMBERS = "two classes", "many classes", "numbers"
KINDS = (TWO, MANY, NUMBERS)


def tables(kind, seed=0, n=60, n_valid=40):
    """Numbers, small integers, text (some only in one of the tables), missing entries."""
    rng = np.random.default_rng(seed)
    size = n + n_valid
    a, b = rng.normal(size=size), rng.integers(0, 4, size).astype(float)
    text = np.array(["red", "green", "blue", "grey"], dtype=object)[rng.integers(0, 4, size)]
    text[rng.integers(0, n, 3)] = "only training"
    text[n + rng.integers(0, n_valid, 3)] = "only validation"
    z = a + (text == "red") - (b > 1) + 0.3 * rng.normal(size=size)
    y = {TWO: np.where(z > 0, "yes", "no"), MANY: np.digitize(z, [-1, 0, 1]), NUMBERS: z}[kind]
    X = pd.DataFrame({"a": a, "b": b, "c": text, "d": rng.normal(size=size).round(1)})
    X = X.mask(rng.random(X.shape) < 0.2)
    return X[:n].reset_index(drop=True), y[:n], X[n:].reset_index(drop=True), y[n:]


def coded(X, y, X_valid, y_valid, **asked):
    (split,) = make_problem(X, y, X_valid, y_valid, **asked).splits
    return Boosting.coded(split.train, split.y, split.valid)


def whole(judge):
    return np.ones(judge.codes.shape, dtype=bool)


def some(judge, seed=1, share=0.6):
    return np.random.default_rng(seed).random(judge.codes.shape) < share


# ---- the twin: nodes are lists of rows, nothing is vectorised over nodes


def drawn(round_, level, key):
    mask = 2**64 - 1
    word = round_ * 0x9E3779B97F4A7C15 + level * 0xD1B54A32D192ED03 + key * 0x8CB92BA72F3D8DD7
    word &= mask
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 & mask
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB & mask
    return ((word ^ (word >> 31)) >> 11) * 2.0**-53


class Node:
    def __init__(self, rows, level, total):
        self.rows, self.level, self.total, self.column = rows, level, total, None


def best_cut(node, j, codes, n_bins, is_text, g, h, l2, best):
    """The best cut of a node on one column, if it is better than ``best``: (score, left sums, codes to the left)."""
    x = codes[j, node.rows]
    G, H = (np.bincount(x, w[node.rows], n_bins) for w in (g, h))
    present = [b for b in range(0 if is_text else 1, n_bins) if H[b]]
    if is_text:
        present.sort(key=lambda b: G[b] / (H[b] + 5 * l2))
    found = None
    for side in (False, True) if not is_text and H[0] else (False,):
        left = np.array([G[0], H[0]]) if side else np.zeros(2)
        for q, b in enumerate(present[:-1]):
            left = left + np.array([G[b], H[b]])
            own, other = left[1] + l2, node.total[1] - left[1] + l2
            score = left[0] ** 2 * other + (node.total[0] - left[0]) ** 2 * own
            if score > best[0] * (own * other):
                larger = 2 * left[1] > node.total[1]
                goes = np.full(n_bins, larger)
                if is_text:
                    goes[present], goes[present[: q + 1]] = False, True
                else:
                    goes[1:] = np.arange(1, n_bins) <= b
                    goes[0] = side if H[0] else larger
                best = found = score / (own * other), left, goes
    return found


def twin_tree(judge, codes, valid, keys, round_, depth, g, h, l2, share):
    """What a tree adds to the rows and to the validation rows."""
    price = boosting.PRICE * (g**2).sum() / h.sum()

    def grow(node):
        if node.level < depth:
            floor = node.total[0] ** 2 / (node.total[1] + l2) + 1e-9
            best = floor, None, None
            for j, key in enumerate(keys):
                if node.rows.size and drawn(round_, node.level, key) < share:
                    found = best_cut(node, j, codes, n_bins[j], is_text[j], g, h, l2, best)
                    if found:
                        best, node.column = found, j
            score, left, node.goes = best
            if node.column is None:  # once more with the columns of the next level
                node.level += 1
                return grow(node)
            to_left = node.goes[codes[node.column, node.rows]]
            node.left = Node(node.rows[to_left], node.level + 1, left)
            node.right = Node(node.rows[~to_left], node.level + 1, node.total - left)
            worth = score - floor - price * (node.level + 1) + grow(node.left) + grow(node.right)
            if worth > 0:
                return worth
            node.column = None
        return 0.0

    def leaf(node, x):
        while node.column is not None:
            node = node.left if node.goes[x[node.column]] else node.right
        return -boosting.RATE * node.total[0] / (node.total[1] + l2)

    n_bins, is_text = judge
    total = np.array([np.cumsum(g)[-1], np.cumsum(h)[-1]])
    root = Node(np.arange(g.size), 0, total)
    grow(root)
    return [np.array([leaf(root, x) for x in table.T]) for table in (codes, valid)]


def twin(judge, held, seed=0):
    """The predictions by the definition."""
    codes = np.where(held, judge.codes, 0)
    columns = list(range(len(codes)))
    while True:
        rows = np.flatnonzero(codes[columns].any(axis=0))
        left = [j for j in columns if len(set(codes[j, rows].tolist())) > 1]
        if left == columns:
            break
        columns = left
    codes, valid, y = codes[np.ix_(columns, rows)], judge.valid[columns], judge.y[rows]
    share = max(boosting.SHARE, boosting.FEW / len(columns))
    depth = min(boosting.DEPTH, int(np.ceil(np.log2(y.size))))
    K = judge.n_classes
    if K:
        first = np.log((np.bincount(y, minlength=K) + 0.5) / (y.size + K / 2))
        targets = np.eye(K)[y].T
        if K == 2:
            first, targets = first[1:] - first[:1], targets[1:]
    else:
        first, targets = np.zeros(1), ((y - y.mean()) / y.std())[None]
    F, R = (np.tile(first[:, None], x.shape[1]) for x in (codes, valid))

    def probabilities(F):
        both = np.concatenate([np.zeros_like(F), F]) if K == 2 else F
        P = np.exp(both - both.max(axis=0))
        return P / P.sum(axis=0)

    for round_ in range(boosting.ROUNDS):
        P = probabilities(F)[-len(first) :] if K else F
        G, H = P - targets, np.maximum(P * (1 - P), 1e-6) if K else np.ones_like(F)
        if round_ == 0:
            l2 = boosting.SHRINK * H[:, 0]
        for k in range(len(first)):
            made = twin_tree(
                (judge.n_bins[columns], judge.is_text[columns]), codes, valid,
                judge.keys[columns].tolist(), 2**32 * seed + round_, depth, G[k], H[k], l2[k], share,
            )  # fmt: skip
            F[k] += made[0]
            R[k] += made[1]
    return probabilities(R) if K else y.mean() + y.std() * R


@pytest.mark.parametrize("kind", KINDS)
@given(seed=st.integers(0, 1000), rounds=st.integers(1, 4))
def test_it_is_its_definition(kind, seed, rounds):
    judge = coded(*tables(kind, seed))
    held = some(judge, seed, 0.8)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosting, "ROUNDS", rounds)
        np.testing.assert_allclose(judge.predict(held, seed), twin(judge, held, seed), atol=1e-9)


# ---- what predictions depend on


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_depend_on_the_coalitions_cells_alone(kind):
    X, y, X_valid, y_valid = tables(kind)
    judge = coded(X, y, X_valid, y_valid)
    held = some(judge)
    held[:, ::5] = False
    found = judge.predict(held)
    # others' cells, and rows of others in between
    changed = X.copy()
    changed["c"] = X["c"].where(held[2], "what others say")
    for j, name in ((0, "a"), (1, "b"), (3, "d")):
        changed[name] = X[name].where(held[j], 1e3)
    more = pd.concat([X[:1], changed]).reset_index(drop=True)
    other = coded(more, np.concatenate([y[:1], y]), X_valid, y_valid)
    theirs = np.concatenate([np.zeros((4, 1), dtype=bool), held], axis=1)
    np.testing.assert_array_equal(other.predict(theirs), found)
    # an entry that is not held is a missing one
    blank = coded(X.where(held.T), y, X_valid, y_valid, kinds={"c": "text"})
    np.testing.assert_array_equal(blank.predict(whole(blank)), found)


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_rows_and_columns_changes_nothing_once_they_are_sorted(kind):
    X, y, X_valid, y_valid = tables(kind)
    judge = coded(X, y, X_valid, y_valid)
    held = some(judge)
    order = np.random.default_rng(2).permutation(len(X))
    shuffled = X.iloc[order][["d", "b", "c", "a"]]
    again = shuffled.sort_index()[sorted(shuffled.columns)]
    other = coded(again, y[order][np.argsort(order)], X_valid, y_valid)
    np.testing.assert_array_equal(other.predict(held), judge.predict(held))
    # unsorted ones are added up in another order: the same but for rounding, unless a split is a tie
    unsorted = coded(X.iloc[order].reset_index(drop=True), y[order], X_valid, y_valid)
    assert np.abs(unsorted.predict(held[:, order]) - judge.predict(held)).mean() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_column_changes_nothing(kind):
    X, y, X_valid, y_valid = tables(kind)
    X.loc[3] = None
    found = coded(X, y, X_valid, y_valid)
    judge = coded(X.assign(e=4.0), y, X_valid.assign(e=[4.0, 5.0] * 20), y_valid)
    assert X.isna().all(axis=1).any()  # rows that have nothing else
    np.testing.assert_array_equal(judge.predict(whole(judge)), found.predict(whole(found)))
    alone = whole(judge)
    alone[:4] = False
    assert judge.predict(alone) is None


def test_nothing_to_learn():
    judge = coded(*tables(TWO))
    assert judge.predict(~whole(judge)) is None
    assert judge.predict(whole(judge) & (judge.y == 1)) is None
    numbers = coded(*tables(NUMBERS))
    assert replace(numbers, y=np.full(60, 2.5)).predict(whole(numbers)) is None


@pytest.mark.parametrize("unit", [1e6, 1e-6, 2.0**40, -3.0])
def test_predictions_of_numbers_follow_their_unit(unit):
    judge = coded(*tables(NUMBERS))
    other = replace(judge, y=unit * judge.y + 5 * unit)
    found, expected = other.predict(whole(judge)), unit * judge.predict(whole(judge)) + 5 * unit
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7 * abs(unit))


def test_numbers_that_hardly_differ():
    judge = replace(coded(*tables(NUMBERS)), y=np.arange(60) * 1e-200)
    assert np.isfinite(judge.predict(whole(judge))).all()


@pytest.mark.parametrize("kind", [TWO, MANY])
def test_probabilities(kind):
    judge = coded(*tables(kind))
    found = judge.predict(some(judge))
    assert found.shape == (judge.n_classes, 40)
    assert (found > 0).all()
    np.testing.assert_allclose(found.sum(axis=0), 1)


def test_codes():
    X = pd.DataFrame({"a": [0.0, 1, 5, np.nan], "b": ["x", "y", "new", None], "c": [1.0, 2, 3, 2]})
    X_valid = pd.DataFrame({"a": [1.0, 2, 2, 4], "b": ["y", "z", "y", "x"], "c": [2.0] * 4})
    judge = coded(X, [0, 1, 0, 1], X_valid, [0, 1, 0, 1], kinds={"b": "text"})
    assert judge.codes.tolist() == [[1, 1, 3, 0], [2, 1, 4, 0], [1, 2, 3, 2]]
    assert judge.valid.tolist() == [[1, 2, 2, 3], [1, 3, 1, 2], [2, 2, 2, 2]]
    assert judge.n_bins.tolist() == [4, 5, 4]
    # many numbers and many words: quantiles, and the frequent ones
    rng = np.random.default_rng(0)
    many = pd.DataFrame({"a": rng.normal(size=2000), "b": [f"w{k}" for k in range(2000)]})
    many.loc[:5, "b"] = "w7"
    judge = coded(
        many, *(rng.integers(0, 2, 2000), many, rng.integers(0, 2, 2000)), kinds={"b": "text"}
    )
    counts = np.bincount(judge.codes[0])
    assert counts[0] == 0 and judge.n_bins[0] == 65 and abs(counts[1:] - 2000 / 64).max() < 2
    assert judge.codes[1, :6].tolist() == [1] * 6 and judge.codes.max() == 255


@pytest.mark.parametrize("columns", [(0, 1), (2, 4)])
def test_an_exclusive_or_is_learned(columns):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(2000, 6))
    y = (X[:, columns[0]] > 0) ^ (X[:, columns[1]] > 0)
    judge = coded(X[:1000], y[:1000], X[1000:], y[1000:])
    assert (judge.predict(whole(judge))[1] > 0.5)[y[1000:]].mean() > 0.95


def test_noise_teaches_little():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 2, 300)
    judge = coded(X, y, X, y)
    found = judge.predict(whole(judge))
    right = found[rng.integers(0, 2, 300), np.arange(300)]  # labels of other rows
    assert -np.log(right).mean() < 0.76


def test_missing_entries_can_say_something():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 2))
    y = rng.integers(0, 2, 400)
    X[y == 1, 1] = np.where(rng.random((y == 1).sum()) < 0.8, np.nan, X[y == 1, 1])
    judge = coded(X[:200], y[:200], X[200:], y[200:])
    found = judge.predict(whole(judge))[1]
    gone = np.isnan(X[200:, 1])
    assert found[gone].min() > 0.9
    assert found[~gone].mean() < 0.5
