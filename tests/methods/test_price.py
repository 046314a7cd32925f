"""Prices: they fit what the run then does, and cost nothing that the run would not."""

import subprocess
import sys
import tracemalloc
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from shapley2d import plan_cells, value_cells
from shapley2d._api import cells
from shapley2d._api.question import Question
from shapley2d._base.cost import Cost
from shapley2d._estimation.monte_carlo import Moments, MonteCarloState
from shapley2d._methods import price
from shapley2d._methods.knn.price import TYPICAL_NS
from shapley2d._methods.price import Measured, Price, measure
from shapley2d._methods.registry import METHODS
from shapley2d._methods.work_price import expected_draws
from shapley2d._tables.table import Column
from shapley2d.exceptions import InputError

knn_price = import_module("shapley2d._methods.knn.price")
knn_pace = import_module("shapley2d._methods.knn.pace")
RNG = np.random.default_rng(0)
N, T, M = 40, 16, 10
X = RNG.normal(size=(N + T, M)).round(1)
Y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
SPLIT = (X[:N], Y[:N], X[N:], Y[N:])


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(knn_price, "CALIBRATION_S", 1e-3)
    monkeypatch.setattr(price, "CALIBRATION_S", 1e-3)


def within(amounts, actual):
    low, high = amounts
    return low <= actual <= high


@pytest.mark.parametrize(
    "options",
    [
        {"subsets": "all"},
        {"subsets": "sampled", "n_subsets": 41},
        {"subsets": "sampled", "n_subsets": 10**6},
        {"tolerance": 0.1},
        {"tolerance": 0.02},
        {"tolerance": 0.05, "semivalue": "banzhaf"},
        {"tolerance": 0.05, "include_label": True},
        {"tolerance": 0},
        {"tolerance": 0.1, "valid_rows": "auto"},
        {"subsets": "sampled", "n_subsets": 60, "valid_rows": "auto"},
        {"subsets": "all", "valid_rows": "auto", "tolerance": 0.5},
    ],
    ids=str,
)
def test_coalitions_are_those_of_the_run(options):
    plan = plan_cells(*SPLIT, progress=False, **options)
    v = value_cells(*SPLIT, progress=False, **options)
    assert within(plan.amounts["column subsets"], v.info["n_subsets"])
    assert plan.n_valid == v.info["n_valid"] == T
    assert (plan.n_rows, plan.n_columns) == v.shape
    assert plan.facts["form"] == v.info["form"]
    if "valid_rows" in options:
        assert within(plan.amounts["validation rows"], v.info["n_valid_used"])
    if "tolerance" not in options:
        assert plan.amounts["column subsets"] == (v.info["n_subsets"],) * 2
        assert plan.facts["subsets"] == v.info["subsets"]
    assert 0 < plan.seconds[0] <= plan.seconds[1] < 3600


def test_columns_that_never_vary_and_folds_cost_what_they_cost_the_run():
    table = np.column_stack([X[:N, :5], np.ones((N, 9))])
    plan = plan_cells(table, Y[:N], progress=False, cv=3)
    v = value_cells(table, Y[:N], progress=False, cv=3)
    assert plan.amounts["column subsets"] == (v.info["n_subsets"],) * 2 == (32, 32)
    assert plan.n_columns == 14
    assert plan.n_valid == v.info["n_valid"] == N


def test_the_form_is_the_one_that_the_run_chooses(monkeypatch):
    monkeypatch.setattr("shapley2d._methods.knn.cells.is_small", lambda work, form: False)
    monkeypatch.setattr("shapley2d._methods.knn.choices.SMALL_WORK", 2.0**20)
    monkeypatch.setattr("shapley2d._methods.knn.choices.FEW_PAIRS", 0.5)
    rng = np.random.default_rng(1)
    table = rng.normal(size=(1200, 6)).round(1)
    target = (table[:, 0] > 0).astype(int)
    data = (table[:1100], target[:1100], table[1100:], target[1100:])
    options = {"subsets": "all", "progress": False}
    plan = plan_cells(*data, **options)
    assert plan.facts["form"] == value_cells(*data, **options).info["form"] == "fast"
    assert plan.high.alone_s > plan.low.alone_s  # the sample that is ranked exactly may grow
    assert plan_cells(*data, form="exact", **options).facts["form"] == "exact"


