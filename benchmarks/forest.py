"""Cells of forests: seconds on Census, how they grow, what-ifs, a million rows, and other methods beside.

Run: SHAPLEY2D_DATA=folder python benchmarks/forest.py [--only census what_if explain growth beside catboost full million] [--trees 100] [--depth 6]

Without ``--only`` all but ``catboost``, ``full`` and ``million`` run, which take some minutes. The forests are fitted first and not timed. Where other work keeps
the cores busy, the processor's time is the one to look at; growth is measured by it.

census   all 455,854 cells against all 16,281 test rows, with one thread and with two, beside the trees alone, and the share of the
         processor's time that is spent outside of the trees
what_if  one changed cell at 3,000 x 20 and 100 trees: the first question, and later ones about random cells and about the column
         that decides
explain  the training rows behind one prediction on Census: the first question, and later ones
growth   exponents in rows, trees, depth, columns and validation rows, fitted, beside those of theory
beside   the same 1,000 rows valued by nearest neighbours and by CatBoost's object importance, and what Monte Carlo with the same forest
         would take: trainings of this size are timed, since one permutation takes hours
catboost rows of scikit-learn's breast cancer table, a tenth of the labels wrong, beside CatBoost's object importance: rank correlation, and the
         average precision of finding the wrong labels
full     Census with the fully grown trees of a default random forest
million  a million rows x 50 columns, made up, 100 trees of depth 8, 100,000 validation rows
"""

from __future__ import annotations

import argparse
import resource
import time
from functools import partial

import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import average_precision_score

from shapley2d import KNN, Forest, PredictionExplainer, value_cells
from shapley2d._forest.ensemble import read_fitted
from shapley2d._forest.leaves import LeafGame
from shapley2d._forest.scores import hold_models
from shapley2d._tables.problem import make_problem
from shapley2d.datasets import load_census

PLAIN = ("shapley", "shapley")


def timed(work) -> tuple[float, float]:
    """Seconds by the clock, and of the processor."""
    clock, core = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - core


def census_tables():
    frame, labels = load_census("both", frame="pandas")
    words = frame.select_dtypes(exclude="number").columns
    frame[words] = frame[words].apply(lambda column: column.astype("category").cat.codes)
    X, y, n = frame.to_numpy(dtype=float), np.asarray(labels), 32_561
    return X[:n], y[:n], X[n:], y[n:]


def made_up(n, m, n_valid, seed=0):
    """Numbers, three of which decide."""
    random = np.random.default_rng(seed)
    tables = []
    for count in (n, n_valid):
        X = random.normal(size=(count, m)).round(3)
        y = X[:, 0] + X[:, 1] * X[:, 2] + random.normal(size=count) > 0
        tables += [X, y.astype(int)]
    return tables


def trees_alone(model, X, y, Xv, yv) -> tuple[float, float]:
    """Seconds of the compiled part."""
    problem = make_problem(X, y, Xv, yv, task="classification")
    models = [read_fitted(model, split) for split in problem.splits]
    (held,) = hold_models(model, models, problem)
    trees, owners = list(held.games()), models[0].owners
    game = LeafGame(owners, len(X), PLAIN, X.shape[1])
    values = game.empty()
    game.add_values(trees[0], values)  # compiles, or loads what was compiled
    return timed(lambda: [game.add_values(leaves, values) for leaves in trees])


def census(given) -> None:
    data = census_tables()
    model = RandomForestClassifier(given.trees, max_depth=given.depth, random_state=0)
    model.fit(*data[:2])
    alone = trees_alone(model, *data)
    print(f"Census, {given.trees} trees of depth {given.depth}: clock, processor; the best of 7")
    print(f"trees alone                 {alone[0]:6.2f} s {alone[1]:6.2f} s")
    for jobs in (1, 2):
        runs = [inside_and_whole(data, model, jobs) for _ in range(8)][1:]  # the first compiles
        clock, whole, inside = min(runs, key=lambda run: run[1])
        rest = np.median([1 - run[2] / run[1] for run in runs])
        print(
            f"value_cells, {jobs} at a time    {clock:6.2f} s {whole:6.2f} s, of which {inside:.2f} s in the trees; "
            f"outside {rest:.1%} (median)"
        )


def inside_and_whole(data, model, jobs) -> tuple[float, float, float]:
    """Seconds of a run by the clock, of the processor, and of the latter those in the trees."""
    inside, add_values = [], LeafGame.add_values

    def counted(*given):
        start = time.thread_time()
        add_values(*given)
        inside.append(time.thread_time() - start)

    LeafGame.add_values = counted
    try:
        whole = timed(lambda: value_cells(*data, method=Forest(model), n_jobs=jobs, progress=False))
    finally:
        LeafGame.add_values = add_values
    return *whole, sum(inside)


