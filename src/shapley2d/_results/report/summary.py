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

    from shapley2d._results.valuation import Valuation

_INTERVAL = 1.96
_TIMES, _MINUS = "\N{MULTIPLICATION SIGN}", "\N{MINUS SIGN}"
_METHODS = {
    "mc": "Monte Carlo over random orders of rows and columns",
    "exact": "every coalition of rows and columns",
    "loo": "leaving out one row and one column at a time",
    "flat": "every cell as a player of its own, absent cells filled with the mean (1D-Shapley)",
    "oob": "out-of-bag performance of a bagged ensemble (2D-OOB)",
    "random": "random numbers, as a baseline",
}

_CONTRIBUTION = (
    "what it adds, on average over all ways to build up the table, to the performance of the model"
)
_MEANINGS = {
    "loo": "what the whole table's performance owes to its row and its column together, all others being there",
    "flat": "what it adds to the performance of the model, on average over all orders in which cells replace means",
    "oob": "the mean score of its row by trees that saw its column and never saw the row",
    "random": "a random number",
}
_NO_CONTRIBUTIONS = {
    "oob": "The values are mean scores of trees, not contributions: a low one is suspect, its sign says nothing.",
    "random": "The values are random numbers and say nothing about the table; they are there to compare with.",
}


@dataclass(frozen=True)
class Finding:
    """One cell to look at."""

    row: str
    column: str
    entry: str | None
    known: bool
    value: str
    usual: str
    label: str | None


@dataclass(frozen=True)
class Summary:
    """The words and figures at the head of the report."""

    valued: str
    meaning: str
    against: str
    certainty: str
    harmful: str
    kept: str
    marked: str
    findings: list[Finding]
    tiles: list[tuple[str, str]]
    noun: str


def summarise(
    valuation: Valuation,
    *,
    lowest: NDArray[np.intp],
    usual: Sequence[str],
    marked: NDArray[np.bool_],
    n_shown: int,
) -> Summary:
    """Put a valuation into words."""
    n, m = valuation.shape
    noun = "block" if is_blocks(valuation) else "cell"
    groups = (("group of rows", "groups of rows"), ("group of columns", "groups of columns"))
    parts = groups if noun == "block" else (("row", "rows"), ("column", "columns"))
    negative = int(np.count_nonzero(valuation.values < 0))
    sure = int(np.count_nonzero(valuation.values + _INTERVAL * valuation.stderr < 0))
    tiles = [
        (f"{n:,} {_TIMES} {m:,}", f"{parts[0][1]} {_TIMES} {parts[1][1]} valued"),
        (number_text(valuation.total, 4), "sum of all values"),
        (f"{negative:,}", f"{noun}s with a negative value ({_share(negative, n * m)})"),
        _certainty_tile(valuation, noun),
    ]  # fmt: skip
    kept = ""
    if n_shown < n:
        kept = f"The map shows the {n_shown:,} rows with the most extreme cells, of {n:,}."
    return Summary(
        valued=f"{_count(n * m, noun)}, {_count(n, *parts[0])} by {_count(m, *parts[1])}",
        meaning=_MEANINGS.get(str(valuation.info.get("method")), _CONTRIBUTION),
        against=_against(valuation.info),
        certainty=_certainty(valuation, noun),
        harmful=_harmful(valuation, negative, sure, noun),
        kept=kept,
        marked=_marked(marked, lowest, noun),
        findings=[_finding(valuation, int(flat), usual) for flat in lowest[:3]],
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
    measure = {"classification": "how well a model classifies", "regression": "how well a model predicts"}
    task = measure.get(str(info.get("task")), "the performance that was measured")
    rows = ""
    if info.get("folds"):
        rows = f" the table's own rows in {info['folds']} folds, each predicted by a model that never saw it"
    elif info.get("n_valid"):
        rows = f" {info['n_valid']:,} validation rows"
    return f"{task}{rows}, by {_method(info)}"


def _method(info: dict[str, Any]) -> str:
    method = str(info.get("method", "a method that the record does not name"))
    settings = info.get("settings") or {}
    if method == "knn":
        words = f"the {settings.get('n_neighbors', 10)} nearest neighbours"
    else:
        words = _METHODS.get(method, method)
    model = info.get("model")
    return f"{words} with {model}" if model not in (None, "None") else words


def _certainty_tile(valuation: Valuation, noun: str) -> tuple[str, str]:
    if valuation.exact:
        return "exact", "no sampling error"
    if not errors_known(valuation):
        return "unknown", "sampling error"
    typical = _INTERVAL * float(np.median(valuation.stderr))
    return f"± {number_text(typical, 2)}", f"typical 95 % interval of a {noun}"


def _certainty(valuation: Valuation, noun: str) -> str:
    if valuation.exact:
        return "The values are exact: nothing was sampled, so they carry no sampling error."
    if not errors_known(valuation):
        return "The values are estimates from too few draws to tell their errors: do not rely on them."
    typical, worst = np.median(valuation.stderr), valuation.stderr.max()
    words = (
        f"The values are estimates. The standard error of a {noun} is typically {number_text(typical, 2)}, "
        f"at most {number_text(worst, 2)}."
    )
    if valuation.info.get("converged") is False:
        words += " Sampling ended before it reached the precision that was asked for: read small differences with care."
    return words


def _harmful(valuation: Valuation, negative: int, sure: int, noun: str) -> str:
    size = valuation.values.size
    if valuation.info.get("method") in _NO_CONTRIBUTIONS:
        return _NO_CONTRIBUTIONS[valuation.info["method"]]
    if not negative:
        return f"No {noun} has a negative value: taking any of them away would not help the model on average."
    words = (
        f"{negative:,} of {size:,} {noun}s ({_share(negative, size)}) have a negative value: "
        f"on average the model does better without them."
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


def _finding(valuation: Valuation, flat: int, usual: Sequence[str]) -> Finding:
    i, j = divmod(flat, valuation.shape[1])
    value = number_text(valuation.values[i, j])
    if 0 < valuation.stderr[i, j] < np.inf:
        value += f" ± {number_text(_INTERVAL * valuation.stderr[i, j], 2)}"
    return Finding(
        row=shorten(str(valuation.row_names[i]), 60) or "",
        column=shorten(valuation.column_names[j], 60) or "",
        entry=None if valuation.contents is None else shorten(valuation.contents[j][i], 80),
        known=valuation.contents is not None,
        value=value,
        usual=usual[j],
        label=None if valuation.labels is None else shorten(valuation.labels[i], 60),
    )


def _count(count: int, one: str, several: str | None = None) -> str:
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _share(count: int, size: int) -> str:
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 10 or count == 0 else f"{share:.2g} %"
