"""The type of a column of text: whole numbers, numbers, booleans, dates, or text after all."""

from __future__ import annotations

from typing import Any

MISSING = (
    "", "?", "NA", "N/A", "#N/A", "#NA", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "<NA>", "NaT",
)  # fmt: skip
"""What counts as an empty field."""

_DATE = r"^\d{4}-\d{2}-\d{2}$"
_TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?$"
_ZONED = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:?\d{2})?)$"
_DIGITS = 76  # that a decimal number of pyarrow can have
_LONG = r"^[+-]?\d{1,76}$"
_DECIMAL_COMMA = r"^[+-]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"


def typed_column(column: Any, *, decimal_comma: bool = False, as_text: bool = False) -> Any:
    """Give a pyarrow column of text its type; empty fields become nulls.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of strings
    decimal_comma : bool
        Whether ``1,5`` may be a number.
    as_text : bool
        Leave it text, because it is text in another file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> typed_column(pa.chunked_array([["1", " 2", "?"]])).to_pylist()
    [1, 2, None]
    >>> typed_column(pa.chunked_array([["1,5", "2"]]), decimal_comma=True).to_pylist()
    [1.5, 2.0]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    encoded = pc.dictionary_encode(pc.utf8_trim_whitespace(column.combine_chunks()))
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    texts = encoded.dictionary
    texts = pc.if_else(pc.is_in(texts, value_set=pa.array(MISSING)), None, texts)
    entries = texts if as_text else _convert(texts, decimal_comma=decimal_comma)
    return entries.take(encoded.indices)


def not_numbers(column: Any) -> Any:
    """The positions of a text column's entries that are not numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    number = pc.match_substring_regex(column, r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")
    flags = pc.fill_null(pc.invert(number), fill_value=False)
    return pc.indices_nonzero(flags) if len(column) else pa.array([], pa.uint64())


def _convert(texts: Any, *, decimal_comma: bool) -> Any:
    """Convert the distinct texts of a column."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return texts.cast(pa.float64())
    kinds = [pa.int64(), pa.float64()]
    if _all(pc.match_substring_regex(texts, _LONG)):
        kinds.insert(1, pa.decimal256(_DIGITS, 0))  # every digit kept
    for kind in kinds:
        try:
            return texts.cast(kind)
        except pa.ArrowInvalid:
            continue
    lower = pc.utf8_lower(texts)
    if _all(pc.is_in(lower, value_set=pa.array(["true", "false", None]))):
        return pc.equal(lower, "true")
    if _all(pc.match_substring_regex(texts, _DATE)):
        return _cast_or_text(texts, pa.date32())
    if _all(pc.match_substring_regex(texts, _TIME)):
        return _cast_or_text(texts, pa.timestamp("us"))
    if _all(pc.match_substring_regex(texts, _ZONED)):
        zoned = _cast_or_text(texts, pa.timestamp("us", "UTC"))
        return zoned if zoned is texts else zoned.cast(pa.timestamp("us"))
    if decimal_comma and _all(pc.match_substring_regex(texts, _DECIMAL_COMMA)):
        plain = pc.replace_substring(pc.replace_substring(texts, ".", ""), ",", ".")
        return plain.cast(pa.float64())
    return texts


def _cast_or_text(texts: Any, kind: Any) -> Any:
    import pyarrow as pa

    try:
        return texts.cast(kind)
    except pa.ArrowInvalid:  # 2024-02-31
        return texts


def _all(flags: Any) -> bool:
    import pyarrow.compute as pc

    return pc.all(flags).as_py() is not False
