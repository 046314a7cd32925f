"""What the titles of the page claim: one thing each, computed, and only what is clear."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shapley2d._base.arrays import Floats

_WORDS = [
    "no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve",
]  # fmt: skip
_CLOSE = "too close to tell apart"


def word(count: int, *, first: bool = False) -> str:
    """A number as people write it; ``first`` in its sentence.

    >>> word(5), word(5, first=True), word(1200)
    ('five', 'Five', '1,200')
    """
    text = _WORDS[count] if count < len(_WORDS) else f"{count:,}"
    return text.capitalize() if first else text


def listed(names: Sequence[str]) -> str:
    """Names with commas and an "and".

    >>> listed(["A"]), listed(["A", "B", "C"])
    ('A', 'A, B and C')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))


def of(name: str) -> str:
    """The genitive of a name."""
    return f"{name}\N{RIGHT SINGLE QUOTATION MARK}{'' if name.endswith('s') else 's'}"


def share(part: float) -> str:
    """A share in per cent, small ones with a decimal.

    >>> [share(part).replace(chr(160), " ") for part in (0, 0.004, 0.284)]
    ['0 %', '0.4 %', '28 %']
    """
    return f"{100 * part:.{int(0 < part < 0.0095)}f}\N{NO-BREAK SPACE}%"


def leaders(values: Floats, errors: Floats, factor: float) -> list[int]:
    """The largest value, and those that are not clearly less, by the interval of the difference.

    ``errors`` are a covariance, or standard errors taken as independent.

    >>> leaders(np.array([1.0, 3.0, 2.9]), np.array([0.1, 0.1, 0.1]), 1.96)
    [1, 2]
    """
    first = int(np.argmax(values))
    if errors.ndim == 2:
        variances, shared = np.diag(errors), errors[first]
    else:
        variances = errors**2
        shared = np.where(np.arange(len(values)) == first, variances, 0.0)
    apart = np.sqrt(np.maximum(variances[first] + variances - 2 * shared, 0.0))
    near = np.round(values[first] - values, 12) <= factor * apart
    return [int(i) for i in np.argsort(-values, kind="stable") if near[i]]


def claims(page: dict[str, Any]) -> dict[str, str]:
    """The titles of the sections, and the first of all."""
    return {
        **_worth(page), "table": _table(page), "best": _best(page), "pieces": _pieces(page),
        "each": _each(page), "how": _how(page),
    }  # fmt: skip


def _worth(page: dict[str, Any]) -> dict[str, str]:
    people, k, total, near = page["people"], page["k"], page["total"], page["leaders"]
    first, paid = people[0], page["pot"] is not None
    worth = [one["value"] for one in people]
    if first["low"] <= 0:
        lead = "No contributor is clearly worth something"
    elif len(near) > 1:
        lead = f"{_few(page['names_of'](near), first=True)} lead, {_CLOSE}"
        if paid and len(near) == 2:
            amounts = listed([f"{people[i]['paid_amount']:,.0f}" for i in near])
            lead += f": {amounts} of {page['pot']}"
    else:
        n, what, verb = len(first["columns"]), first["name"], "is"
        if n < page["m"]:
            what = f"{of(what)} {word(n)} column{'s' if n > 1 else ''}"
            verb = "are" if n > 1 else "is"
        amount = f"{first['paid_amount']:,.0f} of {page['pot']}" if paid else page["part"](worth[0])
        lead = f"{what} {verb} worth most: {amount}"
    harm = [one["name"] for one in people if one["high"] < 0]
    nothing = [one["name"] for one in people if not (one["cells"] or one["half"])]
    unsure = [one["name"] for one in people if one["low"] <= 0 <= one["high"]]
    unsure = [name for name in unsure if name not in nothing]
    doubts = [f"{_few(harm)} lower{_s(harm)} the score"] if harm else []
    doubts += [f"{_few(unsure)} may be worth nothing"] if unsure else []
    doubts += [f"{_few(nothing)} hold{_s(nothing)} nothing"] if nothing else []
    ahead = 1 if k < 3 or worth[0] >= total / 2 else 2
    sums = sum(worth[:ahead])
    bring = share(sums / total) if worth[-1] >= 0 < total else page["part"](sums)
    group = f"{listed(page['names_of'](range(ahead)))} bring{'s' if ahead == 1 else ''} {bring}"
    above = np.cumsum(np.maximum(worth, 0))
    half = int(np.searchsorted(above, above[-1] / 2)) + 1
    if first["low"] <= 0:
        group = "Values and errors"
    elif not page["coloured"] and half > 1:
        group, does = lead, "are paid" if paid else "bring"
        part = share(above[half - 1] / above[-1])
        many = f"{word(half, first=True)} of {k} contributors {does} {part}"
        return {"page": "; ".join([many, *doubts]), "worth": group}
    elif not doubts:
        who = {1: "It is", 2: "Both are"}.get(k, f"All {word(k)} are")
        group = f"{who} worth something" + (f"; {group}" if k > 1 else "")
    return {"page": lead, "worth": "; ".join([group, *doubts])}


