"""Contributors' values: are they right, what do copies and noise get, do intervals hold, what does it take (docs/evidence/fragments.md).

Run: python benchmarks/fragments.py                                       (all parts, small: minutes)
     python benchmarks/fragments.py --draws 3 --repeats 200 --minutes 8   (16 cores)

``--draws``: cuts of every table in every way; ``--repeats``: draws of validation rows, and twenty times the repeats of rivals;
``--minutes``: begin nothing after so many.

values     values on one half of the validation rows against what contributors add for another model on the other half,
           beside simpler rules: five owners, five ways to cut a table, on tables that the judge's constants were
           chosen on and on others (those of statsmodels where it is installed)
paid       the shares of those who bring gaps, a copy or noise
coverage   of 95 % intervals, by draws of 200 validation rows from a large pool
rivals     the error of 30 contributors' values by the number of sets that are scored: placed orders (value_fragments),
           plain ones, truncated ones (Ghorbani and Zou 2019, as mplc's TMCS), estimators of shapiq where it is installed
time       two threads, before the other parts, which share all cores
large      200,000 rows, two threads, and the memory of the process: ask for it alone

The folder OUT, where it is set, gets the rows and the page.
"""

import argparse
import os
import resource
import warnings
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter, time

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from numpy.random import default_rng
from pandas import DataFrame, Series, concat
from sklearn import datasets
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from shapley2d import KNN, Forest, MonteCarlo, value_cells, value_fragments
from shapley2d._tables.problem import make_problem
from shapley2d._trees.boosting import Boosting
from shapley2d.datasets import load_breast_cancer_original, load_census, load_credit

WAYS = ("horizontal", "vertical", "grid", "overlapping", "with holes")
CHOSEN_ON = {
    "census": load_census,
    "credit": load_credit,
    "breast cancer": load_breast_cancer_original,
}
OTHERS = {
    "hastie": partial(datasets.make_hastie_10_2, 20_000, random_state=0),
    "clusters": partial(
        datasets.make_classification, 20_000, 12, n_informative=5, n_classes=3, random_state=0
    ),
    "sparse (regression)": partial(datasets.make_sparse_uncorrelated, 20_000, 8, random_state=0),
}
STATSMODELS = (
    {"fair": "affairs", "anes96": "'vote'", "randhie": "mdvis"} if find_spec("statsmodels") else {}
)
RECTANGLES = {  # shares of rows, of columns, and of the entries in them
    "overlapping": ((0.2, 0.8), (0.3, 0.8), (1, 1)),
    "with holes": ((0.2, 0.8), (0.3, 0.8), (0.3, 0.9)),
    "many": ((0.03, 0.35), (0.15, 0.6), (0.9, 0.9)),
}
SHAPIQ = (
    ("PermutationSamplingSV", "StratifiedSamplingSV", "KernelSHAP", "UnbiasedKernelSHAP", "SVARM", "kADDSHAP")
    if find_spec("shapiq") else ()
)  # fmt: skip
BUDGETS = 400, 1200, 2400
ROWS = 200_000
TRUTH, RUNS, LONG = 10**6, 16, 60  # so many runs of so many orders: the truth of 30 contributors
QUIET = {"progress": False, "n_jobs": 1}


# tables, cut into pieces


@cache
def table(name):
    """All rows of a table, and its target."""
    if name in CHOSEN_ON:
        return CHOSEN_ON[name]()
    if name in STATSMODELS:
        folder = Path(find_spec("statsmodels").origin).parent / "datasets" / name
        X = pd.read_csv(folder / f"{name}.csv", sep=None, engine="python")
        return X, (X.pop(STATSMODELS[name]) > 0).to_numpy()
    X, y = OTHERS[name]()
    return DataFrame(X).add_prefix("x"), y


