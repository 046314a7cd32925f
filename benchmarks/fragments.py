"""Contributors' values: are they right, what do copies and noise get, do intervals hold, what does it take (docs/evidence/fragments.md).

Run: python benchmarks/fragments.py                                       (all parts, small: minutes)
     python benchmarks/fragments.py --draws 3 --repeats 200 --minutes 8   (16 cores)

values     values on one half of the validation rows against what contributors add for another model on the other half,
           beside simpler rules: five owners, five ways to cut a table, on tables that the judge's constants were
           chosen on and on others (those of statsmodels where it is installed)
paid       the shares of those who bring gaps, a copy or noise
coverage   of 95 % intervals, by draws of 200 validation rows from a large pool
rivals     the error of 30 contributors' values by the number of sets that are scored: placed orders (value_fragments),
           plain ones, truncated ones (Ghorbani and Zou 2019, as mplc's TMCS), estimators of shapiq where it is installed
time       two threads; memory in a process of its own. It runs first, alone; the other parts share all cores

The folder OUT, where it is set, gets the rows and the page.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from shapley2d import KNN, Forest, MonteCarlo, value_cells, value_fragments
from shapley2d._fragments.game import FragmentGame
from shapley2d._fragments.join import join_pieces
from shapley2d._fragments.judges import make_judge
from shapley2d._fragments.pieces import label_piece, read_piece
from shapley2d._fragments.scores import Score
from shapley2d._tables.problem import validated_split
from shapley2d._tables.target import as_target
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit

WAYS = ("horizontal", "vertical", "grid", "overlapping", "with holes")
CHOSEN_ON = {"census": load_census, "credit": load_credit, "breast cancer": load_breast_cancer_original}
OTHERS = {
    "diabetes above its median": lambda: datasets.load_diabetes(return_X_y=True),
    "odd digits": lambda: datasets.load_digits(return_X_y=True),
    "hastie": lambda: datasets.make_hastie_10_2(20_000, random_state=0),
    "clusters": lambda: datasets.make_classification(20_000, 12, n_informative=5, n_classes=3, random_state=0),
    "sparse (regression)": lambda: datasets.make_sparse_uncorrelated(20_000, 8, random_state=0),
}
STATSMODELS = ("fair", "anes96") if find_spec("statsmodels") else ()
RIVALS = ("placed orders", "plain orders", "truncated orders")
SHAPIQ = (
    ("PermutationSamplingSV", "StratifiedSamplingSV", "KernelSHAP", "UnbiasedKernelSHAP", "SVARM", "kADDSHAP")
    if find_spec("shapiq") else ()
)  # fmt: skip
BUDGETS = 3600, 1200, 400
LARGE = 200_000, 20, 10_000
PARTS_OF_TRUTH, LONG = 16, 100  # so many runs of so many orders are the truth of 30 contributors
QUIET = {"progress": False, "n_jobs": 1}


# tables, cut into pieces


@cache
def table(name: str):
    """All rows of a table, and its target."""
    if name in CHOSEN_ON:
        return CHOSEN_ON[name]()
    if name in STATSMODELS:
        folder = Path(find_spec("statsmodels").origin).parent / "datasets" / name
        whole = pd.read_csv(folder / f"{name}.csv", sep=None, engine="python")
        return whole.iloc[:, :-1], (whole.iloc[:, -1] > 0).astype(int).to_numpy()
    X, y = OTHERS[name]()
    if name == "odd digits":
        X, y = X[:, 20:40], y % 2
    elif name.startswith("diabetes"):
        y = y > np.median(y)
    return pd.DataFrame(X).add_prefix("x"), y if "regression" in name else y.astype(int)


def parts(name: str, random, *sizes: int):
    """Random rows to train on, and parts to validate on; shares of a small table."""
    X, y = table(name)
    ends = np.cumsum(np.minimum(sizes, np.multiply(len(X), (0.45, 0.25, 0.3)[: len(sizes)]))).astype(int)
    return [
        (X.iloc[some].reset_index(drop=True), pd.Series(y[some], name="label"))
        for some in np.split(random.permutation(len(X)), ends)[:-1]
    ]


def cut(way: str, n: int, m: int, random, k: int = 5) -> np.ndarray:
    """Who holds which cells: (k, n, m)."""
    who, held = np.arange(k), np.zeros((k, n, m), dtype=bool)
    if way == "horizontal":
        held |= (random.choice(k, n, p=random.dirichlet(np.full(k, 2.0))) == who[:, None])[:, :, None]
    elif way == "vertical":
        held |= (random.permutation(np.arange(m) % k) == who[:, None])[:, None, :]
    elif way == "grid":  # two sets of columns: one in two sets of rows, the other in three
        left, rows = random.permutation(m) < m // 2, (random.integers(2, size=n), random.integers(2, 5, n))
        for i in who:
            held[i] = np.outer(rows[int(i > 1)] == i, left == (i < 2))
    else:
        few, many = ((0.03, 0.35), (0.15, 0.6)) if way == "many" else ((0.2, 0.8), (0.3, 0.8))
        for i in who:
            columns = random.random(m) < random.uniform(*many)
            columns[random.integers(m)] = True
            held[i] = np.outer(random.random(n) < random.uniform(*few), columns)
            if way != "overlapping":
                held[i] &= random.random((n, m)) < (0.9 if way == "many" else random.uniform(0.3, 0.9))
    return held


def pieces(X, held) -> dict[str, pd.DataFrame]:
    found = {}
    for i, mask in enumerate(held):
        rows, columns = mask.any(axis=1), mask.any(axis=0)
        found[f"owner {i}"] = X.loc[rows, X.columns[columns]].where(mask[np.ix_(rows, columns)])
    return found


# values


def other_model(y):
    kind = HistGradientBoostingRegressor if y.nunique() > 10 else HistGradientBoostingClassifier
    # its 20 rows a leaf would learn nothing from small pieces
    return kind(max_iter=50, early_stopping=False, min_samples_leaf=20 if len(y) > 500 else 5)


def sums_of_cells(X, y, held, valid, method) -> np.ndarray:
    """Values of the joined table's cells, summed by owner; owners share a cell equally."""
    each = np.arange(len(held))
    owners = np.tensordot(1 << each, held & X.notna().to_numpy(), 1)
    rows, columns = owners.any(axis=1), X.columns[owners.any(axis=0)]
    owners = owners[rows][:, owners.any(axis=0)]
    v = value_cells(X.loc[rows, columns].where(owners > 0), y[rows], valid[0][columns], valid[1], method=method, **QUIET)
    sums = v.sum_by(np.where(owners > 0, owners.astype(str), None))
    share = (sums["group"].astype(int).to_numpy()[:, None] >> each) & 1
    return sums["value"].to_numpy() @ (share / share.sum(axis=1, keepdims=True))


