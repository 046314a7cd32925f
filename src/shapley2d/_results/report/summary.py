"""The words of the report: what was valued, how certain it is, what to look at first."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import counted, plural
from shapley2d._results.report.encode import shorten
from shapley2d._results.report.payload import errors_known
from shapley2d._results.units import (
    Score,
    Units,
    average_words,
    below_zero_words,
    figure,
    neighbors_words,
    rare_words,
    score_meaning,
    score_words,
    sums_to_score,
    trees_words,
    typeset,
    worth_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._results.units import Unit
    from shapley2d._results.valuation import Valuation

_STRAYS = 6  # that the summary shows
_TIMES, _MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Finding:
    """One cell to look at."""

    row: str
    column: str
    entry: str | None
    known: bool
    value: str
    typical: str
    label: str | None


@dataclass(frozen=True)
class Stray:
    """An entry that does not match its column's type."""

    row: str
    column: str
    entry: str
    kind: str
    label: str | None


@dataclass(frozen=True)
class Summary:
    """The words and figures at the head of the report."""

    valued: str
    meaning: str
    score: str
    averages: str
    remarks: list[str]
    measured: str
    certainty: str
    harmful: str
    kept: str
    marked: str
    n_strays: int
    strays: list[Stray]
    findings: list[Finding]
    tiles: list[tuple[str, str]]
    noun: str


def summarise(
    valuation: Valuation,
    *,
    lowest: NDArray[np.intp],
    typical: Sequence[str],
    marked: NDArray[np.bool_],
    n_shown: int,
) -> Summary:
    """Put a valuation into words."""
    n, m = valuation.shape
    noun = valuation.kind.removesuffix("s")
    groups = (("group of rows", "groups of rows"), ("group of columns", "groups of columns"))
    parts = groups if noun == "block" else (("row", "rows"), ("column", "columns"))
    strays = [] if valuation.table is None else valuation.table.strays
    tiles = [
        *_score_tiles(valuation),
        (f"{n:,} {_TIMES} {m:,}", f"{parts[0][1]} {_TIMES} {parts[1][1]} valued"),
        _certainty_tile(valuation, noun),
    ]
    kept = ""
    if n_shown < n:
        kept = f"The map shows the {n_shown:,} rows with the most extreme cells, of {n:,}."
    return Summary(
        valued=f"{counted(n * m, noun)}, {counted(n, *parts[0])} by {counted(m, *parts[1])}",
        meaning=_about(valuation).get("meaning") or "what it adds to the performance",
        score=" ".join(filter(None, (typeset(score_words(valuation)), score_meaning(valuation)))),
        averages=average_words(valuation),
        remarks=[
            *filter(
                None, (rare_words(valuation), neighbors_words(valuation), trees_words(valuation))
            )
        ],
        measured=_measured(valuation.info),
        certainty=_certainty(valuation, noun),
        harmful=_harmful(valuation, noun),
        kept=kept,
        marked=_marked(marked, lowest, noun),
        n_strays=len(strays),
        strays=[_stray(valuation, *stray) for stray in strays[:_STRAYS]],
        findings=[_finding(valuation, int(flat), typical) for flat in lowest[:3]],
        tiles=tiles,
        noun=noun,
    )


