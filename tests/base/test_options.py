"""Checks of options that every function shares, and messages that carry what they name."""

import pickle

import numpy as np
import pandas as pd
import pytest

from shapley2d import KNN, InputError, MonteCarlo, value_cells, value_game
from shapley2d._base.checks import check_choice, check_number
from shapley2d._base.precision import convergence_ratio
from shapley2d.exceptions import PrecisionWarning

X = np.random.default_rng(0).normal(size=(12, 2))
Y = [0, 1] * 6


def cells(**options):
    return value_cells(X, Y, X, Y, **{"progress": False, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"progress": "bogus"}, "progress='bogus' is not known: use 'auto', True, False or a function"),
        ({"progress": 1}, "progress=1 is not known"),
        ({"cv": "x"}, "cv='x' must be a whole number of at least 2"),
        ({"cv": 1}, "cv=1 must be a whole number of at least 2"),
        ({"cv": True}, "cv=True must be a whole number of at least 2"),
        ({"n_jobs": True}, "n_jobs=True must be a whole number of workers, or -1 for all cores"),
        ({"n_jobs": 0}, "n_jobs=0 must be a whole number of workers"),
        ({"n_jobs": 1.5}, "n_jobs=1.5 must be a whole number of workers"),
        ({"include_label": "x"}, "include_label='x' must be True or False"),
        ({"semivalue": ("beta", float("inf"), 1)}, "semivalue=.* is not known: use 'shapley'"),
        ({"random_state": -1}, "random_state=-1 must be a whole number, a numpy generator or None"),
        ({"method": "nkn"}, "method='nkn' is not known: did you mean 'knn'?"),
        ({"method": []}, r"method=\[\] is not known: use one of 'knn', 'mc'"),
        ({"task": "sorting"}, "task='sorting' is not known"),
    ],
)  # fmt: skip
def test_options_are_checked_even_where_they_are_not_used(options, message):
    """With a validation table there are no folds, and nothing here takes long enough for workers or a bar."""
    with pytest.raises(InputError, match=message):
        cells(**options)


def test_options_may_come_from_arrays():
    """A grid of options in a numpy array or a data frame holds numpy's own strings, numbers and booleans."""
    plain = MonteCarlo("ridge", max_draws=3, tolerance=0)
    numpy = MonteCarlo(np.str_("ridge"), max_draws=np.int64(3), tolerance=np.float64(0))
    assert numpy == plain and type(numpy.max_draws) is int
    asked = cells(method=plain, task="classification")
    found = cells(method=numpy, task=np.str_("classification"), include_label=np.bool_(0))
    assert found == asked and found.info["settings"] == asked.info["settings"]
    assert cells(method=np.str_("knn")) == cells()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: KNN(n_neighbors=np.int64(0)), "n_neighbors=0 must be a whole number"),
        (lambda: KNN(tolerance=float("inf")), "tolerance=inf must be a number and not be negative"),
    ],
)
def test_options_of_methods_are_checked_when_one_is_made(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_games_check_them_too():
    with pytest.raises(InputError, match="progress='bogus'"):
        value_game(lambda S, F: 0.0, 2, 2, progress="bogus")
    with pytest.raises(InputError, match="n_rows=True must be a whole number of at least 1"):
        value_game(lambda S, F: 0.0, n_rows=True, n_columns=2)


@pytest.mark.parametrize("blank", [pd.NA, pd.NaT, None, float("nan"), " "])
def test_a_missing_group_label_is_named(blank):
    with pytest.raises(InputError, match="row_groups is missing in 1 of 12 rows, first in row 1"):
        value_cells(X, Y, X, Y, row_groups=["a", blank, *["b"] * 10])


def test_messages_travel_between_processes():
    for kind in (InputError, PrecisionWarning):
        twin = pickle.loads(pickle.dumps(kind("cv=5 is 'a' thing")))
        assert type(twin) is kind and str(twin) == "cv=5 is 'a' thing"


def test_choices_compare_like_with_like():
    check_choice("a", "option", ("a", "b"))
    with pytest.raises(InputError, match="option=1 is not known"):
        check_choice(1, "option", (True, "b"))
    with pytest.raises(InputError, match="x=nan must be a number and be positive"):
        check_number(float("nan"), "x")


def test_what_is_left_to_converge_counts_the_width_of_intervals():
    values, stderr = np.array([[0.0, 2.0]]), np.array([[0.1, 0.05]])
    assert convergence_ratio(values, stderr) == 0.05
    assert convergence_ratio(values, stderr, 9) == pytest.approx(0.05 * 2.262157 / 1.959964)
    assert convergence_ratio(values, 0 * stderr) == 0.0
    assert convergence_ratio(0 * values, stderr) == np.inf
