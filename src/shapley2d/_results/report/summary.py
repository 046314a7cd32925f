"""The report's summary: what was valued, against what, how certain it is, and what to look at first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._results.report.encode import shorten
from shapley2d._results.report.payload import errors_known, is_blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._results.values import Values

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
    """An entry that is not what its column holds."""

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
    sums: str
    against: str
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
    valuation: Values,
    *,
    lowest: NDArray[np.intp],
    typical: Sequence[str],
    marked: NDArray[np.bool_],
    n_shown: int,
) -> Summary:
    """Put a valuation into words."""
    n, m = valuation.shape
    noun = "block" if is_blocks(valuation) else "cell"
    groups = (("group of rows", "groups of rows"), ("group of columns", "groups of columns"))
    parts = groups if noun == "block" else (("row", "rows"), ("column", "columns"))
    negative = int(np.count_nonzero(valuation.values < 0))
    sure = int(
        np.count_nonzero(valuation.values + valuation.interval_factor * valuation.stderr < 0)
    )
    tiles = [
        (f"{n:,} {_TIMES} {m:,}", f"{parts[0][1]} {_TIMES} {parts[1][1]} valued"),
        (f"{negative:,}", f"{noun}s with a negative value ({_share(negative, n * m)})"),
        _certainty_tile(valuation, noun),
    ]  # fmt: skip
    if _about(valuation).get("total") or not _about(valuation):  # elsewhere a sum says nothing
        tiles.insert(1, (number_text(valuation.total, 4), "sum of all values"))
    kept = ""
    if n_shown < n:
        kept = f"The map shows the {n_shown:,} rows with the most extreme cells, of {n:,}."
    return Summary(
        valued=f"{_count(n * m, noun)}, {_count(n, *parts[0])} by {_count(m, *parts[1])}",
        meaning=_about(valuation).get("meaning") or "what it adds to the performance",
        sums=_sums(valuation),
        against=_against(valuation.info),
        certainty=_certainty(valuation, noun),
        harmful=_harmful(valuation, negative, sure, noun),
        kept=kept,
        marked=_marked(marked, lowest, noun),
        n_strays=len(valuation.stray_entries),
        strays=[_stray(valuation, *stray) for stray in valuation.stray_entries[:_STRAYS]],
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


def _against(info: dict[str, Any]) -> str:
    measure = {
        "classification": "how well a model classifies",
        "regression": "how well a model predicts",
    }
    task = measure.get(str(info.get("task")), "the performance that was measured")
    scoring = (info.get("settings") or {}).get("scoring")
    task += f", by {scoring}," if isinstance(scoring, str) and scoring.isidentifier() else ""
    rows = ""
    if info.get("folds"):
        rows = f" the table's own rows in {info['folds']} folds, each predicted by a model that never saw it"
        rows += f" ({info['splits']})" if info.get("splits") else ""
    elif info.get("n_valid"):
        rows = f" {info['n_valid']:,} validation rows"
    used = info.get("n_valid_used", info.get("n_valid"))
    if rows and used != info.get("n_valid"):
        rows += f", of which {used:,} random ones were used"
    return f"{task}{rows}, by {_method(info)}"


def _method(info: dict[str, Any]) -> str:
    words = (info.get("about") or {}).get("how") or str(
        info.get("method", "a method that the record does not name")
    )
    model = info.get("model")
    return f"{words} with {model}" if model not in (None, "None") else words


def _sums(valuation: Values) -> str:
    """What the sum of the values is, where it has a name."""
    total = _about(valuation).get("total")
    if not total or valuation.info.get("semivalue") != ["shapley"] * 2:
        return ""
    return f"All values sum to {number_text(valuation.total, 4)}, {total}."


def _about(valuation: Values) -> dict[str, str]:
    """The words that the result keeps of its method."""
    return valuation.info.get("about") or {}


def _certainty_tile(valuation: Values, noun: str) -> tuple[str, str]:
    if valuation.exact:
        return valuation.describe(), "no sampling error"
    if not errors_known(valuation):
        return "unknown", "sampling error"
    typical = valuation.interval_factor * float(np.median(valuation.stderr))
    trusted = "" if not valuation.caveat else ", not to be trusted"
    return f"± {number_text(typical, 2)}", f"typical 95 % interval of a {noun}{trusted}"


def _certainty(valuation: Values, noun: str) -> str:
    if valuation.exact and _about(valuation).get("certainty"):
        return (
            f"The values are {_about(valuation)['certainty']}: there is nothing that they estimate."
        )
    if valuation.exact:
        return "The values are exact: nothing was sampled, so they carry no sampling error."
    if not errors_known(valuation):
        return (
            "The values are estimates from too few draws to know their errors: do not rely on them."
        )
    typical, worst = np.median(valuation.stderr), valuation.stderr.max()
    words = (
        f"The values are estimates. The standard error of a {noun} is typically {number_text(typical, 2)}, "
        f"at most {number_text(worst, 2)}."
    )
    if valuation.caveat:
        words += f" But {valuation.caveat}: do not rely on them."
    if valuation.info.get("converged") is False:
        words += " Sampling ended before it reached the precision that was asked for: read small differences with care."
    return words


def _harmful(valuation: Values, negative: int, sure: int, noun: str) -> str:
    size = valuation.values.size
    if _about(valuation).get("caution"):
        return _about(valuation)["caution"]
    if not negative:
        words = f"No {noun} has a negative value."
        if not valuation.exact and errors_known(valuation):
            unsure = int(
                np.count_nonzero(valuation.values < valuation.interval_factor * valuation.stderr)
            )
            words += f" For {unsure:,} of {size:,} the 95 % interval holds 0." if unsure else ""
        return words
    helps = "their columns help the model less with their rows" if noun == "block" else ""
    words = (
        f"{negative:,} of {size:,} {noun}s ({_share(negative, size)}) have a negative value: "
        f"on average {helps or 'their column helps the model less with their row'} than without."
    )
    if not valuation.exact and errors_known(valuation):
        words += f" For {sure:,} of them the whole 95 % interval is below 0."
    return words


def _marked(marked: NDArray[np.bool_], lowest: NDArray[np.intp], noun: str) -> str:
    total = int(marked.sum())
    if not total:
        return ""
    first = lowest[:total]
    hits = int(marked.ravel()[first].sum())
    listed = int(marked.ravel()[lowest].sum())
    return (
        f"Of {_count(total, f'marked {noun}')}, {hits:,} rank among the {first.size:,} most harmful, "
        f"{listed:,} among the {lowest.size:,} listed below."
    )


def _finding(valuation: Values, flat: int, typical: Sequence[str]) -> Finding:
    i, j = divmod(flat, valuation.shape[1])
    value = number_text(valuation.values[i, j])
    if 0 < valuation.stderr[i, j] < np.inf:
        value += f" ± {number_text(valuation.interval_factor * valuation.stderr[i, j], 2)}"
    return Finding(
        row=shorten(str(valuation.row_names[i]), 60) or "",
        column=shorten(valuation.column_names[j], 60) or "",
        entry=None if valuation.contents is None else shorten(valuation.contents[j][i], 80),
        known=valuation.contents is not None,
        value=value,
        typical=typical[j],
        label=None if valuation.labels is None else shorten(valuation.labels[i], 60),
    )


def _stray(valuation: Values, i: int, j: int, text: str, kind: str) -> Stray:
    return Stray(
        row=shorten(str(valuation.row_names[i]), 60) or "",
        column=shorten(valuation.column_names[j], 60) or "",
        entry=shorten(text, 80) or "",
        kind=kind,
        label=None if valuation.labels is None else shorten(valuation.labels[i], 60),
    )


def _count(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _share(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 or count == 0 else f"{share:.2g} %"
