"""Rows of nearly the same 1D value: some for the same reasons, some for quite different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.cells import value_cells
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.harness.figures import COLOURS, new_figure
from shapley2d_paper.outliers.work import authors_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from shapley2d_paper.harness.experiment import Row
    from shapley2d_paper.harness.records import Records

WITHIN = 0.01
"""Two 1D values are nearly the same where they differ by less than this share of their standard deviation."""

ALIKE, UNLIKE = 0.9, 0.1
"""Cells are alike from this correlation on, and unrelated (or opposed) up to that one."""

_BINS = np.linspace(-1.0, 1.0, 21)
_AUTHORS = "the authors' table"
_SECOND = "#e07b00"


def pieces(quick: bool) -> list[Piece]:
    """The authors' table, and splits of the bundled one."""
    seeds = 1 if quick else 10
    return [
        Piece("authors", {"seed": 0, "table": "authors", "within": WITHIN}),
        *(Piece(f"split-{s}", {"seed": s, "table": "split", "within": WITHIN}) for s in range(seeds)),
    ]


def work(*, seed: int, table: str, within: float) -> list[Row]:
    """Value the cells, and look through all pairs of rows."""
    X, y, X_valid, y_valid, names = _table(table, seed)
    values = value_cells(X, y, X_valid, y_valid, n_jobs=1, progress=False).values
    first, second = np.triu_indices(len(X), 1)
    # identical rows have identical cells for certain: they would say nothing
    distinct = (X[first] != X[second]).any(axis=1)
    first, second = first[distinct], second[distinct]
    agreement = correlations(values, first, second)
    near = near_pairs(values.sum(axis=1), first, second, within)
    mark: Row = {"table": _AUTHORS if table == "authors" else f"split {seed}"}
    lines = [
        {
            **mark,
            "what": "count",
            "pairs": int(near.sum()),
            "alike": float((agreement[near] >= ALIKE).mean()) if near.any() else None,
            "unlike": float((agreement[near] <= UNLIKE).mean()) if near.any() else None,
            "all_alike": float((agreement >= ALIKE).mean()),
            "all_unlike": float((agreement <= UNLIKE).mean()),
            "median": float(np.median(agreement[near])) if near.any() else None,
        }
    ]
    shares = [np.histogram(part, _BINS)[0] / max(part.size, 1) for part in (agreement[near], agreement)]
    lines += [
        {**mark, "what": "histogram", "from": float(low), "near": float(a), "all": float(b)}
        for low, a, b in zip(_BINS[:-1], *shares, strict=True)
    ]
    for kind, of in (("alike", np.argmax), ("unlike", np.argmin)):
        if near.any():
            best = np.flatnonzero(near)[of(agreement[near])]
            lines += _pair(X, y, values, int(first[best]), int(second[best]), names, {**mark, "kind": kind})
    return lines


def near_pairs(
    rows: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp], within: float
) -> NDArray[np.bool_]:
    """Which pairs have nearly the same 1D value.

    Examples
    --------
    >>> near_pairs(np.array([0.0, 10.0, 10.05]), np.array([0, 0, 1]), np.array([1, 2, 2]), 0.01).tolist()
    [False, False, True]
    """
    near: NDArray[np.bool_] = np.abs(rows[first] - rows[second]) < within * rows.std(ddof=1)
    return near


def correlations(
    values: NDArray[np.float64], first: NDArray[np.intp], second: NDArray[np.intp]
) -> NDArray[np.float64]:
    """The correlation of the cells of two rows, for many pairs; 0 where the cells of a row are all equal.

    Examples
    --------
    >>> cells = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [3.0, 2.0, 1.0]])
    >>> correlations(cells, np.array([0, 0]), np.array([1, 2])).round(6).tolist()
    [1.0, -1.0]
    """
    centred = values - values.mean(axis=1, keepdims=True)
    size = np.linalg.norm(centred, axis=1, keepdims=True)
    flat = size <= 1e-12 * np.abs(values).max(axis=1, keepdims=True)
    unit = np.where(flat, 0.0, centred / np.where(flat, 1.0, size))
    return np.asarray(np.clip(np.einsum("pj,pj->p", unit[first], unit[second]), -1.0, 1.0))


