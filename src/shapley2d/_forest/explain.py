"""Which training rows and cells made a prediction: the game of a single row, in its own units.

With a slope of 1 for the one row that is asked for, the values of all training cells, labels
included, sum to its prediction less what the model predicts without any rows. The cells of a row
sum to its Shapley value among all rows, given all columns: rows that are in no leaf with the
prediction add 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import get_tags

from shapley2d._base.checks import check_whole
from shapley2d._base.in_threads import count_threads
from shapley2d._base.warnings import without_warnings
from shapley2d._base.words import figure, shown
from shapley2d._forest.edits import class_of
from shapley2d._forest.ensemble import is_fitted, read_fitted
from shapley2d._forest.leaves import LeafGame
from shapley2d._forest.scores import hold_models
from shapley2d._models.fitting import check_task
from shapley2d._tables.convert import as_table
from shapley2d._tables.frames import frame_kind, make_frame
from shapley2d._tables.kinds import match_columns
from shapley2d._tables.problem import make_problem
from shapley2d._tables.target import LABEL
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from shapley2d._base.arrays import Floats, Ints

_ORDERS = 64  # random orders of the columns in leaves with too many of them


@dataclass(frozen=True, repr=False, eq=False)
class Explanation:
    """What every training cell adds to one prediction.

    Attributes
    ----------
    prediction : float
        What the model predicts, in ``unit``.
    baseline : float
        What is predicted without any rows: the first guess of a model, in regression forests the
        mean of the targets; 0 for a probability.
    unit : str
        What the trees add up in: the target; its logarithm in Poisson and Gamma models; a
        probability in classifying forests; log odds, or a log score of several classes.
    values : ndarray of shape (n, m + 1)
        What every cell of the training table adds, the label's last; they sum to ``prediction -
        baseline``, less what the rows do not explain (see :class:`~shapley2d.Forest`).
    exact : bool
        Whether nothing was sampled; leaves with more than 12 to 16 columns on their path are.
    row_names, column_names : list
    """

    prediction: float
    baseline: float
    unit: str
    values: Floats
    exact: bool
    row_names: list[Any]
    column_names: list[str]
    _texts: Any = None
    _kind: str = "pandas"

    @property
    def row_values(self) -> Floats:
        """What every training row adds."""
        return np.asarray(self.values.sum(axis=1))

    @property
    def column_values(self) -> Floats:
        """What every column adds."""
        return np.asarray(self.values.sum(axis=0))

    def rows(self, n: int = 10, *, down: bool = False) -> Any:
        """The training rows that pulled the prediction up most, or down, as a frame.

        Parameters
        ----------
        n : int
        down : bool
        """
        sums = self.row_values
        order = self._first(sums, n, down=down)
        names = {"row": [self.row_names[i] for i in order], "adds": sums[order]}
        names["label"] = [self._texts(i, len(self.column_names) - 1) for i in order.tolist()]
        return make_frame(names, self._kind)

    def cells(self, n: int = 10, *, down: bool = False) -> Any:
        """The training cells that pulled the prediction up most, or down, as a frame.

        Parameters
        ----------
        n : int
        down : bool
        """
        order = self._first(self.values.ravel(), n, down=down)
        pairs = [divmod(cell, len(self.column_names)) for cell in order.tolist()]
        return make_frame(
            {
                "row": [self.row_names[i] for i, _ in pairs],
                "column": [self.column_names[j] for _, j in pairs],
                "content": [self._texts(i, j) for i, j in pairs],
                "adds": self.values.ravel()[order],
            },
            self._kind,
        )

    def _first(self, sums: Floats, n: int, *, down: bool) -> Ints:
        """The places of the ``n`` largest, or smallest, numbers."""
        check_whole(n, "n", 0)
        return np.argsort(sums if down else -sums, kind="stable")[:n]

    def __repr__(self) -> str:
        def words(names: list[Any], sums: Floats, places: Ints, form: str) -> str:
            return ", ".join(form.format(names[i], figure(sums[i], signed=True)) for i in places)

        rows, columns = self.row_values, self.column_values
        large = self._first(np.abs(columns), 5, down=False)
        up, down = (self._first(rows, 3, down=one) for one in (False, True))
        return (
            f"Prediction {figure(self.prediction, 4)} ({self.unit}), {figure(self.baseline, 4)} "
            f"without any rows\n  columns    {words(self.column_names, columns, large, '{} {}')}\n"
            f"  rows up    {words(self.row_names, rows, up, '{} ({})')}\n"
            f"  rows down  {words(self.row_names, rows, down, '{} ({})')}"
        )


class PredictionExplainer:
    """Explains predictions of a fitted tree ensemble by the rows that it was fitted on.

    Parameters
    ----------
    model : estimator
        A fitted tree ensemble of scikit-learn, LightGBM, XGBoost or CatBoost, or a pipeline that
        ends in one.
    X, y : table and target
        What it was fitted on.
    task : {"auto", "classification", "regression"}
        By default that of the model.
    kinds : mapping, optional
        Kinds of columns, as in :func:`~shapley2d.value_cells`.
    n_jobs : int

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> from shapley2d import PredictionExplainer
    >>> X, y = [[k, 5] for k in range(20)], [float(k > 12) for k in range(20)]
    >>> model = RandomForestRegressor(10, bootstrap=False, random_state=0).fit(X, y)
    >>> found = PredictionExplainer(model, X, y).explain([15, 5])
    >>> round(found.prediction, 2), round(found.baseline, 2)
    (1.0, 0.35)
    >>> found.row_values.round(2)[11:15].tolist()
    [0.0, 0.0, 0.09, 0.09]
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any,
        *,
        task: str = "auto",
        kinds: Mapping[str, str] | None = None,
        n_jobs: int = -1,
    ) -> None:
        if isinstance(model, str) or not is_fitted(model):
            raise InputError("model has to be fitted, for it is its prediction that is explained")
        if task == "auto" and hasattr(model, "fit"):  # the model knows
            task = {"classifier": "classification", "regressor": "regression"}.get(
                str(get_tags(model).estimator_type), task
            )
        with without_warnings():  # its own rows stand for those that will be asked for
            problem = make_problem(X, y, X, y, task=task, kinds=kinds)
        if hasattr(model, "fit"):
            check_task(model, problem.target.task)
        read = read_fitted(model, problem.splits[0])
        (self._held,) = hold_models(model, [read], problem)
        self._table, self._target = problem.table, problem.target
        self._game = LeafGame(
            read.owners,
            problem.table.n_rows,
            ("shapley", "shapley"),
            problem.table.n_columns,
            labelled=True,
        )
        self._kind, self._n_threads = frame_kind(X), count_threads(n_jobs)
        # what the trees were fitted on is kept for the next question
        self._games = list(self._held.games())

    def explain(self, row: Any, label: Any = None) -> Explanation:
        """What every training cell adds to the prediction of a row.

        Parameters
        ----------
        row : mapping, sequence, or table of one row
            The row that is predicted, with the columns of the training table.
        label : optional
            In classification, the class whose probability, or log odds, is explained; by default
            the one that is predicted.

        Returns
        -------
        Explanation
        """
        held = self._held
        places = held.model.places(held.model.see(self._read(row)))
        raw = held.model.predict(places, held.leaves)[0]
        output, sign, unit = self._output(raw, label)
        slopes = np.zeros((1, raw.size))
        slopes[0, output] = sign
        asked = [
            replace(leaves, weights=held.mass(t, places[t], slopes) * held.scales[t])
            for t, leaves in enumerate(self._games)
        ]
        asked = [leaves for leaves in asked if leaves.weights.any()]
        values = self._game.empty()
        parts, orders = [asked[k::4] for k in range(4)], (0, _ORDERS, 0)
        sampled = self._game.add_all(parts, orders, self._n_threads, values)
        baseline, names = float(sign * held.model.start[output]), self._table.column_names
        return Explanation(
            float(sign * raw[output]), baseline, unit, values[:, :-1], not sampled,
            self._table.row_names.tolist(), [*names, LABEL], self._text, self._kind,
        )  # fmt: skip

    def _read(self, row: Any) -> Any:
        """A row as a table like that of training."""
        if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:  # a series of pandas
            row = row.to_dict()
        if isinstance(row, list | tuple | np.ndarray):
            row = [list(row)] if np.ndim(row[0]) == 0 else row
            names = self._table.column_names
            if not isinstance(self._table.native, np.ndarray) and len(row[0]) == len(names):
                row = dict(zip(names, row[0], strict=True))
        if isinstance(row, dict) and not any(isinstance(one, list) for one in row.values()):
            row = make_frame({name: [entry] for name, entry in row.items()}, self._kind)
        with without_warnings():
            read = match_columns(as_table(row, "row", like=self._table), self._table, "row")
        if read.n_rows != 1:
            raise InputError(f"row has {read.n_rows:,} rows: pass one")
        return read

    def _output(self, raw: Floats, label: Any) -> tuple[int, float, str]:
        """The output to explain, its sign, and its unit in words."""
        loss, classes = self._held.model.loss, self._target.classes
        if not classes.size:
            if label is not None:
                raise InputError("label is for classification: leave it out")
            logs = loss.name.endswith("deviance")
            return 0, 1.0, "log of the target" if logs else "in units of the target"
        binary = raw.size == 1  # the output is for the second of two classes
        places = self._held.rows.places
        assert places is not None
        predicted = int(raw[0] > 0) if binary else int(raw.argmax())
        if label is None:
            known = np.flatnonzero(places[:-1] == predicted)
            name = classes[known[0]] if known.size else predicted
        else:
            code = class_of(self._target, label)
            if code is None:
                names = ", ".join(map(str, classes[:5].tolist()))
                raise InputError(f"label={shown(label)} is not a label of the table: {names}")
            name, predicted = label, int(places[code])
        if binary:
            return 0, 1.0 if predicted else -1.0, f"log odds of {name!s:.80}"
        unit = "probability" if loss.by_class else "log score"
        return predicted, 1.0, f"{unit} of {name!s:.80}"

    def _text(self, i: int, j: int) -> str:
        """An entry of the training table, or a label, as text."""
        if j == self._table.n_columns:
            return str(self._target.y[i])
        text = self._table.take_rows(np.array([i])).columns[j].text()[0]
        return "" if text is None else str(text)