def what_if(_) -> None:
    X, y, Xv, yv = made_up(3000, 20, 1000)
    model = RandomForestClassifier(100, max_depth=6, random_state=0).fit(X, y)
    value = partial(value_cells, X, y, Xv, yv, method=Forest(model), progress=False)
    value().what_if({(0, "x0"): 1.0})  # compiles
    v = value()
    run = timed(value)
    print("what_if at 3,000 x 20, 100 trees of depth 6, all cores: clock, processor, in ms")
    print(f"a new run                    {1e3 * run[0]:6.0f} {1e3 * run[1]:6.0f}")
    first = timed(lambda: v.what_if({(0, "x0"): 1.0}))
    print(f"the first question           {1e3 * first[0]:6.0f} {1e3 * first[1]:6.0f}")
    random = np.random.default_rng(1)
    for words, columns in (
        ("a random cell, mean of 100  ", range(20)),
        ("of the deciding column      ", [0]),
    ):
        asked = [
            {(int(random.integers(3000)), f"x{random.choice(columns)}"): float(random.normal())}
            for _ in range(100)
        ]
        took = np.array([timed(lambda one=one: v.what_if(one)) for one in asked])
        print(f"{words} {1e3 * took[:, 0].mean():6.0f} {1e3 * took[:, 1].mean():6.0f}")


def explain(given) -> None:
    X, y, Xv, _ = census_tables()
    model = RandomForestClassifier(given.trees, max_depth=given.depth, random_state=0).fit(X, y)
    few = RandomForestClassifier(2, random_state=0).fit(X[:500], y[:500])
    PredictionExplainer(few, X[:500], y[:500]).explain(Xv[0])  # compiles
    explainer = PredictionExplainer(model, X, y)
    first = timed(lambda: explainer.explain(Xv[0]))
    took = np.array([timed(lambda row=row: explainer.explain(row)) for row in Xv[1:21]])
    print(f"a prediction on Census, {given.trees} trees: clock, processor, in ms")
    print(f"the first question           {1e3 * first[0]:6.0f} {1e3 * first[1]:6.0f}")
    print(
        f"later ones, median of 20     {1e3 * np.median(took[:, 0]):6.0f} {1e3 * np.median(took[:, 1]):6.0f}"
    )


def growth(_) -> None:
    """The exponent of each size, all others held, by the processor's time of the trees."""
    usual = {"rows": 8000, "trees": 20, "depth": 6, "columns": 20, "validation rows": 2000}
    tried = {
        "rows": ([16_000, 32_000, 64_000, 128_000], "1, where rows take longer than tables"),
        "trees": ([10, 20, 40], "1"),
        "columns": ([10, 20, 40], "0, paths only have more different ones"),
        "validation rows": ([1000, 4000, 16_000], "0, but for their walk down the trees"),
        "depth": ([3, 4, 5, 6, 7, 8], "1 at most: leaves of a bundle share a look at the rows"),
    }
    print("growth: exponent fitted, theory")
    for name, (sizes, theory) in tried.items():
        took, leaves = [], []
        for size in sizes:
            now = {**usual, name: size}
            data = made_up(now["rows"], now["columns"], now["validation rows"])
            model = RandomForestClassifier(now["trees"], max_depth=now["depth"], random_state=0)
            model.fit(data[0][:8000], data[1][:8000])
            took.append(min(trees_alone(model, *data)[1] for _ in range(3)))
            leaves.append(sum(tree.get_n_leaves() * tree.get_depth() for tree in model.estimators_))
        over = np.log(leaves if name == "depth" else sizes)
        slope = np.polyfit(over, np.log(took), 1)[0]
        words = " ".join(f"{1e3 * one:.0f}" for one in took)
        shown = "leaves x depth" if name == "depth" else name
        print(f"{shown:<16} {slope:5.2f}   {theory}; ms: {words} at {sizes}")


