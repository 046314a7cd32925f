"""The two small tables, and every table by its name: a frame of features and the target."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.datasets.arrow import to_frame
from shapley2d.datasets.bundled import bundled_table
from shapley2d.datasets.census import load_census
from shapley2d.datasets.credit import load_credit
from shapley2d.datasets.heart import load_heart
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable


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
    table = bundled_table("breast_cancer_original")
    return to_frame(table.drop_columns(["id", "class"]), frame), np.array(
        table["class"].to_pylist()
    )


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
    import pyarrow as pa
    from sklearn import datasets

    wine = datasets.load_wine()
    columns = {name: wine.data[:, j] for j, name in enumerate(wine.feature_names)}
    return to_frame(pa.table(columns), frame), wine.target_names[wine.target]


_LOADERS: dict[str, Callable[..., tuple[Any, np.ndarray[Any, Any]]]] = {
    "breast_cancer_original": load_breast_cancer_original,
    "census": load_census,
    "credit": load_credit,
    "heart": load_heart,
    "wine": load_wine,
}

DATASETS = tuple(_LOADERS)
"""The names that ``load_dataset`` and ``paper_table`` know."""


def load_dataset(name: str, frame: str | None = None) -> tuple[Any, np.ndarray[Any, Any]]:
    """One of the tables by its name.

    Parameters
    ----------
    name : {"breast_cancer_original", "census", "credit", "heart", "wine"}
        Census is its training part. Heart needs a file that does not come with the package, see
        ``load_heart``.
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.

    Returns
    -------
    X : frame of shape (n, m)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> from shapley2d.datasets import load_dataset
    >>> X, y = load_dataset("wine")
    >>> X.shape
    (178, 13)
    """
    return _LOADERS[known_name(name)](frame=frame)


def known_name(name: str) -> str:
    """The name as it is; an InputError with the nearest one where there is no such table.

    Examples
    --------
    >>> known_name("wine")
    'wine'
    """
    if name not in DATASETS:
        near = difflib.get_close_matches(str(name).lower(), DATASETS, 1, cutoff=0.5)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise InputError(f"there is no dataset {name!r}{hint}: choose one of {', '.join(DATASETS)}")
    return name
