"""Files that do not come with the package, from the folder that SHAPLEY2D_DATA names."""

from __future__ import annotations

import os
from pathlib import Path

from shapley2d.exceptions import InputError

VARIABLE = "SHAPLEY2D_DATA"


def find_file(*names: str, title: str, origin: str) -> Path:
    """The first of some files that is in the folder.

    Parameters
    ----------
    *names : str
        Names that the file may have; the first is the one that messages name.
    title, origin : str
        What the file is and where to get it, for the message.

    Raises
    ------
    InputError
        Where the variable is not set or the folder has none of the files.
    """
    folder = os.environ.get(VARIABLE)
    advice = (
        f"get {names[0]} from {origin} and set the environment variable {VARIABLE} to its folder"
    )
    if not folder:
        raise InputError(f"{title} does not come with the package: {advice}")
    for name in names:
        path = Path(folder).expanduser() / name
        if path.is_file():
            return path
    raise InputError(
        f"{title} does not come with the package, and {folder} ({VARIABLE}) has no {names[0]}: {advice}"
    )
