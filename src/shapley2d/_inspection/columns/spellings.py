"""Misspelt categories: a few letters off a frequent one, or other capitals, spaces and signs."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.binning import MOST_CATEGORIES
from shapley2d._inspection.columns.finding import LEAST, SCREENED, logistic
from shapley2d._inspection.columns.spelling import slips, variants

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView

_TIMES = 5
"""A rare spelling is one of a word that is this many times as frequent: less rare texts are often
words of their own."""
_LIST_MARKS, _PARTS = (", ", "; ", "|", ";", ","), 0.1
"""What separates the parts of a list, and the most distinct parts per part: other texts with commas
hardly repeat theirs."""

_LOGITS = {"odd pair": 3.0, "replaced": -0.5, "other": 1.7}
"""Logit of a rare spelling being a slip: set on hospital (typed errors), on beers and rayyan (other
words) and on letters replaced, left out, doubled and swapped in clean tables. A replaced letter
often makes another word, as in Cortland, unless no other word has it beside its neighbour."""
_CAPITALS = (1.0, -25.0)
"""Logit where only capitals, spaces or signs differ, and its slope in the share of such entries: a
second way to write it that many use is no slip."""


def find_spellings(written: ColumnView) -> Iterator[ColumnFinding]:
    """Rare spellings and variants of a column of categories."""
    n_words = len(written.words)
    if written.column.kind != "category" or not 1 < n_words <= SCREENED:
        return
    mark = next((mark for mark in _LIST_MARKS if _are_lists(written, mark)), "")
    if not mark and n_words > MOST_CATEGORIES * written.n_written:
        return
    parts, of_words = _parts(written, mark)
    counts, found = parts.counts, slips(parts.words, parts.counts, _TIMES)
    chances = _slip_chances(parts.words, counts, found)
    yield from _finding(written, parts, of_words, mark, found, chances)
    if not mark:
        alike = {k: usual for k, usual in variants(written.words, counts).items() if k not in found}
        shares = {k: counts[k] / (counts[k] + counts[usual]) for k, usual in alike.items()}
        chances = {k: logistic(_CAPITALS[0] + _CAPITALS[1] * share) for k, share in shares.items()}
        how = "which differs only in capitals, spaces or signs from"
        yield from _finding(written, parts, of_words, mark, alike, chances, how)


def _are_lists(written: ColumnView, mark: str) -> bool:
    """Whether a column holds lists of a few parts that repeat: ``Drama, Comedy``."""
    if written.share(written.where(lambda word: mark in word)) < 0.5:
        return False
    parts = [part for word in written.words for part in word.split(mark)]
    return len(set(parts)) <= _PARTS * len(parts)


def _parts(written: ColumnView, mark: str) -> tuple[ColumnView, list[list[int]]]:
    """The parts of the lists of a column, and those of each text; a text alone is its only part."""
    if not mark:
        return written, [[k] for k in range(len(written.words))]
    place: dict[str, int] = {}
    of_words = [
        [place.setdefault(part.strip(), len(place)) for part in word.split(mark)]
        for word in written.words
    ]
    codes = np.array([k for code in written.codes if code >= 0 for k in of_words[code]])
    return replace(written, words=list(place), codes=codes), of_words


def _finding(
    written: ColumnView,
    parts: ColumnView,
    of_words: list[list[int]],
    mark: str,
    usual: dict[int, int],
    chances: dict[int, float],
    how: str = "likely a misspelling of",
) -> Iterator[ColumnFinding]:
    """Parts, each with the usual spelling, as a finding; none where all are likely right."""
    usual = {part: other for part, other in usual.items() if chances[part] >= LEAST}
    rows = written.rows(np.array([any(k in usual for k in part) for part in of_words], dtype=bool))
    if not rows.size:
        return
    words = parts.words
    most = sorted(usual, key=lambda part: (-int(parts.counts[usual[part]]), part))[:3]
    times = [f"{word!r} ({n:,} x)" for word, n in zip(words, parts.counts, strict=True)]
    named = "; ".join(f"{times[part]}, {how} {times[usual[part]]}" for part in most)
    more = f"; and {len(usual) - len(most)} more" if len(usual) > len(most) else ""
    held = {int(i): of_words[written.codes[i]] for i in rows}
    spelt = [words[usual[k]] if k in usual else word for k, word in enumerate(words)]
    yield written.finding(
        "spellings",
        f"{'the lists of ' if mark else ''}{written.name!r} may spell the same name in several "
        f"ways: {named}{more}",
        rows,
        {i: mark.join(spelt[k] for k in part) for i, part in held.items()},
        np.array([max(chances[k] for k in part if k in usual) for part in held.values()]),
    )


def _slip_chances(words: Sequence[str], counts: Ints, found: dict[int, int]) -> dict[int, float]:
    """How likely each rare spelling is a slip, and no word of its own."""
    known = [word.lower() for k, word in enumerate(words) if k not in found]
    pairs = {pair for word in known for pair in pairwise(word)}
    # rare words that would be near a frequent one if all were words of their own: as many, per
    # word, as frequent words are near each other
    frequent = [word for k, word in enumerate(words) if counts[k] >= _TIMES and k not in found]
    near = slips(frequent, np.ones(len(frequent), dtype=np.intp), 1)
    own_words = len(near) / max(len(frequent), 1) * float((counts < _TIMES).sum())
    is_slip = max(0.1, 1 - own_words / max(len(found), 1))
    return {
        k: is_slip * logistic(_LOGITS[_kind(words[k], words[usual], pairs)])
        for k, usual in found.items()
    }


def _kind(word: str, usual: str, pairs: set[tuple[str, str]]) -> str:
    """What kind of slip leads from the usual word to another, a key of :data:`_LOGITS`."""
    if len(word) != len(usual) or sorted(word) == sorted(usual):
        return "other"
    new = {
        pair for k, pair in enumerate(pairwise(word.lower())) if word[k : k + 2] != usual[k : k + 2]
    }
    return "odd pair" if new - pairs else "replaced"
