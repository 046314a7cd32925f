"""Names of categories that are likely one: capitals, signs and spaces apart, or a slip apart from a frequent one."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._inspection.columns.shapes import EVEN, LIKELY
from shapley2d._inspection.findings import ColumnFinding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from shapley2d._inspection.columns.written import Written

_RARER = 5  # times rarer than the spelling that it is taken for
_LEAST = 3  # entries of a spelling that others may be slips of
_SHORTEST = 4  # letters, below which one letter makes another word
_SLIPS = 0.2  # of a word's letters may be replaced by others
_SIGNS = frozenset(".,;:'\"_-/\\()[]&!?*")  # that people write or leave out; not <, >, +, % and the like
_MAX_WORDS = 20_000
_MAX_REPEATED = 0.5  # a column whose texts rarely repeat has no usual spellings


def find_spellings(written: Written) -> list[ColumnFinding]:
    """Rare spellings and near-duplicates of a column of categories."""
    n_words = len(written.words)
    if written.column.kind != "category" or not 1 < n_words <= _MAX_WORDS:
        return []
    if n_words > _MAX_REPEATED * written.n_written + 5:
        return []
    likely, alike = _slips(written), _variants(written)
    alike = {word: usual for word, usual in alike.items() if word not in likely}
    found = []
    if likely:
        found.append(_finding(written, likely, "a slip apart from", LIKELY))
    if alike:
        found.append(_finding(written, alike, "the same but for capitals, spaces and signs as", EVEN))
    return found


def _finding(written: Written, usual: dict[int, int], how: str, probability: float) -> ColumnFinding:
    chosen = np.zeros(len(written.words), dtype=bool)
    chosen[list(usual)] = True
    rows = written.rows(chosen)
    most = sorted(usual, key=lambda word: (-int(written.counts[usual[word]]), word))[:3]
    named = "; ".join(
        f"{written.words[word]!r} ({written.counts[word]:,} x), {how} {written.words[usual[word]]!r} "
        f"({written.counts[usual[word]]:,} x)"
        for word in most
    )
    more = f"; and {len(usual) - len(most)} more" if len(usual) > len(most) else ""
    return ColumnFinding(
        (written.name,),
        "spellings",
        f"{written.name!r} may spell the same name in several ways: {named}{more}",
        rows,
        {int(i): written.words[usual[int(written.codes[i])]] for i in rows},
        probability,
    )


def _variants(written: Written) -> dict[int, int]:
    """Texts that are the same but for case, accents, space and punctuation, each with the most frequent one."""
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


def _slips(written: Written) -> dict[int, int]:
    """Rare texts that are a slip apart from a frequent one: letters replaced, dropped, doubled, swapped."""
    counts = written.counts
    usual = [k for k in np.argsort(-counts, kind="stable").tolist() if counts[k] >= _LEAST]
    found: dict[int, int] = {}
    for word, other in _replaced(written, usual):
        found.setdefault(word, other)
    forms: dict[str, int] = {}
    for k in reversed(usual):  # the most frequent one has the last word
        for form in _one_less(written.words[k]):
            forms[form] = k
    for k, text in enumerate(written.words):
        if k in found or len(text) < _SHORTEST:
            continue
        near = [forms[form] for form in _one_less(text) if form in forms and forms[form] != k]
        near = [
            other
            for other in near
            if counts[other] >= _RARER * counts[k] and _one_slip(text, written.words[other])
        ]
        if near:
            found[k] = max(near, key=lambda other: int(counts[other]))
    return found


def _replaced(written: Written, usual: list[int]) -> Iterator[tuple[int, int]]:
    """Pairs of a rare text and a frequent one of the same length with few letters between them."""
    lengths = defaultdict(list)
    for k in range(len(written.words)):
        if len(written.words[k]) >= _SHORTEST:
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
            fits = (apart > 0) & (apart <= allowed) & (written.counts[others] >= _RARER * written.counts[k])
            near = np.flatnonzero(fits)
            near = near[np.lexsort((-written.counts[others][near], apart[near]))].tolist()
            best = next((o for o in near if _same_words(written.words[k], written.words[others[o]])), None)
            if best is not None:
                yield k, others[best]


def _same_words(text: str, other: str) -> bool:
    """Whether texts of one length are the same word by word but for a few letters; other digits are another number.

    Examples
    --------
    >>> _same_words("heaxt attaxk", "heart attack"), _same_words("dark ale", "pale ale")
    (True, False)
    """
    for word in re.finditer(r"[^\W_]+", other):
        part, whole = text[word.start() : word.end()], word[0]
        apart = [(a, b) for a, b in zip(part, whole, strict=True) if a != b]
        if apart and (len(whole) < _SHORTEST - 1 or len(apart) > len(whole) / 2):
            return False
        if any(a.isdigit() and b.isdigit() for a, b in apart):
            return False
    return True


def _one_less(word: str) -> set[str]:
    """The text and all that are one letter shorter."""
    return {word} | {word[:k] + word[k + 1 :] for k in range(len(word))}


def _one_slip(word: str, other: str) -> bool:
    """Whether one letter was dropped, doubled or put in, or two neighbours swapped; digits are not letters."""
    if re.sub(r"\d", "", word) == re.sub(r"\d", "", other):
        return False
    if len(word) == len(other):
        apart = [k for k in range(len(word)) if word[k] != other[k]]
        return len(apart) == 2 and apart[1] == apart[0] + 1 and word[apart[0]] == other[apart[1]]
    return abs(len(word) - len(other)) == 1
