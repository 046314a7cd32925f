"""What a checkpoint holds: the sums so far, and where in which list of pieces they are.

Pieces are added up in their order, wherever they were computed, and the rule that ends a run looks
at the sums alone. So a run that was killed and goes on has the same bits as any other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from shapley2d._base.json_record import history_pairs, whole_number
from shapley2d._methods.identity import checkpoint_of, identity_of_sums
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from shapley2d._estimation.checkpoint import Checkpoint, Saved
    from shapley2d._methods.knn.game import SplitGame
    from shapley2d._methods.knn.rule import Looks, Rule
    from shapley2d._methods.knn.sums import TableSums


class ListName(NamedTuple):
    """A list of pieces by its name.

    Attributes
    ----------
    n_subsets : int
        Column subsets of a piece; all of them where it is 2^m.
    attempt : int
        0 for the list that a run begins with, 1 for the one that its rule asked for.
    round_rows : int
        Validation rows of a round where a time limit set it, else 0.
    form : {"", "exact"}
        The form where a time limit chose it, else empty.
    """

    n_subsets: int
    attempt: int
    round_rows: int = 0
    form: str = ""


class Resume:
    """What an earlier run has reached, and a file that keeps what this one does.

    Parameters
    ----------
    checkpoint : Checkpoint or None
        None for a run that keeps nothing.
    rule : Rule
        What this run is asked for. A sample that answers something else is left.
    """

    def __init__(self, checkpoint: Checkpoint | None, rule: Rule) -> None:
        self._checkpoint = checkpoint
        self._asked = {
            "n_subsets": rule.n_asked,
            "tolerance": rule.tolerance if rule.n_asked is None else None,
            "samples_rows": rule.samples_rows,
        }
        self._saved = None if checkpoint is None else checkpoint.load(_check)
        if self._saved is not None and not self._answers(rule):
            self._saved = None

    def _answers(self, rule: Rule) -> bool:
        """Whether this run may go on from the sums in the file."""
        assert self._saved is not None
        facts = self._saved.facts
        if facts["asked"] == self._asked:
            return True
        has_all_subsets = facts["n_subsets"] == 2**rule.n_columns
        return has_all_subsets and (rule.takes_all or rule.all_from is not None)

    @property
    def list_name(self) -> ListName | None:
        """The list that an earlier run had come to."""
        if self._saved is None:
            return None
        facts = self._saved.facts
        limited = facts.get("round_rows", 0), facts.get("form", "")
        return ListName(facts["n_subsets"], facts["attempt"], *limited)

    def restore(self, name: ListName, sums: TableSums, looks: Looks) -> int:
        """Take over what an earlier run has added up of a list: how many pieces these were."""
        if self._saved is None or self.list_name != name:
            return 0
        try:
            sums.restore(self._saved.arrays)
        except ValueError as error:
            raise _does_not_fit() from error
        if sums.pieces != self._saved.count:
            raise _does_not_fit()
        looks.history.extend(history_pairs(self._saved.facts["history"]))
        return self._saved.count

    @property
    def write_s(self) -> float:
        """Seconds that the last file took; 0 where there is none."""
        return 0.0 if self._checkpoint is None else self._checkpoint.write_s

    def due(self) -> bool:
        """Whether it is time to save again."""
        return self._checkpoint is not None and self._checkpoint.due()

    def save(self, name: ListName, sums: TableSums, looks: Looks) -> None:
        """Write what is done."""
        if self._checkpoint is None or not sums.pieces:
            return
        facts = {
            **name._asdict(),
            "asked": self._asked,
            "history": looks.history,
        }
        self._checkpoint.save(sums.pieces, sums.state(), facts)


def open_resume(game: SplitGame, rule: Rule) -> Resume:
    """The checkpoint of a run on a game, for this game only."""
    options, run = game.options, game.run
    if options.checkpoint is None:
        return Resume(None, rule)
    checkpoint = checkpoint_of(
        options.checkpoint,
        run,
        {},
        method="knn",
        problem=game.problem,
        # a time limit may have drawn validation rows, which have more strata
        max_bytes=max(game.in_rounds_of(rows).empty_sums().n_bytes for rows in (0, 1)),
        unit="pieces of work",
        baseline=options.baseline,
        valid_rows=options.valid_rows,
        form=game.form,
        small=game.small,
        **game.facts,
        **identity_of_sums(run),
    )
    return Resume(checkpoint, rule)


def _check(saved: Saved) -> None:
    """Refuse, by a ValueError, a file whose record does not say what its sums are."""
    facts = saved.facts
    whole_number(facts.get("n_subsets"), "its number of subsets", 1)
    whole_number(facts.get("attempt"), "its attempt", 0, 1)
    whole_number(facts.get("round_rows", 0), "its validation rows of a round", 0)
    if facts.get("form", "") not in ("", "exact"):
        raise ValueError("its form is not known")
    if not isinstance(facts.get("asked"), dict):
        raise ValueError("it does not say what it was asked")  # noqa: TRY004
    history_pairs(facts.get("history"))
    if not all(np.isfinite(array).all() for array in saved.arrays.values()):
        raise ValueError("not all of its numbers are finite")


def _does_not_fit() -> InputError:
    return InputError(
        Setting("checkpoint"), " does not fit this run: delete the file to start again"
    )
