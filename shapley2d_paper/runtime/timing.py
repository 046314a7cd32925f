"""Timings: nearest neighbours, one permutation of a model, and real Monte Carlo runs."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.tree import DecisionTreeClassifier

from shapley2d import KNN, value_cells
from shapley2d._models.model_game import ModelGame
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested
from shapley2d_paper.baselines.tree import TreeGame
from shapley2d_paper.baselines.tree_mc import TreeMC
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.folder import hardware

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.records import Row

PERMUTATIONS = 500
"""What the paper runs."""

TOLERANCE = 0.025
"""Where 2D-KNN stops: the largest standard error relative to the range of the values."""

N_COLUMNS = 14
"""Of Census."""

_MAX_TIMINGS = 7
_ENOUGH_S = 1.0  # a grid that takes longer is timed once


def work(*, part: str, cells: int, n_valid: int, seed: int, **settings: Any) -> list[Row]:
    """Time one method on this many cells of Census."""
    parts = split_table("census", seed, n_train=-(-cells // N_COLUMNS), n_valid=n_valid)
    timed: dict[str, Callable[..., Row]] = {"knn": _knn, "permutation": _permutation, "run": _run}
    n, m = parts.X.shape
    facts = {
        "cells": cells,
        "n_rows": n,
        "n_columns": m,
        "n_valid": n_valid,
        "cores": effective_n_jobs(-1),
    }
    return [{**timed[part](parts, seed=seed, **settings), **facts, "hardware": hardware()}]


def _knn(parts: Parts, *, columns: str, repeats: int, seed: int) -> Row:
    """Nearest neighbours on all cores, to the tolerance or with every column subset."""
    data = (parts.X, parts.y, parts.X_valid, parts.y_valid)
    options: dict[str, Any] = {"task": "classification", "random_state": seed, "progress": False}
    method = KNN(subsets="auto" if columns == "auto" else "all", tolerance=TOLERANCE)
    seconds = []
    for _ in range(repeats + 1):
        started = time.perf_counter()
        valuation = value_cells(*data, method=method, baseline="zero", **options)
        seconds.append(time.perf_counter() - started)
    return {
        "what": "knn" if columns == "auto" else "knn exact",
        "seconds": float(np.median(seconds[1:])),  # the first one loads the compiled kernels
        "ratio": valuation.info.get("ratio", 0.0),
        "n_subsets": valuation.info["n_subsets"],
    }


def _permutation(parts: Parts, *, model: str, grid_rows: int, seed: int) -> Row:
    """One permutation of Monte Carlo on one core: all models of the grid, or evenly spaced rows."""
    game = _make_game(parts, model)
    rng = np.random.default_rng(seed)
    rows, columns = rng.permutation(game.n_rows), rng.permutation(game.n_columns)
    few = np.isin(np.arange(game.n_rows), rows[:3])[None]
    game.utilities(few, nested(columns))  # load the compiled kernels
    step = 1 if model == "gaussian_nb" else -(-game.n_rows // grid_rows)
    chosen = nested(rows)[1 + step // 2 :: step]
    timings: list[float] = []
    while not timings or (len(timings) < _MAX_TIMINGS and sum(timings) < _ENOUGH_S):
        started = time.perf_counter()
        game.utilities(chosen, nested(columns))
        timings.append(time.perf_counter() - started)
    seconds = float(np.median(timings)) * game.n_rows / len(chosen)
    return {
        "what": model,
        "seconds": seconds,
        "timed_share": len(chosen) / game.n_rows,
        "projected": seconds * PERMUTATIONS / effective_n_jobs(-1),
    }


def _make_game(parts: Parts, model: str) -> Any:
    """The game of a model: scikit-learn's tree, the baselines' tree or naive Bayes."""
    (split,) = make_problem(
        parts.X, parts.y, parts.X_valid, parts.y_valid, task="classification"
    ).splits
    if model == "sklearn":
        return ModelGame(DecisionTreeClassifier(), split)
    return TreeGame(split) if model == "tree" else SWEEPS[model](split)


def _run(parts: Parts, *, permutations: int, seed: int) -> Row:
    """Monte Carlo with the baselines' decision tree on all cores, from the call to the values."""
    data = (parts.X, parts.y, parts.X_valid, parts.y_valid)
    options: dict[str, Any] = {"task": "classification", "random_state": seed, "n_jobs": -1}
    options["progress"] = False
    few = TreeMC(max_draws=8, tolerance=0)
    value_cells(*(part[:8] for part in data), method=few, **options)
    started = time.perf_counter()
    method = TreeMC(max_draws=permutations, tolerance=0)
    valuation = value_cells(*data, method=method, **options)
    return {
        "what": "run",
        "seconds": time.perf_counter() - started,
        "permutations": permutations,
        "ratio": valuation.info["ratio"],
    }
