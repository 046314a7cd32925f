"""Learn how likely entries are wrong, and check it on tables that were left out.

Run: python benchmarks/calibration_tables.py FOLDER; python benchmarks/calibration.py FOLDER

Every table of FOLDER is there as it is and spoiled in three ways. The names in FOLDER/left-out.txt,
a quarter of the tables chosen at random where there is no such file, are never learned from: the
figures are theirs. With --write the trees go to src/shapley2d/_inspection/learned.json, whose other
parts stay. On 16 cores it takes three minutes.
"""

from __future__ import annotations

import argparse
import json
import traceback
import warnings
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Memory, Parallel, delayed
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d._inspection import score
from shapley2d._inspection.columns.view import column_views
from shapley2d._inspection.company import company
from shapley2d._inspection.evidence import ALONE, KEPT, TOGETHER, alone, in_context
from shapley2d._inspection.kernels.boosted_trees import BoostedTrees
from shapley2d._inspection.learned import SETTINGS
from shapley2d._inspection.suggestions import offers
from shapley2d._inspection.tables.read import inspected_table
from shapley2d._tables.intake import opened

FILE = Path(score.__file__).with_name("learned.json")
FORMS = ("clean", "tab-err", "by hand", "habit")
SAID = (0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.001)
CLEAN_WEIGHT = 2.0

# Of what more never makes an entry less likely wrong, and of what it never makes it likelier: there
# are many entries, but few tables.
RISING = {
    "surprise", "stories", "distance", "logit", "gap", "far_out", "odd_shape", "odd_detail",
    "odd_pair", "stray", "missing_word", "slip", "variant", "odd_token", "repeated_key", "broken",
    "against",
}  # fmt: skip
FALLING = {"vouched", "support"}


def is_same(text: str, other: str) -> bool:
    try:
        return text.strip() == other.strip() or abs(float(text) - float(other)) <= 1e-9 * abs(float(other))  # fmt: skip
    except ValueError:
        return False


def looked_at(home: Path, form: str) -> Any:
    """The evidence of every cell of a table, each by itself, and which cells are wrong."""
    frame, clean = (
        pd.read_csv(home / f"{one}.csv.gz", dtype=str, keep_default_na=False)
        for one in (form, "clean")
    )
    try:
        with warnings.catch_warnings(action="ignore"):
            table = inspected_table(opened(home / f"{form}.csv.gz").table)
            views = column_views(table)
            lessons = score.Lessons(table.columns, table.n_columns, seed=0)
            said = dict(lessons.learn(k) for k in range(table.n_columns))
            together = company(views)
            X = np.stack([alone(view, said[j], together[j]) for j, view in enumerate(views)], 1)
    except Exception:
        return f"{home.name} {form}: {traceback.format_exc()}"
    wrong = frame.to_numpy() != clean.to_numpy()
    for i, j in np.argwhere(wrong):
        wrong[i, j] = not is_same(frame.iat[i, j], clean.iat[i, j])
    codes = np.column_stack([view.codes for view in views])
    written = codes >= 0
    right: list[Any] = []  # of what is offered for wrong entries
    for j, view in enumerate(views):
        rows = np.flatnonzero(wrong[:, j] & written[:, j])[:60]
        for name, texts, offer in offers(view, together[j]) if rows.size else ():
            right += [(name, offer[i], is_same(texts[i], clean.iat[i, j]), 1 / len(frame)) for i in rows if texts[i]]  # fmt: skip
    return {"name": home.name, "form": form, "X": X.astype(np.float16), "y": wrong & written,
            "written": written, "codes": codes, "right": right}  # fmt: skip


def drawn(part: Any, random: np.random.Generator) -> tuple[Any, Any]:
    """Cells to learn from, and weights: every table counts the same.

    Half of the wrong entries are taken, and few of those that nothing speaks against.
    """
    X = part["X"]
    dull = (X[..., ALONE.index("surprise")] < 3) & (X[..., ALONE.index("stories")] < 1)
    dull &= (X[..., ALONE.index("odd_pair")] < 2) & ~part["y"]
    share = np.where(part["y"], 0.5, np.where(dull, 0.02, 0.2))
    some = part["written"] & (random.random(dull.shape) < share)
    weight = 1000 / part["written"].sum() * (CLEAN_WEIGHT if part["form"] == "clean" else 1.0)
    return some, weight / share[some]


def boosted(X: Any, y: Any, weight: Any, names: tuple[str, ...], rounds: int) -> Any:
    plain = [name.removesuffix(" in column") for name in names]
    model = HistGradientBoostingClassifier(
        learning_rate=0.08, max_iter=rounds, max_leaf_nodes=16, min_samples_leaf=200,
        l2_regularization=20.0, max_features=0.3, early_stopping=False, random_state=0,
        monotonic_cst=[(name in RISING) - (name in FALLING) for name in plain],
    )  # fmt: skip
    return model.fit(X, y, sample_weight=weight)


def first_trees(parts: list[Any]) -> Any:
    X, y = (np.concatenate([part[one][part["some"]] for part in parts]) for one in ("X", "y"))
    weight = np.concatenate([part["weight"] for part in parts])
    return boosted(X.astype(np.float32), y, weight, ALONE, 120)


def logits(model: Any, part: Any) -> Any:
    X = part["X"].reshape(-1, len(ALONE)).astype(np.float32)
    return model.decision_function(X).reshape(part["y"].shape)


def in_light(model: Any, part: Any) -> tuple[Any, Any]:
    """What the first trees say, and what the second ones look at."""
    first = logits(model, part)
    context = in_context(first, part["written"], part["codes"], len(first))
    kept = part["X"][..., [ALONE.index(name) for name in KEPT]].astype(np.float32)
    return first, np.concatenate([kept, context], axis=2)


