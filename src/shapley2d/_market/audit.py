"""An audit of payments: every number comes from a valuation of the changed table."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.checks import check_choice, check_flag
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.progress import Pace, reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._base.words import counted, plural
from shapley2d._knn.method import KNN
from shapley2d._market.audit_moves import fabricate, split_owner, take_rows
from shapley2d._market.audit_result import MOVES, Audit
from shapley2d._market.blocks import look_at_owners, make_valuation, prepare_blocks
from shapley2d._market.grid import numbered
from shapley2d._market.job import Variation, leaving_time
from shapley2d._market.owners import UNOWNED
from shapley2d._market.payments import RULES, UNTRUSTED, divide_total
from shapley2d._market.sellers.look import Look
from shapley2d._market.validation_parts import deal_parts, problem_of_part
from shapley2d._models.by_name import knn_of
from shapley2d._tables.changes import blank_cells
from shapley2d.exceptions import InputError, PrecisionWarning, Setting, UtilityError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from shapley2d._base.arrays import Floats, Ints
    from shapley2d._market.block_valuation import BlockValuation
    from shapley2d._market.job import Answer, BlocksJob
    from shapley2d._market.layout import Changed
    from shapley2d._methods.method import Method
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.splits import Splitter
    from shapley2d._theory.semivalues import Semivalue

_SCORES = {
    "classification": ("accuracy", "balanced_accuracy", "f1_macro"),
    "regression": ("neg_mean_squared_error", "neg_mean_absolute_error"),
}


def audit_owners(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    owners: Any = None,
    owner_column: str | None = None,
    pay: Any = 100_000,
    negative: Literal["zero", "owe"] = "zero",
    look: bool = True,
    trusted: bool = False,
    parties: Literal["known", "anonymous"] | None = None,
    copies: Literal["one", "each"] | None = None,
    unclaimed: Literal["refuse", "drop"] = "refuse",
    method: str | Method | None = None,
    task: Literal["auto", "classification", "regression"] = "auto",
    kinds: Mapping[str, Literal["number", "date", "text"]] | None = None,
    include_label: bool = False,
    cv: int | Splitter | Iterable[tuple[Any, Any]] | None = FOLDS,
    groups: Any = None,
    time_order: Any = None,
    valid_weight: Any = None,
    scoring: str | Callable[..., float] | None = None,
    baseline: Literal["labels", "zero"] = "labels",
    semivalue: Semivalue | tuple[Semivalue, Semivalue] = SEMIVALUE,
    random_state: int | np.random.Generator | np.random.RandomState | None = 0,
    n_jobs: int | None = None,
    max_time: float | str | None = None,
    progress: Literal["auto"] | bool | Callable[[float, str], None] = "auto",
    checkpoint: str | os.PathLike[str] | None = None,
    cluster: Any = None,
) -> tuple[BlockValuation, Audit]:
    """Value a table's owners, look at their rows, and try what gaming and other settings change.

    For every owner: its payment, all its names together, if it posed as two, if it fabricated three
    times as many rows as it has (means of its classes, or jittered copies), or withheld its worst
    tenth. For all: their payments by other scores, numbers of neighbours or models, on either half
    of the validation rows, and if no columns were worth 0. Each of these is a valuation of its own,
    so an audit takes four valuations for every owner and about eight more.

    Before that, the rows of every owner are looked at beside the validation rows, whoever claims
    them: whether they are near copies of others' rows, of their own or of validation rows, whether
    a column can be computed from others' columns, and whether cells are claimed twice. These are
    alarms; fewer than 1 % of audits of honest owners raise any. Other rows than the validation rows
    and labels that others' rows do not bear out are information: honest owners are unusual, too.

    Parameters
    ----------
    X, y, X_valid, y_valid, owners, owner_column
        As in :func:`~shapley2d.value_blocks`.
    pay : number
        The amount to divide.
    negative : {"zero", "owe"}
        What owners of negative value receive, as in :meth:`~shapley2d.BlockValuation.payments`.
    look : bool
        Whether to look at the owners' rows; ``audit.findings`` has what was seen.
    trusted : bool
        Whether every owner's rows are trusted as a test, where there is no validation table, as in
        :meth:`~shapley2d.BlockValuation.payments`.
    parties, copies, unclaimed, method
        As in :func:`~shapley2d.value_blocks`.
    task, kinds, include_label, cv, groups, time_order, valid_weight, scoring, baseline, semivalue
        As in :func:`~shapley2d.value_blocks`.
    random_state, n_jobs, progress, checkpoint, cluster
        As in :func:`~shapley2d.value_blocks`.
    max_time : float or str, optional
        As in :func:`~shapley2d.value_blocks`: half of it is for the values, and what is left for
        the look at the rows and for as many changes as fit; ``audit.complete`` says whether all
        did.

    Returns
    -------
    valuation : BlockValuation
        As :func:`~shapley2d.value_blocks` gives it; it keeps the audit, for its file and its
        report.
    audit : Audit

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import audit_owners
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> owners = [{"owner": "A", "row": "0-19"}, {"owner": "B", "row": "20-39"}]
    >>> tables = X[:40], y[:40], X[40:], y[40:]
    >>> v, audit = audit_owners(*tables, owners=owners, parties="anonymous", progress=False)
    >>> audit.gains["gain"][audit.gains["move"] == "poses as two"].tolist()
    [0.0, 0.0]
    """
    asked = {**locals(), "rows": None, "columns": None, "valid_parts": None}
    check_choice(negative, "negative", RULES)
    check_flag(look, "look")
    check_flag(trusted, "trusted")
    if X_valid is None and not trusted:
        raise InputError(*UNTRUSTED)
    named = owners is not None or owner_column is not None
    job = prepare_blocks(asked) if named else None
    if job is None or not job.owned:
        raise InputError(
            "an audit is about owners: name them by ",
            Setting("owners"),
            " or ",
            Setting("owner_column"),
        )
    job = replace(job, run=job.run.advising())
    found = replace(job, run=leaving_time(job.run, 1)).answer()
    valuation = make_valuation(job, found, asked)
    seen = look_at_owners(job) if look else Look([], "")
    audit = _Auditor(job, found, pay, negative).audit(valuation._frame, seen)
    return replace(valuation, info={**valuation.info, "audit": audit.to_dict()}), audit


@dataclass(frozen=True)
class _Case:
    """A changed question: a move of an owner, or a setting (then ``owner`` is empty)."""

    owner: str
    words: str
    changed: Variation | None = None
    asked: dict[str, Any] = field(default_factory=dict)  # fields of the job


class _Auditor:
    """Asks a question again and again, each time with something changed."""

    def __init__(self, job: BlocksJob, found: Answer, total: Any, negative: str) -> None:
        assert job.named.regions is not None
        self.job, self.found, self.total, self.negative = job, found, total, negative
        self.regions, self.n_features = job.named.regions, job.tables.table.n_columns

    def audit(self, frame: str, look: Look) -> Audit:
        paid = self._payments(self.found)
        moves: list[dict[str, Any]] = []
        settings: list[dict[str, Any]] = []
        cases = [*self._moves(), *self._settings()]
        complete, limit, pace = True, self.job.run.limit, Pace()
        with reporting(self.job.run.progress, "auditing") as report:
            try:
                for k, case in enumerate(cases):
                    if limit is not None and limit.left() < (pace.seconds() or 0.0):
                        complete = False  # as asked; it says what was not tried
                        break
                    report(k / len(cases), f"{k} of {len(cases)} questions: {case.words}")
                    after = self._payments_in(case)
                    pace.tick()
                    if after is None:
                        continue
                    if case.owner:
                        moves.append(_move(case.owner, case.words, paid, after))
                    else:
                        settings.append(_setting(case.words, paid, after, self.regions.names))
            except KeyboardInterrupt:
                complete = False
                warn(PrecisionWarning("interrupted: the audit keeps what was computed by then"))
        copies, alarms = _copies_words(self.found), look.record()["alarms"]
        return Audit(
            float(self.total), paid, copies, look.words, complete, moves, settings, alarms, frame
        )

    def _payments_in(self, case: _Case) -> dict[str, float] | None:
        """Payments in a case; None where it is impossible, such as a score the model lacks."""
        # a model that draws has the same seeds
        parts = self.found.n_parts if "n_seeds" in self.found.summed.blocks.info else 0
        job = replace(self.job, valid_parts=parts, run=self.job.run.quiet(), **case.asked)
        try:
            with without_warnings():
                return self._payments(job.answer(case.changed))
        except (InputError, UtilityError):
            return None

    def _payments(self, found: Answer) -> dict[str, float]:
        """Payments of the owners, to the cent."""
        assert found.layout.ownership is not None
        assert found.summed.owners is not None
        names, values = found.layout.ownership.names, found.summed.owners.tolist()
        amounts = divide_total(self.total, values, negative=self.negative, names=names)
        return {name: one for name, one in zip(names, amounts, strict=True) if name != UNOWNED}

    def _moves(self) -> Iterator[_Case]:
        """Moves that every owner might make; only who has whole rows can add some."""
        whole = np.asarray(self.regions.columns[:, : self.n_features].all(axis=1))
        for owner, name in enumerate(self.regions.names):
            rows, random = np.flatnonzero(self.regions.of_rows()[owner]), self._random(owner)
            if not rows.size:
                continue
            split = partial(split_owner, owner=owner, random=random)
            yield _Case(name, MOVES["two"], Variation(regions=split))
            if whole[self.regions.owner == owner].all() and rows.size < self.regions.rows.shape[1]:
                for move, means in (("means", True), ("jitter", False)):
                    made = partial(fabricate, rows=rows, random=self._random(owner), means=means)
                    yield _Case(name, MOVES[move], Variation(table=made))
            if (withheld := self._withheld(owner, rows)) is not None:
                yield _Case(name, MOVES["withhold"], Variation(table=withheld))

    def _settings(self) -> Iterator[_Case]:
        """Other settings of the question."""
        job, info = self.job, self.found.summed.blocks.info
        method, task = job.method, self.found.problem.target.task
        for score in _SCORES[task]:
            if score != (job.scoring or _SCORES[task][0]):
                yield _Case("", f"scored by {score}", asked={"scoring": score})
        if knn := knn_of(getattr(method, "model", method)):
            for k in (max(knn.n_neighbors // 2, 1), 2 * knn.n_neighbors):
                other = knn.but(n_neighbors=k)
                by = other if method is knn else method.but(model=other)
                yield _Case("", f"with {counted(k, 'neighbour')}", asked={"method": by})
        if model_asked := getattr(self.found.method, "model", None):  # it has another
            linear = "logistic" if task == "classification" else "scaled_ridge"
            for model in ("knn", linear):
                if model not in (model_asked, info.get("model")):
                    by = self.found.method.but(model=model)
                    yield _Case("", f"by the model {model}", asked={"method": by})
        yield _Case("", "by half of every owner's rows", self._halved())
        for part, which in enumerate(("one half", "the other half")):
            half = Variation(problem=partial(self._half, part))
            yield _Case("", f"on {which} of the validation rows", half)
        if job.baseline != "zero":
            words = "if a table without columns were worth 0"
            yield _Case("", words, asked={"baseline": "zero"})

    def _halved(self) -> Variation:
        """Half of the rows of every owner, at random."""
        random = self._random(len(self.regions.names))
        who, first = numbered(self.regions.of_rows().T)
        parts = [np.flatnonzero(who == k) for k in range(first.size)]
        kept = [random.permutation(rows)[: -(-rows.size // 2)] for rows in parts]
        return Variation(table=partial(take_rows, index=np.sort(np.concatenate(kept))))

    def _half(self, part: int, problem: Problem) -> Problem:
        return problem_of_part(problem, deal_parts(problem, 2, self.job.run.seed), part, alone=True)

    def _random(self, owner: int) -> np.random.Generator:
        return generator(self.job.run.seed, "audit", owner)

    def _withheld(self, owner: int, rows: Ints) -> Callable[..., Changed] | None:
        """Withhold the least valuable tenth of an owner's rows, or of its cells in shared rows."""
        valued = self.found.layout.valued
        if self._cells is None or valued is None or rows.size < 2:
            return None
        held = self.regions.cells_of(owner)
        worth = (self._cells[valued] * held[:, : self._cells.shape[1]]).sum(axis=1)
        worth = np.where(valued >= 0, worth, 0.0)
        worst = rows[np.argsort(worth[rows], kind="stable")[: max(rows.size // 10, 1)]]
        gone = np.zeros_like(held[:, : self.n_features])
        gone[worst] = held[worst, : self.n_features]
        if gone[worst].all():
            return partial(take_rows, index=np.setdiff1d(np.arange(len(held)), worst))
        return lambda table, target: (blank_cells(table, gone), target, np.arange(table.n_rows))

    @cached_property
    def _cells(self) -> Floats | None:
        """What every cell is worth; None where that cannot be computed."""
        method, problem = self.job.method, self.found.problem
        if self.job.parties == "known":  # such a party can still ask nearest neighbours
            method, problem = KNN(), replace(problem, scoring=None)
        try:
            with without_warnings():
                return method.solve(problem, self.job.run.quiet()).values
        except InputError:
            return None


def _move(
    owner: str, words: str, paid: dict[str, float], after: dict[str, float]
) -> dict[str, Any]:
    """What an owner would be paid, all its names together."""
    mine = [name for name in after if name == owner or name not in paid]
    before, then = paid[owner], round(sum(after[name] for name in mine), 2)
    gain = round(then - before, 2)
    change = "the same" if gain == 0 else f"{abs(gain):,.2f} {'more' if gain > 0 else 'less'}"
    sentence = f"If {owner} {words}, it is paid {change} ({then:,.2f} instead of {before:,.2f})."
    return {"owner": owner, "move": words, "before": before, "after": then, "sentence": sentence}


def _setting(
    words: str, paid: dict[str, float], after: dict[str, float], names: list[str]
) -> dict[str, Any]:
    """What owners would be paid under another setting, and for whom that changes most."""
    most = max(names, key=lambda name: abs(after[name] - paid[name]))
    moved = round(sum(abs(after[name] - paid[name]) for name in names) / 2, 2)
    sentence = (
        f"Payments {words}: {moved:,.2f} would change hands; most for {most}, "
        f"who would be paid {after[most]:,.2f} instead of {paid[most]:,.2f}."
        if moved
        else f"Payments {words}: nothing would change."
    )
    return {"setting": words, "payments": after, "sentence": sentence}


def _copies_words(found: Answer) -> str:
    copies = found.layout.copies
    assert copies is not None
    if not copies.n_rows:
        return "No row repeats another."
    if not copies.between:
        repeats = f"{counted(copies.n_rows, 'row')} {plural(copies.n_rows, 'repeats', 'repeat')}"
        return f"No two owners have copies of each other's rows; {repeats} others in all."
    pairs = "; ".join(f"{one} and {other}, {count:,}" for one, other, count in copies.between[:5])
    left = copies.n_pairs - 5
    more = f"; and {counted(left, 'more pair')}" if left > 0 else ""
    return f"Owners with copies of the same rows: {pairs}{more}."