def beside(_) -> None:
    X, y, Xv, yv = census_tables()
    random = np.random.default_rng(0)
    rows, valid = (
        random.choice(len(X), 1000, replace=False),
        random.choice(len(Xv), 500, replace=False),
    )
    data = (X[rows], y[rows], Xv[valid], yv[valid])
    forest = RandomForestClassifier(100, max_depth=6, random_state=0)
    model = forest.fit(*data[:2])
    print(
        "1,000 rows of Census, 500 validation rows: clock, processor, as a multiple of the forest"
    )
    work = partial(value_cells, *data, method=Forest(model), progress=False)
    work()  # compiles
    took = min((timed(work) for _ in range(3)), key=lambda one: one[1])
    budget = took[1]
    show_beside("forest", took, budget)

    def train():
        clone(forest).fit(data[0][::2, ::2], data[1][::2]).score(data[2][:, ::2], data[3])

    took = min((timed(train) for _ in range(3)), key=lambda one: one[1])
    show_beside("mc, one training", took, budget)
    trainings = data[0].size
    print(
        f"mc with the same forest trains {trainings:,} of them in one permutation, on half of the rows and columns on average: "
        f"in the time of the forest {budget / took[1]:.2g}, and one permutation takes {took[1] * trainings / budget:,.0f} times as long"
    )
    catboost_beside(data, budget)
    for words, method in (("knn, default", KNN()), ("knn, all subsets", KNN(subsets="all"))):
        work = partial(value_cells, method=method, progress=False)
        work(*(part[:40] for part in data))  # compiles
        show_beside(words, timed(partial(work, *data)), budget)


def catboost_beside(data, budget) -> None:
    try:
        from catboost import CatBoostClassifier, Pool
    except ImportError:
        print("CatBoost's object importance: catboost is not installed")
        return
    boosted = CatBoostClassifier(iterations=100, depth=6, random_seed=0, verbose=False)
    pools = Pool(data[0], data[1]), Pool(data[2], data[3])
    boosted.fit(pools[0])
    try:
        took = timed(lambda: boosted.get_object_importance(pools[1], pools[0]))
    except Exception as error:  # whatever it is, it is told
        print(f"CatBoost's object importance fails: {error}")
        return
    show_beside("CatBoost, rows only", took, budget)


def catboost(_) -> None:
    from catboost import CatBoostClassifier, Pool

    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.default_rng(0)
    order = random.permutation(len(y))
    X, y = X[order], y[order]
    wrong = np.isin(np.arange(400), random.choice(400, 40, replace=False))
    noisy = np.where(wrong, 1 - y[:400], y[:400])
    model = CatBoostClassifier(
        iterations=50, depth=4, boosting_type="Plain", random_seed=0, verbose=False,
        allow_writing_files=False,
    ).fit(X[:400], noisy)  # fmt: skip
    rows, scores = model.get_object_importance(Pool(X[400:], y[400:]), Pool(X[:400], noisy))
    theirs = np.empty(400)
    theirs[rows] = scores
    v = value_cells(X[:400], noisy, X[400:], y[400:], method=Forest(model), progress=False)
    print(f"rank correlation {spearmanr(theirs, v.row_values).statistic:.2f}")
    for words, harm in (("CatBoost", theirs), ("forest", -v.row_values)):
        print(f"wrong labels by {words}: {average_precision_score(wrong, harm):.2f}")
    print(f"unexplained {v.info['unexplained']:.1%}")


def show_beside(words, took, budget) -> None:
    """A line of seconds, and of the ratio to the processor's time of the forest."""
    print(f"{words:<20} {took[0]:8.2f} s {took[1]:8.2f} s {took[1] / budget:9.1f}", flush=True)


def full(_) -> None:
    data = census_tables()
    model = RandomForestClassifier(100, random_state=0, n_jobs=-1).fit(*data[:2])
    found = []
    took = timed(
        lambda: found.append(value_cells(*data, method=Forest(model), n_jobs=2, progress=False))
    )
    nodes = np.mean([tree.tree_.node_count for tree in model.estimators_])
    print(f"Census, 100 fully grown trees of {nodes:,.0f} nodes, two threads:")
    share = found[0].info.get("exact_share", 1.0)
    print(
        f"{took[0]:.0f} s by the clock, {took[1]:.0f} s of the processor, {peak():.1f} GiB; {share:.1%} exact"
    )


def million(given) -> None:
    X, y, Xv, yv = made_up(1_000_000, 50, 100_000)
    model = RandomForestClassifier(100, max_depth=8, max_samples=50_000, random_state=0, n_jobs=-1)
    model.fit(X, y)
    took = timed(
        lambda: value_cells(X, y, Xv, yv, method=Forest(model), n_jobs=given.jobs, progress=False)
    )
    print(f"1,000,000 x 50, 100 trees of depth 8, 100,000 validation rows, {given.jobs} at a time:")
    print(
        f"{took[0]:.0f} s by the clock, {took[1]:.0f} s of the processor, {peak():.1f} GiB in all"
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


PARTS = {
    "census": census,
    "what_if": what_if,
    "explain": explain,
    "growth": growth,
    "beside": beside,
    "catboost": catboost,
    "full": full,
    "million": million,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS)[:5])
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    for name in given.only:
        PARTS[name](given)
        print(flush=True)


if __name__ == "__main__":
    main()
