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
