"""Run times: the paper's table for 1,000 to 100,000 cells of Census, ours beside theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.harness.figures import COLOURS, new_figure
from shapley2d_paper.runtime.claims import (
    CELLS,
    CLAIMS,
    MODELS,
    PAPER_EXACT,
    PAPER_KNN,
    PAPER_MC,
    exact_digits,
    number_text,
    seconds_text,
    speedups,
    time_text,
)
from shapley2d_paper.runtime.timing import N_COLUMNS, PERMUTATIONS, TOLERANCE, work

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records

_COLOURS = {
    "tree": COLOURS["2D-MC"],
    "gaussian_nb": COLOURS["2D-OOB distance"],
    "sklearn": COLOURS["2D-LOO"],
}


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Times beside the paper's, by model, and how precise they are."""
    by_cells = sorted(records.groups("cells"), key=lambda group: group[0])
    if not by_cells:
        return []
    ratios, facts = speedups(records, "tree"), records.rows[0]
    times = [
        {
            "cells": f"{cells:,}",
            "2D-KNN, paper": seconds_text(PAPER_KNN[cells]),
            "2D-KNN, ours": time_text(part.where(what="knn")),
            "2D-MC, paper": seconds_text(PAPER_MC[cells]),
            "2D-MC, ours (projected)": time_text(part.where(what="tree"), "projected"),
            "MC / KNN, paper": f"{PAPER_MC[cells] / PAPER_KNN[cells]:.0f}",
            "MC / KNN, ours": number_text(ratios[cells]) if cells in ratios else "",
            "exact, paper": PAPER_EXACT[cells],
            "exact, ours (projected)": _exact(part.where(what="tree")),
        }
        for (cells,), part in by_cells
    ]
    models = [
        {
            "cells": f"{cells:,}",
            **{name: time_text(part.where(what=model)) for model, name in MODELS.items()},
        }
        for (cells,), part in by_cells
    ]
    precision = [
        {
            "cells": f"{cells:,}",
            "2D-KNN": _precise(part.where(what="knn"), "n_subsets", "column subsets"),
            **(
                {
                    f"2D-KNN, exact ({2**N_COLUMNS:,} column subsets)": time_text(
                        part.where(what="knn exact")
                    )
                }
                if len(records.where(what="knn exact"))
                else {}
            ),
            "2D-MC, decision tree": _precise(
                part.where(what="run"), "permutations", "permutations"
            ),
        }
        for (cells,), part in by_cells
        if len(part.where(what="knn"))
    ]
    caption = (
        f"Census, {facts['n_valid']} validation rows; ours on {facts['hardware']}, the paper's on "
        f"an 8-core Xeon E5-2620 v4. 2D-MC: {PERMUTATIONS} permutations of a decision tree."
    )
    return [
        (caption, times),
        ("One permutation of 2D-MC on one core, by model.", models),
        (
            "Time, and the largest standard error reached, relative to the range of the values.",
            precision,
        ),
    ]


def _precise(records: Records, name: str, unit: str) -> str:
    if not len(records):
        return ""
    return f"{time_text(records)} to {records.mean('ratio'):.3f} ({records.mean(name):,.0f} {unit})"


def _exact(tree: Records) -> str:
    if not len(tree):
        return ""
    n, m = tree.rows[0]["n_rows"], tree.rows[0]["n_columns"]
    return f"1E+{exact_digits(n, m, tree.mean('seconds') / (n * m)):.0f} s"


def headline(records: Records) -> str:
    """The times of the largest table, and the ratios at both ends."""
    parts = []
    knn, ratios = records.where(what="knn"), speedups(records, "tree")
    if len(knn):
        most = max(knn.distinct("cells"))
        parts.append(
            f"2D-KNN takes {time_text(knn.where(cells=most))} for {most:,} cells of Census "
            f"(the paper: {PAPER_KNN[most]} s)"
        )
    if ratios:
        ends = dict.fromkeys((min(ratios), max(ratios)))
        longer = " and ".join(
            f"{number_text(ratios[cells])} times as long at {cells:,} cells" for cells in ends
        )
        parts.append(f"2D-MC takes {longer} (projected)")
    exact = records.where(what="knn exact")
    if len(exact):
        most = max(exact.distinct("cells"))
        parts.append(
            f"exact 2D-KNN values of {most:,} cells take {time_text(exact.where(cells=most))}"
        )
    return f"{'; '.join(parts)}." if parts else "Nothing has been timed yet."


