"""What tests of owners share."""

from __future__ import annotations

import pytest

from shapley2d._market import block_game


@pytest.fixture
def always_sampled(monkeypatch):
    """``KNN`` and ``MonteCarlo`` sample blocks, however few these are."""
    monkeypatch.setattr(block_game, "MAX_AUTO_UTILITIES", {"model": 0, "knn": 0})
