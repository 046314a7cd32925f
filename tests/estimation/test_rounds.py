"""One rule for tolerance and time: rounds, their ends, limits, Ctrl-C and what is saved."""

import _thread
import json
import math
import time

import pytest

from shapley2d._base import progress, time_limit
from shapley2d._base.time_limit import TimeLimit
from shapley2d._estimation.rounds import Rounds, WholeSum, add_rounds, pieces_needed
from shapley2d.exceptions import OutOfTimeError


class Pieces:
    """A sum of ones whose error is known: 1 / sqrt(count)."""

    def __init__(self, tolerance=0.1, most=10**6, first=8):
        self.count, self.most, self.rounds = 0, most, Rounds(first)
        self.tolerance, self.looks, self.saved = tolerance, [], []

    @property
    def has_error(self):
        return self.count > 1

    def add(self, result):
        self.count += result

    def look(self):
        self.looks.append(self.count)
        ratio = 1 / math.sqrt(self.count)
        return ratio, pieces_needed(self.count, ratio, self.tolerance)

    def note(self):
        return f"{self.count} pieces"

    def save(self, checkpoint):
        self.saved.append((self.count, json.dumps(self.rounds.facts())))


class Files:
    """A checkpoint that is always due."""

    write_s = 0.0

    def due(self):
        return True


def quiet(fraction, note, seconds_left=None):
    pass


def ones(clock=None, seconds=1.0):
    while True:
        if clock is not None:
            clock.time += seconds
        yield 1


@pytest.fixture
def clock(monkeypatch):
    """A clock that only the pieces move."""

    class Clock:
        time = 0.0

    for module in (progress, time_limit):
        monkeypatch.setattr(module, "now", lambda: Clock.time)
    return Clock


def test_rounds_double_until_the_errors_say_where_to_end():
    total = Pieces()
    assert add_rounds(ones(), total, report=quiet) == ""
    assert [count for count, _ in total.rounds.history] == [8, 16, 32, 64, 100]
    assert total.rounds.history[-1] == (100, 0.1)
    total = Pieces(most=70)
    assert add_rounds(ones(), total, report=quiet) == ""
    assert total.count == 70
    total = Pieces(tolerance=1.0, first=3)
    add_rounds(ones(), total, report=quiet)
    assert total.count == 3


def test_a_run_goes_on_from_any_file_as_if_never_stopped():
    whole = Pieces()
    add_rounds(ones(), whole, report=quiet, checkpoint=Files())
    assert len(whole.saved) == 100
    for count, facts in whole.saved[::7]:
        further = Pieces()
        further.count = count
        further.rounds.restore(json.loads(facts), count)
        add_rounds(ones(), further, report=quiet)
        assert further.rounds.facts() == whole.rounds.facts()


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"history": [], "round_end": 2**40}, "end of its round"),
        ({"history": [], "round_end": 4}, "end of its round"),
        ({"history": []}, "end of its round"),
        ({"history": [[6, 0.5]], "round_end": 8}, "history"),
        ({"round_end": 8}, "history"),
    ],
)
def test_unsound_facts_are_refused(facts, words):
    with pytest.raises(ValueError, match=words):
        Rounds(8).restore(facts, 5)


def test_a_piece_that_would_end_late_is_not_begun(clock):
    total = Pieces()
    stop = add_rounds(ones(clock, 3.0), total, report=quiet, limit=TimeLimit.of(20))
    assert (stop, total.count, clock.time) == ("time_up", 6, 18.0)


def test_without_an_answer_a_run_goes_on_a_little(clock):
    total = Pieces()
    stop = add_rounds(ones(clock, 21.5), total, report=quiet, limit=TimeLimit.of(21))
    assert (stop, total.count) == ("time_up", 2)  # the second piece began half a second late
    files, clock.time, total = Files(), 0.0, Pieces()
    with pytest.raises(
        OutOfTimeError, match="max_time=10 is over: there is no first result after 12 s"
    ):
        add_rounds(ones(clock, 12.5), total, report=quiet, limit=TimeLimit.of(10), checkpoint=files)
    assert [count for count, _ in total.saved] == [1]


def test_a_whole_sum_has_no_answer_before_its_end(clock):
    class Whole(WholeSum):
        def add(self, result):
            self.count += result

        def note(self):
            return ""

    shares, total = [], Whole(4)
    assert not add_rounds(ones(clock), total, report=lambda *told: shares.append(told))
    assert shares == [(0.25, "", 3.0), (0.5, "", 2.0), (0.75, "", 1.0), (1.0, "", 0.0)]
    clock.time = 0.0
    with pytest.raises(OutOfTimeError):
        add_rounds(ones(clock), Whole(40), report=quiet, limit=TimeLimit.of(10))
    assert clock.time == 12.0  # a tenth late, and the piece that had begun


def test_the_share_is_of_what_fits_the_limit(clock):
    told = []
    total = Pieces(tolerance=0.001)
    add_rounds(ones(clock), total, report=lambda *one: told.append(one), limit=TimeLimit.of(40.5))
    assert told[0] == (0.0, "1 pieces", None)
    assert told[19] == (pytest.approx(20 / 40.5), "20 pieces", pytest.approx(20.5))
    assert total.count == 40


def test_ctrl_c_while_a_piece_is_added():
    class Slow(Pieces):
        def add(self, result):
            if self.count == 11:
                _thread.interrupt_main()
                time.sleep(0.2)
            self.count += result

    total = Slow()
    assert add_rounds(ones(), total, report=quiet, checkpoint=Files()) == "interrupted"
    assert total.count == 12
    assert total.saved[-1][0] == 12


def test_ctrl_c_without_an_answer_is_raised():
    def stopped():
        yield 1
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        add_rounds(stopped(), Pieces(), report=quiet)


def test_a_piece_that_could_not_be_added_is_not_saved():
    class Failing(Pieces):
        def add(self, result):
            self.count += result
            if self.count == 5:
                raise MemoryError

    total = Failing()
    with pytest.raises(MemoryError):
        add_rounds(ones(), total, report=quiet, checkpoint=Files())
    assert total.saved[-1][0] == 4
