"""Blocks of Credit: a block's value against the performance of a model trained on it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d_paper.blocks.claims import CLAIMS, MEASURES, find_link, interval_text, pooled
from shapley2d_paper.blocks.work import work
from shapley2d_paper.harness.experiment import Experiment, Piece
from shapley2d_paper.harness.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records


def tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    """Correlations by measure."""
    rows = []
    for measure, model in MEASURES.items():
        part = records.where(measure=measure)
        link = find_link(part)
        if link is None:
            continue
        performance = part.numbers("performance")
        rows.append(
            {
                "measure": measure,
                "model": model,
                "blocks alone, from - to": f"{performance.min():.3f} - {performance.max():.3f}",
                "Spearman within a split": interval_text(link.ranked),
                "Pearson within a split": interval_text(link.linear),
                "Spearman, all blocks": interval_text(pooled(part, ranks=True)),
                "Pearson, all blocks": interval_text(pooled(part, ranks=False)),
                "pairs in the same order": f"{link.in_order:.0%}",
            }
        )
    if not rows:
        return []
    caption = (
        "Correlation of a block's value with the performance, on unseen test rows, of a model "
        "trained on it alone; in brackets the 95 % interval from drawing splits with replacement. "
        f"{_sizes(records)}"
    )
    return [(caption, rows)]


def _sizes(records: Records) -> str:
    """Splits, blocks and training rows, from the records of the first split."""
    first = records.where(measure=records.rows[0]["measure"], seed=records.rows[0]["seed"])
    columns = first.where(row_group=first.rows[0]["row_group"])
    rows = first.where(column_group=first.rows[0]["column_group"])
    return (
        f"{len(records.distinct('seed'))} random splits of {rows.numbers('n_rows').sum():,.0f} "
        f"training rows into {len(rows)} x {len(columns)} blocks."
    )


def headline(records: Records) -> str:
    """The mean rank correlations."""
    found = []
    for measure in MEASURES:
        link = find_link(records.where(measure=measure))
        if link is not None:
            found.append(f"{link.ranked[0]:.2f} ({measure})")
    n_splits = len(records.distinct("seed"))
    return (
        "Rank correlation of a block's value with the performance of a model trained on it alone, "
        f"mean over {n_splits} random splits: {', '.join(found)}."
    )


def draw(records: Records) -> Figure:
    """Value against performance, a dot per block, by measure."""
    shown = [measure for measure in MEASURES if len(records.where(measure=measure))]
    figure, axes = new_figure(1, len(shown), 3.6 * len(shown), 3.6)
    colours = ("#0b5fa5", "#e07b00", "#7b3fa0", "#1b8a5a", "#c2185b", "#8c6d46")
    for axis, measure in zip(axes[0], shown, strict=True):
        part = records.where(measure=measure)
        for k, (_, split) in enumerate(part.groups("seed")):
            x, y = split.numbers("performance"), split.numbers("value")
            colour = colours[k % len(colours)]
            axis.plot(x, y, ".", color=colour, markersize=4, alpha=0.6)
            if np.ptp(x) > 0:
                ends = np.array([x.min(), x.max()])
                axis.plot(
                    ends, np.polynomial.Polynomial.fit(x, y, 1)(ends), color=colour, linewidth=1
                )
        link = find_link(part)
        assert link is not None
        axis.set_title(
            f"{measure}, {MEASURES[measure]}\nmean rank correlation {link.ranked[0]:.2f}",
            fontsize=9,
        )
        axis.set_xlabel(f"{measure} of a model trained\non the block alone (test rows)")
    axes[0, 0].set_ylabel("2D-Shapley value of the block")
    figure.suptitle(
        "Blocks of Credit: a dot is a block, a colour and line a random split", fontsize=10
    )
    return figure


def pieces(quick: bool) -> list[Piece]:
    """One random split into blocks per seed, for every measure."""
    n_splits, groups, n_train, n_held_out = (2, 3, 500, 1000) if quick else (12, 4, 4000, 4000)
    return [
        Piece(
            f"split-{seed}-{measure.replace(' ', '-')}",
            {
                "measure": measure,
                "n_train": n_train,
                "n_held_out": n_held_out,
                "row_groups": groups,
                "column_groups": groups,
                "seed": seed,
            },
        )
        for seed in range(n_splits)
        for measure in MEASURES
    ]


EXPERIMENT = Experiment(
    name="blocks",
    title="Value of a block against the performance of a model trained on it alone",
    about=(
        "Credit is cut at random into groups of rows and groups of columns, rows and columns in "
        "random order, as in the paper; every block gets its exact 2D-Shapley value (all "
        "subsets of groups). The paper has 18,000 rows to train and 12,000 to validate and "
        "does not say into how many blocks it cut them; the table gives our sizes, and there are "
        "as many validation rows as training rows in the full run (4,000), twice as many in the "
        "quick one. Performance of a block alone is measured on as many test rows that the values "
        "have not seen, so that chance in the validation rows cannot link the two. The paper's "
        "measure is presumably the accuracy of its decision tree. Most clients pay, and a "
        "full-grown tree finds it hard to beat the guess that all do; therefore two more measures "
        "stand beside it: balanced accuracy of the same tree, and Gini (twice the ROC AUC less 1, "
        "which is 0 for guesses) of a logistic regression, a model that can learn from a few "
        "hundred rows."
    ),
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
