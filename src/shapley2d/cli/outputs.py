"""Files that a command writes: checked before the work starts, in time, whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import combinations
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa
from shapley2d._base.atomic_write import atomic_write, real_path, why_unwritable
from shapley2d._base.time_limit import TimeLimit
from shapley2d._base.words import FORMULA
from shapley2d.cli.console import show, show_files, show_json
from shapley2d.cli.errors import stop_if_partial
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_WRITING = 0.05  # of the time limit, for files that are written at the end
_WRITING_CELL_S = 8e-7  # 20 million cells took 12 s, and 18 to 30 s on a busy machine
PAGE = (".html", ".htm")
_ENDINGS = {"--output": (".parquet", ".csv", ".pq"), "--report": PAGE, "--receipt": (".json",)}


def start_clock(max_time: str | None) -> TimeLimit | None:
    """The time limit of a command, from now, before its files are read; None without one."""
    return None if max_time is None else TimeLimit.of(max_time)


def before_writing(limit: TimeLimit | None, n_cells: int | None) -> Any:
    """The limit of what comes before files of so many cells are written; None: nothing is."""
    if limit is None or n_cells is None:
        return limit
    return limit.earlier(max(_WRITING * limit.seconds, _WRITING_CELL_S * n_cells))


def check_outputs(
    inputs: Sequence[str | Path | None],
    values: Path | None = None,
    report: Path | None = None,
    checkpoint: Path | None = None,
    receipt: Path | None = None,
    repaired: Path | None = None,
) -> None:
    """Refuse files that cannot be written, or that would overwrite each other or an input."""
    named = {
        "--repair-sure": repaired, "--output": values, "--report": report,
        "--checkpoint": checkpoint, "--receipt": receipt,
    }  # fmt: skip
    outputs = {option: path for option, path in named.items() if path is not None}
    for option, path in outputs.items():
        check_file(path, option, inputs, _ENDINGS.get(option, ()))
    for one, other in combinations(outputs, 2):
        path = outputs[other]
        # some folders ignore case
        first, second = (str(real_path(outputs[name])).casefold() for name in (one, other))
        if first == second or _same(path, outputs[one]):
            raise InputError(
                f"{one} and {other} both name {path}: one would overwrite the other, choose two "
                "names"
            )
    if checkpoint is not None:
        from shapley2d._estimation.checkpoint import check_place

        check_place(checkpoint)


def check_file(
    path: Path,
    option: str,
    inputs: Sequence[str | Path | None] = (),
    endings: Sequence[str] = (),
) -> None:
    """Refuse a file that has another ending, that could not be written, or that is an input."""
    if endings and path.suffix.lower() not in endings:
        known = " or ".join(one for one in endings if one not in (".pq", ".htm"))
        raise InputError(f"{option} {path}: the name must end in {known}")
    if reason := why_unwritable(path):
        words = f": {reason}".replace(": it is", " is")
        raise InputError(f"{option} {path}{': '.join(words.rsplit(', ', 1))}")
    if any(_same(path, other) for other in inputs if other is not None):
        raise InputError(f"{option} {path} would overwrite an input: choose another name")


def _same(path: Path, other: str | Path) -> bool:
    try:
        return path.samefile(other)
    except OSError:
        return False


def write_outputs(
    writers: Sequence[tuple[str, Path | None, Callable[[Path], object]]],
) -> tuple[dict[str, Path], list[Exception]]:
    """Write files, each by its own function; returns those written by what they are, and errors."""
    files: dict[str, Path] = {}
    failed: list[Exception] = []
    for what, path, write in writers:
        if path is None:
            continue
        try:
            with naming(path):
                write(path)
            files[what] = path
        except (OSError, InputError) as error:
            failed.append(error)
    return files, failed


def finish(
    valuation: Any,
    writers: Sequence[tuple[str, Path | None, Callable[[Path], object]]],
    record: dict[str, Any] | None,
    parts: Sequence[Any],
    failed: Sequence[Exception] = (),
) -> None:
    """Write files, print the results, as JSON if there is a record, and report what failed."""
    files, unwritten = write_outputs(writers)
    if record is None:
        show(*parts)
        show_files(files)
    else:
        show_json(record | {"settings": valuation.info, "files": files})
    stop_if_unwritten([*unwritten, *failed])
    stop_if_partial(valuation)


def stop_if_unwritten(failed: list[Exception]) -> None:
    """Report that a file could not be written, after the others and the results are out."""
    if failed:
        raise failed[0]


def write_values(result: Any, path: Path) -> None:
    """Write all cells, by the file's suffix: Parquet with the record of the run, or CSV."""
    if path.suffix.lower() != ".csv":
        result.save(path)
        return
    import narwhals.stable.v2 as nw

    table = nw.from_native(result.to_frame(), eager_only=True).to_arrow()
    write_csv(pa.table({key: harmless(table[key]) for key in table.column_names}), path)


def write_csv(table: Any, path: Path) -> None:
    """Write a pyarrow table as CSV."""
    from pyarrow import csv

    # written to a file at once, pyarrow would not notice that the disk is full
    stream = pa.BufferOutputStream()
    csv.write_csv(table, stream)
    with naming(path), atomic_write(path) as temporary:
        temporary.write_bytes(stream.getvalue())


def harmless(column: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with a quote before it."""
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pa.array(
        [f"'{text}" if text and FORMULA.match(text) else text for text in column.to_pylist()]
    )


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Name the file in what goes wrong."""
    try:
        yield
    except BrokenPipeError as error:
        raise InputError(f"{path}: its reader went away before all was written") from error
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
