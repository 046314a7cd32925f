"""The figure, the tables and the main result of the detection benchmark."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.evaluation.detection import SHARES
from shapley2d_paper.data.splits import TITLES
from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    SIGN,
    best,
    best_comparison,
    complete,
    corrupted_tables,
    gain,
    gain_error,
    kinds_of,
    marked,
    methods_of,
    typical_seconds,
)
from shapley2d_paper.harness.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records

_FOUND = """\
Share of the errors found in the first 2 % of the cells (labels: of the rows), likewise. As 2 % of
the cells and 10 % of the labels are corrupted, a perfect detector finds 100 % of the cells and 20 %
of the labels"""

_REPAIRED = """\
Points of test accuracy gained when the cells of highest score are inspected and the errors among
them get their true values back: mean of a decision tree and ten nearest neighbours. By kind: after
5 % of the cells (labels: 25 % of the rows). Over all kinds: with the standard error over the means
by dataset and seed, and the share of the gain from repairing every error, which may exceed 100 %:
some errors do no harm, or even help"""

_NONE = "-"
_WORTH_REPAIRING = 0.1  # points: below this a share of the possible gain is noise


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """All tables of the page."""
    return [
        (
            f"AUROC by kind of error, {_over(records)}; best in bold{_note(records)}",
            by_kind(records, "auroc"),
        ),
        (_FOUND, by_kind(records, "found_2", percent=True)),
        (
            (
                "Share of the corrupted cells found on the way down, all kinds except labels, "
                f"{_over(records)}"
            ),
            depths(records),
        ),
        (f"The method with the highest AUROC, {_seeds(records)}", winners(records)),
        (
            "CPU seconds for one table on one core, and average precision over all kinds",
            costs(records),
        ),
        (_REPAIRED, repairs(records)),
    ]


def by_kind(records: Records, score: str, *, percent: bool = False) -> list[dict[str, str]]:
    """A score by method and kind of error, the best of a kind in bold."""
    parts = {KIND_TITLES[kind]: records.where(kind=kind) for kind in kinds_of(records)}
    columns = {
        name: {method: part.where(method=method).mean(score) for method in methods_of(records)}
        for name, part in parts.items()
    }
    columns["mean"] = {
        method: sum(column[method] for column in columns.values()) / len(columns)
        for method in methods_of(records)
    }
    parts["mean"] = records
    return _rows(
        records,
        {
            name: _with_best_in_bold(parts[name], heights, percent=percent)
            for name, heights in columns.items()
        },
    )


def depths(records: Records) -> list[dict[str, str]]:
    """The share of corrupted cells found in the first cells, by method; labels left out."""
    cells = records.where(lambda row: row["kind"] != "labels")
    columns = {}
    for percent in (f"{100 * share:.0f}" for share in SHARES):
        shares = {
            method: cells.where(method=method).mean(f"found_{percent}")
            for method in methods_of(cells)
        }
        columns[f"first {percent} %"] = _with_best_in_bold(cells, shares, percent=True)
    return _rows(cells, columns)


def _rows(records: Records, columns: dict[str, dict[str, str]]) -> list[dict[str, str]]:
    """A row per method from columns by method."""
    return [
        {
            "method": marked(records, method),
            **{name: column[method] for name, column in columns.items()},
        }
        for method in methods_of(records)
    ]


def winners(records: Records) -> list[dict[str, str]]:
    """The method with the highest AUROC, by dataset and kind, among those run on all seeds."""
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
        of_method = records.where(method=method)
        row = {"method": marked(records, method)}
        for (dataset,), part in records.groups("dataset"):
            shape = f"{TITLES[dataset]} ({part.rows[0]['rows']} x {part.rows[0]['columns']})"
            seconds = typical_seconds(of_method.where(dataset=dataset))
            row[shape] = _NONE if math.isnan(seconds) else f"{seconds:.2g}"
        rows.append(row | {"average precision": f"{of_method.mean('average_precision'):.2f}"})
    return rows


def repairs(records: Records) -> list[dict[str, str]]:
    """Points of accuracy that a repair gains, by method; the last row is a repair of everything."""
    every = corrupted_tables(records)
    rows = [
        _repair(marked(records, method), records.where(method=method), ("more", "once"), every)
        for method in methods_of(records)
    ]
    suggested = records.where(lambda row: row.get("tree_more_suggested") is not None)
    if len(suggested):
        depths_so = ("more_suggested", "once_suggested")
        rows.append(_repair("inspection, by its suggested entries", suggested, depths_so, every))
    return [*rows, _repair("every error repaired", every, ("ceiling", "ceiling"), every)]


def _repair(name: str, records: Records, to: tuple[str, str], every: Records) -> dict[str, str]:
    row = {"method": name}
    for kind in kinds_of(every):
        part = records.where(kind=kind)
        row[KIND_TITLES[kind]] = f"{gain(part, to[0]):+.2f}" if len(part) else _NONE
    possible = gain(records, "ceiling")  # of the tables that this method was run on
    for column, depth in zip(("all, 5 % (25 %)", "all, 2 % (10 %)"), to, strict=True):
        points = gain(records, depth)
        row[column] = f"{points:+.2f}"
        error = gain_error(records, depth)
        if not math.isnan(error):
            row[column] += f" ± {error:.2f}"
        if possible > _WORTH_REPAIRING:
            row[column] += f", {100 * points / possible:.0f} %"
    return row


def headline(records: Records) -> str:
    """Which method is best where, and whose finds are most worth repairing."""
    parts = []
    for kind in kinds_of(records):
        made = best_comparison(records, kind, CELL_VALUES, DEVIATION)
        if made is None:
            method, auroc = best(records, kind, METHODS)
            parts.append(f"{KIND_TITLES[kind]}: {method} {auroc:.2f}")
            continue
        of_kind = records.where(kind=kind)
        pairs = [
            (made.auroc, marked(of_kind, made.method)),
            (made.other_auroc, marked(of_kind, made.other)),
        ]
        (first, winner), (second, loser) = sorted(pairs, reverse=True)
        parts.append(f"{KIND_TITLES[kind]}: {winner} {first:.2f} against {loser} {second:.2f}")
    compared = complete(records) or methods_of(records)
    repaired = {method: gain(records.where(method=method), "more") for method in compared}
    most = max(repaired, key=repaired.__getitem__)
    return (
        "AUROC of the best cell value and the best deviation detector, "
        f"{_over(records)}{_note(records)}: {'; '.join(parts)}. Repairing what was found in the "
        f"first 5 % (labels: 25 %) gains most with {most}, {repaired[most]:+.2f} points of "
        f"accuracy; repairing every error gains {gain(corrupted_tables(records), 'ceiling'):+.2f}."
    )


def _over(records: Records) -> str:
    count = len(records.distinct("dataset"))
    return f"mean over {count} dataset{'s' if count > 1 else ''} and {_count_seeds(records)}"


def _seeds(records: Records) -> str:
    return f"mean over {_count_seeds(records)}"


def _count_seeds(records: Records) -> str:
    count = len(records.distinct("seed"))
    return f"{count} seed{'s' if count > 1 else ''}"


def _note(records: Records) -> str:
    """What the sign means, where there is one."""
    if len(complete(records)) == len(methods_of(records)):
        return ""
    return f" ({SIGN}: not run on every table, so its mean is over the others)"


def _with_best_in_bold(
    records: Records, heights: dict[str, float], *, percent: bool
) -> dict[str, str]:
    """Figures by method, the best in bold; a sign marks means over fewer tables, never in bold."""
    texts = {
        method: _NONE
        if math.isnan(height)
        else f"{100 * height:.0f} %"
        if percent
        else f"{height:.2f}"
        for method, height in heights.items()
    }
    compared = complete(records)
    top = texts[max(compared, key=heights.__getitem__)] if compared else None
    for method, text in texts.items():
        if method in compared and text == top:
            texts[method] = f"**{text}**"
        elif method not in compared and text != _NONE:
            texts[method] = f"{text} {SIGN}"
    return texts


_SHORTEST = 1e-4  # seconds: a clock may say 0, and the axis is logarithmic


def draw(records: Records) -> Figure:
    """Four panels: AUROC by kind and by dataset, precision against time, gain of a repair."""
    figure, axes = new_figure(2, 2, 11.0, 9.0)
    methods, datasets = methods_of(records), records.distinct("dataset")
    _heatmap(
        axes[0, 0],
        methods,
        {KIND_TITLES[kind]: records.where(kind=kind) for kind in kinds_of(records)},
        "AUROC by kind of error, mean over datasets and seeds",
    )
    _heatmap(
        axes[0, 1],
        methods,
        {TITLES[name]: records.where(dataset=name) for name in datasets},
        "AUROC by dataset, mean over kinds and seeds",
    )
    _cost(axes[1, 0], records, methods)
    _repairs(axes[1, 1], records, methods)
    if len(complete(records)) < len(methods):
        figure.supxlabel(
            f"{SIGN} not run on every table: its mean is over the others", fontsize="small"
        )
    return figure


def _heatmap(axes: Axes, methods: list[str], columns: dict[str, Records], title: str) -> None:
    heights = np.array(
        [
            [part.where(method=method).mean("auroc") for part in columns.values()]
            for method in methods
        ]
    )
    axes.imshow(heights, cmap="RdBu", vmin=0.0, vmax=1.0, aspect="auto")  # white is chance
    for j, part in enumerate(columns.values()):
        compared = [method in complete(part) for method in methods]
        most = max(heights[compared, j], default=np.nan)
        for i, (height, whole) in enumerate(zip(heights[:, j], compared, strict=True)):
            if np.isnan(height):
                continue
            best = whole and f"{height:.2f}" == f"{most:.2f}"
            colour, weight = (
                "white" if abs(height - 0.5) > 0.29 else "black",
                "bold" if best else "normal",
            )
            text = f"{height:.2f}" if whole else f"{height:.2f}{SIGN}"
            axes.text(j, i, text, ha="center", va="center", color=colour, weight=weight)
    axes.set_xticks(range(len(columns)), [name.replace(" ", "\n", 1) for name in columns])
    axes.set_yticks(range(len(methods)), methods)
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.set_title(f"{title}\nbest of a column in bold; 0.5 is chance", loc="left")


def _cost(axes: Axes, records: Records, methods: list[str]) -> None:
    for method in methods:
        part = records.where(method=method)
        marker = "s" if method in DEVIATION else "o" if method in CELL_VALUES else "x"
        at = max(typical_seconds(part), _SHORTEST)
        height = part.mean("average_precision")
        axes.plot(
            at,
            height,
            marker,
            color=COLOURS[method],
            markersize=8,
            linestyle="",
            label=marked(records, method),
        )
    axes.set_xscale("log")
    axes.set_xlabel("CPU seconds for one table, one core")
    axes.set_ylabel("average precision, mean over everything")
    axes.set_title("Precision against time (squares: deviation detectors)", loc="left")
    axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.14), ncols=4)


def _repairs(axes: Axes, records: Records, methods: list[str]) -> None:
    from matplotlib.lines import Line2D

    labels = {
        "once": "as many cells inspected as are corrupted (2 %; labels 10 %)",
        "more": "2.5 times as many (5 %; labels 25 %)",
    }
    for place, method in enumerate(methods):
        part = records.where(method=method)
        gains = [gain(part, to) for to in labels]
        axes.plot(gains, [place, place], color=COLOURS[method], linewidth=1.5)
        for at, fill in zip(gains, ("white", COLOURS[method]), strict=True):
            axes.plot(at, place, "o", color=COLOURS[method], markerfacecolor=fill, markersize=7)
    axes.axvline(0.0, color="grey", linewidth=0.8)
    axes.axvline(gain(corrupted_tables(records), "ceiling"), color="black", linestyle="--")
    axes.set_yticks(range(len(methods)), [marked(records, method) for method in methods])
    axes.invert_yaxis()
    axes.set_xlabel("points of test accuracy gained, mean over everything")
    axes.set_title("Repairing what was found (tree and KNN)", loc="left")
    dots = [
        Line2D([], [], color="black", marker="o", linestyle="", markerfacecolor=fill, label=label)
        for fill, label in zip(("white", "black"), labels.values(), strict=True)
    ]
    dots.append(Line2D([], [], color="black", linestyle="--", label="every error repaired"))
    axes.legend(handles=dots, loc="upper center", bbox_to_anchor=(0.4, -0.14))
