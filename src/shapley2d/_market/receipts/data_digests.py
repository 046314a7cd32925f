"""What a receipt needs to know of the data: digests of what owners brought, and of the test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._market.receipts.block_digest import RowDigests, canonical_json, described, sha256
from shapley2d._tables.target import with_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._market.job import BlocksJob
    from shapley2d._market.regions import Regions
    from shapley2d._tables.problem import Split, Tables
    from shapley2d._tables.target import Target


def data_digests(job: BlocksJob, target_name: str) -> dict[str, Any] | None:
    """Digests of the tables behind a valuation, as plain JSON values; None without owners."""
    regions = job.named.regions
    if regions is None:
        return None
    table, target = job.tables.table, job.tables.target  # before copies were merged
    label = job.named.label
    valued = table if label is None else with_label(table, target, label)
    rows = RowDigests(valued.columns, target.y.tolist())
    names = [column.name for column in valued.columns]
    return {
        "columns": described(valued.columns),
        "owners": _of_owners(regions, rows),
        "claims": sha256(canonical_json(_claims(regions, names))),
        "validation": _of_validation(job.tables),
        "table": rows.whole()[1],
        "target": target_name,
        "target_kind": "number" if target.y.dtype.kind in "iuf" else "text",
    }


def _of_owners(regions: Regions, rows: RowDigests) -> list[dict[str, Any]]:
    lines = []
    for number, name in enumerate(regions.names):
        held = regions.cells_of(number)
        there = np.flatnonzero(held.any(axis=1))
        plain, labelled = rows.block(there, held[there])
        sizes = {"n_rows": int(there.size), "n_cells": int(held.sum())}
        lines.append({"owner": name, "block": plain, "labelled": labelled, **sizes})
    return lines


def _claims(regions: Regions, names: list[str]) -> list[Any]:
    """Who has which rows and columns, in one order."""
    return sorted(
        [
            regions.names[owner],
            sorted(names[j] for j in np.flatnonzero(columns)),
            np.flatnonzero(rows).tolist(),
        ]
        for owner, rows, columns in zip(
            regions.owner.tolist(), regions.rows, regions.columns, strict=True
        )
    )


def _of_validation(tables: Tables) -> dict[str, Any] | None:
    """The validation table with its labels and weights; None where the method uses none."""
    split = tables.split
    if split is None or not tables.validates:
        return None
    digests = RowDigests(split.valid.columns, _weighted(split.y_valid, split.valid_weights))
    return {"rows": digests.whole()[1], "n_rows": split.valid.n_rows}


def in_one_order(split: Split) -> Split:
    """The validation rows in an order of their own, so that payments do not depend on another."""
    keys: list[NDArray[Any]] = []
    for column in split.valid.columns:
        entries = np.nan_to_num(column.entries, nan=-np.inf)
        if column.kind == "category":  # codes depend on the order of rows, texts do not
            place = np.append(np.argsort(np.argsort(np.array(column.categories, dtype=str))), -1)
            entries = place[np.where(np.isinf(entries), -1, entries).astype(np.intp)]
        keys.append(entries)
    weights = split.valid_weights
    keys += [np.unique(split.y_valid.y.astype(str), return_inverse=True)[1]]
    keys += [] if weights is None else [weights]
    order = np.lexsort(keys)
    return split.take_valid(order)


def _weighted(target: Target, weights: NDArray[np.float64] | None) -> list[Any]:
    """The labels, with the weight of the row where there are any."""
    labels: list[Any] = target.y.tolist()
    if weights is None:
        return labels
    return [f"{label} x {weight!r}" for label, weight in zip(labels, weights.tolist(), strict=True)]
