"""Heart: the Kaggle file of 1,025 patients that the paper calls Heart Failure."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.datasets.arrow import name_codes, read_csv, to_frame
from shapley2d.datasets.folder import find_file
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from pathlib import Path

ORIGIN = "https://www.kaggle.com/datasets/johnsmith88/heart-disease-dataset"
_SHA256 = "ea77cdebac756ab984173c29107ccf4848577fffb77b5848a65e0426d473589b"  # with LF line ends

CODES = {
    "sex": {0: "female", 1: "male"},
    "cp": {0: "asymptomatic", 1: "atypical angina", 2: "non-anginal pain", 3: "typical angina"},
    "restecg": {0: "left ventricular hypertrophy", 1: "normal", 2: "ST-T wave abnormality"},
    "slope": {0: "downsloping", 1: "flat", 2: "upsloping"},
    "thal": {1: "fixed defect", 2: "normal", 3: "reversible defect"},
}
"""The columns that hold codes, by the codes of this file; UCI's file has others. 0 of thal is a missing entry."""

FLAGS = ("fbs", "exang")
"""The columns that hold yes or no: sugar above 120 mg/dl when fasting, angina when exercising."""

_MISSING_VESSELS = 4


def load_heart(
    frame: str | None = None, *, distinct: bool = False
) -> tuple[Any, np.ndarray[Any, Any]]:
    """Heart: 1,025 rows about patients of a heart clinic in Cleveland, of which only 302 are distinct.

    The file does not come with the package, because its licence is not known: get ``heart.csv``
    from https://www.kaggle.com/datasets/johnsmith88/heart-disease-dataset and set the environment
    variable ``SHAPLEY2D_DATA`` to its folder. It is a recoded copy of UCI's Heart Disease (Janosi
    et al. 1989, https://doi.org/10.24432/C52P4X), and three things about it matter:

    - 723 of the rows repeat another one. In a random half-and-half split most test rows have a twin in the
      training part, so a model can look them up. ``distinct=True`` leaves the repeats out.
    - ``target`` is the other way round than in UCI's file: 1 means *no* disease.
    - ``ca`` 4 and ``thal`` 0 stand for missing entries, and are missing here.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.
    distinct : bool
        Keep only the first of the rows that are the same.

    Returns
    -------
    X : frame of shape (1025, 13), or (302, 13) where distinct
        ``sex``, ``cp``, ``restecg``, ``slope`` and ``thal`` are categories, ``fbs`` and ``exang``
        booleans.
    y : ndarray of shape (1025,) or (302,)
        ``"disease"`` (499, of the distinct 138) or ``"no disease"`` (526, of the distinct 164).

    Raises
    ------
    InputError
        Where the file is not there, or is another one.

    Examples
    --------
    >>> from shapley2d.datasets import load_heart
    >>> X, y = load_heart(distinct=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (302, 13)
    """
    import pyarrow as pa

    table = heart_table()
    if distinct:
        rows = np.column_stack([table[name].to_numpy() for name in table.column_names])
        first = np.unique(rows, axis=0, return_index=True)[1]
        table = table.take(pa.array(np.sort(first)))
    columns = {name: table[name] for name in table.column_names if name != "target"}
    for name, names in CODES.items():
        columns[name] = name_codes(table[name], names)
    for name in FLAGS:
        columns[name] = table[name].cast(pa.bool_())
    vessels = table["ca"].to_numpy()
    columns["ca"] = pa.array(vessels, mask=vessels == _MISSING_VESSELS)
    return to_frame(pa.table(columns), frame), np.where(
        table["target"].to_numpy() == 1, "no disease", "disease"
    )


def heart_table() -> Any:
    """The file as it is, all codes, as a pyarrow table; the message of an InputError says how to get it."""
    path = find_file("heart.csv", "heart.csv.gz", title="Heart", origin=ORIGIN)
    content = _unpacked(path).replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
    if hashlib.sha256(content).hexdigest() != _SHA256:
        raise InputError(f"{path} is not the file of 1,025 rows from {ORIGIN}: its content differs")
    return read_csv(content)


def _unpacked(path: Path) -> bytes:
    packed = path.read_bytes()
    if path.suffix != ".gz":
        return packed
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from error
