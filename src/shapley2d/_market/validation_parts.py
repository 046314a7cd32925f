"""How much values depend on the validation rows: a jackknife of parts (Tukey, 1958).

The validation rows are dealt to parts; each is left out in turn. Every such valuation repeats the
work of the first, so that only the validation rows, and the seed of a model that draws, differ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import Pace, reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._models.model_games import part_shares
from shapley2d._tables.problem import weigh_problem
from shapley2d.exceptions import InputError, OutOfTimeError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._methods.method import Method
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

DEFAULT_PARTS = 10


def deal_parts(problem: Problem, n_parts: int, seed: int) -> list[Ints]:
    """The part of every validation row, for each split: at random, of nearly equal sizes."""
    smallest = min(split.valid.n_rows for split in problem.splits)
    if not 2 <= n_parts <= smallest:
        raise InputError(
            Setting("valid_parts", n_parts),
            f" must be a whole number from 2 to {smallest}, the number of validation rows, or 0",
        )
    parts = []
    for number, split in enumerate(problem.splits):
        random = generator(seed, "validation groups", number)
        parts.append(random.permutation(np.arange(split.valid.n_rows) % n_parts))
        shares = part_shares(split, parts[-1])
        if split.valid_weights is not None and not ((shares > 0) & (shares < 1)).all():
            raise InputError(
                Setting("valid_parts", n_parts),
                " makes a part, or its complement, without any weight: use another number, or 0",
            )
    return parts


def problem_of_part(problem: Problem, parts: list[Ints], number: int, *, alone: bool) -> Problem:
    """The problem with one part as its only validation rows, or with all others."""
    splits = [
        split.take_valid(np.flatnonzero((one == number) == alone))
        for split, one in zip(problem.splits, parts, strict=True)
    ]
    return replace(problem, splits=splits)


def block_replicates(
    problem: Problem,
    run: Run,
    method: Method,
    blocks: Callable[[Floats], Floats],
    whole: Floats,
    n_parts: int,
) -> Floats | None:
    """Blocks without each part of the validation rows: (parts, row sets, column sets).

    Ctrl-C and a time limit give up all of them: what ended early could not be compared.
    """
    parts, pace = deal_parts(problem, n_parts, run.seed), Pace()
    found = np.empty((n_parts, *whole.shape))
    # where values are means over validation rows, those of a part tell those without it; weights
    # that make a mean of the score are those of all rows, not of each part by itself
    alone = method.averages
    asked = replace(weigh_problem(problem), scoring=None) if alone else problem
    try:
        with reporting(run.progress, "other validation rows") as report:
            for k in range(n_parts):
                one = problem_of_part(asked, parts, k, alone=alone)
                with without_warnings():
                    found[k] = blocks(method.solve(one, run.quiet()).values)
                pace.tick()
                if run.limit is not None:
                    run.limit.check((n_parts - k - 1) * (pace.seconds() or 0.0))
                report((k + 1) / n_parts, f"{k + 1} of {n_parts} parts")
    except (KeyboardInterrupt, OutOfTimeError) as end:
        why: tuple[Any, ...] = ("interrupted while other validation rows were tried",)
        if isinstance(end, OutOfTimeError):
            limit = Setting("max_time", run.limit)
            why = (limit, " left too little time for other validation rows")
        warn(PrecisionWarning(*why, ": the intervals leave out what these would change"))
        return None
    if not alone:
        return found
    both = zip(asked.splits, parts, strict=True)
    share = np.mean([part_shares(split, part) for split, part in both], axis=0)[:, None, None]
    return np.asarray((whole - share * found) / (1 - share))
