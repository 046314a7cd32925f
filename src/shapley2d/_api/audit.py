"""An audit of payments: every number is that of a valuation of the table as it would be, none comes from theory."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._api.block_question import Variation, answer
from shapley2d._api.blocks import ask, make_valuation, value_blocks, warn_of_owners
from shapley2d._base.checks import check_choice
from shapley2d._base.progress import reporting
from shapley2d._base.streams import generator
from shapley2d._base.warnings import warn, without_warnings
from shapley2d._methods.registry import METHODS
from shapley2d._methods.run import Run
from shapley2d._methods.validation_error import problems_of_groups
from shapley2d._ownership.owners import UNOWNED
from shapley2d._ownership.payments import RULES, divide_total, settle_rule
from shapley2d._results.audit import MOVES, Audit
from shapley2d._tables.changes import blank_cells, take_cells
from shapley2d.exceptions import InputError, OptionError, PrecisionWarning, Setting, UtilityError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._api.block_layout import Changed
    from shapley2d._api.block_question import Answer, Question
    from shapley2d._ownership.regions import Regions
    from shapley2d._results.blocks import BlockValuation
    from shapley2d._tables.problem import Problem
    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target

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
    owners: Any,
    amount: Any = 100_000,
    negative: str | None = None,
    **options: Any,
) -> tuple[BlockValuation, Audit]:
    """Value a table's owners, and ask what each could gain by gaming it and how payments move with the question.

    For every owner: what it would be paid, its shells together, if it split into two or four,
    listed its rows twice, under its own or a second name, hid the tenth of its rows that is worth
    least in a shell or withheld it, or added rows of shuffled noise. For all: what they would be
    paid by other scores, numbers of neighbours or models, on either half of the validation rows,
    and if no columns were worth 0. Every one of these is a valuation of its own, so that an audit
    takes as long as seven valuations for every owner and some ten besides.

    Parameters
    ----------
    X, y, X_valid, y_valid, owners
        As in :func:`~shapley2d.value_blocks`.
    amount : number
        The amount to divide.
    negative : {"zero", "owe"}, optional
        What owners of negative value receive, as in :meth:`~shapley2d.BlockValuation.payments`.
    **options
        Those of :func:`~shapley2d.value_blocks`.

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
    >>> v, audit = audit_owners(X[:40], y[:40], X[40:], y[40:], owners=owners, progress=False)
    >>> audit.gains["gain"][audit.gains["move"] == "splits into four shells"].tolist()
    [0.0, 0.0]
    """
    signature: dict[str, Any] = {**(value_blocks.__kwdefaults__ or {}), "owners": owners}
    given = {"X": X, "y": y, "X_valid": X_valid, "y_valid": y_valid, **signature}
    given |= {name: value for name, value in options.items() if name in signature}
    given["options"] = {name: value for name, value in options.items() if name not in signature}
    if owners is None:
        raise InputError("an audit is about owners: name them by ", Setting("owners"))
    if negative is not None:
        check_choice(negative, "negative", RULES)
    run = Run.create(given["random_state"], given["semivalue"], given["n_jobs"], given["progress"])
    question = ask(given)
    found = answer(question, run)
    warn_of_owners(found, question)
    valuation = make_valuation(question, run, found, given)
    audit = _Auditor(question, run, found, amount, settle_rule(negative, question.players)).audit(
        valuation.frame
    )
    return replace(valuation, info={**valuation.info, "audit": audit.record()}), audit


class _Auditor:
    """Asks a question again and again, each time with something changed."""

    def __init__(
        self, question: Question, run: Run, found: Answer, amount: Any, negative: str
    ) -> None:
        self.question, self.run, self.found = question, run, found
        self.amount, self.negative = amount, negative

    def audit(self, frame: str) -> Audit:
        names = self.regions.names
        paid = self._payments(self.found)
        moves: list[dict[str, Any]] = []
        settings: list[dict[str, Any]] = []
        tasks = [*self._moves(), *self._settings()]
        complete = True
        with reporting(self.run.progress, "auditing") as report:
            try:
                for k, (kind, who, words, compute) in enumerate(tasks):
                    report(k / len(tasks), f"{k} of {len(tasks)} questions: {words}")
                    after = self._asked(compute)
                    if after is None:
                        continue
                    if kind == "move":
                        moves.append(_move(who, words, paid, after))
                    else:
                        settings.append(_setting(words, paid, after, names))
            except KeyboardInterrupt:
                complete = False
                warn(PrecisionWarning("interrupted: the audit keeps what was asked until then"))
        return Audit(
            float(self.amount), paid, moves, settings, _copies_words(self.found), complete, frame
        )

    @property
    def regions(self) -> Regions:
        """What owners have of the table as it was read."""
        assert self.found.layout.regions is not None
        return self.found.layout.regions

    def _asked(self, compute: Callable[[], Answer]) -> dict[str, float] | None:
        """Payments under a change; None where it cannot be had, as a score that the model does not know."""
        try:
            with without_warnings():
                return self._payments(compute())
        except (InputError, OptionError, UtilityError):
            return None

    def _payments(self, found: Answer) -> dict[str, float]:
        """What owners are paid, to the cent."""
        assert found.layout.ownership is not None
        values = dict(zip(found.layout.ownership.names, found.owner_values.tolist(), strict=True))
        values.pop(UNOWNED, None)
        amounts = divide_total(self.amount, list(values.values()), negative=self.negative)
        return dict(zip(values, amounts, strict=True))

    def _answer(self, variation: Variation | None = None, **changes: Any) -> Answer:
        given = {**changes.pop("given", self.question.given)}
        given.pop("checkpoint", None)
        question = replace(self.question, validation_groups=0, given=given, **changes)
        return answer(question, replace(self.run, progress=False), variation)

    def _moves(self) -> Iterator[tuple[str, str, str, Callable[[], Answer]]]:
        """What every owner might do."""
        for owner, name in enumerate(self.regions.names):
            rows = np.flatnonzero(self.regions.of_rows()[owner])
            if not rows.size:
                continue
            changes = {
                "two": Variation(regions=partial(self._split, owner=owner, parts=2)),
                "four": Variation(regions=partial(self._split, owner=owner, parts=4)),
                "twice": self._again(owner, rows, same_name=True),
                "name": self._again(owner, rows, same_name=False),
                "hide": self._hidden(owner, rows),
                "withhold": self._withheld(owner, rows),
                "noise": self._noise(owner, rows),
            }
            for move, variation in changes.items():
                if variation is not None:
                    yield "move", name, MOVES[move], partial(self._answer, variation)

    def _settings(self) -> Iterator[tuple[str, str, str, Callable[[], Answer]]]:
        """What might have been asked instead."""
        given, info = self.question.given, self.found.estimate.info
        known = self.question.complete()[1]
        if "scoring" in known:
            scores = _SCORES[self.found.problem.target.task]
            asked = self.found.scoring or known["scoring"] or scores[0]
            for score in scores:
                if score != asked:
                    yield (
                        "setting",
                        "",
                        f"scored by {score}",
                        partial(self._with, given, scoring=score),
                    )
        if info.get("n_neighbors"):
            for k in (max(info["n_neighbors"] // 2, 1), 2 * info["n_neighbors"]):
                yield (
                    "setting",
                    "",
                    f"with {k} neighbours",
                    partial(self._with, given, n_neighbors=k),
                )
        if "model" in known:
            only = {
                name: value
                for name, value in given.items()
                if name not in ("n_neighbors", "metric", "scoring")
            }
            for model in ("knn", "tree"):
                if model != known["model"]:
                    yield (
                        "setting",
                        "",
                        f"by the model {model}",
                        partial(self._with, only, model=model),
                    )
        for part, which in enumerate(("one half", "the other half")):
            variation = Variation(problem=partial(_half, number=part, seed=self.run.seed))
            yield (
                "setting",
                "",
                f"on {which} of the validation rows",
                partial(self._answer, variation),
            )
        if known.get("baseline", "zero") != "zero":
            words = "if a table without columns were worth 0"
            yield "setting", "", words, partial(self._with, given, baseline="zero")

    def _with(self, given: dict[str, Any], **changes: Any) -> Answer:
        return self._answer(given={**given, **changes})

    def _random(self, owner: int) -> np.random.Generator:
        return generator(self.run.seed, "audit", owner)

    def _split(self, regions: Regions, owner: int, parts: int) -> Regions:
        """The owner's cells dealt out at random to shells, by rows; by columns where it has all rows."""
        mine = regions.owner == owner
        axis = regions.rows[mine].any(axis=0)
        by_rows = not (axis.all() and regions.columns[mine].any(axis=0).sum() >= parts)
        masks = regions.rows if by_rows else regions.columns
        held = np.flatnonzero(masks[mine].any(axis=0))
        shell = np.full(masks.shape[1], -1)
        shell[held] = self._random(owner).permutation(np.arange(held.size) % parts)
        pieces = [
            replace(
                regions,
                owner=regions.owner[~mine],
                rows=regions.rows[~mine],
                columns=regions.columns[~mine],
            )
        ]
        names = list(regions.names)
        for part in range(parts):
            inside = masks[mine] & (shell == part)
            number = owner if part == 0 else len(names)
            if part:
                names.append(_shell_name(regions.names[owner], part + 1))
            pieces.append(
                replace(
                    regions,
                    owner=np.full(int(mine.sum()), number),
                    rows=inside if by_rows else regions.rows[mine],
                    columns=regions.columns[mine] if by_rows else inside,
                )
            )
        return _joined(names, pieces)

    def _again(self, owner: int, rows: NDArray[np.intp], *, same_name: bool) -> Variation:
        """The owner's rows once more, which it has under its own name or a second one."""
        n = self.regions.rows.shape[1]
        index = np.append(np.arange(n), rows)
        return Variation(
            table=partial(_taken, index=index),
            regions=partial(_added_rows, owner=owner, first=n, same_name=same_name),
        )

    def _noise(self, owner: int, rows: NDArray[np.intp]) -> Variation:
        """As many rows again, each column and the label of them in an order of its own."""
        n, random = self.regions.rows.shape[1], self._random(owner)
        m = self.found.problem.table.n_columns
        shuffled = [np.append(np.arange(n), random.permutation(rows)) for _ in range(m + 1)]
        return Variation(
            table=partial(_shuffled, index=shuffled),
            regions=partial(_added_rows, owner=owner, first=n, same_name=True),
        )

    def _withheld(self, owner: int, rows: NDArray[np.intp]) -> Variation | None:
        """Without the tenth of the owner's rows whose cells are worth least; only its cells go where it has not all."""
        worst = self._worst(owner, rows)
        if worst is None:
            return None
        held = self.regions.cells_of(owner)
        features = held[:, : self.found.problem.table.n_columns]
        if features[worst].all():
            kept = np.setdiff1d(np.arange(held.shape[0]), worst)
            return Variation(table=partial(_taken, index=kept))
        gone = np.zeros_like(features)
        gone[worst] = features[worst]
        return Variation(table=partial(_blanked, gone=gone))

    def _hidden(self, owner: int, rows: NDArray[np.intp]) -> Variation | None:
        """With that tenth in a shell of its own."""
        worst = self._worst(owner, rows)
        return (
            None
            if worst is None
            else Variation(regions=partial(_set_apart, owner=owner, rows=worst))
        )

    def _worst(self, owner: int, rows: NDArray[np.intp]) -> NDArray[np.intp] | None:
        """The tenth of the owner's rows whose cells are worth least."""
        worth = self._row_worth(owner)
        if worth is None or rows.size < 2:
            return None
        return rows[np.argsort(worth[rows], kind="stable")[: max(rows.size // 10, 1)]]

    def _row_worth(self, owner: int) -> NDArray[np.float64] | None:
        """What the owner's cells are worth in every row of the table as it was read."""
        clusters = self.found.reading.clusters
        if self._cells is None or clusters is None:
            return None
        valued = clusters if self.question.copies != "each" else np.arange(clusters.size)
        held = self.regions.cells_of(owner)[:, : self._cells.shape[1]]
        return np.asarray((self._cells[valued] * held).sum(axis=1))

    @cached_property
    def _cells(self) -> NDArray[np.float64] | None:
        """What every cell is worth; None where no one could tell."""
        method, options = self.question.complete()
        if self.question.players == "groups":  # an owner can always ask nearest neighbours
            method, options = "knn", METHODS["knn"].complete({})
        options = {name: None if name == "checkpoint" else value for name, value in options.items()}
        try:
            with without_warnings():
                quiet = replace(self.run, progress=False)
                return METHODS[method].solve(self.found.problem, quiet, **options).values
        except InputError:
            return None


def _move(
    owner: str, words: str, paid: dict[str, float], after: dict[str, float]
) -> dict[str, Any]:
    """What an owner would be paid, all its shells together."""
    mine = [name for name in after if name == owner or name not in paid]
    before, then = paid[owner], round(sum(after[name] for name in mine), 2)
    gain = round(then - before, 2)
    change = "the same" if gain == 0 else f"{abs(gain):,.2f} {'more' if gain > 0 else 'less'}"
    sentence = f"If {owner} {words}, it is paid {change} ({then:,.2f} instead of {before:,.2f})."
    return {"owner": owner, "move": words, "before": before, "after": then, "sentence": sentence}


def _setting(
    words: str, paid: dict[str, float], after: dict[str, float], names: list[str]
) -> dict[str, Any]:
    """What owners would be paid under another setting, and who would notice most."""
    most = max(names, key=lambda name: abs(after[name] - paid[name]))
    moved = round(sum(abs(after[name] - paid[name]) for name in names) / 2, 2)
    sentence = (
        f"Payments {words}: {moved:,.2f} would change hands; most for {most}, who would be paid {after[most]:,.2f} "
        f"instead of {paid[most]:,.2f}."
    )
    return {"setting": words, "payments": after, "sentence": sentence}


def _copies_words(found: Answer) -> str:
    copies = found.layout.copies
    assert copies is not None
    near = f" within a distance of {copies.distance:g}" if copies.distance else ""
    if not copies.between:
        return f"No two owners have copies of each other's rows{near}; {copies.n_rows:,} rows repeat others in all."
    pairs = "; ".join(f"{one} and {other}, {count:,}" for one, other, count in copies.between[:5])
    more = f"; and {copies.n_pairs - 5} more pairs" if copies.n_pairs > 5 else ""
    return f"Owners with copies of the same rows{near}: {pairs}{more}."


def _half(problem: Problem, number: int, seed: int) -> Problem:
    return [part for _, part in problems_of_groups(problem, 2, seed)][number]


def _taken(table: Table, target: Target, index: NDArray[np.intp]) -> Changed:
    return table.take_rows(index), target.take(index), index


def _shuffled(table: Table, target: Target, index: list[NDArray[np.intp]]) -> Changed:
    return take_cells(table, index[:-1]), target.take(index[-1]), index[-1]


def _blanked(table: Table, target: Target, gone: NDArray[np.bool_]) -> Changed:
    return blank_cells(table, gone), target, np.arange(table.n_rows)


def _added_rows(regions: Regions, owner: int, first: int, *, same_name: bool) -> Regions:
    """Rows from some position on are one owner's alone, or those of a second name of it, in the columns that it has."""
    rows, mine = regions.rows.copy(), regions.owner == owner
    added = rows[mine].copy()
    added[:, :first] = False
    rows[:, first:] = False
    names = regions.names if same_name else [*regions.names, _shell_name(regions.names[owner], 2)]
    old = replace(regions, rows=rows)
    number = owner if same_name else len(names) - 1
    new = replace(
        regions, owner=np.full(len(added), number), rows=added, columns=regions.columns[mine]
    )
    return _joined(names, [old, new])


def _set_apart(regions: Regions, owner: int, rows: NDArray[np.intp]) -> Regions:
    """Some rows of an owner are those of a shell."""
    mine = regions.owner == owner
    apart, left = regions.rows[mine].copy(), regions.rows.copy()
    inside = np.zeros(regions.rows.shape[1], dtype=bool)
    inside[rows] = True
    left[np.ix_(mine, inside)] = False
    names = [*regions.names, _shell_name(regions.names[owner], 2)]
    shell = replace(
        regions,
        owner=np.full(len(apart), len(names) - 1),
        rows=apart & inside,
        columns=regions.columns[mine],
    )
    return _joined(names, [replace(regions, rows=left), shell])


def _joined(names: list[str], pieces: list[Regions]) -> Regions:
    return replace(
        pieces[0],
        names=names,
        owner=np.concatenate([part.owner for part in pieces]).astype(np.intp),
        rows=np.concatenate([part.rows for part in pieces]),
        columns=np.concatenate([part.columns for part in pieces]),
    )


def _shell_name(name: str, number: int) -> str:
    return f"{name} (shell {number})"
