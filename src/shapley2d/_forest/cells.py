"""Values of cells under tree ensembles whose splits are held fixed.

Where no model is given, trees are grown until their mean is precise: a tree is a Monte Carlo draw.
A given model has all its trees already, so that nothing is sampled and the values are exact; only
in deep leaves, with many columns on their path, random orders of these are sampled.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.in_threads import count_threads, map_in_threads
from shapley2d._base.progress import reporting
from shapley2d._base.streams import draw_seeds
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted
from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.fingerprint import hash_parts
from shapley2d._estimation.monte_carlo import monte_carlo
from shapley2d._estimation.old_draws import MeanDraws
from shapley2d._estimation.old_workers import ordered_results
from shapley2d._estimation.rounds import WholeSum, add_rounds
from shapley2d._forest.ensemble import encoded_rows, is_fitted, library_of
from shapley2d._forest.fixed import DeepDraws, TreePieces, read_model, split_game
from shapley2d._forest.grow import GROVE, TreeDraws
from shapley2d._forest.library import has_text
from shapley2d._forest.own_score import check_scoring, facts_of_models, facts_of_score, hold_models
from shapley2d._forest.what_if import HeldForest
from shapley2d._knn.votes import varies
from shapley2d._methods.baseline import LABELS_ALONE, MEAN_OF_ALL, warn_of_perfect_zero
from shapley2d._methods.identity import checkpoint_of
from shapley2d._models.fitting import last_step
from shapley2d._tables.problem import weigh_problem
from shapley2d.exceptions import Place, Setting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._forest.ensemble import Ensemble
    from shapley2d._forest.fitted import FittedTrees
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def forest_cells(method: Any, problem: Problem, run: Run) -> Estimate:
    """Values of cells by the method ``Forest``, the mean over the splits.

    Without a model the standard errors are those of the mean over trees; with one they are 0, or
    those of the mean over orders where it has deep leaves.
    """
    model, tolerance = method.model, method.tolerance
    check_scoring(problem)
    n_threads = count_threads(run.n_jobs)
    sample = partial(
        monte_carlo,
        tolerance=tolerance,
        progress=run.progress,
        cluster=run.cluster,
        n_threads=n_threads,
        limit=run.limit,
    )
    unweighed, problem = problem, weigh_problem(problem)
    if model is None:
        seeds = draw_seeds(run.seed, len(problem.splits))
        grown = [TreeDraws(*one, problem, run) for one in zip(problem.splits, seeds, strict=True)]
        games, blind = [one.game for one in grown], [one.blind() for one in grown]
        sees: list[Any] = [partial(encoded_rows, split.train) for split in problem.splits]
        baseline = float(np.mean([one.baseline() for one in grown]))
        facts: dict[str, Any] = {"baseline_utility": baseline}
        facts |= facts_of_score(problem, grown[0].loss, grown[0].unit)
        known = _checkpoint(problem, run, trees="grown")
        most = max(-(-method.max_trees // GROVE), 2)  # one draw has no error
        rows = [split.rows for split in problem.splits]
        draws = MeanDraws(grown, rows, problem.table.n_rows)
        estimate = sample(draws, max_draws=most, title="forest", checkpoint=known, unit="grove")
        estimate.stderr[:, _constant_columns(problem)] = 0.0  # no tree can split on them
        run.warn_of_precision(estimate, tolerance, "max_trees", method.max_trees)
        count = GROVE * estimate.info.pop("n_groves")
        facts |= {"n_trees": count, "forest": f"a forest of {counted(count, 'tree')}"}

        def hold() -> list[FittedTrees]:
            return [one.held(range(count)) for one in grown]

    else:
        ensembles, fitted = read_model(model, problem, run)
        _warn_of_seen_rows(model, problem)
        held = hold_models(fitted, ensembles, problem)
        games = [split_game(one.features, problem, run) for one in ensembles]
        pieces = TreePieces(held, games)
        deep = DeepDraws(pieces, [split.rows for split in problem.splits], run.seed)
        known = None
        if run.checkpoint is not None:
            known = _checkpoint(problem, run, trees=_digest(ensembles))
        blind = [one.blind() for one in held]
        facts = {"model": _text(fitted), **_about_trees(fitted, ensembles)}
        facts |= facts_of_models(held) | facts_of_score(problem, held[0].model.loss, held[0].unit)
        hold, sees = held.copy, [one.see for one in ensembles]
        if not deep.columns.any():
            total = _sum_pieces(pieces, problem, run, known)
            estimate = Estimate.exact(games[0].counted(total.values, 0.0))
            facts |= {"resumed_at": total.resumed} if total.resumed else {}
        else:  # a file keeps the rounds, which take longest
            total = _sum_pieces(pieces, problem, run, None)
            values = games[0].counted(total.values, 0.0)
            estimate = sample(
                partial(deep.values, values),
                max_draws=method.max_rounds,
                title="forest, deep leaves",
                checkpoint=known,
                unit="round",
            )
            estimate.stderr[:, ~deep.columns] = 0.0  # not on the path of a deep leaf
            run.warn_of_precision(estimate, tolerance, "max_rounds", method.max_rounds)
            facts["exact_share"] = 1.0 - deep.share
            count = counted(estimate.info["n_rounds"], "random order")
            facts["forest"] += (
                f" ({1 - deep.share:.0%} of their predictions exact, those of deeper leaves by "
                f"{count} of the columns on each path)"
            )
    facts |= _baseline(problem, facts, float(np.mean(blind)))
    if problem.baseline == "zero":
        facts.pop("baseline_utility")
        for split, game, one in zip(problem.splits, games, blind, strict=True):
            estimate.values[split.rows] += game.counted(game.empty(), one) / len(games)
    rounds = (run.seed, estimate.info.get("n_rounds", 0))
    estimate.held = HeldForest(unweighed, hold, games, sees, rounds, n_threads=n_threads)
    return estimate.noting(**facts)


def forest_score(problem: Problem, run: Run, model: Any) -> float:
    """The score of a model less that of the labels alone: what Shapley values sum to."""
    check_scoring(problem)
    problem = weigh_problem(replace(problem, label=None))
    ensembles, fitted = read_model(model, problem, run)
    facts = facts_of_models(hold_models(fitted, ensembles, problem))
    gain = facts["model_score"] - facts["baseline_utility"]
    return float(gain * (1.0 - facts["unexplained"]))


def _baseline(problem: Problem, facts: dict[str, Any], blind: float) -> dict[str, Any]:
    """The baseline that values are counted from, for a result's record."""
    if problem.baseline == "zero":
        if facts["score"].get("squared"):
            warn_of_perfect_zero()
        return {}
    if problem.label is None:
        return {"baseline": LABELS_ALONE}
    if blind == 0.0:  # without a label none is right
        return {"baseline_utility": None}
    return {"baseline_utility": blind, "baseline": MEAN_OF_ALL}


