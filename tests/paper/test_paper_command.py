"""``python -m shapley2d_paper`` on one small experiment, from the shell's side."""

import pytest

from shapley2d_paper.__main__ import main

COMMAND = ["interpretation", "--quick", "--out", "there", "--jobs", "1"]


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHAPLEY2D_DATA", raising=False)

    def run(*more):
        code = main([*COMMAND, *more])
        return code, capsys.readouterr()

    return run


def test_writes_the_files_and_says_so(run, tmp_path):
    code, (out, err) = run()
    assert code == 0
    assert out.startswith("interpretation Of ")
    assert "there/index.html" in out and "there/reproduction.md" in out
    assert "note: interpretation: 1 piece left out" in err  # the authors' own split
    names = {path.name for path in (tmp_path / "there").iterdir()}
    assert names >= {
        "interpretation.csv",
        "interpretation.png",
        "index.html",
        "reproduction.md",
        "run.json",
    }
    assert "**A quick run" in (tmp_path / "there" / "reproduction.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("budget --pages-only", "--pages-only shows all existing results: leave out --quick, --again and names of experiments"),
        ("removel --out there", "there is no experiment 'removel': did you mean 'removal'?"),
        ("budget --out good.csv", "--out good.csv is a file: name a folder"),
        ("budget --out there --page folder.csv", "--page folder.csv: it is a folder, name a file in it"),
        ("budget --out there --page no/page.md", "--page no/page.md: the folder no does not exist, make it first"),
        (f"budget --out there --page {'v' * 300}", "the name is too long, choose a shorter one"),
        ("budget --out there --jobs 0", "--jobs 0 must be a number of workers, or -1 for all cores"),
        ("--pages-only --out empty", "--out empty holds no run to show: compute one first, without --pages-only"),
    ],
)  # fmt: skip
def test_one_line_that_says_what_to_do(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.csv").touch()
    (tmp_path / "folder.csv").mkdir()
    assert main(arguments.split()) == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.slow
def test_again_computes_again_and_the_page_goes_where_it_is_wanted(run, tmp_path):
    run()
    piece = next((tmp_path / "there" / "pieces" / "interpretation").iterdir())
    made = piece.stat().st_mtime_ns
    code, (out, _) = run("--again", "--page", "claims.md")
    assert code == 0 and "claims.md" in out
    assert piece.stat().st_mtime_ns > made
    assert "(there/interpretation.png)" in (tmp_path / "claims.md").read_text(encoding="utf-8")


def test_ctrl_c_says_how_to_go_on(run, monkeypatch):
    def interrupted(*args, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("shapley2d_paper.harness.run._compute", interrupted)
    code, (_, err) = run()
    assert code == 130
    assert "finished pieces are kept in there; run the same command again to go on" in err
