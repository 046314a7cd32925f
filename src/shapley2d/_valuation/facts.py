"""What a valuation says, worded once: print, notebook, page, JSON and terminal read this list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted, figure, format_seconds, plural
from shapley2d._methods.score_facts import MOST_UNEXPLAINED
from shapley2d._valuation.units import Score, Units, sums_to_score

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
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
        info, score = values.info, Score.of(values.info)
        figures, words = _score(values, score)
        about = info.get("about") or {}
        return cls(
            figures,
            words,
            f"{score.name.capitalize()}: {score.says}." if score and score.says else "",
            _measured(info),
            certainty_words(values),
            _precision(values),
            about.get("caution") or _below_zero(values),
            [note for note in (_rare(score), info.get("chosen"), _repeated(values)) if note],
        )


def _score(values: CellValues, score: Score | None) -> tuple[list[tuple[str, str]], str]:
    """The figures of the score, and the sentence on it."""
    info, total, noun = values.info, values.total, values._nouns[0][0]
    words = (info.get("about") or {}).get("total", "the sum of all values")
    figures = [(Units.of(values).points.text(total), "sum of all values")] if words else []
    if not sums_to_score(values):
        return figures, ""
    if score is None:
        return figures, f"All {noun} values sum to {figure(total, 4)}, {words}."
    decimals, baseline = score.decimals(total), info.get("baseline_utility")
    gain, summed = score.gain(total, decimals), f"all {noun} values sum to"
    if baseline is None:
        level, start = score.level(total, decimals), score.level(0.0, 0)
        return figures, f"Score {level} ({score.name}). Counted from {start}, {summed} {gain}."
    own, guess = info.get("model_score"), _guess(info)
    level = score.level(total + baseline if own is None else own, decimals)
    start, whose = score.level(baseline, decimals), "Score" if own is None else "Your model scores"
    add = "The columns and the label add" if info.get("label") else "The columns add"
    sentence = (
        f"{whose} {level} ({score.name}); {guess} {start}. {add} {gain}: that is what {summed}."
    )
    if score.squared:
        off, blind = (figure(math.sqrt(max(-one, 0.0))) for one in (total + baseline, baseline))
        sentence += f" Root mean squared error: {off} instead of {blind}, in units of the target."
    if abs(share := info.get("unexplained") or 0.0) > MOST_UNEXPLAINED:
        sentence = f"The values sum to {1 - share:.0%} of what your model gains. {sentence}"
    if abs(share) >= 0.0005:
        sentence += (
            f" That is {abs(share):.1%} {'less' if share > 0 else 'more'} than it gains: its trees "
            "were fitted on a part of these rows, or with weights, and the difference is nobody's."
        )
    return [
        (level, f"{'score' if own is None else 'your model'}: {score.name}"),
        (start, f"baseline: {guess.removesuffix(' give').removesuffix(' gives')}"),
        (f"{'+' if total >= 0 else ''}{gain}", "what the columns add"),
    ], sentence


def _guess(info: dict[str, Any]) -> str:
    """What predicts without any column, and its verb."""
    guess = str(info.get("baseline") or "labels alone").removeprefix("that of ")
    if "labels alone" not in guess:
        return f"{guess} {'give' if 'trees' in guess else 'gives'}"
    if info.get("task") != "regression":
        return "the labels alone give"
    if info.get("method") == "knn":
        return f"{info.get('n_neighbors')} random rows instead of near ones give"
    return "the mean of the training targets gives"


def _measured(info: dict[str, Any]) -> str:
    what = {"classification": "classifies", "regression": "predicts"}.get(str(info.get("task")))
    measure = f"how well a model {what}" if what else "the performance that was measured"
    settings, rows = info.get("settings") or {}, evaluated_words(info)
    scoring, model = settings.get("scoring"), settings.get("model") or info.get("model")
    if isinstance(scoring, str) and scoring.isidentifier():
        measure += f" ({scoring.replace('_', ' ')})"
    method = (info.get("about") or {}).get("how") or info.get("method", "an unknown method")
    by = f" with {model}" if model not in (None, "None") else ""
    return f"By {measure}{', ' * bool(rows)}{rows}. Method: {method}{by}."


def evaluated_words(info: dict[str, Any], file: str = "") -> str:
    """Which rows, of which file, the values were evaluated on; empty where nothing is known."""
    there, folds = info.get("n_valid"), info.get("folds")
    if not there and not folds:
        return "" if there is None else "without validation rows"
    used = info.get("n_valid_used") or there
    sample = f"a random {used:,} of {there:,} rows" if there and used != there else ""
    if folds:
        how = "; ".join(part for part in (info.get("splits"), sample) if part)
        return f"evaluated on each of {folds} folds in turn{f' ({how})' if how else ''}"
    if file:
        return f"evaluated on {file} ({sample or counted(there or 0, 'row')})"
    return f"evaluated on {sample or counted(there or 0, 'validation row')}"


def certainty_words(values: CellValues) -> str:
    """How certain the values are, in a phrase."""
    if values.exact:
        return str((values.info.get("about") or {}).get("certainty") or "exact")
    if not values._errors_known:
        return "unknown errors: too few draws, do not rely on these values"
    words = f"standard error at most {Units.of(values).cells.text(float(values.stderr.max()), 2)}"
    if values.info.get("time_up") and (limit := values.info.get("max_time")):
        words += f", {_stopped(values, limit)}"
    return f"{words}, but {values.caveat}: do not rely on it" if values.caveat else words


def _stopped(values: CellValues, limit: float) -> str:
    """When a time limit ended a run; a piece of work that has begun is finished."""
    took = values.info.get("seconds") or 0.0
    words = f"stopped by the time limit of {format_seconds(limit)}"
    return f"{words} after {format_seconds(took)}" if took > _LATE * limit + 0.5 else words


def _precision(values: CellValues) -> list[str]:
    if values.exact:
        return ["Nothing was sampled."]
    if not values.info.get("time_up") or not values._errors_known:
        unfinished = "Sampling ended before it reached the requested precision."
        return [unfinished] if values.info.get("converged") is False else []
    cells, rows, columns = values._nouns
    known = [
        f"{n_known_signs(part, values._interval_factor * errors):,} of {counted(part.size, *nouns)}"
        for part, errors, nouns in (
            (values.values, values.stderr, cells),
            (values.row_values, values.row_stderr, rows),
            (values.column_values, values.column_stderr, columns),
        )
    ]
    signs = f"The sign is certain (95 %) of {known[0]}, {known[1]} and {known[2]}"
    return [f"{signs}; twice the time would shrink the errors by about 30 %."]


def n_known_signs(values: Floats, reach: Floats) -> int:
    """Number of values whose 95 % interval is on one side of 0."""
    return int(np.count_nonzero(np.abs(values) > reach))


def _below_zero(values: CellValues) -> str:
    cells, (noun, several) = values.values, values._nouns[0]
    sampled = not values.exact and values._errors_known
    reach = values._interval_factor * values.stderr if sampled else 0.0
    below = int(np.count_nonzero(cells + reach < 0))
    if not below and not sampled:
        return f"No {noun} is below 0."
    more = " by more than the error (95 % interval)" if sampled else ""
    if noun != "cell":
        return f"{below:,} of {cells.size:,} {several} {plural(below, 'is', 'are')} below 0{more}."
    # a 95 % interval leaves 2.5 % on either side
    varied = np.count_nonzero(values.stderr if sampled else cells)
    chance = round((0.025 if sampled else 0.5) * varied)
    if below <= chance:
        return ""
    shares = [_percent(count, cells.size) for count in (below, chance)]
    return f"{shares[0]} of the cells are below 0{more}; chance alone would put {shares[1]} there."


def _percent(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"


def _rare(score: Score | None) -> str:
    """What balanced accuracy would change where a class is rare, and how to ask; else empty."""
    if score is None or not score.rarest:
        return ""
    rare = score.rarest
    share = f"{100 * rare['share']:.1f} %"
    return (
        f"Only {share} of the validation rows are {rare['label']!r}, so that this class is {share} "
        'of the score; by scoring="balanced_accuracy" (--scoring balanced_accuracy) every class '
        f"would be {100 / rare['n_classes']:.0f} % of it."
    )


def _repeated(values: CellValues) -> str:
    count = values.info.get("n_repeated") or 0
    rows = plural(count, "row repeats an earlier one", "rows repeat earlier ones")
    return f"{count:,} {rows}: copies share the worth of one." if count else ""


def worth_words(values: CellValues, value: float, reach: float = 0.0) -> str:
    """What a value means, in words that can be repeated; ``reach``: half its interval."""
    verb, unit = ("takes away" if value < 0 else "adds"), Units.of(values).cells
    (number,), (half,) = unit.numbers([abs(value)]), unit.spreads([reach], [value])
    return f"{verb} {number}{half and f' ± {half}'} {unit.words}".rstrip()
