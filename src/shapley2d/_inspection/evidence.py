"""The evidence for and against every cell, as numbers: the inputs of the learned models.

Two steps. Evidence of a cell: how far its score and the parts of it lie above the others of its
table and column, how it is written, what the findings about its column say; learned weights add it
up (a logistic model). Evidence of the table: how the strongest of these sums lie above the rest, by
which the same outlier is an error in one table and ordinary in another. Boosted trees judge by both
(:mod:`shapley2d._inspection.probability`). The bounds in these formulas are in ``learned.json``:
the models were learned with them.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shapley2d._inspection.columns.finding import HABIT, SURE
from shapley2d._inspection.learned import LEARNED, SETTINGS, WEIGHTS
from shapley2d._inspection.marginal import shape_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._tables.table import Column

_WEIGHTS: dict[str, float] = LEARNED["weights"]  # of the evidence of a cell
# kinds that are right at least as often as they say: of 4,875 spellings said to be .6 to .95 likely
# wrong, 99 % were, in tables like those of benchmarks/calibration.py
_TRUSTED = ("spellings",)


class Scores(NamedTuple):
    """The scores of a table and their usual range.

    ``found`` are cells that findings are about: their scores say nothing of the others, as a column
    full of words for missing makes no entry elsewhere likelier wrong. ``middle`` is the median,
    ``spread`` the distance from it to the 90 % quantile, ``log_share`` the logarithm of the share
    of high scores, and ``ends`` are how high above the middle, in spreads, the highest 2 and 0.2 %
    begin. The first ``known`` rows are the table; the others are new and judged by it: whatever
    evidence counts or compares, it counts the table's rows, and each new one with itself.
    """

    scores: NDArray[np.float64]
    found: NDArray[np.bool_]
    middle: float
    spread: float
    log_share: float
    ends: tuple[float, ...]
    known: int

    @classmethod
    def of(
        cls,
        scores: NDArray[np.float64],
        found: NDArray[np.bool_] | None = None,
        known: int | None = None,
    ) -> Scores:
        """Columns whose scores are all the same do not count."""
        found = np.zeros(scores.shape, dtype=bool) if found is None else found
        known = len(scores) if known is None else known
        own = scores[:known]
        varied = np.ptp(own, axis=0) > 0 if known else np.zeros(scores.shape[1], bool)
        others = own[~found[:known] & varied]
        if not others.size:
            least = float(np.log(SETTINGS["high share"][0]))
            return cls(scores, found, 0.0, 1.0, least, (0.0, 0.0), known)
        share = _log_high_share(others)
        quantiles = [0.5, *(1 - end for end in SETTINGS["tail"])]
        middle, high, *ends = np.quantile(others, quantiles, overwrite_input=True).tolist()
        spread = high - middle or 1.0
        heights = tuple((end - middle) / spread for end in ends)
        return cls(scores, found, middle, spread, share, heights, known)

    def usual(self, j: int) -> tuple[float, float, float]:
        """Median, 90 % quantile and logarithm of the share of high scores, of one column."""
        scores = self.scores[: self.known, j][~self.found[: self.known, j]]
        middle, high = np.quantile(scores, [0.5, 0.9]) if scores.size else (0.0, 1.0)
        return float(middle), float(high), _log_high_share(scores)


def _log_high_share(scores: NDArray[np.float64]) -> float:
    """Logarithm of the share of high scores, within bounds."""
    share = _log_share(scores > SETTINGS["high score"])
    return float(np.clip(share, *np.log(SETTINGS["high share"])))


def _log_share(those: NDArray[np.bool_]) -> float:
    """Logarithm of the share of those, drawn towards few where there are few entries."""
    return float(np.log((those.sum() + 0.5) / (those.size + 50)))


def cell_evidence(
    table: Scores,
    j: int,
    column: Column,
    parts: dict[str, NDArray[np.floating[Any]]],
    as_expected: NDArray[np.bool_],
    vouched: NDArray[np.float32],
    findings: Sequence[ColumnFinding],
) -> dict[str, NDArray[np.float64] | float]:
    """The evidence for and against the entries of column ``j`` of a table, by name.

    ``parts`` of the scores, whether entries are ``as_expected``, how far other rows
    :func:`~shapley2d._inspection.marginal.vouched` for them, and ``findings`` are this column's.
    """
    scores, known = table.scores[:, j], table.known
    against = {name: part / WEIGHTS[name] for name, part in parts.items()}
    height = (scores - table.middle) / table.spread
    middle, high, share = table.usual(j)
    in_column = (scores - middle) / max(high - middle, SETTINGS["flattest"] * table.spread)
    cut, cut_in_column = (np.clip(one, *SETTINGS["height"]) for one in (height, in_column))
    _, place = np.unique(column.entries, return_inverse=True)
    counts = np.bincount(place[:known], minlength=place.max(initial=0) + 1)
    own = counts[place]
    own[known:] += 1
    times = np.where(np.isnan(column.entries), 1, own)
    rare, far = _shares(column, counts, place, own)
    strays = _strays_alike(column, known)
    rows = list(strays)
    times[rows] = list(strays.values())
    stray = np.zeros(scores.size)
    stray[rows] = 1.0
    different, nearly = (counts > 0).sum() / max(known, 1), SETTINGS["nearly key"]
    # where nearly all entries are different, one that is there twice is suspicious
    repeated = (times > 1) & ~np.isnan(column.entries)
    odd = np.clip(against["text"], 0.0, SETTINGS["text"]).astype(np.float64)
    # where many entries are written unlike the others, as names of places are, that says little
    odd_texts = _log_share(odd[:known][~table.found[:known, j]] > SETTINGS["odd text"])
    return {
        **against,
        "height": cut,
        "root of height": np.sqrt(np.clip(height, 0.0, SETTINGS["root of height"])),
        "height in column": cut_in_column,
        "root of height in column": np.sqrt(np.clip(in_column, 0.0, SETTINGS["root of height"])),
        "share": table.log_share,
        "height and share": cut * table.log_share,
        "share in column": share,
        "height and share in column": cut_in_column * share,
        "text": odd,
        "odd texts": odd_texts,
        "text and odd texts": odd * odd_texts,
        "text and different": odd * different,
        "as expected": as_expected.astype(np.float64),
        "stray": stray,
        "empty": np.isnan(column.entries) * (1.0 - stray),
        "times": np.log(times),
        "as rare": rare,
        "as far": far,
        "vouched": vouched.astype(np.float64),
        "number": float(column.kind in ("number", "date")),
        "different": different,
        "repeated key": repeated * max(0.0, (different - nearly) / (1 - nearly)),
        **found_evidence(findings, scores.size),
    }


def _shares(
    column: Column, counts: NDArray[np.intp], place: NDArray[np.intp], own: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The logarithm of the shares of entries that are as rare as each one, and as far out.

    One grade beyond ten frequent ones is odd, one of many large counts is not. ``counts`` of the
    distinct entries of the table, ``place`` of each entry among them, ``own`` how often it is
    there, a new row with itself.
    """
    empty = np.isnan(column.entries)
    new = own - counts[place]
    counts = counts.copy()
    counts[place[empty]] = 0
    size = np.maximum(counts.sum() + new, 1)
    rarer = np.cumsum(np.bincount(counts, weights=counts))
    rare = (rarer[own.clip(max=rarer.size - 1)] + new) / size
    upto = np.cumsum(counts)[place]
    outside = np.minimum(upto, size - new - upto + counts[place]) + new
    far = np.minimum(2 * outside / size, 1.0) if column.kind in ("number", "date") else 1.0
    rare, far = (np.where(empty, 0.0, np.log(np.where(empty, 1.0, one))) for one in (rare, far))
    return rare, far


