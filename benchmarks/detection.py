"""How well an inspection finds planted errors and real ones.

Run: SHAPLEY2D_DATA=folder python benchmarks/detection.py [found] [chances] [suggested] [ages]
[dirty] [--seeds 3] [--quick]

found      the spoiled tables of the reproduction's detection benchmark (six kinds of errors, five
           datasets): AUROC, average precision and the share found in the first 1, 2 and 5 % of the
           cells, for the inspection alone
chances    errors of all kinds at .5, 1, 2 and 5 % in the same five datasets and in three of
           scikit-learn's: stated and true share of wrong cells in ten bins, and the expected
           calibration error
suggested  quality of the suggested entries, by kind: share of right categories beside the column's
           mode, error of numbers in interquartile ranges beside the column's median, and how many
           are nearer the truth than the entry
ages       the paper's mistyped ages: cells to look at until 80 % of 15 are found, five samples of
           14,000 cells
dirty      four real dirty tables (folder dirty/): the same figures, with and without the findings
           about columns, and of other detectors (ECOD and DDC need the extra baselines)

All by default. The constants of the probabilities were fitted on these tables and two more; the
figures for left-out tables are in docs/find-and-fix.md. --quick has one seed and two datasets.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pyarrow as pa
from sklearn import datasets

from shapley2d._inspection.columns.find import find_in_columns
from shapley2d._inspection.score import inspect_table
from shapley2d._tables.convert import as_table
from shapley2d._tables.reading.files import read_table
from shapley2d._tables.target import as_target
from shapley2d.evaluation import detection_curve, detection_scores, inject_errors
from shapley2d.exceptions import InputError
from shapley2d_paper.data.splits import whole_table
from shapley2d_paper.detection.experiment import SIZES
from shapley2d_paper.detection.means import KIND_TITLES
from shapley2d_paper.detection.work import corrupt
from shapley2d_paper.detectors.detectors import DETECTORS, DetectionTask
from shapley2d_paper.typos.work import mistyped_census

CELL_KINDS = ["unlikely", "tail", "swapped", "typo", "units"]
SHARES = {0.005: 0.005, 0.01: 0.01, 0.02: 0.03, 0.05: 0.1}  # of the cells, and of the labels
FIGURES = ("auroc", "average_precision", "found_1", "found_2", "found_5")


def frame(numbers, categorical):
    """Categories as text, as the reproduction's detectors see them."""
    return pa.table(
        {
            f"c{j}": [None if np.isnan(code) else f"code {code:.0f}" for code in column]
            if categorical[j]
            else np.ascontiguousarray(column)
            for j, column in enumerate(numbers.T)
        }
    )


def inspect(numbers, labels, categorical, seed, task="classification"):
    table = as_table(frame(numbers, categorical))
    return inspect_table(table, as_target(labels, table, task=task), seed=seed, progress=False)


def show(name, rows):
    print(f"{name:<22}" + "".join(f"{value:8.3f}" for value in np.mean(rows, axis=0)))


def found(given) -> None:
    print(f"\n{'found':<22}" + "".join(f"{name[-7:]:>8}" for name in FIGURES))
    by_kind, by_dataset = defaultdict(list), defaultdict(list)
    for dataset in given.datasets:
        for kind in KIND_TITLES:
            for seed in range(given.seeds):
                parts, spoiled = corrupt(dataset, kind, seed, *SIZES[dataset], None)
                scores = inspect(spoiled.numbers, spoiled.labels, parts.categorical, seed).scores
                of_labels = kind == "labels"
                result = detection_scores(
                    scores[:, -1] if of_labels else scores[:, :-1],
                    spoiled.rows if of_labels else spoiled.cells,
                )
                row = [result[name] for name in FIGURES]
                by_kind[kind].append(row)
                by_dataset[dataset].append(row)
    for name, rows in by_kind.items():
        show(name, rows)
    show("mean of the kinds", [np.mean(rows, axis=0) for rows in by_kind.values()])
    for name, rows in by_dataset.items():
        show(name, rows)


