"""The K-nearest-neighbour game of every split of a problem: what the column axis is computed from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.streams import generator
from shapley2d._knn.columns.sampling import DEFAULT_MAX_COALITIONS
from shapley2d._knn.metric import integer_columns
from shapley2d._knn.rounding import rounding_bound
from shapley2d._knn.row_values import FAST_ROWS, RowValues, row_values
from shapley2d._methods.knn.backend import backend_name
from shapley2d._methods.knn.choices import FEW_COLUMNS
from shapley2d._methods.knn.pieces import Keeper, MeanValues
from shapley2d._methods.knn.valid_chunks import deal_rows, in_turn
from shapley2d._theory.semivalues import marginal_weights

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from shapley2d._knn.cuda.device import Device
    from shapley2d._knn.distances import IntegerColumns
    from shapley2d._methods.run import Run
    from shapley2d._tables.problem import Problem


class SplitGame:
    """The row values of every split under a column coalition, averaged into one table."""

    def __init__(
        self,
        problem: Problem,
        run: Run,
        n_neighbors: int,
        metric: str,
        baseline: str,
        device: Device | None = None,
        *,
        small: bool = False,
        cluster: Any = None,
    ) -> None:
        self.n_rows = problem.table.n_rows
        self.n_columns = problem.table.n_columns
        self.baseline = baseline
        self.device = device
        self.info: dict[str, Any] = {
            "metric": metric,
            "n_neighbors": int(n_neighbors),
            "backend": backend_name(device),
        }
        self.column_semivalue = run.semivalues[1]
        self.rows = [split.rows for split in problem.splits]
        self._options = {
            "task": problem.target.task,
            "n_neighbors": int(n_neighbors),
            "semivalue": run.semivalues[0],
            "n_jobs": run.n_jobs if cluster is None else 1,  # a worker of a cluster is one of many
            "device": device,
            "small": small,
        }
        self.is_small = small
        self.path: Any = None
        self.valid_rows = "all"
        self._cluster = cluster
        self._problem = problem
        self._splits = problem.splits
        self._columns: list[IntegerColumns] = []
        self.n_valid = sum(split.valid.n_rows for split in problem.splits)
        self.seed = run.seed
        self.parts: list[RowValues] = []
        self._bound: float | None = None
        self.form = ""

    @property
    def columns(self) -> list[IntegerColumns]:
        """The tables of the splits in code."""
        if not self._columns:
            self._columns = [
                integer_columns(split.train, split.valid, self.info["metric"])
                for split in self._splits
            ]
        return self._columns

    def make_parts(self, form: str) -> list[RowValues]:
        """The row kernels of every split."""
        options: dict[str, Any] = {**self._options, "form": form}
        return [
            row_values(
                columns,
                split.y.codes,
                split.y_valid.codes,
                valid_weights=split.valid_weights,
                **options,
            )
            for columns, split in zip(self.columns, self._splits, strict=True)
        ]

    @property
    def first_form(self) -> str:
        """The form to begin with: on a GPU the fast one, where that is another."""
        return "fast" if self.device is not None and self.is_large else "exact"

    @property
    def is_large(self) -> bool:
        """Whether the fast form is another than the exact one."""
        return all(rows.size >= FAST_ROWS for rows in self.rows)

    @property
    def is_binned(self) -> bool:
        """Whether rows are in bins whose errors have to be estimated."""
        return any(part.is_binned for part in self.parts)

    def use_form(self, form: str) -> None:
        """Set up the row kernels in their exact or their fast form."""
        self.form, self.parts, self._bound = form, self.make_parts(form), None

    def bounds(self) -> dict[str, float]:
        """How far off values can be because distances are rounded."""
        if self._bound is None:
            self._bound = rounding_bound(self.parts, self.columns, self.seed)
        return {"metric_bound": self._bound}

    def keeper(self, run: Run) -> Keeper:
        """What keeps the work that is done, in the form that was chosen."""
        if self.path is None:
            return Keeper(None, self._cluster)
        from shapley2d._methods.identity import checkpoint_of, identity_of_sums

        rows = sum(rows.size + 1 for rows in self.rows)
        further = 0 if run.sums is None else len(run.sums) ** 2 + len(run.sums)
        chunks = 3 * rows * (self.n_columns + 1) + (8 + 2 * further + self.n_columns**2) * len(
            self.rows
        )
        lines = (DEFAULT_MAX_COALITIONS + 2**FEW_COLUMNS) * (self.n_rows + self.n_columns)
        checkpoint = checkpoint_of(
            self.path,
            run,
            {},
            method="knn",
            problem=self._problem,
            max_bytes=8 * max(chunks, lines),
            unit="pieces of work",
            baseline=self.baseline,
            valid_rows=self.valid_rows,
            form=self.form,
            small=bool(self._options["small"]),
            **self.info,
            **identity_of_sums(run),
        )
        return Keeper(checkpoint, self._cluster)

    def column_weights(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What coalitions of every size count for the columns in them, and for the others."""
        joining = marginal_weights(self.column_semivalue, self.n_columns)
        weights_in, weights_out = np.append(0.0, joining), np.append(joining, 0.0)
        if self.baseline == "zero":
            weights_out[0] = 0.0
        return weights_in, weights_out

    def valid_chunks(
        self, rows_of: Callable[[RowValues], int]
    ) -> list[tuple[int, NDArray[np.intp]]]:
        """Random chunks of validation rows, the splits in turn, so that a partial run covers all of them alike.

        Parameters
        ----------
        rows_of : callable
            How many validation rows a chunk of a split has at most.
        """
        random = generator(self.seed, "validation chunks")
        return in_turn(
            [
                deal_rows(split.y_valid.codes, rows_of(part), random)
                for part, split in zip(self.parts, self._splits, strict=True)
            ]
        )

    @property
    def values(self) -> MeanValues:
        """One row of row values per column coalition, mean over the splits."""
        return MeanValues(self.parts, self.rows, self.n_rows, empty_is_zero=self.baseline == "zero")
