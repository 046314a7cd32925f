"""The identity of the run that a checkpoint belongs to: hashes of the data, and settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._estimation.fingerprint import describe, hash_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target


def fingerprint_problem(problem: Problem) -> dict[str, Any]:
    """Hashes of a problem's tables, targets and splits, and its score."""
    weights = [split.valid_weights for split in problem.splits if split.valid_weights is not None]
    return {
        **({"valid_weight": hash_parts(part.tobytes() for part in weights)} if weights else {}),
        "X": hash_parts(_table_bytes(problem.table)),
        "y": hash_parts(_target_bytes(problem.target)),
        "X_valid": hash_parts(
            part for split in problem.splits for part in _table_bytes(split.valid)
        ),
        "y_valid": hash_parts(
            part for split in problem.splits for part in _target_bytes(split.y_valid)
        ),
        "the training rows": hash_parts(
            split.rows.astype(np.int64).tobytes() for split in problem.splits
        ),
        "the label": "none" if problem.label is None else problem.label,
        "scoring": describe(problem.scoring, "scoring"),
        "baseline": problem.baseline,
        **{
            f"the groups of {axis}": hash_parts([repr(groups.numbers.tolist()).encode()])
            for axis, groups in (("rows", problem.row_groups), ("columns", problem.column_groups))
            if groups is not None
        },
    }


def _table_bytes(table: Table) -> Iterable[bytes]:
    for column in table.columns:
        yield f"{column.name}\n{column.kind}\n{column.categories!r}".encode()
        yield np.ascontiguousarray(column.entries, dtype=np.float64).tobytes()


def _target_bytes(target: Target) -> Iterable[bytes]:
    yield target.task.encode()
    yield repr(target.y.tolist()).encode()