def _constant_columns(problem: Problem) -> Ints:
    """Columns that are constant in the training rows of every split."""
    return np.array(
        [
            j
            for j in range(problem.table.n_columns)
            if not any(varies(split.train.columns[j].entries) for split in problem.splits)
        ],
        dtype=np.intp,
    )


def _warn_of_seen_rows(model: Any, problem: Problem) -> None:
    """Warn that a fitted model may have chosen its splits by rows that validate it here."""
    whole = problem.splits[0].train.n_rows == problem.table.n_rows
    if isinstance(model, str) or not is_fitted(model) or (len(problem.splits) == 1 and whole):
        return
    warn_input(
        Setting("model"),
        " is fitted, and without ",
        Place("X_valid"),
        " the rows that validate may be among those that chose its splits, so the score looks "
        "better than it is: pass a validation table, or the model unfitted",
    )


def _about_trees(model: Any, ensembles: Sequence[Ensemble]) -> dict[str, Any]:
    """Facts about the trees for the record of a run."""
    count = round(float(np.mean([len(ensemble.reading.model.trees) for ensemble in ensembles])))
    last = last_step(model)
    name = type(last).__name__
    name = f"{library_of(last).name}'s Booster" if name == "Booster" else name
    boosted = ensembles[0].reading.boosted
    return {
        "n_trees": count,
        "forest": f"the {counted(count, 'tree')} of {name}",
        "boosted": boosted,
    }


def _text(model: Any) -> str:
    """A model as text, without a place in memory."""
    return repr(model) if has_text(model) else type(model).__name__


def _digest(ensembles: Sequence[Ensemble]) -> str:
    """A hash of all trees."""
    return hash_parts(
        np.ascontiguousarray(array).tobytes()
        for ensemble in ensembles
        for tree, leaf in zip(
            ensemble.reading.model.trees, ensemble.reading.model.leaves, strict=True
        )
        for array in (*tree.arrays, leaf)
    )


def _checkpoint(problem: Problem, run: Run, *, trees: str) -> Checkpoint | None:
    """The checkpoint of the run, for these trees only; None where it keeps none."""
    if run.checkpoint is None:
        return None
    return checkpoint_of(
        run,
        {},
        method="forest",
        shape=_shape(problem),
        problem=problem,
        unit="trees",
        trees=trees,
    )


def _shape(problem: Problem) -> tuple[int, int]:
    return problem.table.n_rows, problem.table.n_columns + (problem.label is not None)


class _Sum(WholeSum):
    """The values under the trees so far."""

    def __init__(self, pieces: TreePieces, problem: Problem) -> None:
        self._pieces, self._rows = pieces, [split.rows for split in problem.splits]
        shape = _shape(problem)
        self._in_order = [np.array_equal(rows, np.arange(shape[0])) for rows in self._rows]
        super().__init__(len(pieces))
        self.resumed, self.values = 0, np.zeros((shape[0], shape[1] + 1))

    def restore(self, saved: Saved) -> None:
        """Resume from a checkpoint; a ValueError says why it is not sound."""
        saved.check_arrays({"values": self.values.shape})
        if saved.count > self.most:
            raise ValueError("it has more trees than the model")
        self.values, self.count = saved.arrays["values"].copy(), saved.count
        self.resumed = saved.count

    def add(self, part: Floats) -> None:
        """Add the next batch."""
        k = self._pieces.split_of(self.count)
        if self._in_order[k]:  # without a copy of the rows
            self.values += part
        else:
            self.values[self._rows[k]] += part
        self.count += 1

    def note(self) -> str:
        """How far it is, for a progress report."""
        return f"{self.count:,} of {self.most:,} batches of trees"

    def save(self, checkpoint: Checkpoint) -> None:
        """Save the values so far."""
        checkpoint.save(self.count, {"values": self.values})


def _sum_pieces(
    pieces: TreePieces, problem: Problem, run: Run, checkpoint: Checkpoint | None
) -> _Sum:
    """The values under all trees."""
    total = _Sum(pieces, problem)
    if checkpoint is not None:
        checkpoint.load(total.restore)
    if run.cluster is not None:
        results = ordered_results(pieces, total.count, len(pieces), cluster=run.cluster)
    else:
        numbers = range(total.count, len(pieces))
        results = map_in_threads(pieces, numbers, count_threads(run.n_jobs))
    with reporting(run.progress, "forest", in_time="") as report:  # all trees or nothing
        add_rounds(results, total, report=report, limit=run.limit, checkpoint=checkpoint)
    return total
