"""Valuations of fragments with made-up scores: what a page or a print shows of them, in no time."""

from __future__ import annotations

import hashlib
from math import comb

import numpy as np

from shapley2d import Valuation
from shapley2d._fragments.facts import FileDigest, Fragments
from shapley2d._models.scores import SAYS

MONEY = ("age", "capital_gain", "capital_loss")
WORK = ("workclass", "occupation", "hours_per_week")
PERSON = ("marital_status", "sex", "education_num")
COLUMNS = sorted((*MONEY, *WORK, *PERSON))
WORTH = dict(zip(COLUMNS, (30, 45, 15, 25, 14, 42, 20, 11, 1), strict=True))


def five():
    """Two banks, two employers and a registry, with overlaps and holes."""
    return {
        "Bank North": (range(500), MONEY),
        "Bank South": (range(400, 1000), MONEY),
        "Employer North": (range(500), WORK),
        "Employer South": (range(450, 820), (*WORK[1:], "education_num")),
        "Registry": ([*range(170), *range(480, 550), *range(780, 1000)], PERSON),
    }


def twelve():
    random = np.random.default_rng(0)
    return {
        "Bank North": (range(350), MONEY),
        "Bank South": (range(300, 600), MONEY),
        "Bank West": (range(640, 1000), MONEY[1:]),
        "Employer North": (range(400), WORK),
        "Employer South": (range(380, 700), (*WORK[1:], "education_num")),
        "Temp Agency": (range(620, 900), WORK[::2]),
        "Tax Office": (range(200, 500), ("capital_gain", "occupation", "marital_status")),
        "Registry": (range(450), PERSON[:2]),
        "Parish": (range(550, 950), ("marital_status", "age")),
        "School Board": (range(100, 550), PERSON[2:]),
        "Shop": (np.sort(random.choice(1000, 60, replace=False)), ("age", "sex")),
        "Gym": (range(880, 1000), ("sex", "hours_per_week")),
    }


def many(k=60):
    random = np.random.default_rng(k)
    kinds = {"Bank": MONEY, "Employer": (*WORK, "education_num"), "Registry": PERSON,
             "Shop": ("age", "sex"), "School": ("education_num", "age")}  # fmt: skip
    parts = {}
    for i in range(k):
        kind = str(random.choice(list(kinds)))
        start, size = int(random.integers(0, 760)), int(random.integers(25, 240))
        rows = range(start, start + size) if i % 3 else random.choice(1000, size, replace=False)
        parts[f"{kind} {i:02d}"] = (rows, kinds[kind])
    return parts


def cells_of(parts, n=1000, columns=COLUMNS):
    held = np.zeros((len(parts), n, len(columns)), bool)
    for one, (rows, names) in zip(held, parts.values(), strict=True):
        one[np.ix_(list(rows), [columns.index(name) for name in names])] = True
    return held


