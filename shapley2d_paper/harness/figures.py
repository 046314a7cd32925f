"""Figures in one style: the same colour for the same method everywhere."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from shapley2d_paper.harness.records import Records

COLOURS = {
    "2D-KNN": "#0b5fa5",
    "2D-MC": "#e07b00",
    "1D": "#7b3fa0",
    "2D-LOO": "#8c6d46",
    "random": "#8a8a8a",
    "2D-OOB": "#1b8a5a",
    "2D-OOB distance": "#73c476",
    "z-score": "#c2185b",
    "ECOD": "#d9a400",
    "DDC": "#00a3a3",
    "column predictor": "#b3392f",
    "inspection": "#111111",
}
"""Colours of the methods."""

_STYLE: dict[Any, Any] = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "savefig.dpi": 130,
}


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Figure, Any]:
    """An empty figure and its axes as a grid; it belongs to no window and need not be closed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def line_with_band(axes: Axes, records: Records, x: str, y: str, label: str, **style: Any) -> None:
    """The mean of ``y`` over seeds at every ``x``, with a band of one standard deviation."""
    import numpy as np

    points = [(key[0], part.mean(y), part.spread(y)) for key, part in records.groups(x)]
    if not points:
        return
    at, mean, spread = map(np.array, zip(*sorted(points), strict=True))
    style.setdefault("color", COLOURS.get(label))
    (line,) = axes.plot(at, mean, label=label, **style)
    axes.fill_between(
        at, mean - spread, mean + spread, color=line.get_color(), alpha=0.15, linewidth=0
    )


def save_figure(draw: Callable[[Records], Figure], records: Records, path: Path) -> None:
    """Draw and write a PNG file of 256 colours, whole or not at all."""
    from matplotlib import rc_context
    from PIL import Image

    pixels = BytesIO()
    with rc_context(_STYLE):
        draw(records).savefig(pixels, format="png")
    with Image.open(pixels) as drawn, atomic_write(path) as temporary:
        # median cut would spend the colours on a heatmap and merge those of the methods
        few = drawn.convert("RGB").quantize(
            256, Image.Quantize.MAXCOVERAGE, kmeans=2, dither=Image.Dither.NONE
        )
        few.save(temporary, format="PNG", optimize=True)
