"""One rule for tolerance and time: rounds, their ends, limits, Ctrl-C and what is saved."""

import json
import math
import signal
import threading
import time

import numpy as np
import pytest

from shapley2d._base import progress, time_limit
from shapley2d._base.time_limit import TimeLimit
from shapley2d._estimation.checkpoint import Saved
from shapley2d._estimation.draws import OneDraw, Stratum
from shapley2d._estimation.run import run_draws
from shapley2d._estimation.total import Total
from shapley2d.exceptions import InputError, OutOfTimeError, UtilityError
from tests.comparing import same_bits
from tests.listed_draws import Listed, drawn, normal


def run(draws=None, tolerance=0.1, **options):
    return run_draws(draws or Listed(normal), tolerance=tolerance, **options)[0]


def looks(estimate):
    """After how many draws the errors were looked at."""
    return [count for count, _ in estimate.history]


@pytest.fixture
def known_errors(monkeypatch):
    """Errors that are one over the root of the number of draws, or another function of it."""

    def set_to(error):
        monkeypatch.setattr(Total, "ratio", lambda total: error(total.count))

    set_to(lambda count: 1 / math.sqrt(count))
    return set_to


class Clock:
    """A clock that only draws move."""

    time = 0.0

    def takes(self, seconds, draw=normal):
        def slow(number):
            self.time += seconds
            return draw(number)

        return slow


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    for module in (progress, time_limit):
        monkeypatch.setattr(module, "now", lambda: clock.time)
    return clock


class Files:
    """A checkpoint that is always due and keeps every state; ``first`` is one to go on from."""

    write_s = 0.0

    def __init__(self, first=None):
        self.states, self._first = [], first

    def load(self, take, n_bytes):
        if self._first is not None:
            count, arrays, facts = self._first
            take(Saved(count, arrays, json.loads(facts)))

    def due(self):
        return True

    def save(self, count, arrays, facts):
        copies = {name: np.array(one) for name, one in arrays.items()}
        self.states.append((count, copies, json.dumps(facts)))


# rounds


def test_rounds_double_until_the_errors_say_where_to_end(known_errors):
    found = run()
    assert looks(found) == [8, 16, 32, 64, 100] and found.history[-1][1] == 0.1
    assert found.info == {"n_draws": 100, "converged": True, "interrupted": False, "ratio": 0.1}
    assert looks(run(tolerance=1.0)) == [8]
    few = run(Listed(normal, count=70))
    assert looks(few) == [8, 16, 32, 64, 70] and not few.info["converged"]
    assert looks(run(Listed(normal, count=70), tolerance=0.0)) == [8, 16, 32, 64, 70]


@pytest.mark.parametrize(("first", "expected"), [(3, [3, 6, 12, 24, 48, 96, 102]), (12, [12, 24])])
def test_a_run_ends_with_a_whole_pass(known_errors, first, expected):
    tolerance = 0.1 if first == 3 else 0.22  # 21 draws would do
    draws = Listed(normal, first=first, a_pass=6, whole_passes=True)
    assert looks(run(draws, tolerance)) == expected


def test_draws_without_an_error_come_first(known_errors):
    known_errors(lambda count: 1 / math.sqrt(count - 5))
    assert looks(run(Listed(normal, sure=5))) == [8, 11, 17, 29, 53, 101, 105]


def test_of_a_finite_list_as_many_are_drawn_as_the_rest_leaves_open(known_errors):
    known_errors(lambda count: math.sqrt(1 / count - 1 / 1000))
    assert looks(run(Listed(normal, first=200, a_pass=1000), 0.05)) == [200, 286]


class Levels(Listed):
    """Larger draws, of which one is as good as five."""

    def better(self, count, ratio, tolerance):
        return (0, 0.0) if self.level else (5, 100.0)

    def at(self, level):
        return Levels(lambda number: normal((number, level)), first=4, level=level)


def test_larger_draws_start_again_where_they_cost_less(known_errors):
    files, larger = Files(), run(Levels(None).at(5))
    found = run(Levels(normal), checkpoint=files)
    assert same_bits(found, larger) and looks(found) == [4, 8, 16, 32, 64, 100]
    counts = [count for count, *_ in files.states]
    assert counts == [*range(1, 9), *range(1, 101)]
    for state in files.states[::25]:  # of small and of large draws
        assert same_bits(run(Levels(normal), checkpoint=Files(state)), larger)


