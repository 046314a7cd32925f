"""Values of games by designs without chance: all of their utilities are evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shapley2d._estimation.estimate import Estimate
from shapley2d._estimation.exact import evaluate_designs
from shapley2d._methods.identity import open_checkpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from shapley2d._estimation.exact import DesignBlocks
    from shapley2d._methods.run import Run


def value_designs(
    blocks: Sequence[DesignBlocks],
    rows: Sequence[NDArray[np.intp]],
    n_rows: int,
    run: Run,
    *,
    title: str,
    known: dict[str, Any],
    checkpoint: Any = None,
    cluster: Any = None,
) -> Estimate:
    """Values of games, the mean over them.

    ``blocks`` has the utilities of every game in blocks, ``rows`` the rows of the values
    (``n_rows`` in all) behind the rows of each game. ``known`` is the method and all else that
    determines the values; a checkpoint with others is refused.
    """
    kept = open_checkpoint(
        checkpoint,
        run,
        [part.game for part in blocks],
        n_rows=n_rows,
        unit="pieces of work",
        **known,
    )
    values, resumed = evaluate_designs(
        blocks,
        rows,
        n_rows,
        n_jobs=run.n_jobs,
        progress=run.progress,
        title=title,
        checkpoint=kept,
        cluster=cluster,
        limit=run.limit,
    )
    estimate = Estimate.exact(
        values, n_utilities=sum(part.n_utilities(part.n_blocks) for part in blocks)
    )
    return estimate.noting(resumed_at=resumed) if resumed else estimate
