"""The detection benchmark: injected errors of six kinds, and which method finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from shapley2d_paper.detection.means import (
    CELL_VALUES,
    DEVIATION,
    KIND_TITLES,
    METHODS,
    SIGN,
    best_comparison,
    comparisons,
    gain,
    lacking,
    marked,
    methods_of,
)
from shapley2d_paper.detection.page import draw, headline, tables
from shapley2d_paper.detection.work import KINDS, work
from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement, Piece

if TYPE_CHECKING:
    from shapley2d_paper.detection.means import Comparison
    from shapley2d_paper.harness.experiment import Verdict
    from shapley2d_paper.harness.records import Records

_MARGIN = 0.01  # of AUROC: closer than this is a draw


def judge_harm(records: Records) -> Judgement | None:
    """Whether 2D-KNN beats every deviation detector on swapped values and on flipped labels."""
    kinds = ("swapped", "labels")
    made = {kind: comparisons(records, kind, "2D-KNN", DEVIATION) for kind in kinds}
    if not all(made.values()):
        return None
    ahead = {kind: [one for one in made[kind] if one.lead > _MARGIN] for kind in kinds}
    n_ahead, n_made = (sum(map(len, each.values())) for each in (ahead, made))
    verdict: Verdict = "does not hold"
    if 2 * n_ahead >= n_made:
        verdict = "holds" if n_ahead == n_made else "holds in part"
    names = "; ".join(
        f"{KIND_TITLES[kind]}: {', '.join(one.other for one in ahead[kind]) or 'none'}"
        for kind in kinds
    )
    ours = {kind: records.where(method="2D-KNN", kind=kind) for kind in kinds}
    repaired = " and ".join(
        f"{gain(part, 'more'):+.2f} of {gain(part, 'ceiling'):+.2f} possible points of accuracy "
        f"({KIND_TITLES[kind]})"
        for kind, part in ours.items()
    )
    return Judgement(
        verdict,
        "; ".join(
            _text(records, kind, min(made[kind], key=lambda one: one.lead)) for kind in kinds
        ),
        f"2D-KNN is ahead by more than {_MARGIN} of mean AUROC in {n_ahead} of {n_made} "
        f"comparisons with deviation detectors ({names}). The statement holds if it is "
        "ahead in all, in part if in half of them. Repairing what 2D-KNN finds first brings "
        f"{repaired}.{_not_run(records)}",
    )


def judge_deviation(records: Records) -> Judgement | None:
    """Whether the best deviation detector beats the best cell value on tail values and on units."""
    kinds = ("tail", "units")
    found = {kind: best_comparison(records, kind, DEVIATION, CELL_VALUES) for kind in kinds}
    made = {kind: comparison for kind, comparison in found.items() if comparison is not None}
    if len(made) < len(kinds):
        return None
    ahead = [kind for kind, comparison in made.items() if comparison.lead > _MARGIN]
    verdict: Verdict = (
        "holds" if len(ahead) == len(kinds) else "holds in part" if ahead else "does not hold"
    )
    return Judgement(
        verdict,
        "; ".join(_text(records, kind, comparison) for kind, comparison in made.items()),
        f"The best deviation detector is ahead of the best cell value by more than {_MARGIN} of "
        f"mean AUROC on {' and '.join(KIND_TITLES[kind] for kind in ahead) or 'neither'}. The "
        "statement holds if on both, in part if on one. 2D-OOB with its distance term counts as a "
        "cell value, though the term measures deviation." + _not_run(records),
    )


def _text(records: Records, kind: str, comparison: Comparison) -> str:
    method, other = (
        marked(records.where(kind=kind), name) for name in (comparison.method, comparison.other)
    )
    ours, theirs = f"{method} {comparison.auroc:.2f}", f"{other} {comparison.other_auroc:.2f}"
    return f"{KIND_TITLES[kind]}: {ours}, {theirs}"


def _not_run(records: Records) -> str:
    """Which methods were not run at all, or not on every table."""
    missing = [method for method in METHODS if method not in methods_of(records)]
    partly = [method for method in methods_of(records) if lacking(records, method)]
    text = ""
    if partly:
        text += (
            f" Not run on every table ({SIGN}), and compared on shared ones: {', '.join(partly)}."
        )
    if missing:
        text += f" Not run, so not compared: {', '.join(missing)}."
    return text


CLAIMS = (
    Claim(
        "(not in the paper) 2D-KNN finds harmful cells that deviation detectors miss: swapped "
        "values, flipped labels",
        "-",
        judge_harm,
    ),
    Claim(
        "(not in the paper) Deviation detectors beat cell values on tail values and units",
        "-",
        judge_deviation,
    ),
)
"""Statements to judge."""

SEEDS = (0, 1, 2)
"""Seeds of the full run."""

SIZES = {
    "census": (150, 200),
    "credit": (150, 200),
    "breast_cancer": (150, 150),
    "heart_distinct": (150, 75),
    "wine": (90, 44),
}
"""Rows that train and rows that validate, by dataset."""

BUDGETS = {"2D-MC": 300, "1D": 20}
"""Permutations of the methods that sample."""

GROUPS = {
    "values": ["2D-KNN", "2D-MC", "2D-LOO", "random", "z-score"],
    "oob": ["2D-OOB", "2D-OOB distance"],
    "1d": ["1D"],
    "ecod": ["ECOD"],
    "ddc": ["DDC"],
    "predictor": ["column predictor"],
    "inspection": ["inspection"],
}
"""Methods that are run together; those that may be missing stand alone."""


def pieces(quick: bool) -> list[Piece]:
    """Every group of methods on every corrupted table. Quick: one small table, one seed."""
    seeds = (0,) if quick else SEEDS
    sizes = {"breast_cancer": (60, 60)} if quick else SIZES
    budgets = {"2D-MC": 20, "1D": 2} if quick else BUDGETS
    return [
        Piece(
            f"{dataset}-{kind}-{seed}-{group}",
            {
                "dataset": dataset,
                "kind": kind,
                "seed": seed,
                "methods": methods,
                "n_train": n_train,
                "n_valid": n_valid,
                "n_test": None,
                "budgets": {method: budgets[method] for method in methods if method in budgets},
            },
        )
        for dataset, (n_train, n_valid) in sizes.items()
        for kind in KINDS
        for seed in seeds
        for group, methods in GROUPS.items()
    ]


_VALIDATE = [n_valid for _, n_valid in SIZES.values()]
_FULL_RUN = (
    f"{len(SIZES)} datasets, {len(SEEDS)} seeds, {min(_VALIDATE)} to {max(_VALIDATE)} rows that "
    f"validate, {BUDGETS['2D-MC']} permutations of naive Bayes for 2D-MC and {BUDGETS['1D']} of a "
    "decision tree for 1D"
)

ABOUT = f"""\
Errors are injected into 2 % of the cells of a training table: values unlikely for their class,
values pushed to the tail, values swapped between rows, typos, or part of one column in another
unit. Or 10 % of the labels are flipped. Every method then ranks the cells (or the labels) by its
anomaly score, highest first. All methods see the same corrupted tables; the table of seconds has
their sizes. Heart is used without its duplicate rows: a swapped value would stand out against the
copies of its row. 2D-KNN, 2D-MC, 1D and 2D-LOO validate on clean rows; the other methods need none
and get none. The full run has {_FULL_RUN}; a quick run is smaller. In 1D every cell is a player,
so its few permutations leave its values noisy. DDC scores continuous columns only; elsewhere its
score is 0. A label's score is the value of its own cell for 2D-KNN and 2D-MC, how surprising it is
for the column predictor and the inspection (`inspect_cells`), and the score of its whole row for
the others. Finally the cells of highest score are inspected, the errors among them get their true
values back, and two models are trained again and tested on clean, unseen rows. The inspection also
suggests replacements: a second repair puts them into all of these cells, correct or not, like a
user who looks nothing up. The paper has no such comparison."""

EXPERIMENT = Experiment(
    name="detection",
    title="Which method finds which errors",
    about=ABOUT,
    pieces=pieces,
    work=work,
    draw=draw,
    tables=tables,
    headline=headline,
    claims=CLAIMS,
)
