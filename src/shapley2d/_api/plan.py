"""What valuing cells will take, before it is done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._api.cells_task import cells_task
from shapley2d._base.defaults import FOLDS, SEMIVALUE

if TYPE_CHECKING:
    from shapley2d._results.plan import Plan


def plan_cells(
    X: Any,
    y: Any,
    X_valid: Any = None,
    y_valid: Any = None,
    method: str = "knn",
    *,
    include_label: bool = False,
    task: str = "auto",
    kinds: Any = None,
    cv: Any = FOLDS,
    groups: Any = None,
    time: Any = None,
    valid_weight: Any = None,
    precedence: Any = None,
    semivalue: Any = SEMIVALUE,
    random_state: Any = 0,
    n_jobs: int | None = None,
    progress: Any = "auto",
    **options: Any,
) -> Plan:
    """Say what :func:`value_cells` with the same arguments will take: work, time and memory here, and workers.

    The tables are read and checked as for the run. Then the real work is done for about a second,
    on the real table and a few validation rows, and multiplied by how much of it there is. Where a
    tolerance decides how much, a pilot on few rows says how the error falls, and counts and times
    are ranges. Nothing is written, and the values of a later run do not depend on it.

    Parameters
    ----------
    X, y, X_valid, y_valid, method, include_label, task, kinds, cv, groups, time, valid_weight,
    precedence, semivalue
        As of :func:`value_cells`.
    random_state, n_jobs, progress
        As of :func:`value_cells`.
    **options
        Of the method; None takes the default.

    Returns
    -------
    Plan
        ``plan.seconds`` and ``plan.memory`` are those of this machine; ``plan.workers(600)`` says
        how many workers are done in ten minutes. Methods that cannot be priced say why
        (``plan.reason``).

    See Also
    --------
    value_cells : Does it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from shapley2d import plan_cells
    >>> X, y = load_wine(return_X_y=True)
    >>> plan = plan_cells(X[::2, :5], y[::2], X[1::2, :5], y[1::2])
    >>> plan.valid_rows, plan.amounts
    (89, {'column coalitions': (32, 32)})
    >>> plan.seconds[1] < 60, plan.workers(3600)
    (True, 1)
    """
    return cells_task(**locals()).plan()
