"""The tables and the headline of the experiment on pairs of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.interpretation.work import ALIKE, AUTHORS, UNLIKE

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Records


WITHIN = 0.01
"""Two 1D values are nearly the same where they differ by less than this share of their standard deviation."""


def shown_table(records: Records) -> str | None:
    """The table to show pairs of: the authors' where it is there."""
    tables = records.where(what="pair").distinct("table")
    return AUTHORS if AUTHORS in tables else next(iter(tables), None)


def counts_of(records: Records) -> Records:
    """The counts of the tables that have pairs of nearly the same 1D value; the others have nothing to count."""
    return records.where(lambda row: row["what"] == "count" and row["pairs"] > 0)


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """The pairs that are shown, and how common such pairs are."""
    shown = shown_table(records)
    pairs = [
        {
            "cells": str(row["kind"]),
            "rows": f"{row['row_a']} and {row['row_b']}",
            "same class": "yes" if row["same_class"] else "no",
            "1D values": f"{row['value_a']:.6f}, {row['value_b']:.6f}",
            "correlation": f"{row['correlation']:.2f}",
            "rank correlation": f"{row['rank_correlation']:.2f}",
            "cosine": f"{row['cosine']:.2f}",
        }
        for row in records.where(what="pair", table=shown)
    ]
    counts = []
    for table, part in (
        ("the authors' split", counts_of(records).where(table=AUTHORS)),
        ("splits of ours, mean", counts_of(records).where(lambda row: row["table"] != AUTHORS)),
    ):
        if len(part):
            counts.append(
                {
                    "table": f"{table} ({len(part)})" if len(part) > 1 else table,
                    "pairs of nearly the same 1D value": f"{part.mean('pairs'):.0f}",
                    f"alike (correlation from {ALIKE})": f"{part.mean('alike'):.0%}",
                    f"unlike (up to {UNLIKE})": f"{part.mean('unlike'):.0%}",
                    "alike among all pairs": f"{part.mean('all_alike'):.0%}",
                    "unlike among all pairs": f"{part.mean('all_unlike'):.0%}",
                }
            )
    made = [
        (f"The most alike and the least alike pair of nearly the same 1D value, {shown}", pairs),
        ("How common such pairs are", counts),
    ]
    return [(caption, rows) for caption, rows in made if rows]


def headline(records: Records) -> str:
    """How common either kind is."""
    counts = counts_of(records)
    if not len(counts):
        return "No two rows have nearly the same 1D value."
    return (
        f"Of {counts.mean('pairs'):.0f} pairs of rows with nearly the same 1D value (mean of {_splits(len(counts))}), "
        f"{counts.mean('alike'):.0%} have cells alike and {counts.mean('unlike'):.0%} unrelated or opposed ones."
    )


def _splits(count: int) -> str:
    return f"{count} split{'s' * (count > 1)}"
