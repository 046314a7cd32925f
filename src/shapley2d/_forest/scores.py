"""The score of a fitted model: its name, what its values sum to, and what they cannot explain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.warnings import warn_input
from shapley2d._base.words import one_of, shown
from shapley2d._forest.ensemble import library_of
from shapley2d._forest.fitted import FittedTrees, Rows, Unit
from shapley2d._forest.library import about
from shapley2d._forest.losses import LOG, SQUARED
from shapley2d._methods.score_facts import (
    ALIKE,
    MOST_UNEXPLAINED,
    as_it_is,
    per_cent,
    score_facts,
    target_variance,
)
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from shapley2d._base.arrays import Ints
    from shapley2d._forest.losses import Loss
    from shapley2d._forest.model import Model
    from shapley2d._tables.problem import Problem, Split


def check_score(problem: Problem, loss: Loss) -> None:
    """Refuse a score that has no closed form for trees of this loss.

    By default it is the probability of the right label, or the share of a loss that the predictions
    remove. Balanced accuracy stands for the default with classes that count the same.
    """
    known = [loss.share, *([loss.scikit_learn] if loss.scikit_learn else [])]
    if problem.target.task == "classification":
        known.append("balanced_accuracy")
    if problem.scoring is not None and problem.scoring not in known:
        raise InputError(
            f"scoring={shown(problem.scoring)} has no closed form for the leaves of trees that "
            f"predict by {loss.name}: use {one_of(known)}, or method='mc' with the same model"
        )


def hold_models(model: Any, models: list[Model], problem: Problem) -> list[FittedTrees]:
    """The trees of every split with their residuals; refuses what cannot be told exactly.

    ``model``: named in messages; ``models``: as they were read, for every split.
    """
    both = list(zip(models, problem.splits, strict=True))
    rows = [_rows(model, one, split, problem) for one, split in both]
    unit = unit_of(problem, models[0].loss, rows)
    held = [_hold(model, *one, these, unit) for one, these in zip(both, rows, strict=True)]
    nobodys, moved = abs(sum(one.nobodys() for one in held)), sum(one.moved() for one in held)
    if nobodys > MOST_UNEXPLAINED * moved:
        why = (
            "pass the rows and labels that it was fitted on, in their order, or the model unfitted"
        )
        if not (models[0].loss.curved or models[0].loss.by_class):
            why += "; leaves of quantiles with few or equal targets are no means of rows"
        raise InputError(
            f"{about(model)} predicts what these rows do not: {nobodys / moved:.0%} of what its "
            f"predictions move the score is not theirs; {why}"
        )
    return held


def _hold(model: Any, read: Model, split: Split, rows: Rows, unit: Unit) -> FittedTrees:
    """The trees of a split; refused where they do not give the model's own predictions."""
    own = read.raw(split.valid)
    trees = _without_start(read, rows, split.y.y, own.shape[1])
    if not read.start_in:  # the model adds it to the sum of its trees
        first = trees.places(rows.valid[:, :1])
        trees = replace(trees, start=own[0] - trees.predict(first, trees.leaves)[0])
    held = FittedTrees(trees, rows, unit)
    size = sum(float(np.abs(leaf).max(initial=0.0)) for leaf in read.leaves)
    size += float(np.abs(own).max(initial=0.0))
    if not np.abs(own - held.predicted).max() <= 1e-6 * size:
        raise InputError(
            f"{about(model)} predicts the validation rows otherwise than its trees as they were "
            f"read ({library_of(model).version_words}): nothing is valued"
        )
    return held


def _rows(model: Any, read: Model, split: Split, problem: Problem) -> Rows:
    """The rows of a split, their classes numbered as the model does."""
    bags: Any = None
    if read.weigh is not None:
        labels = split.y.y if read.fitted_here else problem.target.y
        bags = read.weigh(labels)
        if isinstance(bags, np.ndarray):
            bags = [bags] * len(read.trees)
        if bags is not None and split.rows.size < labels.size:
            bags = [bag[split.rows] for bag in bags]
    places = _class_places(model, read, split) if split.y.task == "classification" else None
    return Rows.of(split, read.see(split.train), read.see(split.valid), bags, places)


