"""Loaders that return a frame of features and the target."""

from __future__ import annotations

import gzip
import hashlib
from importlib.resources import files
from typing import Any

import numpy as np

from shapley2d.frames import frame_kind, make_frame

_BREAST_CANCER = "breast_cancer_original.csv.gz"
_SHA256 = "d3c46f082ba1687840a2ebd2117450cd40c29edb13b968a0ed9525697203adf5"


def load_breast_cancer_original(frame: str | None = None) -> tuple[Any, np.ndarray[Any, Any]]:
    """Breast Cancer Wisconsin (Original): 699 patients, 9 gradings from 1 to 10, benign or malignant.

    The table comes with the package (UCI Machine Learning Repository, CC BY 4.0; Wolberg 1990,
    https://doi.org/10.24432/C5HP4Z). 16 entries of ``bare_nuclei`` are missing. It is not the later
    "Diagnostic" table that scikit-learn has.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.

    Returns
    -------
    X : frame of shape (699, 9)
    y : ndarray of shape (699,)
        ``"benign"`` (458) or ``"malignant"`` (241).

    Examples
    --------
    >>> from shapley2d.datasets import load_breast_cancer_original
    >>> X, y = load_breast_cancer_original()
    >>> X.shape, int((y == "malignant").sum())
    ((699, 9), 241)
    """
    from pyarrow import BufferReader, csv

    data = gzip.decompress((files("shapley2d.datasets") / "data" / _BREAST_CANCER).read_bytes())
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise RuntimeError(f"{_BREAST_CANCER} is damaged: install shapley2d again")
    table = csv.read_csv(BufferReader(data))
    features = table.drop_columns(["id", "class"])
    columns = {name: features[name].to_pylist() for name in features.column_names}
    return make_frame(columns, frame or frame_kind(None)), np.array(table["class"].to_pylist())


def load_wine(frame: str | None = None) -> tuple[Any, np.ndarray[Any, Any]]:
    """Wine: 178 wines of three growers, 13 measurements, from scikit-learn's copy.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.

    Returns
    -------
    X : frame of shape (178, 13)
    y : ndarray of shape (178,)
        ``"class_0"``, ``"class_1"`` or ``"class_2"``.

    Examples
    --------
    >>> from shapley2d.datasets import load_wine
    >>> X, y = load_wine()
    >>> X.shape, y[0].item()
    ((178, 13), 'class_0')
    """
    from sklearn import datasets

    wine = datasets.load_wine()
    columns = {name: wine.data[:, j] for j, name in enumerate(wine.feature_names)}
    return make_frame(columns, frame or frame_kind(None)), wine.target_names[wine.target]
