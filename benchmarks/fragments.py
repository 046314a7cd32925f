"""Contributors' values: are they right, what is paid for nothing, do intervals hold, how long does it take
(docs/evidence/fragments.md).

Run: python benchmarks/fragments.py values paid coverage rivals time
     python benchmarks/fragments.py --draws 3 --repeats 200 --minutes 9   (all parts, on 16 cores)

values     values on half of the validation rows against what contributors add for another model on the
           other half, beside simpler rules. Tables: the three that the judge's constants were also chosen on,
           others, made-up ones. Those of statsmodels are skipped where it is not installed.
paid       what those get who bring gaps, copies or noise
coverage   of 95 % intervals, over draws of 200 validation rows from a large pool
rivals     the error of 30 contributors' values by the number of trainings: placed orders, plain ones, mplc's
           truncated ones, and the estimators of shapiq where it is installed
time       two threads; memory in a process of its own

With OUT set, tables and rows are written to that folder; ``--read FOLDER`` prints the tables of such rows.
"""

from __future__ import annotations

import argparse
import os
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
from scipy.special import expit
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from shapley2d import MonteCarlo, value_cells, value_fragments
from shapley2d._fragments.game import FragmentGame
from shapley2d._fragments.join import join_pieces
from shapley2d._fragments.judges import make_judge
from shapley2d._fragments.pieces import label_piece, read_piece
from shapley2d._fragments.scores import Score, score_name
from shapley2d._tables.problem import validated_split
from shapley2d._tables.target import as_target
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit

ORDER = ("coverage", "rivals", "paid", "values")  # long tasks first; the last draws may be left out
WAYS = ("horizontal", "vertical", "grid", "overlapping", "with holes")
CHOSEN_ON = ("census", "credit", "breast cancer")
OTHERS = ("affairs", "vote", "digits 3 8", "diabetes above", "hastie", "clusters", "words", "friedman 2")
VALID, K = 200, (3, 8, 30)
BUDGETS = 400, 1200, 3600
SHAPIQ = ("PermutationSamplingSV", "StratifiedSamplingSV", "KernelSHAP", "UnbiasedKernelSHAP", "SVARM", "kADDSHAP")
TRUTHS, LONG = 16, 100  # runs of so many orders are the truth of 30 contributors
QUIET = {"progress": False, "n_jobs": 1}


@cache
def table(name: str):
    """A whole table and its target."""
    random = np.random.default_rng(0)
    if name == "census":
        return load_census("both", "pandas")
    if name == "credit":
        return load_credit("pandas")
    if name == "breast cancer":
        return load_breast_cancer_original("pandas")
    if name in ("affairs", "vote"):
        key, sep = ("fair", ",") if name == "affairs" else ("anes96", "\t")
        folder = Path(find_spec("statsmodels").origin).parent / "datasets" / key
        whole = pd.read_csv(folder / f"{key}.csv", sep=sep, quotechar="'" if sep == "\t" else '"')
        target = whole.pop("affairs") > 0 if name == "affairs" else whole.pop("vote")
        return whole, target.to_numpy().astype(int)
    if name == "digits 3 8":
        X, y = datasets.load_digits(return_X_y=True)
        two = np.isin(y, [3, 8])
        return named(X[two][:, random.permutation(64)[:20]]), y[two]
    if name == "diabetes above":
        X, y = datasets.load_diabetes(return_X_y=True)
        return named(X), (y > np.median(y)).astype(int)
    if name == "hastie":  # a sum of squares
        X, y = datasets.make_hastie_10_2(6000, random_state=0)
        return named(X), y.astype(int)
    if name == "clusters":
        X, y = datasets.make_classification(6000, 12, n_informative=5, n_classes=3, random_state=0)
        return named(X), y
    if name == "friedman 2":
        X, y = datasets.make_friedman2(6000, noise=100.0, random_state=0)
        return named(np.hstack([X, random.normal(size=(6000, 3))])), y
    effects = random.normal(size=(5, 12))  # words: what each says, and one that matters for one number only
    codes, x = random.integers(12, size=(6000, 5)), random.normal(size=(6000, 3))
    sums = effects[np.arange(5), codes].sum(axis=1) + 2 * x[:, 0] * (codes[:, 0] > 5) + x[:, 1]
    X = named(np.array(list("abcdefghijkl"), dtype=object)[codes]).join(pd.DataFrame(x).add_prefix("n"))
    return X, (random.random(6000) < expit(sums)).astype(int)


