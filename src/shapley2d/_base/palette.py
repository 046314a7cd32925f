"""The colours of plots and pages: red for harm, blue for worth, distinct for colour-blind eyes."""

from __future__ import annotations

DIVERGING = ("harm-deep", "harm", "neutral", "good", "good-deep")
"""The stops of the scale from most harmful to most valuable."""

LIGHT = {
    "harm-deep": "#7d1420", "harm": "#c8503c", "neutral": "#f3f1ec", "good": "#3f86bd",
    "good-deep": "#0b3568", "bar-harm": "#c0472f", "bar-good": "#2f78b4", "ink": "#1f2529",
    "muted": "#5d676f",
}  # fmt: skip

DARK = {
    "harm-deep": "#ffc3a1", "harm": "#dc6a45", "neutral": "#22272d", "good": "#3f8ed0",
    "good-deep": "#b5dcff", "bar-harm": "#e0764f", "bar-good": "#58a2dd", "ink": "#e7e4de",
    "muted": "#a0a9b2",
}  # fmt: skip


def palette_css() -> str:
    """The colours as properties of a page, for light and for dark screens."""
    light, dark = (
        " ".join(f"--{name}: {colour};" for name, colour in colours.items())
        for colours in (LIGHT, DARK)
    )
    screen = "@media screen and (prefers-color-scheme: dark)"
    return f":root {{ {light} }}\n{screen} {{ :root {{ {dark} }} }}"
