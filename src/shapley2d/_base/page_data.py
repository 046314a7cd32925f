"""Arrays and text for a page: small, lossless where it matters, inert as HTML.

Values travel as int16 with a scale per column, errors as one byte on a logarithmic scale (within 3
%). The low and the high bytes are kept apart, because the high ones compress well. Exact values
stay in the saved valuation.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.words import shorten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def quantise(values: NDArray[np.float64]) -> tuple[bytes, list[float]]:
    """Bytes of a matrix as int16, column after column, and the scale of each column.

    >>> import numpy as np
    >>> planes, scales = quantise(np.array([[1.0], [-0.5]]))
    >>> np.frombuffer(planes[:2] + planes[2:], np.uint8).tolist(), round(scales[0] * 32767, 12)
    ([255, 0, 127, 192], 1.0)
    """
    largest = np.abs(values).max(axis=0)
    scales = np.where(largest > 0, largest / 32767, 1.0)
    codes = np.round(values / scales).astype("<i2")
    planes = codes.T.ravel().view(np.uint8).reshape(-1, 2)
    return planes[:, 0].tobytes() + planes[:, 1].tobytes(), scales.tolist()


def quantise_errors(errors: NDArray[np.float64]) -> tuple[bytes, float]:
    """Bytes of standard errors on a logarithmic scale, column by column, and the largest error.

    Code 255 is the largest error, each step down is a sixteenth of an octave, 0 is no error.

    >>> import numpy as np
    >>> codes, largest = quantise_errors(np.array([[0.0], [0.5], [1.0]]))
    >>> list(codes), largest
    ([0, 239, 255], 1.0)
    """
    largest = float(errors.max(initial=0.0))
    positive = errors > 0
    octaves = np.log2(np.where(positive, errors, 1.0) / (largest or 1.0))
    codes = np.where(positive, np.clip(np.round(255 + 16 * octaves), 1, 255), 0)
    return codes.astype(np.uint8).T.tobytes(), largest


def codes_of(texts: Sequence[str | None], levels: Sequence[str | None]) -> tuple[bytes, int]:
    r"""Positions of texts among levels as little-endian integers, and their width in bytes.

    >>> codes_of(["b", "a", "b"], ["a", "b"])
    (b'\x01\x00\x01', 1)
    """
    width = 1 if len(levels) <= 1 << 8 else 2 if len(levels) <= 1 << 16 else 4
    position = {level: code for code, level in enumerate(levels)}
    return np.array([position[text] for text in texts], dtype=f"<u{width}").tobytes(), width


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
