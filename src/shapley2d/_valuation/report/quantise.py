"""Matrices and texts as the few bytes that a page reads.

Values travel as int16 with a scale per column, errors as one byte on a logarithmic scale (within 3
%). The low and the high bytes are kept apart, because the high ones compress well. Exact values
stay in the saved valuation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

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
