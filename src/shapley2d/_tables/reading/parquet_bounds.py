"""Parquet files that may come from anyone: their memory is bounded before they are read.

The metadata at the end of a file cannot be trusted, and a page of a few bytes may unpack to
gigabytes. So the headers of all pages are read first, which is cheap, and only files within bounds
are passed to the reader.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from shapley2d._base.words import format_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FREE_BYTES = 2**28
"""Memory that any file may take."""

MAX_RATIO = 100
"""Larger files may unpack to this many times their size."""

_MARK = b"PAR1"
_MAX_PAGES = 2**20
_MAX_HEADER = 2**24  # bytes: a header may hold the smallest and the largest text of its page
_VALUE_BYTES = 12  # per value in memory, with what the reader keeps beside it
_DATA_PAGE, _DATA_PAGE_V2 = 5, 8  # fields of a page's header


def read_bounded(file: BinaryIO, columns: Collection[str] | None = None) -> Any:
    """Read a file as a pyarrow table, or raise a ValueError whose message is a phrase.

    Parameters
    ----------
    file : binary file
    columns : collection of str, optional
        The columns to read; all by default.

    Examples
    --------
    >>> import io
    >>> import pyarrow as pa, pyarrow.parquet as pq
    >>> file = io.BytesIO()
    >>> pq.write_table(pa.table({"a": ["x", None]}), file)
    >>> read_bounded(file).to_pydict()
    {'a': ['x', None]}
    """
    import pyarrow.parquet as pq

    size = check_ends(file)
    try:
        plain = pq.ParquetFile(file).schema_arrow
        text = [field.name for field in plain if _is_text(field.type)]
        parquet = pq.ParquetFile(file, read_dictionary=text, page_checksum_verification=True)
        check_bounds(parquet.metadata, file, size)
        known = set(plain.names)
        wanted = None if columns is None else [name for name in columns if name in known]
        table = parquet.read(columns=wanted)
        return _decoded(table, plain, allowed_bytes(size))
    except MemoryError:
        raise ValueError("it needs more memory than there is") from None
    except Exception as error:
        if type(error) is ValueError:  # of ours, already a phrase
            raise
        raise ValueError(_one_line(error)) from None


def check_ends(file: BinaryIO) -> int:
    """Check that a file starts and ends as a Parquet file does, and return its size."""
    size = file.seek(0, 2)
    file.seek(0)
    head = file.read(4)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    if size < 12 or head != _MARK or tail[4:] != _MARK:
        raise ValueError("it does not begin and end as a Parquet file does")
    if int.from_bytes(tail[:4], "little") > size - 12:
        raise ValueError("its metadata claims to be longer than the file")
    file.seek(0)
    return size


def allowed_bytes(size: int) -> int:
    """Bytes of memory that a file of some size may take."""
    return max(FREE_BYTES, MAX_RATIO * size)


def check_bounds(metadata: Any, file: BinaryIO, size: int) -> None:
    """Refuse a file that would take too much memory for its size."""
    needed = unpacked_bytes(metadata, file, size)
    if needed > allowed_bytes(size):
        raise ValueError(
            f"its {size:,} bytes would unpack to {format_bytes(needed)}, which is refused"
        )


def unpacked_bytes(metadata: Any, file: BinaryIO, size: int) -> int:
    """A lower bound of the memory that reading a file takes."""
    if metadata.num_rows < 0:
        raise ValueError("it claims fewer than no rows")
    needed = _VALUE_BYTES * metadata.num_rows * metadata.num_columns
    pages = 0
    if needed > allowed_bytes(size):
        return int(needed)
    for g in range(metadata.num_row_groups):
        group = metadata.row_group(g)
        for c in range(group.num_columns if group.num_rows else 0):
            if group.num_rows < 0 or group.num_rows > metadata.num_rows:
                raise ValueError("its parts claim other numbers of rows than the whole")
            values = 0
            for page in _pages(file, group.column(c), size):
                pages += 1
                needed += page.unpacked
                values += page.values
                if pages > _MAX_PAGES or needed + _VALUE_BYTES * values > allowed_bytes(size):
                    return int(needed + _VALUE_BYTES * values)
            # lists have more values than rows
            needed += _VALUE_BYTES * max(0, values - group.num_rows)
    return int(needed)


@dataclass(frozen=True)
class _Page:
    """The header of a page: bytes unpacked and packed, and values."""

    unpacked: int
    packed: int
    values: int


def _pages(file: BinaryIO, chunk: Any, size: int) -> Iterator[_Page]:
    """The page headers of a column chunk."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    place = min(starts)
    stop = place + chunk.total_compressed_size
    if place < 0 or chunk.total_compressed_size < 0 or stop > size:
        raise ValueError("its parts lie outside of it")
    while place < stop:
        file.seek(place)
        header = _Thrift(file, min(_MAX_HEADER, size - place))
        fields = header.struct()
        sizes: list[int] = [fields.get(2, -1), fields.get(3, -1)]
        if not all(isinstance(one, int) and 0 <= one < 2**31 for one in sizes):
            raise ValueError("a page has no size")
        kind: Any = next((fields[key] for key in (_DATA_PAGE, _DATA_PAGE_V2) if key in fields), {})
        values = kind.get(1, 0) if isinstance(kind, dict) else 0
        page = _Page(
            sizes[0], sizes[1], values if isinstance(values, int) and values >= 0 else 2**31
        )
        place += header.used + page.packed
        yield page


