"""What every method shares in one run: seed, workers, progress, semivalues, and the record of it all."""

from __future__ import annotations

import os
import platform
import time
import warnings
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._theory.semivalues import Semivalue, axis_semivalues
from shapley2d._version import __version__
from shapley2d.exceptions import InputError, PrecisionWarning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._estimation.checkpoint import Checkpoint
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._tables.problem import Problem
    from shapley2d._theory.game import Game


@dataclass
class Run:
    """The shared options of a run, and the facts that its methods add to the record.

    Attributes
    ----------
    seed : int
    semivalues : (Semivalue, Semivalue)
        Of the rows and of the columns.
    n_jobs : int or None
    progress : {"auto", True, False} or callable
    info : dict
        Facts for the result's record.
    identity : dict
        What determines the draws beside seed and semivalues, for a checkpoint to compare.
    """

    seed: int
    semivalues: tuple[Semivalue, Semivalue]
    n_jobs: int | None
    progress: Any
    info: dict[str, Any] = field(default_factory=dict)
    identity: dict[str, Any] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def create(
        cls,
        random_state: Any = 0,
        semivalue: Any = "shapley",
        n_jobs: int | None = None,
        progress: Any = "auto",
    ) -> Run:
        """Check the shared options."""
        if n_jobs is not None and (not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
            raise InputError(f"n_jobs={n_jobs!r} must be a whole number of workers, or -1 for all cores")
        return cls(as_seed(random_state), axis_semivalues(semivalue), n_jobs, progress)

    def identify(self, problem: Problem, **settings: Any) -> None:
        """Note the data and the settings that determine the draws."""
        from shapley2d._estimation.fingerprint import describe, fingerprint_problem

        self.identity = fingerprint_problem(problem)
        self.identity.update({name: describe(value) for name, value in settings.items()})

    def checkpoint(self, path: Any, games: Sequence[Game]) -> Checkpoint | None:
        """The checkpoint at a path, None without one."""
        if path is None:
            return None
        from shapley2d._estimation.checkpoint import Checkpoint
        from shapley2d._estimation.fingerprint import fingerprint_games

        identity = {"random_state": self.seed, "semivalue": self.semivalues, **self.identity}
        return Checkpoint(path, {**identity, **fingerprint_games(games)})

    def warn_of_precision(self, estimate: Estimate, tolerance: float, limit: str) -> None:
        """Say so when an estimate ended before it was as precise as asked."""
        interrupted = estimate.info.get("interrupted", False)
        if estimate.info.get("converged", True) or (tolerance == 0 and not interrupted):
            return  # a tolerance of 0 asks for a fixed amount of work
        cause = "interrupted" if interrupted else f"stopped at {limit}"
        ratio = estimate.info.get("ratio", np.inf)
        warnings.warn(
            f"{cause}: the largest standard error is {ratio:.3g} of the spread of the values, wanted "
            f"tolerance={tolerance:g}; the values are less precise than asked, as their stderr tells",
            PrecisionWarning,
            stacklevel=4,
        )

    def record(self, **facts: Any) -> dict[str, Any]:
        """The run's record for the result: facts, settings, time and versions, as plain JSON values."""
        packages = ("numpy", "numba", "scikit-learn", "scipy")
        record = {
            **facts,
            **self.info,
            "semivalue": [list(one) if isinstance(one, tuple) else one for one in self.semivalues],
            "random_state": self.seed,
            "seconds": round(time.perf_counter() - self.started, 3),
            "versions": {
                "shapley2d": __version__,
                "python": platform.python_version(),
                **{name: version(name) for name in packages},
            },
        }
        return {key: _plain(value) for key, value in record.items()}


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
    return value if isinstance(value, (str, int, float, bool, type(None))) else repr(value)


def as_seed(random_state: Any) -> int:
    """A whole-number seed from whatever scikit-learn or numpy would take.

    Examples
    --------
    >>> as_seed(7)
    7
    """
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1, np.uint64)[0] >> 1)
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if (
        isinstance(random_state, (int, np.integer))
        and not isinstance(random_state, bool)
        and random_state >= 0
    ):
        return int(random_state)
    raise InputError(f"random_state={random_state!r} must be a whole number, a numpy generator or None")


def check_number(value: Any, name: str, *, whole: bool = False, zero: bool = False) -> None:
    """Check that an option is a positive number, or name it."""
    kinds = (int, np.integer) if whole else (int, float, np.integer, np.floating)
    good = isinstance(value, kinds) and not isinstance(value, bool) and (value > 0 or (zero and value == 0))
    if not good:
        least = "not be negative" if zero else "be positive"
        raise InputError(f"{name}={value!r} must be a {'whole ' if whole else ''}number and {least}")
