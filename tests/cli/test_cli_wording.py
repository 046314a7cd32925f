"""The library's messages name flags and files where Python names arguments; quotes stay."""

import pytest
import typer

from shapley2d.cli import wording
from shapley2d.cli.app import load


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("cv=5 is too many for X", "--cv 5 is too many for t.csv"),
        ("row_groups makes groups: leave n_jobs out", "--row-groups makes groups: leave --jobs out"),
        ("method='exact' or method='mc'.", "--method exact or --method mc."),
        ("read them with kinds={'a b': 'text', 'c': 'number'}", "read them with --text 'a b' --number c"),
        ("set include_label=True, or groups='x y'", "set --include-label, or --groups 'x y'"),
        ("groups has 2 groups, too few for cv=5", "--groups has 2 groups, too few for --cv 5"),
        ("semivalue=('beta', 16, 1) is new", "--semivalue '('\"'\"'beta'\"'\"', 16, 1)' is new"),
        ("y is missing in line 3 of X", "t.csv: column 'out' is missing in line 3 of t.csv"),
        ("X_valid has no column 'cv=5 in X'", "v.csv has no column 'cv=5 in X'"),
        ("the column's groups and users' tasks", "the column's groups and users' tasks"),
        ("--drop n_jobs: X.csv has no row_groups/n_jobs.txt", "--drop n_jobs: X.csv has no row_groups/n_jobs.txt"),
        ("the X-ray of x and unknown_name=3", "the X-ray of x and unknown_name=3"),
        ("tolerance=1e-300: max_time=inf", "--tolerance 1e-300: --max-time inf"),
    ],
)  # fmt: skip
def test_arguments_become_flags_and_files(message, words):
    wording.speak_for(load("cells").params)
    wording.call({"X": "t.csv", "y": "t.csv: column 'out'", "X_valid": "v.csv"})
    assert wording.in_words(message) == words


def test_contributors_are_called_by_their_files():
    wording.speak_for(load("fragments").params)
    wording.call({"Bank North": "north.csv", "labels": "all.csv", "has": "h.csv"})
    assert (
        wording.in_words("Bank North has no id 'Bank North'") == "north.csv has no id 'Bank North'"
    )
    assert wording.in_words("labels has no column 'y'") == "all.csv has no column 'y'"


def test_flags_are_those_of_the_command():
    wording.speak_for(load("inspect").params)
    assert wording.in_words("cv=5 and n_jobs=0") == "cv=5 and --jobs 0"
    assert isinstance(load("cells"), typer.core.TyperCommand)
