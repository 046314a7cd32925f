"""What speaks for or against an entry by its column alone: functions of a view, each (n,).

They tell how often an entry is there, how far out it is, and how it is written. The first ``known``
rows teach what is usual; each new one counts as one more. To add a signal, write a function, list
it in :data:`SIGNALS`, and learn the trees anew (``benchmarks/calibration.py``).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.robust import centre_and_spread
from shapley2d._inspection.binning import FEWEST_ROWS
from shapley2d._inspection.columns.missing import is_missing
from shapley2d._inspection.columns.spelling import slips_of, token_slips_of, variants_of

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.columns.spelling import Meant
    from shapley2d._inspection.columns.view import ColumnView

_MOST_WORDS = 200_000
"""A column with more distinct texts holds keys: how they are written is not compared."""

_ENDS = 9  # distinct numbers at an end of a column that are compared with the outermost one


# How often


def times(view: ColumnView) -> Floats:
    return np.asarray(np.log(np.maximum(_times(view), 1.0)))


def as_rare(view: ColumnView) -> Floats:
    """Log of the share of entries that are at most as frequent."""
    own = _times(view).astype(np.intp)
    held = np.cumsum(np.bincount(view.taught, weights=view.taught, minlength=1))
    upto = held[own.clip(max=held.size - 1)] + view.is_new
    share = np.where(view.codes < 0, 1.0, upto / view.size)
    return np.asarray(np.log(share.clip(1e-9, 1.0)))


def repeated_key(view: ColumnView) -> Floats:
    """Whether the entry is there twice, in a column whose entries nearly all differ."""
    return np.asarray((_times(view) > 1) * max(0.0, 10 * (_different(view) - 0.9)))


def different(view: ColumnView) -> float:
    return _different(view)


def empties(view: ColumnView) -> float:
    return float((view.codes[: view.known] < 0).mean()) if view.known else 0.0


def n_rows(view: ColumnView) -> float:
    return float(np.log(max(view.known, 1)))


def kind(view: ColumnView) -> float:
    return ("category", "boolean", "number", "date").index(view.column.kind)


# How far out


def as_far(view: ColumnView) -> Floats:
    """Log of the share of numbers that are as far out."""
    ordered = _ordered(view)
    values, new = view.column.entries, view.is_new
    upto = np.searchsorted(ordered, values, "right") + new
    over = ordered.size - np.searchsorted(ordered, values, "left") + new
    share = 2 * np.minimum(upto, over) / np.maximum(ordered.size + new, 1)
    return np.where(np.isnan(values), 0.0, np.log(share.clip(1e-9, 1.0)))


def far_out(view: ColumnView) -> Floats:
    """Log of how many spreads a number is from the median."""
    middle, spread = centre_and_spread(_ordered(view))
    with np.errstate(over="ignore"):
        return np.nan_to_num(np.log1p(np.abs(view.column.entries - middle) / (spread or 1.0)))


def gap(view: ColumnView) -> Floats:
    """Log of how far the numbers up to the entry's end are apart from all others."""
    ordered, values = _ordered(view), view.column.entries
    found = np.zeros(values.size)
    if ordered.size < FEWEST_ROWS:
        return found
    distinct, (middle, spread) = np.unique(ordered), centre_and_spread(ordered)
    for sign in (1.0, -1.0):
        numbers = np.sort(sign * distinct)
        numbers = numbers[np.searchsorted(numbers, sign * middle, "right") - 1 :]  # outwards
        steps = np.log1p(np.diff(numbers) / (spread or 1.0))
        upto = np.maximum.accumulate(np.append(0.0, steps))
        beyond = np.flatnonzero(sign * values > sign * middle)
        own = sign * values[beyond]
        last = np.searchsorted(numbers, own) - 1  # the next one inwards
        with np.errstate(over="ignore"):
            step = np.log1p((own - numbers[last]) / (spread or 1.0))
        found[beyond] = np.maximum(upto[last], step)
    return np.nan_to_num(found)


def end_gap(view: ColumnView) -> Floats:
    """Of the smallest and the largest number: log of the gap beside it in spacings."""
    return np.asarray(_ends(view)[0])


def end_times(view: ColumnView) -> Floats:
    """And how much more frequent it is: a spike apart is a code, as 0 for a missing pulse."""
    return np.asarray(_ends(view)[1])


# How it is written


def odd_shape(view: ColumnView) -> Floats:
    return _rarity(view, view.shapes)


def odd_detail(view: ColumnView) -> Floats:
    """Rarity of the shape with the length of its runs and capitals."""
    return _rarity(view, [_DETAIL.sub(_detail, word) for word in view.words])


