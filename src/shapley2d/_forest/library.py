"""Readers of tree libraries: the interface of a reader, and what all readers share."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from shapley2d._base.words import shown
from shapley2d._forest.losses import LOSSES, MEDIANS, QUANTILES, quantile_loss
from shapley2d._tables.encoding import as_float32
from shapley2d.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from shapley2d._base.arrays import Floats
    from shapley2d._forest.losses import Loss
    from shapley2d._forest.model import Model
    from shapley2d._tables.table import Column, Table


NO_DART = (
    " was boosted by DART, which leaves trees out at random: what each tree was fitted on cannot "
    "be known; use another booster"
)
"""The end of a message about a model of DART."""


class Library(ABC):
    """The reader of one library's models.

    ``name, module``: the names by which it is installed and imported.
    ``known``: the version that is tested.
    ``kinds``: its classes of tree ensembles.
    ``counts_classes``: whether labels must be 0, 1, 2, ...
    ``quiet``: for several parameters the first of their names, and what it is set to where the user
        has set none of them: then a model prints nothing and writes no files.
    """

    name: ClassVar[str]
    module: ClassVar[str]
    known: ClassVar[str]
    kinds: ClassVar[tuple[str, ...]]
    counts_classes: ClassVar[bool] = False
    quiet: ClassVar[tuple[tuple[tuple[str, ...], Any], ...]] = ()

    def owns(self, model: Any) -> bool:
        """Whether a model is one of its tree ensembles, fitted or not."""
        return is_of(model, self.module, *self.kinds)

    def count_trees(self, booster: Any) -> int:
        """The number of trees in a model that is not of scikit-learn's protocol."""
        raise NotImplementedError

    @abstractmethod
    def fitted_on(self, model: Any) -> tuple[int, list[str] | None]:
        """The number of columns that a model was fitted on, and their names if it had any."""

    @abstractmethod
    def read(self, model: Any) -> Model:
        """Read a fitted model."""

    @contextmanager
    def parsing(self, model: Any) -> Iterator[None]:
        """Turn errors of parsing into one that says which version of the library is known."""
        try:
            yield
        except (AttributeError, KeyError, IndexError, TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{about(model)} keeps its trees in a way that is not known: {self.version_words}"
            ) from error

    @property
    def version_words(self) -> str:
        """Which version is here, and which is known."""
        version = getattr(sys.modules[self.module], "__version__", "of an unknown version")
        return f"{self.name} is {version}, and {self.known} is known to work"


def named_columns(names: Sequence[Any], unnamed: str) -> tuple[int, list[str] | None]:
    """The number of columns, and their names; None for those that a library gives by itself.

    >>> named_columns(["Column_0", "Column_1"], "Column_{}"), named_columns(["a"], "{}")
    ((2, None), (1, ['a']))
    """
    found = [str(name) for name in names]
    own = [unnamed.format(j) for j in range(len(found))]
    return len(found), None if found == own else found


def loss_named(model: Any, name: str, quantile: Any = 0.5) -> Loss:
    """The loss of a model; one that is not known, or has no value for single rows, is refused."""
    if name in MEDIANS + QUANTILES:
        return quantile_loss(0.5 if name in MEDIANS else float(quantile))
    if name not in LOSSES:
        raise InputError(
            f"{about(model)} was fitted by {name!r}, and the losses that can be valued are the "
            "squared error, the log loss, the Poisson and Gamma deviance, and those of quantiles"
        )
    return LOSSES[name]


def class_weights(given: Any) -> Callable[[NDArray[Any]], Floats] | None:
    """``weigh(y)`` for weights of classes, as scikit-learn takes them or by sorted class.

    >>> class_weights([1.0, 3.0])(np.array(["no", "yes"])), class_weights([1.0, 1.0])
    (array([1., 3.]), None)
    """
    if given is None or (isinstance(given, list) and {*given} <= {1.0}):
        return None

    def weigh(y: NDArray[Any]) -> Floats:
        if isinstance(given, list):
            return np.array(given, dtype=np.float64)[np.unique(y, return_inverse=True)[1]]
        return np.asarray(compute_sample_weight(given, y))

    return weigh


def by_rounds(count: int, per_round: int) -> tuple[list[int], list[list[int]]]:
    """The output of every tree, and numbers of trees in rounds with one for each output.

    >>> by_rounds(4, 2)
    ([0, 1, 0, 1], [[0, 1], [2, 3]])
    """
    rounds = [list(range(i, min(i + per_round, count))) for i in range(0, count, per_round)]
    return [t % per_round for t in range(count)], rounds


def columns_of(raw: Any) -> Floats:
    """Raw predictions with one column per output."""
    found = np.asarray(raw, dtype=np.float64)
    return found[:, None] if found.ndim == 1 else found


def is_of(model: Any, module: str, *names: str) -> bool:
    """Whether a model is an instance of a library's classes, without importing the library."""
    library = sys.modules.get(module)
    kinds = [getattr(library, name, None) for name in names]
    return isinstance(model, tuple(kind for kind in kinds if isinstance(kind, type)))


def about(model: Any) -> str:
    """The option ``model`` for a message; without its value if that has no ``repr`` of its own."""
    return f"model={shown(model)}" if has_text(model) else "model"


def has_text(model: Any) -> bool:
    """Whether a model has a ``repr`` of its own, not only its address in memory."""
    return bool(getattr(type(model), "__repr__", None) != object.__repr__)


def numbers(model: Any, column: Column) -> Floats:
    """The entries of a column as numbers; columns of other kinds are refused."""
    if column.kind in ("category", "date"):
        held = {"category": "categories", "date": "dates"}[column.kind]
        raise InputError(
            f"{about(model)} was fitted on numbers, but column {column.name!r} holds {held}: pass "
            "the table that it was fitted on, or the model unfitted"
        )
    return column.entries


def rounded(model: Any, column: Column) -> Floats:
    """The numbers of a column, rounded to 32 bits."""
    return as_float32(numbers(model, column)).astype(np.float64)


def is_categorical(table: Table, j: int) -> bool:
    """Whether a column of the user's table has a categorical type."""
    if isinstance(table.native, np.ndarray):
        return False
    return nw.from_native(table.native, eager_only=True)[:, j].dtype in (nw.Categorical, nw.Enum)


def own_entries(table: Table, j: int) -> list[Any]:
    """The entries of a column as the user's table has them."""
    if isinstance(table.native, np.ndarray):
        return list(table.native[:, j].tolist())
    return list(nw.from_native(table.native, eager_only=True)[:, j].to_list())


def positions(entries: Sequence[Any], known: Sequence[Any]) -> Floats:
    """The position of every entry in a list of known ones; NaN for an unknown entry.

    >>> positions(["b", None, "a", "z"], ["a", "b"])
    array([ 1., nan,  0., nan])
    """
    place = {entry: float(k) for k, entry in enumerate(known)}
    return np.array([place.get(entry, np.nan) for entry in entries])
