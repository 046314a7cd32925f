"""The experiment on run times: what is timed, what is projected, and the verdicts."""

import numpy as np
import pytest

from shapley2d import value_cells
from shapley2d_paper.harness.records import Records
from shapley2d_paper.runtime import timing as runtime_timing
from shapley2d_paper.runtime.claims import CELLS, PAPER_KNN, PAPER_MC, judge_speed, speedups
from shapley2d_paper.runtime.timing import PERMUTATIONS, work

FACTS = {
    "n_rows": 72,
    "n_columns": 14,
    "n_valid": 50,
    "cores": 2,
    "hardware": "a machine, 2 cores",
    "seed": 0,
}


def test_nearest_neighbours_are_timed_to_the_tolerance():
    (record,) = work(part="knn", cells=4200, n_valid=30, seed=0, columns="auto", repeats=2)
    assert (record["n_rows"], record["n_columns"], record["what"]) == (300, 14, "knn")
    assert 0 < record["ratio"] <= 0.025
    assert 0 < record["seconds"] < 60
    assert record["n_subsets"] < 2**14


def test_all_column_coalitions_leave_no_error():
    (record,) = work(part="knn", cells=280, n_valid=4, seed=0, columns="exact", repeats=1)
    assert (record["what"], record["ratio"], record["n_subsets"]) == ("knn exact", 0.0, 2**14)


class TimedGame:
    """Every row of the grid takes as many seconds as its coalition has rows, on a clock of its own."""

    n_rows, n_columns = 40, 2

    def __init__(self):
        self.clock = 0.0
        self.sizes = []

    def perf_counter(self):
        return self.clock

    def utilities(self, rows, columns):
        self.sizes = rows.sum(axis=1).tolist()
        self.clock += sum(self.sizes)
        return np.zeros((len(rows), len(columns)))


@pytest.mark.parametrize("grid_rows", [10, 40, 100])
def test_part_of_a_grid_is_projected_to_the_whole(monkeypatch, grid_rows):
    game = TimedGame()
    monkeypatch.setattr(runtime_timing, "_make_game", lambda parts, model: game)
    monkeypatch.setattr(runtime_timing, "time", game)
    row = runtime_timing._permutation(None, model="tree", grid_rows=grid_rows, seed=0)
    assert row["seconds"] == pytest.approx(40 * 41 / 2, rel=0.05)
    assert row["timed_share"] == pytest.approx(min(grid_rows, 40) / 40)
    assert row["projected"] == pytest.approx(
        row["seconds"] * PERMUTATIONS / runtime_timing.effective_n_jobs(-1)
    )
    if grid_rows < 40:
        assert game.sizes == list(range(3, 41, 4))


@pytest.mark.parametrize("model", ["tree", "gaussian_nb", "sklearn"])
def test_a_permutation_of_each_model_is_timed(model):
    (record,) = work(part="permutation", cells=200, n_valid=20, seed=0, model=model, grid_rows=5)
    assert record["what"] == model
    assert 0 < record["seconds"] < 60
    assert record["timed_share"] == (1 if model == "gaussian_nb" else pytest.approx(5 / 15))


def test_a_real_run_shows_its_precision(monkeypatch):
    def alone(*data, n_jobs, **options):  # workers would take longer to start than the run
        assert n_jobs == -1
        return value_cells(*data, n_jobs=1, **options)

    monkeypatch.setattr(runtime_timing, "value_cells", alone)
    (record,) = work(part="run", cells=150, n_valid=20, seed=0, permutations=12)
    assert (record["what"], record["permutations"]) == ("run", 12)
    assert record["ratio"] > 0.025


def made_up(speed, *, fits=None, cells=CELLS):
    """Records in which nearest neighbours are ``speed(cells)`` times faster than the tree."""
    rows = []
    for count in cells:
        facts = {**FACTS, "cells": count}
        rows += [
            {"what": "knn", "seconds": 2.0, "ratio": 0.02, "n_subsets": 450, **facts},
            {"what": "tree", "seconds": 0.1, "projected": 2.0 * speed(count), **facts},
        ]
        if fits:
            rows.append({"what": "sklearn", "seconds": 1.0, "projected": 2.0 * fits, **facts})
    return Records(rows)


def paper_ratio(cells):
    return PAPER_MC[cells] / PAPER_KNN[cells]


def test_speedups_are_ratios_of_seconds():
    assert speedups(made_up(paper_ratio), "tree") == pytest.approx(
        {cells: paper_ratio(cells) for cells in CELLS}
    )
    assert speedups(made_up(paper_ratio), "sklearn") == {}


@pytest.mark.parametrize(
    ("speed", "verdict"),
    [
        (lambda cells: 1.1 * paper_ratio(cells), "holds"),
        (lambda cells: 10.0 if cells == 1_000 else 1000.0, "holds in part"),
        (lambda cells: 0.9 if cells == 1_000 else 1000.0, "does not hold"),
        (lambda cells: 2.0, "does not hold"),
    ],
)
def test_verdicts(speed, verdict):
    assert judge_speed(made_up(speed)).verdict == verdict


def test_equal_precision_takes_the_square_of_the_ratio():
    run = {
        "what": "run",
        "cells": 1_000,
        "seconds": 10.0,
        "ratio": 0.1,
        "permutations": 500,
        **FACTS,
    }
    judgement = judge_speed(Records([*made_up(paper_ratio, fits=700.0).rows, run]))
    assert "some 160 s" in judgement.why  # 10 s x (0.1 / 0.025)^2
    assert "700 x at 1,000 cells" in judgement.why
