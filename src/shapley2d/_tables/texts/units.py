"""Units of measure that convert into each other: mass, length, area, volume, time, energy, power.

Money has no fixed rate, and temperatures have no common zero: neither is converted.
"""

from __future__ import annotations

QUANTITIES = (
    {"µg": 1e-6, "mg": 1e-3, "g": 1.0, "kg": 1e3, "t": 1e6, "oz": 28.349523125, "lb": 453.59237,
     "lbs": 453.59237},
    {"µm": 1e-6, "mm": 1e-3, "cm": 0.01, "dm": 0.1, "m": 1.0, "km": 1e3, "in": 0.0254,
     "ft": 0.3048, "yd": 0.9144, "mi": 1609.344},
    {"mm²": 1e-6, "cm²": 1e-4, "m²": 1.0, "qm": 1.0, "sqm": 1.0, "ha": 1e4, "sqft": 0.09290304},
    {"ml": 1e-3, "cl": 0.01, "dl": 0.1, "l": 1.0, "hl": 100.0},
    {"ms": 1e-3, "s": 1.0, "sec": 1.0, "min": 60.0, "h": 3600.0, "hrs": 3600.0, "d": 86400.0},
    {"wh": 1.0, "kwh": 1e3, "mwh": 1e6},
    {"w": 1.0, "kw": 1e3},
)  # fmt: skip
"""By quantity, units in one of their own; a unit is in one of them only."""


UNITS = sorted((unit for units in QUANTITIES for unit in units), key=len, reverse=True)
"""All of them, the longest first."""


def is_unit(text: str) -> bool:
    """Whether a text is a unit of measure.

    >>> is_unit("KG"), is_unit("Stück")
    (True, False)
    """
    return any(text.strip(" .").lower() in units for units in QUANTITIES)
