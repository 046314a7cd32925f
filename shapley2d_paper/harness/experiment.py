"""An experiment: separate pieces of work, a figure, and claims of the paper to judge."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records, Row

Verdict = Literal["holds", "holds in part", "does not hold"]


class Unavailable(Exception):  # noqa: N818  (not an error: the piece is left out)
    """Data or a package that a piece needs is not on this machine."""


@dataclass(frozen=True)
class Piece:
    """A part of an experiment that is computed, kept and resumed as a whole.

    Attributes
    ----------
    name : str
        Names the piece's file: letters, digits, ``-``, ``_`` and ``.``.
    settings : dict
        Arguments of the experiment's ``work``, as JSON can hold them. ``seed`` must be one of them.
    """

    name: str
    settings: dict[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What our figures say of a claim.

    Attributes
    ----------
    verdict : {"holds", "holds in part", "does not hold"}
    ours : str
        Our figure beside the paper's, in a few words.
    why : str
        Which part holds, or why it does not; where it holds, what to keep in mind.
    """

    verdict: Verdict
    ours: str
    why: str


@dataclass(frozen=True)
class Claim:
    """A statement of the paper.

    Attributes
    ----------
    statement : str
        What is claimed.
    paper : str
        The paper's figure.
    judge : callable
        From the records of the experiment's CSV file to a :class:`Judgement`; None while some that
        it needs are missing.
    """

    statement: str
    paper: str
    judge: Callable[[Records], Judgement | None]


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper.

    Attributes
    ----------
    name : str
        On the command line, and of its files.
    title : str
    about : str
        What is done, in Markdown: the set-up, and where it differs from the paper's.
    pieces : callable
        ``pieces(quick)``: what there is to compute.
    work : callable
        ``work(**settings)``: the records of one piece. A function of a module, so that a worker
        process can import it; whatever code of this package can change a number is in that module
        or imported there.
    draw : callable
        The figure of all records.
    tables : callable
        Tables for the page: a list of (caption, rows), every row a dict of texts.
    headline : callable
        One sentence with the main result.
    claims : tuple of Claim
    alone : bool
        Whether its pieces are timed, so that nothing may run beside them.
    """

    name: str
    title: str
    about: str
    pieces: Callable[[bool], list[Piece]]
    work: Callable[..., list[Row]]
    draw: Callable[[Records], Figure]
    tables: Callable[[Records], list[tuple[str, list[dict[str, str]]]]]
    headline: Callable[[Records], str]
    claims: tuple[Claim, ...] = field(default=())
    alone: bool = False
