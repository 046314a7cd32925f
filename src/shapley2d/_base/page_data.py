"""Data and text for a page: small, and inert as HTML."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

from shapley2d._base.words import shorten


def brief(text: str | None, length: int = 300) -> str | None:
    """An entry as the page keeps it, not too long."""
    return None if text is None else shorten(text, length)


def pack(data: bytes) -> str:
    """Bytes deflated and as base64, which holds no character that HTML would read.

    >>> unpacked = zlib.decompress(base64.b64decode(pack(b"abc")))
    >>> unpacked
    b'abc'
    """
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def script_json(data: Any) -> str:
    r"""JSON that is inert inside a script element, whatever text it holds.

    >>> script_json("</script>")
    '"\\u003c/script>"'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in ("<", "\u2028", "\u2029"):
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be written
