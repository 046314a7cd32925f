"""The scikit-learn estimator that inspects a table, and judges and cleans rows by it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from shapley2d._base.checks import check_choice
from shapley2d._base.json_record import check_form
from shapley2d._base.warnings import without_warnings
from shapley2d._inspection.inspect import inspect_cells
from shapley2d._inspection.inspection import Inspection
from shapley2d._inspection.repair import check_probability
from shapley2d._inspection.tables.changes import change_cells
from shapley2d._tables.convert import as_table
from shapley2d._tables.intake import collected, names_columns
from shapley2d._tables.target import TASKS
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    import os
    from typing import Self


REPLACEMENTS = ("expected", "missing")
"""What a suspicious entry becomes."""

_KEPT = ("probability", "replacement", "task")
"""Parameters that a file keeps beside the inspection."""


class CellInspector(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Find the entries of a table that are likely wrong, as a scikit-learn transformer.

    ``fit`` inspects a table; ``inspect`` judges new rows by it, and ``transform`` replaces
    suspicious entries. Rows of the fitted table are recognized by their entries, in any order and
    in any part of the table; others are judged as new. Labels are inspected, too, but a transformer
    cannot change them.

    Parameters
    ----------
    probability : float
        Entries that are wrong with at least this probability are replaced.
    replacement : {"expected", "missing"}
        By the entry that is expected there, or by a missing one (whole numbers then become floats).
    task, kinds, random_state, n_jobs, progress, max_time
        As in :func:`shapley2d.inspect_cells`; there is no progress bar by default.

    Attributes
    ----------
    scores_, probability_ : ndarray of shape (n_samples, n_features)
        How unusual every entry is, and how likely it is wrong.
    label_scores_, label_probability_ : ndarray of shape (n_samples,) or None
        The same of the labels; None without labels.
    suspicious_ : ndarray of bool of shape (n_samples, n_features)
        The entries that ``transform`` replaces.
    inspection_ : Inspection
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d import CellInspector
    >>> size = np.arange(60.0) % 20
    >>> X = np.column_stack([size, size + 5, 30 - size])
    >>> X[7, 1] = 500
    >>> inspector = CellInspector(replacement="missing").fit(X)
    >>> int(inspector.scores_.argmax()), inspector.transform(X)[7].tolist()
    (22, [7.0, nan, 23.0])
    >>> inspector.transform([[3.0, 8.0, 700.0]]).tolist()
    [[3.0, 8.0, nan]]
    """

    def __init__(
        self,
        *,
        probability: float = 0.5,
        replacement: str = "expected",
        task: str = "auto",
        kinds: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
        progress: Any = False,
        max_time: Any = None,
    ) -> None:
        self.probability = probability
        self.replacement = replacement
        self.task = task
        self.kinds = kinds
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.progress = progress
        self.max_time = max_time

    def fit(self, X: Any, y: Any = None) -> Self:
        """Inspect the cells of X and, where they are given, the labels y.

        Parameters
        ----------
        X : table
        y : labels or numbers, optional
        """
        self._check()
        X = collected(X)
        names = ("task", "kinds", "random_state", "n_jobs", "progress", "max_time")
        settings = {name: getattr(self, name) for name in names}
        inspection = inspect_cells(X, y, **settings)
        return self._set(inspection, named=names_columns(X))

    def _check(self) -> None:
        check_probability(self.probability)
        check_choice(self.replacement, "replacement", REPLACEMENTS)

    def _set(self, inspection: Inspection, *, named: bool) -> Self:
        """Take over the inspection of a table, whose columns may have names."""
        self.inspection_ = inspection
        self.scores_ = inspection.scores
        self.probability_ = inspection.probability
        self.suspicious_ = inspection.probability >= self.probability
        self.label_scores_ = inspection.label_scores
        self.label_probability_ = inspection.label_probability
        self.n_features_in_ = inspection.shape[1]
        if named:
            self.feature_names_in_ = np.array(inspection.column_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._replaced = self._replacements()
        return self

    def inspect(self, X: Any, y: Any = None) -> Inspection:
        """Judge new rows by the fitted table, each as if it were one more row of it.

        Parameters
        ----------
        X : table with the columns of the fitted one
        y : labels or numbers, optional

        Returns
        -------
        Inspection
            Its findings tell what is new.

        Examples
        --------
        >>> from shapley2d import CellInspector
        >>> trusted = {"size": ["S", "M", "L"] * 400, "width": [10, 12, 14] * 400}
        >>> inspector = CellInspector().fit(trusted)
        >>> found = inspector.inspect({"size": ["XM"], "width": [12]})
        >>> "new category" in {finding.kind for finding in found.findings}
        True
        """
        check_is_fitted(self, "inspection_")
        return inspect_cells(
            X,
            y,
            reference=self.inspection_,
            kinds=self.kinds,
            n_jobs=self.n_jobs,
            progress=self.progress,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted table, its inspection and the parameters to a Parquet file.

        Another process that loads it judges new rows the same, bit by bit. The file is an
        inspection: :meth:`Inspection.load <shapley2d.Inspection.load>` reads it, too.
        """
        check_is_fitted(self, "inspection_")
        kept = {name: getattr(self, name) for name in _KEPT}
        kept["named"] = hasattr(self, "feature_names_in_")
        info = {**self.inspection_.info, "inspector": kept}
        replace(self.inspection_, info=info).save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> CellInspector:
        """Read an inspector that :meth:`save` wrote, or one of an inspection's file."""
        inspection = Inspection.load(path)
        kept = inspection.info.get("inspector", {"named": True})
        found = cls(kinds=inspection.info.get("kinds"))
        try:
            check_form(kept, {})
            check_choice(kept.get("task", "auto"), "task", TASKS)
            found.set_params(**{name: kept[name] for name in _KEPT if name in kept})
            found._check()
        except (InputError, TypeError, ValueError) as error:
            raise InputError(f"{path} is damaged: its parameters do not fit ({error})") from None
        return found._set(inspection, named=kept.get("named") is True)

    def transform(self, X: Any) -> Any:
        """X with suspicious entries replaced, as the same type.

        Parameters
        ----------
        X : table with the columns of the fitted one

        Returns
        -------
        table
            A frame or an array like X; ``set_output`` makes it another.
        """
        check_is_fitted(self, "inspection_")
        X = collected(X)
        with without_warnings():  # they were given when the table was fitted
            table = as_table(X, "X", self.kinds, self.inspection_._reference.table)
        # compares the number of columns and their names
        validate_data(self, X, reset=False, skip_check_array=True)
        changes: dict[str, dict[int, str | None]] = {}
        rows = zip(*(column.written() for column in table.columns), strict=True)
        unknown = []
        for i, row in enumerate(rows):
            if row not in self._replaced:
                unknown.append(i)
            for j, new in self._replaced.get(row, {}).items():
                changes.setdefault(table.column_names[j], {})[i] = new
        if unknown:
            # arrays have no names of their own
            columns = zip(table.columns, self.inspection_.column_names, strict=True)
            named = replace(table, columns=tuple(replace(one, name=name) for one, name in columns))
            found = self.inspect(named.take_rows(np.array(unknown)))
            for i, j in np.argwhere(found.probability >= self.probability).tolist():
                new = found._cells.expected_text(i, j) if self.replacement == "expected" else None
                changes.setdefault(table.column_names[j], {})[unknown[i]] = new
        native = np.array(X) if isinstance(X, (list, tuple)) else table.native
        return change_cells(native, changes) if changes else native

    def _replacements(self) -> dict[tuple[str | None, ...], dict[int, str | None]]:
        """New entries by column, for every row; none where nothing in it is suspicious.

        Equal rows share what is suspicious in any of them: nothing tells them apart later.
        """
        cells = self.inspection_._cells
        expected = self.replacement == "expected"
        entries = cells.entries[: self.n_features_in_]
        found: dict[tuple[str | None, ...], dict[int, str | None]] = {
            row: {} for row in zip(*entries, strict=True)
        }
        for i in np.flatnonzero(self.suspicious_.any(axis=1)).tolist():
            there = found[tuple(column[i] for column in entries)]
            for j in np.flatnonzero(self.suspicious_[i]).tolist():
                there.setdefault(j, cells.expected_text(i, j) if expected else None)
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