def learn(parts: list[Any]) -> tuple[Any, Any]:
    """Both sets of trees; the second learns from what the first say of tables left out."""
    names = sorted({part["name"] for part in parts})
    order = np.random.default_rng(1).permutation(names).tolist()
    fold = {name: k % 3 for k, name in enumerate(order)}
    X, y, weight = [], [], []
    for k in range(3):
        model = first_trees([part for part in parts if fold[part["name"]] != k])
        for part in (part for part in parts if fold[part["name"]] == k):
            X.append(in_light(model, part)[1][part["some"]])
            y.append(part["y"][part["some"]])
            weight.append(part["weight"])
    arrays = (np.concatenate(one) for one in (X, y, weight))
    return first_trees(parts), boosted(*arrays, TOGETHER, 180)


def probability(models: tuple[Any, Any], part: Any) -> Any:
    first, rows = in_light(models[0], part)
    logit = models[1].decision_function(rows.reshape(-1, len(TOGETHER))).reshape(first.shape)
    return SETTINGS["most"] / (1 + np.exp(-logit - SETTINGS["order"] * first))


def how_right(parts: list[Any]) -> dict[str, list[float]]:
    """Intercept and slope of the log-odds that an offer is right where the entry is wrong."""
    found = {}
    told = pd.DataFrame([one for part in parts for one in part["right"]], columns=["name", "offer", "right", "weight"])  # fmt: skip
    for name, some in told.groupby("name"):
        model = LogisticRegression().fit(some[["offer"]].to_numpy(), some["right"], sample_weight=1000 * some["weight"])  # fmt: skip
        found[name] = [round(float(model.intercept_[0]), 3), round(float(model.coef_[0, 0]), 3)]
        print(f"offers by {name}: {len(some):,}, {some['right'].mean():.2f} right", found[name])
    return found


def show(parts: list[Any], models: tuple[Any, Any]) -> None:
    """Figures of tables left out; tables weigh alike."""
    lines, silent, said, true, weight = [], [], [], [], []
    for part in parts:
        there = part["written"]
        p, y = probability(models, part)[there].clip(1e-6), part["y"][there]
        loss = -np.where(y, np.log(p), np.log(1 - p)).mean()
        said, true, weight = [*said, p], [*true, y], [*weight, np.full(y.size, 1 / y.size)]
        if part["form"] == "clean":
            silent.append((p < SETTINGS["stands out"]).all())
        if y.mean() > 0.002:
            first = np.argsort(-p, kind="stable")[: y.sum()]
            lines.append((part["form"], roc_auc_score(y, p), average_precision_score(y, p), y[first].mean(), loss))  # fmt: skip
    frame = pd.DataFrame(lines, columns=["form", "AUROC", "AP", "P@k", "log loss"])
    print(frame.groupby("form").mean().round(3))
    print(f"{len(frame)} tables:", frame.iloc[:, 1:].mean().round(3).to_dict())
    print(f"clean tables silent: {np.mean(silent):.2f} of {len(silent)}")
    p, y, w = (np.concatenate(one) for one in (said, true, weight))
    for low, high in pairwise(SAID):
        some = (p >= low) & (p < high)
        if some.any():
            print(f"said {np.average(p[some], weights=w[some]):.2f} true {np.average(y[some], weights=w[some]):.2f} ({some.sum():,})")  # fmt: skip


def as_lists(model: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Trees for learned.json; nodes of later trees come behind those of earlier ones."""
    lists: dict[str, Any] = {name: [] for name in BoostedTrees._fields}
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
    base = round(float(model._baseline_prediction[0, 0]), 5)
    return {"evidence": list(names), "base": base} | lists


def left_out(folder: Path) -> set[str]:
    path = folder / "left-out.txt"
    if not path.exists():
        names = sorted(
            home.name for home in folder.iterdir() if not home.name.startswith("made-up")
        )
        chosen = np.random.default_rng(2).permutation(names)[: len(names) // 4]
        path.write_text("\n".join(sorted(chosen.tolist())) + "\n")
    return set(path.read_text().split())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--cache", help="a folder that keeps the evidence of each table")
    options.add_argument("--write", action="store_true")
    given = options.parse_args()
    out = left_out(given.folder)
    homes = sorted(path for path in given.folder.iterdir() if path.is_dir())
    look = Memory(given.cache, verbose=0).cache(looked_at)
    jobs = [(home, form) for home in homes for form in FORMS]
    parts = Parallel(n_jobs=-1)(delayed(look)(*job) for job in jobs)
    for refused in (part for part in parts if isinstance(part, str)):
        print(refused)
    parts = [part for part in parts if not isinstance(part, str) and part["written"].any()]
    random = np.random.default_rng(0)
    for part in parts:
        part["some"], part["weight"] = drawn(part, random)
    models = learn([part for part in parts if part["name"] not in out])
    print(f"{len(parts) - 4 * len(out)} tables learned from; those left out:")
    show([part for part in parts if part["name"] in out], models)
    if given.write:
        learned = json.loads(FILE.read_text(encoding="ascii"))
        learned["right"] = how_right([part for part in parts if part["name"] not in out])
        learned |= {"alone": as_lists(models[0], ALONE), "together": as_lists(models[1], TOGETHER)}
        lines = [f'"{name}": {json.dumps(one, separators=(",", ":"))}' for name, one in learned.items()]  # fmt: skip
        FILE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="ascii")


if __name__ == "__main__":
    main()