class _Thrift:
    """The part of Thrift's compact protocol that page headers use."""

    _DEEPEST = 8

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file = file
        self._limit = limit
        self.used = 0

    def _bytes(self, count: int) -> bytes:
        self.used += count
        data = self._file.read(count) if self.used <= self._limit else b""
        if len(data) != count:
            raise ValueError("a page's header is cut short")
        return data

    def _number(self) -> int:
        """An unsigned number of variable length."""
        result = 0
        for shift in range(0, 70, 7):
            byte = self._bytes(1)[0]
            result |= (byte & 0x7F) << shift
            if byte < 0x80:
                return result
        raise ValueError("a page's header is not one")

    def _signed(self) -> int:
        raw = self._number()
        return (raw >> 1) ^ -(raw & 1)

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """Fields by number."""
        fields: dict[int, Any] = {}
        number = 0
        while True:
            byte = self._bytes(1)[0]
            if byte == 0:
                return fields
            number = number + (byte >> 4) if byte >> 4 else self._signed()
            fields[number] = self._value(byte & 0x0F, depth + 1)

    def _value(self, kind: int, depth: int) -> Any:
        if depth > self._DEEPEST:
            raise ValueError("a page's header is nested too deeply")
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self._bytes(1)
        if kind in (4, 5, 6):
            return self._signed()
        if kind == 7:
            return self._bytes(8)
        if kind == 8:
            return self._bytes(self._number())
        if kind == 12:
            return self.struct(depth)
        raise ValueError("a page's header is not one")  # lists and maps do not occur in it


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
    )


def _decoded(table: Any, plain: Any, limit: int) -> Any:
    """Decode dictionary-encoded text within bounds: a long text may occur in every row."""
    import pyarrow as pa
    import pyarrow.compute as pc

    columns = []
    for k, field in enumerate(table.schema):
        column = table.column(k)
        wanted = (
            plain.field(plain.get_field_index(field.name)).type
            if _once(plain, field.name)
            else field.type
        )
        if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(wanted):
            for chunk in column.chunks:
                lengths = pc.take(pc.binary_length(chunk.dictionary), chunk.indices)
                limit -= pc.sum(lengths).as_py() or 0
            if limit < 0:
                raise ValueError("its text would unpack to more than a file of its size may")
            column = column.cast(wanted)
        columns.append(column)
    fields = [
        field.with_type(column.type) for field, column in zip(table.schema, columns, strict=True)
    ]
    return pa.table(columns, schema=pa.schema(fields, metadata=plain.metadata))


def _once(schema: Any, name: str) -> bool:
    return bool(schema.get_field_index(name) >= 0)


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return "".join(letter if letter.isprintable() else "?" for letter in text[:200])
