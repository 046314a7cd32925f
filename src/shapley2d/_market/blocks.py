"""Values of blocks and of their owners."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from shapley2d._base.checks import check_choice, check_flag, check_whole
from shapley2d._base.defaults import FOLDS, SEMIVALUE
from shapley2d._base.progress import reporting
from shapley2d._base.warnings import warn_input
from shapley2d._base.words import counted, plural
from shapley2d._market.block_valuation import BlockValuation
from shapley2d._market.cell_sums import MAX_JOINT
from shapley2d._market.copies import RULES
from shapley2d._market.grid import count_sets
from shapley2d._market.job import BlocksJob
from shapley2d._market.layout import Named, claims_of
from shapley2d._market.named_rows import Clusters, named_rows
from shapley2d._market.owners import lookalikes
from shapley2d._market.parties import settle_parties
from shapley2d._market.receipts.digests import data_digests, in_one_order
from shapley2d._market.receipts.question import recorded
from shapley2d._market.sellers.look import double_claims, look_at_sellers
from shapley2d._methods.repeat_call import repeat_call
from shapley2d._methods.run import Run
from shapley2d._tables.frames import frame_kind
from shapley2d._tables.problem import read_tables
from shapley2d._tables.target import label_name
from shapley2d._valuation.cells import FOREST
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from shapley2d._market.job import Answer
    from shapley2d._market.sellers.look import Look
    from shapley2d._methods.method import Method
    from shapley2d._tables.splits import Splitter
    from shapley2d._theory.semivalues import Semivalue


def value_blocks(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    *,
    rows: Any = None,
    columns: Any = None,
    owners: Any = None,
    owner_column: str | None = None,
    parties: Literal["known", "anonymous"] | None = None,
    copies: Literal["one", "each"] | None = None,
    unclaimed: Literal["refuse", "drop"] = "refuse",
    valid_parts: int | None = None,
    look: bool = False,
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
) -> BlockValuation:
    """Value the blocks of a table, sets of rows by sets of columns, and their owners.

    Parameters
    ----------
    X, y, X_valid, y_valid
        As in :func:`~shapley2d.value_cells`. Without a validation table the blocks are cross-valued
        over ``cv`` folds; in each of them a set is its rows that train there.
    rows, columns : 1-D array, list, series or mapping, optional
        The set of every row and of every column: one label each, or a mapping from names to
        labels. ``rows`` may also be the name of a column of X, which is then not a feature; or
        ``"clusters"`` or ``"clusters=40"`` for that many clusters of similar rows. Left out, the
        axis is one set. Sets of one axis are its contributors: they are valued as ``owners``
        are, up to 256 of them with their copies (clusters are nobody's). Sets of both axes make
        a grid of blocks.
    owners : frame, list of dicts or path of a CSV or Parquet file, optional
        Who contributed what: the columns ``owner``, ``row`` and ``column``, one region per line. An
        empty row or column means all of them (the label too, where it is valued). An entry is a
        label of ``rows`` or ``columns``, a name, or a position; several of them as a list or
        separated by ``;``; or a range such as ``0-99``, both ends included. The table is cut into
        the coarsest grid that respects every owner's region, and the sets of ``rows`` and
        ``columns`` if given.
    owner_column : str, optional
        The column of X that names the owner of every row, instead of ``owners``; it is not a
        feature.
    parties : {"known", "anonymous"}, optional
        ``"known"``, the default: a contract says who the owners are, and each is one player. Its
        rows or columns join as a whole, whatever it claims of each, and a model that is trained on
        every set of owners judges what it adds (2D-Shapley of blocks). Rows that teach the model
        nothing are paid nothing; an owner that poses as two is paid more. ``"anonymous"``: anybody
        can take a name. Every cell is valued by itself, and a block or an owner is worth the sum of
        its cells. Splitting, merging and renaming owners changes no value; fabricated rows are
        paid. It is the default for clusters of rows, and for more than 256 sets, which are
        nobody's, unless the method trains a model; and for methods that value cells only, such as
        ``Forest``.
    copies : {"one", "each"}, optional
        What equal rows with one label count for. ``"one"``: they are one row, which its owners
        share equally, so that listing rows again adds nothing; rows that are equal as often among
        the validation rows are equal by chance, and each counts. ``"each"``: all of them count.
        ``"one"`` by default where there are owners, or sets of one axis, else ``"each"``.
        ``info["copies"]`` counts them, and warnings name owners who have copies of each other.
    unclaimed : {"refuse", "drop"}
        What happens to rows of which ``owners`` name no cell: they are refused, because rows that
        nobody answers for can change what others are paid, or left out of everything.
    valid_parts : int, optional
        Parts of the validation rows to leave out one at a time: the standard errors in ``owners``
        and the intervals of payments then include how much the values depend on the choice of
        validation rows. Under known parties a model that draws is trained once for every part, each
        time with another seed: values are means over these, and intervals include the model's own
        seed. 10 by default for owners; 0 where each part would cost one more valuation (methods
        other than ``KNN`` and ``Forest`` under anonymous parties).
    look : bool
        Whether to look at the owners' rows, as :func:`~shapley2d.audit_owners` does: the report
        says what was seen (``info["look"]``).
    method : Method or str, optional
        As in :func:`~shapley2d.value_cells`. By default ``MonteCarlo("forest")`` for known parties,
        and ``KNN()`` for anonymous ones. For known parties ``KNN`` and ``MonteCarlo`` evaluate all
        sets of owners where these are few (up to 4,096 utilities of a model, which is 11 owners,
        65,536 of nearest neighbours, if ``max_time`` allows), and sample random orders of owners
        where they are many; ``Exact`` takes all sets however many.
    task, kinds, include_label, cv, groups, time_order, valid_weight, scoring, baseline, semivalue
        As in :func:`~shapley2d.value_cells`.
    random_state, n_jobs, max_time, progress, checkpoint, cluster
        As in :func:`~shapley2d.value_cells`.

    Returns
    -------
    BlockValuation

    Examples
    --------
    >>> from shapley2d import value_blocks
    >>> X = [[0, 5, 1], [1, 5, 0], [9, 5, 1], [8, 5, 0]]
    >>> y = ["low", "low", "high", "high"]
    >>> grid = {"rows": ["A", "A", "B", "B"], "columns": ["bank", "shop", "shop"]}
    >>> v = value_blocks(X, y, X, y, method="exact", **grid)
    >>> v.shape, v.info["method"], v.info["n_utilities"], round(v.total, 6)
    ((2, 2), 'exact', 16, 0.5)
    """
    asked = locals()
    check_flag(look, "look")
    job = prepare_blocks(asked)
    by_cells = job.parties == "anonymous" and job.method.name != "forest"
    job = replace(job, run=job.run.advising(f"{FOREST}, usually in seconds" if by_cells else ""))
    valuation = make_valuation(job, job.answer(), asked)
    if not look or not job.owned:
        return valuation
    return replace(valuation, info={**valuation.info, "look": look_at_owners(job).record()})


def look_at_owners(job: BlocksJob) -> Look:
    """Look at the rows of every owner, copies too, beside the validation rows."""
    with reporting(job.run.progress, "looking at the owners' rows") as report:
        assert job.named.regions is not None
        return look_at_sellers(job.tables, job.named.regions, job.run.seed, report)


_READ = ("task", "kinds", "cv", "groups", "time_order", "valid_weight")
_SPLIT = ("valid_parts", "cv", "scoring", "baseline")


def prepare_blocks(asked: dict[str, Any]) -> BlocksJob:
    """Check the arguments of :func:`value_blocks`, and read its tables."""
    X, y, X_valid, owners = (asked[name] for name in ("X", "y", "X_valid", "owners"))
    run = Run.create(
        asked["random_state"], asked["semivalue"], asked["n_jobs"], asked["progress"],
        asked["max_time"], asked["checkpoint"], asked["cluster"],
    )  # fmt: skip
    check_flag(asked["include_label"], "include_label")
    if asked["valid_parts"] is not None:
        check_whole(asked["valid_parts"], "valid_parts", 0)
    check_choice(asked["unclaimed"], "unclaimed", ("refuse", "drop"))
    columns, by = asked["columns"], asked["owner_column"]
    X, X_valid, rows = named_rows(X, y, X_valid, asked["rows"], owners, by)
    # sets of both axes are blocks of a table, which nobody in particular contributed
    contributed = owners is not None or (rows is None) != (columns is None)
    # clusters are nobody's, and so are more sets than errors are kept jointly for
    named = owners is not None or by is not None
    owned = named or (
        contributed and not isinstance(rows, Clusters) and count_sets(rows, columns) <= MAX_JOINT
    )
    parties, method = settle_parties(
        asked["parties"], asked["method"], nobody=contributed and not owned
    )
    if asked["copies"] is not None:
        check_choice(asked["copies"], "copies", RULES)
    copies, claims = asked["copies"] or ("one" if owned else "each"), claims_of(owners)
    if not owned and copies != "each":
        raise InputError(
            Setting("copies", copies), " is about owners: name them by ", Setting("owners"), " or ",
            Setting("owner_column"),
        )  # fmt: skip
    tables = read_tables(
        X, y, X_valid, asked["y_valid"], validates=method.needs_validation,
        **{name: asked[name] for name in _READ},
    )  # fmt: skip
    label = label_name(y, tables.table.column_names) if asked["include_label"] else None
    option, drop = "rows" if by is None else "owner_column", asked["unclaimed"] == "drop"
    sets = Named.of(tables, rows, columns, claims, label, owned=owned, option=option, drop=drop)
    if tables.split is not None and contributed:
        tables = replace(tables, split=in_one_order(tables.split))
    return BlocksJob(
        tables, run, method, parties, copies, sets, **{name: asked[name] for name in _SPLIT}
    )


def make_valuation(job: BlocksJob, found: Answer, asked: dict[str, Any]) -> BlockValuation:
    """The result that users get; warns of what may be wrong about who owns what."""
    _warn_of_owners(job, found, asked)
    problem, estimate, grid = found.problem, found.summed.blocks, found.layout.grid
    ownership, copies, summed = found.layout.ownership, found.layout.copies, found.summed
    crossed = asked["X_valid"] is None and problem.splits
    by = job.method if job.parties == "anonymous" else found.method
    return BlockValuation(
        values=estimate.values,
        stderr=estimate.stderr,
        row_names=_row_names(grid.rows.names),
        column_names=[str(name) for name in grid.columns.names],
        row_stderr=summed.with_parts(estimate.row_stderr, 1),
        column_stderr=summed.with_parts(estimate.column_stderr, 0),
        dof=estimate.dof,
        info=job.run.record(
            kind="blocks",
            method=by.name,
            parties=job.parties,
            copies=None if copies is None else asdict(copies),
            task=problem.target.task,
            n_valid=problem.n_valid,
            folds=len(problem.splits) if crossed else None,
            splits=problem.how or None,
            weighted=asked["valid_weight"] is not None or None,
            label=problem.label,
            valid_parts=found.n_parts or None,
            intervals=_interval_words(found),
            settings={**problem.asked(), **job.method.settings()},
            about=by.about(estimate.info),
            call=repeat_call(
                value_blocks, asked | {"method": job.method, "random_state": job.run.seed}
            ),
            digests=data_digests(job, label_name(asked["y"], job.tables.table.column_names)),
            asked=None if ownership is None else recorded(asked, job.method),
            **estimate.info,
        ),
        history=estimate.history,
        _frame=frame_kind(asked["X"]),
        row_sizes=grid.rows.sizes,
        column_sizes=grid.columns.sizes,
        _owner_names=[] if ownership is None else ownership.names,
        _owner_shares=None if ownership is None else ownership.shares,
        _owner_values=summed.owners,
        _errors=summed.errors,
        _block_stderr=None if summed.replicates is None else summed.with_parts(estimate.stderr),
    )


def _interval_words(found: Answer) -> str:
    """What the intervals of owners include, in words."""
    parts = ["sampling"] if found.summed.blocks.stderr.any() else []
    if found.n_parts:
        parts.append(f"other validation rows ({found.n_parts} parts of them left out in turn)")
        if "n_seeds" in found.summed.blocks.info:
            parts.append("other seeds of the model (one for each part)")
    if not parts:
        return (
            "no error: the values of these tables are exact, "
            "but other validation rows would give others"
        )
    words = " and ".join(", ".join(parts).rsplit(", ", 1))
    info = found.summed.blocks.info
    if info.get("n_valid_used", found.problem.n_valid) < found.problem.n_valid:
        return f"{words}, of validation rows too"
    return words if found.n_parts else f"{words}, but not other validation rows"


def _warn_of_owners(job: BlocksJob, found: Answer, asked: dict[str, Any]) -> None:
    regions, copies = job.named.regions, found.layout.copies
    if regions is None or copies is None:
        return
    if job.run.semivalues != ("shapley", "shapley"):
        warn_input(
            "only Shapley values add up to what the table is worth: with ",
            Setting("semivalue"),
            ", payments are shares of what the owners' values happen to sum to",
        )
    for words in lookalikes(regions.names):
        warn_input(words)
    shared = list(double_claims(regions))
    if shared:
        more = f" {counted(len(shared) - 1, 'more pair')} of owners" if len(shared) > 1 else ""
        warn_input(f"{shared[0].sentence}{more and f'{more} share cells, too.'}")
    named = asked["owners"] is not None or asked["owner_column"] is not None
    if copies.between and (named or copies.rule != "each"):
        one, other, count = copies.between[0]
        left = copies.n_pairs - 1
        pairs = f"{counted(left, 'more pair')} of owners {plural(left, 'has', 'have')} copies"
        more = f", and {pairs}" if left else ""
        effect = {
            "one": ("their owners share what these are worth; find out who copied from whom",),
            "each": ("every copy is paid for; use ", Setting("copies", "one")),
        }[copies.rule]
        rows = counted(count, "row")
        warn_input(f"{one!r} and {other!r} have copies of the same {rows}{more}: ", *effect)


def _row_names(names: list[Any]) -> NDArray[Any]:
    """Names of the row sets as one type, so that files can hold them."""
    if all(isinstance(name, (int, np.integer)) and not isinstance(name, bool) for name in names):
        return np.array(names, dtype=np.int64)
    return np.array([str(name) for name in names], dtype=object)
