"""The paper's tables, cut into rows that train, rows that validate and rows that test.

The paper has two parts only and evaluates on the rows that the values were computed with. Here a
third part stays out of sight, so that both can be shown: how a model does on the rows that the
values know, and on unseen rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shapley2d.exceptions import InputError
from shapley2d_paper.harness.experiment import Unavailable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from shapley2d_paper.data.tables import PaperTable

DATASETS = ("census", "credit", "breast_cancer", "heart", "wine")
"""The paper's datasets by name."""

TITLES = {
    "census": "Census",
    "credit": "Credit",
    "breast_cancer": "Breast Cancer",
    "heart": "Heart",
    "heart_distinct": "Heart, distinct rows",
    "wine": "Wine",
}
"""Their names for a reader."""


@dataclass(frozen=True)
class Parts:
    """A table cut in three; entries are numbers, categories as codes.

    Attributes
    ----------
    name : str
    X, y : ndarray of shape (n, m) and (n,)
        Training rows.
    X_valid, y_valid, X_test, y_test : ndarray
        Validation and test rows.
    column_names : list of str
    categorical : ndarray of shape (m,)
        Which columns hold codes.
    """

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.intp]
    X_valid: NDArray[np.float64]
    y_valid: NDArray[np.intp]
    X_test: NDArray[np.float64]
    y_test: NDArray[np.intp]
    column_names: list[str]
    categorical: NDArray[np.bool_]


def whole_table(name: str) -> PaperTable:
    """A table as the paper uses it, all numbers; :class:`Unavailable` where it is missing."""
    from shapley2d_paper.data.tables import paper_table

    source = {"breast_cancer": "breast_cancer_original", "heart_distinct": "heart"}.get(name, name)
    try:
        return paper_table(source)
    except InputError as error:
        raise Unavailable(str(error)) from error


def split_table(
    name: str,
    seed: int,
    *,
    n_train: int | None = None,
    n_valid: int | None = None,
    n_test: int | None = None,
) -> Parts:
    """Cut a table at random, stratified by class.

    Parameters
    ----------
    name : str
        One of :data:`DATASETS`, or ``"heart_distinct"`` for the 302 distinct rows of Heart.
    seed : int
    n_train, n_valid, n_test : int, optional
        Rows of each part. By default the paper's number trains (Census and Credit: 300, a sample)
        and the rest is halved, at most 1,000 rows to validate and 4,000 to test. Breast Cancer is
        first cut down to as many benign as malignant rows, near enough to what the authors did (244
        and 239).
    """
    table = whole_table(name)
    rng = np.random.default_rng(
        np.random.SeedSequence(seed, spawn_key=(DATASETS.index(name.removesuffix("_distinct")),))
    )
    rows = np.arange(len(table.numbers))
    if name == "heart_distinct":
        rows = np.sort(np.unique(table.numbers, axis=0, return_index=True)[1])
    if name == "breast_cancer":
        few = int(np.argmin(np.bincount(table.labels)))
        rare, common = (np.flatnonzero(test) for test in (table.labels == few, table.labels != few))
        rows = np.concatenate([rare, rng.choice(common, rare.size + 5, replace=False)])
    paper = {
        "census": 300,
        "credit": 300,
        "breast_cancer": 242,
        "heart": 512,
        "heart_distinct": 151,
        "wine": 106,
    }
    n_train = min(n_train or paper[name], rows.size // 2 if name != "wine" else 106)
    rest = rows.size - n_train
    n_valid = n_valid or min(1000, rest // 2)
    n_test = n_test or min(4000, rest - n_valid)
    order = _stratified(table.labels[rows], (n_train, n_valid, n_test), rng)
    train, valid, test = (rows[part] for part in order)
    return Parts(
        name,
        table.numbers[train],
        table.labels[train],
        table.numbers[valid],
        table.labels[valid],
        table.numbers[test],
        table.labels[test],
        list(table.column_names),
        table.categorical,
    )


def _stratified(
    labels: NDArray[np.intp], sizes: tuple[int, ...], rng: np.random.Generator
) -> list[NDArray[np.intp]]:
    """Disjoint random parts of these sizes with the classes in proportion."""
    order = rng.permutation(labels.size)
    # rows of a class spread evenly over (0, 1): any stretch of the merged order has the classes in
    # proportion
    place = np.empty(labels.size)
    for code in np.unique(labels):
        members = order[labels[order] == code]
        place[members] = (np.arange(members.size) + rng.uniform()) / members.size
    merged = np.argsort(place, kind="stable")
    ends = np.cumsum(sizes)
    return [
        rng.permutation(merged[end - size : end]) for end, size in zip(ends, sizes, strict=True)
    ]