def shares(name: str, way: str, draw: int):
    """Shares of the total by every rule, beside the truth: another model's on rows never seen."""
    random = np.random.default_rng([draw, WAYS.index(way), *name.encode()])
    (X, y), seen, fresh = parts(name, random, 1000, 1000, 3000)
    held = cut(way, *X.shape, random)
    given = pieces(X, held)
    v = value_fragments(given, y, *seen, **QUIET)
    other, truth = (value_fragments(given, y, *one, method=other_model(y), **QUIET) for one in (seen, fresh))
    count = (held & X.notna().to_numpy()).sum(axis=(1, 2))
    rules = {
        "value_fragments": v.row_values / v.total,
        "the other model's own": other.row_values / other.total,
        **{
            f"sums of cells, {method.name}": (sums := sums_of_cells(X, y, held, seen, method)) / sums.sum()
            for method in (KNN(), Forest(max_trees=100))
        },
        "alone": v.alone / v.total,
        "leave one out": 1 - v.without / v.total,
        "number of cells": count / count.sum(),
        "equal": np.full(len(held), 1 / len(held)),
    }
    known = {"truth": truth.row_values / truth.total, "total": truth.total, "table": name, "way": way, "draw": draw}
    return pd.concat([pd.DataFrame({"rule": rule, "share": share, **known}) for rule, share in rules.items()])