def number_text(number: float, digits: int = 3) -> str:
    """A number as a person writes it, with a power of ten where it is very small or large.

    Examples
    --------
    >>> number_text(0.0125), number_text(2.5e-7)
    ('0.0125', '2.5 \N{MULTIPLICATION SIGN} 10\N{SUPERSCRIPT MINUS}\N{SUPERSCRIPT SEVEN}')
    """
    mantissa, _, exponent = f"{number:.{digits}g}".partition("e")
    power = str(int(exponent or 0)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return mantissa.replace("-", _MINUS) + (f" {_TIMES} 10{power}" if exponent else "")


def _measured(info: dict[str, Any]) -> str:
    """What was measured, on which rows, and by which method."""
    measures = {
        "classification": "how well a model classifies",
        "regression": "how well a model predicts",
    }
    measure = measures.get(str(info.get("task")), "the performance that was measured")
    scoring = (info.get("settings") or {}).get("scoring")
    measure += (
        f" ({scoring.replace('_', ' ')})"
        if isinstance(scoring, str) and scoring.isidentifier()
        else ""
    )
    rows = ""
    if info.get("folds"):
        how = f" ({info['splits']})" if info.get("splits") else ""
        made = info.get("folds_made", info["folds"])
        some = f"{info['folds']} of {made}" if made > info["folds"] else str(info["folds"])
        rows = f" the table's own rows in {some} folds{how}, by models not trained on them"
    elif info.get("n_valid"):
        rows = f" {counted(info['n_valid'], 'validation row')}"
    used = info.get("n_valid_used", info.get("n_valid"))
    if rows and used != info.get("n_valid"):
        rows += f", of which {used:,} random ones were used"
    return f"By {measure}{rows}. Method: {_method(info)}."


def _method(info: dict[str, Any]) -> str:
    words = (info.get("about") or {}).get("how") or str(info.get("method", "an unknown method"))
    model = info.get("model")
    return f"{words} with {model}" if model not in (None, "None") else words


def _score_tiles(valuation: Valuation) -> list[tuple[str, str]]:
    """The score, the baseline and what the columns add; only the sum where there is no score."""
    score, total = Score.of(valuation.info), valuation.total
    baseline = valuation.info.get("baseline_utility")
    if score is not None and sums_to_score(valuation) and isinstance(baseline, float):
        decimals = score.decimals(total)
        words = _about(valuation)["total"].rpartition(", ")[2].removeprefix("that of ")
        alone = "labels alone" if "labels alone" in words else words
        tiles = [
            (score.level(total + baseline, decimals), f"score: {score.name}"),
            (score.level(baseline, decimals), f"baseline: {alone}"),
            (f"+{score.gain(total, decimals)}".replace("+-", "-"), "what the columns add"),
        ]
        return [(typeset(figure), words) for figure, words in tiles]
    if _about(valuation).get("total") or not _about(valuation):  # else the sum has no meaning
        return [(typeset(Units.of(valuation).points.text(total)), "sum of all values")]
    return []


def _about(valuation: Valuation) -> dict[str, str]:
    """The words that the result keeps of its method."""
    return valuation.info.get("about") or {}


def _certainty_tile(valuation: Valuation, noun: str) -> tuple[str, str]:
    if valuation.exact:
        return valuation.describe(), "no sampling error"
    if not errors_known(valuation):
        return "unknown", "sampling error"
    unit = Units.of(valuation).cells
    typical = valuation.interval_factor * float(np.median(valuation.stderr))
    trusted = "" if not valuation.caveat else ", not reliable"
    return f"± {_shown(unit, typical)}", f"typical 95 % interval of a {noun}{trusted}"


def _certainty(valuation: Valuation, noun: str) -> str:
    if valuation.exact:
        return "The values are exact: nothing was sampled, so they carry no sampling error."
    if not errors_known(valuation):
        return "The values come from too few draws to estimate their errors: do not rely on them."
    unit = Units.of(valuation).cells
    typical, worst = float(np.median(valuation.stderr)), float(valuation.stderr.max())
    words = (
        f"The values are estimates. The standard error of a {noun} is typically "
        f"{_shown(unit, typical)}, at most {_shown(unit, worst)}."
    )
    if valuation.caveat:
        words += f" But {valuation.caveat}: do not rely on them."
    if valuation.info.get("converged") is False:
        words += (
            " Sampling ended before it reached the requested precision: "
            "do not read much into small differences."
        )
    return words


def _shown(unit: Unit, error: float) -> str:
    """An error to two digits, with its unit."""
    size = unit.factor * error
    number = figure(size, 2) if 1e-6 <= abs(size) < 1e6 else number_text(size, 2)
    return typeset(f"{number} {unit.words}").rstrip()


def _harmful(valuation: Valuation, noun: str) -> str:
    """How many cells are below 0, and what that says."""
    if _about(valuation).get("caution"):
        return _about(valuation)["caution"]
    words = below_zero_words(valuation, errors_known=errors_known(valuation))
    effect = {
        "cell": "Below 0 means: with this entry in the table its column tells the model less.",
        "block": "Below 0 means: with these rows these columns tell the model less.",
    }
    below = bool((valuation.values < 0).any())
    return f"{typeset(words)} {effect[noun]}" if below else typeset(words)


def _marked(marked: NDArray[np.bool_], lowest: NDArray[np.intp], noun: str) -> str:
    total = int(marked.sum())
    if not total:
        return ""
    first = lowest[:total]
    hits = int(marked.ravel()[first].sum())
    listed = int(marked.ravel()[lowest].sum())
    rank = plural(hits, "ranks", "rank")
    return (
        f"Of {counted(total, f'marked {noun}')}, {hits:,} {rank} among the {first.size:,} most "
        f"harmful, {listed:,} among the {lowest.size:,} listed below."
    )


def _finding(valuation: Valuation, flat: int, typical: Sequence[str]) -> Finding:
    i, j = divmod(flat, valuation.shape[1])
    unit = Units.of(valuation).cells
    value = worth_words(valuation, float(valuation.values[i, j]))
    if 0 < valuation.stderr[i, j] < np.inf:
        spread = valuation.interval_factor * float(valuation.stderr[i, j])
        value += f", ± {_shown(unit, spread)}"
    return Finding(
        row=shorten(valuation.shown_row(i), 60) or "",
        column=shorten(valuation.column_names[j], 60) or "",
        entry=None if valuation.contents is None else shorten(valuation.contents[j][i], 80),
        known=valuation.contents is not None,
        value=typeset(value),
        typical=typical[j],
        label=None if valuation.labels is None else shorten(valuation.labels[i], 60),
    )


def _stray(valuation: Valuation, i: int, j: int, text: str, kind: str) -> Stray:
    return Stray(
        row=shorten(valuation.shown_row(i), 60) or "",
        column=shorten(valuation.column_names[j], 60) or "",
        entry=shorten(text, 80) or "",
        kind=kind,
        label=None if valuation.labels is None else shorten(valuation.labels[i], 60),
    )


def share_text(count: int, size: int) -> str:
    """A share in per cent.

    Examples
    --------
    >>> share_text(1, 3), share_text(1, 300)
    ('33 %', '0.33 %')
    """
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 or count == 0 else f"{share:.2g} %"


def typical_entries(valuation: Valuation) -> list[str]:
    """What is typical in each column, in a phrase; empty where there are no entries."""
    if valuation.table is None or valuation.contents is None:
        return [""] * valuation.shape[1]
    phrases = []
    for column, texts in zip(valuation.table.columns, valuation.contents, strict=True):
        numeric = column.kind in ("number", "date") and np.isfinite(column.entries).any()
        phrases.append(
            typical_numbers(column.entries, dates=column.kind == "date")
            if numeric
            else typical_texts(texts)
        )
    return phrases


def typical_numbers(numbers: NDArray[np.float64], *, dates: bool = False) -> str:
    """The median and the middle nine tenths.

    Examples
    --------
    >>> import numpy as np
    >>> typical_numbers(np.arange(101.0))
    'median 50, mostly 5 to 95'
    """
    known = numbers[np.isfinite(numbers)]
    low, median, high = (
        _typical_number(q, dates=dates) for q in np.quantile(known, [0.05, 0.5, 0.95])
    )
    spread = (
        f"always {median}"
        if known.min() == known.max()
        else f"median {median}, mostly {low} to {high}"
    )
    return spread + _missing(numbers.size - known.size, numbers.size)


def typical_texts(texts: Sequence[str | None], most: int = 3) -> str:
    """The most common entries with their shares.

    Examples
    --------
    >>> typical_texts(["a", "a", "b", None])
    'a 50 %, b 25 %, missing 25 %'
    """
    counts = Counter(text for text in texts if text is not None)
    top = counts.most_common(most)
    if len(texts) > 1 and top and top[0][1] == 1:
        phrase = (
            "all different" if len(counts) == len(texts) else f"{len(counts)} different entries"
        )
    else:
        phrase = ", ".join(
            f"{shorten(text, 40)} {_percent(count, len(texts))}" for text, count in top
        )
        if len(counts) > most:
            phrase += f", {len(counts) - most} more"
    return (phrase + _missing(len(texts) - counts.total(), len(texts))).removeprefix(", ")


def _missing(count: int, size: int) -> str:
    return f", missing {_percent(count, size)}" if count else ""


def _percent(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 1 else "< 1 %"


def _typical_number(number: float, *, dates: bool) -> str:
    if dates:
        return str(np.datetime64(round(number), "D"))
    return str(round(number)) if abs(number) >= 1000 else f"{number:.3g}"
