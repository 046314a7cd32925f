"""Tables with changed cells: replaced in the user's table, or blanked."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.entries import as_text, is_missing, is_number
from shapley2d._tables.texts.numbers import EXACT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray


Changes = dict[str, dict[int, str | None]]
"""New entries as text, by column and row; None for a missing one."""

_TRUE, _FALSE = ("true", "1", "yes"), ("false", "0", "no")


def change_cells(native: Any, changes: Mapping[str, Mapping[int, str | None]]) -> Any:
    """A copy of a frame or an array with some entries replaced, of the same types if they fit.

    ``changes`` maps columns (x0, x1, ... of an array) to new entries as text, by row; None for a
    missing one.
    """
    changes = {name: part for name, part in changes.items() if part}
    if isinstance(native, np.ndarray):
        return _in_array(native, {int(name[1:]): part for name, part in changes.items()})
    frame = nw.from_native(native, eager_only=True)
    for key in frame.columns:
        part = changes.get(str(key))
        if part:
            frame = frame.with_columns(change_entries(frame.get_column(key), part).alias(key))
    return frame.to_native()


def change_entries(series: nw.Series[Any], changes: Mapping[int, str | None]) -> nw.Series[Any]:
    """A copy of a series with some entries replaced.

    Where its type has no place for them, the copy holds text (pandas: Python objects).
    """
    if series.implementation.is_pyarrow() and hasattr(series.to_native().type, "index_type"):
        return nw.from_native(_in_dictionary(series.to_native(), changes), series_only=True)
    kind = _kind(series)
    values, needed = _values(list(changes.values()), kind)
    if needed == "float" and kind == "integer" and not _fit_floats(series.to_list()):
        values, needed = list(changes.values()), "text"  # the other entries would be rounded
    rows = list(changes)
    native = series.to_native()
    own = series.implementation
    change = _in_pandas if own.is_pandas() else _in_polars if own.is_polars() else _in_arrow
    try:
        changed = change(native, rows, values, kind, needed)
    except Exception:  # noqa: BLE001  (every library has errors of its own for what does not fit)
        needed, changed = "text", _rebuilt(series, dict(zip(rows, values, strict=True)))
    return nw.from_native(changed, series_only=True)


def _in_dictionary(native: Any, changes: Mapping[int, str | None]) -> Any:
    """An Arrow dictionary with some entries replaced; it stays one, as its texts may be long.

    The new entries are the last ones of its values, which are encoded anew: some may be known.
    """
    column = native.unify_dictionaries().combine_chunks()
    if isinstance(column, pa.ChunkedArray):  # of no entries, or of too many bytes for one chunk
        column = column.cast(native.type.value_type).combine_chunks().dictionary_encode()
    known = len(column.dictionary)
    values = pa.concat_arrays([column.dictionary, pa.nulls(len(changes), native.type.value_type)])
    replaced = change_entries(
        nw.from_native(pa.chunked_array([values]), series_only=True),
        {known + k: text for k, text in enumerate(changes.values())},
    )
    coded = replaced.to_native().combine_chunks().dictionary_encode()
    taken = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False).copy()
    taken[list(changes)] = known + np.arange(len(changes))
    places = coded.indices.take(pa.array(taken, mask=taken < 0))
    with suppress(pa.ArrowInvalid):  # they may be too many for it now
        places = places.cast(native.type.index_type)
    return pa.chunked_array(
        [pa.DictionaryArray.from_arrays(places, coded.dictionary, ordered=native.type.ordered)]
    )


def _rebuilt(series: nw.Series[Any], changes: Mapping[int, Any]) -> Any:
    """The series as Python objects where its library has those, else as text."""
    items = series.to_list()
    for row, value in changes.items():
        items[row] = value
    native = series.to_native()
    if series.implementation.is_pandas():
        import pandas as pd

        return pd.Series(items, native.index, dtype=object, name=native.name)
    texts = [None if is_missing(item) else as_text(item) for item in items]
    if series.implementation.is_polars():
        import polars as pl

        if native.dtype == pl.Object:
            return pl.Series(items, dtype=pl.Object)
        return pl.Series(texts, dtype=pl.String)
    return pa.chunked_array([pa.array(texts, pa.string())])


def _fit_floats(items: Sequence[Any]) -> bool:
    """Whether floats hold all of some whole numbers exactly."""
    return all(is_missing(item) or abs(int(item)) <= EXACT for item in items)


def change_vector(y: Any, changes: Mapping[int, str | None]) -> Any:
    """A copy of a target of any type with some entries replaced."""
    if not changes:
        return y
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return change_entries(series, changes).to_native()
    frame = nw.from_native(y, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return change_cells(y, {str(frame.columns[0]): changes})
    array = np.asarray(y)
    changed = _in_array(array.reshape(-1, 1), {0: changes}).reshape(array.shape)
    return changed if isinstance(y, np.ndarray) else type(y)(changed.tolist())


def _kind(series: nw.Series[Any]) -> str:
    dtype = series.dtype
    if dtype.is_integer():
        return "integer"
    if dtype.is_numeric():
        return "decimal" if dtype.is_decimal() else "float"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    kinds = (nw.Boolean, nw.Date, nw.Datetime, nw.Duration, nw.Time)
    known = next((kind.__name__.lower() for kind in kinds if dtype == kind), None)
    return known or _kind_of_objects(series.to_list())


def _kind_of_objects(items: list[Any]) -> str:
    """The most common kind of some Python objects."""
    counts = Counter(_kind_of_object(item) for item in items if not is_missing(item))
    return counts.most_common(1)[0][0] if counts else "text"


def _kind_of_object(item: Any) -> str:
    kinds: Any = {(bool, np.bool_): "boolean", (int, np.integer): "integer", Decimal: "decimal"}
    kinds |= {datetime: "datetime", date: "date", timedelta: "duration", time: "time"}
    known: str | None = next((kinds[one] for one in kinds if isinstance(item, one)), None)
    return known or ("float" if is_number(item) else "text")


def _values(texts: list[str | None], kind: str) -> tuple[list[Any], str]:
    """Texts as Python objects of a kind, or of the narrowest wider kind that fits them all."""
    while kind != "text":
        try:
            return [None if text is None else _parsed(text.strip(), kind) for text in texts], kind
        except (ValueError, OverflowError, InvalidOperation):
            kind = "float" if kind == "integer" else "text"
    return list(texts), "text"


def _parsed(text: str, kind: str) -> Any:
    if kind == "integer":
        number = float(text)
        if not number.is_integer():
            raise ValueError(text)
        return int(text) if text.lstrip("+-").isdecimal() else int(number)
    if kind == "float":
        return float(text)
    if kind == "boolean":
        if text.lower() not in (*_TRUE, *_FALSE):
            raise ValueError(text)
        return text.lower() in _TRUE
    if kind == "decimal":
        return Decimal(text)
    if kind == "duration":  # tables hold them in days
        return timedelta(days=float(text))
    if kind == "time":
        return time.fromisoformat(text)
    stamp = datetime.fromisoformat(text)
    return stamp if kind == "datetime" else stamp.date()


def _in_zone(value: Any, zone: Any) -> Any:
    """A time in UTC, as times are read and shown, in the zone of its column."""
    if zone is None or not isinstance(value, datetime):
        return value
    return (value if value.tzinfo else value.replace(tzinfo=UTC)).astimezone(zone)


def _like_objects(values: list[Any], items: list[Any]) -> list[Any]:
    """New entries of a column of Python objects, in the zone of its times."""
    zone = next((item.tzinfo for item in items if getattr(item, "tzinfo", None)), None)
    return [_in_zone(value, zone) for value in values]


def _in_array(array: NDArray[Any], changes: Mapping[int, Mapping[int, str | None]]) -> NDArray[Any]:
    kinds = {"i": "integer", "u": "integer", "f": "float", "b": "boolean", "M": "datetime"}
    plans = {}
    for j, part in changes.items():
        kind = kinds.get(array.dtype.kind) or (
            _kind_of_objects(array[:, j].tolist()) if array.dtype.kind == "O" else "text"
        )
        values, needed = _values(list(part.values()), kind)
        if array.dtype.kind == "O":
            values = _like_objects(values, array[:, j].tolist())
        plans[j] = (list(part), values, kind, needed)
    changed = array.copy()
    for j, (rows, values, kind, needed) in plans.items():
        if changed.dtype.kind != "O":
            gone = any(value is None for value in values)
            if needed == "text" and kind != "text":
                changed = changed.astype(object)
            elif (gone and changed.dtype.kind in "iu") or (needed == "float" and kind == "integer"):
                exact = _fit_floats(changed.ravel().tolist())
                changed = changed.astype(np.float64 if exact else object)
            elif gone and changed.dtype.kind in "bUS":
                changed = changed.astype(object)
            elif changed.dtype.kind in "US":
                widest = max(len(str(value)) for value in values)
                changed = changed.astype(np.result_type(changed.dtype, np.dtype(f"U{widest}")))
        for row, value in zip(rows, values, strict=True):
            new = np.nan if value is None and changed.dtype.kind == "f" else value
            try:
                changed[row, j] = new
            except (ValueError, TypeError, OverflowError):  # its type has no place for it
                changed = changed.astype(object)
                changed[row, j] = new
    return changed


def _in_pandas(series: Any, rows: list[int], values: list[Any], kind: str, needed: str) -> Any:
    import pandas as pd

    gone = any(value is None for value in values)
    if isinstance(series.dtype, pd.SparseDtype):
        series = series.sparse.to_dense()
    if isinstance(series.dtype, pd.CategoricalDtype):
        # by position: pandas does not find Arrow's dates among its own categories
        places = {as_text(name): k for k, name in enumerate(series.cat.categories)}
        new = [text for text in dict.fromkeys(values) if text is not None and text not in places]
        places |= {text: len(places) + k for k, text in enumerate(new)}
        changed = series.cat.add_categories(new) if new else series
        codes = changed.cat.codes.to_numpy().copy()
        codes[rows] = [-1 if text is None else places[text] for text in values]
        held = pd.Categorical.from_codes(codes, dtype=changed.dtype)
        return pd.Series(held, series.index, name=series.name)
    if needed == kind or (series.dtype == object):
        changed = series.copy()
        if gone and changed.dtype.kind in "iu" and isinstance(changed.dtype, np.dtype):
            changed = changed.astype("float64" if _fit_floats(changed.tolist()) else object)
        elif gone and changed.dtype.kind == "b" and isinstance(changed.dtype, np.dtype):
            changed = changed.astype(object)
    else:
        changed = series.astype("float64" if needed == "float" else object)
    if changed.dtype.kind == "M":
        zone = getattr(changed.dtype, "tz", None)
        values = [
            pd.NaT if value is None else pd.Timestamp(_in_zone(value, zone)) for value in values
        ]
    elif changed.dtype == object:
        values = _like_objects(values, changed.tolist())
    elif changed.dtype.kind == "f" and isinstance(changed.dtype, np.dtype):
        values = [np.nan if value is None else value for value in values]
    for row, value in zip(rows, values, strict=True):
        changed.iat[row] = value
    return changed


def _in_polars(series: Any, rows: list[int], values: list[Any], kind: str, needed: str) -> Any:
    import polars as pl

    nominal = isinstance(series.dtype, (pl.Categorical, pl.Enum))
    wanted = series.dtype if needed == kind else pl.Float64 if needed == "float" else pl.String
    plain = series.cast(pl.String if nominal else wanted)
    new = pl.Series(values, dtype=plain.dtype)
    if kind == "decimal" and new.to_list() != values:
        raise ValueError(values)  # polars drops the digits that the type has no place for
    changed = plain.clone().scatter(rows, new)
    if nominal:
        known = set(series.dtype.categories) if isinstance(series.dtype, pl.Enum) else None
        if known is None or {value for value in values if value is not None} <= known:
            changed = changed.cast(series.dtype)
    return changed


def _in_arrow(column: Any, rows: list[int], values: list[Any], kind: str, needed: str) -> Any:
    if needed != kind:
        column = column.cast(pa.float64() if needed == "float" else pa.string())
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    # not replace_with_mask, which lacks durations
    taken = np.arange(len(column))
    taken[rows] = len(column) + np.arange(len(rows))
    both = pa.concat_arrays([column, pa.array(values, column.type)])
    return pa.chunked_array([both.take(pa.array(taken))])
