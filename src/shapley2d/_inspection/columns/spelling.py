"""Texts one slip off a more frequent one, or the same but for capitals, space and signs.

A slip replaces a letter, leaves one out, puts one in, or moves one (Damerau 1964,
doi:10.1145/363958.363994). Words one slip apart share what is left of them without one letter,
which finds them without comparing all pairs (Bocek, Hunt and Stiller 2007, "Fast similarity
search").
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._inspection.columns.view import ColumnView

FEWEST, LONGEST_SLIP, MOST_WORDS = 4, 60, 20_000
"""Letters of words that are compared: shorter ones are often words of their own, and so are those
in which more than one letter in :data:`_PER_SLIP` is replaced. And how many words are, at most."""
_PER_SLIP = 5
_TOKEN = re.compile(r"[^\W\d_]{4,}")
# Signs that people write or leave out; <, >, +, % and the like change the meaning.
_SIGNS = frozenset(".,;:'\"_-/\\()[]&!?*")


class Meant(NamedTuple):
    """Another way to write an entry, and the log of how much more frequent it is."""

    text: str
    ratio: float


def slips(words: Sequence[str], counts: NDArray[np.intp], times: int = 2) -> dict[int, int]:
    """Words, each with one so many ``times`` as frequent of which it is a slip; by position.

    Words that differ in digits are two codes, not two spellings.
    """
    held = counts.tolist()
    long = [k for k, word in enumerate(words) if held[k] and FEWEST <= len(word) <= LONGEST_SLIP]
    reach, of_length = defaultdict(list), defaultdict(list)
    for k in long:
        if held[k] >= times:
            for key in _without_a_letter(words[k]):
                reach[key].append(k)
            of_length[len(words[k])].append(k)
    letters = {
        n: np.array([[*map(ord, words[k])] for k in some])
        for n, some in of_length.items()
        if n >= 2 * _PER_SLIP
    }
    found: dict[int, int] = {}
    for k in long:
        word, least = words[k], times * held[k]
        near = {other for key in _without_a_letter(word) for other in reach.get(key, ())}
        usual = [other for other in near if held[other] >= least and _is_slip(word, words[other])]
        if not usual and len(word) in letters:  # several letters replaced, the fewest first
            others = of_length[len(word)]
            apart = (letters[len(word)] != np.array([*map(ord, word)])).sum(axis=1)
            few = np.flatnonzero((apart > 0) & (apart <= len(word) // _PER_SLIP))
            some = [others[o] for o in few[np.argsort(apart[few], kind="stable")]]
            usual = [o for o in some if held[o] >= least and _same_words(word, words[o])][:1]
        if usual:
            found[k] = max(usual, key=lambda other: (held[other], words[other]))
    return found


def _without_a_letter(word: str) -> set[str]:
    return {word, *(word[:k] + word[k + 1 :] for k in range(len(word)))}


def _is_slip(word: str, other: str) -> bool:
    """Whether words that share all letters but one differ in a letter, and in no digit."""
    if len(word) == len(other) and sorted(word) != sorted(other):
        return sum(a != b for a, b in zip(word, other, strict=True)) == 1 and _same_words(
            word, other
        )
    return re.sub(r"\d", "", word) != re.sub(r"\d", "", other)


def _same_words(text: str, other: str) -> bool:
    """Whether texts of one length differ in a few letters of each word, and in no digit."""
    for word in re.finditer(r"[^\W_]+", other):
        part, whole = text[word.start() : word.end()], word[0]
        apart = [(a, b) for a, b in zip(part, whole, strict=True) if a != b]
        if apart and (len(whole) < FEWEST - 1 or len(apart) > max(1, len(whole) / 3)):
            return False
        if any(a.isdigit() and b.isdigit() for a, b in apart):
            return False
    return True


def slips_of(view: ColumnView) -> dict[int, Meant]:
    """Of the texts of a column that are slips: what was meant."""
    if view.column.kind != "category" or len(view.words) > MOST_WORDS:
        return {}
    times = np.maximum(view.taught, 1)
    found = slips(view.words, times)
    return {k: Meant(view.words[one], np.log(times[one] / times[k])) for k, one in found.items()}


def variants(words: Sequence[str], counts: NDArray[np.intp]) -> dict[int, int]:
    """Texts that differ only in case, accents, space and signs, each with the most frequent one."""
    groups = defaultdict(list)
    for k, word in enumerate(words):
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
        usual = max(members, key=lambda k: (int(counts[k]), words[k]))
        found |= {k: usual for k in members if k != usual}
    return found


def variants_of(view: ColumnView) -> dict[int, Meant]:
    """Of the texts of a column that are variants of a more frequent one: that one."""
    if view.column.kind != "category":
        return {}
    times = view.taught
    return {
        k: Meant(view.words[one], float(np.log(times[one] + 0.5) - np.log(max(times[k], 1))))
        for k, one in variants(view.words, times).items()
        if times[one]
    }


def token_slips_of(view: ColumnView) -> dict[int, Meant]:
    """Texts of several words of which one is a slip of another one in the column."""
    if view.column.kind != "category" or len(view.words) > MOST_WORDS:
        return {}
    tokens = [_TOKEN.findall(word) for word in view.words]
    held: Counter[str] = Counter()
    for some, is_known in zip(tokens, (view.taught > 0).tolist(), strict=True):
        held.update(set(some) if is_known else ())
    known = sorted({token for some in tokens for token in some})
    times = np.array([max(held[token], 1) for token in known], dtype=np.intp)
    found = slips(known, times)
    meant = {
        known[k]: (known[one], float(np.log(times[one] / times[k]))) for k, one in found.items()
    }
    of_words = {}
    for k, some in enumerate(tokens):
        odd = [(meant[token][1], token) for token in some if token in meant]
        if odd and view.words[k] != some[0]:
            ratio, token = max(odd)
            of_words[k] = Meant(view.words[k].replace(token, meant[token][0]), ratio)
    return of_words