def parts(name, random, *sizes):
    """Random rows to train on, and parts to validate on; equal parts of a small table."""
    X, y = table(name)
    ends = np.cumsum(np.minimum(sizes, len(X) // len(sizes)))
    return [
        (X.iloc[some].reset_index(drop=True), Series(y[some], name="label"))
        for some in np.split(random.permutation(len(X)), ends)[:-1]
    ]


def cut(way, n, m, random, k=5):
    """Who holds which cells: (k, n, m)."""
    who, held = np.arange(k), np.zeros((k, n, m), dtype=bool)
    if way == "horizontal":
        held |= (random.choice(k, n, p=random.dirichlet(np.full(k, 2.0))) == who[:, None])[
            :, :, None
        ]
    elif way == "vertical":
        held |= (random.permutation(np.arange(m) % k) == who[:, None])[:, None, :]
    elif way == "grid":  # two sets of columns: one in two sets of rows, the other in three
        left, rows = (
            random.permutation(m) < m // 2,
            (random.integers(2, size=n), random.integers(2, 5, n)),
        )
        for i in who:
            held[i] = np.outer(rows[int(i > 1)] == i, left == (i < 2))
    else:
        rows, columns, entries = RECTANGLES[way]
        for i in who:
            mine = random.random(m) < random.uniform(*columns)
            mine[random.integers(m)] = True
            held[i] = np.outer(random.random(n) < random.uniform(*rows), mine)
            held[i] &= random.random((n, m)) < random.uniform(*entries)
    return held


def pieces(X, held):
    found = {}
    for i, mask in enumerate(held):
        rows, columns = mask.any(axis=1), mask.any(axis=0)
        found[f"owner {i}"] = X.loc[rows, X.columns[columns]].where(mask[np.ix_(rows, columns)])
    return found


# values


def other_model(y):
    kind = HistGradientBoostingRegressor if y.nunique() > 10 else HistGradientBoostingClassifier
    # its 20 rows a leaf would learn nothing from small pieces
    return kind(max_iter=50, early_stopping=False, min_samples_leaf=min(20, len(y) // 50))


def sums_of_cells(X, y, held, valid, method):
    """Values of the joined table's cells, summed by owner; owners share a cell equally."""
    each = np.arange(len(held))
    owners = np.tensordot(1 << each, held & X.notna().to_numpy(), 1)
    rows, columns = owners.any(axis=1), X.columns[owners.any(axis=0)]
    owners = owners[rows][:, owners.any(axis=0)]
    v = value_cells(
        X.loc[rows, columns].where(owners > 0),
        y[rows],
        valid[0][columns],
        valid[1],
        method=method,
        **QUIET,
    )
    sums = v.sum_by(np.where(owners > 0, owners.astype(str), None))
    share = (sums["group"].astype(int).to_numpy()[:, None] >> each) & 1
    return sums["value"].to_numpy() @ (share / share.sum(axis=1, keepdims=True))


def shares(name, way, draw):
    """Shares of the total by every rule, beside the truth: another model's on rows never seen."""
    random = default_rng([draw, WAYS.index(way), *name.encode()])
    (X, y), seen, fresh = parts(name, random, 1000, 1000, 3000)
    held = cut(way, *X.shape, random)
    given = pieces(X, held)
    v = value_fragments(given, y, *seen, **QUIET)
    other, truth = (
        value_fragments(given, y, *one, method=other_model(y), **QUIET) for one in (seen, fresh)
    )
    count = (held & X.notna().to_numpy()).sum(axis=(1, 2))
    rules = {
        "value_fragments": v.row_values / v.total,
        "the other model's own": other.row_values / other.total,
        **{
            f"sums of cells, {method.name}": (sums := sums_of_cells(X, y, held, seen, method))
            / sums.sum()
            for method in (KNN(), Forest(max_draws=100))
        },
        "alone": v.alone / v.total,
        "leave one out": 1 - v.without / v.total,
        "number of cells": count / count.sum(),
        "equal": np.full(len(held), 1 / len(held)),
    }
    known = {
        "truth": truth.row_values / truth.total,
        "total": truth.total,
        "table": name,
        "way": way,
        "draw": draw,
    }
    return concat([DataFrame({"rule": rule, "share": one, **known}) for rule, one in rules.items()])


def agreement(t):
    within = [one["share"].corr(one["truth"]) for _, one in t.groupby(["table", "way", "draw"])]
    error = (t["share"] - t["truth"]).abs().mean() / t["truth"].mean()
    return Series(
        {"within": np.median(within), "pooled": t["share"].corr(t["truth"]), "error": error}
    )


def values_page(t):
    t, cuts = t[t["total"] > 0.01], len(t) // 40
    yield (
        f"{len(t) // 40} of {cuts} cuts (the others are worth less than a point): correlation in a cut (median), pooled; error",
    )
    chosen = t["table"].isin(CHOSEN_ON)
    for what, some in (
        ("all tables", t),
        ("tables chosen on", t[chosen]),
        ("other tables", t[~chosen]),
    ):
        yield what, some.groupby("rule", sort=False)[[*t]].apply(agreement)
    for what in ("table", "way"):
        by = t.groupby(["rule", what], sort=False)[[*t]].apply(agreement)
        yield f"pooled, by {what}", by["pooled"].unstack(sort=False)


# paid


def newcomers(random):
    """Shares of who joins four honest owners of Census."""
    (X, y), (V, y_valid) = parts("census", random, 1000, 2000)
    V = V.assign(noise=random.normal(size=len(V)))
    honest = pieces(X, cut("overlapping", *X.shape, random, 4))
    junk = X.apply(random.permutation)[:300].set_axis(np.arange(300) + len(X))
    noise = DataFrame({"noise": random.normal(size=len(X))})
    labels = concat([y, Series(random.permutation(y)[:300], junk.index, name=y.name)])
    before = value_fragments(honest, y, V, y_valid, **QUIET)
    for who, frame in {
        "only gaps": DataFrame(np.nan, X.index, X.columns),
        "a copy of the first": honest["owner 0"],
        "300 rows of noise": junk,
        "a column of noise": noise,
    }.items():
        given = {**honest, who: frame}
        v = value_fragments(given, labels[: 1300 if frame is junk else 1000], V, y_valid, **QUIET)
        cells = [one.notna().sum().sum() for one in given.values()]
        joins = v.row_values[[-1, 0]] / v.total
        yield who, *joins, before.row_values[0] / before.total, cells[-1] / sum(cells)


def checkerboard(random, n=1000):
    """A, the first, holds all that is useful, above, and noise below; B noise above and junk below."""
    X, useful = DataFrame(random.normal(size=(3 * n, 8))).add_prefix("x"), np.arange(8) < 4
    y = (X.loc[:, useful].sum(axis=1) + random.normal(size=3 * n) > 0).rename("label")
    mine = useful == (np.arange(n) < n // 2)[:, None]
    train = X[:n].where(mine | ~useful, X[-n:].to_numpy())
    v = value_fragments(pieces(train, [mine, ~mine]), y[:n], X[n:-n], y[n:-n], **QUIET)
    yield "checkerboard", *(v.row_values / v.total)[::-1], np.nan, 0.5


def paid(draw):
    rows = [*newcomers(default_rng(draw)), *checkerboard(default_rng(draw))]
    return 100 * DataFrame(
        rows, columns=["who joins", "joins", "first", "first before", "by cells"]
    ).set_index("who joins")


def paid_page(t):
    by = t.groupby(level=0, sort=False)
    yield "percent of the total: mean over draws, standard deviation", by.mean(), by["joins"].std()


# coverage


def intervals(name, k, draws):
    """Values with half widths by draws of the pool; by all of it where draws are beyond a million."""
    random = default_rng(k)
    (X, y), (V, y_valid) = parts(name, random, 1000, 4000)
    given, found = pieces(X, cut("many", *X.shape, random, k)), []
    for draw in draws:
        some, method = (
            default_rng([k, draw]).permutation(len(V))[: 200 if draw < TRUTH else None],
            "boosting",
        )
        if draw >= TRUTH and k > 12:
            method = MonteCarlo(method, max_draws=LONG, tolerance=0)
        v = value_fragments(
            given, y, V.iloc[some], y_valid.iloc[some], method=method, random_state=draw, **QUIET
        )
        one = {
            "table": name,
            "k": k,
            "owner": np.arange(k),
            "draw": draw,
            "orders": v._fragments.n_orders,
            "value": v.row_values,
        }
        found.append(DataFrame({**one, "half": v._interval_factor * v.row_stderr}))
    return concat(found)


def coverage_page(t):
    key = ["k", "table", "owner"]
    whole = t["draw"] >= TRUTH
    truth = t[whole].groupby(key)["value"].agg(truth="mean", spread="std")
    t = t[~whole].join(truth, on=key)
    t["covered"] = (t["value"] - t["truth"]).abs() <= t["half"]
    by = t.groupby(key)[["covered", "half", "spread", "orders"]].mean()
    for what in (["k", "table"], ["k"]):
        some = by.groupby(what)
        yield (
            "coverage, mean and worst contributor",
            some.mean().assign(worst=some["covered"].min()),
        )


# rivals


def game_of(X, held, y, V, y_valid):
    """Scores of sets of contributors, trained on once: of one set by its bytes, and of many masks."""
    rows = np.flatnonzero(held.any(axis=(0, 2)))
    rows, columns = rows[np.argsort(rows.astype(str))], sorted(X)  # as in value_fragments
    (split,) = make_problem(X.loc[rows, columns], y[rows], V[columns], y_valid).splits
    judge, right = (
        Boosting.coded(split.train, split.y, split.valid),
        (split.y_valid.codes, np.arange(len(V))),
    )
    baseline, cells = (
        np.bincount(split.y.codes)[right[0]].mean() / len(rows),
        held[:, rows][:, :, np.argsort(X.columns)],
    )

    @cache
    def worth(key):
        found = judge.predict(cells[np.frombuffer(key, dtype=bool)].any(axis=0).T)
        return 0.0 if found is None else found[right].mean() - baseline

    return worth, lambda sets: np.array(
        [worth(one.tobytes()) for one in np.atleast_2d(sets).astype(bool)]
    )


def by_orders(worth, n, budget, random, truncation):
    found, whole = [], worth(np.ones(n, dtype=bool).tobytes())
    while worth.cache_info().currsize < budget:
        joined, last, adds = np.zeros(n, dtype=bool), 0.0, np.zeros(n)
        for i in random.permutation(n):
            joined[i] = True
            if abs(whole - last) >= truncation:
                adds[i] = worth(joined.tobytes()) - last
                last += adds[i]
        found.append(adds)
    return np.mean(found, axis=0)


def of_shapiq(method, game, budget, **options):
    """Values, and the seconds that the method takes where all sets are known."""
    import shapiq

    for _ in range(2):
        start = perf_counter()
        if method == "ExactComputer":
            theirs = shapiq.ExactComputer(game=game, n_players=options["n"])("SV", 1)
        else:
            theirs = getattr(shapiq, method)(**options).approximate(budget, game)
    return np.array([theirs[(i,)] for i in range(options["n"])]), perf_counter() - start


def rival(method, budget, seed, n=30):
    random, own = default_rng(7), np.nan
    (X, y), valid = parts("census", random, 1000, 500)
    held = cut("many", *X.shape, random, n)
    worth, game = game_of(X, held, y, *valid)
    if method in ("truth", "placed orders"):
        most = LONG if method == "truth" else round((budget - 2 * n) / (n - 3))
        design = MonteCarlo("boosting", max_draws=most, tolerance=0)
        v = value_fragments(pieces(X, held), y, *valid, method=design, random_state=seed, **QUIET)
        values, asked = v.row_values, v._fragments.n_trained
    else:
        if method in SHAPIQ:
            values, own = of_shapiq(method, game, budget, n=n, random_state=seed)
        else:
            values = by_orders(
                worth, n, budget, default_rng(seed), 0.05 if method == "truncated orders" else 0.0
            )
        asked = worth.cache_info().currsize
    known = {
        "method": method,
        "owner": np.arange(n),
        "budget": budget,
        "sets": asked,
        "own s": own,
        "value": values,
    }
    return DataFrame(known)


def rivals_page(t):
    whole = t["method"] == "truth"
    truth = t[whole].groupby("owner")["value"].agg(truth="mean", spread="std")
    yield "30 contributors; spread: of the runs whose mean is the truth", truth.abs().mean()
    t = t[~whole].join(truth, on="owner")
    t["rms error"] = (t["value"] - t["truth"]) ** 2
    by = t.groupby(["method", "budget"], sort=False)[["rms error", "sets", "own s"]].mean()
    yield (by.assign(**{"rms error": np.sqrt(by["rms error"])}).unstack(sort=False),)


# time


def clocked(what, given, *data, **options):
    start = perf_counter()
    v = value_fragments(given, *data, progress=False, n_jobs=2, **options)
    known = {
        "seconds": perf_counter() - start,
        "trainings": v._fragments.n_trained,
        "orders": v._fragments.n_orders,
    }
    return v, {"what": what, **known}


def large():
    random, n, m, n_valid = default_rng(0), ROWS, 20, ROWS // 20
    X = DataFrame(random.normal(size=(n + n_valid, m))).add_prefix("x")
    y = (X @ random.normal(size=m) + random.normal(size=len(X)) > 0).rename("label")
    given = pieces(X[:n], cut("overlapping", n, m, random))
    _, row = clocked(
        f"5 contributors of {n:,} rows x {m}, {n_valid:,} validation rows",
        given,
        y[:n],
        X[n:],
        y[n:],
    )
    yield {**row, "peak GB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20}


def times():
    random = default_rng(1)
    (X, y), valid = parts("census", random, 1000, 1000)
    held = {k: cut("many" if k > 20 else "overlapping", *X.shape, random, k) for k in (5, 12, 60)}
    given = {k: pieces(X, one) for k, one in held.items()}
    clocked("", given[5], y, *valid)  # compiles
    for k, one in given.items():
        v, row = clocked(f"{k} contributors", one, y, *valid)
        yield row
        if k < 20 and SHAPIQ:
            _, game = game_of(X, held[k], y, *valid)
            theirs, own = of_shapiq("ExactComputer", game, 2**k, n=k)
            yield {
                "what": f"shapiq's ExactComputer, {k}, without trainings",
                "seconds": own,
                "off": abs(theirs - v.row_values).max(),
            }
    nine = pieces(X.iloc[:, :9], held[5][:, :, :9])
    yield clocked("5 contributors x 9 columns", nine, y, *valid, by="column")[1]
    yield clocked(
        "5 contributors, HistGradientBoosting", given[5], y, *valid, method=other_model(y)
    )[1]


def time_page(t):
    yield "seconds by the clock", t.set_index("what")


# all parts


def run(part, deadline, work, *asked):
    """The rows of a task; none where no time is left."""
    warnings.simplefilter("ignore")
    return part, work(*asked) if time() < deadline else DataFrame()


def tasks(draws, repeats):
    """What all cores share: (part, function, arguments); what matters least comes last."""
    for draw in range(5 * draws):
        yield "paid", paid, draw
    covered = [(name, k) for k in (30, 8, 3) for name in ("census", "credit", "clusters")]
    for seed in range(TRUTH, TRUTH + RUNS):
        yield "rivals", rival, "truth", 0, seed
        for one in covered[: 3 if seed > TRUTH else None]:  # orders for 30 contributors only
            yield "coverage", intervals, *one, range(seed, seed + 1)
    for draw in range(draws):
        for name in (*CHOSEN_ON, *OTHERS, *STATSMODELS):
            for way in WAYS:
                yield "values", shares, name, way, draw
    for at in range(0, repeats, 5):
        for one in covered:
            yield "coverage", intervals, *one, range(at, at + 5)
    for seed in range(repeats // 20):
        for budget in BUDGETS:
            for name in ("placed orders", "plain orders", "truncated orders", *SHAPIQ):
                yield "rivals", rival, name, budget, seed


def main():
    pages = {
        "values": values_page,
        "paid": paid_page,
        "coverage": coverage_page,
        "rivals": rivals_page,
        "time": time_page,
        "large": time_page,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=list(pages))
    for name, default in {"draws": 1, "repeats": 20, "minutes": 60}.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    asked, deadline = args.parts, time() + 60 * args.minutes
    found = {part: [] for part in asked}
    for part, work in {"time": times, "large": large}.items():
        if part in asked:
            found[part].append(DataFrame(work()))
    every = [task for task in tasks(args.draws, args.repeats) if task[0] in asked]
    for part, rows in Parallel(-1, return_as="generator_unordered")(
        delayed(run)(task[0], deadline, *task[1:]) for task in every
    ):
        found[part].append(rows)
        if time() > deadline:
            break
    pd.set_option("display.width", 200, "display.max_columns", 30, "display.precision", 4)
    for part, rows in found.items():
        print(
            f"\n# {part}: {len(rows)} tasks, {sum(one.empty for one in rows)} of them left out for time"
        )
        t = concat(rows)
        if "OUT" in os.environ:
            t.to_csv(Path(os.environ["OUT"]) / f"{part}.csv")
        for lines in pages[part](t):
            print(*lines, sep="\n", flush=True)


if __name__ == "__main__":
    from fragments import main  # as a module: workers find its functions by name

    main()
