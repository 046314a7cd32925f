"""Which rows and columns are copies, and what copies count for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from shapley2d._base.checks import check_choice, check_number

RULES = ("one", "first", "escrow", "each")
"""A cluster of copies counts as one row of all its owners, of the first, of nobody, or each."""


@dataclass(frozen=True, repr=False)
class Copies:
    """What duplicate rows, with one label, and duplicate columns count for.

    Parameters
    ----------
    rule : {"one", "first", "escrow", "each"}
        ``"one"``: they are one row or column, which all of its owners share equally, so that
        listing rows again adds nothing. ``"first"``: they are one, which belongs to the owner of
        the first of them in the table. ``"escrow"``: they are one, and what a cell with several
        owners is worth, copied or claimed by several, goes to the entry ``"(escrow)"``, to be
        withheld until it is known whose it is. ``"each"``: all of them count.
    distance : float or "auto"
        Which rows are copies. ``"auto"`` compares with a validation table: rows that are nearer to
        one another than independent rows would be more than once in 10,000 times, and equal rows,
        unless validation rows are equal as often. Without a validation table equal rows are copies.
        A number: rows within this distance, the mean over columns of their distance, where two
        random rows are 1 apart, and a missing entry counts as much beside any other; 0 for equal
        rows alone. Two missing entries are equal. All copies of one row are copies of one another:
        a chain of near rows is none.
    r2 : float
        Where owners have different columns: those of which one predicts the other with at least
        this R squared, or ranks by ranks, or up to a map that keeps the order, are copies; for
        words, other names of the same groups. 0 leaves columns alone.

    Examples
    --------
    >>> from shapley2d import Copies
    >>> Copies("each").r2
    0.99
    """

    rule: Literal["one", "first", "escrow", "each"] = "one"
    distance: float | Literal["auto"] = "auto"
    r2: float = 0.99

    def __post_init__(self) -> None:
        check_choice(self.rule, "copies", RULES)
        if not (isinstance(self.distance, str) and self.distance == "auto"):
            check_number(self.distance, "distance", zero=True)
        check_number(self.r2, "r2", zero=True)

    def given(self) -> dict[str, Any]:
        """The fields that differ from their defaults."""
        values = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default}

    def __repr__(self) -> str:
        return f"Copies({', '.join(f'{name}={value!r}' for name, value in self.given().items())})"
