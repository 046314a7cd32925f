"""Running experiments: pieces are kept and resumed, files are whole, pages say what the CSV files say."""

import dataclasses
import json
import re
import shutil

import pytest

from shapley2d import __version__
from shapley2d.exceptions import InputError
from shapley2d_paper.experiments import EXPERIMENTS, find_experiments
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece, Unavailable
from shapley2d_paper.harness.figures import line_with_band, new_figure
from shapley2d_paper.harness.records import read_records
from shapley2d_paper.harness.run import run_experiments, show_experiments

done: list[int] = []


def work(seed, size):
    done.append(seed)
    if size < 0:
        raise Unavailable("there is no table of a negative size")
    return [{"method": "1D", "x": x, "y": seed + x / 3} for x in range(size)]


def draw(records):
    figure, axes = new_figure(1, 1, 4, 3)
    line_with_band(axes[0, 0], records, "x", "y", "1D")
    return figure


def judge(records):
    return Judgement("holds in part", f"{records.mean('y'):.2f} | more", "Because <b>it</b> does.")


TOY = Experiment(
    name="toy",
    title="A toy & more",
    about="Counts.",
    pieces=lambda quick: [
        Piece(f"seed-{seed}", {"seed": seed, "size": 2}) for seed in range(2 if quick else 3)
    ],
    work=work,
    draw=draw,
    tables=lambda records: [("Records", [{"count": str(len(records))}])],
    headline=lambda records: f"There are {len(records)} records.",
    claims=(Claim("It counts", "all | of them", judge),),
)


@pytest.fixture
def toy():
    done.clear()
    return TOY


def run(experiment, out, **options):
    (outcome,) = run_experiments([experiment], out, n_jobs=1, progress=False, **options)
    return outcome


