"""Numbers in another unit of measure."""

from __future__ import annotations

from shapley2d._tables.texts.units import QUANTITIES


def convert(number: float, unit: str, into: str) -> float | None:
    """A number in another unit; None where the two do not measure the same.

    >>> convert(6400, "g", "kg"), convert(3, "g", "km"), convert(1, "Stück", "kg")
    (6.4, None, None)
    """
    for units in QUANTITIES:
        one, other = (units.get(name.strip(" .").lower()) for name in (unit, into))
        if one is not None and other is not None:
            return float(f"{number * one / other:.12g}")
    return None