def tables(given):
    """The benchmark's datasets, at most 800 rows of each, and three of scikit-learn's."""
    rng = np.random.default_rng(0)
    for name in given.datasets:
        table = whole_table(name)
        rows = rng.permutation(len(table.labels))[:800]
        yield (
            name,
            table.numbers[rows],
            table.labels[rows],
            np.asarray(table.categorical),
            "classification",
        )
    for load in (
        ()
        if given.quick
        else (datasets.load_iris, datasets.load_breast_cancer, datasets.load_diabetes)
    ):
        data = load()
        task = "regression" if load is datasets.load_diabetes else "classification"
        yield (
            load.__name__[5:],
            data.data,
            data.target,
            np.zeros(data.data.shape[1], dtype=bool),
            task,
        )


def chances(given) -> None:
    said, true = defaultdict(list), defaultdict(list)
    for _, numbers, labels, categorical, task in tables(given):
        classes = labels if task == "classification" else (labels > np.median(labels)).astype(int)
        for share, label_share in SHARES.items():
            for seed in range(given.seeds):
                rng = np.random.default_rng([seed, round(1000 * share)])
                try:
                    spoiled = inject_errors(CELL_KINDS, numbers, classes, categorical, share, rng)
                except InputError:  # the table is too small for this share of five kinds
                    continue
                target, wrong = labels, np.zeros(0, dtype=bool)
                if task == "classification":
                    flipped = inject_errors(
                        "labels", numbers, classes, categorical, label_share, rng
                    )
                    target, wrong = flipped.labels, flipped.rows
                chance = inspect(spoiled.numbers, target, categorical, seed, task).probability
                m = numbers.shape[1]
                said["cells", share].append(chance[:, :m].ravel())
                true["cells", share].append(spoiled.cells.ravel())
                said["labels", share].append(chance[: wrong.size, m])
                true["labels", share].append(wrong)
    print("\nchances: stated > true (cells) in ten bins")
    for key in said:
        p, t = np.concatenate(said[key]), np.concatenate(true[key])
        bins, error, line = np.minimum((10 * p).astype(int), 9), 0.0, []
        for b in np.unique(bins):
            part = bins == b
            error += part.mean() * abs(p[part].mean() - t[part].mean())
            line.append(f"{p[part].mean():.2f}>{t[part].mean():.2f} ({part.sum()})")
        share = key[1] if key[0] == "cells" else SHARES[key[1]]
        print(f"{key[0]:<7} {share:>6.1%}  error {error:.4f}  " + "  ".join(line))


def suggested(given) -> None:
    names = ("right", "(mode)", "error", "(median)", "nearer")
    print(f"\n{'suggested':<22}" + "".join(f"{name:>9}" for name in names))
    for kind in CELL_KINDS:
        right, mode, off, median, nearer = [], [], [], [], []
        for dataset in given.datasets:
            for seed in range(given.seeds):
                parts, spoiled = corrupt(dataset, kind, seed, *SIZES[dataset], None)
                result = inspect(spoiled.numbers, spoiled.labels, parts.categorical, seed)
                for i, j in zip(*np.nonzero(spoiled.cells), strict=True):
                    entry, truth = result.expected[j].entries[i], parts.X[i, j]
                    if parts.categorical[j]:
                        words = result.columns[j].categories
                        counts = np.bincount(result.columns[j].entries.astype(int))
                        right.append(words[int(entry)] == f"code {truth:.0f}")
                        mode.append(words[int(counts.argmax())] == f"code {truth:.0f}")
                        continue
                    column = spoiled.numbers[:, j]
                    low, middle, high = np.percentile(column, [25, 50, 75])
                    spread = (high - low) or column.std()
                    off.append(abs(entry - truth) / spread)
                    median.append(abs(middle - truth) / spread)
                    nearer.append(abs(entry - truth) < abs(spoiled.numbers[i, j] - truth))
        figures = [
            np.mean(right) if right else np.nan,
            np.mean(mode) if mode else np.nan,
            np.median(off),
            np.median(median),
            np.mean(nearer),
        ]
        print(f"{kind:<22}" + "".join(f"{one:9.2f}" for one in figures))


