"""What a run chooses by how much there is to do, before it starts: so a plan can say what a run will."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d._knn.small_table import SMALL_GAME
from shapley2d._methods.knn.bin_correction import SAMPLE, SAMPLE_ROWS
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._tables.problem import Problem

FEW_COLUMNS = 10
"""Up to here all column coalitions (at most 1,024) are evaluated without asking whether sampling is cheaper."""

MAX_EXACT_COLUMNS = 24
"""Beyond here the exact column axis is refused: it would take 2^25 evaluations and more."""

MAX_SAMPLED_COLUMNS = 1024
"""Beyond here the sampled column axis is refused, too: its regressions take the third power of their number."""

SMALL_WORK = 2.0**31
"""Triples of row, validation row and column subset that the exact form does in seconds."""

FEW_PAIRS = 16.0
"""The fast form pays from this many pairs of validation row and column subset for each of its sample on."""

SAMPLE_COST = 4.0
"""The same for the largest sample: the exact form takes four to five times as long (``benchmarks/knn.py kernel``)."""

TYPICAL_COALITIONS = 512
"""What sampling to the default tolerance takes, give or take a doubling."""


def amount_of_work(
    problem: Problem, subsets: str, n_subsets: int | None, tolerance: float
) -> float:
    """About how many triples of row, validation row and column coalition there are to evaluate."""
    n_columns = problem.table.n_columns
    everything = takes_all_subsets(subsets, n_columns, n_subsets, tolerance)
    evaluated = 2.0**n_columns if everything else float(n_subsets or TYPICAL_COALITIONS)
    return evaluated * sum(
        float(split.train.n_rows) * split.valid.n_rows for split in problem.splits
    )


def is_small(work: float, form: str) -> bool:
    """Whether the kernels of small tables are done before those of large ones are compiled."""
    return form != "fast" and work <= SMALL_GAME


def sampling_limit(subsets: str, n_columns: int, n_subsets: int | None) -> int | None:
    """Where sampling ends and all subsets are evaluated instead; None where they never are."""
    may_fall_back = subsets == "auto" and n_subsets is None and n_columns <= MAX_EXACT_COLUMNS
    return 2 ** (n_columns - 2) if may_fall_back else None


def refuse_all_subsets(subsets: str, n_columns: int) -> None:
    """Refuse all subsets of more columns than anyone can wait for."""
    if subsets == "all" and n_columns > MAX_EXACT_COLUMNS:
        raise InputError(
            Setting("subsets", "all"),
            f" needs 2^{n_columns} column coalitions for {n_columns} columns: use ",
            Setting("subsets", "sampled"),
        )


def refuse_wide(n_columns: int) -> None:
    """Refuse, before anything long is done, more columns than the regression over coalitions of them can take."""
    if n_columns > MAX_SAMPLED_COLUMNS:
        raise InputError(
            f"{n_columns:,} columns are more than the {MAX_SAMPLED_COLUMNS:,} that ",
            Setting("method", "knn"),
            " can take: use ",
            Setting("method", "mc"),
            " with ",
            Setting("model", "knn"),
            ", value groups of columns as blocks, or drop columns",
        )


def fast_pays(n_rows: int, n_valid: int, n_splits: int, n_subsets: int) -> bool:
    """Whether there is enough to do for the fast form to pay for the sample that is ranked exactly."""
    pairs = float(n_valid) * n_subsets
    return pairs >= FEW_PAIRS * SAMPLE * SAMPLE_ROWS * n_splits and n_rows * pairs >= SMALL_WORK


def takes_all_subsets(
    subsets: str, n_columns: int, n_subsets: int | None, tolerance: float
) -> bool:
    """Whether all column coalitions are evaluated without asking whether a sample would do."""
    if subsets != "auto":
        return subsets == "all"
    if n_subsets is not None:
        return bool(2**n_columns <= n_subsets)
    return n_columns <= FEW_COLUMNS or (tolerance == 0 and n_columns <= MAX_EXACT_COLUMNS)


def most_sampled_exactly(n_valid: int, n_subsets: int, n_splits: int) -> int:
    """Coalitions that may be ranked exactly, to judge bins, without taking much of the time."""
    return int(n_valid * n_subsets / (SAMPLE_COST * SAMPLE_ROWS * n_splits))
