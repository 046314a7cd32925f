"""Categories that are likely the same: they differ in capitals, signs or spaces, or by a slip."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise, permutations
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.finding import ColumnFinding
from shapley2d._inspection.recipe import SPELLING_LENGTH, SPELLING_TIMES
from shapley2d._inspection.slips import is_edit, misspellings, without_a_letter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._inspection.columns.finding import WrittenColumn

_LEAST = 3  # entries of a spelling that others may be slips of
_SLIPS = 0.2  # share of a word's letters that may be replaced; more takes other words for slips
# Signs that people write or leave out; <, >, +, % and the like change the meaning.
_SIGNS = frozenset(".,;:'\"_-/\\()[]&!?*")
_LIST_MARKS, _LISTS, _PARTS = (", ", "; ", "|", ";", ","), 0.3, 0.1
"""What separates the parts of a list, the least share of entries that have several parts, and the
most different parts per part: other texts with commas hardly repeat theirs."""
_MAX_WORDS = 20_000
_MAX_REPEATED = 0.5  # distinct texts per entry; with more there are no usual spellings

# Logits of a rare spelling being a slip, set on hospital (typed errors), on beers and rayyan (other
# words) and on letters replaced, left out, doubled and swapped in clean tables.
_ODD_PAIR = 3.0  # a letter replaced, and no other word has these two letters side by side
_OTHER_LETTER, _FIRST_LETTER = -0.5, -1.2  # a letter replaced, as in Cortland and Portland
_SHORT, _LONG = 0.8, 1.7  # letters left out, doubled or swapped, in words of up to 7 letters, of 8
_LONG_WORD = 8
_LEAST_CHANCE = 0.15  # spellings less likely wrong are not reported
_REPEATED, _MANY_TIMES = 0.7, 50  # less for each doubling, unless the other is so much as frequent
_CAPITALS = (1.0, -25.0)
"""Logit where only capitals, spaces or signs differ, and its slope in the share of such entries: a
second way to write it that many use is no slip."""


def find_spellings(written: WrittenColumn) -> list[ColumnFinding]:
    """Rare spellings and near-duplicates of a column of categories."""
    n_words = len(written.words)
    if written.column.kind != "category" or not 1 < n_words <= _MAX_WORDS:
        return []
    mark = next((mark for mark in _LIST_MARKS if _are_lists(written, mark)), None)
    if mark is not None:
        return _in_lists(written, mark)
    if n_words > _MAX_REPEATED * written.n_written + 5:
        return []
    likely, alike = _slips(written), _variants(written)
    alike = {word: usual for word, usual in alike.items() if word not in likely}
    found: list[ColumnFinding] = []
    if likely:
        chances = _slip_chances(written, likely)
        found += _finding(written, likely, "likely a misspelling of", chances)
    if alike:
        counts = written.counts
        shares = {k: counts[k] / (counts[k] + counts[other]) for k, other in alike.items()}
        chances = {k: _logistic(_CAPITALS[0] + _CAPITALS[1] * shares[k]) for k in alike}
        how = "which differs only in capitals, spaces or signs from"
        found += _finding(written, alike, how, chances)
    return found


def _are_lists(written: WrittenColumn, mark: str) -> bool:
    """Whether a column holds lists of a few parts that repeat: ``Drama, Comedy``."""
    if written.share(written.where(lambda word: mark in word)) < _LISTS:
        return False
    parts = [part for word in written.words for part in word.split(mark)]
    return len(set(parts)) <= _PARTS * len(parts)


def _in_lists(written: WrittenColumn, mark: str) -> list[ColumnFinding]:
    """Rare spellings of the parts of lists."""
    lists = [[part.strip() for part in word.split(mark)] for word in written.words]
    place: dict[str, int] = {}
    of_words = [[place.setdefault(part, len(place)) for part in parts] for parts in lists]
    codes = np.array([k for code in written.codes if code >= 0 for k in of_words[code]])
    parts = replace(written, words=list(place), codes=codes)
    slips = _slips(parts)
    chances = _slip_chances(parts, slips) if slips else {}
    slips = {k: usual for k, usual in slips.items() if chances[k] >= _LEAST_CHANCE}
    wrong = np.array([any(k in slips for k in of_word) for of_word in of_words], dtype=bool)
    rows = written.rows(wrong)
    if not rows.size:
        return []
    new = {
        code: mark.join(parts.words[slips.get(k, k)] for k in of_words[code])
        for code in np.flatnonzero(wrong).tolist()
    }
    of_rows = np.array(
        [max(chances[k] for k in of_words[written.codes[i]] if k in slips) for i in rows]
    )
    named = ", ".join(
        f"{parts.words[k]!r} for {parts.words[slips[k]]!r}" for k in sorted(slips)[:3]
    )
    return [
        ColumnFinding(
            (written.name,),
            "spellings",
            f"the lists of {written.name!r} may spell parts in several ways: {named}",
            rows,
            {int(i): new[int(written.codes[i])] for i in rows},
            float(of_rows.mean()),
            of_rows,
        )
    ]


def _finding(
    written: WrittenColumn, usual: dict[int, int], how: str, chances: dict[int, float]
) -> list[ColumnFinding]:
    usual = {word: other for word, other in usual.items() if chances[word] >= _LEAST_CHANCE}
    if not usual:
        return []
    chosen = np.zeros(len(written.words), dtype=bool)
    chosen[list(usual)] = True
    rows = written.rows(chosen)
    most = sorted(usual, key=lambda word: (-int(written.counts[usual[word]]), word))[:3]
    times = [f"{word!r} ({n:,} x)" for word, n in zip(written.words, written.counts, strict=True)]
    named = "; ".join(f"{times[word]}, {how} {times[usual[word]]}" for word in most)
    more = f"; and {len(usual) - len(most)} more" if len(usual) > len(most) else ""
    of_rows = np.array([chances[int(written.codes[i])] for i in rows])
    return [
        ColumnFinding(
            (written.name,),
            "spellings",
            f"{written.name!r} may spell the same name in several ways: {named}{more}",
            rows,
            {int(i): written.words[usual[int(written.codes[i])]] for i in rows},
            float(of_rows.mean()),
            of_rows,
        )
    ]


def _logistic(logit: float) -> float:
    return float(1 / (1 + np.exp(-logit)))


def _slip_chances(written: WrittenColumn, slips: dict[int, int]) -> dict[int, float]:
    """How likely each rare spelling is a slip, and no word of its own."""
    counts, words = written.counts, written.words
    pairs = {
        pair for k, word in enumerate(words) if k not in slips for pair in pairwise(word.lower())
    }
    own_words = _expected_neighbours(written, slips) / len(slips)
    return {
        k: _logistic(
            _by_letters(words[k], words[usual], pairs)
            - _by_times(int(counts[k]), int(counts[usual]))
        )
        * max(0.1, 1 - own_words)
        for k, usual in slips.items()
    }


def _by_letters(word: str, usual: str, pairs: set[tuple[str, str]]) -> float:
    if len(word) != len(usual) or sorted(word) == sorted(usual):
        return _LONG if len(usual) >= _LONG_WORD else _SHORT
    places = [k for k, (a, b) in enumerate(zip(word, usual, strict=True)) if a != b]
    text = word.lower()
    new = {(text[k - 1], text[k]) for k in places if k} | {
        (text[k], text[k + 1]) for k in places if k + 1 < len(text)
    }
    if new - pairs:
        return _ODD_PAIR
    starts = any(k == 0 or not usual[k - 1].isalnum() for k in places)
    return _FIRST_LETTER if starts else _OTHER_LETTER


def _by_times(count: int, usual: int) -> float:
    return 0.0 if usual >= _MANY_TIMES * count else _REPEATED * float(np.log2(count))


def _expected_neighbours(written: WrittenColumn, slips: dict[int, int]) -> float:
    """How many rare words would be near a frequent one if all were words of their own.

    As many, per word, as frequent words are near each other: those are words, not slips.
    """
    is_frequent = written.counts >= _LEAST
    words = [
        written.words[k]
        for k in np.flatnonzero(is_frequent).tolist()
        if k not in slips and len(written.words[k]) >= SPELLING_LENGTH
    ]
    reach = defaultdict(list)
    for word in words:
        for key in without_a_letter(word):
            reach[key].append(word)
    near = {
        word
        for beside in reach.values()
        if len(beside) > 1
        for word, other in permutations(beside, 2)
        if word != other and is_edit(word, other)
    }
    return len(near) / max(len(words), 1) * float((~is_frequent).sum())


def _variants(written: WrittenColumn) -> dict[int, int]:
    """Texts that differ only in case, accents, space and signs, each with the most frequent one."""
    groups = defaultdict(list)
    for k, word in enumerate(written.words):
        letters = unicodedata.normalize("NFKD", word.casefold())
        plain = "".join(
            letter for letter in letters if letter not in _SIGNS and _category(letter) not in "ZMC"
        )
        if plain:
            groups[plain].append(k)
    found: dict[int, int] = {}
    for members in groups.values():
        usual = max(members, key=lambda k: (int(written.counts[k]), -k))
        found |= {k: usual for k in members if k != usual}
    return found


def _category(letter: str) -> str:
    return unicodedata.category(letter)[0]


def _slips(written: WrittenColumn) -> dict[int, int]:
    """Rare texts, each with a frequent one of which it is a misspelling."""
    counts = written.counts
    usual = [k for k in np.argsort(-counts, kind="stable").tolist() if counts[k] >= _LEAST]
    found: dict[int, int] = {}
    for word, other in _replaced(written, usual):
        found.setdefault(word, other)
    for k, near in misspellings(written.words, counts).items():
        slips = [other for other in near if _is_slip(written.words[k], written.words[other])]
        if slips:
            found.setdefault(k, slips[0])
    return found


def _is_slip(text: str, other: str) -> bool:
    """Whether a letter was dropped or put in, or two were swapped; not one replaced by another."""
    if re.sub(r"\d", "", text) == re.sub(r"\d", "", other):
        return False
    return len(text) != len(other) or sorted(text) == sorted(other)


def _replaced(written: WrittenColumn, usual: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a rare text and a frequent one of the same length that differ in few letters."""
    lengths = defaultdict(list)
    for k in range(len(written.words)):
        if len(written.words[k]) >= SPELLING_LENGTH:
            lengths[len(written.words[k])].append(k)
    frequent = set(usual)
    for length, members in lengths.items():
        others = [k for k in members if k in frequent]
        if not others:
            continue
        letters = np.array([[ord(letter) for letter in written.words[k]] for k in members])
        common = np.array([[ord(letter) for letter in written.words[k]] for k in others])
        allowed = max(1, int(_SLIPS * length))
        for k, word in zip(members, letters, strict=True):
            apart = (common != word).sum(axis=1)
            is_frequent = written.counts[others] >= SPELLING_TIMES * written.counts[k]
            near = np.flatnonzero((apart > 0) & (apart <= allowed) & is_frequent)
            near = near[np.lexsort((-written.counts[others][near], apart[near]))].tolist()
            best = next(
                (o for o in near if _same_words(written.words[k], written.words[others[o]])), None
            )
            if best is not None:
                yield k, others[best]


def _same_words(text: str, other: str) -> bool:
    """Whether texts of one length differ in a few letters of each word, and in no digit.

    Examples
    --------
    >>> _same_words("heaxt attaxk", "heart attack"), _same_words("dark ale", "pale ale")
    (True, False)
    """
    for word in re.finditer(r"[^\W_]+", other):
        part, whole = text[word.start() : word.end()], word[0]
        apart = [(a, b) for a, b in zip(part, whole, strict=True) if a != b]
        if apart and (len(whole) < SPELLING_LENGTH - 1 or len(apart) > max(1, len(whole) / 3)):
            return False
        if any(a.isdigit() and b.isdigit() for a, b in apart):
            return False
    return True
