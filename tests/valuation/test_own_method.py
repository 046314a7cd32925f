"""A method of one's own works wherever the package's own do, and a type checker sees its options."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import own_method
from own_method import LeaveOut
from report_page import html_of
from shapley2d import KNN, CellValuer, InputError, OneDraw, Valuation, value_cells, value_game
from shapley2d._tables.problem import make_problem
from shapley2d._valuation.methods import BUILT_IN, all_methods, find_method
from shapley2d.cli.methods import with_methods
from shapley2d.cli.options import option
from shapley2d.exceptions import InputWarning

from small_tables import two_classes

TABLES = two_classes(n=20, m=3)
ROOT = Path(__file__).parents[2]


def test_it_values_games():
    v = value_game(lambda S, F: S[0] and S[1] and F[0], 3, 2, method=LeaveOut())
    assert v.values.tolist() == [[1, 0], [1, 0], [0, 0]]
    assert (
        v.info["call"] == "value_game(h, n_rows=3, n_columns=2, method=LeaveOut(), random_state=0)"
    )


def test_it_values_cells():
    v = value_cells(*TABLES, method=LeaveOut(n_votes=3))
    (game,) = KNN(n_neighbors=3).games(make_problem(*TABLES))
    np.testing.assert_array_equal(v.values, value_game(game, 20, 3, method=LeaveOut()).values)
    assert v.values.min() < 0 and value_cells(*TABLES, method=LeaveOut(3, "plus")).values.min() == 0
    assert v.exact and v.info["method"] == "leave-out" and v.info["settings"] == {"n_votes": 3}
    assert "method=LeaveOut(n_votes=3)" in v.info["call"]
    crossed = value_cells(*TABLES[:2], method=LeaveOut(n_votes=3), cv=4)
    assert crossed.info["folds"] == 4 and crossed.values.any()


def test_its_values_sum_by_groups_which_it_does_not_value():
    owner = np.arange(20) % 2
    v = value_cells(*TABLES, method=LeaveOut(n_votes=3))
    sums = v.sum_by(owner).set_index("group")["value"]
    np.testing.assert_allclose(sums[["0", "1"]], [v.values[owner == k].sum() for k in (0, 1)])
    with pytest.raises(InputError, match="values single cells, but row_groups makes groups"):
        value_cells(*TABLES, row_groups=owner, method=LeaveOut(n_votes=3))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones((20, 3)), "gave ndarray, not Draws of 20 rows and 3 columns"),
        (OneDraw(np.ones((20, 4))), r"gave values of shape \(20, 4\), not Draws of 20 rows and 3"),
        (None, r"gave NoneType, .* values that are known become OneDraw\(values\)"),
    ],
)
def test_what_is_no_list_of_draws_is_refused(monkeypatch, given, message):
    monkeypatch.setattr(LeaveOut, "draws", lambda *_: given)
    with pytest.raises(InputError, match=f"draws of the method 'leave-out' {message}"):
        value_cells(*TABLES, method=LeaveOut())


def test_the_estimator_nests_its_options():
    valuer = CellValuer(LeaveOut(n_votes=3))
    assert valuer.get_params()["method__n_votes"] == 3
    again = clone(valuer).set_params(method__signs="plus").fit(*TABLES)
    assert again.method == LeaveOut(n_votes=3, signs="plus")
    expected = value_cells(*TABLES, method=again.method)
    np.testing.assert_array_equal(again.values_, expected.values)


def test_wrong_options():
    with pytest.raises(TypeError, match="unexpected keyword argument 'n_vote'"):
        LeaveOut(n_vote=3)
    with pytest.raises(InputError, match=r"^n_votes=0 must be a whole number of at least 1$"):
        LeaveOut(n_votes=0)
    with pytest.raises(InputError, match="signs='pluss' is not known: did you mean 'plus'"):
        LeaveOut(signs="pluss")
    with pytest.raises(InputError, match="method is the class LeaveOut: make one"):
        value_cells(*TABLES, method=LeaveOut)


def test_the_report_says_what_it_does(tmp_path):
    v = value_cells(*TABLES, method=LeaveOut(n_votes=3))
    v.save(tmp_path / "v.parquet")
    for one in (v, Valuation.load(tmp_path / "v.parquet")):  # the file is read without the method
        page = html_of(one)
        assert LeaveOut.how in page and LeaveOut.meaning in page


@pytest.fixture
def package(tmp_path):
    """A folder where a package with the method is installed."""
    shutil.copy(own_method.__file__, tmp_path / "leaving_out.py")
    about = tmp_path / "leaving_out-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: leaving-out\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[shapley2d.methods]\nleave-out = leaving_out:LeaveOut\n"
    )
    yield tmp_path
    sys.modules.pop("leaving_out", None)


def test_a_word_finds_the_method_of_another_package(package, monkeypatch):
    monkeypatch.setattr("shapley2d._valuation.methods.all_methods", all_methods.__wrapped__)
    with pytest.raises(InputError, match="method='leave-out' is not known"):
        find_method("leave-out")
    monkeypatch.syspath_prepend(package)
    assert repr(find_method("leave-out")) == "LeaveOut()"
    by_word = value_cells(*TABLES, method="leave-out")
    assert by_word == value_cells(*TABLES, method=LeaveOut())
    with pytest.raises(
        InputError, match="method='leaveout' is not known: did you mean 'leave-out'"
    ):
        find_method("leaveout")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "raise RuntimeError('no such luck')",
            "leaving_out:LeaveOut cannot be loaded: no such luck",
        ),
        ("LeaveOut = 3", "leaving_out:LeaveOut is not a subclass of shapley2d.Method"),
    ],
)
def test_a_package_that_is_broken_does_not_break_others(package, monkeypatch, source, message):
    (package / "leaving_out.py").write_text(source)
    monkeypatch.syspath_prepend(package)
    with pytest.warns(InputWarning, match=message):
        assert set(all_methods.__wrapped__()) == set(BUILT_IN)


@dataclass(frozen=True)
class Clash(LeaveOut):
    """A method whose options are called as options of the commands are."""

    name = "clash"
    valid: int = 1
    id: int = 1


def test_options_of_the_commands_come_before_those_of_a_method(monkeypatch):
    monkeypatch.setattr("shapley2d.cli.methods.all_methods", lambda: {"clash": Clash})

    def command(
        valid: Annotated[str, option(None, "", "")] = "",
        row_id: Annotated[str, option(None, "", "", "--id")] = "",
        **options: Any,
    ):
        pass

    names = [*inspect.signature(with_methods(command)).parameters]
    assert sorted(names) == ["n_votes", "row_id", "signs", "valid"]


def test_the_command_line_has_the_method_of_another_package(package):
    X, y, X_valid, y_valid = TABLES
    X.assign(y=y).to_csv(package / "t.csv", index=False)
    X_valid.assign(y=y_valid).to_csv(package / "valid.csv", index=False)
    places = os.pathsep.join([str(package), str(ROOT / "src")])

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, "-m", "shapley2d", "cells", *arguments],
            cwd=package, env={**os.environ, "PYTHONPATH": places, "COLUMNS": "200"}, text=True,
            capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    told = run("--help")
    assert f"leave-out  {LeaveOut.summary}" in " ".join(told.split("\n"))
    assert "--n-votes" in told and "Number of neighbours that vote" in told
    asked = ("t.csv", "-t", "y", "--valid", "valid.csv", "--method", "leave-out")
    run(*asked, "--n-votes", "3", "--report", "r.html", "-o", "v.csv")
    values = pd.read_csv(package / "v.csv")["value"].to_numpy().reshape(20, 3)
    expected = value_cells(*TABLES, method=LeaveOut(n_votes=3)).values
    np.testing.assert_allclose(values, expected, atol=1e-12)
    page = (package / "r.html").read_text(encoding="utf-8")
    assert LeaveOut.how in page and "LeaveOut(n_votes=3)" in page


CHECKED = """
from shapley2d import KNN, value_cells
value_cells([[0.0], [1.0]], [0, 1], method=KNN(n_neighbors=3))
KNN(n_neighbours=3)
KNN(n_neighbors="three")
value_cells([[0.0], [1.0]], [0, 1], n_neighbors=3)
value_cells([[0.0], [1.0]], [0, 1], method=3)
"""


@pytest.mark.slow
def test_a_type_checker_sees_options(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed")
    (tmp_path / "checked.py").write_text(CHECKED)
    monkeypatch.setenv("MYPYPATH", str(ROOT / "src"))
    monkeypatch.chdir(ROOT)  # with the settings and the cache of its own check
    out, err, code = api.run([str(tmp_path / "checked.py")])
    assert code == 1 and not err
    found = [line.partition("checked.py:")[2] for line in out.splitlines() if " error: " in line]
    assert [int(line.split(":")[0]) for line in found] == [4, 5, 6, 7]
    assert 'Unexpected keyword argument "n_neighbours" for "KNN"' in found[0]
    assert 'incompatible type "str"; expected "int"' in found[1]
    assert 'Unexpected keyword argument "n_neighbors" for "value_cells"' in found[2]
    assert 'incompatible type "int"; expected "str | Method | Estimator"' in found[3]


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
def test_the_method_that_contributors_read_runs_as_written():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    found = {}
    exec(code, found)
    assert found["v"].info["method"] == "halves"
    assert found["v"].stderr.any()
