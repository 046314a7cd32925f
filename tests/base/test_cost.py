"""The arithmetic of costs: what workers share, what one process does alone, and how many it takes."""

import numpy as np
import pytest

from shapley2d._base.cost import Cost
from shapley2d._base.progress import announce
from shapley2d._base.words import format_bytes


def test_time_by_workers():
    cost = Cost(alone_s=2.0, shared_s=100.0, pieces=50, handover_s=0.01)
    assert cost.seconds(1) == 102.0  # nothing is handed over
    assert cost.seconds(10) == pytest.approx(2.0 + 10.0 + 0.5)
    assert cost.seconds(40) == pytest.approx(2.0 + 2 * 2.0 + 0.5)  # ten of them have a second piece
    assert cost.seconds(50) == cost.seconds(1000) == pytest.approx(2.0 + 2.0 + 0.5)


def test_waves_wait_for_each_other():
    cost = Cost(alone_s=0.0, shared_s=160.0, pieces=160, waves=10)
    assert cost.seconds(16) == pytest.approx(10.0)
    assert cost.seconds(1000) == pytest.approx(10.0)  # no wave has more pieces


@pytest.mark.parametrize("seed", range(20))
def test_workers_are_the_fewest_that_do_it(seed):
    random = np.random.default_rng(seed)
    cost = Cost(
        *random.uniform(0, 100, 2), int(random.integers(1, 300)), int(random.integers(1, 5)), 1e-3
    )
    times = [cost.seconds(count) for count in range(1, cost.pieces + 1)]
    for wanted in random.uniform(0, 200, 20):
        enough = [count for count, seconds in enumerate(times, start=1) if seconds <= wanted]
        assert cost.workers(wanted) == (enough[0] if enough else None)


def test_more_time_never_takes_more_workers():
    cost = Cost(alone_s=3.0, shared_s=5000.0, pieces=700, waves=7, handover_s=2e-3)
    found = [cost.workers(seconds) for seconds in np.geomspace(4, 6000, 60)]
    known = [count for count in found if count is not None]
    assert found[: len(found) - len(known)] == [None] * (len(found) - len(known))
    assert known == sorted(known, reverse=True)
    assert known[-1] == 1


def test_memory_in_words():
    assert [format_bytes(count) for count in (0, 999_999, 1e6, 8e9)] == [
        "1 kB",
        "1000 kB",
        "1 MB",
        "8.0 GB",
    ]


def test_announcing(capsys):
    announce(progress=False, words="no")
    announce(None, "no")
    announce("auto", "nobody looks")  # standard error is no terminal here
    assert capsys.readouterr().err == ""
    announce(progress=True, words="planned: [bold]2 h")
    assert capsys.readouterr().err == "planned: [bold]2 h\n"
