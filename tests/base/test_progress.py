"""Progress: life is shown before the first news, and not after the end."""

from __future__ import annotations

import time

from shapley2d._base import progress


def test_a_bar_appears_before_the_first_report(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.05)
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    with progress.reporting(True, "slow work"):  # noqa: FBT003
        deadline = time.monotonic() + 20
        while "slow work" not in capsys.readouterr().err:
            assert time.monotonic() < deadline, "no bar appeared"
            time.sleep(0.05)


def test_short_work_shows_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_PATIENCE_S", 60.0)
    with progress.reporting(True, "quick work") as report:  # noqa: FBT003
        report(0.5, "half")
    assert not capsys.readouterr().err


def test_a_timer_that_fires_late_opens_nothing(capsys):
    bar = progress._Bar("closed work")
    bar.close()
    bar._open()
    assert not capsys.readouterr().err


def test_the_bar_says_that_code_is_being_compiled(monkeypatch, capsys):
    from shapley2d._kernels import cache

    monkeypatch.setattr(progress, "_PATIENCE_S", 0.05)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    seen = ""
    with progress.reporting(True, "slow work") as report:  # noqa: FBT003
        time.sleep(0.1)
        report(0.1, "row 1")
        for compiles, words in ((True, "compiling"), (False, "row 1")):
            monkeypatch.setattr(cache._watch, "depth", int(compiles))
            capsys.readouterr()
            deadline = time.monotonic() + 20
            while words not in seen:
                assert time.monotonic() < deadline, f"no {words!r} in {seen!r}"
                time.sleep(0.05)
                seen = capsys.readouterr().err
            assert ("compiling" in seen) == compiles
            seen = ""


def test_a_notebook_without_widgets_gets_a_bar_and_no_warning(monkeypatch, capsys):
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress, "find_spec", lambda _: None)
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    with progress.reporting(True, "long work") as report:  # noqa: FBT003  (a warning is an error)
        report(0.5, "half way")
    assert "long work" in capsys.readouterr().err


def test_the_advice_of_a_long_run_is_the_work_s_own(monkeypatch, capsys):
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    monkeypatch.setattr(progress, "_SURE_S", 0.0)
    with progress.reporting(True, "inspecting", "Ctrl-C keeps nothing") as report:  # noqa: FBT003
        report(0.01, "one row", 1000.0)
    told = " ".join(capsys.readouterr().err.split())
    assert "left. Ctrl-C keeps nothing." in told and "keeps the result so far" not in told
