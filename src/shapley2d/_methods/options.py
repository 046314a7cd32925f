"""Options that several methods share, each declared once."""

from __future__ import annotations

import difflib
from typing import Any

from shapley2d._base.defaults import N_NEIGHBORS as DEFAULT_NEIGHBORS
from shapley2d._base.defaults import TOLERANCE as DEFAULT_TOLERANCE
from shapley2d._knn.metric import METRICS
from shapley2d._methods.models import model_option
from shapley2d._methods.record import Option, choice, file, number, whole
from shapley2d.exceptions import InputError, Setting


def check_scoring(scoring: Any, name: str) -> None:
    """Check a score that is given by name, or suggest the nearest; a scorer is left to scikit-learn."""
    if callable(scoring) and not isinstance(scoring, type):
        return
    if not isinstance(scoring, str):
        raise InputError(
            Setting(name, scoring), " must be the name of one of scikit-learn's scores, or a scorer"
        )
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if scoring not in known:
        near = [name for name in known if name.startswith(scoring)] or difflib.get_close_matches(
            scoring, known, 1
        )
        hint = f"did you mean {near[0]!r}?" if near else "for instance 'accuracy', 'roc_auc', 'r2'"
        raise InputError(Setting(name, scoring), f" is not one of scikit-learn's scores: {hint}")


N_NEIGHBORS = whole("n_neighbors", DEFAULT_NEIGHBORS, "how many neighbours vote", short="-k")
METRIC = choice(
    "metric",
    tuple(METRICS),
    "how far apart entries are: auto scales every column, sqeuclidean takes raw numbers",
)
BACKEND = choice(
    "backend",
    ("auto", "cpu", "cuda"),
    "where to compute: the processor, an NVIDIA GPU (extras cuda12 and cuda13), or the GPU where the work pays for it",
)
TOLERANCE = number(
    "tolerance",
    DEFAULT_TOLERANCE,
    "stop when the largest standard error is this small beside the spread of the values",
    zero=True,
)
MODEL = model_option("sklearn_tree")
MODEL_NEIGHBORS = N_NEIGHBORS.but(
    default=None, shown_default=N_NEIGHBORS.default_words
)  # of model "knn" only
MODEL_METRIC = METRIC.but(default=None, shown_default=METRIC.default_words)
MODEL_BACKEND = BACKEND.but(default=None, shown_default=BACKEND.default_words)
SCORING = Option(
    "scoring",
    None,
    "scikit-learn's name of a score, or a scorer",
    check=check_scoring,
    metavar="NAME",
    shown_default="accuracy or R squared",
)
KNN_SCORING = SCORING.but(
    help="what validation rows are averaged to: accuracy, or balanced_accuracy, in which all classes count the same; "
    "numbers have neg_mean_squared_error",
    shown_default="accuracy or squared error",
)
BASELINE = choice(
    "baseline",
    ("labels", "zero"),
    "what no columns are worth: what the rows' labels alone predict, or 0, as in the paper",
)
PREPROCESS = choice(
    "preprocess",
    ("auto", "none"),
    "auto gives a model numbers, one-hot where needed; none hands a pipeline of your own the table as it is, which one "
    "with a ColumnTransformer gets in any case",
    python_only=True,
)
TRUNCATION = number(
    "truncation",
    None,
    "train no more rows, or cells, once the score is within this of that of all; biased",
    zero=True,
)
MAX_PERMUTATIONS = whole("max_permutations", 1000, "stop there in any case")
CHECKPOINT = file(
    "checkpoint",
    "keep the state there: after a crash or Ctrl-C the same call goes on from it, to the same bits",
)
CLUSTER = Option(
    "cluster",
    None,
    "the address of a Dask scheduler to work on, or a client of it (needs the extra distributed); or a pool whose "
    "submit(...) has a result(), as the executors of concurrent.futures do",
    metavar="ADDRESS",
)

TRAINING = (MODEL, SCORING, PREPROCESS, BASELINE, MODEL_NEIGHBORS, MODEL_METRIC)
"""Of methods that train a model."""

KEPT = (CHECKPOINT, CLUSTER)
"""Of methods whose work is done in numbered pieces."""

SAMPLING = (MAX_PERMUTATIONS, TOLERANCE, *KEPT)
"""Of methods that average over permutations."""