def named(X) -> pd.DataFrame:
    return pd.DataFrame(X).add_prefix("x")


def parts(name: str, random, *sizes: float):
    """Random parts of a table, as (X, y); at most 45 % of it is for training."""
    X, y = table(name)
    order = random.permutation(len(X))
    train = int(min(sizes[0], 0.45 * len(X)))
    ends = [train, *(train + np.cumsum([min(s, (len(X) - train) / (len(sizes) - 1)) for s in sizes[1:]]))]
    return [
        (X.iloc[some].reset_index(drop=True), pd.Series(y[some], name="label"))
        for some in np.split(order, np.array(ends, dtype=int))[: len(sizes)]
    ]


def cut(way: str, n: int, m: int, random, k: int = 5) -> np.ndarray:
    """Who holds which cells (k, n, m)."""
    held, who = np.zeros((k, n, m), dtype=bool), np.arange(k)
    if way == "horizontal":
        held |= (random.choice(k, n, p=random.dirichlet(np.full(k, 2.0))) == who[:, None])[:, :, None]
    elif way == "vertical":
        owner = random.permutation(np.append(who, random.integers(k, size=m - k)))
        held |= (owner == who[:, None])[:, None, :]
    elif way == "grid":  # two sets of columns, in two and in three sets of rows
        left, half, third = random.permutation(m) < m // 2, random.integers(2, size=n), random.integers(3, size=n)
        for i in range(k):
            held[i] = np.outer(half == i, left) if i < 2 else np.outer(third == i - 2, ~left)
    else:
        rows, columns, full = {"many": ((0.03, 0.35), (0.15, 0.6), (0.9, 0.9))}.get(
            way, ((0.2, 0.8), (0.3, 0.8), (1, 1) if way == "overlapping" else (0.3, 0.9))
        )
        for one in held:
            mine = random.random(m) < random.uniform(*columns)
            mine[random.integers(m)] = True
            one |= np.outer(random.random(n) < random.uniform(*rows), mine)
            one &= random.random((n, m)) < random.uniform(*full)
    return held


def pieces(X, held) -> dict[str, pd.DataFrame]:
    found = {}
    for i, mask in enumerate(held):
        rows, columns = mask.any(axis=1), mask.any(axis=0)
        found[f"owner {i}"] = X.loc[rows, X.columns[columns]].where(mask[np.ix_(rows, columns)])
    return found


# values


def other_model(y):
    model = HistGradientBoostingRegressor if y.nunique() > 10 else HistGradientBoostingClassifier
    # its 20 rows a leaf would learn nothing from small pieces
    return model(max_iter=50, early_stopping=False, min_samples_leaf=20 if len(y) > 500 else 5)


def sums_of_cells(X, y, held, valid, method: str) -> np.ndarray:
    """Values of the joined table's cells, summed by owner; owners share a cell equally."""
    k = len(held)
    owners = np.tensordot(1 << np.arange(k), held & X.notna().to_numpy(), 1)
    rows, columns = owners.any(axis=1), owners.any(axis=0)
    owners, joined = owners[np.ix_(rows, columns)], X.loc[rows, X.columns[columns]]
    v = value_cells(
        joined.where(owners > 0), y[rows], valid[0][joined.columns], valid[1], method=method, max_time=30, **QUIET
    )
    sums = v.sum_by(np.where(owners > 0, owners.astype(str), None))
    share = (sums["group"].astype(int).to_numpy()[:, None] >> np.arange(k)) & 1
    return sums["value"].to_numpy() @ (share / share.sum(axis=1, keepdims=True))


