"""The one map over threads: order, bounded memory, and a clean end."""

import threading
import time

import numpy as np
import pytest

from shapley2d._base.in_threads import map_columns, map_in_threads
from shapley2d._base.time_limit import TimeLimit
from shapley2d.exceptions import OutOfTimeError


@pytest.mark.parametrize("n_threads", [1, 3])
def test_results_come_in_the_order_of_the_items(n_threads):
    def task(number):
        time.sleep(0.002 * (number % 3 == 0))
        return number**2

    assert list(map_in_threads(task, range(20), n_threads)) == [k**2 for k in range(20)]
    assert list(map_in_threads(task, iter(()), n_threads)) == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_at_most_two_results_per_thread_are_waiting(n_threads):
    begun = []
    results = map_in_threads(begun.append, range(50), n_threads)
    for consumed in range(1, 11):
        next(results)
        time.sleep(0.002)
        assert consumed <= len(begun) < consumed + 2 * n_threads
    results.close()
    assert len(begun) < 10 + 2 * n_threads


def test_the_next_item_is_begun_while_one_is_looked_at():
    begun = threading.Semaphore(0)
    results = map_in_threads(lambda _: begun.release(), range(9), 1)
    next(results)
    assert begun.acquire(timeout=10) and begun.acquire(timeout=10)
    results.close()


def test_no_task_runs_on_the_main_thread():
    (thread,) = map_in_threads(lambda _: threading.current_thread(), [0], 1)
    assert thread is not threading.main_thread()


def test_tasks_see_that_the_consumer_has_stopped():
    stop = np.zeros(1, dtype=bool)

    def task(number):
        while number and not stop[0]:
            time.sleep(0.001)
        return number

    results = map_in_threads(task, range(100), 2, stop=stop)
    assert next(results) == 0
    assert not stop[0]
    results.close()  # returns once the running tasks have ended
    assert stop[0]


def test_a_failure_reaches_the_consumer_in_its_turn_and_stops_the_others():
    stop, begun = np.zeros(1, dtype=bool), []

    def task(number):
        begun.append(number)
        if number == 3:
            raise MemoryError
        return number

    results = map_in_threads(task, range(100), 1, stop=stop)
    assert [next(results) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(MemoryError):
        next(results)
    assert stop[0]
    assert len(begun) <= 5


def test_columns_of_long_tables_are_taken_in_threads():
    def task(_):
        return threading.current_thread() is threading.main_thread()

    assert map_columns(task, "ab", n_rows=10) == [True, True]
    assert map_columns(task, "ab", n_rows=10**6) == [False, False]
    assert map_columns(task, "ab", n_rows=10**6, n_threads=1) == [True, True]


def test_a_task_under_way_is_not_waited_for_when_time_is_up():
    stop = np.zeros(1, dtype=bool)

    def task(number):
        while number and not stop[0]:
            time.sleep(0.001)
        return number

    results = map_in_threads(task, range(2), 1, stop=stop, limit=TimeLimit.of(0.2))
    assert next(results) == 0
    with pytest.raises(OutOfTimeError, match=r"max_time=0.2 is over"):
        next(results)
    assert stop[0]
