"""Public tables, each as a frame of features and its target, and every table by its name."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from shapley2d._base.arrow import pa
from shapley2d._base.words import did_you_mean, one_of, shown
from shapley2d.datasets.sources import (
    as_categories,
    bundled_table,
    find_file,
    name_codes,
    read_csv,
    to_frame,
)
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Loaded = tuple[Any, "np.ndarray[Any, Any]"]
"""A frame of features and the target."""

CensusPart = Literal["train", "test", "both"]

CENSUS_TRAIN = 32_561
"""Rows of the official training part of Census, which come first in the file."""

CENSUS_CATEGORIES = (
    "workclass",
    "education",
    "marital_status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "native_country",
)
"""The columns of Census that hold categories."""

CREDIT_TARGET = "default_payment_next_month"
CREDIT_CODES = {
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
"""The columns of Credit that hold codes, and what the codes mean."""

HEART_ORIGIN = "https://www.kaggle.com/datasets/johnsmith88/heart-disease-dataset"
_HEART_SHA256 = (
    "ea77cdebac756ab984173c29107ccf4848577fffb77b5848a65e0426d473589b"  # with LF line ends
)

HEART_CODES = {
    "sex": {0: "female", 1: "male"},
    "cp": {0: "asymptomatic", 1: "atypical angina", 2: "non-anginal pain", 3: "typical angina"},
    "restecg": {0: "left ventricular hypertrophy", 1: "normal", 2: "ST-T wave abnormality"},
    "slope": {0: "downsloping", 1: "flat", 2: "upsloping"},
    "thal": {1: "fixed defect", 2: "normal", 3: "reversible defect"},
}
"""Codes of Heart, as in this file (UCI's differ); 0 of thal is missing."""

HEART_FLAGS = ("fbs", "exang")
"""Yes or no: fasting blood sugar above 120 mg/dl, angina induced by exercise."""


def load_breast_cancer_original(frame: str | None = None) -> Loaded:
    """Breast Cancer Wisconsin (Original): 699 patients, 9 grades of 1 to 10, benign or malignant.

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


def load_census(part: CensusPart = "train", frame: str | None = None) -> Loaded:
    """Census (Adult): 48,842 Americans in 1994, and whether they earn over 50,000 dollars.

    The table comes with the package (UCI Machine Learning Repository, CC BY 4.0; Becker & Kohavi
    1996, https://doi.org/10.24432/C5XW20). Six columns are whole numbers and eight are categories.
    Entries of ``workclass``, ``occupation`` and ``native_country`` are missing in some rows.
    ``fnlwgt`` is the weight of the row in the survey, not a property of the person.

    Parameters
    ----------
    part : {"train", "test", "both"}
        UCI's own split into 32,561 training rows and 16,281 test rows; ``"both"`` has the
        training rows first.
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
    if part not in get_args(CensusPart):
        raise InputError(f"part={shown(part)} must be {one_of(get_args(CensusPart))}")
    table = bundled_table("census")
    for j, name in enumerate(table.column_names):
        if name in CENSUS_CATEGORIES:  # over both parts, so that they share their categories
            table = table.set_column(j, name, as_categories(table[name]))
    rows = {"train": (0, CENSUS_TRAIN), "test": (CENSUS_TRAIN, None), "both": (0, None)}[part]
    table = table.slice(*rows)
    return to_frame(table.drop_columns(["income"]), frame), np.array(table["income"].to_pylist())


def load_credit(frame: str | None = None) -> Loaded:
    """Credit: 30,000 credit-card clients in Taiwan in 2005, and whether they paid the next bill.

    The table comes with the package (UCI Machine Learning Repository, CC BY 4.0; Yeh 2009,
    https://doi.org/10.24432/C55S3H). Nothing is missing. ``SEX``, ``EDUCATION`` and ``MARRIAGE``
    are categories, named as the source documents them. Codes that it does not document, 0, 5 and 6
    of ``EDUCATION`` and 0 of ``MARRIAGE``, are kept as ``"undocumented 0"`` and so on. The other
    columns are whole numbers: limit, age, and for six months the delay of payment (-2 and 0 are not
    documented either), the bill and the amount paid. The client's number ``ID`` is left
    out: it is the row's position plus one.

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
    y = np.where(table[CREDIT_TARGET].to_numpy() == 1, "default", "paid")
    table = table.drop_columns([CREDIT_TARGET])
    for column, names in CREDIT_CODES.items():
        named = name_codes(table[column], names)
        table = table.set_column(table.column_names.index(column), column, named)
    return to_frame(table, frame), y


def load_heart(frame: str | None = None, *, distinct: bool = False) -> Loaded:
    """Heart: 1,025 rows about patients of a Cleveland clinic, of which only 302 are distinct.

    The file does not come with the package, because its licence is not known: get ``heart.csv``
    from https://www.kaggle.com/datasets/johnsmith88/heart-disease-dataset and set the environment
    variable ``SHAPLEY2D_DATA`` to its folder. It is a recoded copy of UCI's Heart Disease (Janosi
    et al. 1989, https://doi.org/10.24432/C52P4X), and three things about it matter:

    - 723 rows are duplicates. In a random half-and-half split most test rows have a duplicate in
      the training part, so a model can look them up. ``distinct=True`` drops duplicates.
    - ``target`` is reversed compared with UCI's file: 1 means *no* disease.
    - ``ca`` 4 and ``thal`` 0 are codes for missing entries, and are missing here.

    Parameters
    ----------
    frame : {"pandas", "polars", "pyarrow"}, optional
        The kind of frame; pandas where it is installed, else pyarrow.
    distinct : bool
        Drop duplicate rows.

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
        If the file is not found or has another content.

    Examples
    --------
    >>> from shapley2d.datasets import load_heart
    >>> X, y = load_heart(distinct=True)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (302, 13)
    """
    table = heart_table()
    if distinct:
        rows = np.column_stack([table[name].to_numpy() for name in table.column_names])
        first = np.unique(rows, axis=0, return_index=True)[1]
        table = table.take(pa.array(np.sort(first)))
    columns = {name: table[name] for name in table.column_names if name != "target"}
    for name, names in HEART_CODES.items():
        columns[name] = name_codes(table[name], names)
    for name in HEART_FLAGS:
        columns[name] = table[name].cast(pa.bool_())
    vessels = table["ca"].to_numpy()
    columns["ca"] = pa.array(vessels, mask=vessels == 4)
    return to_frame(pa.table(columns), frame), np.where(
        table["target"].to_numpy() == 1, "no disease", "disease"
    )


def heart_table() -> Any:
    """The file with its codes as a pyarrow table; an InputError says how to get it."""
    path = find_file("heart.csv", "heart.csv.gz", title="Heart", origin=HEART_ORIGIN)
    content = _unpacked(path).replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
    if hashlib.sha256(content).hexdigest() != _HEART_SHA256:
        raise InputError(
            f"{path} is not the file of 1,025 rows from {HEART_ORIGIN}: its content differs"
        )
    return read_csv(content)


def _unpacked(path: Path) -> bytes:
    packed = path.read_bytes()
    if path.suffix != ".gz":
        return packed
    try:
        return gzip.decompress(packed)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path} cannot be unpacked: {error}") from error


def load_wine(frame: str | None = None) -> Loaded:
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
    return to_frame(pa.table(columns), frame), wine.target_names[wine.target]


_LOADERS: dict[str, Callable[..., Loaded]] = {
    "breast_cancer_original": load_breast_cancer_original,
    "census": load_census,
    "credit": load_credit,
    "heart": load_heart,
    "wine": load_wine,
}

DATASETS = tuple(_LOADERS)
"""The names that ``load_dataset`` and ``paper_table`` know."""


def load_dataset(name: str, frame: str | None = None) -> Loaded:
    """Load a table by its name.

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
    """Check the name of a table; the error names the nearest one."""
    if name not in DATASETS:
        hint = did_you_mean(str(name).lower(), DATASETS, cutoff=0.5)
        raise InputError(f"there is no dataset {name!r}{hint}: choose one of {', '.join(DATASETS)}")
    return name