def one_cut(name: str, way: str, draw: int):
    """Shares of the total by every rule, beside the truth: another model's on fresh rows."""
    random = np.random.default_rng([draw, WAYS.index(way), sum(name.encode())])
    (X, y), seen, fresh = parts(name, random, 1000, 1000, 3000)
    held = cut(way, *X.shape, random)
    given = pieces(X, held)
    ours = value_fragments(given, y, *seen, **QUIET)
    other, truth = (value_fragments(given, y, *half, method=other_model(y), **QUIET) for half in (seen, fresh))
    count = (held & X.notna().to_numpy()).sum(axis=(1, 2))
    found = {
        "value_fragments": ours.row_values / ours.total,
        "the other model itself": other.row_values / other.total,
        "alone": ours.alone / ours.total,
        "leave one out": 1 - ours.without / ours.total,
        "number of cells": count / count.sum(),
        "equal": np.full(len(held), 1 / len(held)),
    }
    for method in ("knn", "forest"):
        sums = sums_of_cells(X, y, held, seen, method)
        found[f"sums of cells, {method}"] = sums / sums.sum()
    return [
        {"table": name, "way": way, "draw": draw, "rule": rule, "share": a, "truth": b, "total": truth.total}
        for rule, shares in found.items()
        for a, b in zip(shares, truth.row_values / truth.total, strict=True)
    ]


def values_tasks(args):
    known = [name for name in OTHERS if name not in ("affairs", "vote") or find_spec("statsmodels")]
    names = [name for name in (*CHOSEN_ON, *known) if not args.tables or name in args.tables]
    return [(one_cut, name, way, draw) for draw in range(args.draws) for name in names for way in WAYS]


def agreement(t: pd.DataFrame) -> pd.Series:
    within = t.groupby(["table", "way", "draw"])[["share", "truth"]].apply(lambda g: g["share"].corr(g["truth"]))
    return pd.Series({
        "within": within.median(),
        "pooled": t["share"].corr(t["truth"]),
        "error": (t["share"] - t["truth"]).abs().mean() / t["truth"].mean(),
    })  # fmt: skip


def values_page(t: pd.DataFrame):
    weak = t["total"] < 0.01
    t = t[~weak]
    columns = ["share", "truth", "table", "way", "draw"]
    yield f"{len(t.groupby(columns[2:]))} cuts; {weak.sum() // 40} more, worth less than a point, are left out"
    groups = {"all": t, "chosen on": t[t.table.isin(CHOSEN_ON)], "others": t[~t.table.isin(CHOSEN_ON)]}
    for name, some in groups.items():
        yield f"{name}: correlation within a cut (median), pooled; mean error over mean value"
        yield some.groupby("rule", sort=False)[columns].apply(agreement)
    for what in ("table", "way"):
        by = t.groupby([what, "rule"], sort=False)[columns].apply(agreement)
        yield f"pooled correlation by {what}", by["pooled"].unstack(sort=False)
        yield f"error by {what}", by["error"].unstack(sort=False)


# paid


