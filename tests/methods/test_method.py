"""A method is a frozen dataclass whose fields are its options; a word is one with its defaults."""

from dataclasses import FrozenInstanceError, dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shapley2d import (
    KNN,
    CellValuer,
    Exact,
    Forest,
    InputError,
    Method,
    MonteCarlo,
    Option,
    value_cells,
)
from shapley2d._methods.method import options_of
from shapley2d._valuation.methods import BUILT_IN, find_method


def even(value, name):
    if value % 2:
        raise InputError(f"{name} must be even")


@dataclass(frozen=True, repr=False)
class Toy(Method):
    name, summary = "toy", "one option of each kind"

    n: Annotated[int, Option("how many")] = 2
    share: Annotated[float | None, Option("how much", least=0)] = None
    rule: Annotated[Literal["a", "b"], Option("which")] = "a"
    fast: Annotated[bool, Option("whether")] = False
    thing: Annotated[Any, Option("an even one", check=even)] = 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n=0 must be a whole number of at least 1"),
        ({"n": 2.5}, "n=2.5 must be a whole number"),
        ({"n": None}, "n=None must be a whole number"),
        ({"share": -1.0}, "share=-1.0 must be a number and not be negative"),
        ({"rule": "x"}, "rule='x' is not known: use 'a' or 'b'"),
        ({"fast": "yes"}, "fast='yes' must be True or False"),
        ({"thing": 3}, "thing must be even"),
    ],
)
def test_options_are_checked_when_a_method_is_made(options, message):
    with pytest.raises(InputError, match=message):
        Toy(**options)
    with pytest.raises(InputError, match=message):
        replace(Toy(), **options)


def test_an_option_that_there_is_not_is_a_type_error():
    with pytest.raises(TypeError, match="n_neighbours"):
        KNN(n_neighbours=3)
    with pytest.raises(TypeError, match=r"option of a method, as in method=KNN\(n_neighbors=3\)"):
        value_cells([[1], [2]], [0, 1], [[1]], [0], n_neighbors=3)


def test_a_method_is_a_value():
    method = Toy(n=np.int64(3), share=None)
    assert type(method.n) is int
    assert method == Toy(3) != Toy()
    assert replace(method, n=2, rule="b") == Toy(rule="b")
    assert (method.settings(), Toy().settings()) == ({"n": 3}, {})
    assert repr(replace(method, rule="b")) == 'Toy(n=3, rule="b")'
    with pytest.raises(FrozenInstanceError):
        method.n = 4


def test_fields_say_what_options_are():
    read = options_of(Toy)
    assert list(read) == ["n", "share", "rule", "fast", "thing"]
    assert [one.kind for one in read.values()] == [int, float, str, bool, Any]
    assert [name for name, one in read.items() if one.may_be_none] == ["share"]
    assert read["rule"].choices == ("a", "b")
    assert read["n"].option.help == "how many"


@pytest.mark.parametrize("method", BUILT_IN.values())
def test_the_packages_own_methods_are_complete(method):
    assert method.summary and method.how and method.meaning
    assert method.total or method.name in ("loo", "flat", "oob", "random")  # these have no sum
    for name, one in options_of(method).items():
        assert one.option.help
        assert getattr(method(), name) == one.default
        assert f"\n    {name} : " in method.__doc__
    assert ">>> " in method.__doc__


def test_an_option_of_one_name_is_one_flag():
    """The command line makes it from the first method that has it."""
    read = {}
    for method in BUILT_IN.values():
        for name, one in options_of(method).items():
            read.setdefault(name, []).append((one.choices, one.option.words, one.option.short))
    assert all(len(set(same)) == 1 for same in read.values())


def test_a_word_is_a_method_with_its_defaults():
    words = {"knn": KNN(), "mc": MonteCarlo(), "exact": Exact(), "forest": Forest()}
    assert {word: find_method(word) for word in words} == words
    method = KNN(n_neighbors=3)
    assert find_method(method) is method


def test_an_estimator_is_the_method_that_values_under_it():
    X, y = [[0, 5], [1, 5], [9, 5], [8, 5]] * 5, list("aabb") * 5
    forest, model = RandomForestClassifier(5, random_state=0), GaussianNB()
    v = value_cells(X, y, method=forest, cv=2, progress=False)
    assert v == value_cells(X, y, method=Forest(forest), cv=2, progress=False)
    assert v.info["chosen"].startswith("method forest for RandomForestClassifier: Forest reads")
    assert v.info["chosen"] in repr(v)
    assert find_method(make_pipeline(StandardScaler(), forest)).name == "forest"
    assert find_method(model) == MonteCarlo(model)


def test_a_method_goes_through_scikit_learns_clone():
    method = KNN(n_neighbors=3)
    assert clone(method) == method
    assert clone(CellValuer(method)).get_params()["method__n_neighbors"] == 3
    assert method.get_params()["votes"] == "k"
    assert method.set_params(votes="share") == KNN(n_neighbors=3, votes="share")
    with pytest.raises(ValueError, match=r"KNN has no option 'vote'.*did you mean 'votes'"):
        method.set_params(vote="share")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ("knm", "method='knm' is not known: did you mean 'knn'?"),
        (KNN, r"method is the class KNN: make one, KNN\(\)"),
        (GaussianNB, r"method is the class GaussianNB: make one, GaussianNB\(\)"),
        (3, "method=3 is not known: use "),
    ],
)
def test_what_is_no_method_is_refused(method, message):
    with pytest.raises(InputError, match=message):
        find_method(method)