def test_the_run_has_the_same_bits_with_a_plan_before_it(monkeypatch):
    plain = value_cells(*SPLIT, progress=False, tolerance=0.05)
    monkeypatch.setattr(cells, "GUESSED_S", 0.0)
    monkeypatch.setattr(cells, "LONG_S", 0.0)
    heard = []
    planned = value_cells(
        *SPLIT, progress=lambda fraction, note: heard.append((fraction, note)), tolerance=0.05
    )
    np.testing.assert_array_equal(planned.values, plain.values)
    np.testing.assert_array_equal(planned.stderr, plain.stderr)
    low, high = planned.info["planned_s"]
    assert 0 <= low <= high
    assert heard[0][0] == 0.0
    assert heard[0][1].startswith("planned: ")
    assert "column subsets" in heard[0][1]
    assert "planned_s" not in value_cells(*SPLIT, progress=False, tolerance=0.05).info
    assert f"planned_s={low}" not in planned.info["call"]


def test_short_runs_are_not_priced(monkeypatch):
    monkeypatch.setattr(knn_price, "price_knn", None)  # would fail
    assert "planned_s" not in value_cells(*SPLIT, progress=lambda *_: None, tolerance=0.1).info


def test_runs_that_turn_out_short_say_nothing(monkeypatch):
    monkeypatch.setattr(cells, "GUESSED_S", 0.0)
    heard = []
    v = value_cells(*SPLIT, progress=lambda fraction, note: heard.append(note), tolerance=0.1)
    assert "planned_s" in v.info
    assert not any(note.startswith("planned") for note in heard)


def test_arithmetic_on_known_paces(monkeypatch):
    pace = Measured(clock_s=5e-9, core_s=1e-8)  # two cores at a time
    monkeypatch.setattr(knn_price, "pace_of_sample", lambda *_, **__: pace)
    monkeypatch.setattr(knn_price, "pace_of_walk", lambda *_, **__: pace)
    monkeypatch.setattr(knn_price, "timed", lambda do: 0.0 * bool(do() is None))
    plan = plan_cells(*SPLIT, progress=False, subsets="sampled", n_subsets=100)
    assert plan.high.shared_s == pytest.approx(N * T * 100 * 1e-8)
    assert plan.cores == pytest.approx(2.0)
    assert plan.seconds[1] == pytest.approx(plan.high.alone_s + plan.high.shared_s / 2)
    assert (plan.high.pieces, plan.high.waves) == (4, 1)
    exact = plan_cells(*SPLIT, progress=False, subsets="all")
    assert exact.high.shared_s == pytest.approx(N * T * 2**M * 1e-8)
    folds = plan_cells(X[:N], Y[:N], progress=False, subsets="all", cv=5)
    assert folds.high.shared_s == pytest.approx(5 * 32 * 8 * 2**M * 1e-8)


def test_two_lists_of_the_same_work_are_timed_once(monkeypatch):
    timed = []

    def pace(*_, **__):
        timed.append(1)
        return Measured(5e-9 * len(timed), 1e-8 * len(timed))  # every look finds it slower

    monkeypatch.setattr(knn_price, "pace_of_sample", pace)
    monkeypatch.setattr(knn_price, "_subsets_needed", lambda *_: (24, 48, []))
    monkeypatch.setattr(knn_price, "timed", lambda do: 0.0 * bool(do() is None))
    plan = plan_cells(*SPLIT, progress=False, subsets="sampled")
    assert len(timed) == 1
    assert plan.amounts["column subsets"] == (24, 48)
    assert plan.high.shared_s - plan.low.shared_s == pytest.approx(24 * N * T * 1e-8)


def test_a_plan_takes_no_rows_that_it_does_not_read(monkeypatch):
    monkeypatch.setattr(knn_price, "PRICED_ROWS", 100)
    monkeypatch.setattr(knn_price, "PRICED_VALID", 10)
    taken = []
    take = Column.entries.func

    def count(column):
        taken.append(0 if column.rows is None else len(column.rows))
        return take(column)

    random = np.random.default_rng(0)
    entries = random.normal(size=(1000, 4))
    y = (entries[:, 0] > 0).astype(int)
    monkeypatch.setattr(Column.entries, "func", count)
    plan = plan_cells(entries, y, progress=False)
    assert plan.n_valid == 1000
    assert 10 <= max(taken) <= 100


