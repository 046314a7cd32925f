"""How well an inspection finds planted errors and real ones.

Run: SHAPLEY2D_DATA=folder python benchmarks/detection.py [each] [joint] [found] [suggested]
[ages] [--seeds 3] [--quick]

each       table by table: four real dirty tables (folder dirty/), and five with errors by two
           generators, planted_errors.py's own and the package tab-err where it is installed. AUROC,
           average precision, precision among the first 1, 2 and 5 % of the cells and as many as
           there are errors, for the inspection and for other detectors; said and true shares in
           bins; expected and true number of errors; what stands out, also in the clean table;
           which suggestions are right
joint      errors that show only beside other columns or rows: entries of other places in the
           country, region, position and time zone of airports (where the package airportsdata is
           installed), and players under two surnames, in a made-up league. AUROC and the rest as
           above

found      the spoiled tables of the reproduction's detection benchmark (six kinds of errors, five
           datasets): AUROC, average precision and the share found in the first 1, 2 and 5 % of the
           cells, for the inspection alone
suggested  quality of the suggested entries, by kind: share of right categories beside the column's
           mode, error of numbers in interquartile ranges beside the column's median, and how many
           are nearer the truth than the entry
ages       the paper's mistyped ages: cells to look at until 80 % of 15 are found, five samples of
           14,000 cells

All by default. The weights of the score were tuned on the tables of `found`; those of the
probabilities were learned by calibration.py on other tables. --quick has one seed and two datasets.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import warnings
from collections import defaultdict
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from _rivals import rival_scores
from calibration import DIRTY
from planted_errors import spoiled
from sklearn.metrics import average_precision_score, roc_auc_score

from shapley2d import inspect_cells
from shapley2d._inspection.columns.finding import SURE_RIGHT
from shapley2d._inspection.score import inspect_table
from shapley2d._tables.convert import as_table
from shapley2d._tables.target import as_target
from shapley2d.evaluation import detection_curve, detection_scores
from shapley2d_paper.detection.experiment import SIZES
from shapley2d_paper.detection.means import KIND_TITLES
from shapley2d_paper.detection.work import corrupt
from shapley2d_paper.typos.work import mistyped_census

CELL_KINDS = ["unlikely", "tail", "swapped", "typo", "units"]
PLANTED = ("breast_cancer", "census_train", "credit", "heart", "wine")
SAID = (0, 0.05, 0.2, 0.5, 0.8, 0.95, 1.01)
RANKED = ("AUROC", "AP", "1 %", "2 %", "5 %", "errors")
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


def each_table(given):
    """Name, table with errors and the truth, as texts: real ones, and errors by two generators."""
    folder = Path(os.environ["SHAPLEY2D_DATA"])
    for name in DIRTY[:1] if given.quick else DIRTY:
        paths = (folder / "dirty" / f"{name}-{form}.csv.gz" for form in ("dirty", "clean"))
        frame, clean = (as_texts(path) for path in paths)
        yield name, frame, clean.set_axis(frame.columns, axis=1)
    generators = ["by hand", "tab-err"] if find_spec("tab_err") else ["by hand"]
    for name in ("heart",) if given.quick else PLANTED:
        clean = as_texts(folder / f"{name}.csv.gz")
        clean = clean.sample(min(len(clean), 1000), random_state=0).reset_index(drop=True)
        for by in generators:
            yield f"{name}, errors {by}", spoiled(clean, by, np.random.default_rng(0)), clean


def as_texts(path):
    return pd.read_csv(path, dtype=str, keep_default_na=False)


def inspected(frame):
    """The inspection of a table as a file: columns keep their texts."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(action="ignore"):
        frame.to_csv(f"{folder}/table.csv", index=False)
        return inspect_cells(f"{folder}/table.csv", progress=False)


def each(given) -> None:
    lines, taken = defaultdict(list), []
    for name, frame, clean in each_table(given):
        wrong = (frame != clean).to_numpy()
        print(f"\n{name}: {wrong.sum():,} of {wrong.size:,} entries are wrong ({wrong.mean():.1%})")
        print(f"{'':<22}" + "".join(f"{one:>8}" for one in RANKED))
        found = inspected(frame)
        of_probability = found.probability + 1e-9 * rank_of(found.scores)
        ours = {"inspection": of_probability, "its score alone": found.scores}
        for title, scores in (*ours.items(), *rival_scores(frame)):
            figures = ranked(scores, wrong)
            lines[title].append(figures)
            print(f"{title:<22}" + "".join(f"{one:8.3f}" for one in figures))
        print_chances(found, wrong, inspected(clean))
        taken.append(print_suggestions(found, frame, clean))
    print(f"\n{'mean of all tables':<22}" + "".join(f"{one:>8}" for one in RANKED))
    for title, figures in lines.items():
        show(title, figures)
    taken = np.array(taken).sum(axis=0)
    print(f"may be accepted at once: {taken[0]:,} new entries, {mean(*taken[1::-1])} right; {taken[2]:,} emptied, {mean(*taken[:1:-1])} of these were wrong")  # fmt: skip
    precision = np.array([[one[1] for one in figures] for figures in lines.values()])
    print(f"the largest average precision in {(precision.argmax(axis=0) == 0).sum()} of {precision.shape[1]} tables")  # fmt: skip


