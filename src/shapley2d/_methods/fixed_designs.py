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
    n_jobs: int | None = None,
) -> Estimate:
    """Values of games, the mean over them.

    Parameters
    ----------
    blocks : sequence of DesignBlocks
        The utilities of every game in blocks.
    rows : sequence of ndarray
        The rows of the values behind the rows of each game.
    n_rows : int
        Rows of the values.
    run : Run
    title : str
        Of the progress bar.
    known : dict
        The method and all else that determines the values; a checkpoint with others is refused.
    checkpoint : path-like, optional
    cluster : str, distributed.Client or executor, optional
    n_jobs : int, optional
        Workers, if not those of the run.
    """
    kept = open_checkpoint(
        checkpoint,
        run,
        [part.game for part in blocks],
        rows,
        n_rows=n_rows,
        unit="pieces of work",
        **known,
    )
    found = evaluate_designs(
        blocks,
        rows,
        n_rows,
        n_jobs=run.n_jobs if n_jobs is None else n_jobs,
        progress=run.progress,
        title=title,
        checkpoint=kept,
        cluster=cluster,
        limit=run.limit,
    )
    estimate = Estimate.exact(
        found.values, n_utilities=sum(part.n_utilities(part.n_blocks) for part in blocks)
    )
    return estimate.noting(resumed_at=found.resumed_at) if found.resumed_at else estimate