def _table(table: str, seed: int) -> tuple[Any, Any, Any, Any, list[str]]:
    """Training rows and labels, validation rows and labels, and the names of the columns."""
    if table == "authors":
        planted = authors_table(seed)
        task = planted.task
        return planted.clean, task.labels, task.valid_numbers, task.valid_labels, list(task.column_names)
    parts = split_table("breast_cancer", seed)
    return parts.X, parts.y, parts.X_valid, parts.y_valid, parts.column_names


def _pair(
    X: NDArray[np.float64],
    y: NDArray[np.intp],
    values: NDArray[np.float64],
    a: int,
    b: int,
    names: list[str],
    mark: Row,
) -> list[Row]:
    """The lines of one pair: what the two rows share, and their cells."""
    from scipy.stats import spearmanr

    cells_a, cells_b = values[a], values[b]
    pair = np.array([a]), np.array([b])
    summary = {
        **mark,
        "what": "pair",
        "row_a": a,
        "row_b": b,
        "value_a": float(cells_a.sum()),
        "value_b": float(cells_b.sum()),
        "same_class": int(y[a] == y[b]),
        "correlation": float(correlations(values, *pair)[0]),
        "rank_correlation": float(spearmanr(cells_a, cells_b).statistic),
        "cosine": float(cells_a @ cells_b / (np.linalg.norm(cells_a) * np.linalg.norm(cells_b))),
    }
    cells = [
        {
            **mark,
            "what": "cell",
            "column": name,
            "content_a": float(X[a, j]),
            "content_b": float(X[b, j]),
            "value_a": float(cells_a[j]),
            "value_b": float(cells_b[j]),
        }
        for j, name in enumerate(names)
    ]
    return [summary, *cells]


def _shown(records: Records) -> str | None:
    """The table to show pairs of: the authors' where it is there."""
    tables = records.where(what="pair").distinct("table")
    return _AUTHORS if _AUTHORS in tables else next(iter(tables), None)


def _counts(records: Records) -> Records:
    """The counts of the tables that have pairs of nearly the same 1D value; the others have nothing to count."""
    return records.where(lambda row: row["what"] == "count" and row["pairs"] > 0)


def draw(records: Records) -> Figure:
    """Bars of the cells of two pairs, and the correlations of all pairs."""
    figure, axes = new_figure(1, 3, 11.0, 4.0)
    shown = records.where(table=_shown(records))
    for panel, kind, title in (
        (axes[0, 0], "alike", "A) worth the same, for the same reasons"),
        (axes[0, 1], "unlike", "B) worth the same, for other reasons"),
    ):
        panel.set_title(title, fontsize=9, loc="left")
        if pair := shown.where(what="pair", kind=kind).rows:
            _draw_pair(panel, pair[0], shown.where(what="cell", kind=kind), names=kind == "alike")
    panel = axes[0, 2]
    panel.set_title("C) how much the cells of two rows agree", fontsize=9, loc="left")
    every, with_pairs = records.where(what="histogram"), _counts(records).distinct("table")
    for column, histogram, label, colour in (
        (
            "near",
            every.where(lambda row: row["table"] in with_pairs),
            f"pairs of nearly the same 1D value\n(within {WITHIN:.0%} of the standard deviation)",
            "2D-KNN",
        ),
        ("all", every, "all pairs", "random"),
    ):
        points = sorted((key[0], part.mean(column)) for key, part in histogram.groups("from"))
        if points:
            starts, shares = map(np.array, zip(*points, strict=True))
            panel.stairs(100 * shares, [*starts, 1.0], color=COLOURS[colour], label=label, linewidth=1.5)
    for at, label in ((ALIKE, "alike"), (UNLIKE, "unlike")):
        panel.axvline(at, color="black", linewidth=0.8, linestyle=":")
        panel.annotate(
            label,
            (at, 0.77),
            xycoords=("data", "axes fraction"),
            xytext=(-3, 0),
            textcoords="offset points",
            ha="right",
            fontsize=8,
        )
    panel.set(xlabel="correlation of their cell values", ylabel="share of the pairs (%)", xlim=(-1, 1))
    panel.set_ylim(top=1.45 * panel.get_ylim()[1])
    panel.legend(fontsize=7, loc="upper left")
    return figure


