"""The detection benchmark: injected errors of six kinds, and which method finds them."""

from __future__ import annotations

from shapley2d_paper.detection.claims import CLAIMS
from shapley2d_paper.detection.figure import draw
from shapley2d_paper.detection.tables import headline, tables
from shapley2d_paper.detection.work import KINDS, work
from shapley2d_paper.harness.experiment import Experiment, Piece

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
    """What to compute: every group of methods on every corrupted table. Quick: one small table, one seed."""
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
    f"{len(SIZES)} datasets, {len(SEEDS)} seeds, {min(_VALIDATE)} to {max(_VALIDATE)} rows that validate, "
    f"{BUDGETS['2D-MC']} permutations of naive Bayes for 2D-MC and {BUDGETS['1D']} of a decision tree for 1D"
)

ABOUT = f"""\
Errors are injected into 2 % of the cells of a training table: values unlikely for their class, values pushed to the
tail, values swapped between rows, typos, or one column partly in another unit. Or 10 % of the labels are flipped. Every
method then ranks the cells (or the labels) from the highest anomaly score on; all methods see the same corrupted
tables, whose sizes are in the table of seconds. Heart comes without its repeated rows: a swapped value would stand out
against the copies of its row. 2D-KNN, 2D-MC, 1D and 2D-LOO validate on clean rows, which the others do not need and do
not get. The full run has {_FULL_RUN}; a quick run is smaller. 1D has as many
players as the table has cells, so that its few permutations leave its values noisy. DDC scores continuous columns only;
elsewhere its score is 0. A label's score is the value of its own cell for 2D-KNN and 2D-MC, the surprise at it for the
column predictor and the inspection (`inspect_cells`), and that of its whole row for the others. Last, the cells of
highest score are inspected, the errors among them get their true value back, and two models are trained again and
tested on clean, unseen rows. The inspection also says what an entry should be: a second repair puts that into all of
these cells, sound or not, as one would who looks nothing up. The paper has no such comparison."""

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
