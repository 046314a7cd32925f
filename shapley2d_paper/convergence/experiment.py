"""Convergence: error against effort where exact values are known, and after 500 permutations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.convergence.claims import CLAIMS, LIMIT, PERMUTATIONS, size_text, span_text
from shapley2d_paper.convergence.runs import NEIGHBOURS, work
from shapley2d_paper.data.splits import TITLES
from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.harness.figures import COLOURS, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records

SAMPLERS = {"permutations": COLOURS["random"], "A": COLOURS["1D"], "B": COLOURS["2D-KNN"]}

GAMES = {"knn": "nearest neighbours", "gaussian_nb": "naive Bayes"}


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Errors of the samplers, of Monte Carlo against exact values, and after 500 permutations."""
    columns, games = records.where(what="columns"), records.where(what="game")
    made = []
    if len(columns):
        samplers = [(method, columns.where(method=method)) for method in SAMPLERS]
        rows = [
            {
                "column subsets": f"{evaluations:,}",
                **{
                    f"error, {method}": _mean(part.where(evaluations=evaluations), "error")
                    for method, part in samplers
                },
                **{
                    f"95 % covers, {method}": _mean(part.where(evaluations=evaluations), "covered")
                    for method, part in samplers
                },
            }
            for evaluations in sorted(set(columns.distinct("evaluations")))
        ]
        caption = (
            f"Nearest-neighbour game of Wine ({size_text(columns)}), column axis sampled, row axis "
            "exact: squared error relative to the squared exact values, and the share of cells "
            f"whose 95 % interval holds the exact value; {_seeds(columns)}."
        )
        made.append((caption, rows))
    if len(games):
        rows = [
            {
                "game": f"{GAMES[game]}, Wine {size_text(part)}",
                "permutations": f"{count:,}",
                "models evaluated": f"{part.rows[0]['evaluations']:,}",
                "error": _mean(part, "error"),
                "as the standard errors say": _mean(part, "expected"),
                "95 % covers": _mean(part, "covered"),
                "correlation with exact": f"{part.mean('correlation'):.3f}",
            }
            for (game, count), part in games.groups("game", "permutations")
        ]
        rows.sort(key=lambda row: row["game"])
        caption = "Monte Carlo with pairs of permutations, on games whose exact values are known"
        made.append((f"{caption}; {_seeds(games)}.", rows))
    rows = [
        {
            "table": f"{TITLES[name]}, {size_text(part)}",
            "permutations": f"{count:,}",
            "largest standard error / range": f"{part.mean('ratio'):.3f}",
            "correlation of two runs": f"{part.mean('agreement'):.3f}",
        }
        for (name, count), part in records.where(what="table").groups("game", "permutations")
        if count in (100, PERMUTATIONS)
    ]
    if rows:
        rows.sort(key=lambda row: row["table"])
        caption = (
            "Monte Carlo for a decision tree, as in the paper; the exact values are out of reach"
        )
        made.append((f"{caption}; {_seeds(records.where(what='table'))}.", rows))
    return made


def _seeds(records: Records) -> str:
    count = len(records.distinct("seed"))
    return f"mean over {count} seeds" if count > 1 else "one seed"


def _mean(records: Records, name: str) -> str:
    return f"{records.mean(name):.3g}" if len(records) else ""


def headline(records: Records) -> str:
    """The errors at the largest effort."""
    columns = records.where(what="columns")
    parts = []
    budgets = columns.where(method="B").distinct("evaluations")
    if budgets:
        most = max(budgets)
        error = {
            method: columns.where(method=method, evaluations=most).mean("error")
            for method in SAMPLERS
        }
        parts.append(
            f"with {most:,} column subsets of Wine's nearest-neighbour game the squared error "
            f"is {error['permutations']:.2g} of the squared values by permutations, "
            f"{error['A']:.2g} by A, {error['B']:.2g} by B"
        )
    tables = records.where(what="table", permutations=PERMUTATIONS)
    if len(tables):
        span = span_text([part.mean("ratio") for _, part in tables.groups("game")])
        parts.append(
            f"{PERMUTATIONS} permutations of 2D-MC leave a largest standard error of {span} of the "
            "range"
        )
    text = "; ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def draw(records: Records) -> Figure:
    """Errors against effort: columns sampled, Monte Carlo, and the paper's methods."""
    figure, axes = new_figure(1, 3, 11.5, 4.8)
    columns, games, tables = (records.where(what=what) for what in ("columns", "game", "table"))
    for method, colour in SAMPLERS.items():
        label = "permutations (the paper)" if method == "permutations" else method
        _curve(axes[0, 0], columns.where(method=method), "evaluations", "error", label, colour)
    axes[0, 0].set(
        title="Columns sampled: nearest neighbours, Wine",
        xlabel="column subsets evaluated",
        ylabel="squared error / squared values",
    )
    for game, colour in (("knn", COLOURS["2D-KNN"]), ("gaussian_nb", COLOURS["2D-MC"])):
        part = games.where(game=game)
        if len(part):
            _curve(
                axes[0, 1],
                part,
                "evaluations",
                "error",
                f"{GAMES[game]}, {size_text(part)}",
                colour,
            )
            points = sorted(
                (key[0], group.mean("expected")) for key, group in part.groups("evaluations")
            )
            axes[0, 1].plot(
                *zip(*points, strict=True), ":", color=colour, label="as its standard errors say"
            )
    axes[0, 1].set(
        title="Monte Carlo against exact values, Wine",
        xlabel="models evaluated",
        ylabel="squared error / squared values",
    )
    colours = {
        "wine": COLOURS["z-score"],
        "breast_cancer": COLOURS["2D-OOB"],
        "census": COLOURS["2D-MC"],
    }
    for (name,), part in tables.groups("game"):
        _curve(
            axes[0, 2],
            part,
            "permutations",
            "ratio",
            f"2D-MC tree, {TITLES[name]} {size_text(part)}",
            colours[name],
        )
    knn = columns.where(method="permutations")
    if len(knn):
        _curve(
            axes[0, 2],
            knn,
            "permutations",
            "ratio",
            f"2D-KNN, Wine {size_text(knn)}",
            COLOURS["2D-KNN"],
        )
    axes[0, 2].axhline(
        LIMIT, color="#333333", linestyle="--", linewidth=1, label=f"converged: {LIMIT}"
    )
    axes[0, 2].axvline(
        PERMUTATIONS,
        color="#333333",
        linestyle=":",
        linewidth=1,
        label=f"the paper's {PERMUTATIONS}",
    )
    axes[0, 2].set(
        title="The paper's methods, by permutations",
        xlabel="permutations",
        ylabel="largest standard error / range of values",
    )
    for axis in axes[0]:
        axis.set_xscale("log")
        axis.set_yscale("log")
        if axis.lines:
            axis.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.14))
    return figure


