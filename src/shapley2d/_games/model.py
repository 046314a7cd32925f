"""The game of a scikit-learn model: trained on the rows and columns of a coalition, scored on a validation table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from shapley2d._base.warnings import without_warnings
from shapley2d._games.fitting import Trainer
from shapley2d._games.function import describe_coalition
from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.table import native_columns
from shapley2d._theory.coalitions import NestedCoalitions

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._tables.table import Table
    from shapley2d._tables.target import Target
    from shapley2d._theory.coalitions import Coalitions


class ModelGame:
    """The performance of a model trained on rows S and columns F, on a validation table.

    Parameters
    ----------
    model : scikit-learn estimator or pipeline, or None
        None takes a decision tree, as the paper does. Random parts without a seed are seeded with
        ``random_state``, so that a coalition has one utility.
    train, valid : Table
        Checked tables with the same columns.
    y, y_valid : Target
        Their targets.
    scoring : str, callable or None
        Any scikit-learn ``scoring``; None takes the model's own score (accuracy, or R squared).
    preprocess : {"auto", "none"}
        ``"auto"`` gives the model numbers: categories one-hot, missing numbers as they are if the model takes
        them, else filled by the mean of the coalition's rows. ``"none"`` gives it the table as it came, cut to
        the coalition's rows and columns, for pipelines that encode by themselves.
    truncation : float or None
        Along a permutation of the rows, once the utility is within ``truncation`` of that of all rows under the same
        columns, train no more under these columns and take that of all rows for the rest. None trains everywhere.
    random_state : int

    Notes
    -----
    No rows or no columns are worth 0. Rows of a single class predict that class, since many classifiers refuse
    to fit them. Classes that a coalition lacks get probability 0. A model that fails raises
    :class:`~shapley2d.exceptions.UtilityError` with the coalition named; there is no default score.

    Examples
    --------
    >>> import numpy as np
    >>> from shapley2d._theory.coalitions import SubsetCoalitions
    >>> from shapley2d._tables.convert import as_table
    >>> from shapley2d._tables.target import as_target
    >>> X = as_table([[0], [1], [2], [3]])
    >>> y = as_target([0, 0, 1, 1], X)
    >>> game = ModelGame(None, X, y, X, y)
    >>> float(game.utilities(SubsetCoalitions(4), SubsetCoalitions(1))[-1, 1])
    1.0
    """

    def __init__(
        self,
        model: Any,
        train: Table,
        y: Target,
        valid: Table,
        y_valid: Target,
        *,
        scoring: Any = None,
        preprocess: Literal["auto", "none"] = "auto",
        truncation: float | None = None,
        random_state: int = 0,
    ) -> None:
        self._trainer = Trainer(model, y, y_valid, scoring=scoring, random_state=random_state)
        self.n_rows = train.n_rows
        self.n_columns = train.n_columns
        self._row_names = train.row_names
        self._column_names = train.column_names
        self._encoded = encode_tables(train, valid) if preprocess == "auto" else None
        self._native = (train.native, valid.native) if preprocess == "none" else None
        self._truncation = np.nan if truncation is None else float(truncation)

    @property
    def model(self) -> Any:
        """The model that is trained, with every open seed set."""
        return self._trainer.model

    def utilities(self, rows: Coalitions, columns: Coalitions) -> NDArray[np.float64]:
        """Train and score the model on every pair of coalitions that has rows and columns."""
        matrix = np.zeros((len(rows), len(columns)))
        truncates = not math.isnan(self._truncation) and isinstance(rows, NestedCoalitions)
        with without_warnings():  # models warn about coalitions of a few rows, which games are made of
            for b, column_mask in enumerate(columns):
                members = np.flatnonzero(column_mask)
                if not members.size:
                    continue
                train, valid, model = self._under_columns(members)
                full = None
                if truncates:
                    full = self._utility(model, train, valid, np.arange(self.n_rows), column_mask)
                    matrix[1:, b] = full
                for a, row_mask in enumerate(rows):
                    chosen = np.flatnonzero(row_mask)
                    if not chosen.size:
                        continue
                    matrix[a, b] = self._utility(model, train, valid, chosen, column_mask)
                    if full is not None and abs(matrix[a, b] - full) <= self._truncation:
                        break
        return matrix

    def _under_columns(self, members: NDArray[np.intp]) -> tuple[Any, Any, Any]:
        """Training and validation data under some columns, and the model that takes them."""
        if self._native is not None:
            return (
                native_columns(self._native[0], members),
                native_columns(self._native[1], members),
                self.model,
            )
        encoded = self._encoded
        assert encoded is not None
        width = np.flatnonzero(np.isin(encoded.owners, members))
        model = self.model
        if not self._trainer.takes_missing and encoded.has_missing[members].any():
            model = make_pipeline(SimpleImputer(keep_empty_features=True), model)
        return (
            np.ascontiguousarray(encoded.train[:, width]),
            np.ascontiguousarray(encoded.valid[:, width]),
            model,
        )

    def _utility(
        self, model: Any, train: Any, valid: Any, rows: NDArray[np.intp], column_mask: NDArray[np.bool_]
    ) -> float:
        def describe() -> str:
            row_mask = np.zeros(self.n_rows, dtype=bool)
            row_mask[rows] = True
            return describe_coalition(row_mask, column_mask, self._row_names, self._column_names)

        return self._trainer.utility(model, train, valid, rows, describe)
