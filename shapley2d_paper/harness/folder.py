"""The folder of a reproduction: finished pieces, and per experiment a CSV file and a figure.

Every piece has a file of its own, written when it is done and not before. What is there is not
computed again, so a run that was interrupted goes on where it stopped. A piece is there if it was
computed with the same settings, the same version and the same code.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

from shapley2d import __version__
from shapley2d._base.atomic_write import atomic_write
from shapley2d.exceptions import InputError
from shapley2d_paper.harness.records import Records, read_records, write_records

if TYPE_CHECKING:
    from pathlib import Path

    from shapley2d_paper.harness.experiment import Experiment, Piece
    from shapley2d_paper.harness.records import Row

State = Literal["done", "missing", "code changed"]
"""What is there of a piece."""

RUN_FILE = "run.json"
"""Facts about the run: quick or full, version, hardware."""


class Folder:
    """Where a reproduction keeps what it has computed.

    Parameters
    ----------
    path : Path
        Made where it does not exist.
    quick : bool
        A folder holds a quick run or a full one, never a mixture.
    """

    def __init__(self, path: Path, *, quick: bool) -> None:
        if path.exists() and not path.is_dir():
            raise InputError(f"--out {path} is a file: name a folder")
        path.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.quick = quick
        facts = path / RUN_FILE
        if facts.exists():
            there = read_json(facts).get("quick")
            if there != quick:
                kinds = {True: "a quick run", False: "a full run"}
                raise InputError(
                    f"--out {path} holds {kinds[bool(there)]} and {kinds[quick]} was asked for: "
                    "name another folder"
                )
        write_json(facts, {"quick": quick, "version": __version__, "hardware": hardware()})

    def piece_path(self, experiment: Experiment, piece: Piece) -> Path:
        """Where a piece is kept."""
        return self.path / "pieces" / experiment.name / f"{piece.name}.json"

    def state(self, experiment: Experiment, piece: Piece, code: str) -> State:
        """Whether a piece was computed with these settings and this version, and by this code.

        Parameters
        ----------
        experiment : Experiment
        piece : Piece
        code : str
            The digest of the code that would compute it now.
        """
        path = self.piece_path(experiment, piece)
        if not path.exists():
            return "missing"
        kept = read_json(path)
        if kept.get("version") != __version__ or kept.get("settings") != plain(piece.settings):
            return "missing"
        return "done" if kept.get("code") == code else "code changed"

    def keep(
        self, experiment: Experiment, piece: Piece, code: str, rows: list[Row], seconds: float
    ) -> None:
        """Write a piece down."""
        path = self.piece_path(experiment, piece)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(
            path,
            {
                "version": __version__,
                "code": code,
                "settings": plain(piece.settings),
                "seconds": round(seconds, 3),
                "rows": plain(rows),
            },
        )

    def forget(self, experiment: Experiment) -> None:
        """Throw the pieces of an experiment away."""
        for path in (self.path / "pieces" / experiment.name).glob("*.json"):
            path.unlink()

    def gather(self, experiment: Experiment, pieces: list[Piece], code: str) -> Records:
        """Write the experiment's CSV file from its finished pieces, with seed and version."""
        rows: list[Row] = []
        seconds: list[Row] = []
        for piece in pieces:
            if self.state(experiment, piece, code) != "done":
                continue
            kept = read_json(self.piece_path(experiment, piece))
            marks = {"seed": piece.settings["seed"], "version": kept["version"]}
            rows += [{**row, **marks} for row in kept["rows"]]
            seconds.append(
                {
                    "experiment": experiment.name,
                    "piece": piece.name,
                    "seconds": kept["seconds"],
                    **marks,
                }
            )
        write_records(Records(rows), self.csv(experiment.name))
        self._exchange("seconds.csv", experiment.name, seconds)
        return read_records(self.csv(experiment.name))

    def csv(self, name: str) -> Path:
        """The CSV file of an experiment."""
        return self.path / f"{name}.csv"

    def figure(self, name: str) -> Path:
        """The figure of an experiment."""
        return self.path / f"{name}.png"

    def note_left_out(self, name: str, reasons: dict[str, str]) -> None:
        """Write down which pieces this machine lacks something for."""
        rows = [
            {"experiment": name, "piece": piece, "reason": reason}
            for piece, reason in sorted(reasons.items())
        ]
        self._exchange("left_out.csv", name, rows)

    def _exchange(self, file: str, name: str, rows: list[Row]) -> None:
        """Replace the records of an experiment in a file that all share."""
        path = self.path / file
        others = (
            read_records(path).where(lambda row: row["experiment"] != name)
            if path.exists()
            else Records([])
        )
        write_records(Records([*others.rows, *rows]), path)


def hardware() -> str:
    """The machine and the main packages in a few words."""
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "numba", "scikit-learn"))
    return f"{_processor()}, {os.cpu_count()} cores, Python {platform.python_version()}, {packages}"


def _processor() -> str:
    """The processor's name; Linux gives it through ``lscpu``, whatever the architecture."""
    lscpu = shutil.which("lscpu")
    if lscpu is not None:
        try:
            said = subprocess.run([lscpu], capture_output=True, text=True, check=True, timeout=10)  # noqa: S603
        except (OSError, subprocess.SubprocessError):
            return platform.processor() or platform.machine()
        for line in said.stdout.splitlines():
            if line.strip().startswith("Model name:"):
                return f"{platform.machine()} {line.split(':', 1)[1].strip()}"
    return platform.processor() or platform.machine()


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object from a file of ours."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise InputError(
            f"{path} is damaged: delete it, and what it held is computed again"
        ) from error
    return content


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write a JSON object, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1), encoding="utf-8")


def plain(value: Any) -> Any:
    """A value as it comes back from JSON."""
    return json.loads(json.dumps(value, default=lambda number: number.item()))
