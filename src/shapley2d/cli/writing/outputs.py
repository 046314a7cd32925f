"""Files that a command writes: checked before the work starts, in time, whole or not at all."""

from __future__ import annotations

import os
import re
import shlex
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d._base.arrow import pa
from shapley2d._base.atomic_write import atomic_write, real_path, why_unwritable
from shapley2d._base.time_limit import TimeLimit
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from shapley2d.cli.options import RunOptions
    from shapley2d.cli.reading.inputs import Inputs

_WRITING = 0.05  # of the time limit, for files that are written at the end
_WRITING_CELL_S = 8e-7  # 20 million cells took 12 s, and 18 to 30 s on a busy machine
_VALUES = (".parquet", ".pq", ".csv")
_FORMULA = re.compile(
    r"[\t\r\n]|[\s\x00-\x20\x7f\ufeff\u200b]*[=@+\-\uff1d\uff20\uff0b\uff0d]"
)  # full-width signs too


def start_clock(run: RunOptions) -> TimeLimit | None:
    """The time limit of a command, from now, before its files are read; None without one."""
    return None if run.max_time is None else TimeLimit.of(run.max_time)


def before_writing(limit: TimeLimit | None, run: RunOptions, n_cells: int) -> Any:
    """The limit of what comes before the files are written; they take time by the cell."""
    if limit is None or (run.output is None and run.report is None):
        return limit
    return limit.earlier(max(_WRITING * limit.seconds, _WRITING_CELL_S * n_cells))


def check_outputs(
    values: Path | None,
    report: Path | None,
    inputs: Sequence[str],
    checkpoint: Path | None = None,
    receipt: Path | None = None,
) -> None:
    """Refuse files that cannot be written, or that would overwrite each other or an input."""
    if values is not None:
        if values.suffix.lower() not in _VALUES:
            raise InputError(f"--output {values}: the name must end in .parquet or .csv")
        check_file(values, "--output", inputs)
    if report is not None:
        check_report_path(report, inputs)
    if receipt is not None:
        if receipt.suffix.lower() != ".json":
            raise InputError(f"--receipt {receipt}: the name must end in .json")
        check_file(receipt, "--receipt", inputs)
    if checkpoint is not None:
        from shapley2d._estimation.checkpoint import check_place

        check_file(checkpoint, "--checkpoint", inputs)
        check_place(checkpoint)
    named = [("--output", values), ("--report", report), ("--checkpoint", checkpoint)]
    check_distinct([*named, ("--receipt", receipt)])


def check_report_path(path: Path, inputs: Sequence[str], option: str = "--report") -> None:
    """Refuse a file for a report that could not be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{option} {path}: the name must end in .html")
    check_file(path, option, inputs)


def check_file(path: Path, option: str, inputs: Sequence[str] = ()) -> None:
    """Refuse a file that could not be written, or that is an input."""
    reason = why_unwritable(path)
    if reason.startswith("it is "):
        raise InputError(f"{option} {path} {': '.join(reason[3:].rsplit(', ', 1))}")
    if reason:
        raise InputError(f"{option} {path}: {': '.join(reason.rsplit(', ', 1))}")
    if any(_same(path, other) for other in inputs):
        raise InputError(f"{option} {path} would overwrite an input: choose another name")


def check_distinct(outputs: Sequence[tuple[str, Path | None]]) -> None:
    """Refuse outputs that are one file: by name, by a link, or by a folder that ignores case."""
    there = [(option, path, real_path(path)) for option, path in outputs if path is not None]
    for k, (option, path, target) in enumerate(there):
        for other, _, second in there[:k]:
            alike = str(target).casefold() == str(second).casefold()
            if (
                target == second
                or _same(target, str(second))
                or (alike and _ignores_case(target.parent))
            ):
                raise InputError(
                    f"{other} and {option} both name {path}: one would overwrite the other, choose "
                    "two names"
                )


def _same(path: Path, other: str) -> bool:
    try:
        return os.path.samefile(path, other)  # noqa: PTH121
    except OSError:
        return False


def _ignores_case(folder: Path) -> bool:
    """Whether a folder ignores case, as on macOS and Windows."""
    with tempfile.NamedTemporaryFile(dir=folder, prefix=".case-", suffix=".part") as probe:
        return Path(probe.name).with_name(Path(probe.name).name.swapcase()).exists()


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


def report_facts(inputs: Inputs) -> dict[str, str]:
    """Facts for the report: the files, the target, the command."""
    facts = {"table": Path(inputs.train.path).name, "target": inputs.target}
    if inputs.valid is not None:
        facts["validated on"] = Path(inputs.valid.path).name
    return facts | {"command": shlex.join(["shapley2d", *sys.argv[1:]])}


def stop_if_unwritten(failed: list[Exception]) -> None:
    """Report that a file could not be written, after the others and the results are out."""
    if failed:
        raise failed[0]


def write_values(result: Any, path: Path) -> None:
    """Write all cells, by the file's suffix: Parquet with the record of the run, or CSV."""
    if path.suffix.lower() != ".csv":
        with naming(path):
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


def is_formula(text: str) -> bool:
    """Whether a spreadsheet would run text as a formula; numbers and marks such as - are harmless.

    >>> is_formula("=1+1"), is_formula(" @x"), is_formula("-2.5"), is_formula("-"), is_formula("a")
    (True, True, False, False, False)
    """
    if not _FORMULA.match(text) or not re.search(r"\w", text):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def harmless(column: Any) -> Any:
    """Text that a spreadsheet would run as a formula, with a quote before it."""
    if not pa.types.is_string(column.type) and not pa.types.is_large_string(column.type):
        return column
    return pa.array(
        [f"'{text}" if text and _FORMULA.match(text) else text for text in column.to_pylist()]
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