def joint_tables(random):
    """Name, clean table as texts, and the columns whose entries are exchanged."""
    if find_spec("airportsdata"):
        import airportsdata

        kept = ["name", "city", "subd", "country", "elevation", "lat", "lon", "tz"]
        all_of_them = pd.DataFrame(airportsdata.load("IATA").values())[kept].astype(str)
        airports = all_of_them.sample(2000, random_state=0).reset_index(drop=True)
        yield "airports", airports, ["subd", "country", "lat", "lon", "tz"]
    syllables = ["an", "ber", "co", "dal", "en", "fi", "gor", "han", "il", "jo", "ka", "lu", "mer", "no"]  # fmt: skip
    names = ["".join(random.choice(syllables, 3)).title() for _ in range(700)]
    player = np.repeat(np.arange(350), random.integers(2, 7, 350))
    first = random.integers(1990, 2015, 350)[player]
    yield "players", pd.DataFrame({
        "given": np.array(names)[:350][player],
        "surname": np.array(names)[350:][player],
        "born": (first - random.integers(18, 24, 350)[player]).astype(str),
        "season": (first + pd.Series(player).groupby(player).cumcount().to_numpy()).astype(str),
        "team": random.choice(["Red", "Blue", "Green", "White", "Black", "Gold"], player.size),
        "goals": random.poisson(random.gamma(2.0, 4.0, 350)[player]).astype(str),
    }), ["surname"]  # fmt: skip


def joint(given) -> None:
    lines = defaultdict(list)
    for seed in range(given.seeds):
        random = np.random.default_rng(seed)
        for name, clean, columns in joint_tables(random):
            frame = clean.copy()
            for column in columns:
                rows = random.choice(len(clean), len(clean) // 33, replace=False)
                frame.loc[rows, column] = clean[column].to_numpy()[random.permutation(len(clean))[: rows.size]]  # fmt: skip
            wrong = (frame != clean).to_numpy()
            for title, scores in (("inspection", inspected(frame).probability), *rival_scores(frame)):  # fmt: skip
                lines[name, title].append(ranked(scores, wrong))
    for table in sorted({name for name, _ in lines}):
        print(f"\n{table:<22}" + "".join(f"{one:>8}" for one in RANKED))
        for (name, title), figures in lines.items():
            if name == table:
                show(title, figures)


def rank_of(scores):
    return scores.ravel().argsort().argsort().reshape(scores.shape) / scores.size


def ranked(scores, wrong):
    """AUROC, average precision, and the precision among the first cells."""
    order = wrong.ravel()[np.argsort(-scores.ravel(), kind="stable")]
    counts = [*(int(np.ceil(share * order.size)) for share in (0.01, 0.02, 0.05)), order.sum()]
    return [
        roc_auc_score(wrong.ravel(), scores.ravel()),
        average_precision_score(wrong.ravel(), scores.ravel()),
        *(order[:count].mean() for count in counts),
    ]


def print_chances(found, wrong, of_clean) -> None:
    said, out = found.probability, found._cells.standing_out
    bins = []
    for low, high in pairwise(SAID):
        some = (said >= low) & (said < high)
        if some.any():
            bins.append(f"{said[some].mean():.2f}|{wrong[some].mean():.2f} ({some.sum():,})")
    print("said | true (entries)  " + "  ".join(bins))
    low, high = found.expected_errors_interval
    print(f"expected {found.expected_errors:,.0f} ({low:,.0f} to {high:,.0f}), true {wrong.sum():,}; {out.sum():,} stand out, {(out & wrong).sum():,} of them wrong; {of_clean._cells.standing_out.sum():,} in the clean table")  # fmt: skip


def print_suggestions(found, frame, clean):
    """How good suggestions are; returns how many may be accepted at once, and how many are right.

    Emptied entries are counted apart: nobody says what should be there, so none can be right.
    """
    cells, old, new = found._cells, frame.to_numpy(), clean.to_numpy()
    known, exact, off, of_median, taken, emptied = 0, 0, [], [], [], []
    median = [pd.to_numeric(clean[one], errors="coerce").median() for one in clean]
    others, out = [set(frame[one]) for one in frame], cells.standing_out
    for i, j in zip(*np.nonzero(out | (old != new)), strict=True):
        text, truth = cells.expected_text(i, j) or "", new[i, j]
        right, is_wrong = is_same(text, truth), old[i, j] != truth
        if out[i, j] and cells.suggestion_probability(i, j) >= SURE_RIGHT and not is_same(text, old[i, j]):  # fmt: skip
            taken += [right] if text else []
            emptied += [] if text else [is_wrong]
        if is_wrong and (truth in old[i] or truth in others[j]):
            known, exact = known + 1, exact + right
        if is_wrong and np.isfinite([number(text), number(truth), median[j]]).all():
            off.append(abs(number(text) - number(truth)))
            of_median.append(abs(median[j] - number(truth)))
    ratio = np.median(off) / max(np.median(of_median), 1e-300) if off else np.nan
    print(f"suggestions: the truth is in the row or column of {known:,}, {mean(exact, known)} of them right; {len(off):,} numbers, median error {ratio:.2f} of that of the column's median")  # fmt: skip
    print(f"may be accepted at once: {len(taken):,} new entries, {mean(sum(taken), len(taken))} right; {len(emptied):,} emptied, {mean(sum(emptied), len(emptied))} of these were wrong")  # fmt: skip
    return len(taken), sum(taken), len(emptied), sum(emptied)


def mean(part, whole) -> str:
    return f"{part / whole:.2f}" if whole else "-"


def number(text):
    try:
        return float(text)
    except ValueError:
        return np.nan


def is_same(text, other) -> bool:
    """Whether two texts are the same, or the same number."""
    return text == other.strip() or bool(np.isclose(number(text), number(other), rtol=1e-9))


PARTS = {"each": each, "joint": joint, "found": found, "suggested": suggested, "ages": ages}


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
