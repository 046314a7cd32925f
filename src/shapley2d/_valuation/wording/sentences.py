"""What a valuation says, in sentences: its score, its averages, what is below 0, what to mind."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted, figure, plural, typeset
from shapley2d._valuation.wording.units import Score, Units, sums_to_score

if TYPE_CHECKING:
    from shapley2d._valuation.values import CellValues


MOST_UNEXPLAINED = 0.1
"""The share of a gain that rows may leave open before a summary says so first."""


def about(values: CellValues) -> dict[str, str]:
    """The words that the result keeps of its method."""
    return values.info.get("about") or {}


def score_words(values: CellValues) -> str:
    """The score, the baseline and what the columns add; empty where the sum has no meaning."""
    noun, words = values._nouns[0][0], about(values).get("total")
    if not words or not sums_to_score(values):
        return ""
    score, total = Score.of(values.info), values.total
    if score is None:
        return f"All {noun} values sum to {figure(total, 4)}, {words}."
    decimals = score.decimals(total)
    gain, summed = score.gain(total, decimals), f"all {noun} values sum to"
    baseline = values.info.get("baseline_utility")
    if not isinstance(baseline, float):
        level, start = score.level(total, decimals), score.level(0.0, 0)
        return f"Score {level} ({score.name}). Counted from {start}, {summed} {gain}."
    own, guess = _of_model(values), _guess(values, words)
    level = score.level(total + baseline if own is None else own, decimals)
    start = score.level(baseline, decimals)
    add = "The columns and the label add" if values.info.get("label") else "The columns add"
    if own is not None:
        open_share = values.info.get("unexplained") or 0.0
        explains = "sum to it" if abs(open_share) < 0.0005 else "do not quite sum to it"
        if abs(open_share) > MOST_UNEXPLAINED:
            explains = f"sum to {1 - open_share:.0%} of what it gains"
        sentence = (
            f"Your model: {score.name} {level} on the validation rows; the values below {explains}."
            f" {add} {gain} to the {start} of {guess}."
        )
        return sentence + _unexplained(values)
    give = "give" if guess.endswith(("s alone", "ones")) else "gives"
    sentence = (
        f"Score {level} ({score.name}); {guess} {give} {start}. "
        f"{add} {gain}: that is what {summed}."
    )
    if score.squared:
        off, blind = (figure(math.sqrt(max(-one, 0.0))) for one in (total + baseline, baseline))
        sentence += f" Root mean squared error: {off} instead of {blind}, in units of the target."
    return sentence


def _guess(values: CellValues, total: str) -> str:
    """What predicts without any column, by the words on the sum of all values."""
    guess = total.rpartition(", ")[2].removeprefix("that of ")
    if "labels alone" not in guess:
        return guess
    if values.info.get("task") != "regression":
        return "the labels alone"
    if values.info.get("method") == "knn":
        return f"{values.info.get('n_neighbors')} random rows instead of near ones"
    return "the mean of the training targets"


def _of_model(values: CellValues) -> float | None:
    """The score of the model itself, where it is known and the values sum to it."""
    own = values.info.get("model_score")
    return own if isinstance(own, float) and values.info.get("baseline") else None


def _unexplained(values: CellValues) -> str:
    """What of a model's gain is nobody's; empty where that is nothing."""
    share = values.info.get("unexplained")
    if not isinstance(share, float) or abs(share) < 0.0005:
        return ""
    return (
        f" That is {abs(share):.1%} {'less' if share > 0 else 'more'} than it gains: its trees "
        "were fitted on a part of these rows, or with weights, and the difference is nobody's."
    )


def score_tiles(values: CellValues) -> list[tuple[str, str]]:
    """The score, the baseline and what the columns add; only the sum where there is no score."""
    score, total, words = Score.of(values.info), values.total, about(values).get("total")
    baseline = values.info.get("baseline_utility")
    if score is not None and sums_to_score(values) and isinstance(baseline, float):
        decimals, own = score.decimals(total), _of_model(values)
        tiles = [
            (
                score.level(total + baseline if own is None else own, decimals),
                f"{'score' if own is None else 'your model'}: {score.name}",
            ),
            (score.level(baseline, decimals), f"baseline: {_guess(values, words or '')}"),
            (f"+{score.gain(total, decimals)}".replace("+-", "-"), "what the columns add"),
        ]
        return [(typeset(shown), words) for shown, words in tiles]
    if words or not about(values):  # else the sum has no meaning
        return [(typeset(Units.of(values).points.text(total)), "sum of all values")]
    return []


def score_meaning(values: CellValues) -> str:
    """What the score is, in a sentence; empty where nothing is known."""
    score = Score.of(values.info)
    return f"{score.name.capitalize()}: {score.says}." if score is not None and score.says else ""


def below_zero_words(values: CellValues) -> str:
    """How many cells are below 0, where these are more than chance alone would give; else empty."""
    cells, (noun, several) = values.values, values._nouns[0]
    sampled, of_cells = not values.exact and values._errors_known, noun == "cell"
    reach = values._interval_factor * values.stderr if sampled else 0.0
    below, chance = int(np.count_nonzero(cells + reach < 0)), 0
    if of_cells:  # a 95 % interval leaves 2.5 % on either side
        varied = np.count_nonzero(values.stderr if sampled else cells)
        chance = round((0.025 if sampled else 0.5) * varied)
    if not sampled and not below:
        return f"No {noun} is below 0."
    if of_cells and below <= chance:
        return ""
    if of_cells:
        more = " by more than their error (95 % interval)" if sampled else ""
        shares = [_percent(count, cells.size) for count in (below, chance)]
        return (
            f"{shares[0]} of the cells are below 0{more}; chance alone would put {shares[1]} there."
        )
    words = f"{below:,} of {cells.size:,} {several} {plural(below, 'is', 'are')} below 0"
    if sampled:
        words += f" by more than {plural(below, 'its', 'their')} error (95 % interval)"
    if sampled and (holds := int(np.count_nonzero(np.abs(cells) <= reach))):
        words += f"; for {holds:,} the interval holds 0"
    return f"{words}."


def _percent(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 else f"{share:.1f} %"


def harm_words(values: CellValues) -> str:
    """How many cells are below 0, and what that means."""
    if about(values).get("caution"):
        return about(values)["caution"]
    means = ""
    if (values.values < 0).any():
        what = "these rows make these columns" if values._grouped else "the entry makes its column"
        means = f" Below 0 means that {what} less useful to the model."
    return typeset(below_zero_words(values)) + means


def worth_words(values: CellValues, value: float, reach: float = 0.0) -> str:
    """What a value means, in words that can be repeated; ``reach``: half its interval."""
    verb, unit = ("takes away" if value < 0 else "adds"), Units.of(values).cells
    (number,), (half,) = unit.numbers([abs(value)]), unit.spreads([reach], [value])
    return f"{verb} {number}{half and f' ± {half}'} {unit.words}".rstrip()


def rare_words(values: CellValues) -> str:
    """What balanced accuracy would change where a class is rare, and how to ask; else empty."""
    score = Score.of(values.info)
    if score is None or not score.rarest:
        return ""
    rare = score.rarest
    share = f"{100 * rare['share']:.1f} %"
    return (
        f"Only {share} of the validation rows are {rare['label']!r}, so that this class is {share} "
        'of the score; by scoring="balanced_accuracy" (--scoring balanced_accuracy) every class '
        f"would be {100 / rare['n_classes']:.0f} % of it."
    )


def evaluated_words(info: dict[str, Any], file: str = "") -> str:
    """Which rows, of which file, the values were evaluated on; empty where nothing is known."""
    there, folds = info.get("n_valid"), info.get("folds")
    if not there and not folds:
        return "" if there is None else "without validation rows"
    used = info.get("n_valid_used") or there
    sample = f"a random {used:,} of {there:,} rows" if there and used != there else ""
    if not folds:
        if file:
            return f"evaluated on {file} ({sample or counted(there or 0, 'row')})"
        return f"evaluated on {sample or counted(there or 0, 'validation row')}"
    words = f"evaluated on each of {folds} folds in turn"
    how = "; ".join(part for part in (info.get("splits"), sample) if part)
    return f"{words} ({how})" if how else words


def measured_words(info: dict[str, Any]) -> str:
    """What was measured, on which rows, and by which method."""
    measures = {
        "classification": "how well a model classifies",
        "regression": "how well a model predicts",
    }
    measure = measures.get(str(info.get("task")), "the performance that was measured")
    settings = info.get("settings") or {}
    scoring = settings.get("scoring")
    if isinstance(scoring, str) and scoring.isidentifier():
        measure += f" ({scoring.replace('_', ' ')})"
    method = (info.get("about") or {}).get("how") or info.get("method", "an unknown method")
    model = settings.get("model") or info.get("model")
    by = f" with {model}" if model not in (None, "None") else ""
    rows = evaluated_words(info)
    return f"By {measure}{', ' * bool(rows)}{rows}. Method: {method}{by}."
