"""Credit: who fails to pay the next bill of a credit card."""

from __future__ import annotations

from typing import Any

import numpy as np

from shapley2d.datasets.arrow import name_codes, to_frame
from shapley2d.datasets.bundled import bundled_table

TARGET = "default_payment_next_month"
CODES = {
    "SEX": {1: "male", 2: "female"},
    "EDUCATION": {
        0: "undocumented 0",
        1: "graduate school",
        2: "university",
        3: "high school",
        4: "others",
        5: "undocumented 5",
        6: "undocumented 6",
    },
    "MARRIAGE": {0: "undocumented 0", 1: "married", 2: "single", 3: "others"},
}
"""The columns that hold codes, and what the codes mean."""


def load_credit(frame: str | None = None) -> tuple[Any, np.ndarray[Any, Any]]:
    """Credit: 30,000 credit-card clients in Taiwan in 2005, and whether they paid the next bill.

    The table comes with the package (UCI Machine Learning Repository, CC BY 4.0; Yeh 2009,
    https://doi.org/10.24432/C55S3H). Nothing is missing. ``SEX``, ``EDUCATION`` and ``MARRIAGE``
    are categories, named as the source documents them. Codes that it does not document, 0, 5 and 6
    of ``EDUCATION`` and 0 of ``MARRIAGE``, are kept as ``"undocumented 0"`` and so on. The other
    columns are whole numbers: limit, age, and for six months the delay of payment (-2 and 0 are not
    documented either), the bill and the amount paid. The running number of a client, ``ID``, is no
    column: it is the row's position plus one.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.

    Returns
    -------
    X : frame of shape (30000, 23)
    y : ndarray of shape (30000,)
        ``"paid"`` (23,364) or ``"default"`` (6,636).

    Examples
    --------
    >>> from shapley2d.datasets import load_credit
    >>> X, y = load_credit("pyarrow")
    >>> X.shape, int((y == "default").sum())
    ((30000, 23), 6636)
    >>> X["EDUCATION"][0].as_py(), X["LIMIT_BAL"][0].as_py()
    ('university', 20000)
    """
    table = bundled_table("credit")
    y = np.where(table[TARGET].to_numpy() == 1, "default", "paid")
    table = table.drop_columns([TARGET])
    for column, names in CODES.items():
        named = name_codes(table[column], names)
        table = table.set_column(table.column_names.index(column), column, named)
    return to_frame(table, frame), y
