"""Small files of every kind that the package writes or reads, and what it means that one was read unharmed."""

import gzip
import warnings
from dataclasses import fields, replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shapley2d import (
    KNN,
    Exact,
    Forest,
    MonteCarlo,
    Valuation,
    value_cells,
    value_game,
)

ROWS, COLUMNS = 8, 3
X = np.random.default_rng(5).normal(size=(ROWS, COLUMNS)).round(2)
Y = np.array(["no", "yes"] * (ROWS // 2))
X_VALID, Y_VALID = X[::-1] + 0.25, Y
DRAWS = MonteCarlo("gaussian_nb", max_draws=6, tolerance=0)


def game(S, F):
    """A game that is cheap and not additive."""
    return float(np.sqrt(S.sum() * F[0] + S[0]) + 0.1 * F.sum())


def cells(path=None, method=DRAWS, **run):
    """Values of cells, sampled."""
    return value_cells(
        X, Y, X_VALID, Y_VALID, method=method, checkpoint=path, progress=False, **run
    )


def groups(path=None, method=DRAWS, **run):
    """Values of groups, sampled."""
    table = pa.table(list(X.T), names=["0", "b", "c"])
    return value_cells(
        table, Y, table, Y, row_groups=["Ann", "Bob é", "Cem", "Dee"] * 2, column_groups={"0": "é"},
        method=method, checkpoint=path, progress=False, **run,
    )  # fmt: skip


def of_game(path=None, method=DRAWS, **run):
    """Values of a game without a table."""
    asked = {"method": method, "name": "game", "checkpoint": path, "progress": False}
    return value_game(game, 5, 3, **asked, **run)


RUNS = {"cells": cells, "groups": groups, "game": of_game}
"""Every kind of run whose checkpoint holds means of permutations."""

KNN_TABLE = np.random.default_rng(6).normal(size=(90, 8)).round(1)
KNN_LABELS = np.where(KNN_TABLE[:, 0] + KNN_TABLE[:, 1] * KNN_TABLE[:, 2] > 0, "yes", "no")
VALIDATED = KNN_TABLE[:60], KNN_LABELS[:60], KNN_TABLE[60:], KNN_LABELS[60:]
SAMPLED = KNN(n_neighbors=3, subsets="sampled")


def piecewise(*data, function=value_cells, **asked):
    """A run of some data under a checkpoint."""
    return lambda path=None, **run: function(*data, checkpoint=path, progress=False, **asked, **run)


PIECES = {
    "knn sampled": piecewise(*VALIDATED, method=replace(SAMPLED, n_subsets=60)),
    "knn exact": piecewise(*VALIDATED, method=KNN(n_neighbors=3, subsets="all")),
    # chunks of validation rows that have coalitions of their own
    "knn streamed": piecewise(
        KNN_TABLE, KNN_LABELS, cv=5, method=replace(SAMPLED, valid_rows="auto", tolerance=0.1)
    ),
    "knn crossed": piecewise(
        KNN_TABLE[:40, :6], KNN_LABELS[:40], cv=2, include_label=True,
        method=replace(SAMPLED, n_subsets=40),
    ),
    "exact": piecewise(X[:6], Y[:6], cv=2, method=Exact("gaussian_nb")),
    "forest": piecewise(
        KNN_TABLE[:40], KNN_LABELS[:40], cv=2, method=Forest(max_draws=24, tolerance=0)
    ),
    "exact groups": piecewise(
        *VALIDATED, row_groups=np.arange(60) // 15, column_groups=np.arange(8) // 2,
        method=Exact(KNN(n_neighbors=3)),
    ),
}  # fmt: skip
"""Every other kind of run that has a checkpoint: its work is in numbered pieces."""


def write_samples(folder):
    """Write valuations, checkpoints and tables into a folder, and return their paths by kind."""
    found = {"valuation": [], "checkpoint": [], "table": []}
    table = pa.table({"number": X[:, 0], "city": ["A", "B", None, "é"] * 2, "label": Y})
    for name, run in RUNS.items():
        checkpoint, path = folder / f"{name}.npz", folder / f"{name}.parquet"
        run(checkpoint, replace(DRAWS, max_draws=2))
        run(checkpoint).save(path)
        found["valuation"].append(path)
        found["checkpoint"].append(checkpoint)
    typed = value_cells(
        table.drop_columns("label"), Y, method=KNN(n_neighbors=1), cv=2, progress=False
    )
    typed.save(folder / "typed.parquet")
    found["valuation"].append(folder / "typed.parquet")
    text = "number,city,label\n" + "".join(
        f"{row['number']},{row['city'] or ''},{row['label']}\n" for row in table.to_pylist()
    )
    (folder / "table.csv").write_text(text, encoding="utf-8")
    (folder / "table.csv.gz").write_bytes(gzip.compress(text.encode()))
    pq.write_table(table, folder / "in.parquet")
    found["table"] = [folder / name for name in ("table.csv", "table.csv.gz", "in.parquet")]
    return found


def content(valuation):
    """Everything in a valuation, to the bit, as one comparable value."""
    parts = []
    for field in fields(valuation):
        value = getattr(valuation, field.name)
        if field.name == "_table":
            value = (
                None
                if value is None
                else (valuation._contents, [column.kind for column in value.columns])
            )
        parts.append(
            (
                field.name,
                value.dtype.str,
                value.tolist() if value.dtype.hasobject else value.tobytes(),
            )
            if isinstance(value, np.ndarray)
            else (field.name, value)
        )
    return repr(parts)


def loaded(path):
    """The content of a saved valuation, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return content(Valuation.load(path))
