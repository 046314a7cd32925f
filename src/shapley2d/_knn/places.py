"""Where row values are computed: on the processor, or on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._knn.game import RowGame
from shapley2d._knn.processor import Processor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._base.time_limit import TimeLimit
    from shapley2d._knn.device import Device
    from shapley2d._knn.game import RowValues
    from shapley2d._knn.metric import Columns


def row_values(
    columns: Columns,
    y: NDArray[np.generic],
    y_valid: NDArray[np.generic],
    *,
    n_jobs: int | None = None,
    limit: TimeLimit | None = None,
    device: Device | None = None,
    **asked: Any,
) -> RowValues:
    """The row values of a training and a validation table.

    ``columns, y, y_valid, **asked``: see :meth:`~shapley2d._knn.game.RowGame.of`.
    ``n_jobs``: threads of the processor; all cores by default. The result does not depend on it.
    ``limit``: when the processor drops work under way; a GPU finishes it.
    ``device``: a GPU; without one the processor computes.

    >>> import numpy as np
    >>> from shapley2d._knn.metric import Columns
    >>> train = np.array([[0.0, 1.0, 3.0], [0.0, 0.0, 5.0]])
    >>> none = np.zeros(2)
    >>> rows = row_values(
    ...     Columns(train, np.zeros((2, 1)), none > 0, none + 1, none),
    ...     np.array([0, 1, 0]),
    ...     np.array([0]),
    ...     task="classification",
    ...     n_neighbors=1,
    ... )
    >>> rows.values(np.array([[True, False], [False, True]])).round(4)
    array([[ 0.8333, -0.1667,  0.3333],
           [ 0.5833, -0.4167,  0.3333]])
    """
    game = RowGame.of(columns, y, y_valid, **asked)
    if device is None:
        return Processor(game, n_jobs, limit)
    from shapley2d._knn.gpu import GpuRows

    return GpuRows(game, device)
