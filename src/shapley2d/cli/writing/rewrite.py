"""Writing a file again with some entries replaced, everything else byte for byte the same."""

from __future__ import annotations

import gzip
import io
import json
import re
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write
from shapley2d._tables.changes import change_cells
from shapley2d._tables.reading.csv_text import decode, encoding_of, field_spans, find_separator
from shapley2d._tables.reading.files import unpacked_contents
from shapley2d._tables.reading.json_text import looks_like_json
from shapley2d.cli.writing.outputs import naming
from shapley2d.exceptions import InputError, Setting

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d._tables.changes import Changes
    from shapley2d.cli.options import FileOptions

_DECIMAL = re.compile(r"-?\d+(?:\.(\d*))?")
_FORMATS = {
    "parquet": (".parquet", ".pq"),
    "json": (".json", ".jsonl", ".ndjson"),
    "csv": (".csv", ".tsv", ".txt"),
}


def file_format(path: str, separator: str | None = None, encoding: str | None = None) -> str:
    """The format of a file: ``"csv"``, ``"json"`` or ``"parquet"``."""
    if path == "-":
        raise InputError(
            "repair needs the name of a file, not -: its format is kept, so it is read again"
        )
    data = unpacked_contents(path)
    if data.startswith(b"PAR1"):
        return "parquet"
    text, _ = decode(data, path, encoding)
    return "json" if separator is None and looks_like_json(text, path) else "csv"


def check_format(output: Path, path: str, kind: str) -> None:
    """Refuse an output whose name stands for another format than the input's."""
    name = output.name.lower().removesuffix(".gz")
    if not name.endswith(_FORMATS[kind]):
        words = " or ".join(_FORMATS[kind][:2])
        written = kind.upper()
        raise InputError(
            f"--output {output}: {path} is written again as {written}: the name must end in {words}"
        )
    if kind == "parquet" and output.name.lower().endswith(".gz"):
        raise InputError(f"--output {output}: Parquet is packed already: leave out .gz")


def write_changed(
    output: Path,
    path: str,
    kind: str,
    table: Any,
    changes: Changes,
    file: FileOptions,
) -> None:
    """Write a file again with some entries replaced, whole or not at all."""
    data = unpacked_contents(path)
    if kind == "parquet":
        import pyarrow.parquet as pq

        changed = change_cells(table, changes).replace_schema_metadata(table.schema.metadata)
        with naming(output), atomic_write(output) as temporary:
            pq.write_table(changed, temporary)
        return
    name = encoding_of(data, file.encoding)
    text = data.decode(name)
    if kind == "json":
        text = changed_json(text, changes)
    else:
        mark = find_separator(text.removeprefix("\ufeff"), path, file.separator)
        text = changed_csv(text, mark, table.column_names, changes)
    try:
        written = text.encode(name)
    except UnicodeEncodeError as error:
        raise InputError(
            f"{path} is written in {name}, which has no letter {error.object[error.start]!r}: "
            "write another one, or read the table with another ",
            Setting("encoding"),
        ) from None
    if output.name.lower().endswith(".gz"):
        packed = io.BytesIO()
        with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as stream:
            stream.write(written)
        written = packed.getvalue()
    with naming(output), atomic_write(output) as temporary:
        temporary.write_bytes(written)


def changed_csv(text: str, separator: str, names: list[str], changes: Changes) -> str:
    r"""The text of a CSV file with some fields replaced.

    Examples
    --------
    >>> changed_csv('a;b\r\n1;"x"\r\n 2;y\r\n', ";", ["a", "b"], {"b": {0: "z"}, "a": {1: None}})
    'a;b\r\n1;"z"\r\n;y\r\n'
    """
    by_row: dict[int, dict[int, str | None]] = {}
    for name, part in changes.items():
        for row, new in part.items():
            by_row.setdefault(row, {})[names.index(name)] = new
    parts: list[str] = []
    done = 0
    for row, spans in enumerate(field_spans(text, separator), -1):  # the first line has the names
        for j, new in sorted(by_row.pop(row, {}).items()) if row >= 0 else ():
            start, stop = spans[j]
            parts += [
                text[done:start],
                _field(new or "", separator, quoted=text.startswith('"', start)),
            ]
            done = stop
    assert not by_row
    return "".join([*parts, text[done:]])


def _field(text: str, separator: str, *, quoted: bool) -> str:
    needed = any(mark in text for mark in (separator, '"', "\r", "\n"))
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if needed or quoted else text


def as_written(new: str | None, column: Any) -> str | None:
    """A suggested number with as many decimals as all entries of its column in the file have.

    Examples
    --------
    >>> import pyarrow as pa
    >>> as_written("7", pa.array(["1.50", "2.25", ""])), as_written("7", pa.array(["1.5", "2"]))
    ('7.00', '7')
    """
    if new is None or not _DECIMAL.fullmatch(new):
        return new
    found = {
        _DECIMAL.fullmatch(text.strip()) for text in column.to_pylist() if text and text.strip()
    }
    decimals = {None if one is None else len(one[1] or "") for one in found}
    (only, *others) = decimals or {None}
    if others or only is None or len(_DECIMAL.fullmatch(new)[1] or "") >= only:  # type: ignore[index]
        return new
    return f"{float(new):.{only}f}"


def changed_json(text: str, changes: Changes) -> str:
    r"""The text of a file of JSON records with some fields replaced; other lines stay the same.

    Examples
    --------
    >>> changed_json('{"a":1}\n{"a": 20}\n', {"a": {1: "2"}})
    '{"a":1}\n{"a": 2}\n'
    """
    by_row: dict[int, dict[str, str | None]] = {}
    for name, part in changes.items():
        for place, entry in part.items():
            by_row.setdefault(place, {})[name] = entry
    if text.lstrip("\ufeff \t\r\n").startswith("["):
        records = json.loads(text.removeprefix("\ufeff"))
        for row, fields in by_row.items():
            records[row] |= {
                name: _typed(records[row].get(name), new) for name, new in fields.items()
            }
        return (
            "[\n"
            + ",\n".join(json.dumps(record, ensure_ascii=False) for record in records)
            + "\n]\n"
        )
    lines, row = [], 0
    for line in text.splitlines(keepends=True):
        new = by_row.get(row, {}) if line.strip("\ufeff \t\r\n") else None
        row += new is not None
        if new:
            record = json.loads(line.lstrip("\ufeff"))
            record |= {name: _typed(record.get(name), text) for name, text in new.items()}
            end = line[len(line.rstrip("\r\n")) :]
            line = json.dumps(record, ensure_ascii=False) + end  # noqa: PLW2901
        lines.append(line)
    return "".join(lines)


def _typed(before: Any, new: str | None) -> Any:
    """A new entry as JSON: a number where the old entry was one and the new one is."""
    if new is None or isinstance(before, str):
        return new
    try:
        plain = json.loads(new)
    except ValueError:
        return new
    return plain if isinstance(plain, (int, float, bool)) else new