def ages(given) -> None:
    needed = []
    for seed in range(2 if given.quick else 5):
        task, truth = mistyped_census(seed, 1000, 1000, 15)
        scores = inspect(task.numbers, task.labels, task.categorical, seed).scores[:, :-1]
        curve = detection_curve(scores, truth, np.arange(truth.size + 1))
        needed.append(int(np.argmax(curve >= 0.8 - 1e-9)))
    print(
        f"\nages: cells until 80 % are found {needed}, mean {np.mean(needed):.0f} of {truth.size}"
    )


def column_probability(table):
    """For every cell the largest probability that a finding about its column gives it."""
    probability = np.zeros((table.n_rows, len(table.column_names)))
    for finding in find_in_columns(table):
        j = table.column_names.index(finding.columns[0])
        chances = finding.probability if finding.chances is None else finding.chances
        probability[finding.rows, j] = np.maximum(probability[finding.rows, j], chances)
    return probability


def dirty(given) -> None:  # noqa: ARG001
    folder = Path(os.environ["SHAPLEY2D_DATA"]) / "dirty"
    print(f"\n{'dirty':<22}" + "".join(f"{name[-7:]:>8}" for name in FIGURES))
    for name in ("hospital", "flights", "beers", "rayyan"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about notations, which the table is full of
            # from the file, so that the columns keep their texts
            table = as_table(read_table(str(folder / f"{name}-dirty.csv.gz")).table)
        texts = []
        for which in ("dirty", "clean"):
            with gzip.open(
                folder / f"{name}-{which}.csv.gz", "rt", encoding="utf-8", newline=""
            ) as file:
                texts.append(np.array(list(csv.reader(file))[1:], dtype=object))
        truth = texts[0] != texts[1]
        found = inspect_table(table, None, progress=False)
        with_columns = column_probability(table)
        # findings first, then the score
        ranks = found.scores.ravel().argsort().argsort().reshape(truth.shape) / truth.size
        scores = {
            "inspection": lambda found=found: found.scores,
            "with column findings": lambda q=with_columns, p=found.probability, r=ranks: (
                np.maximum(p, q) + 1e-6 * r
            ),
            **{name: lambda name=name, table=table: rival(name, table) for name in RIVALS},
        }
        print(f"{name}: {truth.sum():,} of {truth.size:,} cells differ")
        for title, score in scores.items():
            try:
                result = detection_scores(score(), truth)
            except InputError as error:
                print(f"  {title}: {error}")
                continue
            show("  " + title, [[result[figure] for figure in FIGURES]])


# The column predictor takes hours for columns of a thousand categories.
RIVALS = ("z-score", "ECOD", "DDC")


def rival(name, table):
    """Scores of another detector, with all rows in one class; missing entries score 0."""
    numbers = np.column_stack([column.entries for column in table.columns])
    categorical = np.array([column.kind in ("category", "boolean") for column in table.columns])
    labels = np.zeros(table.n_rows, dtype=np.intp)
    task = DetectionTask(
        numbers, labels, categorical, numbers[:0], labels[:0], 0, table.column_names
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.nan_to_num(DETECTORS[name](task), nan=0.0)


PARTS = {"found": found, "chances": chances, "suggested": suggested, "ages": ages, "dirty": dirty}


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    options.add_argument("parts", nargs="*", choices=[*PARTS, []])
    options.add_argument("--seeds", type=int, default=3)
    options.add_argument("--quick", action="store_true")
    given = options.parse_args()
    given.seeds = 1 if given.quick else given.seeds
    given.datasets = ["census", "wine"] if given.quick else list(SIZES)
    for name in given.parts or PARTS:
        PARTS[name](given)


if __name__ == "__main__":
    main()
