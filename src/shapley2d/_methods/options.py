"""Options that several methods share, each declared once."""

from __future__ import annotations

from typing import Any

from shapley2d._base.defaults import N_NEIGHBORS as DEFAULT_NEIGHBORS
from shapley2d._base.defaults import TOLERANCE as DEFAULT_TOLERANCE
from shapley2d._base.words import nearest_word
from shapley2d._knn.few_rows import VOTES as VOTES_BY
from shapley2d._knn.metric import METRICS
from shapley2d._methods.record import Option, choice, file, number, whole
from shapley2d._models.by_name import MODELS, check_model
from shapley2d.exceptions import InputError, Setting


def check_scoring(scoring: Any, name: str) -> None:
    """Check the name of a score; a scorer is left to scikit-learn."""
    if callable(scoring) and not isinstance(scoring, type):
        return
    if not isinstance(scoring, str):
        raise InputError(
            Setting(name, scoring), " must be the name of one of scikit-learn's scores, or a scorer"
        )
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if scoring not in known:
        longer = (name for name in known if name.startswith(scoring))
        near = next(longer, None) or nearest_word(scoring, known)
        hint = f"did you mean {near!r}?" if near else "for instance 'accuracy', 'roc_auc', 'r2'"
        raise InputError(Setting(name, scoring), f" is not one of scikit-learn's scores: {hint}")


N_NEIGHBORS = whole("n_neighbors", DEFAULT_NEIGHBORS, "number of neighbours that vote", short="-k")
METRIC = choice(
    "metric",
    tuple(METRICS),
    "distance between entries: auto scales every column, sqeuclidean takes raw numbers",
)
VOTES = choice(
    "votes",
    VOTES_BY,
    "what right votes are divided by: k, the number of neighbours even where fewer rows are there, "
    "as in the paper; or share, the votes there are, which owners are paid by",
)
BACKEND = choice(
    "backend",
    ("auto", "cpu", "cuda"),
    "where to compute: cpu; cuda, an NVIDIA GPU (extras cuda12 and cuda13); or auto, the GPU where "
    "it is faster",
)
TOLERANCE = number(
    "tolerance",
    DEFAULT_TOLERANCE,
    "stop when the largest standard error is at most this share of the spread of the values",
    zero=True,
)
MODEL = Option(
    "model",
    "tree",
    "a scikit-learn estimator, or the name of a model",
    names=tuple(MODELS),
    check=check_model,
)
# of methods that train, for model="knn" only
MODEL_NEIGHBORS = N_NEIGHBORS.but(default=None, shown_default=N_NEIGHBORS.default_words)
MODEL_METRIC = METRIC.but(default=None, shown_default=METRIC.default_words)
MODEL_VOTES = VOTES.but(default=None, shown_default=VOTES.default_words)
SCORING = Option(
    "scoring",
    None,
    "scikit-learn's name of a score, or a scorer",
    check=check_scoring,
    metavar="NAME",
    shown_default="accuracy or R squared",
)
KNN_SCORING = SCORING.but(
    help="for classes accuracy or balanced_accuracy, in which all classes count the same; for "
    "numbers neg_mean_squared_error",
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
    "auto encodes the table as numbers, one-hot where needed; none passes it on unchanged, as a "
    "pipeline with a ColumnTransformer always gets it",
    python_only=True,
)
TRUNCATION = number(
    "truncation",
    None,
    "add no more rows once the score is this close to the full score; biased",
    zero=True,
)
MAX_PERMUTATIONS = whole("max_permutations", 1000, "stop after this many permutations")
CHECKPOINT = file(
    "checkpoint",
    "file for the state: after a crash or Ctrl-C the same call resumes, with the same result",
)
CLUSTER = Option(
    "cluster",
    None,
    "address of a Dask scheduler, or its client (needs the extra distributed); or a pool whose "
    "submit(...) returns a future, such as an executor of concurrent.futures",
    metavar="ADDRESS",
)

TRAINING = (MODEL, SCORING, PREPROCESS, BASELINE, MODEL_NEIGHBORS, MODEL_METRIC, MODEL_VOTES)
"""Options of methods that train a model."""

KEPT = (CHECKPOINT, CLUSTER)
"""Options of methods whose work is done in numbered pieces."""

SAMPLING = (MAX_PERMUTATIONS, TOLERANCE, *KEPT)
"""Options of methods that average over permutations."""