def explain_prediction(model: Any, X: Any, y: Any, row: Any, *, label: Any = None) -> Explanation:
    """Which training rows and cells made the prediction of one row.

    The values of all training cells, labels included, sum to the prediction less what is predicted
    without any rows, in what the trees add up: the target, or its logarithm in Poisson and Gamma
    models; a probability in classifying forests; log odds, or log scores of several classes.
    Splits and what the trees were fitted on are held. For several rows make a
    :class:`~shapley2d.PredictionExplainer` once.

    Parameters
    ----------
    model : estimator
        A fitted tree ensemble, or a pipeline that ends in one; see :class:`~shapley2d.Forest`.
    X, y : table and target
        What it was fitted on.
    row : mapping, sequence, or table of one row
    label : optional
        In classification, the class to explain; by default the one that is predicted.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from shapley2d import explain_prediction
    >>> X, y = [[k, 5] for k in range(20)], ["low"] * 13 + ["high"] * 7
    >>> model = RandomForestClassifier(10, bootstrap=False, random_state=0).fit(X, y)
    >>> explain_prediction(model, X, y, [15, 5])
    Prediction 1.0000 (probability of high), 0 without any rows
      columns    (label) +0.675, x0 +0.325, x1 0
      rows up    13 (+0.143), 14 (+0.143), 15 (+0.143)
      rows down  0 (0), 1 (0), 2 (0)
    """
    return PredictionExplainer(model, X, y).explain(row, label)
