"""The tables as the paper uses them: all numbers, categories as codes in alphabetical order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d.datasets import loaders
from shapley2d.datasets.loaders import known_name, load_wine
from shapley2d.datasets.sources import as_categories, bundled_table

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

_UCI = "UCI Machine Learning Repository, https://doi.org/10.24432/"


@dataclass(frozen=True, eq=False)
class PaperTable:
    """A table of numbers and its classes.

    Attributes
    ----------
    name : str
    numbers : ndarray of float64, shape (n, m)
    labels : ndarray of intp, shape (n,)
        Positions in ``class_names``.
    column_names : tuple of str
    class_names : tuple of str
    categorical : ndarray of bool, shape (m,)
        The columns whose numbers are codes of categories.
    source : str
        Where the table comes from.
    n_train_official : int or None
        How many of the first rows are the training part, where the source has a split of its own.
    """

    name: str
    numbers: NDArray[np.float64]
    labels: NDArray[np.intp]
    column_names: tuple[str, ...]
    class_names: tuple[str, ...]
    categorical: NDArray[np.bool_]
    source: str
    n_train_official: int | None = None


def paper_table(name: str) -> PaperTable:
    """A table as the paper uses it, all numbers and none missing.

    - ``census``: 48,842 rows, the 32,561 official training rows first, 14 columns. Categories are
      codes in alphabetical order; a missing entry is the category ``"?"``, which comes first.
    - ``credit``: 30,000 rows, 23 columns with the codes of the source. (The paper counts 24
      columns, including the running number.)
    - ``breast_cancer_original``: the 683 complete rows, 9 columns.
    - ``heart``: 1,025 rows, 13 columns with the codes of the file, which does not come with the
      package (see ``load_heart``).
    - ``wine``: 178 rows, 13 columns.

    Parameters
    ----------
    name : {"breast_cancer_original", "census", "credit", "heart", "wine"}

    Returns
    -------
    PaperTable

    Raises
    ------
    InputError
        If there is no such table, or the file of Heart is missing.

    Examples
    --------
    >>> from shapley2d_paper.data import paper_table
    >>> table = paper_table("breast_cancer_original")
    >>> table.numbers.shape, table.class_names
    ((683, 9), ('benign', 'malignant'))
    """
    return _MAKERS[known_name(name)]()


def _breast_cancer() -> PaperTable:
    table = bundled_table("breast_cancer_original").drop_columns(["id"]).drop_null()
    return _coded("breast_cancer_original", table, "class", (), _UCI + "C5HP4Z")


def _census() -> PaperTable:
    table = bundled_table("census")
    return _coded(
        "census", table, "income", loaders.CENSUS_CATEGORIES, _UCI + "C5XW20", loaders.CENSUS_TRAIN
    )


def _coded(
    name: str,
    table: Any,
    target: str,
    categorical: Collection[str],
    source: str,
    n_train: int | None = None,
) -> PaperTable:
    """Number the classes and the categories of a pyarrow table in alphabetical order."""
    for column in categorical:
        codes = as_categories(table[column].fill_null("?")).indices
        table = table.set_column(table.column_names.index(column), column, codes)
    classes = as_categories(table[target])
    labels = classes.indices.to_numpy().astype(np.intp)
    class_names = tuple(classes.dictionary.to_pylist())
    return _as_it_is(
        name, table.drop_columns([target]), labels, class_names, categorical, source, n_train
    )


def _credit() -> PaperTable:
    table = bundled_table("credit")
    labels = table[loaders.CREDIT_TARGET].to_numpy().astype(np.intp)
    features = table.drop_columns([loaders.CREDIT_TARGET])
    return _as_it_is(
        "credit", features, labels, ("paid", "default"), loaders.CREDIT_CODES, _UCI + "C55S3H"
    )


def _heart() -> PaperTable:
    table = loaders.heart_table()
    labels = table["target"].to_numpy().astype(np.intp)
    features, coded = table.drop_columns(["target"]), (*loaders.HEART_CODES, *loaders.HEART_FLAGS)
    return _as_it_is(
        "heart", features, labels, ("disease", "no disease"), coded, loaders.HEART_ORIGIN
    )


def _wine() -> PaperTable:
    table, y = load_wine("pyarrow")
    class_names, labels = np.unique(y, return_inverse=True)
    return _as_it_is("wine", table, labels, tuple(class_names.tolist()), (), _UCI + "C5PC7J")


def _as_it_is(
    name: str,
    features: Any,
    labels: NDArray[np.intp],
    class_names: tuple[str, ...],
    categorical: Collection[str],
    source: str,
    n_train: int | None = None,
) -> PaperTable:
    """Put the columns of numbers of a pyarrow table side by side."""
    names = tuple(features.column_names)
    numbers = np.column_stack([features[column].to_numpy() for column in names]).astype(np.float64)
    flags = np.array([column in categorical for column in names])
    return PaperTable(name, numbers, labels, names, class_names, flags, source, n_train)


_MAKERS: dict[str, Callable[[], PaperTable]] = {
    "breast_cancer_original": _breast_cancer,
    "census": _census,
    "credit": _credit,
    "heart": _heart,
    "wine": _wine,
}
