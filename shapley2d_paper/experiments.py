"""The experiments by name, in the order of the paper."""

from __future__ import annotations

import difflib
from importlib import import_module
from typing import TYPE_CHECKING

from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d_paper.harness.experiment import Experiment

EXPERIMENTS = (
    "removal",
    "outliers",
    "typos",
    "budget",
    "interpretation",
    "blocks",
    "runtime",
    "convergence",
    "detection",
)
"""Names of the experiments; each is a folder whose ``experiment`` has an ``EXPERIMENT``."""


def find_experiments(names: Sequence[str] = ()) -> list[Experiment]:
    """Experiments by name, in the order of the paper; all of them without a name.

    Examples
    --------
    >>> [experiment.name for experiment in find_experiments(["budget", "outliers"])]
    ['outliers', 'budget']
    """
    for name in names:
        if name not in EXPERIMENTS:
            near = difflib.get_close_matches(name, EXPERIMENTS, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"they are {', '.join(EXPERIMENTS)}"
            raise InputError(f"there is no experiment {name!r}: {hint}")
    chosen = [name for name in EXPERIMENTS if not names or name in names]
    return [import_module(f"shapley2d_paper.{name}.experiment").EXPERIMENT for name in chosen]
