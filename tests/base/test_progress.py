"""Progress: life is shown before the first news, and not after the end."""

import time

import pytest

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


def test_the_bar_says_that_code_is_being_compiled(monkeypatch, capsys):
    from shapley2d._base import cache

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


# a run that looks long says so


class Display:
    """Keeps what it is told; the clock of the reports is set by hand."""

    def __init__(self, monkeypatch):
        self.time, self.left, self.said = 0.0, [], []
        monkeypatch.setattr(progress, "now", lambda: self.time)

    def report(self, fraction, note, seconds_left):
        self.left.append(seconds_left)

    def say(self, words):
        self.said.append(words)


def reports(display, *marks, run=None, **options):
    """Report shares at times, and the time left where the third number has it."""
    with progress.reporting(run or display, "work", **options) as report:
        for display.time, fraction, *left in marks:
            report(fraction, "", *left)


@pytest.fixture
def display(monkeypatch):
    return Display(monkeypatch)


def test_a_long_run_says_so_once_in_its_first_seconds(display):
    run = progress.RunProgress(display, takes_limit=True, otherwise="a walk is faster")
    reports(display, (1.0, 0.01), (2.0, 0.02), (4.0, 0.03), (5.0, 0.04), run=run)
    assert display.left == pytest.approx([None, None, 3 / 0.02 * 0.97, 4 / 0.03 * 0.96])
    (said,) = display.said
    assert said == (
        'About 2 min left. max_time="1m" (--max-time 1m) gives the best answer within a minute; '
        "a walk is faster."
    )
    reports(display, (6.0, 0.01), (9.0, 0.02), run=run)  # another part of the same run
    assert len(display.said) == 1


def test_a_run_of_less_than_a_minute_says_nothing(display):
    run = progress.RunProgress(display, takes_limit=True)
    reports(display, (1.0, 0.01), (4.0, 0.06), (60.0, 0.98), run=run)
    assert display.said == []
    assert display.left == pytest.approx([None, 3 / 0.05 * 0.94, 59 / 0.97 * 0.02])


@pytest.mark.parametrize(
    ("marks", "said"),
    [
        ([(9.0, 0.05), (9.5, 0.06)], []),  # workers that start: they count after ten seconds only
        ([(26.0, 0.25)], ["About 1 min 18 s left."]),
        ([(1.0, 0.5, 300.0), (4.0, 0.9, 240.0)], ["About 4 min left."]),  # as the caller knows
        # another stage has a pace of its own
        ([(1.0, 0.5), (5.0, 0.9), (6.0, 0.1), (8.0, 0.11)], ["About 3 min left."]),
        ([(0.5, 0.9), (2.5, 0.901)], ["About 3 min left."]),  # resumed: 2 s for a thousandth
    ],
)
def test_how_much_time_is_left(display, marks, said):
    reports(display, *marks)
    assert display.said == said
    if len(marks) == 4:
        assert display.left == pytest.approx([None, 1.0, None, 2 / 0.01 * 0.89])
    if len(marks[0]) == 3:
        assert display.left == [None, 240.0]  # not of the first piece alone


@pytest.mark.parametrize(
    ("minutes", "limit", "words"),
    [(2, "1m", "a minute"), (14, "1m", "a minute"), (31, "3m", "3 minutes"), (6000, "5m", "5 min")],
)
def test_the_limit_that_is_proposed_goes_with_the_time(display, minutes, limit, words):
    run = progress.RunProgress(display, takes_limit=True)
    reports(display, (1.0, 0.1), (4.0, 0.2, 60.0 * minutes), run=run)
    (said,) = display.said
    assert f'max_time="{limit}" (--max-time {limit}) gives the best answer within {words}' in said


def test_work_that_has_nothing_before_its_end_proposes_no_limit(display):
    run = progress.RunProgress(display, takes_limit=True, otherwise="a walk is faster")
    reports(display, (1.0, 0.1), (4.0, 0.2, 90.0), run=run, in_time="")
    assert display.said == ["About 2 min left. a walk is faster."]


def test_who_asked_for_no_progress_hears_nothing(monkeypatch, capsys):
    display = Display(monkeypatch)
    for silent in (False, None, "auto"):  # standard error is no terminal here
        run = progress.RunProgress(silent, takes_limit=True)
        reports(display, (1.0, 0.1), (4.0, 0.2, 600.0), run=run)
        assert not run.said
    assert capsys.readouterr() == ("", "")


def test_a_bar_and_a_function_say_it_too(monkeypatch, capsys):
    display = Display(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE_S", 0.0)
    run = progress.RunProgress(True, takes_limit=True)  # noqa: FBT003
    reports(display, (1.0, 0.1), (4.0, 0.2, 600.0), run=run)
    told = " ".join(capsys.readouterr().err.split())
    assert 'About 10 min left. max_time="1m" (--max-time 1m) gives the best answer' in told
    heard, display.time = [], 0.0
    run = progress.RunProgress(lambda *report: heard.append(report))
    reports(display, (1.0, 0.1), (4.0, 0.2, 600.0), run=run)
    share = pytest.approx(4 / 604)  # of the time, not the 0.2 that contradict it
    assert heard == [(0.1, ""), (share, "10 min 0 s left"), (share, "About 10 min left.")]