def paid_cases(draw: int):
    """Percent of the total for newcomers beside four honest owners of Census."""
    random = np.random.default_rng(draw)
    (X, y), (A, y_A) = parts("census", random, 1000, 2000)
    honest = pieces(X, cut("overlapping", *X.shape, random, 4))
    A = A.assign(noise=random.normal(size=len(A)))
    junk = X.apply(lambda column: random.permutation(column)).set_axis(X.index + len(X)).iloc[:300]
    noise = pd.DataFrame({"noise": random.normal(size=len(X))})
    newcomers = {
        "only gaps": pd.DataFrame(np.nan, X.index, X.columns),
        "a copy of the first": honest["owner 0"],
        "rows of noise, 300": junk,
        "a column of noise": noise,
        "a column of noise, half of the rows": noise[random.random(len(X)) < 0.5],
    }
    labels = pd.concat([y, pd.Series(random.permutation(y)[:300], junk.index, name="label")])
    first = value_fragments(honest, y, A, y_A, **QUIET)
    found = []
    for case, frame in newcomers.items():
        given = {**honest, "newcomer": frame}
        v = value_fragments(given, labels.iloc[: 1300 if frame is junk else 1000], A, y_A, **QUIET)
        cells = np.array([one.notna().to_numpy().sum() for one in given.values()])
        found.append({
            "case": case, "newcomer": v.row_values[-1] / v.total, "first": v.row_values[0] / v.total,
            "first before": first.row_values[0] / first.total, "by cells": cells[-1] / cells.sum(),
        })  # fmt: skip
    # owners of a checkerboard: A has what is useful above, noise below; B noise above, junk below
    n, m = 1000, 4
    x, z = random.normal(size=(3 * n, 2 * m)), (np.arange(3 * n) % n < n // 2)[:, None]
    label = pd.Series((x[:, :m].sum(axis=1) + random.normal(size=3 * n) > 0).astype(int), name="label")
    whole, useful = named(x), (np.arange(2 * m) < m)[None, :]
    train = whole[:n].where(~(useful & ~z[:n]), named(random.normal(size=(n, 2 * m))))
    v = value_fragments(
        pieces(train, [useful == z[:n], useful != z[:n]]), label[:n], whole[n:], label[n:], **QUIET
    )
    shares = dict(zip(("first", "newcomer"), v.row_values / v.total, strict=True))
    return [*found, {"case": "checkerboard: A first, B newcomer", **shares, "by cells": 0.5}]


def paid_tasks(args):
    return [(paid_cases, draw) for draw in range(4 * args.draws)]


def paid_page(t: pd.DataFrame):
    yield "percent of the total, mean over draws", 100 * t.groupby("case", sort=False).mean()
    yield "of the newcomer, lowest and highest", 100 * t.groupby("case", sort=False)["newcomer"].agg(["min", "max"])


# coverage


def pool_of(name: str, k: int):
    random = np.random.default_rng(k)
    (X, y), pool = parts(name, random, 1000, 8000)
    return pieces(X, cut("many", *X.shape, random, k)), y, pool


def rows_of(v, **known):
    half = v._interval_factor * v.row_stderr
    return [
        {**known, "owner": i, "value": value, "half": wide}
        for i, (value, wide) in enumerate(zip(v.row_values, half, strict=True))
    ]


def whole_pool(name: str, k: int, number: int):
    """The truth, or a part of it: orders that no draw uses."""
    given, y, pool = pool_of(name, k)
    method = "boosting" if k < 20 else MonteCarlo("boosting", max_permutations=LONG, tolerance=0)
    v = value_fragments(given, y, *pool, method=method, random_state=10**6 + number, **QUIET)
    return rows_of(v, table=name, k=k, draw=-1)


def some_draws(name: str, k: int, draws: range):
    given, y, (X, label) = pool_of(name, k)
    found = []
    for draw in draws:
        some = np.random.default_rng([k, draw]).choice(len(X), VALID)
        v = value_fragments(given, y, X.iloc[some].reset_index(drop=True), label.iloc[some], random_state=draw, **QUIET)
        found += rows_of(v, table=name, k=k, draw=draw)
    return found


def coverage_tasks(args):
    each = [(name, k) for k in K[::-1] for name in CHOSEN_ON]
    truths = [(whole_pool, *one, i) for one in each for i in range(TRUTHS if one[1] > 20 else 1)]
    step = 5
    starts = range(0, args.repeats, step)
    return truths + [(some_draws, *one, range(first, min(first + step, args.repeats))) for one in each for first in starts]


def coverage_page(t: pd.DataFrame):
    key = ["table", "k", "owner"]
    truth = t[t.draw < 0].groupby(key)["value"].agg(truth="mean", parts="std").reset_index()
    t = t[t.draw >= 0].merge(truth, on=key)
    t["hit"] = (t.value - t.truth).abs() <= t.half
    t["sd of the truth"] = t.parts / TRUTHS**0.5
    of_owner = t.groupby(["k", "table", "owner"]).agg(
        draws=("hit", "size"), mean=("hit", "mean"), worst=("hit", "mean"), half=("half", "mean"),
        value=("truth", lambda one: one.abs().mean()), truth_error=("sd of the truth", "mean"),
    )  # fmt: skip
    how = {"draws": "min", "mean": "mean", "worst": "min", "half": "mean", "value": "mean", "truth_error": "mean"}
    yield f"coverage by {VALID} validation rows; the worst contributor", of_owner.groupby(["k", "table"]).agg(how)
    yield "in all", of_owner.groupby("k").agg(how)


# rivals


def game_of(given, y, X_valid, y_valid) -> FragmentGame:
    target, everybody = label_piece(y, None, None)
    joined = join_pieces([*(read_piece(*one, None, None) for one in given.items()), everybody], target, "error")
    goal = as_target(np.array(joined.labels, dtype=object), joined.table, "auto")
    split = validated_split(joined.table, goal, X_valid[joined.table.column_names], y_valid, None)
    score = Score.of(score_name(None, goal.task), goal, split.y_valid, split.valid, None)
    return FragmentGame(joined, [(make_judge("boosting", split, 0), score, None)], np.zeros(joined.table.n_columns, int))


class Utility:
    """The game for other libraries: scores of sets, the time they take, and how many were asked."""

    def __init__(self, game: FragmentGame) -> None:
        self.game, self.seconds, self.seen = game, 0.0, {}

    def __call__(self, sets) -> np.ndarray:
        start = time.perf_counter()
        sets = np.atleast_2d(np.asarray(sets, dtype=bool))
        for one in sets:
            if one.tobytes() not in self.seen:
                self.seen[one.tobytes()] = self.game.utility(one, np.ones(1, dtype=bool))[0]
        self.seconds += time.perf_counter() - start
        return np.array([self.seen[one.tobytes()] for one in sets])


def orders(utility, n: int, budget: int, seed: int, truncation: float = 0.0) -> np.ndarray:
    """Means over random orders: plain ones, or truncated near the whole (TMC, Ghorbani and Zou 2019, mplc's TMCS)."""
    random, found, whole = np.random.default_rng(seed), [], utility(np.ones(n, dtype=bool))[0]
    while len(utility.seen) < budget and len(found) < budget:
        joined, last, adds = np.zeros(n, dtype=bool), 0.0, np.zeros(n)
        for i in random.permutation(n):
            joined[i] = True
            now = last if abs(whole - last) < truncation else utility(joined)[0]
            adds[i], last = now - last, now
        found.append(adds)
    return np.mean(found, axis=0)


def one_rival(method: str, budget: int, seed: int):
    random = np.random.default_rng(7)
    (X, y), valid = parts("census", random, 1000, 500)
    given, n = pieces(X, cut("many", *X.shape, random, 30)), 30
    start, used = time.perf_counter(), 0.0
    if method in ("the truth", "placed orders"):
        most = LONG if method == "the truth" else round((budget - 2 * n) / (n - 3))
        v = value_fragments(
            given, y, *valid, method=MonteCarlo("boosting", max_permutations=most, tolerance=0), random_state=seed, **QUIET
        )
        values, asked = v.row_values, v.info["n_trained"]
    else:
        utility = Utility(game_of(given, y, *valid))
        start = time.perf_counter()
        if method in SHAPIQ:
            import shapiq

            found = getattr(shapiq, method)(n=n, random_state=seed).approximate(budget, utility)
            values = found.get_n_order_values(1)
        else:
            values = orders(utility, n, budget, seed, 0.05 if "truncated" in method else 0.0)
        asked, used = len(utility.seen), utility.seconds
    own = time.perf_counter() - start - used
    return [
        {"method": method, "budget": budget, "seed": seed, "owner": i, "value": one, "sets": asked, "own s": own}
        for i, one in enumerate(values)
    ]


def rivals_tasks(args):
    rivals = ["placed orders", "plain orders", "truncated orders (mplc)", *(SHAPIQ if find_spec("shapiq") else ())]
    truths = [(one_rival, "the truth", 0, 10**6 + i) for i in range(TRUTHS)]
    return truths + [
        (one_rival, name, budget, seed)
        for budget in BUDGETS[::-1] for seed in range(args.repeats // 20) for name in rivals
    ]  # fmt: skip


def rivals_page(t: pd.DataFrame):
    long = t[t.method == "the truth"].groupby("owner")["value"].agg(["mean", "std"])
    yield (
        f"30 contributors: mean size of a value {long['mean'].abs().mean():.5f}, spread {long['mean'].std():.5f}, "
        f"error of the truth {long['std'].mean() / TRUTHS**0.5:.6f}"
    )
    t = t[t.method != "the truth"].join(long["mean"], on="owner")
    t["rms error"] = (t["value"] - t["mean"]) ** 2
    by = t.groupby(["method", "budget"], sort=False)[["rms error", "sets", "own s"]].mean()
    yield by.assign(**{"rms error": by["rms error"] ** 0.5}).unstack(sort=False)


# time


def clocked(what: str, work, **more):
    start = time.perf_counter()
    v = work()
    return v, {"what": what, "seconds": time.perf_counter() - start, **more}


def by_hand(X, held, y, X_valid, y_valid) -> int:
    """The same game with scikit-learn's boosted trees: every union of cells, fitted and scored."""
    sets = (np.arange(1, 2 ** len(held))[:, None] >> np.arange(len(held)) & 1).astype(bool)
    for some in sets:
        union = held[some].any(axis=0)
        rows, columns = union.any(axis=1), X.columns[union.any(axis=0)]
        model = other_model(y).fit(X.where(union).loc[rows, columns], y[rows])
        model.predict_proba(X_valid[columns])[np.arange(len(y_valid)), np.searchsorted(model.classes_, y_valid)].mean()
    return len(sets)


def large(n: int, m: int = 20, n_valid: int = 10_000):
    """Five overlapping files of a large table, and the memory that they take."""
    import resource

    random = np.random.default_rng(0)
    X = named(random.normal(size=(n + n_valid, m)))
    y = pd.Series((X.to_numpy() @ random.normal(size=m) + random.normal(size=len(X)) > 0).astype(int), name="label")
    given = pieces(X[:n], cut("overlapping", n, m, random))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    _, row = clocked(
        f"{n:,} rows x {m} columns, 5 files, {n_valid:,} validation rows",
        lambda: value_fragments(given, y[:n], X[n:], y[n:], progress=False, n_jobs=2),
    )
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return [{**row, "peak GB": after / 2**20, "before": before / 2**20}]


def times(_: int):
    random = np.random.default_rng(1)
    (X, y), valid = parts("census", random, 1000, 1000)
    held = {k: cut("many" if k > 20 else "overlapping", *X.shape, random, k) for k in (5, 12, 60)}
    given = {k: pieces(X, one) for k, one in held.items()}
    nine = {name: one[one.columns.intersection(X.columns[:9])] for name, one in given[5].items()}
    value_fragments(given[5], y, *valid, progress=False)  # compiles
    found = []
    for what, some, by in (
        *((f"{k} contributors", given[k], "contributor") for k in given),
        ("5 contributors x 9 columns", nine, "column"),
    ):
        v, row = clocked(what, lambda: value_fragments(some, y, *valid, by=by, progress=False, n_jobs=2))  # noqa: B023
        found.append({**row, "trainings": v.info["n_trained"], "orders": v._fragments.n_orders})
    n, row = clocked("5 contributors, HistGradientBoosting by hand", lambda: by_hand(X, held[5], y, *valid))
    found.append({**row, "trainings": n})
    for k in (5, 12) if find_spec("shapiq") else ():
        from shapiq.game_theory.exact import ExactComputer

        utility = Utility(game_of(given[k], y, *valid))
        theirs, row = clocked(
            f"{k} contributors, ExactComputer of shapiq",
            lambda: ExactComputer(n_players=k, game=utility)("SV", 1),  # noqa: B023
        )
        ours = value_fragments(given[k], y, *valid, **QUIET).row_values
        off = np.abs([theirs[(i,)] for i in range(k)] - ours).max()
        found.append({**row, "trainings": len(utility.seen), "its own": row["seconds"] - utility.seconds, "off by": off})
    return found


def time_tasks(args):
    """Not with the others: they run alone."""
    return [(times, 0), (large, args.rows)]


def time_page(t: pd.DataFrame):
    yield "two threads for value_fragments, one for the others; seconds by the clock", t.set_index("what")


PARTS = {
    "values": (values_tasks, values_page),
    "paid": (paid_tasks, paid_page),
    "coverage": (coverage_tasks, coverage_page),
    "rivals": (rivals_tasks, rivals_page),
    "time": (time_tasks, time_page),
}


def run(part: str, deadline: float, work, *asked):
    """The rows of a task; none where there is no time left."""
    warnings.simplefilter("ignore")
    rows = work(*asked) if time.time() < deadline else []
    return part, rows


def computed(args) -> dict[str, list]:
    """Rows of every part: times first, alone; then all tasks of the others on all cores."""
    found, deadline = {part: [] for part in args.parts}, time.time() + 60 * args.minutes
    if "time" in args.parts:
        for task in time_tasks(args):
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as alone:
                found["time"] += alone.submit(run, "time", deadline, *task).result()[1]
    tasks = [(part, task) for part in ORDER if part in args.parts for task in PARTS[part][0](args)]
    left = 0
    for part, rows in Parallel(n_jobs=args.jobs, return_as="generator_unordered")(
        delayed(run)(part, deadline, *task) for part, task in tasks
    ):
        found[part] += rows
        left += not rows
    print(f"{len(tasks)} tasks, of which {left} were left out: no time", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[*PARTS])
    parser.add_argument("--draws", type=int, default=1, help="cuts of every table in every way")
    parser.add_argument("--tables", nargs="*", help="of values; default: all")
    parser.add_argument("--repeats", type=int, default=20, help="draws of validation rows; a twentieth of it for rivals")
    parser.add_argument("--rows", type=int, default=200_000, help="of the large table")
    parser.add_argument("--minutes", type=float, default=60, help="begin no task after so many")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--read", type=Path, help="a folder with rows of a former run")
    args = parser.parse_args()
    out = os.environ.get("OUT")
    pd.set_option("display.width", 200, "display.max_columns", 20, "display.max_rows", 400, "display.precision", 4)
    if args.read:
        found = {part: pd.read_csv(args.read / f"{part}.csv") for part in args.parts}
    else:
        found = {part: pd.DataFrame(rows) for part, rows in computed(args).items()}
    page = []
    for part, rows in found.items():
        if out and not args.read:
            rows.to_csv(Path(out) / f"{part}.csv", index=False)
        page += [f"# {part}", *(str(one) for line in (PARTS[part][1](rows) if len(rows) else ()) for one in (line if isinstance(line, tuple) else (line,)))]
    print("\n".join(page))
    if out:
        (Path(out) / "fragments.txt").write_text("\n".join(page))


if __name__ == "__main__":
    main()