def values_tasks(args):
    names = [*CHOSEN_ON, *OTHERS, *STATSMODELS]
    return [(shares, name, way, draw) for draw in range(args.draws) for name in names for way in WAYS]


def agreement(t: pd.DataFrame) -> pd.Series:
    within = [one["share"].corr(one["truth"]) for _, one in t.groupby(["table", "way", "draw"])]
    error = (t["share"] - t["truth"]).abs().mean() / t["truth"].mean()
    return pd.Series({"within": np.median(within), "pooled": t["share"].corr(t["truth"]), "error": error})


def values_page(t: pd.DataFrame):
    t, cuts = t[t["total"] > 0.01], len(t) // 40
    yield f"{len(t) // 40} of {cuts} cuts (the others are worth less than a point): correlation in a cut (median), pooled; error"
    chosen = t["table"].isin(CHOSEN_ON)
    for what, some in (("all tables", t), ("tables chosen on", t[chosen]), ("other tables", t[~chosen])):
        yield what, some.groupby("rule", sort=False)[[*t]].apply(agreement)
    for what in ("table", "way"):
        by = t.groupby([what, "rule"], sort=False)[[*t]].apply(agreement)
        yield f"pooled, by {what}", by["pooled"].unstack(sort=False).T
        yield f"error, by {what}", by["error"].unstack(sort=False).T


# paid


def newcomers(draw: int):
    """Shares of who joins four honest owners of Census."""
    random = np.random.default_rng(draw)
    (X, y), (V, y_valid) = parts("census", random, 1000, 2000)
    V = V.assign(noise=random.normal(size=len(V)))
    honest = pieces(X, cut("overlapping", *X.shape, random, 4))
    junk = X.apply(random.permutation)[:300].set_axis(np.arange(300) + len(X))
    noise = pd.DataFrame({"noise": random.normal(size=len(X))})
    labels = pd.concat([y, pd.Series(random.permutation(y)[:300], junk.index, name=y.name)])
    before = value_fragments(honest, y, V, y_valid, **QUIET)
    for who, frame in {
        "only gaps": pd.DataFrame(np.nan, X.index, X.columns),
        "a copy of the first": honest["owner 0"],
        "300 rows of noise": junk,
        "a column of noise": noise,
        "a column of noise, half of the rows": noise[::2],
    }.items():
        given = {**honest, who: frame}
        v = value_fragments(given, labels[: 1300 if frame is junk else 1000], V, y_valid, **QUIET)
        cells = [one.notna().sum().sum() for one in given.values()]
        yield who, v.row_values[-1] / v.total, v.row_values[0] / v.total, before.row_values[0] / before.total, cells[-1] / sum(cells)  # fmt: skip


