"""What a run says of itself.

``Valuation.info`` is JSON, to which every method may add facts of its own (`Run.record` writes it).
Those that print, page and record speak of are read here, once, by their types.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from shapley2d._base.json_record import make_of
from shapley2d._valuation.units import Score  # noqa: TC001  (make_of reads the types)


@dataclass(frozen=True)
class About:
    """The words about a method that a result keeps."""

    total: str | None = None  # what the values sum to; empty where the sum means nothing
    how: str = ""
    meaning: str = "what it adds to the performance"
    certainty: str = "exact"
    caution: str = ""


@dataclass(frozen=True)
class RunFacts:
    """The facts of a run that a result speaks of."""

    method: str | None = None
    model: str | None = None
    n_neighbors: int | None = None
    task: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    about: About = field(default_factory=About)
    chosen: str = ""  # why an estimator was valued by this method
    # what was valued
    players: list[str] | tuple[str, str] | None = None  # of rows and columns, if these are groups
    label: str | None = None
    n_repeated: int = 0
    semivalue: list[Any] | None = None
    # on which rows
    n_valid: int | None = None
    n_valid_used: int | None = None
    folds: int | None = None
    splits: str = ""
    # by which score
    score: Score | None = None
    baseline: str = ""
    baseline_utility: float | None = None
    model_score: float | None = None
    unexplained: float = 0.0
    # how it ended
    converged: bool = True
    tolerance: float | None = None
    time_up: bool = False
    max_time: float | None = None
    seconds: float = 0.0
    caveat: str = ""
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, info: dict[str, Any]) -> RunFacts:
        """The facts in a record; a ValueError says in a phrase what is not of its type."""
        settings = info.get("settings") or {}
        return make_of(cls, {"tolerance": settings.get("tolerance"), **info})

    @property
    def sums_to_score(self) -> bool:
        """Whether the sum of all values means something."""
        return bool(self.about.total) and self.semivalue == ["shapley"] * 2
