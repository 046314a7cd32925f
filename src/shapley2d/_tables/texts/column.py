"""A typed column from a column of text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d._base.arrow import one_chunk, pa, pc
from shapley2d._base.entries import as_text, is_missing, with_texts
from shapley2d._base.words import shown
from shapley2d._tables.table import Column, FromText
from shapley2d._tables.texts.numbers import (
    TextReading,
    are_long,
    common_places,
    flags,
    plain_numbers,
)
from shapley2d._tables.texts.stray_rule import MISSING, read_texts
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import narwhals.stable.v2 as nw
    from numpy.typing import NDArray


def text_column(
    texts: Any, key: str, *, kind: str | None = None, notation: str = "", like: Column | None = None
) -> Column:
    """A typed column, by the rule of :func:`~shapley2d._tables.texts.stray_rule.read_texts`.

    ``kind`` is the one that the user set, ``notation`` that of other columns of the table, and
    ``like`` the same column of the training table, as which this one is read if possible.
    """
    texts = one_chunk(texts)
    numbers = plain_numbers(texts) if kind in (None, "number") and like is None else None
    if numbers is not None:
        read = FromText(asked=kind is not None, places=common_places(texts))
        return Column(key, "number", numbers, (), read)
    words, codes, marks = encode_texts(texts)
    counts = np.bincount(codes[codes >= 0], minlength=len(words)).astype(np.int64)
    reading = _read_like(words, counts, like) if like is not None else None
    if reading is None:
        unit = None if like is None else like.from_text.unit
        reading = read_texts(words, counts, kind=kind, notation=notation, unit=unit)
    if kind in ("number", "date") and np.isnan(reading.values).all() and reading.strays.any():
        first = words[int(np.flatnonzero(reading.strays)[0])].as_py()
        raise InputError(
            f"kinds={shown({key: kind})}: no entry of column {key!r} is a {kind}, the first "
            f"is {first[:40]!r}"
        )
    if reading.kind != "category":
        gone = np.isnan(reading.values) & ~reading.strays & (counts > 0)
        marks |= {words[int(k)].as_py(): np.flatnonzero(codes == k) for k in np.flatnonzero(gone)}
    read = FromText(
        strays_of(reading, words, codes),
        reading.notation,
        _example(reading, words),
        "" if kind is not None and reading.unit else reading.remark,  # nothing was guessed
        kind is not None,
        places=common_places(words, counts * ~reading.strays)
        if reading.kind == "number" and reading.plain
        else 0,
        unit=reading.unit,
        marks=marks,
    )
    if reading.kind == "category":
        return category_column(words, codes, key, read)
    distinct = _before_rounding(reading, words)
    if distinct:
        read = replace(read, distinct=distinct)
    if distinct or not reading.plain:
        texts = np.array([*words.to_pylist(), None], dtype=object)
        read = replace(read, words=texts, codes=codes.astype(np.int32))
    return Column(key, reading.kind, np.append(reading.values, np.nan)[codes], (), read)


def _before_rounding(reading: TextReading, words: Any) -> int:
    """The number of distinct numbers before rounding; 0 if rounding makes none of them equal."""
    if reading.kind != "number" or not are_long(reading.values):
        return 0
    found = ~np.isnan(reading.values)
    texts = pc.utf8_ltrim(words.filter(pa.array(found)), "+0")  # 007 and 7 are the same number
    distinct = len(pc.unique(texts))
    return distinct if np.unique(reading.values[found]).size < distinct else 0


def as_texts(items: Sequence[Any]) -> Any:
    """A pyarrow array of text with nulls; None if an item is not text."""
    try:
        return pa.array(items, pa.string(), from_pandas=True)
    except UnicodeEncodeError:
        return as_texts(with_texts(items))
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def texts_of(items: Sequence[Any]) -> Any:
    """A pyarrow array of items of any type as text, with nulls."""
    texts = as_texts(items)
    if texts is None:
        texts = as_texts([None if is_missing(item) else as_text(item) for item in items])
    return texts


def series_texts(series: nw.Series[Any]) -> Any:
    """A pyarrow array of a series, also of text; None if an entry is not text.

    A series of objects counts as text by its first hundred entries.
    """
    try:
        return series.alias("entries").to_arrow()  # polars panics at some names
    except UnicodeEncodeError:
        return as_texts(series.to_list())
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return None


def encode_texts(texts: Any) -> tuple[Any, NDArray[np.int64], dict[str, NDArray[np.intp]]]:
    """The distinct texts, trimmed, and each entry's position among them, -1 where missing.

    And the rows of each text that counts as missing, the empty one left out.
    """
    texts = one_chunk(texts)
    if not pa.types.is_large_string(texts.type):
        texts = texts.cast(pa.string())  # a column of nulls, or views of strings
    encoded = one_chunk(pc.dictionary_encode(pc.utf8_trim_whitespace(texts)))
    words = encoded.dictionary
    codes = np.array(encoded.indices.fill_null(-1), dtype=np.int64)
    gone = flags(pc.is_in(words, value_set=pa.array(MISSING, words.type)))
    marks = {words[k].as_py(): np.flatnonzero(codes == k) for k in np.flatnonzero(gone).tolist()}
    marks.pop("", None)
    codes[np.isin(codes, np.flatnonzero(gone))] = -1
    return pc.if_else(pa.array(gone), None, words), codes, marks


def _read_like(words: Any, counts: NDArray[np.int64], train: Column) -> TextReading | None:
    """Read a column as in the training table; None if that fails for most entries."""
    if train.kind == "category":
        return read_texts(words, counts, kind="text")
    if train.kind == "boolean":
        return None
    how = train.from_text
    reading = read_texts(words, counts, kind=train.kind, notation=how.notation, unit=how.unit)
    regular, strays = counts[~np.isnan(reading.values)].sum(), counts[reading.strays].sum()
    return reading if regular >= strays else None


def category_column(words: Any, codes: NDArray[np.int64], key: str, read: FromText) -> Column:
    """A column of categories, from distinct texts and the position of each entry among them."""
    texts = words.to_pylist()
    categories = tuple(sorted(text for text in texts if text is not None))
    position = {text: float(code) for code, text in enumerate(categories)}
    places = np.array([np.nan if text is None else position[text] for text in texts] + [np.nan])
    return Column(key, "category", places[codes], categories, read)


def strays_of(reading: TextReading, words: Any, codes: NDArray[np.int64]) -> dict[int, str]:
    rows = np.flatnonzero(np.append(reading.strays, False)[codes])
    return dict(zip(rows.tolist(), words.take(pa.array(codes[rows])).to_pylist(), strict=True))


def _example(reading: TextReading, words: Any) -> str:
    """An entry in an ambiguous notation and its meaning."""
    if not reading.notation or not (reading.doubtful or reading.notation == "decimal commas"):
        return ""
    places = np.flatnonzero(~np.isnan(reading.values))
    texts = words.take(pa.array(places)).to_pylist()
    mark = "," if reading.notation.endswith("commas") else "/"
    place = next((k for k, text in enumerate(texts) if mark in text), 0)
    shown = Column("", reading.kind, reading.values[places[place : place + 1]]).text()[0]
    return f"{texts[place]!r} is {shown}"
