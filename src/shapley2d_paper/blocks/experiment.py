"""Blocks of Credit: what a contributor's block is worth, against the performance of a model trained on it alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from shapley2d._api.blocks import value_blocks
from shapley2d._games.model import ModelGame
from shapley2d._tables.problem import make_problem
from shapley2d._theory.coalitions import MaskCoalitions
from shapley2d_paper.blocks.links import find_link, pooled
from shapley2d_paper.data.splits import split_table
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece
from shapley2d_paper.harness.figures import new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from shapley2d_paper.blocks.links import Interval, Link
    from shapley2d_paper.data.splits import Parts
    from shapley2d_paper.harness.experiment import Row, Verdict
    from shapley2d_paper.harness.records import Records

MEASURES = {
    "accuracy": "decision tree",
    "balanced accuracy": "decision tree",
    "Gini": "logistic regression",
}
"""Measures of performance, and the model that each is measured with."""

SMALLEST_SHARE = 0.05  # of the rows, in a group of rows
STRONG = 0.5  # mean rank correlation from which on "grows with" is a fair description
TENDENCY = 0.6  # share of pairs in the same order from which on one may speak of a tendency; chance is a half


def gini(model: Any, X: NDArray[np.float64], y: NDArray[np.intp]) -> float:
    """Twice the area under the ROC curve, less 1: 0 for guesses, whatever the share of the classes."""
    return float(2 * roc_auc_score(y, model.predict_proba(X)[:, 1]) - 1)


def _pieces(quick: bool) -> list[Piece]:
    n_splits, groups, n_train, n_judge = (2, 3, 500, 1000) if quick else (12, 4, 4000, 4000)
    return [
        Piece(
            f"split-{seed}-{measure.replace(' ', '-')}",
            {
                "measure": measure,
                "n_train": n_train,
                "n_judge": n_judge,
                "row_groups": groups,
                "column_groups": groups,
                "seed": seed,
            },
        )
        for seed in range(n_splits)
        for measure in MEASURES
    ]


def work(
    *, measure: str, n_train: int, n_judge: int, row_groups: int, column_groups: int, seed: int
) -> list[Row]:
    """One random split into blocks: the value of each, and the performance of a model trained on it alone."""
    parts = split_table("credit", seed, n_train=n_train, n_valid=n_judge, n_test=n_judge)
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(0,)))
    rows = random_groups(n_train, row_groups, int(SMALLEST_SHARE * n_train), rng)
    columns = random_groups(parts.X.shape[1], column_groups, 1, rng)
    model: Any = DecisionTreeClassifier(random_state=seed)
    scoring: Any = None if measure == "accuracy" else "balanced_accuracy"
    if measure == "Gini":
        model, scoring = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky")), gini
    valuation = value_blocks(
        parts.X,
        parts.y,
        parts.X_valid,
        parts.y_valid,
        rows=rows,
        columns=columns,
        method="exact",
        model=model,
        scoring=scoring,
        n_jobs=1,
        progress=False,
    )
    alone = performance_alone(parts, rows, columns, model, scoring)
    # groups are listed in the order in which the table shows them
    group_of_row, group_of_column = (
        np.array(names).astype(int) for names in (valuation.row_names, valuation.column_names)
    )
    return [
        {
            "measure": measure,
            "row_group": int(i),
            "column_group": int(j),
            "n_rows": int((rows == i).sum()),
            "n_columns": int((columns == j).sum()),
            "value": float(valuation.values[a, b]),
            "performance": float(alone[i, j]),
            "total": valuation.total,
        }
        for a, i in enumerate(group_of_row)
        for b, j in enumerate(group_of_column)
    ]


def random_groups(n_members: int, n_groups: int, smallest: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Groups between random lines, the members in random order; each has ``smallest`` members at least."""
    spare = n_members - n_groups * smallest
    lines = np.sort(rng.integers(0, spare + 1, n_groups - 1))
    sizes = smallest + np.diff([0, *lines, spare])
    return np.asarray(rng.permutation(np.repeat(np.arange(n_groups), sizes)))


