"""What the authors of the paper published: their breast-cancer split and their 2D-KNN values."""

from __future__ import annotations

import hashlib
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.datasets.sources import find_file
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ORIGIN = "https://github.com/ruoxi-jia-group/2dshapley (pickles there; converted to npz)"
_SPLIT = "breast_cancer_paper_split.npz"
_VALUES = "breast_2d_values_paper.npz"
_SHA256 = {
    _SPLIT: "8a5d9397e6a898e466ed2ccc3b09d52f9c76169e566b856993c0b7fc41097b2c",
    _VALUES: "4af6907863ab744dcbc1a382f0ad3b498af68592add17440706773f3be02c705",
}


@dataclass(frozen=True, eq=False)
class PaperSplit:
    """The authors' split of Breast Cancer Wisconsin (Original), clean and with 43 changed cells.

    Attributes
    ----------
    X_train : ndarray of int64, shape (241, 9)
    y_train : ndarray of int64, shape (241,)
        2 is benign (122 rows), 4 is malignant (119 rows).
    X_test : ndarray of int64, shape (242, 9)
    y_test : ndarray of int64, shape (242,)
    X_train_outlier : ndarray of int64, shape (241, 9)
        The training rows after 43 cells were given values unlikely for their class.
    outlier : ndarray of bool, shape (241, 9)
        Those cells: 20 in benign rows, 23 in malignant ones.
    feature_names : tuple of str
    """

    X_train: NDArray[np.int64]
    y_train: NDArray[np.int64]
    X_test: NDArray[np.int64]
    y_test: NDArray[np.int64]
    X_train_outlier: NDArray[np.int64]
    outlier: NDArray[np.bool_]
    feature_names: tuple[str, ...]


def load_paper_split() -> PaperSplit:
    """The authors' own breast-cancer split, ``breast_cancer_paper_split.npz``.

    They left out 200 benign patients to balance the classes, halved the rest at random, and changed
    2 % of the training cells. The seed is not published.

    Returns
    -------
    PaperSplit

    Raises
    ------
    InputError
        Where the file is not there, or is another one.

    Examples
    --------
    >>> from shapley2d_paper.data import load_paper_split
    >>> int(load_paper_split().outlier.sum())  # doctest: +SKIP
    43
    """
    arrays = _arrays(_SPLIT, "the authors' breast-cancer split")
    outlier = np.zeros(arrays["X_train"].shape, dtype=bool)
    for cells in ("outlier_cells_benign", "outlier_cells_malignant"):
        outlier.flat[arrays[cells]] = True
    return PaperSplit(
        arrays["X_train"],
        arrays["y_train"],
        arrays["X_test"],
        arrays["y_test"],
        arrays["X_train_outlier"],
        outlier,
        tuple(arrays["feature_names"].tolist()),
    )


def load_paper_values() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The authors' published 2D-KNN values, ``breast_2d_values_paper.npz``.

    They belong to the training rows of ``load_paper_split``: K = 10, 1,000 orders of the columns.
    Distances tie often in this table and the authors break ties by sort order, so compare ranks,
    not single cells.

    Returns
    -------
    values_clean : ndarray of shape (241, 9)
    values_outlier : ndarray of shape (241, 9)
        Of the table with the 43 changed cells.

    Raises
    ------
    InputError
        Where the file is not there, or is another one.

    Examples
    --------
    >>> from shapley2d_paper.data import load_paper_values
    >>> clean, outlier = load_paper_values()  # doctest: +SKIP
    >>> clean.shape  # doctest: +SKIP
    (241, 9)
    """
    arrays = _arrays(_VALUES, "the authors' table of values")
    clean, outlier = (
        np.ascontiguousarray(arrays[key].T) for key in ("values_clean", "values_outlier")
    )
    return clean, outlier


def _arrays(name: str, title: str) -> dict[str, NDArray[Any]]:
    path = find_file(name, title=title, origin=_ORIGIN)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != _SHA256[name]:
        raise InputError(f"{path} is damaged or another file: its checksum differs")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}
