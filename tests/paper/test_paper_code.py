"""Kept pieces and the code that computed them: a change of code is noticed, a change of words is not."""

import importlib
import sys
import textwrap
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

import shapley2d
from shapley2d_paper.experiments import EXPERIMENTS, find_experiments
from shapley2d_paper.harness import code
from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.harness.figures import new_figure
from shapley2d_paper.harness.run import run_experiments

SOURCE = """
def work(seed):
    return [{"y": seed + 1}]
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """A run of an experiment whose work has this source."""
    get_reusable_executor().shutdown()  # workers of another test do not know this folder
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setattr("shapley2d_paper.harness.run.library_digest", lambda: "the library")

    def run(source=SOURCE, n_jobs=1):
        (tmp_path / "toy_work.py").write_text(textwrap.dedent(source))
        sys.modules.pop("toy_work", None)
        importlib.invalidate_caches()
        work = importlib.import_module("toy_work").work
        experiment = Experiment(
            name="toy",
            title="A toy",
            about="Counts.",
            pieces=lambda quick: [Piece(f"seed-{seed}", {"seed": seed}) for seed in range(3)],
            work=work,
            draw=lambda records: new_figure(1, 1, 2, 2)[0],
            tables=lambda records: [],
            headline=lambda records: f"{records.mean('y'):g}",
        )
        (outcome,) = run_experiments([experiment], tmp_path / "out", n_jobs=n_jobs, progress=False)
        return outcome

    yield run
    sys.modules.pop("toy_work", None)


@pytest.mark.slow
def test_a_change_of_code_computes_every_piece_again_and_counts_them(toy):
    assert (toy().computed, toy().kept) == (3, 3)
    outcome = toy(SOURCE.replace("seed + 1", "seed + 2"))
    assert (outcome.computed, outcome.kept, outcome.code_changed) == (3, 0, 3)
    assert outcome.headline == "3"
    assert toy(SOURCE.replace("seed + 1", "seed + 2")).code_changed == 0


def test_a_change_of_a_comment_or_a_docstring_does_not(toy):
    toy()
    outcome = toy(
        '''
        """What the toy does."""

        def work(seed):  # a comment
            """It counts."""
            return [{"y": (seed
                           + 1)}]
        '''
    )
    assert (outcome.computed, outcome.kept, outcome.code_changed) == (0, 3, 0)


def test_a_change_of_the_library_computes_again(toy, monkeypatch):
    toy()
    monkeypatch.setattr("shapley2d_paper.harness.run.library_digest", lambda: "another library")
    assert toy().code_changed == 3


@pytest.mark.slow
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_pieces_carry_the_digest_that_the_run_began_with(toy, n_jobs):
    changes_itself = """
    from pathlib import Path

    def work(seed):
        path = Path(__file__)
        path.write_text(path.read_text() + "OTHER = 1\\n")
        return [{"y": seed + 1}]
    """
    assert toy(changes_itself, n_jobs).computed == 3
    assert toy(changes_itself).kept == 3


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_digest_covers_what_computes_an_experiment_and_not_what_shows_it(name):
    (experiment,) = find_experiments([name])
    modules = set(code._modules(experiment.work.__module__))
    assert experiment.work.__module__ in modules and "shapley2d_paper.data.splits" in modules
    shows = {"page", "figure", "claims", "experiment", "harness"}
    assert not [module for module in modules if shows & set(module.split("."))]
    # what it calls directly is covered
    used = {
        value.__module__
        for value in vars(sys.modules[experiment.work.__module__]).values()
        if callable(value)
    }
    ours = {
        one
        for one in used
        if one.startswith("shapley2d_paper.") and not one.startswith("shapley2d_paper.harness")
    }
    assert ours <= modules


@pytest.mark.slow
def test_the_digest_covers_the_library_without_what_shows_results(tmp_path, monkeypatch):
    whole = code.library_digest()
    assert code.library_digest() == whole
    copy = tmp_path / "shapley2d"
    for path in Path(shapley2d.__file__).parent.rglob("*.py"):
        to = copy / path.relative_to(Path(shapley2d.__file__).parent)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(path.read_text())
    monkeypatch.setattr(code, "_folder", lambda package: copy)
    assert code.library_digest() == whole
    for name, counts in (
        ("cli/app.py", False),
        ("_valuation/report/write.py", False),
        ("_knn/kernels/rows.py", True),
    ):
        source = (copy / name).read_text()
        (copy / name).write_text(source + "\n# a comment\n")
        assert code.library_digest() == whole
        (copy / name).write_text(source + "\nANOTHER = 1\n")
        assert (code.library_digest() != whole) == counts
        (copy / name).write_text(source)