def _strays_alike(column: Column, known: int) -> dict[int, int]:
    """The rows of texts among numbers, and how many of these texts have the same shape.

    A hundred of one shape, such as ``136A`` among the numbers of families, are hardly slips.
    """
    shapes = {
        row: shape_of(text)
        for row, text in column.from_text.strays.items()
        if np.isnan(column.entries[row])
    }
    counts = Counter(shape for row, shape in shapes.items() if row < known)
    return {row: counts[shape] + (row >= known) for row, shape in shapes.items()}


def named_cells(
    findings: Sequence[ColumnFinding], columns: Sequence[Column], n: int
) -> NDArray[np.bool_]:
    """The cells that findings call wrong, whatever the chance."""
    named = np.zeros((n, len(columns)), dtype=bool)
    place = {column.name: j for j, column in enumerate(columns)}
    for finding in findings:
        if finding.columns[0] in place:
            named[finding.rows[finding.row_chances > 0], place[finding.columns[0]]] = True
    return named


def found_evidence(findings: Sequence[ColumnFinding], n: int) -> dict[str, NDArray[np.float64]]:
    """What findings say of the entries: the surest counts, by its kind and by its chance.

    Kinds without a weight, which the tables of the calibration hardly have, are left out: see
    :func:`stated_chance`.
    """
    learned = [one for one in findings if f"found {one.kind}" in _WEIGHTS]
    chance, kind = _surest(learned, n)
    # a spike that is likelier true, such as the zeros of a capital gain, is no evidence
    found = (chance > 0) & ~((kind == "codes") & (chance < 0.5))
    kind[~found] = ""
    odds = np.zeros(n)
    sure = np.clip(chance[found], 1 - SETTINGS["chance"], SETTINGS["chance"])
    odds[found] = np.log(sure / (1 - sure))
    evidence = {"found": found.astype(np.float64), "chance": odds}
    # a rule weighs its entries one by one, and says the truth more often than other kinds
    evidence["chance of rule"] = np.where(kind == "rule", odds, 0.0)
    for name in sorted({str(one) for one in kind[found]}):
        evidence[f"found {name}"] = (kind == name).astype(np.float64)
    return evidence


