"""What a run will take: its own list of pieces, a little of which is done and timed.

The game is set up as the run does it. A few validation rows of the first piece under a few of its
subsets say what a triple of row, validation row and subset takes, and the arrays of the list how
much memory. Where a tolerance decides how many subsets there are, a run on few rows says how far
its error has come down, and the number is a range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from shapley2d._base.cost import Cost
from shapley2d._base.in_threads import count_threads
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.streams import generator
from shapley2d._base.warnings import without_warnings
from shapley2d._estimation.batches import single_threaded
from shapley2d._knn.bin_sample import MAX_SAMPLE, most_stored
from shapley2d._methods.knn.backend import backend_name, may_use_gpu, on_backend
from shapley2d._methods.knn.bin_correction import most_ranked_exactly
from shapley2d._methods.knn.cells import make_game, value_game
from shapley2d._methods.knn.choices import SAMPLE, SAMPLE_ROWS, amount_of_work, choose_form
from shapley2d._methods.knn.game import SplitGame
from shapley2d._methods.knn.in_time import RESULT_CELL_S
from shapley2d._methods.knn.lists import first_list, in_form_of, list_pieces, make_rule
from shapley2d._methods.knn.pace import few_rows, pace_of_sample, pace_of_walk
from shapley2d._methods.knn.pieces import SampledPieces, chunk_rows
from shapley2d._methods.knn.resume import ListName
from shapley2d._methods.knn.rule import first_rounds
from shapley2d._methods.price import (
    CALIBRATION_S,
    HANDOVER_S,
    Measured,
    Price,
    here,
    timed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.knn.choices import KnnOptions
    from shapley2d._methods.knn.pieces import Pieces
    from shapley2d._methods.knn.rule import Rule
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem

TYPICAL_NS = 7.0
"""Nanoseconds per row, validation row and subset of a core, for a first guess."""

SENT_BYTES_S = 5e8
"""Bytes a second that come back from workers."""

PILOT_ROWS, PILOT_VALID = 1000, 64
"""Rows and validation rows of the run that says how far errors have come down."""


PRICED_ROWS, PRICED_VALID = 20_000, 4_000
"""Rows, and validation rows of a split, that a price is made from where there are more.

