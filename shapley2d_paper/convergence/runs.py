"""What the experiment on convergence computes: samplers of columns, and Monte Carlo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from shapley2d import KNN, Draw, Draws, Exact, Stratum, value_cells
from shapley2d._base.precision import convergence_ratio, interval_factor
from shapley2d._base.streams import generator
from shapley2d._estimation.total import Total
from shapley2d._knn.kriging import Kriging, sample_pairs
from shapley2d._knn.metric import measure
from shapley2d._knn.neighbours import Neighbours
from shapley2d._knn.utility_game import KnnGame
from shapley2d._models.game_draws import Orders
from shapley2d._models.sweeps import SWEEPS
from shapley2d._tables.problem import make_problem
from shapley2d._theory.axes import nested, set_weights, subsets
from shapley2d_paper.baselines.tree import TreeGame
from shapley2d_paper.convergence.pair_ridge import RidgeFit, fit_ridge
from shapley2d_paper.data.splits import split_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from shapley2d._estimation.estimate import Estimate
    from shapley2d._theory.game import Game
    from shapley2d_paper.harness.records import Row

    Floats = NDArray[np.float64]

NEIGHBOURS = 10
ERROR_LINES = 64  # of random signs, whose squares are variances


def work(*, part: str, **settings: Any) -> list[Row]:
    """One of three parts: column samplers, Monte Carlo on a known game, or on an unknown one."""
    parts: dict[str, Callable[..., list[Row]]] = {
        "columns": _columns,
        "game": _game,
        "table": _table,
    }
    return parts[part](**settings)


def _columns(*, budgets: list[int], n_train: int, n_valid: int, seed: int) -> list[Row]:
    """Samplers of the column axis of a nearest-neighbour game with all column subsets known."""
    phi, n_columns = column_game(n_train, n_valid, seed)
    everything = subsets(n_columns)
    exact = phi(everything).T @ set_weights(everything, "shapley")
    facts = {"what": "columns", "game": "knn", "n_rows": n_train, "n_columns": n_columns}
    rows: list[Row] = []
    counts = [budget // n_columns for budget in budgets]
    for count, found in _after(ColumnOrders(phi, (n_train, n_columns), seed), counts):
        rows.append(
            {
                **facts,
                "method": "permutations",
                "evaluations": count * n_columns,
                "permutations": count,
                **compare(found, exact),
            }
        )
    for budget in budgets:
        if 2 * budget > 2**n_columns:  # most of all subsets: nothing is left to estimate
            continue
        fits = {"A": ridge_fit, "B": kernel_fit}
        for method, fit in fits.items():
            summary = compare(fit(phi, n_columns, budget, seed), exact)
            rows.append({**facts, "method": method, "evaluations": budget - budget % 2, **summary})
    return rows


def ridge_fit(
    phi: Callable[[NDArray[np.bool_]], Floats], n_columns: int, n_subsets: int, seed: int
) -> RidgeFit:
    """Estimator A on as many pairs of every size."""
    pairs = sample_pairs(n_columns, (n_subsets - 2) // 2, np.random.default_rng(seed))
    nothing, everything = phi(np.array([[False] * n_columns, [True] * n_columns]))
    return fit_ridge(pairs, (phi(pairs) - phi(~pairs)) / 2, everything - nothing)


def kernel_fit(
    phi: Callable[[NDArray[np.bool_]], Floats], n_columns: int, n_subsets: int, seed: int
) -> RidgeFit:
    """Estimator B, as the package has it."""
    random = np.random.default_rng(seed)
    design = Kriging(n_columns, "shapley").design(n_subsets, random, ERROR_LINES)
    lines = design.weights @ phi(design.coalitions)
    return RidgeFit(lines[0].T, np.sqrt(np.square(lines[1:]).sum(axis=0)).T, design.dof)


def column_game(
    n_train: int, n_valid: int, seed: int
) -> tuple[Callable[[NDArray[np.bool_]], Floats], int]:
    """Row values of nearest neighbours on Wine, looked up among all column subsets."""
    parts = split_table("wine", seed, n_train=n_train, n_valid=n_valid)
    (split,) = make_problem(
        parts.X, parts.y, parts.X_valid, parts.y_valid, task="classification"
    ).splits
    rows = Neighbours(
        measure(split.train, split.valid),
        split.y.codes,
        split.y_valid.codes,
        task="classification",
        n_neighbors=NEIGHBOURS,
    )
    n_columns = parts.X.shape[1]
    known = rows.values(subsets(n_columns))
    known[0] = 0.0  # no columns are worth nothing
    bits = 1 << np.arange(n_columns)
    return lambda coalitions: known[coalitions @ bits], n_columns


class ColumnOrders(Draws):
    """The paper's estimator for nearest neighbours: one random order of the columns a draw."""

    def __init__(
        self, phi: Callable[[NDArray[np.bool_]], Floats], shape: tuple[int, int], seed: int
    ) -> None:
        self.shape, self.strata = shape, [Stratum()]
        self._phi, self._seed = phi, seed

    def __call__(self, number: int) -> Draw:
        n, m = self.shape
        order = generator(self._seed, "draw", number).permutation(m)
        values = np.zeros((n, m + 1))
        values[:, order] = np.diff(self._phi(nested(order)), axis=0).T
        return Draw(values)


