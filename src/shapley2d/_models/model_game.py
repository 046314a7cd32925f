"""The game of a scikit-learn model: trained on a coalition's rows and columns, then scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from shapley2d._base.warnings import without_warnings
from shapley2d._models.fitting import Trainer
from shapley2d._models.function import describe_coalition
from shapley2d._models.pruning import names_columns, prune_columns
from shapley2d._tables.encoding import encode_tables
from shapley2d._tables.table import native_columns
from shapley2d._theory.axes import nested

if TYPE_CHECKING:
    from shapley2d._base.arrays import Bools, Floats, Ints
    from shapley2d._tables.problem import Split

    _Data = tuple[Any, Any, Any]  # training table, validation table, and the model for them


class ModelGame:
    """The performance of a model trained on rows S and columns F, on a validation table.

    A ``model`` of None is a decision tree, as in the paper; random parts without a seed are seeded
    with ``random_state``, so that a coalition has one utility. ``scoring`` None takes the model's
    own score.

    ``preprocess="auto"`` gives the model numbers: categories one-hot, missing numbers unchanged if
    the model takes them, else filled by the mean of the coalition's rows. ``"none"`` gives it the
    user's table, cut to the coalition, for pipelines that encode by themselves; a model with a
    ``ColumnTransformer`` always gets it, and columns outside the coalition are taken out of its
    lists.

    With ``truncation``, along a permutation of the rows: once the utility is that close to the
    utility of all rows under the same columns, the latter is taken for the rest, untrained
    (TMC-Shapley, Ghorbani and Zou, ICML 2019).

    The ``baseline`` is what a coalition is worth that has nothing to learn from. ``"labels"``:
    without columns, the score of the best constant prediction from its rows (see
    :mod:`shapley2d._models.constant`); without rows, that of a blind guess; a column that is the
    same in all of a coalition's rows is left out before training. ``"zero"``: 0, and every column
    is trained on, as in the paper.
    """

    compiled = False

    def __init__(
        self,
        model: Any,
        split: Split,
        *,
        preprocess: Literal["auto", "none"] = "auto",
        truncation: float | None = None,
        baseline: str = "labels",
        **asked: Any,
    ) -> None:
        train, valid = split.train, split.valid
        weights = split.valid_weights
        self._trainer = Trainer(model, split.y, split.y_valid, weights=weights, **asked)
        self.n_rows = train.n_rows
        self.n_columns = train.n_columns
        self._row_names = train.row_names
        self._column_names = train.column_names
        self._names_columns = names_columns(self.model)
        encodes = preprocess == "auto" and not self._names_columns
        self._encoded = encode_tables(train, valid) if encodes else None
        self._native = None if encodes else (train.native, valid.native)
        if self._names_columns:  # wrong names are told before anything is trained
            prune_columns(self.model, train.native, self._column_names, np.arange(self.n_columns))
        self._truncation = truncation
        self._from_constant = baseline == "labels"
        self._whole_valid = valid.native if self._encoded is None else self._encoded.valid
        self._entries = np.stack([column.entries for column in train.columns], axis=1)

    @property
    def model(self) -> Any:
        """The model that is trained, with every open seed set."""
        return self._trainer.model

    def utilities(self, rows: Bools, columns: Bools) -> Floats:
        """Train and score the model on every pair of coalitions that it can learn from."""
        return self._scores(rows, columns, None)

    def grid(self, row_order: Ints, column_order: Ints, start: int = 0) -> Floats:
        """The same for nested coalitions, of at least ``start`` columns; truncated if asked for."""
        return self._scores(nested(row_order), nested(column_order)[start:], self._truncation)

    def _scores(self, rows: Bools, columns: Bools, truncation: float | None) -> Floats:
        matrix = np.zeros((len(rows), len(columns)))
        teaching: dict[int, Bools] = {}  # by row coalition
        everyone = np.ones(self.n_rows, dtype=bool)
        with without_warnings():  # models warn about tables of a few rows, which coalitions are
            for b, column_mask in enumerate(columns):
                data: dict[bytes, _Data] = {}
                full = None
                if truncation is not None and column_mask.any():
                    full = self._utility(everyone, column_mask, self._teaching(everyone), data)
                    matrix[1:, b] = full
                for a, row_mask in enumerate(rows):
                    if a not in teaching:
                        teaching[a] = self._teaching(row_mask)
                    matrix[a, b] = self._utility(row_mask, column_mask, teaching[a], data)
                    if full is None or truncation is None or not row_mask.any():
                        continue
                    if abs(matrix[a, b] - full) <= truncation:
                        break
        return matrix

    def _teaching(self, row_mask: Bools) -> Bools:
        """Which columns a model can learn from in a row coalition."""
        members = np.flatnonzero(row_mask)
        if not self._from_constant:
            return np.full(self.n_columns, bool(members.size))
        if not members.size or not self._trainer.learns(members):
            return np.zeros(self.n_columns, dtype=bool)
        first, part = self._entries[members[0]], self._entries[members]
        same = (part == first) | (np.isnan(part) & np.isnan(first))
        return np.asarray(~same.all(axis=0))

    def _utility(
        self, row_mask: Bools, column_mask: Bools, teaching: Bools, data: dict[bytes, _Data]
    ) -> float:
        """The utility of one coalition; ``data`` keeps the tables under some of its columns."""

        def describe() -> str:
            return describe_coalition(row_mask, column_mask, self._row_names, self._column_names)

        rows, members = np.flatnonzero(row_mask), np.flatnonzero(column_mask & teaching)
        if members.size:
            key = members.tobytes()
            if key not in data:
                data[key] = self._under_columns(members)
            train, valid, model = data[key]
            if model is not None:
                return self._trainer.utility(model, train, valid, rows, describe)
        if not self._from_constant:
            return 0.0
        return self._trainer.constant(self._whole_valid, rows, describe)

    def _under_columns(self, members: Ints) -> _Data:
        """Both tables under some columns, and the model for them; None if it looks at no column."""
        if self._native is not None:
            train, valid = self._native
            model = self.model
            if self._names_columns:
                model = prune_columns(model, train, self._column_names, members)
            return native_columns(train, members), native_columns(valid, members), model
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