def _draw_pair(panel: Axes, pair: Row, cells: Records, *, names: bool) -> None:
    place = np.arange(len(cells))
    for shift, which, colour in ((-0.2, "a", COLOURS["2D-KNN"]), (0.2, "b", _SECOND)):
        panel.barh(
            place + shift,
            1000 * cells.numbers(f"value_{which}"),
            height=0.38,
            color=colour,
            label=f"row {pair[f'row_{which}']}, 1D value {1000 * pair[f'value_{which}']:.3f}",
        )
    panel.set_yticks(place, [name.replace("_", " ") for name in cells.distinct("column")] if names else [])
    panel.set_ylim(len(cells) + 1.2, -0.6)
    panel.axvline(0, color="black", linewidth=0.6)
    panel.set_xlabel("value of the cell (x 0.001)")
    panel.legend(
        fontsize=7, loc="lower right", title=f"correlation {pair['correlation']:.2f}", title_fontsize=7
    )


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """The pairs that are shown, and how common such pairs are."""
    shown = _shown(records)
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
        ("the authors' split", _counts(records).where(table=_AUTHORS)),
        ("splits of ours, mean", _counts(records).where(lambda row: row["table"] != _AUTHORS)),
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
    return [(caption, lines) for caption, lines in made if lines]


def _splits(count: int) -> str:
    return f"{count} split{'s' * (count > 1)}"


def headline(records: Records) -> str:
    """How common either kind is."""
    counts = _counts(records)
    if not len(counts):
        return "No two rows have nearly the same 1D value."
    return (
        f"Of {counts.mean('pairs'):.0f} pairs of rows with nearly the same 1D value (mean of {_splits(len(counts))}), "
        f"{counts.mean('alike'):.0%} have cells alike and {counts.mean('unlike'):.0%} unrelated or opposed ones."
    )


def judge(records: Records) -> Judgement | None:
    """Whether every split has pairs of both kinds."""
    counts = _counts(records)
    if not len(counts):
        return None
    without = len(records.where(what="count")) - len(counts)
    left_out = f" Splits without pairs of nearly the same 1D value, left out: {without}." if without else ""
    both = [bool(row["alike"]) and bool(row["unlike"]) for row in counts]
    one = [bool(row["alike"]) or bool(row["unlike"]) for row in counts]
    verdict = "holds" if all(both) else "holds in part" if any(one) else "does not hold"
    return Judgement(
        verdict,  # type: ignore[arg-type]
        f"alike {counts.mean('alike'):.0%}, unlike {counts.mean('unlike'):.0%} of such pairs",
        f"{sum(both)} of {len(both)} splits have pairs of both kinds: cells that correlate by {ALIKE} or more, and by "
        f"{UNLIKE} or less. The claim holds where all splits have both, in part where some have either. Pairs of "
        f"identical rows are left out. Among all pairs, whatever their 1D values, "
        f"{counts.mean('all_alike'):.0%} are alike and {counts.mean('all_unlike'):.0%} unlike.{left_out}",
    )


EXPERIMENT = Experiment(
    name="interpretation",
    title="What is behind a 1D value",
    about=(
        "2D-KNN values (K = 10, exact) of the clean Breast Cancer table: the authors' split where it is at hand, and "
        "ten random splits of the bundled table (one in the quick run). The authors' split is validated on their 242 "
        "test rows, a split of ours on 121 rows, half of those that do not train. All pairs of rows are looked "
        f"through whose 1D values, the sums of their cells, differ by less than {WITHIN:.0%} of the standard deviation "
        "of the 1D values. The figure shows the pair whose cells correlate most and the pair whose cells correlate "
        "least. "
        "The paper shows one pair of each kind and does not say how they were found or how common they are. "
        "Pairs of rows with the same content are left out, since their cells are equal for certain."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=(
        Claim(
            "Two rows of nearly the same 1D value may have cells of nearly the same values, or of unrelated ones",
            "one example of each",
            judge,
        ),
    ),
)
