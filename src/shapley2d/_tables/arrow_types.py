"""pyarrow's newer types as the older ones that hold the same and that every function takes."""

from __future__ import annotations

from typing import Any


def plain_types(table: Any) -> Any:
    """A pyarrow table in which text and bytes are no views, and repeated entries are written out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> plain_types(pa.table({"a": pa.array(["x"], pa.string_view())})).schema.field("a").type
    DataType(string)
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for k, field in enumerate(table.schema):
        if pa.types.is_run_end_encoded(field.type):
            table = table.set_column(k, field.name, pc.run_end_decode(table.column(k)))
            field = table.schema.field(k)  # noqa: PLW2901
        kind = _plain_type(field.type)
        if kind != field.type:
            table = table.set_column(k, field.name, table.column(k).cast(kind))
    return table


def _plain_type(kind: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        inner = _plain_type(kind.value_type)
        return kind if inner == kind.value_type else inner
    # by their names: older versions know nothing of views
    views = {"string_view": pa.string, "binary_view": pa.binary}
    return views[str(kind)]() if str(kind) in views else kind
