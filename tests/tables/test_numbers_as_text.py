"""Numbers that validate are not turned into text without a word."""

import numpy as np
import pandas as pd
import pytest

from shapley2d._tables.problem import make_problem
from shapley2d.cli import main
from shapley2d.exceptions import InputWarning


def tables(text="oops", n_text=20, n=40):
    """A seller's text in a column that the others, and the validation rows, hold numbers in."""
    random = np.random.default_rng(0)
    ages = [str(age) for age in random.integers(20, 60, n)]
    X = pd.DataFrame({"age": [text] * n_text + ages[n_text:], "x": random.normal(size=n)})
    X_valid = pd.DataFrame({"age": random.integers(20, 60, n), "x": random.normal(size=n)})
    return X, np.arange(n) % 2, X_valid, np.arange(n) % 2


MESSAGE = r"column 'age' holds numbers, but in the training table text is among them \('oops'\)"


@pytest.mark.parametrize("as_text", [False, True])
def test_text_that_makes_text_of_validation_numbers_is_warned_of(as_text):
    X, y, X_valid, y_valid = tables()
    if as_text:
        X_valid["age"] = X_valid["age"].astype(str)
    with pytest.warns(InputWarning, match=MESSAGE) as caught:
        make_problem(X, y, X_valid, y_valid)
    assert "kinds={'age': 'number'}" in str(caught[0].message)
    with pytest.warns(InputWarning, match="treated as missing"):
        problem = make_problem(X, y, X_valid, y_valid, kinds={"age": "number"})
    assert problem.splits[0].valid.columns[0].kind == "number"


def test_what_the_user_asked_for_is_not_warned_of():
    X, y, X_valid, y_valid = tables()
    make_problem(X, y, X_valid, y_valid, kinds={"age": "text"})
    for data in (X, X_valid):
        data["age"] = pd.Categorical(["12", "13"] * 20)
    make_problem(X, y, X_valid, y_valid)
    X["age"], X_valid["age"] = ["a", "b", "7", "9"] * 10, ["a", "7"] * 20
    make_problem(X, y, X_valid, y_valid)


def test_the_command_line_says_it_in_a_note(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    X, y, X_valid, y_valid = tables()
    X.assign(y=y).to_csv("t.csv", index=False)
    X_valid.assign(y=y_valid).to_csv("v.csv", index=False)
    assert main(["cells", "t.csv", "-t", "y", "--valid", "v.csv"]) == 0
    err = " ".join(capsys.readouterr().err.split())
    assert "note: v.csv: column 'age' holds numbers, but in the training table text is among" in err
    assert "or set --number age; to keep it as text, set --text age" in err