def checkerboard(draw: int, n: int = 1000):
    """A holds all that is useful, above, and noise below; B noise above and junk below."""
    random = np.random.default_rng(draw)
    X = pd.DataFrame(random.normal(size=(3 * n, 8))).add_prefix("x")
    y = (X.iloc[:, :4].sum(axis=1) + random.normal(size=3 * n) > 0).astype(int).rename("label")
    useful, above = (np.arange(8) < 4)[None, :], (np.arange(n) < n // 2)[:, None]
    train = X[:n].where(above | ~useful, X[2 * n :].to_numpy())
    held = np.stack([useful == above, useful != above])
    v = value_fragments(pieces(train, held), y[:n], X[n : 2 * n], y[n : 2 * n], **QUIET)
    yield "checkerboard: A is the first, B joins", *(v.row_values / v.total)[::-1], np.nan, 0.5


def paid(draw: int):
    rows = [*newcomers(draw), *checkerboard(draw)]
    return 100 * pd.DataFrame(rows, columns=["who joins", "joins", "first", "first before", "by cells"]).set_index("who joins")


def paid_tasks(args):
    return [(paid, draw) for draw in range(5 * args.draws)]


def paid_page(t: pd.DataFrame):
    by = t.groupby(level=0, sort=False)
    yield "percent of the total", by.mean().assign(lowest=by["joins"].min(), highest=by["joins"].max())


# coverage


def intervals(name: str, k: int, draws):
    """Values with half widths by draws of the pool; by all of it where ``draws`` is a number of a run."""
    random = np.random.default_rng(k)
    (X, y), (V, y_valid) = parts(name, random, 1000, 6000)
    given, method = pieces(X, cut("many", *X.shape, random, k)), "boosting"
    whole = isinstance(draws, int)
    if whole and k > 12:
        method = MonteCarlo("boosting", max_permutations=LONG, tolerance=0)
    found = []
    for draw in [10**6 + draws] if whole else draws:
        some = np.arange(len(V)) if whole else np.random.default_rng([k, draw]).permutation(len(V))[:200]
        v = value_fragments(given, y, V.iloc[some], y_valid.iloc[some], method=method, random_state=draw, **QUIET)
        known = {"table": name, "k": k, "draw": draw, "owner": np.arange(k), "orders": v._fragments.n_orders}
        found.append(pd.DataFrame({**known, "value": v.row_values, "half": v._interval_factor * v.row_stderr}))
    return pd.concat(found)


def coverage_tasks(args):
    each = [(intervals, name, k) for k in (30, 8, 3) for name in ("census", "credit", "clusters")]
    truths = [(*one, i) for one in each for i in range(PARTS_OF_TRUTH if one[2] > 12 else 1)]
    return truths + [(*one, range(at, at + 5)) for one in each for at in range(0, args.repeats, 5)]


def coverage_page(t: pd.DataFrame):
    key = ["k", "table", "owner"]
    whole = t["draw"] >= 10**6
    truth = t[whole].groupby(key)["value"].agg(truth="mean", off="std")
    t = t[~whole].join(truth, on=key).assign(off=lambda one: one["off"] / PARTS_OF_TRUTH**0.5)
    t["covered"] = (t["value"] - t["truth"]).abs() <= t["half"]
    by = t.groupby(key).agg(covered=("covered", "mean"), draws=("draw", "size"), half=("half", "mean"), truth=("truth", "mean"), off=("off", "mean"), orders=("orders", "mean"))  # fmt: skip
    by = by.assign(worst=by["covered"], truth=by["truth"].abs())
    for what in (["k", "table"], ["k"]):
        yield "coverage, mean and worst contributor", by.groupby(what).agg({**dict.fromkeys(by, "mean"), "worst": "min"})


# rivals


class Utility:
    """The game of contributors for other estimators: the sets that they ask for, and the time it takes."""

    def __init__(self, given, y, X_valid, y_valid) -> None:
        everybody = label_piece(y, None, None)[1]
        joined = join_pieces([*(read_piece(*one, None, None) for one in given.items()), everybody], y.name, "error")
        goal = as_target(np.array(joined.labels, dtype=object), joined.table, "auto")
        split = validated_split(joined.table, goal, X_valid[joined.table.column_names], y_valid, None)
        score = Score.of("probability", goal, split.y_valid, split.valid, None)
        columns = np.zeros(joined.table.n_columns, dtype=int)
        self.game = FragmentGame(joined, [(make_judge("boosting", split, 0), score, None)], columns)
        self.seconds, self.seen = 0.0, {}

    def __call__(self, sets) -> np.ndarray:
        start = time.perf_counter()
        sets = np.atleast_2d(np.asarray(sets, dtype=bool))
        for one in sets:
            if one.tobytes() not in self.seen:
                self.seen[one.tobytes()] = self.game.utility(one, np.ones(1, dtype=bool))[0]
        self.seconds += time.perf_counter() - start
        return np.array([self.seen[one.tobytes()] for one in sets])


def by_orders(utility: Utility, n: int, budget: int, random, truncation: float) -> np.ndarray:
    found, whole = [], utility(np.ones(n))[0]
    while len(utility.seen) < budget and len(found) < budget:
        order, last, adds = random.permutation(n), 0.0, np.zeros(n)
        for size, i in enumerate(order, start=1):
            if abs(whole - last) >= truncation:
                adds[i] = utility(np.isin(np.arange(n), order[:size]))[0] - last
                last += adds[i]
        found.append(adds)
    return np.mean(found, axis=0)


def rival(method: str, budget: int, seed: int, n: int = 30):
    random = np.random.default_rng(7)
    (X, y), valid = parts("census", random, 1000, 500)
    given, own = pieces(X, cut("many", *X.shape, random, n)), np.nan
    if method in ("truth", "placed orders"):
        most = LONG if method == "truth" else round((budget - 2 * n) / (n - 3))
        design = MonteCarlo("boosting", max_permutations=most, tolerance=0)
        v = value_fragments(given, y, *valid, method=design, random_state=seed, **QUIET)
        values, asked = v.row_values, v.info["n_trained"]
    else:
        utility, start = Utility(given, y, *valid), time.perf_counter()
        if method in SHAPIQ:
            import shapiq

            theirs = getattr(shapiq, method)(n=n, random_state=seed).approximate(budget, utility)
            values = [theirs[(i,)] for i in range(n)]
        else:
            truncation = 0.05 if method == "truncated orders" else 0.0
            values = by_orders(utility, n, budget, np.random.default_rng(seed), truncation)
        own, asked = time.perf_counter() - start - utility.seconds, len(utility.seen)
    known = {"method": method, "budget": budget, "owner": np.arange(n), "sets": asked, "own s": own}
    return pd.DataFrame({**known, "value": values})


def rivals_tasks(args):
    truths = [(rival, "truth", 0, 10**6 + i) for i in range(PARTS_OF_TRUTH)]
    each = [(name, budget) for budget in BUDGETS for name in (*RIVALS, *SHAPIQ)]
    return truths + [(rival, *one, seed) for one in each for seed in range(args.repeats // 20)]


def rivals_page(t: pd.DataFrame):
    whole = t["method"] == "truth"
    truth = t[whole].groupby("owner")["value"].agg(truth="mean", off="std")
    size, off = truth["truth"].abs().mean(), truth["off"].mean() / PARTS_OF_TRUTH**0.5
    yield f"30 contributors: mean size of a value {size:.5f}, error of the truth {off:.6f}"
    t = t[~whole].join(truth, on="owner")
    t["rms"] = (t["value"] - t["truth"]) ** 2
    by = t.groupby(["method", "budget"], sort=False)[["rms", "sets", "own s"]].mean()
    yield "rms error, sets that were scored, seconds besides", by.assign(rms=by["rms"] ** 0.5).unstack(sort=False)


# time


def by_hand(X, held, y, V, y_valid) -> int:
    """The same game with scikit-learn's boosted trees: every union of cells, fitted and predicted."""
    sets = (np.arange(1, 2 ** len(held))[:, None] >> np.arange(len(held)) & 1).astype(bool)
    for some in sets:
        union = held[some].any(axis=0)
        rows, columns = union.any(axis=1), X.columns[union.any(axis=0)]
        other_model(y).fit(X.where(union).loc[rows, columns], y[rows]).predict_proba(V[columns])
    return len(sets)


def clocked(what: str, given, *data, **options):
    start = time.perf_counter()
    v = value_fragments(given, *data, progress=False, n_jobs=2, **options)
    facts = v._fragments
    return v, {"what": what, "seconds": time.perf_counter() - start, "trainings": facts.n_trained, "orders": facts.n_orders}


def large():
    n, m, n_valid = LARGE
    random = np.random.default_rng(0)
    X = pd.DataFrame(random.normal(size=(n + n_valid, m))).add_prefix("x")
    y = (X @ random.normal(size=m) + random.normal(size=len(X)) > 0).astype(int).rename("label")
    given = pieces(X[:n], cut("overlapping", n, m, random))
    row = clocked(f"5 contributors of {n:,} rows x {m}, {n_valid:,} validation rows", given, y[:n], X[n:], y[n:])[1]
    return pd.DataFrame([{**row, "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}])


def times():
    random = np.random.default_rng(1)
    (X, y), valid = parts("census", random, 1000, 1000)
    held = {k: cut("many" if k > 20 else "overlapping", *X.shape, random, k) for k in (5, 12, 60)}
    clocked("", pieces(X, held[5]), y, *valid)  # compiles
    found = []
    for k, one in held.items():
        v, row = clocked(f"{k} contributors", pieces(X, one), y, *valid)
        found.append(row)
        if k < 20 and SHAPIQ:
            from shapiq.game_theory.exact import ExactComputer

            utility, start = Utility(pieces(X, one), y, *valid), time.perf_counter()
            theirs = ExactComputer(n_players=k, game=utility)("SV", 1)
            seconds, off = time.perf_counter() - start, max(abs(theirs[(i,)] - v.row_values[i]) for i in range(k))
            found.append({"what": f"ExactComputer of shapiq, {k}", "seconds": seconds, "its own": seconds - utility.seconds, "off": off})  # fmt: skip
    found.append(clocked("5 contributors x 9 columns", pieces(X.iloc[:, :9], held[5][:, :, :9]), y, *valid, by="column")[1])
    start = time.perf_counter()
    n = by_hand(X, held[5], y, *valid)
    found.append({"what": "HistGradientBoosting by hand, 5", "seconds": time.perf_counter() - start, "trainings": n})
    return pd.DataFrame(found)


def time_page(t: pd.DataFrame):
    yield "seconds by the clock", t.set_index("what")


# all parts


def run(part: str, deadline: float, work, *asked):
    """The rows of a task; none where no time is left."""
    warnings.simplefilter("ignore")
    return part, work(*asked) if time.time() < deadline else pd.DataFrame()


def main() -> None:
    pages = {"coverage": coverage_page, "rivals": rivals_page, "paid": paid_page, "values": values_page, "time": time_page}
    tasks = {"coverage": coverage_tasks, "rivals": rivals_tasks, "paid": paid_tasks, "values": values_tasks}  # long tasks first
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(pages)}; default: all")
    parser.add_argument("--draws", type=int, default=1, help="cuts of every table in every way")
    parser.add_argument("--repeats", type=int, default=20, help="draws of validation rows; for rivals a twentieth of it")
    parser.add_argument("--minutes", type=float, default=60, help="begin nothing after so many")
    args = parser.parse_args()
    asked, out = args.parts or list(pages), os.environ.get("OUT")
    found, deadline = {part: [] for part in pages if part in asked}, time.time() + 60 * args.minutes
    for work in (times, large) if "time" in asked else ():
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
            found["time"].append(alone.submit(run, "time", deadline, work).result()[1])
    every = [(part, task) for part in tasks if part in asked for task in tasks[part](args)]
    for part, rows in Parallel(-1, return_as="generator_unordered")(delayed(run)(part, deadline, *task) for part, task in every):
        found[part].append(rows)
    pd.set_option("display.width", 200, "display.max_columns", 30, "display.precision", 4)
    page = []
    for part, rows in found.items():
        t, left = pd.concat(rows), sum(not len(one) for one in rows)
        if out:
            t.to_csv(Path(out) / f"{part}.csv")
        page += [f"\n# {part}: {len(rows)} tasks, {left} of them left out for time"]
        page += [line if isinstance(line, str) else "\n".join(map(str, line)) for line in pages[part](t)]
    print("\n".join(page))
    if out:
        (Path(out) / "fragments.txt").write_text("\n".join(page))


if __name__ == "__main__":
    main()
