"""Where the tables come from: files in the package or in the user's folder, as typed frames.

The package's own tables are CSV files packed with xz, which any tool can open; ``data/SOURCE.md``
says where each comes from. Other files are in the folder that ``SHAPLEY2D_DATA`` names.
"""

from __future__ import annotations

import hashlib
import lzma
import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import narwhals.stable.v2 as nw

from shapley2d._base.arrow import pa
from shapley2d._base.words import one_of, shown
from shapley2d._tables.frames import FRAME_KINDS, frame_kind
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

VARIABLE = "SHAPLEY2D_DATA"

# of the unpacked CSV, so that a file packed again by another tool is still accepted
CHECKSUMS = {
    "breast_cancer_original": "d3c46f082ba1687840a2ebd2117450cd40c29edb13b968a0ed9525697203adf5",
    "census": "9479f8b76861e48c66836d97937f2c5a469581672e12c795d770b297817ae3a1",
    "credit": "dfb1570f223efb65c0084027570369bdff6cc291b8238b9adce17ab60da4ca83",
}


def bundled_csv(name: str) -> bytes:
    """Unpack a bundled table and check its checksum."""
    file = f"{name}.csv.xz"
    try:
        content = lzma.decompress((files("shapley2d.datasets") / "data" / file).read_bytes())
    except (OSError, lzma.LZMAError) as error:
        raise RuntimeError(f"{file} is damaged: install shapley2d again") from error
    if hashlib.sha256(content).hexdigest() != CHECKSUMS[name]:
        raise RuntimeError(f"{file} is damaged: install shapley2d again")
    return content


def bundled_table(name: str) -> Any:
    """A bundled table as a pyarrow table of whole numbers and text; null where missing."""
    return read_csv(bundled_csv(name))


def find_file(*names: str, title: str, origin: str) -> Path:
    """Find a file by any of its names in the user's folder; the error says where to get it."""
    folder = os.environ.get(VARIABLE)
    advice = (
        f"get {names[0]} from {origin} and set the environment variable {VARIABLE} to its folder"
    )
    if not folder:
        raise InputError(f"{title} does not come with the package: {advice}")
    for name in names:
        path = Path(folder).expanduser() / name
        if path.is_file():
            return path
    raise InputError(
        f"{title} does not come with the package, and {folder} ({VARIABLE}) has no {names[0]}: "
        f"{advice}"
    )


def read_csv(content: bytes) -> Any:
    r"""Read a CSV file into a pyarrow table; an empty field is missing."""
    from pyarrow import BufferReader, csv

    options = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    return csv.read_csv(BufferReader(content), convert_options=options).combine_chunks()


def as_categories(labels: Iterable[Any]) -> Any:
    """Text, None where missing, as categories in alphabetical order."""
    texts = labels.to_pylist() if hasattr(labels, "to_pylist") else [*labels]
    words = sorted({*texts} - {None})
    place = {word: code for code, word in enumerate(words)}
    codes = pa.array([place.get(text) for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(codes, pa.array(words, pa.string()))


def name_codes(codes: Any, names: Mapping[int, str]) -> Any:
    """A column of codes as named categories; a code without a name is missing."""
    return as_categories(map(names.get, codes.to_pylist()))


def to_frame(table: Any, frame: str | None) -> Any:
    """A pyarrow table as a frame of the caller's choice."""
    kind = frame or frame_kind(None)
    if kind not in FRAME_KINDS:
        raise InputError(f"frame={shown(frame)} must be {one_of(FRAME_KINDS)}")
    if kind == "pyarrow":
        return table
    return nw.from_arrow(table, backend=cast("Any", kind)).to_native()