At a million rows of 20 columns coding all took 56 s of a core. With 40,000 of 300,000 rows a triple
took 3 to 4 % longer than with 20,000, with 120,000 17 to 29 %: caches hold less.
"""

RANKING_GROWTH = 0.14
"""The time to rank a row grows with this power of their number (``benchmarks/scale.py``)."""

_ADD_S = 1e-8  # for a cell of a piece that is added up

# How the error of the pilot and of the run may differ: the number of subsets follows from it. A
# run of few chunks sets its number by the largest error of two of them: up to 2.8 times on 16
# validation rows.
_BETTER, _WORSE = 0.8, 3.0


def guess_knn(problem: Problem, run: Run, options: KnnOptions) -> float:
    """About how many seconds a run takes, by the number of triples alone.

    On a GPU next to nothing: to start it for a price would take as long as many a run.
    """
    work = amount_of_work(problem, options)
    if options.cluster is None and may_use_gpu(options.backend, work):
        return 0.0
    return work * TYPICAL_NS * 1e-9 / count_threads(run.n_jobs)


def price_knn(problem: Problem, run: Run, options: KnnOptions) -> Price:
    """What :func:`~shapley2d._methods.knn.cells.value_knn` with the same options will take.

    Nothing is compiled for it that the run does not need, and no bit of the result depends on it.
    """
    options.check(problem.table.n_columns)
    cut = cut_rows(problem, run.seed)

    def compute(device: Device | None) -> Price:
        made: list[SplitGame] = []
        asked = options
        if cut is not problem:  # its form is that of all rows
            expected = options.first_subsets(problem.table.n_columns)
            form = choose_form(problem, options.form, expected, on_gpu=device is not None)
            asked = replace(options, form=form)
        setup_s = timed(lambda: made.append(make_game(cut, run, asked, device)))
        rule = make_rule(made[0])
        low, high, notes = _subsets_needed(made[0], rule)
        paces = _Paces()
        prices = [_price_list(made[0], rule, n, setup_s, paces) for n in sorted({low, high})]
        price = _together(prices[0], prices[-1], rule, notes)
        return price if cut is problem else _of_all_rows(price, problem, prices[0])

    backend = options.backend if options.cluster is None else "cpu"
    return on_backend(backend, amount_of_work(problem, options), compute)


def cut_rows(problem: Problem, seed: int) -> Problem:
    """The problem with some of its rows, where all would take long to code.

    Parameters
    ----------
    problem : Problem
    seed : int
    """
    n_rows = problem.table.n_rows
    if n_rows <= PRICED_ROWS:
        return problem
    random = generator(seed, "plan", 1)
    kept = np.sort(random.permutation(n_rows)[:PRICED_ROWS])
    is_kept = np.zeros(n_rows, dtype=bool)
    is_kept[kept] = True
    splits = []
    for split in problem.splits:
        some = np.flatnonzero(is_kept[split.rows])
        n_valid = split.valid.n_rows
        part = split.take_valid(np.sort(random.permutation(n_valid)[:PRICED_VALID]))
        splits.append(
            replace(
                part,
                rows=np.searchsorted(kept, split.rows[some]),
                train=split.train.take_rows(some),
                y=split.y.take(some),
            )
        )
    table, target = problem.table.take_rows(kept), problem.target.take(kept)
    return replace(problem, table=table, target=target, splits=splits)


def _of_all_rows(price: Price, problem: Problem, low: _ListPrice) -> Price:
    """The price of all rows, from that of some: the work is a product of rows and validation rows.

    Parameters
    ----------
    price : Price
        Of the cut problem.
    problem : Problem
        The whole one.
    low : _ListPrice
        The shorter list of the cut problem.
    """
    cut, m = low.game.problem, low.game.n_columns
    rows = problem.table.n_rows / cut.table.n_rows
    pace = rows**RANKING_GROWTH if price.facts["form"] == "exact" else 1.0
    valid = problem.n_valid / cut.n_valid
    sizes = [
        chunk_rows(split.train.n_rows, split.valid.n_rows, m, low.pieces.n_subsets)
        for split in problem.splits
    ]
    pieces = sum(
        -(-split.valid.n_rows // size) for split, size in zip(problem.splits, sizes, strict=True)
    )
    amounts, least = dict(price.amounts), valid
    if "validation rows" in amounts:
        fewest = amounts["validation rows"][0]
        amounts["validation rows"] = (fewest, problem.n_valid)
        least = 1.0  # as many rows, of more
    costs = [
        replace(
            cost,
            alone_s=cost.alone_s * rows,
            shared_s=cost.shared_s * rows * pace * more,
            pieces=max(round(pieces * cost.pieces / max(price.high.pieces, 1)), 1),
            handover_s=cost.handover_s * rows,
        )
        for cost, more in ((price.low, least), (price.high, valid))
    ]
    return replace(price, low=costs[0], high=costs[1], memory=price.memory * rows, amounts=amounts)


def _subsets_needed(game: SplitGame, rule: Rule) -> tuple[int, int, list[str]]:
    """Column subsets at best and at worst, and what to say of them."""
    first = first_list(rule).n_subsets
    if rule.takes_all or rule.n_asked is not None:
        return first, first, []
    few = few_rows(game.problem, PILOT_ROWS, PILOT_VALID, game.seed)
    options = replace(
        game.options, subsets="sampled", n_subsets=first, checkpoint=None, cluster=None,
        valid_rows="all", form="exact", backend="cpu",
    )  # fmt: skip
    with without_warnings(), single_threaded():
        pilot = value_game(
            SplitGame.make(
                few,
                replace(game.run, progress=False, sums=None),
                options,
                "exact",
                small=game.small,
            )
        )
    ratio = convergence_ratio(pilot.values, pilot.stderr, pilot.dof)
    # subsets are drawn anew for other validation rows, so that errors may fall with their number
    share = math.sqrt(min(few.n_valid / game.problem.n_valid * len(game.parts), 1.0))
    short = ratio / max(rule.tolerance, 1e-300)
    low, high = (
        math.ceil(first * min(max(factor * short, 1.0), 1e9))
        for factor in (_BETTER * share, _WORSE)
    )
    if rule.samples_rows:
        low = first
    if high <= rule.most:
        return low, high, []
    if rule.all_from is not None:
        every = 2**rule.n_columns
        note = "Should sampling not do, all column subsets are evaluated."
        return min(low, every), every, [note]
    if low > rule.most:
        note = f"The {rule.most:,} column subsets evaluated at most will hardly meet the tolerance."
        return rule.most, rule.most, [note]
    return low, rule.most, ["The tolerance may not be met."]


@dataclass(frozen=True)
class _ListPrice:
    """What one list of pieces takes; ``more_s`` is what it may take beyond."""

    game: SplitGame
    pieces: Pieces
    pace: Measured
    cost: Cost
    more_s: float
    memory: float


class _Paces:
    """What triples take, each kind of work timed once: two lists mostly do the same kind."""

    def __init__(self) -> None:
        self._timed: dict[tuple[str, str], Measured] = {}

    def of_pieces(self, game: SplitGame, pieces: Pieces) -> Measured:
        """Of the pieces of a list."""
        k, rows = pieces.chunks[0]
        if isinstance(pieces, SampledPieces):
            return self._once(game, "sample", lambda: pace_of_sample(game, pieces.parts[k], rows))
        return self._once(game, "walk", lambda: pace_of_walk(game, pieces))

    def ranked(self, game: SplitGame, pieces: Pieces) -> Measured:
        """Of a sample whose rows are ranked exactly, where the pieces have them in bins."""
        k, rows = pieces.chunks[0]
        part = pieces.parts[k].ranked()
        return self._once(
            game, "ranked", lambda: pace_of_sample(game, part, rows, CALIBRATION_S / 4)
        )

    def _once(self, game: SplitGame, work: str, time_it: Callable[[], Measured]) -> Measured:
        kind = work, game.form
        if kind not in self._timed:
            self._timed[kind] = time_it()
        return self._timed[kind]


def _price_list(
    game: SplitGame, rule: Rule, n_subsets: int, setup_s: float, paces: _Paces
) -> _ListPrice:
    """Time a little of a list of pieces, and multiply."""
    name = ListName(n_subsets, attempt=0 if n_subsets == first_list(rule).n_subsets else 1)
    game = in_form_of(game, name)
    pieces = list_pieces(game, rule, name)
    splits, n, m = game.problem.splits, game.n_rows, game.n_columns
    pairs = sum(float(part.n_rows) * part.n_valid for part in game.parts)
    cells = float(n) * m
    pace = paces.of_pieces(game, pieces)
    if isinstance(pieces, SampledPieces):
        with single_threaded():  # as in the run
            design = pieces.design(0)  # the first one takes longer
            design_s = timed(lambda: pieces.design(0))
        product_s = _product_s(design.weights, n)
        each_s = design_s + product_s
        lines = len(design.weights)
    else:
        each_s, lines = 0.0, m
    count = len(pieces.chunks)
    shared_s = pace.core_s * pairs * n_subsets + each_s * count
    if name.attempt == 1 and isinstance(pieces, SampledPieces):
        # a quarter of the first list has said that it takes more
        shared_s += pace.core_s * pairs * first_list(rule).n_subsets / 4
    alone_s = setup_s + RESULT_CELL_S * cells * len(splits)
    alone_s += _ADD_S * cells * count
    least_s, most_s = _correction_s(game, pieces, pace, paces)
    back_s = 8.0 * n * lines / SENT_BYTES_S
    cost = Cost(alone_s + least_s, shared_s, count, 1, HANDOVER_S + back_s)
    return _ListPrice(game, pieces, pace, cost, most_s - least_s, _memory(game, pieces))


def _together(low: _ListPrice, high: _ListPrice, rule: Rule, notes: list[str]) -> Price:
    """The price of a run, from those of the shortest and the longest list that it may take."""
    game, pieces, n_valid = high.game, high.pieces, high.game.problem.n_valid
    costs = low.cost, replace(high.cost, alone_s=high.cost.alone_s + high.more_s)
    # a sample and a walk are timed apart: on a busy machine the shorter may look longer
    best, worst = sorted(costs, key=lambda cost: here(cost, high.pace.cores))
    amounts = {"column subsets": (low.pieces.n_subsets, pieces.n_subsets)}
    if rule.samples_rows:
        first = low.pieces.chunks[: first_rounds(low.pieces)]
        share = sum(rows.size for _, rows in first) / sum(
            rows.size for _, rows in low.pieces.chunks
        )
        fewest = sum(
            np.unique(np.concatenate([rows for k, rows in first if k == one])).size
            for one in {k for k, _ in first}
        )
        count = max(round(best.pieces * share), 1)
        best = replace(best, shared_s=best.shared_s * share, pieces=count)
        amounts["validation rows"] = (fewest, n_valid)
    facts = {
        "subsets": "all" if pieces.takes_all else "sampled",
        "form": game.form,
        "backend": backend_name(game.device),
        "ns_per_triple": round(1e9 * high.pace.core_s, 3),
    }
    return Price(best, worst, high.pace.cores, high.memory, amounts, facts, notes)


def _product_s(weights: NDArray[np.float64], n_rows: int) -> float:
    """Seconds to contract the row values of a piece with its weights, from some of its rows."""
    some = min(n_rows, 1024)
    values = np.ones((weights.shape[1], some))
    with single_threaded():
        return timed(lambda: weights @ values) * n_rows / some


def _correction_s(
    game: SplitGame, pieces: Pieces, pace: Measured, paces: _Paces
) -> tuple[float, float]:
    """What ranking a sample exactly takes where rows are in bins, at best and at worst."""
    if not game.is_binned:
        return 0.0, 0.0
    exact = paces.ranked(game, pieces)
    rows_in_all = sum(part.n_rows for part in game.parts)
    each_s = SAMPLE_ROWS * rows_in_all * (exact.core_s + pace.core_s) / max(pace.cores, 1.0)
    # under all columns every validation row is ranked
    pairs = sum(float(part.n_rows) * part.n_valid for part in game.parts)
    all_columns_s = pairs * exact.core_s / max(pace.cores, 1.0)
    most = SAMPLE
    if game.device is None:
        room = most_ranked_exactly(game.problem.n_valid, pieces.n_subsets, len(game.parts))
        most = max(SAMPLE, min(room, MAX_SAMPLE))
    least_s = 0.0 if game.samples_rows else all_columns_s
    return SAMPLE * each_s + least_s, most * each_s + all_columns_s


def _memory(game: SplitGame, pieces: Pieces) -> float:
    """Bytes beside the table: its code and the sums, and then a piece or the result."""
    cells = float(game.n_rows) * game.n_columns
    # the code and its copy in the order of the labels
    code = 2.0 * sum(coded.train.nbytes + coded.valid.nbytes for coded in game.coded)
    n_valid = max(rows.size for _, rows in pieces.chunks)
    of_threads = max(part.bytes_of_threads(pieces.n_subsets, n_valid) for part in game.parts)
    a_piece = pieces.bytes_at_once(of_threads)
    result = 40.0 * cells  # values and variances, with what they are made of
    if game.is_binned:
        result += 16.0 * cells + _correction_bytes(game, pieces)
    return code + game.empty_sums().n_bytes + max(a_piece, result)


def _correction_bytes(game: SplitGame, pieces: Pieces) -> float:
    """What judging the bins takes: differences of a sample, and the threads that rank it."""
    part = max(game.parts, key=lambda part: part.n_rows)
    kept = SAMPLE
    if pieces.takes_all and game.device is None:  # doubled while bins are all that errs
        room = most_ranked_exactly(game.problem.n_valid, pieces.n_subsets, len(game.parts))
        while 2 * kept <= most_stored(room, part.n_rows):
            kept *= 2
    threads = sum(axis.bytes_of_threads(1, SAMPLE_ROWS) for axis in (part, part.ranked()))
    return 4.0 * part.n_rows * kept + threads
