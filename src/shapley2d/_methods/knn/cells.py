"""Values under the K-nearest-neighbour utility.

Pieces of work (some validation rows under some column subsets) are computed somewhere, added up in
order, and a rule says when it is enough. The lists of pieces are in
:mod:`~shapley2d._methods.knn.pieces`, the sums in :mod:`~shapley2d._methods.knn.sums`, the rule in
:mod:`~shapley2d._methods.knn.rule`, and what a checkpoint holds in
:mod:`~shapley2d._methods.knn.resume`.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from shapley2d._base.defaults import TOLERANCE
from shapley2d._base.precision import convergence_ratio
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import warn
from shapley2d._estimation.batches import single_threaded
from shapley2d._estimation.checkpoint import check_place
from shapley2d._knn.columns.pair_fit import FEW_PER_PLAYER, few_subsets
from shapley2d._methods.knn.backend import on_backend
from shapley2d._methods.knn.bin_correction import corrected
from shapley2d._methods.knn.choices import amount_of_work, choose_form, is_small
from shapley2d._methods.knn.game import SplitGame
from shapley2d._methods.knn.in_time import PieceClock, shorter_list
from shapley2d._methods.knn.lists import first_list, in_form_of, list_pieces, make_rule
from shapley2d._methods.knn.pieces import results_in_order
from shapley2d._methods.knn.resume import ListName, open_resume
from shapley2d._methods.knn.rule import Again, Enough, Looks, More, first_rounds, look
from shapley2d.exceptions import OutOfTimeError, PrecisionWarning, Setting

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from shapley2d._base.progress import Report
    from shapley2d._estimation.estimate import Estimate
    from shapley2d._knn.cuda.device import Device
    from shapley2d._methods.knn.choices import KnnOptions
    from shapley2d._methods.knn.resume import Resume
    from shapley2d._methods.knn.rule import Rule, Verdict
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


def value_knn(
    problem: Problem,
    run: Run,
    options: KnnOptions,
    value: Callable[[SplitGame], Estimate] | None = None,
) -> Estimate:
    """Values under the K-nearest-neighbour utility, mean over the splits of the problem.

    Parameters
    ----------
    problem : Problem
    run : Run
    options : KnnOptions
    value : callable, optional
        What values the game, on the processor or on a GPU; default :func:`value_game`.
    """
    options.check(problem.table.n_columns)
    if options.checkpoint is not None:
        check_place(options.checkpoint)  # before anything long is done

    def compute(device: Device | None) -> Estimate:
        return (value or value_game)(make_game(problem, run, options, device))

    backend = options.backend if options.cluster is None else "cpu"
    return on_backend(backend, amount_of_work(problem, options), compute)


def make_game(
    problem: Problem, run: Run, options: KnnOptions, device: Device | None = None
) -> SplitGame:
    """The game of a problem, in the form that it begins with."""
    expected = options.first_subsets(problem.table.n_columns)
    form = choose_form(problem, options.form, expected, on_gpu=device is not None)
    small = device is None and is_small(amount_of_work(problem, options), options.form)
    return SplitGame.make(problem, run, options, form, device=device, small=small)


def value_game(game: SplitGame) -> Estimate:
    """Values of a game with their standard errors."""
    rule = make_rule(game)
    resume = open_resume(game, rule)
    name = resume.list_name or list_in_time(game, rule) or first_list(rule)
    while True:
        pieces = _PieceRun(in_form_of(game, name), rule, resume, name)
        with pieces.reporting() as report, single_threaded():
            verdict = pieces.look()
            while isinstance(verdict, More):
                verdict = pieces.add_pass(report)
        if isinstance(verdict, Enough):
            return pieces.finish(verdict.estimate)
        name = ListName(verdict.n_subsets, attempt=1)


def list_in_time(game: SplitGame, rule: Rule) -> ListName | None:
    """The list for a run whose usual one does not fit its time limit; None where it does."""
    if game.run.limit is None or game.options.cluster is not None:
        return None
    return shorter_list(game, rule, game.run.limit)


class _PieceRun:
    """One list of pieces, added up.

    Parameters
    ----------
    game : SplitGame
    rule : Rule
    resume : Resume
    name : ListName
    """

    def __init__(self, game: SplitGame, rule: Rule, resume: Resume, name: ListName) -> None:
        self._game, self._rule, self._resume, self._name = game, rule, resume, name
        self._pieces = list_pieces(game, rule, name)
        self._sums, self._looks = game.empty_sums(), Looks()
        self._resumed_at = resume.restore(name, self._sums, self._looks)
        self._interrupted = self._time_up = False
        self._clock = PieceClock(game, self._pieces, resume)

    def reporting(self) -> AbstractContextManager[Report]:
        """A progress bar for the run."""
        title = "exact KNN values" if self._pieces.takes_all else "sampled KNN values"
        return reporting(self._game.run.progress, title)

    def look(self) -> Verdict:
        """What to do next; ``Again`` becomes ``More`` if a restart would miss the time limit."""
        verdict = self._rule.verdict(self._pieces, self._sums, self._looks)
        if isinstance(verdict, Again) and not self._clock.has_time_for(verdict.n_subsets):
            return More()
        return verdict

    def add_pass(self, report: Report) -> Verdict:
        """Add pieces to the end of a pass through the validation rows, until enough, or Ctrl-C."""
        pieces, sums, looks, resume = self._pieces, self._sums, self._looks, self._resume
        start = written = sums.pieces
        until = (start // len(pieces.chunks) + 1) * len(pieces.chunks)
        results = results_in_order(pieces, start, until, self._game.options.cluster)
        verdict: Verdict = More()
        with ThreadPoolExecutor(1) as beside:
            try:
                self._clock.check(has_answer=sums.has_error)
                for result in results:
                    stratum, _ = pieces.chunks[sums.pieces % len(pieces.chunks)]
                    # in a thread: Ctrl-C cannot leave half of it added
                    beside.submit(sums.strata[stratum].add, result).result()
                    del result  # its memory, while the sums are looked at
                    self._clock.tick()
                    end = max(self._expected_end(until), sums.pieces)
                    left = self._clock.seconds_left(end - sums.pieces)
                    report(sums.pieces / end, self._words(), left)
                    verdict = self.look()
                    if not isinstance(verdict, More):
                        break
                    if resume.due():
                        resume.save(self._name, sums, looks)
                        written = sums.pieces
                    self._clock.check(has_answer=sums.has_error)
            except (KeyboardInterrupt, OutOfTimeError) as cause:
                beside.shutdown()  # what is being added is added in full
                if not sums.has_error:  # nothing to compare
                    raise
                self._interrupted = isinstance(cause, KeyboardInterrupt)
                self._time_up = not self._interrupted
                return Enough(look(pieces, sums, looks)[0])
            finally:
                results.close()
                if sums.pieces > written:
                    resume.save(self._name, sums, looks)
        return verdict

    def _expected_end(self, until: int) -> int:
        """Pieces after which the run will end, as far as is known, at most ``until``.

        A run that may end before it has used all validation rows ends with the first look at its
        errors, or where these will have come down to the tolerance: with the root of the pieces.
        """
        rule, pieces = self._rule, self._pieces
        if not rule.samples_rows or rule.tolerance == 0:
            return until
        if not self._looks.history:
            return min(first_rounds(pieces), until)
        n_subsets, ratio = self._looks.history[-1]
        looked = n_subsets * len(pieces.chunks) / pieces.n_subsets
        return min(math.ceil(looked * max(ratio / rule.tolerance, 1.0) ** 2), until)

    def _words(self) -> str:
        """How far the run is."""
        rows = f"{self._sums.used:,} of {self._game.problem.n_valid:,} validation rows"
        if self._pieces.takes_all:
            return rows
        error = ""
        if self._looks.history:
            ratio = self._looks.history[-1][1]
            error = f"error {ratio:.3f} of the spread, wanted {self._rule.tolerance:g}; "
        elif self._rule.samples_rows:
            error = "time to the first errors; "
        return f"{error}{rows}, {self._pieces.n_subsets:,} column subsets each"

    def finish(self, estimate: Estimate) -> Estimate:
        """The estimate without the errors of bins, with what its record says and warnings."""
        game, options, pieces = self._game, self._game.options, self._pieces
        estimate.info.update(self._facts(estimate))
        if not pieces.takes_all:
            estimate.history.extend(self._looks.history)
        wants_tolerance = options.n_subsets is None and not pieces.takes_all
        estimate = corrected(estimate, game, options.tolerance if wants_tolerance else TOLERANCE)
        if wants_tolerance and game.is_binned and not (self._interrupted or self._time_up):
            estimate = estimate.noting(converged=estimate.info["ratio"] <= options.tolerance)
        if pieces.takes_all:
            game.run.warn_of_precision(estimate, 0.0)
        elif options.n_subsets is None or self._interrupted:
            game.run.warn_of_precision(
                estimate, options.tolerance, "n_subsets", estimate.info["n_subsets"]
            )
        elif "caveat" in estimate.info:
            warn(
                PrecisionWarning(
                    Setting("n_subsets", options.n_subsets),
                    f" is few for {game.n_columns} columns: errors are large, and 95 % intervals "
                    "can miss those columns that matter most in subsets of a size that is not "
                    "sampled; use ",
                    Setting("n_subsets", FEW_PER_PLAYER * game.n_columns),
                    " or more",
                )
            )
        return estimate

    def _facts(self, estimate: Estimate) -> dict[str, Any]:
        game, pieces, sums = self._game, self._pieces, self._sums
        ratio = convergence_ratio(estimate.values, estimate.stderr, estimate.dof)
        passes = max(-(-sums.pieces // len(pieces.chunks)), 1)
        facts = {
            **game.facts,
            "subsets": "all" if pieces.takes_all else "sampled",
            "n_subsets": min(pieces.n_subsets * passes, 2**game.n_columns),
            "n_valid_used": sums.used,
            "interrupted": self._interrupted,
            "converged": not self._interrupted and ratio <= self._rule.tolerance,
        }
        if self._time_up:
            facts["time_up"] = True
        if not pieces.takes_all:
            facts["n_chunks"] = sums.pieces
        if estimate.stderr.any():
            facts["ratio"] = ratio
        if self._resumed_at:
            facts["resumed_at"] = self._resumed_at
        if few_subsets(pieces.n_subsets, game.n_columns):
            facts["caveat"] = (
                f"{pieces.n_subsets} column subsets are too few for {game.n_columns} columns "
                "to trust the intervals"
            )
        return facts
