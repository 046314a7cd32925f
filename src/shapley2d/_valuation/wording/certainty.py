"""How certain a result is, and what twice the time would add, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.words import counted, format_seconds, typeset
from shapley2d._valuation.wording.units import Units

if TYPE_CHECKING:
    from shapley2d._base.arrays import Floats
    from shapley2d._valuation.values import CellValues

_LATE = 1.1  # times the limit, and half a second: a run that took longer says so


def certainty_words(values: CellValues) -> str:
    """How certain the values are, in a phrase."""
    if values.exact:
        return str((values.info.get("about") or {}).get("certainty") or "exact")
    words = f"standard error at most {Units.of(values).cells.error(float(values.stderr.max()))}"
    if values.info.get("time_up") and (limit := values.info.get("max_time")):
        late = _late(values)
        words += f" after {late or format_seconds(limit)}"
        words += f" (the time limit was {format_seconds(limit)})" if late else ", the time limit"
    return f"{words}, but {values.caveat}" if values.caveat else words


def certainty_tile(values: CellValues) -> tuple[str, str]:
    """A figure on how certain the values are, and what it is."""
    if values.exact:
        return certainty_words(values), "no sampling error"
    if not values._errors_known:
        return "unknown", "sampling error"
    typical = values._interval_factor * float(np.median(values.stderr))
    trusted = ", not reliable" if values.caveat else ""
    noun = values._nouns[0][0]
    shown, _, many = typeset(Units.of(values).cells.error(typical)).partition(" per ")
    return f"± {shown}", f"typical 95 % interval of {many or f'a {noun}'}{trusted}"


def certainty_sentences(values: CellValues) -> list[str]:
    """How certain the values are, in sentences."""
    if values.exact and certainty_words(values) != "exact":
        return [f"The values are {certainty_words(values)}: they estimate nothing."]
    if values.exact:
        return ["The values are exact: nothing was sampled, so they carry no sampling error."]
    if not values._errors_known:
        return ["The values come from too few draws to estimate their errors: do not rely on them."]
    points, noun = Units.of(values).cells, values._nouns[0][0]
    typical, worst = (points.error(float(one(values.stderr))) for one in (np.median, np.max))
    error = f"The standard error of a {noun} is typically {typical}, at most {worst}."
    found = [f"The values are estimates. {error}"]
    if values.caveat:
        found.append(f"But {values.caveat}: do not rely on them.")
    if values.info.get("converged") is False:
        found.append(
            "Sampling ended before it reached the requested precision: do not read much into small "
            "differences."
        )
    return [*found, *time_limit_sentences(values)]


def time_limit_sentences(values: CellValues) -> list[str]:
    """How precise a run got that a time limit ended; empty for any other."""
    if not (values.info.get("time_up") and (limit := values.info.get("max_time"))):
        return []
    cells, rows, columns = values._nouns
    reach = values._interval_factor * values.stderr
    of_rows = (values.row_values, values._interval_factor * values.row_stderr, rows)
    of_columns = (values.column_values, values._interval_factor * values.column_stderr, columns)
    parts, ranked, named = [(values.values, reach, cells), of_rows, of_columns], of_columns, ""
    if values._grouped and 1 in values.shape:  # groups of one axis
        ranked = of_columns if values.shape[0] == 1 else of_rows
        names = values.column_names if ranked is of_columns else values.row_names
        parts, named = [ranked], _surest(*ranked[:2], [str(name) for name in names])
    counts = [
        f"{n_known_signs(part, half):,} of {counted(part.size, *nouns)}"
        for part, half, nouns in parts
    ]
    listed = " and ".join([part for part in (", ".join(counts[:-1]), counts[-1]) if part])
    ranks = n_known_ranks(*ranked[:2])
    stopped = f"Stopped by the time limit of {format_seconds(limit)}."
    if late := _late(values):
        stopped = (
            f"Stopped after {late}; {format_seconds(limit)} were asked for, but a piece of work "
            "that has begun is finished."
        )
    if not any(n_known_signs(part, half) for part, half, _ in parts):
        known = f"{stopped} No value has a certain sign (95 %) yet."
    else:
        known = f"{stopped} The sign is certain (95 %) of {listed}{named}; "
        known += f"so is the rank of {counted(ranks, *ranked[2]) if ranks else 'none of them'}."
    points, typical, after = Units.of(values).cells, np.median(values.stderr), math.sqrt(0.5)
    signs = n_known_signs(values.values, after * reach)
    then = (
        f"Twice the time would shrink the errors by about 30 %, a typical {cells[0]}'s to "
        f"{points.error(after * typical)}"
    )
    certain = f"; about {counted(signs, *cells)} would then have a certain sign" * bool(signs)
    return [known, f"{then}{certain}."]


def _late(values: CellValues) -> str:
    """How long a run took that ended well after its time limit; empty for one that did not."""
    took, limit = values.info.get("seconds") or 0.0, values.info.get("max_time") or math.inf
    return format_seconds(took) if took > _LATE * limit + 0.5 else ""


def n_known_signs(values: Floats, reach: Floats) -> int:
    """Number of values whose 95 % interval is on one side of 0."""
    return int(np.count_nonzero(np.abs(values) > reach))


def n_known_ranks(values: Floats, reach: Floats) -> int:
    """Number of values whose rank is known: no other 95 % interval overlaps theirs."""
    order = np.argsort(values, kind="stable")
    low, high = (values - reach)[order], (values + reach)[order]
    # the highest end of all below, and the lowest of all above
    below = np.append(-math.inf, np.maximum.accumulate(high)[:-1])
    above = np.append(np.minimum.accumulate(low[::-1])[::-1][1:], math.inf)
    return int(np.count_nonzero((low > below) & (high < above)))


def _surest(values: Floats, reach: Floats, names: list[str]) -> str:
    """The names of three groups whose sign is most certain, in brackets."""
    certain = np.flatnonzero(np.abs(values) > reach)
    if not certain.size:
        return ""
    with np.errstate(divide="ignore"):
        order = certain[np.argsort(-np.abs(values[certain]) / reach[certain], kind="stable")]
    shown = [f"{names[k]!r} {'below' if values[k] < 0 else 'above'}" for k in order[:3]]
    shown[0] += " 0"
    more = ", ..." if order.size > 3 else ""
    return f" ({', '.join(shown)}{more})"
