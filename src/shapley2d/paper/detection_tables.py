"""The detection benchmark in tables and in two sentences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.paper.detection_means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    best,
    gain,
    gain_error,
    kinds_of,
    methods_of,
    plantings,
    typical_seconds,
)
from shapley2d.paper.scores import SHARES
from shapley2d.paper.tables import TITLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d.paper.records import Records

_FOUND = """\
Share of the errors found in the first 2 % of the cells (labels: of the rows), likewise. As 2 % of the cells and 10 % of
the labels are spoiled, a perfect detector finds 100 % of the cells and 20 % of the labels"""

_REPAIRED = """\
Points of test accuracy gained when the most suspect cells are inspected and the spoiled ones among them get their true
value back: mean of a decision tree and ten nearest neighbours. By kind: after 5 % of the cells (labels: 25 % of the
rows). Over all kinds: with the standard error over the tables, and the share of what repairing every error gains,
which may be above 100 %: some errors happen to do no harm, or even help"""

_NONE = "-"
_WORTH_REPAIRING = 0.1  # points: below this a share of the possible gain is noise


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """All tables of the page."""
    return [
        (f"AUROC by kind of error, {_over(records)}; best in bold", by_kind(records, "auroc")),
        (_FOUND, by_kind(records, "found_2", percent=True)),
        (
            f"Share of the spoiled cells found on the way down, all kinds but labels, {_over(records)}",
            depths(records),
        ),
        (f"The method with the highest AUROC, {_seeds(records)}", winners(records)),
        ("CPU seconds for one table on one core, and average precision over all kinds", costs(records)),
        (_REPAIRED, repairs(records)),
    ]


def by_kind(records: Records, score: str, *, percent: bool = False) -> list[dict[str, str]]:
    """A score by method and kind of error, the best of a kind in bold."""
    methods, kinds = methods_of(records), kinds_of(records)
    columns = {
        KIND_TITLES[kind]: [records.where(method=method, kind=kind).mean(score) for method in methods]
        for kind in kinds
    }
    columns["mean"] = [sum(entries) / len(kinds) for entries in zip(*columns.values(), strict=True)]
    texts = {name: _with_best_in_bold(entries, percent=percent) for name, entries in columns.items()}
    return [
        {"method": method, **{name: column[k] for name, column in texts.items()}}
        for k, method in enumerate(methods)
    ]


def depths(records: Records) -> list[dict[str, str]]:
    """The share of spoiled cells found in the first so many of all cells, by method; labels are left out."""
    cells = records.where(lambda row: row["kind"] != "labels")
    methods = methods_of(cells)
    columns = {
        f"first {100 * share:.0f} %": _with_best_in_bold(
            [cells.where(method=method).mean(f"found_{100 * share:.0f}") for method in methods], percent=True
        )
        for share in SHARES
    }
    return [
        {"method": method, **{name: column[k] for name, column in columns.items()}}
        for k, method in enumerate(methods)
    ]


def winners(records: Records) -> list[dict[str, str]]:
    """Who has the highest AUROC, by dataset and kind."""
    rows = []
    for (dataset,), part in records.groups("dataset"):
        row = {"dataset": TITLES[dataset]}
        for kind in kinds_of(records):
            method, height = best(part, kind, METHODS)
            row[KIND_TITLES[kind]] = f"{method} {height:.2f}" if method else _NONE
        rows.append(row)
    return rows


def costs(records: Records) -> list[dict[str, str]]:
    """Time by dataset, beside the mean of average precision over everything."""
    rows = []
    for method in methods_of(records):
        lines = records.where(method=method)
        row = {"method": method}
        for (dataset,), part in records.groups("dataset"):
            shape = f"{TITLES[dataset]} ({part.rows[0]['rows']} x {part.rows[0]['columns']})"
            seconds = typical_seconds(lines.where(dataset=dataset))
            row[shape] = _NONE if math.isnan(seconds) else f"{seconds:.2g}"
        rows.append(row | {"average precision": f"{lines.mean('average_precision'):.2f}"})
    return rows


def repairs(records: Records) -> list[dict[str, str]]:
    """Points of accuracy that a repair gains, by method; the last line is a repair of everything."""
    every = plantings(records)
    rows = [
        _repair(method, records.where(method=method), ("more", "once"), every)
        for method in methods_of(records)
    ]
    return [*rows, _repair("every error repaired", every, ("ceiling", "ceiling"), every)]


def _repair(name: str, lines: Records, to: tuple[str, str], every: Records) -> dict[str, str]:
    row = {"method": name}
    for kind in kinds_of(every):
        part = lines.where(kind=kind)
        row[KIND_TITLES[kind]] = f"{gain(part, to[0]):+.2f}" if len(part) else _NONE
    possible = gain(every, "ceiling")
    for column, depth in zip(("all, 5 % (25 %)", "all, 2 % (10 %)"), to, strict=True):
        points = gain(lines, depth)
        row[column] = f"{points:+.2f}"
        if len(lines) > 1:
            row[column] += f" ± {gain_error(lines, depth):.2f}"
        if possible > _WORTH_REPAIRING:
            row[column] += f", {100 * points / possible:.0f} %"
    return row


def headline(records: Records) -> str:
    """Who wins where, and whose finds are most worth repairing."""
    parts = []
    for kind in kinds_of(records):
        value, value_height = best(records, kind, CELL_VALUES)
        rival, rival_height = best(records, kind, DEVIATION)
        if not value or not rival:
            method, height = best(records, kind, METHODS)
            parts.append(f"{KIND_TITLES[kind]}: {method} {height:.2f}")
            continue
        pairs = sorted([(value_height, value), (rival_height, rival)], reverse=True)
        parts.append(
            f"{KIND_TITLES[kind]}: {pairs[0][1]} {pairs[0][0]:.2f} against {pairs[1][1]} {pairs[1][0]:.2f}"
        )
    repaired = {method: gain(records.where(method=method), "more") for method in methods_of(records)}
    most = max(repaired, key=repaired.__getitem__)
    return (
        f"AUROC of the best cell value and the best deviation detector, {_over(records)}: {'; '.join(parts)}. "
        f"Repairing what was found in the first 5 % (labels: 25 %) gains most with {most}, {repaired[most]:+.2f} "
        f"points of accuracy; repairing every error gains {gain(plantings(records), 'ceiling'):+.2f}."
    )


def _over(records: Records) -> str:
    count = len(records.distinct("dataset"))
    return f"mean over {count} dataset{'s' if count > 1 else ''} and {_count_seeds(records)}"


def _seeds(records: Records) -> str:
    return f"mean over {_count_seeds(records)}"


def _count_seeds(records: Records) -> str:
    count = len(records.distinct("seed"))
    return f"{count} seed{'s' if count > 1 else ''}"


def _with_best_in_bold(entries: Sequence[float], *, percent: bool) -> list[str]:
    texts = [
        _NONE if math.isnan(entry) else f"{100 * entry:.0f} %" if percent else f"{entry:.2f}"
        for entry in entries
    ]
    if all(text == _NONE for text in texts):
        return texts
    top = texts[int(np.nanargmax(entries))]
    return [f"**{text}**" if text == top else text for text in texts]