def test_everything_is_written(toy, tmp_path):
    outcome = run(toy, tmp_path / "out")
    assert (outcome.computed, outcome.kept, outcome.headline) == (3, 0, "There are 6 records.")
    records = read_records(tmp_path / "out" / "toy.csv")
    assert [(row["seed"], row["x"]) for row in records] == [
        (s, x) for s in range(3) for x in range(2)
    ]
    assert records.distinct("version") == [__version__]
    assert records.rows[1]["y"] == pytest.approx(1 / 3, rel=1e-6)
    assert (tmp_path / "out" / "toy.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "out" / "reproduction.md").read_text()
    assert "| It counts | all \\| of them | 1.17 \\| more | ◐ [holds in part](#toy) |" in text
    assert "![A toy & more](toy.png)" in text and "| count |" in text
    page = (tmp_path / "out" / "index.html").read_text()
    assert (
        "A toy &amp; more" in page
        and "There are 6 records." in page
        and "quick run" not in page.lower()
    )


def test_what_is_done_is_not_done_again(toy, tmp_path):
    run(toy, tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
    (tmp_path / "pieces" / "toy" / "seed-1.json").unlink()
    outcome = run(toy, tmp_path)
    assert (outcome.computed, outcome.kept) == (1, 2)
    assert done == [0, 1, 2, 1]
    assert (tmp_path / "toy.csv").read_bytes() == before["toy.csv"]
    assert run(toy, tmp_path, again=True).computed == 3


def test_other_settings_or_another_version_count_as_not_done(toy, tmp_path, monkeypatch):
    run(toy, tmp_path)
    larger = dataclasses.replace(
        toy, pieces=lambda quick: [Piece("seed-0", {"seed": 0, "size": 5})]
    )
    assert run(larger, tmp_path).computed == 1
    monkeypatch.setattr("shapley2d_paper.harness.folder.__version__", "99")
    assert run(toy, tmp_path).computed == 3


def test_pages_and_figures_can_be_made_from_the_csv_files_alone(toy, tmp_path):
    run(toy, tmp_path)
    names = ("toy.png", "index.html", "reproduction.md")
    before = {name: (tmp_path / name).read_bytes() for name in names}
    shutil.rmtree(tmp_path / "pieces")
    for name in names:
        (tmp_path / name).unlink()
    absent = dataclasses.replace(toy, name="absent")
    show_experiments([toy, absent], tmp_path)
    assert {name: (tmp_path / name).read_bytes() for name in names} == before
    assert done == [0, 1, 2] and not (tmp_path / "pieces").exists()
    show_experiments([toy], tmp_path, tmp_path / "elsewhere.md")
    assert (tmp_path / "elsewhere.md").read_bytes() == before["reproduction.md"]


def test_pages_show_what_was_run_before_too(toy, tmp_path):
    other = dataclasses.replace(toy, name="other", title="Another")
    run(toy, tmp_path)
    run(other, tmp_path, on_pages=[toy, other])
    text = (tmp_path / "reproduction.md").read_text()
    assert "## toy" in text and "## other" in text


@pytest.mark.slow
def test_two_workers_write_the_same_file(toy, tmp_path):
    run(toy, tmp_path / "one")
    list(run_experiments([toy], tmp_path / "two", n_jobs=2, progress=False))
    assert (tmp_path / "two" / "toy.csv").read_bytes() == (
        tmp_path / "one" / "toy.csv"
    ).read_bytes()


def test_what_a_machine_lacks_is_left_out_and_said(toy, tmp_path):
    sizes = {0: 2, 1: -1, 2: -1}
    partial = dataclasses.replace(
        toy, pieces=lambda quick: [Piece(f"p{s}", {"seed": s, "size": sizes[s]}) for s in sizes]
    )
    outcome = run(partial, tmp_path)
    assert (outcome.computed, len(outcome.left_out)) == (1, 2)
    reason = "Left out (2 pieces): there is no table of a negative size"
    assert reason in (tmp_path / "reproduction.md").read_text()
    assert reason in (tmp_path / "index.html").read_text()


def test_nothing_available_writes_no_csv(toy, tmp_path):
    nothing = dataclasses.replace(toy, pieces=lambda quick: [Piece("p", {"seed": 0, "size": -1})])
    assert run(nothing, tmp_path).headline == ""
    assert not (tmp_path / "toy.csv").exists()
    for page in ("reproduction.md", "index.html"):
        assert (
            "Not run: toy (there is no table of a negative size)" in (tmp_path / page).read_text()
        )


def test_a_claim_without_numbers_is_said_to_be_open(toy, tmp_path):
    open_claim = Claim("It flies", "far", lambda records: None)
    run(dataclasses.replace(toy, claims=(*toy.claims, open_claim)), tmp_path)
    assert (
        "| It flies | far | | not judged: numbers are missing |"
        in (tmp_path / "reproduction.md").read_text()
    )
    assert "not judged: numbers are missing" in (tmp_path / "index.html").read_text()


def test_quick_and_full_do_not_mix(toy, tmp_path):
    run(toy, tmp_path, quick=True)
    assert "quick run" in (tmp_path / "index.html").read_text()
    with pytest.raises(
        InputError, match="holds a quick run and a full run was asked for: name another folder"
    ):
        run(toy, tmp_path)


def test_a_damaged_piece_is_named(toy, tmp_path):
    run(toy, tmp_path)
    (tmp_path / "pieces" / "toy" / "seed-1.json").write_text("{")
    with pytest.raises(InputError, match=r"seed-1\.json is damaged: delete it"):
        run(toy, tmp_path)


def test_ctrl_c_keeps_what_was_computed(toy, tmp_path):
    def interrupted(seed, size):
        if seed == 1:
            raise KeyboardInterrupt
        return work(seed, size)

    with pytest.raises(KeyboardInterrupt):
        run(dataclasses.replace(toy, work=interrupted), tmp_path)
    assert [path.name for path in (tmp_path / "pieces" / "toy").iterdir()] == ["seed-0.json"]
    outcome = run(toy, tmp_path)
    assert (outcome.computed, outcome.kept) == (2, 1)


def test_experiments_by_name():
    assert [experiment.name for experiment in find_experiments()] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pieces_have_names_of_their_own_and_settings_that_json_can_hold(name):
    (experiment,) = find_experiments([name])
    quick, full = experiment.pieces(quick=True), experiment.pieces(quick=False)
    for pieces in (quick, full):
        assert len({piece.name for piece in pieces}) == len(pieces)
        for piece in pieces:
            assert re.fullmatch(r"[A-Za-z0-9_.-]+", piece.name)
            assert json.loads(json.dumps(piece.settings)) == piece.settings
            assert isinstance(piece.settings["seed"], int)
    assert len(quick) < len(full)