def stated_chance(findings: Sequence[ColumnFinding], n: int) -> NDArray[np.float64]:
    """How likely entries are wrong by findings of kinds without a weight: as they state it."""
    return _surest([one for one in findings if f"found {one.kind}" not in _WEIGHTS], n)[0]


def least_chance(
    findings: Sequence[ColumnFinding], evidence: dict[str, NDArray[np.float64] | float], n: int
) -> NDArray[np.float64]:
    """How likely entries are wrong at least.

    As a stated chance or a kind to be trusted says; texts among numbers too, unless many are alike.
    """
    kept = [one for one in findings if one.kind in _TRUSTED or f"found {one.kind}" not in _WEIGHTS]
    chance, kind = _surest(kept, n)
    # a number far outside that two other rows have, together with other entries, is of a rare
    # thing; one other row may agree by chance, which is a lift of 3 at most
    chance[(kind == "numbers far outside") & (evidence["vouched"] > np.log(4))] = 0.0
    # of 937 entries that a rule was sure of, 97 % were wrong; empty ones may be meant
    of_rules, _ = _surest([one for one in findings if one.kind == "rule"], n)
    sure = (of_rules >= SURE) & (evidence["empty"] == 0)
    chance = np.maximum(chance, np.where(sure, of_rules, 0.0))
    few_alike = (evidence["stray"] > 0) & (evidence["times"] <= np.log(SETTINGS["strays alike"]))
    return np.asarray(np.maximum(chance, SETTINGS["stray"] * few_alike))


def is_habit(evidence: dict[str, NDArray[np.float64] | float], known: int) -> NDArray[np.bool_]:
    """Which entries are texts among numbers of a shape that many rows have: house numbers, say."""
    often = np.exp(evidence["times"]) > 2 + HABIT * known
    return np.asarray((evidence["stray"] > 0) & often)


def _surest(
    findings: Sequence[ColumnFinding], n: int
) -> tuple[NDArray[np.float64], NDArray[np.object_]]:
    """The chance of the surest finding about every entry, 0 without one, and its kind."""
    chance, kind = np.zeros(n), np.full(n, "", dtype=object)
    for finding in findings:
        rows, said = finding.rows, finding.row_chances
        surer = said > chance[rows]
        chance[rows[surer]] = said[surer]
        kind[rows[surer]] = finding.kind
    return chance, kind


