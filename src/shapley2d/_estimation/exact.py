"""Values of deterministic designs: every utility once, no sampling."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.progress import reporting
from shapley2d._estimation.workers import ordered_results
from shapley2d._theory.designs import AxisDesign, combine_axes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d._theory.game import Game

_MAX_UTILITIES = 2**20  # utilities held at once by a pass over a design
_MIN_UTILITIES = 256  # utilities worth handing to a worker


def evaluate_design(
    game: Game,
    rows: AxisDesign,
    columns: AxisDesign,
    *,
    n_jobs: int | None = None,
    progress: Any = False,
    title: str = "valuing",
) -> NDArray[np.float64]:
    """Values of a deterministic pair of designs: every utility once, streamed in blocks of row coalitions."""
    n_rows, width = len(rows.coalitions), len(columns.coalitions)
    step = min(max(-(-n_rows // 200), -(-_MIN_UTILITIES // width)), max(1, _MAX_UTILITIES // width))
    blocks = [(start, min(start + step, n_rows)) for start in range(0, n_rows, step)]
    values = np.zeros((rows.n_players, columns.n_players))
    parts = ordered_results(_DesignBlocks(game, rows, columns, step), 0, len(blocks), n_jobs=n_jobs)
    with reporting(progress, title) as report, closing(parts):
        for (_, stop), part in zip(blocks, parts, strict=True):
            values += part
            report(stop / n_rows, f"{stop * width:,} of {n_rows * width:,} utilities")
    return values


@dataclass
class _DesignBlocks:
    """Blocks of row coalitions by number, contracted to their part of the values."""

    game: Game
    rows: AxisDesign
    columns: AxisDesign
    step: int

    def __call__(self, number: int) -> NDArray[np.float64]:
        start = number * self.step
        stop = min(start + self.step, len(self.rows.coalitions))
        utilities = self.game.utilities(self.rows.coalitions.slice(start, stop), self.columns.coalitions)
        return combine_axes(utilities, self.rows, self.columns, start)
