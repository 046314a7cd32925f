"""What an inspection found, as users get it: which entries are wrong, what they should say, and how to change them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.checks import check_choice
from shapley2d._base.words import printable
from shapley2d._results.inspected import Inspected, percent
from shapley2d._results.reasons import reasons_text
from shapley2d._tables.frames import FRAME_KINDS

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable


@dataclass(frozen=True, repr=False, eq=False)
class Inspection(Inspected):
    """Which entries of a table are wrong, and what they should say.

    Attributes
    ----------
    findings : Findings
        Everything that was found, the label being one more column behind the others.
    row_names : ndarray of shape (n,)
    values : ndarray of shape (n, p) or None
        What each cell is worth to a model, from the valuation that came along; NaN where that is
        not known.
    frame : str
        The kind of frame that the methods return: ``"pandas"``, ``"polars"`` or ``"pyarrow"``.
    digests : dict of str to str
        By which the columns of the table are known again.
    fingerprint : str
        By which the whole table is known again; files of decisions carry it.
    settled : frozenset of (int, int)
        Cells that a person has called right, by position: they are not listed again.
    info : dict
        How it came about. Plain JSON values.

    Examples
    --------
    >>> from shapley2d import inspect_cells
    >>> X = {"height": [150 + k % 40 for k in range(80)], "weight": [50.0 + k % 40 for k in range(80)]}
    >>> X["weight"][7] = 570.0
    >>> inspection = inspect_cells(X, progress=False)
    >>> inspection.rank(most=1)[["row", "column", "entry"]].values.tolist()
    [[7, 'weight', '570']]
    """

    def repair(
        self,
        X: Any,
        *,
        cells: Any = None,
        most: int | None = None,
        probability: float | None = None,
        findings: Iterable[int] | None = None,
        y: Any = None,
    ) -> Any:
        """A repaired copy of the table, and a log of what was changed. X itself is never changed.

        Give one or more of ``cells``, ``most``, ``probability`` and ``findings``; what several of
        them choose is changed once. Cells called right stay as they are.

        Parameters
        ----------
        X : the table that was inspected
            Another one is refused. It may have further columns, such as the label.
        cells : list of (row, column) or (row, column, entry), boolean array, frame, or path of a file of decisions
            Rows and columns by name. Where no entry is given, the expected one is taken.
        most : int
            The cells most likely wrong.
        probability : float
            All cells at least so likely wrong.
        findings : list of int
            What these findings about columns suggest, by their position in :attr:`columns`.
        y : the labels that were inspected, optional
            Where they are not a column of X: they are repaired too, and returned behind the table.

        Returns
        -------
        table, log
            Or table, y, log where ``y`` was given. The table is of the kind of X, its columns of
            the same types wherever the new entries fit. The log is a frame of ``row``, ``column``,
            ``before``, ``after`` and ``why``.

        Examples
        --------
        >>> from shapley2d import inspect_cells
        >>> X = {"height": [150 + k % 40 for k in range(80)], "weight": [50.0 + k % 40 for k in range(80)]}
        >>> X["weight"][7] = 570.0
        >>> clean, log = inspect_cells(X, progress=False).repair(X, most=1)
        >>> log[["row", "column", "before"]].values.tolist()
        [[7, 'weight', '570']]
        """
        from shapley2d._results.repair import repair

        return repair(
            self, X, cells=cells, most=most, probability=probability, findings=findings, y=y
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the inspection to a Parquet file: a tidy table that any Parquet reader opens, whole or not at all."""
        from shapley2d._results.inspection_storage import save_inspection

        save_inspection(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], frame: str | None = None) -> Inspection:
        """Read an inspection that :meth:`save` wrote.

        Parameters
        ----------
        path : path-like
        frame : {"pandas", "polars", "pyarrow"}, optional
            The kind of frame that its methods return; by default that of the table that was
            inspected.
        """
        from shapley2d._results.inspection_storage import read_inspection

        if frame is not None:
            check_choice(frame, "frame", FRAME_KINDS)
        fields = read_inspection(path)
        return cls(**(fields if frame is None else fields | {"frame": frame}))

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a page on which a person decides: one HTML file that opens in any browser, offline.

        Parameters
        ----------
        path : path-like
        **options
            ``title``. ``most``: how many suspects to list. ``by``: their order, as in :meth:`rank`.
        """
        from shapley2d._results.inspection_page import write_inspection

        write_inspection(self, path, **options)

    def __repr__(self) -> str:
        n, m = self.shape
        label = f" and the label {printable(self.label_name or '')!r}" if self.has_label else ""
        head = f"Inspection of {n} rows x {m} columns{label}"
        lines = [
            f"{head}: about {self.expected_errors:,.0f} of {self.findings.scores.size:,} entries are wrong"
        ]
        for flat in self.order("wrong", 3).tolist():
            i, j = divmod(flat, self.findings.scores.shape[1])
            lines.append(
                f"  {self.findings.probability[i, j]:.0%}".replace("%", " %")
                + f"  row {printable(str(self.row_names[i]))}, "
                f"{self.all_names[j]!r}: {self.entries[j][i]!r}, expected {self.expected_text(i, j)!r}"
            )
        lines += [f"  {printable(finding.text)}" for finding in self.columns[:3]]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """The short table that a notebook shows."""
        n, m = self.shape
        rows = []
        for flat in self.order("wrong", 10).tolist():
            i, j = divmod(flat, self.findings.scores.shape[1])
            said = [
                str(self.row_names[i]),
                self.all_names[j],
                self.entries[j][i],
                self.expected_text(i, j),
            ]
            cells = "".join(
                f"<td>{html.escape('(empty)' if text is None else text)}</td>" for text in said
            )
            why = html.escape(reasons_text(self.reasons(i, j)))
            rows.append(
                f"<tr>{cells}<td>{percent(self.findings.probability[i, j])}</td><td>{why}</td></tr>"
            )
        found = "".join(f"<li>{html.escape(finding.text)}</li>" for finding in self.columns[:10])
        return (
            f"<div><p><b>Inspection</b> of {n} rows &times; {m} columns: about {self.expected_errors:,.0f} of "
            f"{self.findings.scores.size:,} entries are wrong</p>"
            + (f"<ul>{found}</ul>" if found else "")
            + "<table><thead><tr><th>row</th><th>column</th><th>entry</th><th>expected</th><th>wrong</th><th>why</th>"
            f"</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
        )
