"""The tables and the headline of the experiment on injected outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.outliers.scoring import WITHIN, found_column
from shapley2d_paper.outliers.tables import ALL_ROWS, BENIGN_ROWS, TABLES
from shapley2d_paper.outliers.work import RAW

if TYPE_CHECKING:
    from shapley2d_paper.harness.records import Records


_TIES = (
    "Cells of equal value come in random order: 'cells to find all' counts to the end of the last group of such cells "
    "that holds an outlier"
)


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Scores of every method on every table, and the ranges of the values."""
    made = []
    scores = records.where(what="score")
    for table, title in TABLES.items():
        part = scores.where(table=table, rows=ALL_ROWS)
        shown = []
        for (method,), one in part.groups("method"):
            benign = scores.where(table=table, rows=BENIGN_ROWS, method=method)
            shown.append(
                {
                    "method": str(method),
                    "AUROC": _mean(one, "auroc", "{:.3f}"),
                    "average precision": _mean(one, "average_precision", "{:.3f}"),
                    "found in the first 5 %": _mean(one, found_column(WITHIN), "{:.0%}"),
                    "cells to find 90 %": _mean(one, "first_90", "{:.0%}"),
                    "cells to find all": _mean(one, "first_all", "{:.0%}"),
                    "benign rows: AUROC": _mean(benign, "auroc", "{:.3f}"),
                    "benign rows: found in the first 5 %": _mean(
                        benign, found_column(WITHIN), "{:.0%}"
                    ),
                }
            )
        if shown:
            shown.sort(key=lambda row: row["AUROC"], reverse=True)
            seeds = len(part.distinct("seed"))
            many = f", mean of {seeds} seeds (standard deviation)" if seeds > 1 else ""
            made.append((f"{title[0].upper()}{title[1:]}{many}. {_TIES}", shown))
    ranges = [
        {
            "table": TABLES[table],
            "values": method,
            "rows": rows,
            "lowest value": _change(one, "lowest", "{:.5f}"),
            "highest value": _change(one, "highest", "{:.5f}"),
            "lower than an outlier": _change(one, "place", "{:.0%}"),
        }
        for (table, method, rows), one in records.where(what="range").groups(
            "table", "method", "rows"
        )
    ]
    caption = (
        "Range of the values before and after the injection, and where the outliers lie in it: the share of cells "
        "with lower values, on average over the outliers"
    )
    rare = [
        {
            "table": TABLES[table],
            "rare among all rows": f"{part.mean('rare_of_all'):.0%}",
            "rare among the rows of the class": f"{part.mean('rare_of_class'):.0%}",
        }
        for (table,), part in records.where(what="rarity").groups("table")
    ]
    of = "Injected values that fewer than 5 % of the rows of the clean table have"
    return [*made, *((text, rows) for text, rows in ((caption, ranges), (of, rare)) if rows)]


def _mean(part: Records, name: str, form: str) -> str:
    if not len(part):
        return ""
    text = form.format(part.mean(name))
    return f"{text} ({form.format(part.spread(name))})" if len(part) > 1 else text


def _change(part: Records, name: str, form: str) -> str:
    return " to ".join(form.format(part.mean(f"{name}_{when}")) for when in ("before", "after"))


def headline(records: Records) -> str:
    """What 2D-KNN and 1D find in the first 5 % of the cells, and how well 2D-OOB ranks the authors' table."""
    scores = records.where(what="score", rows=ALL_ROWS)
    parts = []
    for table, title in TABLES.items():
        found = [
            f"{method} {one.mean(found_column(WITHIN)):.0%}"
            for method in (RAW, "1D", "2D-OOB distance", "z-score")
            if len(one := scores.where(table=table, method=method))
        ]
        if found:
            parts.append(f"{title}: {', '.join(found)}")
    text = f"Outliers found in the first {WITHIN:.0%} of the cells: {'; '.join(parts)}."
    plain, distance = (
        scores.where(table="authors", method=method) for method in ("2D-OOB", "2D-OOB distance")
    )
    if len(plain) and len(distance):
        text += (
            f" AUROC of 2D-OOB over all cells of the authors' table: {plain.mean('auroc'):.3f}, with its distance "
            f"term {distance.mean('auroc'):.3f}."
        )
    return text
