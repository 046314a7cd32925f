"""What a valuation says, worded once: print, notebook, page, JSON and terminal read this list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, figure, format_seconds, plural
from shapley2d._methods.score_facts import MOST_UNEXPLAINED

if TYPE_CHECKING:
    from shapley2d._valuation.run_facts import RunFacts
    from shapley2d._valuation.values import CellValues

_LATE = 1.1  # times the limit, and half a second: a run that took longer says so


@dataclass(frozen=True)
class Facts:
    """What people read of a valuation.

    Attributes
    ----------
    figures : list of (str, str)
        The figures of the score, each with what it is.
    score : str
        The score, the baseline and what the columns add; empty where the sum has no meaning.
    meaning : str
        What the score is.
    measured : str
        What was measured, on which rows, and by which method.
    certainty : str
        How certain the values are, in a phrase.
    precision : list of str
        What else there is to say of it, in sentences.
    below_zero : str
        How many cells are below 0, where these are more than chance alone would give.
    notes : list of str
        What to mind.
    """

    figures: list[tuple[str, str]]
    score: str
    meaning: str
    measured: str
    certainty: str
    precision: list[str]
    below_zero: str
    notes: list[str]

    @classmethod
    def of(cls, values: CellValues) -> Facts:
        """The facts of a valuation."""
        run, score = values._run, values._run.score
        figures, words = _score(values)
        notes = _rare(run), run.chosen, _repeated(run)
        return cls(
            figures,
            words,
            f"{score.name.capitalize()}: {score.says}." if score and score.says else "",
            _measured(run),
            certainty_words(values),
            _precision(values),
            run.about.caution or _below_zero(values),
            [note for note in notes if note],
        )


def _score(values: CellValues) -> tuple[list[tuple[str, str]], str]:
    """The figures of the score, and the sentence on it."""
    run, total = values._run, values.total
    score, baseline = run.score, run.baseline_utility
    summed = f"all {values._nouns[0][0]} values sum to"
    words = "the sum of all values" if run.about.total is None else run.about.total
    figures = [(values._units.points.text(total), "sum of all values")] if words else []
    if not run.sums_to_score:
        return figures, ""
    if score is None:
        return figures, f"{summed.capitalize()} {figure(total, 4)}, {words}."
    decimals, gain = score.decimals(total), score.gain(total)
    if baseline is None:
        level, start = score.level(total, decimals), score.level(0.0, 0)
        return figures, f"Score {level} ({score.name}). Counted from {start}, {summed} {gain}."
    guess, verb = _guess(run)
    own = run.model_score
    level = score.level(total + baseline if own is None else own, decimals)
    start, whose = score.level(baseline, decimals), "Score" if own is None else "Your model scores"
    add = "The columns and the label add" if run.label else "The columns add"
    sentence = (
        f"{whose} {level} ({score.name}); {guess} {verb} {start}. {add} {gain}: that is what "
        f"{summed}."
    )
    if score.squared:
        off, blind = (figure(math.sqrt(max(-one, 0.0))) for one in (total + baseline, baseline))
        sentence += f" Root mean squared error: {off} instead of {blind}, in units of the target."
    if abs(share := run.unexplained) > MOST_UNEXPLAINED:
        sentence = f"The values sum to {1 - share:.0%} of what your model gains. {sentence}"
    if abs(share) >= 0.0005:
        sentence += (
            f" That is {abs(share):.1%} {'less' if share > 0 else 'more'} than it gains: its trees "
            "were fitted on a part of these rows, or with weights, and the difference is nobody's."
        )
    return [
        (level, f"{'score' if own is None else 'your model'}: {score.name}"),
        (start, f"baseline: {guess}"),
        (score.gain(total, signed=True), "what the columns add"),
    ], sentence


def _guess(run: RunFacts) -> tuple[str, str]:
    """What predicts without any column, and its verb."""
    guess = (run.baseline or "labels alone").removeprefix("that of ")
    if "labels alone" not in guess:
        return guess, "give" if "trees" in guess else "gives"
    if run.task != "regression":
        return "the labels alone", "give"
    if run.method == "knn":
        return f"{run.n_neighbors} random rows instead of near ones", "give"
    return "the mean of the training targets", "gives"


def _measured(run: RunFacts) -> str:
    what = {"classification": "classifies", "regression": "predicts"}.get(run.task or "")
    measure = f"how well a model {what}" if what else "the performance that was measured"
    scoring, rows = run.settings.get("scoring"), evaluated_words(run)
    if isinstance(scoring, str) and scoring.isidentifier():
        measure += f" ({scoring.replace('_', ' ')})"
    method, model = run.about.how or run.method or "an unknown method", run.settings.get("model")
    model = model or run.model
    by = f" with {model}" if model not in (None, "None") else ""
    return f"By {measure}{', ' * bool(rows)}{rows}. Method: {method}{by}."


def evaluated_words(run: RunFacts, file: str = "") -> str:
    """Which rows, of which file, the values were evaluated on; empty where nothing is known."""
    there, used = run.n_valid or 0, run.n_valid_used or run.n_valid or 0
    sample = f"a random {used:,} of {there:,} rows" if used != there else ""
    if run.folds:
        how = "; ".join(part for part in (run.splits, sample) if part)
        return f"evaluated on each of {run.folds} folds in turn{f' ({how})' if how else ''}"
    if not there:
        return "" if run.n_valid is None else "without validation rows"
    if file:
        return f"evaluated on {file} ({sample or counted(there, 'row')})"
    return f"evaluated on {sample or counted(there, 'validation row')}"


def certainty_words(values: CellValues) -> str:
    """How certain the values are, in a phrase."""
    run = values._run
    if values.exact:
        return run.about.certainty
    if not values._errors_known:
        return "unknown errors: too few draws, do not rely on these values"
    words = f"standard error at most {values._units.cells.text(float(values.stderr.max()), 2)}"
    if run.time_up and run.max_time:
        words += f", stopped by the time limit of {format_seconds(run.max_time)}"
        if run.seconds > _LATE * run.max_time + 0.5:  # what has begun is finished
            words += f" after {format_seconds(run.seconds)}"
    return f"{words}, but {run.caveat}: do not rely on it" if run.caveat else words


def _precision(values: CellValues) -> list[str]:
    run = values._run
    if values.exact:
        return ["Nothing was sampled."]
    if not run.time_up or not values._errors_known:
        unfinished = "Sampling ended before it reached the requested precision."
        return [] if run.converged else [unfinished]
    known = []
    for what, nouns in zip(("cells", "rows", "columns"), values._nouns, strict=True):
        part = values._part(what)
        certain = np.count_nonzero(np.abs(part.values) > part.half)
        known.append(f"{certain:,} of {counted(part.values.size, *nouns)}")
    signs = f"The sign is certain (95 %) of {known[0]}, {known[1]} and {known[2]}"
    return [f"{signs}; twice the time would shrink the errors by about 30 %."]


def _below_zero(values: CellValues) -> str:
    cells, (noun, several) = values._part("cells"), values._nouns[0]
    sampled = not values.exact and values._errors_known
    below = int(np.count_nonzero(cells.values + (cells.half if sampled else 0.0) < 0))
    if not below and not sampled:
        return f"No {noun} is below 0."
    more, size = " by more than the error (95 % interval)" * sampled, cells.values.size
    if noun != "cell":
        return f"{below:,} of {size:,} {several} {plural(below, 'is', 'are')} below 0{more}."
    # a 95 % interval leaves 2.5 % on either side
    varied = np.count_nonzero(cells.stderr if sampled else cells.values)
    chance = round((0.025 if sampled else 0.5) * varied)
    if below <= chance:
        return ""
    found, expected = percent(below, size), percent(chance, size)
    return f"{found} of the cells are below 0{more}; chance alone would put {expected} there."


def percent(count: int, size: int) -> str:
    """A share in per cent, with a decimal where it is small."""
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"


def _rare(run: RunFacts) -> str:
    """What balanced accuracy would change where a class is rare, and how to ask; else empty."""
    rare = run.score and run.score.rarest
    if not rare:
        return ""
    share = f"{100 * rare['share']:.1f} %"
    return (
        f"Only {share} of the validation rows are {rare['label']!r}, so that this class is {share} "
        'of the score; by scoring="balanced_accuracy" (--scoring balanced_accuracy) every class '
        f"would be {100 / rare['n_classes']:.0f} % of it."
    )


def _repeated(run: RunFacts) -> str:
    """That rows repeat earlier ones, where values are shares of a sum; else empty."""
    count = 0 if run.about.total == "" else run.n_repeated
    rows = plural(count, "row repeats an earlier one", "rows repeat earlier ones")
    return f"{count:,} {rows}: copies share the worth of one." if count else ""


def worth_words(values: CellValues, value: float, reach: float = 0.0) -> str:
    """What a value means, in words that can be repeated; ``reach``: half its interval."""
    verb, unit = ("takes away" if value < 0 else "adds"), values._units.cells
    (number,), (half,) = unit.numbers([abs(value)]), unit.spreads([reach], [value])
    return f"{verb} {number}{half and f' ± {half}'} {unit.words}".rstrip()