def _few(names: Sequence[str], *, first: bool = False) -> str:
    return listed(names) if len(names) <= 2 else word(len(names), first=first)


def _s(several: Sequence[Any]) -> str:
    return "s" if len(several) == 1 else ""


def _table(page: dict[str, Any]) -> str:
    nobody, several = page["nobody"], page["several"]
    more = f"{share(several)} by two or more" if several else ""
    if nobody:
        return ", ".join(filter(None, [f"{share(nobody)} of the table is held by nobody", more]))
    return "Every entry is held by somebody" + (f", {more}" if more else "")


def _best(page: dict[str, Any]) -> str:
    enough, k, whole = page["enough"], page["k"], page["whole"]
    everybody = "both" if k == 2 else f"all {word(k)}"
    if whole <= page["total_half"]:
        return f"Not even {everybody} together clearly beat the baseline"
    before = [one for one in page["best"] if one["size"] < enough["size"]]
    most = next((one for one in before if one["score"] >= 0.9 * whole), None)

    def who(one: dict[str, Any], verb: str, *, first: bool = False) -> str:
        names = page["names_of"](one["members"])
        several = f"{word(len(names), first=first)} partners"
        return f"{listed(names) if len(names) <= 3 else several} {verb}{_s(names)}"

    does = who(enough, "do", first=True).replace(" dos", " does")
    if enough["size"] == k:
        claim = f"Nobody can be left out: no set does as well as {everybody}"
    elif enough["lost"] < -enough["half"]:
        claim = f"{does} better than {everybody}"
    else:
        claim = f"{does} as well as {everybody}"
        claim += ", within the error" if enough["lost"] > 0 else ""
    return f"{claim}; {who(most, 'bring')} {share(most['score'] / whole)}" if most else claim


def _pieces(page: dict[str, Any]) -> str:
    people = page["people"]
    if not page["by_column"]:
        counts = np.array([one["cells"] for one in people])
        most = np.flatnonzero(counts == counts.max())
        names = [people[i]["name"] for i in most]
        return f"{_few(names, first=True)} hold{_s(names)} the most entries: {counts.max():,}"
    near = page["pieces"]
    pieces = [f"{of(people[i]['name'])} {page['columns'][j]}" for i, j in near]
    if len(near) > 2:
        return f"{word(len(near), first=True)} pieces lead, {_CLOSE}"
    if len(near) == 2:
        return f"The most valuable pieces are {listed(pieces)}, {_CLOSE}"
    i, j = near[0]
    return f"The most valuable piece is {pieces[0]}: {page['points'](people[i]['by_column'][j])}"


def _each(page: dict[str, Any]) -> str:
    people, (missed, alone) = page["people"], (page["missed_most"], page["alone_most"])
    names, firsts = ([people[i]["name"] for i in near] for near in (missed, alone))
    by = f" ({page['points'](people[missed[0]]['missed'])})" if len(missed) == 1 else ""
    best = f" ({page['points'](people[alone[0]]['alone'])})" if len(alone) == 1 else ""
    if missed == alone and len(missed) == 1:
        return f"{names[0]} would be missed most{by} and brings most alone{best}"
    claim = f"{listed(names)} would be missed most{by}"
    if not missed:
        claim = "Nobody would clearly be missed"
    elif len(missed) > 2:
        claim = f"Who would be missed most is unclear: {word(len(missed))} are too close"
    if not alone:
        return f"{claim}; nobody clearly brings anything alone"
    if len(alone) > 2:
        return f"{claim}; alone, {word(len(alone))} bring about as much"
    return f"{claim}; alone, {listed(firsts)} bring{_s(firsts)} most{best}"


def _how(page: dict[str, Any]) -> str:
    f, k = page["f"], page["k"]
    rows = "rows, by cross-validation" if f.crossed else "validation rows"
    if f.how == "all sets":
        return f"All {2**k:,} sets of contributors were scored on {f.n_valid:,} {rows}"
    return (
        f"{f.n_orders:,} random orders of the {k} contributors were scored, in {f.n_trained:,} "
        f"trainings, on {f.n_valid:,} {rows}"
    )