def test_a_first_guess_goes_with_the_work():
    tasks = [
        cells.CellsJob.prepare(
            Question(
                X=SPLIT[0],
                y=SPLIT[1],
                X_valid=SPLIT[2],
                y_valid=SPLIT[3],
                n_jobs=jobs,
                progress=False,
                options={"subsets": "all"},
            )
        )
        for jobs in (1, 2)
    ]
    one, two = (task.method.guess(task.problem, task.run, **task.options) for task in tasks)
    assert (
        tasks[0].method.guess(
            tasks[0].problem, tasks[0].run, **{**tasks[0].options, "backend": "cuda"}
        )
        == 0.0
    )
    assert one == pytest.approx(2 * two) == pytest.approx(N * T * 2**M * TYPICAL_NS * 1e-9)


@pytest.mark.parametrize("small", [True, False])
@pytest.mark.parametrize("subsets", ["all", "sampled"])
def test_memory_is_of_the_right_order(subsets, small, monkeypatch):
    monkeypatch.setattr("shapley2d._methods.knn.cells.is_small", lambda work, form: small)
    rng = np.random.default_rng(2)
    n, m = (600 if small else 4000), (10 if subsets == "sampled" else 4)
    table = rng.normal(size=(n + 16, m)).round(1)
    target = (table[:, 0] > 0).astype(int)
    data = (table[:n], target[:n], table[n:], target[n:])
    options = {
        "subsets": subsets,
        "n_subsets": 80 if subsets == "sampled" else None,
        "progress": False,
    }
    options["n_jobs"] = 2  # a table for which there is something to do for each
    plan = plan_cells(*data, **options)
    value_cells(*data, **options)  # what is compiled is no memory of the run
    tracemalloc.start()
    value_cells(*data, **options)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak / 4 < plan.memory < 4 * peak