def _curve(axes: Axes, records: Records, x: str, y: str, label: str, colour: str) -> None:
    """Mean over seeds, and a band from the least to the most."""
    points = sorted(
        (key[0], part.mean(y), *np.quantile(part.numbers(y), [0, 1]))
        for key, part in records.groups(x)
    )
    if points:
        at, mean, low, high = zip(*points, strict=True)
        axes.plot(at, mean, ".-", color=colour, label=label)
        axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def pieces(quick: bool) -> list[Piece]:
    """The three parts, for every seed; the tables of the last one by dataset."""
    n_seeds, table_seeds = (1, 1) if quick else (10, 3)
    wine = {"n_train": 40, "n_valid": 40} if quick else {"n_train": 106, "n_valid": 72}
    budgets = [26, 130, 650, 6500] if quick else [26, 52, 130, 260, 650, 1300, 2600, 6500]
    counts = [10, 20, 50, 100, 200, 500] if quick else [10, 20, 50, 100, 200, 500, 1000, 2000]
    small = (
        {"n_train": 8, "n_valid": 100, "n_columns": 5}
        if quick
        else {"n_train": 10, "n_valid": 168, "n_columns": 6}
    )
    tables = (
        {"wine": {"n_train": 20, "n_valid": 40}}
        if quick
        else {
            "wine": wine,
            "breast_cancer": {"n_train": 241, "n_valid": 221},
            "census": {"n_train": 72, "n_valid": 500},
        }
    )
    made = []
    for seed in range(n_seeds):
        made += [
            Piece(f"columns-{seed}", {"part": "columns", "budgets": budgets, **wine, "seed": seed}),
            Piece(
                f"knn-{seed}",
                {"part": "game", "model": "knn", "counts": counts, **wine, "seed": seed},
            ),
            Piece(
                f"small-{seed}",
                {"part": "game", "model": "gaussian_nb", "counts": counts, **small, "seed": seed},
            ),
        ]
    at_most = [count for count in counts if count <= PERMUTATIONS]
    return made + [
        Piece(
            f"tree-{name}-{seed}",
            {"part": "table", "dataset": name, "counts": at_most, **sizes, "seed": seed},
        )
        for seed in range(table_seeds)
        for name, sizes in tables.items()
    ]


EXPERIMENT = Experiment(
    name="convergence",
    title="Error against effort, and where 500 permutations lead",
    about=(
        "Three questions. *How to sample columns:* every column subset of the "
        f"nearest-neighbour game of Wine (13 columns, {NEIGHBOURS} neighbours) is evaluated, all "
        f"{2**13:,}, so the exact values are known; the paper's permutations stand beside the "
        "package's estimators A (ridge on complementary pairs) and B (a kernel, then A). *How "
        "good is Monte Carlo:* pairs of permutations on two games with exact values, the same one "
        "and naive Bayes on a few rows and columns of Wine, and whether the standard errors are "
        f"calibrated. *Are {PERMUTATIONS} permutations enough*, as the paper says without showing "
        "it: nearest neighbours, and the decision tree on small tables. The tables give rows, "
        "columns and seeds; a seed sets the split and the draws. The paper names no criterion; "
        "here it is the largest standard error relative to the *range* of the values, the highest "
        f"less the lowest: {LIMIT} or less."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
