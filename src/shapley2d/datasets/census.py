"""Census (Adult): who earns more than 50,000 dollars a year."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np

from shapley2d._base.words import one_of
from shapley2d.datasets.arrow import as_categories, to_frame
from shapley2d.datasets.bundled import bundled_table
from shapley2d.exceptions import InputError, Setting

Part = Literal["train", "test", "both"]

N_TRAIN = 32_561
"""Rows of the official training part; they come first in the file."""

CATEGORICAL = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
"""The columns that hold categories."""


def load_census(part: Part = "train", frame: str | None = None) -> tuple[Any, np.ndarray[Any, Any]]:
    """Census (Adult): 48,842 people of the United States in 1994, and whether they earn over 50,000 dollars.

    The table comes with the package (UCI Machine Learning Repository, CC BY 4.0; Becker & Kohavi
    1996, https://doi.org/10.24432/C5XW20). Six columns are whole numbers and eight are categories.
    Entries of ``workclass``, ``occupation`` and ``native_country`` are missing in some rows.
    ``fnlwgt`` is the weight of the row in the survey, not a property of the person.

    Parameters
    ----------
    part : {"train", "test", "both"}
        UCI's own split, 32,561 rows to train and 16,281 to test; both together with the training
        rows first.
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.

    Returns
    -------
    X : frame of shape (32561, 14), (16281, 14) or (48842, 14)
        All parts have the same categories, in alphabetical order.
    y : ndarray of shape (n,)
        ``"<=50K"`` or ``">50K"`` (7,841 in the training part, 3,846 in the test part).

    Examples
    --------
    >>> from shapley2d.datasets import load_census
    >>> X, y = load_census()
    >>> X.shape, int((y == ">50K").sum())
    ((32561, 14), 7841)
    """
    if part not in get_args(Part):
        raise InputError(Setting("part", part), f" must be {one_of(get_args(Part))}")
    table = bundled_table("census")
    for j, name in enumerate(table.column_names):
        if name in CATEGORICAL:  # over both parts, so that they share their categories
            table = table.set_column(j, name, as_categories(table[name]))
    rows = {"train": (0, N_TRAIN), "test": (N_TRAIN, None), "both": (0, None)}[part]
    table = table.slice(*rows)
    return to_frame(table.drop_columns(["income"]), frame), np.array(table["income"].to_pylist())