@pytest.mark.parametrize(("seconds", "level"), [(107.5, 0), (109.0, 5)])
def test_larger_draws_must_fit_the_time_that_is_left(known_errors, clock, seconds, level):
    draws = Levels(clock.takes(1.0), known={"small": clock})
    found = run(draws, limit=TimeLimit.of(seconds))
    assert looks(found) == ([4] if level else []) + [8, 16, 32, 64, 100]
    assert clock.time == (8 if level else 100)  # larger ones take none here


def test_validation_rows_that_leave_more_open_than_draws_end_a_run():
    """Their error is in every draw, and more of these would not make it smaller."""

    def draw(number):
        cells = normal(number) / 6
        lines = np.full((3, 2, 50), 0.1 / np.sqrt(50))
        return drawn(np.concatenate([cells[:, :, None], lines], axis=2))

    found = run(Listed(draw, lines=50), 0.02)
    without = run(Listed(lambda number: normal(number) / 6), 0.02)
    assert found.info["converged"] and 0.02 < found.info["ratio"] < 0.08
    assert found.info["n_draws"] < without.info["n_draws"] / 4


# limits


def test_a_draw_that_would_end_late_is_not_begun(known_errors, clock):
    found = run(Listed(clock.takes(3.0), first=4), limit=TimeLimit.of(20))
    assert (found.info["time_up"], found.info["n_draws"], clock.time) == (True, 6, 18.0)


def test_without_an_answer_a_run_goes_on_a_little(clock):
    few = Listed(clock.takes(21.5), first=2)
    assert (
        run(few, limit=TimeLimit.of(21)).info["n_draws"] == 2
    )  # the second began half a second late
    files, clock.time = Files(), 0.0
    with pytest.raises(
        OutOfTimeError, match="max_time=10 is over: there is no first result after 12 s"
    ):
        run(Listed(clock.takes(12.5), first=2), limit=TimeLimit.of(10), checkpoint=files)
    assert [count for count, *_ in files.states] == [1]


def test_a_whole_sum_has_no_answer_before_its_end(clock):
    def whole(count, **options):
        draws = Listed(clock.takes(1.0), count=count, exact=True, strata=[Stratum(size=count)])
        return run(draws, **options)

    told = []
    found = whole(4, progress=lambda *one: told.append(one))
    assert [share for share, _ in told] == [0.25, 0.5, 0.75, 1.0]
    assert [words for _, words in told][2:] == ["3 of 4 draws; 1 s left", "4 of 4 draws"]
    np.testing.assert_allclose(found.values, sum(map(normal, range(4))))
    assert not found.stderr.any() and found.dof == math.inf and found.info == {"n_draws": 4}
    clock.time = 0.0
    with pytest.raises(OutOfTimeError):
        whole(40, limit=TimeLimit.of(10))
    assert clock.time == 12.0  # a tenth late, and the draw that had begun


def test_the_share_is_of_what_fits_the_limit(known_errors, clock):
    told = []
    limit = TimeLimit.of(40.5)
    run(Listed(clock.takes(1.0)), 0.001, progress=lambda *one: told.append(one), limit=limit)
    assert [one[0] for one in told[:2]] == [0.0, 0.0] and told[0][1] == "1 of 1,000,000 draws"
    assert (
        told[19][1] == "error 0.250 of the spread, wanted 0.001; 20 of 1,000,000 draws; 20 s left"
    )
    assert len(told) == 40 and told[19][0] == pytest.approx(20 / 40.5, abs=0.02)


# Ctrl-C, and draws that fail


def test_ctrl_c_while_a_draw_is_added(monkeypatch):
    add, files = Total.add, Files()

    def slow(total, draw):
        if total.count == 11:
            time.sleep(0.1)  # until the main thread waits
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.2)
        add(total, draw)

    with monkeypatch.context() as patch:
        patch.setattr(Total, "add", slow)
        found = run(tolerance=1e-6, checkpoint=files)
    assert found.info["interrupted"] and found.info["n_draws"] == files.states[-1][0] == 12
    assert same_bits(found, run(Listed(normal, count=12)))


def fails(error, at=5):
    def draw(number):
        if number == at:
            raise error
        return normal(number)

    return draw