def _class_places(model: Any, read: Model, split: Split) -> Ints:
    """The output of every class of the table; the last place is for labels that it lacks."""
    here, count = split.y.classes.tolist(), max(max(read.outputs, default=0) + 1, 2)
    known = np.asarray(range(count) if read.classes is None else read.classes).tolist()
    if not {*known} & {*here}:  # text for numbers, or the numbers of classes
        known, here = ([str(name) for name in names] for names in (known, here))
        if read.classes is None and not {*known} & {*here}:
            known = here
    unknown = [str(here[k]) for k in np.unique(split.y.codes) if here[k] not in known]
    if unknown:
        raise InputError(
            f"{about(model)} does not know the label {unknown[0][:80]!r}: it was fitted on "
            f"{', '.join(str(one)[:80] for one in known[:5])}{', ...' if len(known) > 5 else ''}; "
            "pass the labels that it was fitted on"
        )
    places = {name: k for k, name in enumerate(known)}
    return np.array([places.get(name, -1) for name in here] + [-1], dtype=np.int64)


def _without_start(model: Model, rows: Rows, labels: Any, n_outputs: int) -> Model:
    """The trees, the model's first guess taken out of their leaves."""
    if not model.start_in or model.loss.by_class:
        return replace(model, start=np.zeros(n_outputs))
    weights = np.ones(rows.y.size)
    if model.start_weights is not None:
        weights = model.start_weights(labels)
    start = model.loss.best_constant(rows.y, weights, n_outputs)
    count = len(model.leaves) if model.start_in == "all" else n_outputs
    pairs = zip(model.leaves[:count], model.outputs, strict=False)
    leaves = [leaf - start[k] * n_outputs / count for leaf, k in pairs]
    return replace(model, leaves=leaves + model.leaves[count:], start=start)


def unit_of(problem: Problem, loss: Loss, rows: list[Rows]) -> Unit:
    """The unit of the score: a probability, a loss, or the share of it that predictions remove.

    Of the squared error that of the mean of the validation targets counts, as in R squared, and of
    other losses that of the best constant of the training rows.
    """
    check_score(problem, loss)
    if loss.by_class or problem.scoring == loss.scikit_learn:
        return Unit(factor=loss.factor)
    if loss is SQUARED:
        whole = target_variance(problem)
    else:
        whole = float(np.mean([loss_of_constant(loss, one) for one in rows]))
    return Unit(1.0, 1.0 / whole) if 0 < whole < np.inf else Unit()


def loss_of_constant(loss: Loss, rows: Rows) -> float:
    """The loss of the best constant of the training rows, on the validation rows."""
    n_outputs = int(max(rows.y.max(), rows.y_valid.max(), 0)) + 1
    constant = loss.best_constant(rows.y, np.ones(rows.y.size), n_outputs)
    raw = np.broadcast_to(constant, (rows.y_valid.size, constant.size))
    with np.errstate(invalid="ignore", over="ignore"):
        return float(rows.weights @ loss.each(rows.y_valid, raw))


def facts_of_score(problem: Problem, loss: Loss, unit: Unit) -> dict[str, Any]:
    """The score for a result's record: its name, what it is, and how to show it."""
    balanced, asked = problem.scoring == "balanced_accuracy", problem.scoring
    shown_as = asked if balanced else None
    if loss is SQUARED:
        shown_as = "r2" if unit.shift else loss.scikit_learn
    facts = score_facts(replace(problem, scoring=shown_as), "leaves")
    if loss is SQUARED or loss.by_class:
        return facts
    scoring = f"{loss.share}, {ALIKE}" if balanced else asked or loss.share
    if not unit.shift:
        return {"scoring": scoring, "score": as_it_is(f"minus the {loss.name}")}
    words = f"{loss.name} removed{', balanced' if balanced else ''}"
    frequent = "class frequencies" if loss.share == LOG.share else "best constant"
    says = (
        f"the share of the {loss.name} of the {frequent} that the predictions remove; 100 % is a "
        "perfect prediction, 0 % is no better than without any column"
    )
    says += "; all classes count the same" if balanced else ""
    more = {key: facts["score"][key] for key in facts["score"].keys() & {"rarest"}}
    return {"scoring": scoring, "score": per_cent(words, says, **more)}


def facts_of_models(held: list[FittedTrees]) -> dict[str, Any]:
    """The model's score, that of its trees without any column, and what the rows leave open."""
    score = float(np.mean([one.score() for one in held]))
    baseline = float(np.mean([one.without_columns() for one in held]))
    nobodys = float(np.mean([one.nobodys() for one in held]))
    share = nobodys / (score - baseline) if score != baseline else 0.0
    if abs(share) > MOST_UNEXPLAINED:
        warn_input(
            f"the values sum to {1 - share:.0%} of what the model gains: its trees were fitted on "
            "a part of these rows, or with weights, and the difference belongs to no row"
        )
    return {
        "model_score": score,
        "baseline_utility": baseline,
        "unexplained": share if abs(share) > 1e-9 else 0.0,
    }