def odd_pair(view: ColumnView) -> Floats:
    """Rarity of the rarest pair of neighbouring characters, above the usual one."""
    taught = view.taught.astype(bool)
    pairs = [{*zip("^" + word, word + "$", strict=True)} for word in view.words]
    held: Counter[Hashable] = Counter()
    for some, is_known in zip(pairs, taught.tolist(), strict=True):
        held.update(some if is_known else ())
    rarest = np.array([min(held[pair] for pair in some) for some in pairs])
    rare = -np.log(np.maximum(rarest, 1) / (taught.sum() + 1))
    return view.spread(rare - _usual(view, rare))


def stray(view: ColumnView) -> Floats:
    return view.stray.astype(np.float64)


def strays_alike(view: ColumnView) -> Floats:
    """Log of how many texts among numbers have the same shape."""
    strange = np.zeros(len(view.words), dtype=bool)
    strange[view.codes[view.stray & (view.codes >= 0)]] = True
    held: Counter[str] = Counter()
    for shape, count, is_one in zip(view.shapes, view.taught.tolist(), strange, strict=True):
        held[shape] += count * bool(is_one)
    alike = view.spread([held[shape] for shape in view.shapes]) + view.is_new
    return np.log1p(alike) * view.spread(strange)


def missing_word(view: ColumnView) -> Floats:
    return view.spread(view.where(is_missing))


def slip(view: ColumnView) -> Floats:
    """Log of how much more frequent the word is of which this is a slip."""
    return _ratios(view, slips_of(view))


def variant(view: ColumnView) -> Floats:
    """The same, where only capitals, space or signs differ."""
    return _ratios(view, variants_of(view))


def odd_token(view: ColumnView) -> Floats:
    """The same, for a word inside a text."""
    return _ratios(view, token_slips_of(view))


SIGNALS = (times, as_rare, different, repeated_key, empties, n_rows, kind)
OF_NUMBERS = (as_far, far_out, gap, end_gap, end_times)
OF_TEXTS = (odd_shape, odd_detail, odd_pair, stray, strays_alike, missing_word, slip, variant,
            odd_token)  # fmt: skip


def signals(view: ColumnView) -> dict[str, Any]:
    """All of them by name: arrays (n,), or one number for the whole column."""
    found: dict[str, Any] = {one.__name__: one(view) for one in SIGNALS}
    of_numbers = view.is_number and _ordered(view).size > 0
    # texts of plain numbers tell nothing, and mirroring a column would change them
    of_texts = 0 < len(view.words) <= _MOST_WORDS and view.is_odd.any()
    found |= {one.__name__: one(view) if of_numbers else 0.0 for one in OF_NUMBERS}
    return found | {one.__name__: one(view) * view.is_odd if of_texts else 0.0 for one in OF_TEXTS}


# What several share

_DETAIL = re.compile(r"[^\W_]")


def _detail(letter: re.Match[str]) -> str:
    return "9" if letter[0].isdigit() else "A" if letter[0].isupper() else "a"


def _times(view: ColumnView) -> Floats:
    return np.where(view.codes < 0, 1.0, view.spread(view.taught) + view.is_new)


def _different(view: ColumnView) -> float:
    return float((view.taught > 0).sum() / max(view.taught.sum(), 1))


def _ordered(view: ColumnView) -> Floats:
    """The known numbers, ascending."""
    values = view.column.entries[: view.known]
    return np.sort(values[~np.isnan(values)])


def _ends(view: ColumnView) -> Floats:
    numbers, counts = np.unique(_ordered(view), return_counts=True)
    found = np.zeros((2, view.codes.size))
    if numbers.size < 4:
        return found
    for some, held in ((numbers, counts), (numbers[::-1], counts[::-1])):
        steps = np.abs(np.diff(some[: _ENDS + 1]))
        told = np.log1p(steps[0] / steps[1:].mean()), np.log(held[0] / held[1:_ENDS].max())
        found[:, view.column.entries == some[0]] = np.array(told)[:, None]
    return found


def _usual(view: ColumnView, of_words: Floats) -> float:
    """The mean over the known entries."""
    return float((of_words * view.taught).sum() / max(view.taught.sum(), 1))


def _rarity(view: ColumnView, kinds: Sequence[str]) -> Floats:
    """Minus the log of the share of entries of each one's kind, above the usual."""
    held: Counter[str] = Counter()
    for one, count in zip(kinds, view.taught.tolist(), strict=True):
        held[one] += count
    of_words = np.array([held[one] for one in kinds], dtype=np.float64)
    usual = _usual(view, -np.log(np.maximum(of_words, 1) / max(view.taught.sum(), 1)))
    share = (view.spread(of_words) + view.is_new) / view.size
    return np.where(view.codes < 0, 0.0, -np.log(np.maximum(share, 1e-9)) - usual)


def _ratios(view: ColumnView, meant: dict[int, Meant]) -> Floats:
    ratios = np.zeros(len(view.words))
    for k, one in meant.items():
        ratios[k] = one.ratio
    return view.spread(ratios)