def test_ctrl_c_without_an_answer_is_raised():
    with pytest.raises(KeyboardInterrupt):
        run(Listed(fails(KeyboardInterrupt())))


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (ValueError("no such\nluck"), UtilityError, "^forest: draw 5 failed: no such luck$"),
        (MemoryError(), UtilityError, "^forest: draw 5 failed: MemoryError$"),
        (InputError("a bad option"), InputError, "^a bad option$"),
        (UtilityError("no model"), UtilityError, "^no model$"),
    ],
)
def test_a_draw_that_fails_is_named_and_the_sum_so_far_is_kept(error, kind, words):
    files = Files()
    with pytest.raises(kind, match=words):
        run(Listed(fails(error)), title="forest", checkpoint=files)
    assert files.states[-1][0] == 5
    assert same_bits(run(checkpoint=Files(files.states[-1])), run())


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (
            np.zeros((2, 2)),
            r"draw 5 has values of shape \(2, 3\), not \(3, 3\): a row for every row",
        ),
        (
            np.zeros((3, 3)),
            r"shape \(3, 4\), not \(3, 3\): .* and one more for what the labels alone",
        ),
        (
            np.full((3, 2), np.nan),
            "draw 5 has values that are not finite numbers; .* in larger units",
        ),
    ],
)
def test_what_is_no_draw_is_refused(cells, words):
    with pytest.raises(UtilityError, match=f"^valuing: .*{words}"):
        run(Listed(lambda number: cells if number == 5 else normal(number)))


def test_a_draw_that_could_not_be_added_is_not_saved(monkeypatch):
    add, files = Total.add, Files()

    def failing(total, draw):
        add(total, draw)
        if total.count == 5:
            raise MemoryError

    monkeypatch.setattr(Total, "add", failing)
    with pytest.raises(MemoryError):
        run(checkpoint=files)
    assert files.states[-1][0] == 4


# going on


def test_a_run_goes_on_from_any_state_as_if_never_stopped():
    files = Files()
    whole = run(tolerance=0.1, checkpoint=files)
    assert [count for count, *_ in files.states] == [*range(1, whole.info["n_draws"] + 1)]
    for state in files.states[::7]:
        further = Files(state)
        found = run(tolerance=0.1, checkpoint=further)
        assert same_bits(found, whole) and found.history == whole.history
        assert found.info["resumed_at"] == state[0]
        assert not further.states or further.states[-1][2] == files.states[-1][2]


@pytest.mark.parametrize("allowed", [3, 8, 12])
def test_more_draws_may_be_allowed_and_errors_be_smaller(allowed):
    files, whole = Files(), run(tolerance=0.1)
    run(Listed(normal, count=allowed), 0.1, checkpoint=files)
    further = run(tolerance=0.1, checkpoint=Files(files.states[-1]))
    assert same_bits(further, whole) and further.history == whole.history
    finer = run(tolerance=0.06, checkpoint=Files(files.states[-1]))
    assert finer.info["n_draws"] > whole.info["n_draws"]
    assert same_bits(finer, run(Listed(normal, count=finer.info["n_draws"]), 0.0))


def test_a_run_with_more_draws_than_are_allowed_returns_at_once():
    files, told = Files(), []
    whole = run(Listed(normal, count=20), 0.0, checkpoint=files)
    fewer = run(
        Listed(None, count=10),
        0.0,
        checkpoint=Files(files.states[-1]),
        progress=lambda *one: told.append(one),
    )
    assert same_bits(fewer, whole) and fewer.info["n_draws"] == 20
    assert told == [(0.0, "resumed at 20 of 10 draws")]


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"round_end": 2**40}, "end of its round"),
        ({"round_end": 4}, "end of its round"),
        ({"round_end": None}, "end of its round"),
        ({"history": [[6, 0.5]]}, "history"),
        ({"history": [[3, 0.5], [3, 0.4]]}, "history"),
        ({"history": None}, "history"),
        ({"level": -1}, "level"),
        ({"level": None}, "level"),
    ],
)
def test_unsound_facts_are_refused(facts, words):
    files = Files()
    run(Listed(normal, count=5), checkpoint=files)
    count, arrays, saved = files.states[-1]
    crafted = json.dumps(json.loads(saved) | facts)
    with pytest.raises(ValueError, match=words):
        run(checkpoint=Files((count, arrays, crafted)))


def test_an_exact_sum_has_no_more_draws_than_there_are():
    files, exact = Files(), {"exact": True, "strata": [Stratum(size=1.0)]}
    run(Listed(normal, count=5, **exact), checkpoint=files)
    with pytest.raises(ValueError, match="it counts 5 draws of 4"):
        run(Listed(normal, count=4, **exact), checkpoint=Files(files.states[-1]))


def test_values_that_are_known_are_one_draw():
    values = np.arange(6.0).reshape(3, 2)
    draws = OneDraw(values, np.array([1.0, 0.0, 2.0]), {"n_models": 7})
    (found, _), (added, _) = (
        run_draws(draws, first=first) for first in (None, np.array([0.5, 0.0]))
    )
    np.testing.assert_array_equal(found.values, values)
    np.testing.assert_array_equal(added.values, values + np.outer([1, 0, 2], [0.5, 0]))
    assert found.info == {"n_models": 7} and not found.stderr.any() and not found.history