def draw(records: Records) -> Figure:
    """Times and their ratio against the number of cells."""
    figure, axes = new_figure(1, 2, 10.5, 5)
    left, right = axes[0]
    for theirs, method in ((PAPER_MC, "2D-MC"), (PAPER_KNN, "2D-KNN")):
        label = f"{method}, the paper"
        left.plot(*_points(theirs), "s--", color=COLOURS[method], alpha=0.5, label=label)
    for model, name in MODELS.items():
        part = records.where(what=model)
        style = {"color": _COLOURS[model], "markerfacecolor": "white"}
        left.plot(
            *_curve(part, "projected"), "o-", label=f"2D-MC, ours, {name} (projected)", **style
        )
    runs = records.where(what="run", permutations=PERMUTATIONS)
    if len(runs):
        left.plot(
            *_curve(runs, "seconds"), "X", color="black", label="2D-MC, ours, decision tree (run)"
        )
    left.plot(
        *_curve(records.where(what="knn"), "seconds"),
        "o-",
        color=COLOURS["2D-KNN"],
        label="2D-KNN, ours",
    )
    left.set(title=f"Time for Census; 2D-MC with {PERMUTATIONS} permutations", ylabel="seconds")
    paper = {cells: PAPER_MC[cells] / PAPER_KNN[cells] for cells in CELLS}
    right.plot(*_points(paper), "s--", color="#555555", alpha=0.6, label="the paper")
    for model in ("tree", "sklearn"):
        right.plot(
            *_points(speedups(records, model)),
            "o-",
            color=_COLOURS[model],
            label=f"ours, {MODELS[model]}",
        )
    right.set(
        title="Time of 2D-MC relative to 2D-KNN's", ylabel="seconds of 2D-MC / seconds of 2D-KNN"
    )
    for axis in (left, right):
        axis.set_xscale("log")
        axis.set_yscale("log")
        axis.set_xlabel("cells")
        axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)
    return figure


def _points(numbers: Mapping[int, float]) -> tuple[list[int], list[float]]:
    return list(numbers), list(numbers.values())


def _curve(records: Records, name: str) -> tuple[list[int], list[float]]:
    return _points(
        dict(sorted((cells, part.mean(name)) for (cells,), part in records.groups("cells")))
    )


def pieces(quick: bool) -> list[Piece]:
    """Every method on every number of cells."""
    cells, n_valid, grid_rows = (CELLS[:2], 100, 12) if quick else (CELLS, 500, 100)
    common = {"n_valid": n_valid, "seed": 0}
    made = []
    for count in cells:
        repeats = 1 if quick or count > 20_000 else 3
        made.append(
            Piece(
                f"knn-{count}",
                {"part": "knn", "cells": count, "columns": "auto", "repeats": repeats, **common},
            )
        )
        made += [
            Piece(
                f"{model}-{count}",
                {
                    "part": "permutation",
                    "model": model,
                    "cells": count,
                    "grid_rows": grid_rows,
                    **common,
                },
            )
            for model in (MODELS if count <= 5_000 else ("tree", "gaussian_nb"))
            if not (quick and model == "sklearn" and count > 1_000)
        ]
    runs = {1_000: 20} if quick else {1_000: PERMUTATIONS, 5_000: PERMUTATIONS}
    made += [
        Piece(
            f"run-{count}", {"part": "run", "cells": count, "permutations": permutations, **common}
        )
        for count, permutations in runs.items()
    ]
    exact = () if quick else CELLS[:2]
    return made + [
        Piece(
            f"exact-{count}",
            {"part": "knn", "cells": count, "columns": "exact", "repeats": 1, **common},
        )
        for count in exact
    ]


EXPERIMENT = Experiment(
    name="runtime",
    title="Run times on Census beside the paper's",
    about=(
        f"Census has {N_COLUMNS} columns: 1,000 cells are 72 training rows, and 100,000 are 7,143. "
        "The paper does not say how many rows validate. All cores are used, whatever `--jobs` "
        "says, and nothing runs beside. 2D-KNN runs until its largest standard error is "
        f"{TOLERANCE} of the *range* of the values: the highest less the lowest. For 2D-MC the "
        "time of one permutation on one core is measured; where the grid of models is large, on "
        f"evenly spaced rows of it. *Projected* is that time for the paper's {PERMUTATIONS} "
        "permutations, shared by all cores; the last table has real runs of 2D-MC, which also "
        "show how precise they are. The paper's row for exact values is 1.4 s times 2 to the "
        "number of cells, as if every cell were a player of its own; the two-dimensional game has "
        "2 to the number of rows and columns, fewer and still out of reach. With nearest "
        "neighbours only the columns need enumerating."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
    alone=True,
)