def performance_alone(
    parts: Parts, rows: NDArray[np.intp], columns: NDArray[np.intp], model: Any, scoring: Any
) -> NDArray[np.float64]:
    """Performance on the test rows, which no value knows, of a model trained on each block and nothing else."""
    (split,) = make_problem(parts.X, parts.y, parts.X_test, parts.y_test, task="classification").splits
    game = ModelGame(model, split.train, split.y, split.valid, split.y_valid, scoring=scoring)
    each_row, each_column = (
        MaskCoalitions(labels == np.arange(labels.max() + 1)[:, None]) for labels in (rows, columns)
    )
    return game.utilities(each_row, each_column)


def judge_growth(records: Records) -> Judgement | None:
    """By the rank correlation within splits, for the paper's measure and for the one that moves most."""
    links = {measure: find_link(records.where(measure=measure)) for measure in ("accuracy", "Gini")}
    found = {measure: link for measure, link in links.items() if link is not None}
    if len(found) < len(links):
        return None
    passed = [measure for measure, link in found.items() if link.ranked[0] >= STRONG and link.ranked[1] > 0]
    verdict: Verdict = (
        "holds" if len(passed) == len(found) else "holds in part" if passed else "does not hold"
    )
    figures = "; ".join(
        f"{measure} ({MEASURES[measure]}): mean rank correlation {_text(link.ranked)}, "
        f"positive in {link.n_positive} of {link.n_splits} splits"
        for measure, link in found.items()
    )
    why = (
        f"Rule: the rank correlation within a split is {STRONG} or more on average and its 95 % interval, over splits, "
        f"lies above 0. It does so for {' and '.join(passed) if passed else 'neither measure'}; both make it hold, one "
        f"in part. {_in_pairs(found)} {_not_judged(records)}"
    )
    return Judgement(verdict, figures, why.strip())


def _in_pairs(links: dict[str, Link]) -> str:
    """How often the better of two blocks is worth more, and what that makes of the claim."""
    orders = " and ".join(f"{link.in_order:.0%} ({measure})" for measure, link in links.items())
    text = f"Of two blocks of a split, the better performer has the higher value in {orders} of the cases"
    shares = [link.in_order for link in links.values()]
    if min(shares) == 1:
        return f"{text}, without exception."
    what = "a tendency and no law" if min(shares) >= TENDENCY else "no more than a weak tendency"
    return f"{text}: {what}, for a block also earns by what it adds to others."


def _not_judged(records: Records) -> str:
    link = find_link(records.where(measure="balanced accuracy"))
    if link is None:
        return ""
    return (
        "Balanced accuracy is shown and not judged, as it would count the paper's tree twice; its mean rank "
        f"correlation is {_text(link.ranked)}."
    )


def _text(figure: Interval) -> str:
    return f"{figure[0]:.2f} [{figure[1]:.2f}, {figure[2]:.2f}]"


def _tables(records: Records) -> list[tuple[str, list[dict[str, str]]]]:
    lines = []
    for measure, model in MEASURES.items():
        part = records.where(measure=measure)
        link = find_link(part)
        if link is None:
            continue
        performance = part.numbers("performance")
        lines.append(
            {
                "measure": measure,
                "model": model,
                "blocks alone, from - to": f"{performance.min():.3f} - {performance.max():.3f}",
                "Spearman within a split": _text(link.ranked),
                "Pearson within a split": _text(link.linear),
                "Spearman, all blocks": _text(pooled(part, ranks=True)),
                "Pearson, all blocks": _text(pooled(part, ranks=False)),
                "pairs in the same order": f"{link.in_order:.0%}",
            }
        )
    if not lines:
        return []
    caption = (
        "Correlation of a block's value with the performance, on unseen test rows, of a model trained on it alone; in "
        f"brackets the 95 % interval from drawing splits with replacement. {_sizes(records)}"
    )
    return [(caption, lines)]


