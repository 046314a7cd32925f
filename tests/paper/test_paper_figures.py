"""Figures: few colours in the file, and none of a method's lost."""

import numpy as np
import pytest
from PIL import Image

from shapley2d_paper.harness.figures import COLOURS, new_figure, save_figure
from shapley2d_paper.harness.records import Records


def draw(records):
    """A heatmap of many colours, and a dot in the colour of every method."""
    figure, axes = new_figure(1, 2, 6, 3)
    axes[0, 0].imshow(np.linspace(0, 1, 40_000).reshape(200, 200), cmap="RdBu")
    for place, colour in enumerate(COLOURS.values()):
        axes[0, 1].plot(place, place, "o", color=colour, markersize=8)
    return figure


def test_the_colours_of_the_methods_survive_the_palette(tmp_path):
    save_figure(draw, Records([]), tmp_path / "figure.png")
    with Image.open(tmp_path / "figure.png") as image:
        assert image.mode == "P"
        pixels = np.unique(np.asarray(image.convert("RGB")).reshape(-1, 3), axis=0).astype(int)
    assert len(pixels) <= 256
    for name, colour in COLOURS.items():
        wanted = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)])
        off = np.abs(pixels - wanted).max(axis=1).min()
        assert off == pytest.approx(0, abs=16), name
