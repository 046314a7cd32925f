"""The settings that every method shares in one run, and the record of the run."""

from __future__ import annotations

import os
import platform
import sys
import time
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.checks import check_jobs
from shapley2d._base.progress import RunProgress, check_progress
from shapley2d._base.time_limit import TimeLimit
from shapley2d._base.warnings import warn
from shapley2d._base.words import shown
from shapley2d._theory.semivalues import Semivalue, axis_semivalues
from shapley2d._version import __version__
from shapley2d.exceptions import CacheWarning, InputError, PrecisionWarning

if TYPE_CHECKING:
    from shapley2d._estimation.estimate import Estimate


@dataclass(frozen=True)
class Run:
    """The shared settings of a run."""

    seed: int
    semivalues: tuple[Semivalue, Semivalue]  # of the rows and of the columns
    n_jobs: int | None
    progress: Any  # "auto", True, False
    limit: TimeLimit | None = None  # when the answer has to be there; None for as long as it takes
    game: str | None = None  # name of the user's own game, by which its checkpoint knows it
    checkpoint: Any = None  # the file that keeps what is done, and that a run goes on from
    cluster: Any = None  # where to work instead of here: a scheduler's address, a client or a pool
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def create(
        cls,
        random_state: Any = 0,
        semivalue: Any = "shapley",
        n_jobs: int | None = None,
        progress: Any = "auto",
        max_time: Any = None,
        checkpoint: Any = None,
        cluster: Any = None,
    ) -> Run:
        """Check the settings, whether or not the method needs them, and start the clock."""
        limit = None if max_time is None else TimeLimit.of(max_time)
        check_jobs(n_jobs)
        check_progress(progress)
        if checkpoint is not None:  # before anything long is done
            from shapley2d._estimation.checkpoint import check_place

            check_place(checkpoint)
        semivalues = axis_semivalues(semivalue)
        return cls(
            as_seed(random_state), semivalues, n_jobs, progress,
            limit=limit, checkpoint=checkpoint, cluster=cluster,
        )  # fmt: skip

    def quiet(self) -> Run:
        """The run without progress, a time limit or a checkpoint: for one more valuation."""
        return replace(self, progress=False, limit=None, checkpoint=None)

    def advising(self, otherwise: str = "") -> Run:
        """The run of a call that takes a time limit: a long one names it, and another way."""
        if isinstance(self.progress, RunProgress):
            return self
        advised = RunProgress(self.progress, takes_limit=self.limit is None, otherwise=otherwise)
        return replace(self, progress=advised)

    def warn_of_precision(
        self, estimate: Estimate, tolerance: float, limit: str = "", stopped_at: int = 0
    ) -> None:
        """Warn when an estimate ended, at a limit or by Ctrl-C, before it met the tolerance.

        And when one draw decides, which makes its errors wrong. Without a ``limit`` or a tolerance
        a fixed amount of work was asked for.
        """
        if "largest_share" in estimate.info:
            warn(
                PrecisionWarning(
                    f"{estimate.info['caveat']}: a few rare orders decide, so that values and "
                    "intervals can be far off; more draws help where the score has bounds; where "
                    "it has none, as R squared, use another score, or a model that is stable when "
                    "it is trained on little, such as ridge regression"
                )
            )
            return
        interrupted = estimate.info.get("interrupted", False)
        if estimate.info.get("time_up"):
            return  # as asked; the result says how precise it got
        is_done = tolerance == 0 or not limit
        if estimate.info.get("converged", True) or (is_done and not interrupted):
            return
        ratio = estimate.info.get("ratio", np.inf)
        cause = "interrupted" if interrupted else f"stopped at {limit}={shown(stopped_at)}"
        found = f": the largest standard error is {ratio:.3g} of the spread of the values, wanted "
        effect = "; the values are less precise than asked, as their stderr shows"
        if "n_permutations" in estimate.info and "caveat" in estimate.info:
            caveat = estimate.info["caveat"]
            found = f": {caveat}, so up to {ratio:.2g} of all orders can differ, wanted "
            effect = "; what these would change is unknown"
        warn(PrecisionWarning(f"{cause}{found}tolerance={shown(tolerance)}{effect}"))

    def record(self, **facts: Any) -> dict[str, Any]:
        """The record for the result: facts, settings, time and versions, as JSON values."""
        _warn_of_cache()
        if self.limit is not None:
            facts = {"max_time": self.limit.seconds, "time_up": False, **facts}
        record = {
            **facts,
            "semivalue": [list(one) if isinstance(one, tuple) else one for one in self.semivalues],
            "random_state": self.seed,
            "date": f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC",
            "seconds": round(time.perf_counter() - self.started, 3),
            "versions": {
                "shapley2d": __version__,
                "python": platform.python_version(),
                **_versions(),
            },
        }
        return {key: _plain(value) for key, value in record.items()}


@cache
def _versions() -> dict[str, str]:
    """Versions of the packages that bits of a result can depend on; reading them takes a while."""
    return {name: version(name) for name in ("numpy", "numba", "scikit-learn", "scipy")}


_said: set[str] = set()


def _warn_of_cache() -> None:
    """Say once where compiled code is kept, if the usual folders cannot be written to."""
    cache = sys.modules.get("shapley2d._base.cache")  # importing it would import numba
    if cache is not None and cache.NOTE and cache.NOTE not in _said:
        _said.add(cache.NOTE)
        warn(CacheWarning(cache.NOTE))


def _plain(value: Any) -> Any:
    """A setting as JSON can hold it."""
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    plain = isinstance(value, (str, int, float, bool, type(None)))
    return value if plain else shown(value)


def as_seed(random_state: Any) -> int:
    """A whole-number seed from anything that scikit-learn or numpy takes."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0]) >> 1
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if whole and 0 <= random_state < 2**128:
        return int(random_state)
    raise InputError(
        f"random_state={shown(random_state)} must be a whole number, a numpy generator or None"
    )