class Tail(NamedTuple):
    """How strong the strongest evidence of a table is.

    ``ends`` are its upper quantiles, at the fractions ``SETTINGS["tail"]``; ``share`` is the
    logarithm of the share of cells that are wrong, by the cells likelier wrong than right.
    """

    ends: tuple[float, ...]
    share: float

    @classmethod
    def of(
        cls, logit: NDArray[np.float64], found: NDArray[np.bool_], stated: NDArray[np.bool_]
    ) -> Tail:
        """The tail of a table.

        Cells of findings are not among the ends: a code for missing that a tenth of a column has
        is nothing to compare an outlier elsewhere with. They count in the share, since a table
        with misspelt entries has other errors too (on tables left out, that halved the false
        alarms on clean ones), unless their finding states its chance itself: its kind was not
        learned, and words for missing, for example, make no other entry likelier wrong.
        """
        others = logit[~found] if not found.all() else logit.flatten()
        if not others.size:
            return cls((0.0, 0.0, 0.0), SETTINGS["sure"][0])
        ends = np.quantile(others, [1 - end for end in SETTINGS["tail"]], overwrite_input=True)
        sure = 1 / (1 + np.exp(-logit[(logit > 0) & ~stated]))
        counted = logit.size - int(stated.sum())
        share = np.log((sure.sum() + 0.5) / max(counted, 1)).clip(*SETTINGS["sure"])
        return cls(tuple(ends.tolist()), float(share))


def table_evidence(
    table: Scores, tail: Tail, logit: NDArray[np.float64]
) -> dict[str, NDArray[np.float64] | float]:
    """Whether cells stand out from the others of their table, by the sum of their evidence."""
    low, middle, high = tail.ends
    return {
        "logit": logit,
        "10 %": low,
        "2 %": middle,
        "0.2 %": high,
        "sure": tail.share,
        "high 2 %": table.ends[0],
        "high 0.2 %": table.ends[1],
    }


def label_evidence(
    surprise: NDArray[np.float64], shares: NDArray[np.float64], known: int | None = None
) -> dict[str, NDArray[np.float64] | float]:
    """What speaks against class labels: each by itself, and how such labels are in this table.

    ``surprise`` is minus the logarithm of each label's predicted chance, ``shares`` how frequent
    its class is; the first ``known`` rows are the table.
    """
    odds, most = np.log(np.expm1(np.clip(surprise, 1e-3, 12.0))), SETTINGS["odds"]
    of_class = np.log((1 - shares + 1e-3) / shares)
    # beyond what the class alone makes likely: labels of a rare class are always against the odds
    lift = (odds - of_class) * _confirmed((odds - of_class)[:known], of_class[:known])
    odds = of_class + lift
    cut = np.minimum(odds, most)
    ends = (2, 25, 50, 75, 90, 98)
    return {
        "odds": cut,
        "lift": np.clip(lift, -2.0, most),
        "class": np.log(shares),
        "rarest class": float(np.log(shares[:known].min())),
        "unlikely": float(np.log(((odds[:known] > 1).sum() + 0.5) / (odds[:known].size + 10))),
        **{f"{end} %": float(np.quantile(cut[:known], end / 100)) for end in ends},
    }


def _confirmed(lift: NDArray[np.float64], of_class: NDArray[np.float64]) -> float:
    """How much of the lift the labels themselves confirm: 0 where nothing predicts the target.

    Each label was predicted without itself. So the factor of the lifts under which all labels
    together are likeliest tells how far predictions can be trusted (Platt 1999), noise included.
    It counts where it is worth its one parameter (Schwarz 1978, doi:10.1214/aos/1176344136).
    """
    factors = np.linspace(0.0, 1.0, 21)
    likely = [-np.logaddexp(0.0, of_class + factor * lift).sum() for factor in factors]
    best = int(np.argmax(likely))
    return float(factors[best]) if likely[best] - likely[0] > np.log(lift.size) / 2 else 0.0


def weighed(
    evidence: dict[str, NDArray[np.float64] | float], n: int, weights: dict[str, float] = _WEIGHTS
) -> NDArray[np.float64]:
    """The weighted sum of all evidence; evidence without a weight does not count."""
    total = np.full(n, weights["base"])
    for name, against in evidence.items():
        if name in weights:
            total += weights[name] * against
    return total