def _sizes(records: Records) -> str:
    """Splits, blocks and training rows, from the lines of the first split."""
    first = records.where(measure=records.rows[0]["measure"], seed=records.rows[0]["seed"])
    columns = first.where(row_group=first.rows[0]["row_group"])
    rows = first.where(column_group=first.rows[0]["column_group"])
    return (
        f"{len(records.distinct('seed'))} random splits of {rows.numbers('n_rows').sum():,.0f} training rows into "
        f"{len(rows)} x {len(columns)} blocks."
    )


def _headline(records: Records) -> str:
    found = []
    for measure in MEASURES:
        link = find_link(records.where(measure=measure))
        if link is not None:
            found.append(f"{link.ranked[0]:.2f} ({measure})")
    n_splits = len(records.distinct("seed"))
    return (
        "Rank correlation of a block's value with the performance of a model trained on it alone, mean over "
        f"{n_splits} random splits: {', '.join(found)}."
    )


def _draw(records: Records) -> Figure:
    shown = [measure for measure in MEASURES if len(records.where(measure=measure))]
    figure, axes = new_figure(1, len(shown), 3.6 * len(shown), 3.6)
    colours = ("#0b5fa5", "#e07b00", "#7b3fa0", "#1b8a5a", "#c2185b", "#8c6d46")
    for axis, measure in zip(axes[0], shown, strict=True):
        lines = records.where(measure=measure)
        for k, (_, split) in enumerate(lines.groups("seed")):
            x, y = split.numbers("performance"), split.numbers("value")
            colour = colours[k % len(colours)]
            axis.plot(x, y, ".", color=colour, markersize=4, alpha=0.6)
            if np.ptp(x) > 0:
                ends = np.array([x.min(), x.max()])
                axis.plot(ends, np.polynomial.Polynomial.fit(x, y, 1)(ends), color=colour, linewidth=1)
        link = find_link(lines)
        assert link is not None
        axis.set_title(
            f"{measure}, {MEASURES[measure]}\nmean rank correlation {link.ranked[0]:.2f}", fontsize=9
        )
        axis.set_xlabel(f"{measure} of a model trained\non the block alone (test rows)")
    axes[0, 0].set_ylabel("2D-Shapley value of the block")
    figure.suptitle("Blocks of Credit: a dot is a block, a colour and line a random split", fontsize=10)
    return figure


EXPERIMENT = Experiment(
    name="blocks",
    title="Value of a block against the performance of a model trained on it alone",
    about=(
        "Credit is cut by random lines into groups of rows and groups of columns, rows and columns in random order, as "
        "in the paper; every block gets its exact 2D-Shapley value (all coalitions of groups). The paper has 18,000 "
        "rows to train and 12,000 to validate and does not say into how many blocks it cut them; the table gives our "
        "sizes, and there are as many validation rows as training rows in the full run (4,000), twice as many in the "
        "quick one. Performance of a block alone is measured on as many test rows that the values have not seen, so "
        "that chance in the validation rows cannot link the two. The paper's measure is presumably the accuracy of its "
        "decision tree. Most clients pay, and a full-grown tree finds it hard to beat the guess that all do; therefore "
        "two more measures stand beside it: balanced accuracy of the same tree, and Gini (twice the ROC AUC less 1, "
        "which is 0 for guesses) of a logistic regression, a model that can learn from a few hundred rows."
    ),
    pieces=_pieces,
    work=work,
    draw=_draw,
    tables=_tables,
    headline=_headline,
    claims=(
        Claim(
            "The value of a block grows with the performance of a model trained on the block (Credit)",
            "a figure of rising lines, one per random split; no correlation is given",
            judge_growth,
        ),
    ),
)
