"""``value_fragments``: what each contributor's piece of a table is worth to a model."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.checks import check_choice
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import did_you_mean
from shapley2d._estimation.fingerprint import hash_parts
from shapley2d._fragments.digest import content_digest
from shapley2d._fragments.estimate import estimate_game
from shapley2d._fragments.facts import FileDigest
from shapley2d._fragments.game import FragmentGame
from shapley2d._fragments.join import DISAGREE, join_pieces
from shapley2d._fragments.method import method_word, read_method
from shapley2d._fragments.owners import owned_pieces
from shapley2d._fragments.pieces import label_piece, named_fragments, read_piece
from shapley2d._fragments.result import make_valuation
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._models.judges import make_judge
from shapley2d._models.scores import SAYS, ScoreLines, score_name, sorted_rows
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.intake import as_frame, names_of, opened, without_column
from shapley2d._tables.kinds import check_kinds
from shapley2d._tables.problem import Problem, Split, crossed_splits, validated_split
from shapley2d._tables.reading.files import Source
from shapley2d._tables.splits import check_cv, split_rows
from shapley2d._tables.target import as_target
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from shapley2d._fragments.join import Joined
    from shapley2d._fragments.pieces import Piece
    from shapley2d._tables.splits import Splitter
    from shapley2d._tables.target import Target
    from shapley2d._theory.semivalues import Semivalue
    from shapley2d._valuation.valuation import Valuation

BY = ("contributor", "column")


def value_fragments(
    fragments: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    labels: Any = None,
    on: str | None = None,
    owners: Any = None,
    by: Literal["contributor", "column"] = "contributor",
    disagree: Literal["error", "first", "missing"] = "error",
    method: Any = "boosting",
    task: Literal["auto", "classification", "regression"] = "auto",
    kinds: Mapping[str, Literal["number", "date", "text"]] | None = None,
    cv: int | Splitter | Iterable[tuple[Any, Any]] | None = FOLDS,
    valid_weight: Any = None,
    scoring: str | None = None,
    semivalue: Semivalue | tuple[Semivalue, Semivalue] = SEMIVALUE,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_time: float | str | None = None,
    progress: Literal["auto"] | bool | Callable[[float, str], None] = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    cluster: Any = None,
) -> Valuation:
    """Value what each contributor's piece of a table is worth, with overlaps and holes.

    Contributors are the players of one axis, columns those of the other. A set of contributors is
    worth the score of a model that is trained on all cells that they hold, every other entry being
    missing, less what the labels alone predict. Values are the 2D-Shapley values of that game (Liu
    et al., ICML 2023): they sum to the score of everybody's table less the baseline, and whoever
    holds no entry gets exactly 0.

    Parameters
    ----------
    fragments : dict or list of tables or paths
        What each contributor gives, by name: frames or files of any kind that
        :func:`~shapley2d.value_cells` reads. Names of a list are those of the files. Or one
        assembled table, with ``owners``.
    y : str, or 1-D array, list or series
        The target: the name of a column that some of the fragments hold (a row trains only if
        somebody in a set holds its label, so that labels are valued too), or that ``labels`` has.
        Or everybody's labels themselves, a series whose index has the ids.
    X_valid, y_valid : table, and 1-D array, list or series
        The validation table, with all columns, and its target, which may be a column of it. Without
        them the rows are split into ``cv`` folds, which validate each other.
    labels : table or path, optional
        Everybody's labels: a table with the ids and the target.
    on : str, optional
        The column of ids, which say which row is which; by default the index of the frames.
    owners : array in the shape of the table, or claims, optional
        Who holds which cell of one assembled table: names, None where nobody does; or a table of
        claims with the columns ``owner``, ``row`` and ``column``, of which an empty one means all,
        several are separated by ``;``, and rows are ids.
    by : {"contributor", "column"}
        One value for each contributor, or one for each contributor and column.
    disagree : {"error", "first", "missing"}
        What happens to a cell for which contributors have different entries.
    method : str, scikit-learn estimator, Exact or MonteCarlo
        The model that judges: ``"boosting"``, compiled for this; or ``"tree"``,
        ``"hist_gradient_boosting"``, or any estimator that takes missing entries. It is trained on
        all sets of up to 12 contributors (with ``by="column"`` up to 14 contributors and columns
        together), and on the sets along random orders of more. ``Exact(model)`` and
        ``MonteCarlo(model)`` decide which.
    scoring : str, optional
        ``"probability"``, the mean probability of the right label, by default; ``"accuracy"``,
        ``"roc_auc"`` or ``"neg_log_loss"``; of numbers ``"r2"``.
    task, kinds, cv, valid_weight, semivalue
        As in :func:`~shapley2d.value_cells`.
    random_state, n_jobs, max_time, progress, checkpoint, cluster
        As in :func:`~shapley2d.value_cells`.

    Returns
    -------
    Valuation
        Its rows are contributors. See :meth:`~shapley2d.Valuation.payments`,
        :meth:`~shapley2d.Valuation.best_sets`, ``alone``, ``without`` and
        :meth:`~shapley2d.Valuation.receipt`.

    Notes
    -----
    Intervals say what other validation rows, and other random orders, would change.

    Contributors are known: a contract says who they are. Where anybody may take two names, pay by
    sums of cell values instead, which splitting does not move: ``value_cells(...).sum_by(owners)``.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from shapley2d import value_fragments
    >>> random = np.random.default_rng(0)
    >>> table = pd.DataFrame(random.normal(size=(300, 3)), columns=["age", "debt", "noise"])
    >>> y = (table.age + table.debt > 0).rename("late")
    >>> bank, shop = table.loc[:199, ["age", "debt"]], table.loc[:199, ["noise"]]
    >>> later = table[200:].assign(late=y)
    >>> v = value_fragments({"Bank": bank, "Shop": shop}, y[:200], later, progress=False)
    >>> v.payments(1000).amount.tolist()
    [1000.0, 0.0]
    """
    asked = locals()
    run = Run.create(random_state, semivalue, n_jobs, progress, max_time, checkpoint, cluster)
    check_choice(by, "by", BY)
    check_choice(disagree, "disagree", DISAGREE)
    check_cv(FOLDS if cv is None else cv)
    judging = read_method(method)
    target, pieces, sources = _read(fragments, y, labels, on, owners, kinds)
    joined = join_pieces(pieces, target, disagree)
    goal = as_target(np.array(joined.labels, dtype=object), joined.table, task)
    splits = [sorted_rows(one) for one in _splits(joined, goal, target, pieces, asked, run.seed)]
    score, crossed = score_name(scoring, goal.task), X_valid is None
    measures = [ScoreLines(score, split) for split in splits]
    folds = [
        (make_judge(judging.model, split, run.seed), measure, split.rows if crossed else None)
        for split, measure in zip(splits, measures, strict=True)
    ]
    if not crossed:
        sources.append(("validation", X_valid))
    files = [FileDigest(role, *content_digest(one, role)) for role, one in sources]
    size = joined.table.n_columns
    groups = np.arange(size) if by == "column" else np.zeros(size, dtype=np.intp)
    players, columns = joined.players(groups)
    place = np.maximum(np.cumsum(columns) - 1, 0)
    compiled = isinstance(judging.model, str) and judging.model == "boosting"
    game = FragmentGame(joined, players, folds, place[groups], compiled=compiled)
    holding = hash_parts([joined.held.tobytes(), joined.labelled.tobytes()])
    problem = Problem(joined.table, goal, splits, None, score)
    asking = {"who holds what": holding, "by": by}
    found = estimate_game(game, run.advising(), judging, problem, **asking)
    baseline = float(np.mean([measure.baseline for measure in measures]))
    known = {
        "target": target, "score": score, "baseline": baseline, "by": by,
        "n_valid": sum(split.valid.n_rows for split in splits), "crossed": crossed,
        "files": files, "question": _question(asked, target, run),
    }  # fmt: skip
    info = run.record(
        kind="fragments",
        players=("contributor", "column"),
        method=method_word(method),
        task=goal.task,
        n_valid=known["n_valid"],
        folds=len(splits) if crossed else None,
        n_trained=found.n_trained,
        score=SAYS[score],
        baseline_utility=baseline,
        about={
            "how": found.how,
            "meaning": "what it adds, on average over all orders in which contributors can join, "
            "to the score of the model",
            "total": f"the model's score less {baseline:.4g}, that of the labels alone",
            "caution": "",
        },
        call=repeat_call(value_fragments, asked | {"random_state": run.seed}),
        **found.estimate.info,
    )
    frame = frame_kind(sources[0][1])
    return make_valuation(joined, found, players, columns, known=known, info=info, frame=frame)


def _read(
    fragments: Any, y: Any, labels: Any, on: str | None, owners: Any, kinds: Any
) -> tuple[str, list[Piece], list[tuple[str, Any]]]:
    """The name of the target, what everybody gives, and the files and frames by their roles."""
    target, everybody = label_piece(y, labels, on)
    if owners is not None:
        own = target if everybody is None else None
        pieces = owned_pieces(fragments, owners, on, own, kinds)
        sources = [("fragments", fragments), ("owners", owners)]
    else:
        sources = [*named_fragments(fragments).items()]
        pieces = [read_piece(name, one, on, kinds) for name, one in sources]
    if everybody is not None:
        pieces.append(everybody)
        sources.append(("labels", y if labels is None else labels))
    check_kinds(kinds, {name for piece in pieces for name in piece.columns})
    return target, pieces, sources


def _splits(
    joined: Joined,
    goal: Target,
    target: str,
    pieces: Sequence[Piece],
    asked: Mapping[str, Any],
    seed: int,
) -> list[Split]:
    """What trains and what validates: a table of its own, or folds of the rows."""
    X_valid, y_valid, weight = (asked[name] for name in ("X_valid", "y_valid", "valid_weight"))
    if X_valid is None:
        for name in ("y_valid", "valid_weight"):
            if asked[name] is not None:
                raise InputError(f"{name} needs a validation table X_valid")
        warn_input(
            "there is no validation table, so the contributors' own rows test each other: rows "
            "that one of them invents vouch for each other"
        )
        parts = split_rows(joined.table, goal, asked["cv"] or FOLDS, seed=seed)
        return crossed_splits(joined.table, goal, parts.splits)
    X_valid = opened(X_valid)
    if isinstance(weight, str):
        X_valid, weight = without_column(X_valid, weight, "X_valid", "valid_weight")
    names = names_of(X_valid)
    if y_valid is None or isinstance(y_valid, str):
        column = target if y_valid is None else y_valid
        if column not in names:
            raise InputError(
                f"X_valid has no target {column!r}: add it as a column, or give "
                f"y_valid{did_you_mean(column, names)}"
            )  # fmt: skip
        X_valid, y_valid = without_column(X_valid, column, "X_valid")
    for name in joined.table.column_names:
        if name not in names:
            holder = next(piece.name for piece in pieces if name in piece.columns)
            raise InputError(
                f"X_valid lacks the column {name!r}, which {holder} holds: add it, or drop it "
                "from the fragments"
            )  # fmt: skip
    frame = nw.from_native(as_frame(X_valid, "X_valid"), eager_only=True)
    chosen = frame.select(joined.table.column_names).to_native()
    if isinstance(X_valid, Source):
        chosen = replace(X_valid, table=chosen)
    return [validated_split(joined.table, goal, chosen, y_valid, weight)]


_ASKED = (
    *("on", "by", "disagree", "method", "task", "kinds", "cv", "valid_weight", "scoring"),
    "semivalue",
)


def _question(asked: Mapping[str, Any], target: str, run: Run) -> dict[str, Any]:
    """The arguments that decide the values, as JSON; None where one is no plain value."""
    return {
        **{name: plain_value(asked[name]) for name in _ASKED},
        "target": target,
        "random_state": run.seed,
        "labels_apart": asked["labels"] is not None or not isinstance(asked["y"], str),
        "max_time": None if run.limit is None else run.limit.seconds,
    }


def plain_value(value: Any) -> Any:
    """A value if JSON can hold it, else None."""
    try:
        return json.loads(json.dumps(value))
    except (TypeError, ValueError):
        return None