PEAK = """
import ctypes
import sys
from pathlib import Path
import numpy as np
from shapley2d import plan_cells, value_cells

def status(name):
    words = Path("/proc/self/status").read_text().split()
    return 1024 * int(words[words.index(name + ":") + 1])

rng = np.random.default_rng(0)
X = rng.normal(size=(60_004, int(sys.argv[1]))).round(2)
y = (X[:, 0] > 0).astype(int)
options = dict(eval(sys.argv[2]), progress=False, n_jobs=1, backend="cpu")
value_cells(X[:20_000], y[:20_000], X[-4:], y[-4:], **options)  # loads what is compiled
ctypes.CDLL(None).malloc_trim(0)  # what the first run has freed is nobody's
before = status("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
value_cells(X[:-4], y[:-4], X[-4:], y[-4:], **options)
took = status("VmHWM") - before
print(plan_cells(X[:-4], y[:-4], X[-4:], y[-4:], **options).memory / took)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(
    ("columns", "options"), [(16, {"n_subsets": 64}), (8, {"subsets": "all", "form": "fast"})]
)
def test_memory_is_what_the_run_then_takes(columns, options):
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PEAK, str(columns), repr(options)],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    assert 1 / 1.5 <= float(done.stdout) <= 1.5


def test_tolerances_that_cannot_be_met_are_said():
    wide = RNG.normal(size=(24, 30))
    plan = plan_cells(wide, Y[:24], wide[:4], Y[:4], progress=False, tolerance=1e-6)
    assert "hardly meet" in plan.notes[0]
    assert plan.amounts["column subsets"] == (8192, 8192)
    more = np.column_stack([SPLIT[0], SPLIT[0][:, :2] ** 2])  # more subsets than a first sample
    valid = np.column_stack([SPLIT[2], SPLIT[2][:, :2] ** 2])
    falls = plan_cells(more, SPLIT[1], valid, SPLIT[3], progress=False, tolerance=1e-6)
    assert falls.amounts["column subsets"][1] == 2 ** (M + 2)
    assert "all column subsets" in falls.notes[0]


OTHERS = {
    "mc": {"max_permutations": 12, "tolerance": 0, "model": "gaussian_nb"},
    "exact": {},
    "loo": {"model": "gaussian_nb"},
    "flat": {"max_permutations": 3, "tolerance": 0},
    "forest": {"max_trees": 12, "tolerance": 0},
    "oob": {"n_trees": 150, "column_share": 0.5},
    "pairs": {"n_subsets": 60, "model": "gaussian_nb"},
    "random": {},
}


def test_every_method_has_a_price():
    assert set(OTHERS) | {"knn"} == set(METHODS)


@pytest.mark.parametrize("method", OTHERS)
def test_other_methods(method):
    few = {"exact": (X[:6, :3], Y[:6], X[6:20, :3], Y[6:20])}
    data = few.get(method, (X[:20, :4], Y[:20], X[20:, :4], Y[20:]))
    plan = plan_cells(*data, method=method, progress=False, **OTHERS[method])
    assert plan.priced
    v = value_cells(*data, method=method, progress=False, **OTHERS[method])
    facts = {"permutations": "n_permutations", "utilities": "n_utilities", "trees": "n_trees"}
    for what, counts in plan.amounts.items():
        assert counts == (v.info[facts.get(what, "n_subsets")],) * 2
    assert 0 <= plan.seconds[0] <= plan.seconds[1] < 3600
    assert plan.memory > 0


def test_slow_models_are_not_trained_for_a_whole_draw(monkeypatch):
    fits = []

    class Slow(GaussianNB):
        def fit(self, X, y):
            fits.append(len(y))
            return super().fit(X, y)

    monkeypatch.setattr("shapley2d._methods.work_price.SLOW_S", 0.0)
    plan = plan_cells(*SPLIT, method="mc", model=Slow(), progress=False, max_permutations=50)
    assert len(fits) < 3 * (N + 1) * (M + 1)
    assert plan.amounts["permutations"] == (10, 50)


def test_draws_by_a_pilot():
    state = MonteCarloState(Moments(None), 0.05, 1000)
    rng = np.random.default_rng(0)
    mean = np.linspace(-1, 1, 12).reshape(4, 3)
    for _ in range(20):
        state.add(mean + rng.normal(size=(4, 3)))
    low, high = expected_draws(state, 0.05, 1000)
    assert 10 <= low < state.needed() < high <= 1000
    assert expected_draws(state, 0, 1000) == (1000, 1000)
    assert expected_draws(MonteCarloState(Moments(None), 0.05, 500), 0.05, 500) == (10, 500)


def test_what_the_run_refuses_the_plan_refuses():
    wide = np.tile(X, 3)
    with pytest.raises(InputError, match="subsets='all' needs 2\\^30"):
        plan_cells(wide[:N], Y[:N], wide[N:], Y[N:], subsets="all")
    with pytest.raises(InputError, match="need 2\\^50 utilities"):
        plan_cells(*SPLIT, method="exact")
    with pytest.raises(InputError, match="oob"):
        plan_cells(*SPLIT, method="oob", include_label=True)


def test_what_cannot_be_priced_says_so():
    plan = plan_cells(
        X[:N, :4], Y[:N], X[N:, :4], Y[N:], precedence={"rows": list(range(N))}, progress=False
    )
    assert plan.reason == "the time of a run with precedence cannot be predicted"
    assert plan.workers(60) is None


def test_measuring_doubles_until_it_is_long_enough():
    seen = []

    def do(count):
        seen.append(count)
        return float(count)

    found = measure(do, 100, seconds=1e9)
    assert seen == [1, 1, 4, 16, 64, 100]
    assert found.clock_s >= 0
    assert Measured(2.0, 3.0).cores == 1.5


def test_on_a_gpu_the_clock_counts():
    gpu, processor = SimpleNamespace(device=object()), SimpleNamespace(device=None)
    assert knn_pace._by_device(gpu, Measured(2.0, 0.1)) == (2.0, 2.0)
    assert knn_pace._by_device(processor, Measured(2.0, 0.1)) == (2.0, 0.1)


def test_a_price_here_is_by_the_cores_that_work():
    assert Price(Cost(1.0, 8.0), Cost(2.0, 16.0), cores=4.0).seconds == (3.0, 6.0)
