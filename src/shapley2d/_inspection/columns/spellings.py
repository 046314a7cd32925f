"""Misspelt categories: a few letters off a frequent one, or other capitals, spaces and signs.

A slip replaces letters, leaves one out, puts one in, or moves one (Damerau 1964,
doi:10.1145/363958.363994). Words one slip apart share what is left of them without one letter,
which finds them without comparing all pairs (Bocek, Hunt and Stiller 2007, "Fast similarity
search").
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.binning import MOST_CATEGORIES
from shapley2d._inspection.columns.finding import LEAST, SCREENED, logistic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from shapley2d._base.arrays import Ints
    from shapley2d._inspection.columns.finding import ColumnFinding, WrittenColumn

_LENGTH, _TIMES = 4, 5
"""A rare spelling has at least this many letters, and the right one is this many times as frequent.
Shorter or less rare texts are often words of their own. So are those in which more than one letter
in so many is replaced."""
# Signs that people write or leave out; <, >, +, % and the like change the meaning.
_SIGNS = frozenset(".,;:'\"_-/\\()[]&!?*")
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


def find_spellings(written: WrittenColumn) -> Iterator[ColumnFinding]:
    """Rare spellings and variants of a column of categories."""
    n_words = len(written.words)
    if written.column.kind != "category" or not 1 < n_words <= SCREENED:
        return
    mark = next((mark for mark in _LIST_MARKS if _are_lists(written, mark)), "")
    if not mark and n_words > MOST_CATEGORIES * written.n_written:
        return
    parts, of_words = _parts(written, mark)
    counts, slips = parts.counts, misspellings(parts.words, parts.counts)
    chances = _slip_chances(parts.words, counts, slips)
    yield from _finding(written, parts, of_words, mark, slips, chances)
    if not mark:
        alike = {k: usual for k, usual in _variants(written).items() if k not in slips}
        shares = {k: counts[k] / (counts[k] + counts[usual]) for k, usual in alike.items()}
        chances = {k: logistic(_CAPITALS[0] + _CAPITALS[1] * share) for k, share in shares.items()}
        how = "which differs only in capitals, spaces or signs from"
        yield from _finding(written, parts, of_words, mark, alike, chances, how)


def _are_lists(written: WrittenColumn, mark: str) -> bool:
    """Whether a column holds lists of a few parts that repeat: ``Drama, Comedy``."""
    if written.share(written.where(lambda word: mark in word)) < 0.5:
        return False
    parts = [part for word in written.words for part in word.split(mark)]
    return len(set(parts)) <= _PARTS * len(parts)


def _parts(written: WrittenColumn, mark: str) -> tuple[WrittenColumn, list[list[int]]]:
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
    written: WrittenColumn,
    parts: WrittenColumn,
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


def _slip_chances(words: Sequence[str], counts: Ints, slips: dict[int, int]) -> dict[int, float]:
    """How likely each rare spelling is a slip, and no word of its own."""
    known = [word.lower() for k, word in enumerate(words) if k not in slips]
    pairs = {pair for word in known for pair in pairwise(word)}
    # rare words that would be near a frequent one if all were words of their own: as many, per
    # word, as frequent words are near each other
    frequent = [k for k in _long_words(words, counts) if counts[k] >= _TIMES and k not in slips]
    near = {k for beside in _by_deletion(words, frequent).values() for k in beside
            if len({_letters(words[other]) for other in beside}) > 1}  # fmt: skip
    own_words = len(near) / max(len(frequent), 1) * float((counts < _TIMES).sum())
    is_slip = max(0.1, 1 - own_words / max(len(slips), 1))
    return {
        k: is_slip * logistic(_LOGITS[_kind(words[k], words[usual], pairs)])
        for k, usual in slips.items()
    }


def _kind(word: str, usual: str, pairs: set[tuple[str, str]]) -> str:
    """What kind of slip leads from the usual word to another, a key of :data:`_LOGITS`."""
    if len(word) != len(usual) or sorted(word) == sorted(usual):
        return "other"
    new = {
        pair for k, pair in enumerate(pairwise(word.lower())) if word[k : k + 2] != usual[k : k + 2]
    }
    return "odd pair" if new - pairs else "replaced"


def _variants(written: WrittenColumn) -> dict[int, int]:
    """Texts that differ only in case, accents, space and signs, each with the most frequent one."""
    groups = defaultdict(list)
    for k, word in enumerate(written.words):
        letters = unicodedata.normalize("NFKD", word.casefold())
        plain = "".join(
            letter
            for letter in letters
            if letter not in _SIGNS and unicodedata.category(letter)[0] not in "ZMC"
        )
        if plain:
            groups[plain].append(k)
    found: dict[int, int] = {}
    for members in groups.values():
        usual = max(members, key=lambda k: (int(written.counts[k]), -k))
        found |= {k: usual for k in members if k != usual}
    return found


def misspellings(words: Sequence[str], counts: Ints) -> dict[int, int]:
    """Rare words, each with a frequent word of which it is a misspelling; by position.

    Words that differ in digits are two codes, not two spellings.
    """
    long = _long_words(words, counts)
    frequent = [k for k in long if counts[k] >= _TIMES]
    reach, of_length = _by_deletion(words, frequent), defaultdict(list)
    for k in frequent:
        of_length[len(words[k])].append(k)
    letters = {n: np.array([[*map(ord, words[k])] for k in some]) for n, some in of_length.items()}
    found: dict[int, int] = {}
    for k in long:
        word, others = words[k], of_length.get(len(words[k]), [])
        meant = None
        if others:  # a few letters replaced, the fewest first
            apart = (letters[len(word)] != np.array([*map(ord, word)])).sum(axis=1)
            near = (apart > 0) & (apart <= max(1, len(word) // _TIMES))
            near = np.flatnonzero(near & (counts[others] >= _TIMES * counts[k]))
            near = near[np.lexsort((-counts[others][near], apart[near]))].tolist()
            meant = next((others[o] for o in near if _same_words(word, words[others[o]])), None)
        if meant is None:  # one letter left out, put in or moved away
            moved = {
                other
                for key in _without_a_letter(word)
                for other in reach.get(key, ())
                if counts[other] >= _TIMES * counts[k]
                and (len(words[other]) != len(word) or sorted(words[other]) == sorted(word))
                and _letters(words[other]) != _letters(word)
            }
            meant = min(moved, key=lambda other: (-counts[other], other), default=None)
        if meant is not None:
            found[k] = meant
    return found


def _long_words(words: Sequence[str], counts: Ints) -> list[int]:
    """The words that occur and are long enough to tell a slip from another word."""
    return [k for k, word in enumerate(words) if counts[k] and len(word) >= _LENGTH]


def _by_deletion(words: Sequence[str], some: Iterable[int]) -> dict[str, list[int]]:
    """Some of the words by what is left of them without one letter, and by themselves."""
    reach = defaultdict(list)
    for k in some:
        for key in _without_a_letter(words[k]):
            reach[key].append(k)
    return reach


def _without_a_letter(word: str) -> set[str]:
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}


def _letters(word: str) -> str:
    """A word without its digits."""
    return re.sub(r"\d", "", word)


def _same_words(text: str, other: str) -> bool:
    """Whether texts of one length differ in a few letters of each word, and in no digit."""
    for word in re.finditer(r"[^\W_]+", other):
        part, whole = text[word.start() : word.end()], word[0]
        apart = [(a, b) for a, b in zip(part, whole, strict=True) if a != b]
        if apart and (len(whole) < _LENGTH - 1 or len(apart) > max(1, len(whole) / 3)):
            return False
        if any(a.isdigit() and b.isdigit() for a, b in apart):
            return False
    return True
