"""From a CSV file to typed columns, and from those to the caller's kind of frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.words import one_of
from shapley2d._tables.frames import FRAME_KINDS, frame_kind
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from collections.abc import Mapping


def read_csv(content: bytes) -> Any:
    r"""Read a CSV file into a pyarrow table; an empty field is missing.

    Examples
    --------
    >>> read_csv(b"a,b\n1,x\n2,\n").to_pydict()
    {'a': [1, 2], 'b': ['x', None]}
    """
    from pyarrow import BufferReader, csv

    options = csv.ConvertOptions(null_values=[""], strings_can_be_null=True)
    return csv.read_csv(BufferReader(content), convert_options=options).combine_chunks()


def as_categories(labels: Any) -> Any:
    """Text as categories in alphabetical order.

    Parameters
    ----------
    labels : sequence of str, or pyarrow array of text
        None or null where missing.

    Returns
    -------
    pyarrow.DictionaryArray

    Examples
    --------
    >>> column = as_categories(["b", None, "a", "b"])
    >>> column.dictionary.to_pylist(), column.indices.to_pylist()
    (['a', 'b'], [1, None, 0, 1])
    """
    import pyarrow as pa
    from pyarrow import compute

    if isinstance(labels, pa.ChunkedArray):
        labels = labels.combine_chunks()
    encoded = pa.array(labels, pa.string()).dictionary_encode()
    order = compute.array_sort_indices(encoded.dictionary).to_numpy()
    rank = pa.array(np.argsort(order).astype(np.int32))
    return pa.DictionaryArray.from_arrays(
        rank.take(encoded.indices), encoded.dictionary.take(pa.array(order))
    )


def name_codes(codes: Any, names: Mapping[int, str]) -> Any:
    """A column of codes as categories with names; a code without a name is missing.

    Examples
    --------
    >>> name_codes([1, 0, 9], {0: "female", 1: "male"}).to_pylist()
    ['male', 'female', None]
    """
    return as_categories([names.get(code) for code in np.asarray(codes).tolist()])


def to_frame(table: Any, frame: str | None) -> Any:
    """A pyarrow table as the kind of frame that the caller asks for.

    Examples
    --------
    >>> import pyarrow as pa
    >>> to_frame(pa.table({"a": [1]}), "pyarrow").to_pydict()
    {'a': [1]}
    """
    kind = frame or frame_kind(None)
    if kind not in FRAME_KINDS:
        raise InputError(Setting("frame", frame), f" must be {one_of(FRAME_KINDS)}")
    if kind == "pyarrow":
        return table
    return nw.from_arrow(table, backend=cast("Any", kind)).to_native()
