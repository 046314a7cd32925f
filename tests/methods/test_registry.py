"""A method is declared once: its record, and one line in the registry."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from shapley2d._methods.record import Method, Option, choice, whole
from shapley2d._methods.registry import METHODS, all_options
from sklearn.tree import DecisionTreeClassifier

from shapley2d import Exact, InputError, value_cells
from shapley2d._models.by_name import MODELS, is_built_in, resolve_model

TOY = """
    import json, re, sys
    from dataclasses import replace
    import numpy as np
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._methods import registry
    from shapley2d._methods.record import Method, choice, whole

    def solve(problem, run, *, n_dice, colour):
        values = np.full((problem.table.n_rows, problem.table.n_columns), n_dice / 6)
        return Estimate.exact(values, colour=colour)

    TOY = Method(
        name="dice",
        summary="throws dice",
        solve=solve,
        options=(
            whole("n_dice", 3, "how many to throw"),
            choice("colour", ("white", "black"), "of the dice"),
        ),
        how="throwing {colour} dice",
        meaning="what a die shows",
        total="",
        caution="Dice have no memory.",
        validates=False,
    )
    registry.METHODS["dice"] = TOY  # the one line

    from shapley2d import CellValuer, InputError, value_cells
    from shapley2d.cli import main
    from shapley2d._valuation.method_docs import methods_table, options_table

    X, y = [[1, 2], [3, 4], [5, 6]], ["a", "b", "a"]
    v = value_cells(X, y, method="dice", n_dice=2, progress=False)
    unnamed = replace(TOY, name="other dice")  # one that is not registered
    own = value_cells(X, y, method=unnamed, n_dice=2, progress=False)


    class DiceValuer(CellValuer):
        def __init__(self, *, n_dice=None, colour=None):
            super().__init__("dice")
            self.n_dice = n_dice
            self.colour = colour

    fitted = DiceValuer(n_dice=4, colour="black").fit(X, y)
    v.to_html("toy.html")
    page = re.sub(r"<[^>]+>", "", open("toy.html", encoding="utf-8").read())
    try:
        value_cells(X, y, method="dice", n_dice=0)
        error = ""
    except InputError as caught:
        error = str(caught)
    with open("toy.csv", "w") as file:
        file.write("a,b,y\\n1,2,u\\n3,4,v\\n5,6,u\\n")
    code = main("cells toy.csv -t y --method dice --n-dice 5 --colour black -o toy.parquet".split())
    wrong = main("cells toy.csv -t y --method knn --n-dice 5".split())
    from shapley2d import Valuation

    print(json.dumps({
        "values": v.values.tolist(),
        "about": v.info["about"],
        "call": v.info["call"],
        "own": own.values.tolist(),
        "own_call": own.info["call"],
        "estimator": fitted.values_.tolist(),
        "page": page,
        "error": error,
        "code": [code, wrong],
        "saved": Valuation.load("toy.parquet").values.tolist(),
        "doc": value_cells.__doc__,
        "methods": methods_table(),
        "options": options_table(),
    }))
    main(["cells", "--help"])
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    folder = tmp_path_factory.mktemp("toy")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(TOY)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))
    return json.loads(line) | {
        "help": " ".join(done.stdout.split(line)[1].replace("│", " ").split()),
        "printed": done.stdout,
        "complained": done.stderr,
    }


def test_a_toy_method_works_in_python(toy):
    assert toy["values"] == [[2 / 6] * 2] * 3
    assert toy["estimator"] == [[4 / 6] * 2] * 3
    assert toy["error"] == "n_dice=0 must be a whole number of at least 1"
    assert toy["call"] == 'value_cells(X, y, method="dice", random_state=0, n_dice=2)'
    assert toy["own"] == toy["values"]
    assert toy["own_call"] == "value_cells(X, y, method=method, random_state=0, n_dice=2)"


def test_a_toy_method_works_on_the_command_line(toy):
    assert toy["code"] == [0, 2]
    assert toy["saved"] == [[5 / 6] * 2] * 3
    assert "--n-dice goes with --method dice, not with knn" in toy["complained"]
    assert "dice throws dice" in toy["help"]
    assert "How many to throw. (dice; default: 3)" in toy["help"]
    assert "Dice have no memory." in toy["printed"]


def test_a_toy_method_is_in_the_docs(toy):
    assert '``"dice"``: throws dice.' in toy["doc"]
    assert "``n_dice``, default 3 (dice): how many to throw." in toy["doc"]
    assert "| `dice` | throws dice |" in toy["methods"]
    assert "| `n_dice` | `--n-dice` | dice | `3` | how many to throw |" in toy["options"]
    assert '`"white"`, `"black"`' in toy["options"]


def test_the_report_has_a_toy_methods_words(toy):
    assert toy["about"]["how"] == "throwing white dice"
    for words in (
        "throwing white dice",
        "what a die shows",
        "Dice have no memory.",
    ):
        assert words in toy["page"], words


def test_every_record_is_complete():
    for name, method in METHODS.items():
        assert name == method.name
        assert method.summary and method.how and method.meaning
        assert bool(method.total) != bool(method.caution)
        parameters = inspect.signature(method.solve).parameters
        if not any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
            assert set(parameters) - {"problem", "run"} == {
                option.name for option in method.options
            }
        for option in method.options:
            assert option.help
            option.checked(option.default)


def test_an_option_of_one_name_has_one_flag():
    for takers in all_options().values():
        assert len({option.flag for _, option in takers}) == 1
        assert len({option.choices for _, option in takers}) == 1


def test_defaults_and_checks_are_those_of_the_record():
    method = Method(
        "m",
        "s",
        lambda problem, run: None,
        (whole("n", 2, "x"), choice("c", ("a", "b"), "y"), Option("o", None, "z")),
    )
    assert method.complete({}) == {"n": 2, "c": "a", "o": None}
    assert method.complete({"n": None, "c": "b"}) == {"n": 2, "c": "b", "o": None}
    with pytest.raises(InputError, match="n=0 must be a whole number of at least 1"):
        method.complete({"n": 0})
    with pytest.raises(InputError, match="c='x' is not known: use 'a' or 'b'"):
        method.complete({"c": "x"})
    with pytest.raises(TypeError, match=r"method 'm' has no option 'nn': did you mean 'n'\?"):
        method.complete({"nn": 3})
    with pytest.raises(TypeError, match="method 'm' has no option 'zzz': its options are n, c, o"):
        method.complete({"zzz": 3})


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_models_by_name(name, task):
    if MODELS[name].classifies_only and task == "regression":
        with pytest.raises(
            InputError, match=f"model='{name}' predicts classes, but the task is regression"
        ):
            resolve_model(name, task, {})
        return
    model = resolve_model(name, task, {})
    assert model == name if is_built_in(name) else hasattr(model, "fit")
    assert MODELS[name].summary


def test_a_name_that_is_not_built_in_is_scikit_learns_model():
    X, y = [[0, 1], [1, 0], [2, 3], [3, 1]], [0, 0, 1, 1]
    named, given = (
        value_cells(X, y, X, y, method=Exact(model), random_state=3, progress=False)
        for model in ("tree", DecisionTreeClassifier(random_state=3))
    )
    assert named.info["model"] == given.info["model"] == "DecisionTreeClassifier(random_state=3)"
    np.testing.assert_array_equal(named.values, given.values)