def made(parts, *, columns=COLUMNS, worth=WORTH, n=1000, n_valid=400, spread=1.5, harm=None,
         score="probability", by="contributor", scattered=False, seed=0, **more):  # fmt: skip
    """A valuation whose scores are the shares of the columns that a set holds, times their worth.

    ``harm``: by contributor, what its presence takes from the score; ``more``: fields as they are.
    """
    random = np.random.default_rng(seed)
    names, held = list(parts), cells_of(parts, n, columns)
    k, m = len(parts), len(columns)
    weight = np.array([worth[name] for name in columns]) / 1000
    patterns, counts = np.unique(held.transpose(1, 0, 2), axis=0, return_counts=True)
    # scores of validation rows, per column and per contributor that does harm
    of_rows = weight[:, None] * (1 + spread * random.normal(size=(m, n_valid)))
    harms = np.array([(harm or {}).get(name, 0.0) for name in names])
    taken = harms[:, None] * (1 + spread * random.normal(size=(k, n_valid)))

    flat = patterns.transpose(1, 0, 2).reshape(k, -1).astype(np.float32)

    def game(sets):
        unions = (sets.astype(np.float32) @ flat > 0).reshape(len(sets), -1, m)
        covered = np.einsum("p,spm->sm", counts / n, unions)
        return covered @ of_rows - sets @ taken, covered

    everybody = np.ones(k, bool)
    if k <= 12:
        how, n_orders = "all sets", 0
        sets = (np.arange(1 << k)[:, None] >> np.arange(k) & 1).astype(bool)
        scores, covered = game(sets)
        each, by_columns = np.zeros((k, n_valid)), np.zeros((k, m))
        size = sets.sum(1)
        for i in range(k):
            before = np.flatnonzero(~sets[:, i])
            share = np.array([1 / (k * comb(k - 1, q)) for q in size[before]])
            each[i] = share @ (scores[before + (1 << i)] - scores[before])
            by_columns[i] = share @ (covered[before + (1 << i)] - covered[before])
        sets, scores = sets[1:], scores[1:]
        holding = held.any((1, 2))  # who holds nothing is in no set
        known = ~sets[:, ~holding].any(1)
        sets, scores = sets[known], scores[known]
        orders_stderr = np.zeros(k)
    else:
        how, n_orders = "orders", 40
        parts_of, known = np.zeros((n_orders, k, n_valid)), {}
        for order in range(n_orders):
            ranks = np.argsort(way := random.permutation(k))
            prefixes = ranks[None, :] <= np.arange(k)[:, None]
            found = game(prefixes)[0]
            parts_of[order, way] = np.diff(found, axis=0, prepend=0)
            known |= {one.tobytes(): line for one, line in zip(prefixes, found, strict=True)}
        for ends in (np.eye(k, dtype=bool), ~np.eye(k, dtype=bool)):
            known |= {one.tobytes(): line for one, line in zip(ends, game(ends)[0], strict=True)}
        sets = np.array([np.frombuffer(one, bool) for one in known])
        scores = np.array(list(known.values()))
        each = parts_of.mean(0)
        orders_stderr = parts_of.mean(2).std(0, ddof=1) / np.sqrt(n_orders)
        by_columns = held.mean(1)
    total = game(everybody[None])[0][0]

    def error(rows):
        return rows.std(-1, ddof=1) / np.sqrt(n_valid)

    covariance = np.cov(each) / n_valid + np.diag(orders_stderr**2)
    covariance = np.atleast_2d(covariance)
    stderr, values = np.sqrt(np.diag(covariance)), each.mean(1)
    table = values[:, None]
    if by == "column":
        table = by_columns * weight
        table = table * (values / np.maximum(table.sum(1), 1e-12))[:, None]
    times = held.sum(0)
    fields = {
        "columns": list(columns), "n_rows": n, "cells": held.sum(1),
        "patterns": patterns, "pattern_rows": counts,
        "union": (times > 0).sum(0), "overlap": (times > 1).sum(0), "labels": [],
        "target": "income", "score": score, "baseline": 0.645, "n_valid": n_valid,
        "crossed": False, "covariance": covariance,
        "sets": sets, "set_scores": scores.mean(1), "set_stderr": error(scores),
        "set_lost_stderr": error(total - scores), "how": how, "n_orders": n_orders,
        "n_trained": len(sets), "question": {"on": "id", "method": "boosting"},
        "files": [
            FileDigest(name, f"{name.lower()}.csv", hashlib.sha256(name.encode()).hexdigest())
            for name in names
        ],
        "by": by, **more,
    }  # fmt: skip
    if scattered:  # more patterns than a map can show
        fields |= {"patterns": np.zeros((0, k, m), bool), "pattern_rows": np.zeros(0, int)}
    return Valuation(
        table, np.full(table.shape, 0.001) if by == "column" else stderr[:, None],
        np.array(names, dtype=object), list(columns) if by == "column" else ["all columns"],
        row_stderr=stderr, total_stderr=float(error(total)), dof=n_valid - 1.0,
        info={"method": "boosting", "task": "classification", "date": "2026-05-01",
              "versions": {"shapley2d": "1.0"}, "n_valid": n_valid, "seconds": 1.5,
              "call": "value_fragments(...)", "score": SAYS[score]},
        _fragments=Fragments(**fields),
    )  # fmt: skip