def _game(
    *,
    model: str,
    counts: list[int],
    n_train: int,
    n_valid: int,
    seed: int,
    n_columns: int | None = None,
) -> list[Row]:
    """Monte Carlo on a game of Wine whose exact values are known."""
    parts = split_table("wine", seed, n_train=n_train, n_valid=n_valid)
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    columns = np.sort(random.permutation(parts.X.shape[1])[:n_columns])
    data = (parts.X[:, columns], parts.y, parts.X_valid[:, columns], parts.y_valid)
    options: dict[str, Any] = {"task": "classification", "n_jobs": 1, "progress": False}
    method = KNN(subsets="all", n_neighbors=NEIGHBOURS) if model == "knn" else Exact(model)
    exact = value_cells(*data, method=method, baseline="zero", **options).values
    n, m = exact.shape
    facts = {"what": "game", "game": model, "method": "Monte Carlo", "n_rows": n, "n_columns": m}
    return [
        {
            **facts,
            "evaluations": count * n * m,
            "permutations": count,
            **compare(found, exact),
        }
        for count, found in _after(_pairs(data, model, seed), counts)
    ]


def _table(*, dataset: str, counts: list[int], n_train: int, n_valid: int, seed: int) -> list[Row]:
    """Monte Carlo for the paper's decision tree: two separate runs, as exact values are unknown."""
    parts = split_table(dataset, seed, n_train=n_train, n_valid=n_valid)
    data = (parts.X, parts.y, parts.X_valid, parts.y_valid)
    n, m = parts.X.shape
    facts = {"what": "table", "game": dataset, "method": "Monte Carlo", "n_rows": n, "n_columns": m}
    runs = zip(*(_after(_pairs(data, "tree", 2 * seed + k), counts) for k in (0, 1)), strict=True)
    return [
        {
            **facts,
            "evaluations": count * n * m,
            "permutations": count,
            "ratio": np.mean(
                [convergence_ratio(run.values, run.stderr, run.dof) for run in (one, other)]
            ),
            "agreement": np.corrcoef(one.values.ravel(), other.values.ravel())[0, 1],
        }
        for (count, one), (_, other) in runs
    ]


def _pairs(data: tuple[Any, ...], model: str, seed: int) -> Orders:
    """Draws of one random order of the rows and one of the columns."""
    (split,) = make_problem(*data, task="classification").splits
    game: Game
    if model == "tree":
        game = TreeGame(split)
    elif model == "knn":
        game = _FromZero(KnnGame(split, n_neighbors=NEIGHBOURS, votes="k"))
    else:
        game = _FromZero(SWEEPS[model](split))
    plain = ("shapley", "shapley")
    return Orders([game], [slice(None)], game.n_rows, plain, seed=seed, most=2**62)


class _FromZero:
    """A game in which no rows and no columns are worth 0, as in the paper."""

    def __init__(self, game: Game) -> None:
        self._game, self.n_rows, self.n_columns = game, game.n_rows, game.n_columns

    def utilities(self, rows: NDArray[np.bool_], columns: NDArray[np.bool_]) -> Floats:
        counts = np.outer(rows.any(axis=1), columns.any(axis=1))
        return np.where(counts, self._game.utilities(rows, columns), 0.0)


def _after(draws: Draws, counts: list[int]) -> Iterator[tuple[int, Estimate]]:
    """What the first draws give, for each of the counts."""
    total = Total(draws)
    for count in sorted(counts):
        for number in range(total.count, count):
            total.add(draws(number))
        yield count, total.estimate()


def compare(found: Estimate | RidgeFit, exact: Floats) -> Row:
    """An estimate beside the exact values.

    Returns
    -------
    dict
        ``error``: squared error relative to the squared values; ``expected``: what the standard
        errors make of it; ``covered``: share of cells whose 95 % interval holds the exact value;
        ``correlation``; ``ratio``: the largest standard error relative to the range of the values.

    Examples
    --------
    >>> exact = np.array([[3.0, 4.0]])
    >>> found = RidgeFit(exact + [0.0, 1.0], np.full((1, 2), 0.4), dof=np.inf)
    >>> row = compare(found, exact)
    >>> round(row["error"], 3), round(row["expected"], 4), row["covered"]
    (0.04, 0.0128, 0.5)
    """
    values, stderr, size = found.values, found.stderr, np.square(exact).sum()
    return {
        "error": float(np.square(values - exact).sum() / size),
        "expected": float(np.square(stderr).sum() / size),
        "covered": float(np.mean(np.abs(values - exact) <= interval_factor(found.dof) * stderr)),
        "correlation": float(np.corrcoef(values.ravel(), exact.ravel())[0, 1]),
        "ratio": convergence_ratio(values, stderr, found.dof),
    }
