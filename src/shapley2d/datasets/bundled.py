"""The tables that come with the package: CSV files packed with xz, checked as they are read.

Any tool can open them, and few formats are smaller or faster to unpack. ``data/SOURCE.md`` says
where each file comes from.
"""

from __future__ import annotations

import hashlib
import lzma
from importlib.resources import files
from typing import Any

# of the unpacked CSV, so that a file packed again by another tool still counts as the same
CHECKSUMS = {
    "breast_cancer_original": "d3c46f082ba1687840a2ebd2117450cd40c29edb13b968a0ed9525697203adf5",
    "census": "9479f8b76861e48c66836d97937f2c5a469581672e12c795d770b297817ae3a1",
    "credit": "dfb1570f223efb65c0084027570369bdff6cc291b8238b9adce17ab60da4ca83",
}


def bundled_csv(name: str) -> bytes:
    """Unpack a bundled table and check that it is whole.

    Examples
    --------
    >>> bundled_csv("credit").splitlines()[1][:24]
    b'20000,2,2,1,24,2,2,-1,-1'
    """
    file = f"{name}.csv.xz"
    try:
        content = lzma.decompress((files("shapley2d.datasets") / "data" / file).read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise RuntimeError(f"{file} is damaged: install shapley2d again") from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise RuntimeError(f"{file} is damaged: install shapley2d again")
    return content


def bundled_table(name: str) -> Any:
    """A bundled table as a pyarrow table: whole numbers, text, and null where an entry is missing.

    Examples
    --------
    >>> bundled_table("census").shape
    (48842, 15)
    """
    from shapley2d.datasets.arrow import read_csv

    return read_csv(bundled_csv(name))
