"""How likely every entry is wrong: learned trees, and what a few conventions state.

Gradient-boosted trees, monotone in the evidence against an entry, were learned on clean tables and
on tables with planted errors, and checked on tables that were left out
(``benchmarks/calibration.py``). How many entries of a table are wrong is not assumed: the second
trees see
how the strongest evidence lies above the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.in_threads import map_in_threads
from shapley2d._inspection.columns.finding import HABIT, LEAST, RARE, UNKNOWN
from shapley2d._inspection.columns.missing import is_missing
from shapley2d._inspection.company import company
from shapley2d._inspection.evidence import ALONE, KEPT, TOGETHER, alone, in_context
from shapley2d._inspection.forests import row_chunks
from shapley2d._inspection.learned import LEARNED, SETTINGS
from shapley2d._inspection.novelty import NEW
from shapley2d._inspection.signals import strays_alike
from shapley2d._inspection.trees import Trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._inspection.columns.finding import ColumnFinding
    from shapley2d._inspection.columns.view import ColumnView
    from shapley2d._inspection.predict import Prediction

FIRST, SECOND = Trees.of(LEARNED["alone"]), Trees.of(LEARNED["together"])

SUSPECT = 0.05
"""Entries of which a reason is told, from this probability on."""

CONVENTIONS = ("units", "suffix", "signs", "formats", "date orders", "encoding", "codes",
               "words for missing", "infinite")  # fmt: skip
"""Conventions of a whole column, of which there are too few tables to learn from: their findings
state how likely an entry is wrong. What each buys is in docs/evidence/inspection.md."""

STATED = frozenset((*CONVENTIONS, "arithmetic", "numbers far outside", "rule", "spellings", *NEW))
"""These, and findings that work out how likely an entry is wrong, from gaps, votes and counts."""

_RARE_THING = np.log(4)
"""Log of the lift from which other rows have a number far outside together with other entries of
its row: one other row may agree by chance, which is a lift of 3 at most."""

_STRAY, _FEW_ALIKE = 0.9, 3
"""How likely a text among numbers is wrong at least, where no more than so many have its shape:
99 %
of 2,000 were."""

REASONS = {
    "row": ("surprise", "rivalled", "stories", "distance"),
    "company": ("vouched", "broken", "votes", "against"),
    "far": ("as_far", "gap", "end_times"),
    "text": ("odd_shape", "odd_pair", "stray", "odd_token"),
    "spelling": ("slip", "variant"),
    "rare": ("times", "as_rare"),
    "key": ("repeated_key",),
}
"""Evidence by the reason that it is told as."""


class Judged:
    """What the trees say of the entries of a table: arrays (n, p).

    ``logit`` are log-odds of being wrong, ``probability`` follows, and ``parts`` tell by how much
    the log-odds of suspects are larger than with the column's usual evidence of each kind.
    """

    def __init__(
        self,
        views: Sequence[ColumnView],
        said: Sequence[Prediction],
        findings: Sequence[ColumnFinding],
        threads: int,
    ) -> None:
        n, p = views[0].codes.size, len(views)
        known = views[0].known
        together = company(views, threads)
        first, kept = np.empty((n, p)), np.empty((n, p, len(KEPT)), dtype=np.float32)
        places = [ALONE.index(name) for name in KEPT]

        def judge(j: int) -> None:
            rows = alone(views[j], said[j], together[j])
            first[:, j], kept[:, j] = FIRST.logit(rows), rows[:, places]

        for _ in map_in_threads(judge, range(p), threads):
            pass
        codes = np.column_stack([view.codes for view in views])
        context = in_context(first, codes >= 0, codes, known)
        self.company, self.logit = together, np.empty((n, p))

        def weigh(some: slice) -> None:
            rows = np.concatenate([kept[some], context[some]], axis=2).reshape(-1, len(TOGETHER))
            # a part of the first log-odds keeps the order of entries in the same leaves
            logit = SECOND.logit(rows).reshape(-1, p) + SETTINGS["order"] * first[some]
            self.logit[some] = np.clip(logit, -50.0, 50.0)

        for _ in map_in_threads(weigh, row_chunks(n, p), threads):
            pass
        self.probability = SETTINGS["most"] / (1 + np.exp(-self.logit))
        for j, view in enumerate(views):
            self._temper(j, view, said[j])
        self._state(views, findings)
        self.parts = self._parts(kept, context, known)

    def _temper(self, j: int, view: ColumnView, said: Prediction) -> None:
        """What is known of entries without any learning."""
        own, alike = self.probability[:, j], np.expm1(strays_alike(view))
        few, many = alike <= _FEW_ALIKE, alike > 2 + HABIT * view.known
        own[view.stray & few] = np.maximum(own[view.stray & few], _STRAY)
        own[view.stray & many] *= LEAST  # as house numbers: how the table is made
        # numbers that a tail explains, or that many rows have: below one half, in the same order
        often = view.is_number & (view.spread(view.taught) > 2 + HABIT * view.known)
        usual = said.in_tail | often
        own[usual] = np.minimum(own[usual], UNKNOWN + RARE * own[usual])
        for rows in view.column.from_text.marks.values():
            own[rows] = 0.0
        own[view.rows(view.where(is_missing))] = 0.0  # their finding tells
        own[view.codes < 0] = 0.0

    def _state(self, views: Sequence[ColumnView], findings: Sequence[ColumnFinding]) -> None:
        """Entries are at least as likely wrong as such findings say."""
        place = {view.name: j for j, view in enumerate(views)}
        least = np.zeros(self.logit.shape)
        for one in findings:
            j = place.get(one.columns[0])
            if j is not None and one.kind in STATED:
                chances = one.row_chances
                if one.kind == "numbers far outside":  # of a rare thing that other rows have, too
                    chances = chances * (self.company[j].vouched[one.rows] <= _RARE_THING)
                least[one.rows, j] = np.maximum(least[one.rows, j], chances)
        surer = least > self.probability
        self.probability[surer] = least[surer]
        sure = least[surer].clip(max=1 - 1e-9)
        self.logit[surer] = np.log(sure / (1 - sure))

    def _parts(
        self, kept: NDArray[np.float32], context: NDArray[np.float32], known: int
    ) -> dict[str, NDArray[np.float32]]:
        parts = {name: np.zeros(self.logit.shape, dtype=np.float32) for name in REASONS}
        suspects = np.nonzero(self.probability >= SUSPECT)
        if suspects[0].size:
            own = np.concatenate([kept[suspects], context[suspects]], axis=1)
            usual = np.median(kept[:known], axis=0)[suspects[1]]
            before = SECOND.logit(own)
            for reason, names in REASONS.items():
                less, those = own.copy(), [KEPT.index(name) for name in names]
                less[:, those] = usual[:, those]
                parts[reason][suspects] = np.maximum(before - SECOND.logit(less), 0.0)
        return parts


def damped(judged: Floats, trusted: Floats, rare: float) -> Floats:
    """Probabilities of new rows below a trusted table's, column by column.

    Entries of a trusted table are right, however suspicious: as often, others are right too.
    """
    found = judged.copy()
    for j, own in enumerate(trusted.T):
        as_suspicious = len(own) - np.searchsorted(np.sort(own), judged[:, j])
        found[:, j] *= rare / (rare + as_suspicious / len(own))
    return found
