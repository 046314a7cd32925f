"""How often sure suggestions are right, by kind of error.

Run: SHAPLEY2D_DATA=folder python benchmarks/suggestions.py [seeds]

Errors of nine classes are planted into tables of six kinds (two of them public, the others made
up), 12 of each class that a table can have. Printed by class: errors, those with a sure suggestion
(at least 90 %), and how many of these are right, to the letter; then what
`repair(probability=.9)` writes and what the page's buttons accept, right cells that they spoil
included.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from shapley2d import inspect_cells
from shapley2d._inspection.suggestions import all_at_once

FOLDER = Path(os.environ["SHAPLEY2D_DATA"])
SURE, EACH = 0.9, 12
NAMES = ("Müller", "Schäfer", "Gößmann", "Köhler", "Jäger", "Weiß", "Böhm", "Krüger", "Meyer",
         "Schmidt", "Fischer", "Wagner")  # fmt: skip
CITIES = ("Düsseldorf", "München", "Köln", "Nürnberg", "Hamburg", "Frankfurt", "Stuttgart",
          "Würzburg", "Lübeck", "Hannover")  # fmt: skip
PARTS = {"kg": ("g", 1000), "m": ("cm", 100), "l": ("ml", 1000), "h": ("min", 60)}


def dates(random, n, start, days, form):
    day = np.datetime64(start, "D") + random.integers(0, days, n)
    return [f"{one.astype(object):{form}}" for one in day]


def orders(random, n):
    quantity = random.integers(1, 40, n)
    article = random.integers(0, 60, n)
    price = np.round(np.exp(random.normal(3, 0.8, 60)), 2)[article]
    city = random.integers(0, len(CITIES), n)
    weight = quantity * np.round(random.gamma(4, 0.4, 60), 1)[article]
    return {
        "order": [f"A{100000 + k}" for k in range(n)],
        "ordered": dates(random, n, "2024-01-10", 600, "%Y-%m-%d"),
        "city": [CITIES[k] for k in city],
        "postcode": [str(20000 + 3711 * k) for k in city],
        "article": [f"Art-{k:03d}" for k in article],
        "quantity": [str(k) for k in quantity],
        "price": [f"{p:.2f}" for p in price],
        "total": [f"{p * q:.2f}" for p, q in zip(price, quantity, strict=True)],
        "weight": [f"{w:.1f} kg" for w in weight],
    }


def patients(random, n):
    sex, age = random.random(n) < 0.5, random.integers(18, 90, n)
    height = np.round(random.normal(1.66 + 0.13 * sex, 0.06), 2)
    weight = np.round(random.normal(24, 3, n) * height**2)
    return {
        "name": [NAMES[k] for k in random.integers(0, len(NAMES), n)],
        "sex": np.where(sex, "male", "female").tolist(),
        "age": age.astype(str).tolist(),
        "height": [f"{h:.2f} m" for h in height],
        "weight": [f"{w:.0f}" for w in weight],
        "admitted": dates(random, n, "2023-02-01", 700, "%d.%m.%Y"),
        "systolic": [f"{b:.0f}" for b in 100 + 0.5 * age + random.normal(0, 9, n)],
        "ward": random.choice(["Kardiologie", "Chirurgie", "Innere", "Pädiatrie"], n).tolist(),
    }


def drinks(random, n):
    volume = random.choice([0.25, 0.33, 0.5, 0.7, 0.75, 1.0, 1.5], n)
    kind = random.integers(0, 5, n)
    price = (2 + kind) * volume * random.lognormal(0.4, 0.15, n)
    return {
        "kind": [("Apfelsaft", "Süßmost", "Rotwein", "Weißwein", "Kräuterlikör")[k] for k in kind],
        "volume": [f"{v:.2f} l" for v in volume],
        "alcohol": [f"{a:.1f}".replace(".", ",") for a in kind * 6 + random.gamma(3, 0.6, n)],
        "price": [f"{p:.2f}".replace(".", ",") for p in price],
        "best before": dates(random, n, "2025-03-01", 500, "%d.%m.%Y"),
        "shop": [CITIES[k] for k in random.integers(0, len(CITIES), n)],
    }


def machines(random, n):
    hours = np.round(random.gamma(6, 1.1, n), 1)
    load = np.round(random.uniform(20, 95, n), 1)
    return {
        "machine": [f"M{k:02d}" for k in random.integers(0, 30, n)],
        "day": dates(random, n, "2022-05-01", 1000, "%Y-%m-%d"),
        "run": [f"{h:.1f} h" for h in hours],
        "load": [f"{x:.1f}" for x in load],
        "power": [f"{x:.1f}" for x in 2 + 0.3 * load + random.normal(0, 1, n)],
        "energy": [f"{x:.2f}" for x in hours * (2 + 0.3 * load)],
        "operator": [NAMES[k] for k in random.integers(0, len(NAMES), n)],
    }


def public(path, n, random):
    with gzip.open(FOLDER / path, "rt", encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    some = random.permutation(len(rows))[:n]
    return {name: [rows[i][j] for i in some] for j, name in enumerate(header)}


def tables(random):
    yield "orders", orders(random, 1500)
    yield "patients", patients(random, 1200)
    yield "drinks", drinks(random, 800)
    yield "machines", machines(random, 2000)
    yield "census", public("census_train.csv.gz", 2500, random)
    yield "hospital", public("dirty/hospital-clean.csv.gz", 1000, random)


def _digits(text):
    return [k for k, letter in enumerate(text) if letter.isdigit()]


def swapped(text, random):
    pairs = [
        k for k in _digits(text)[:-1] if text[k + 1 : k + 2].isdigit() and text[k] != text[k + 1]
    ]
    k = random.choice(pairs) if pairs else None
    return None if k is None else text[:k] + text[k + 1] + text[k] + text[k + 2 :]


def dropped(text, random):
    k = random.choice(_digits(text))
    return text[:k] + text[k + 1 :] if len(_digits(text)) > 1 else None


def doubled(text, random):
    k = random.choice(_digits(text))
    return text[:k] + text[k] + text[k:]


def marked(text, random):
    mark = "." if "." in text else ","
    if mark not in text:
        return text + "0"
    return text.replace(mark, random.choice(["", {".": ",", ",": "."}[mark]]))


def united(text, _random):
    number, unit = text.split()
    other, factor = PARTS[unit]
    return f"{float(number) * factor:.0f} {other}"


def year(text, random):
    place = text.find("20") if text[4:5] == "-" else len(text) - 4
    old = text[place : place + 4]
    new = random.choice(["19" + old[2:], old[0] + old[2] + old[1] + old[3], "3" + old[1:],
                         old[:2] + str((int(old[2]) + 5) % 10) + old[3]])  # fmt: skip
    return text[:place] + str(new) + text[place + 4 :]


def broken(text, _random):
    return text.encode().decode("cp1252", errors="replace") if not text.isascii() else None


def misspelt(text, random):
    if len(text) < 5:
        return None
    k, how = random.integers(1, len(text) - 1), random.integers(0, 4)
    return {
        0: text[:k] + text[k + 1] + text[k] + text[k + 2 :],
        1: text[:k] + text[k + 1 :],
        2: text[:k] + text[k] + text[k:],
        3: text[:k] + random.choice([*"etaoinshr"]) + text[k + 1 :],
    }[int(how)]


def other_date(text, _random):
    if text[4:5] == "-":
        return ".".join(reversed(text.split("-")))
    return "-".join(reversed(text.split(".")))


def holds(column, test):
    return all(test(text) for text in column[:200] if text)


def is_number(text):
    return text.replace(",", "").replace(".", "").replace("-", "").isdigit()


def same_number(one, other):
    """Whether two texts say the same number: 0 and 00."""
    return one.lstrip("0").rstrip(".,") == other.lstrip("0").rstrip(".,")


def is_date(text):
    return len(text) == 10 and is_number(text) and (text[4] == "-" or text[2] == ".")


def is_united(text):
    return text.split()[-1] in PARTS


def is_word(text):
    return text.replace(" ", "").replace("-", "").isalpha()


CLASSES = {
    "units": (united, is_united),
    "year": (year, is_date),
    "date format": (other_date, is_date),
    "digits swapped": (swapped, lambda text: is_number(text) and not is_date(text)),
    "digit dropped": (dropped, lambda text: is_number(text) and not is_date(text)),
    "digit doubled": (doubled, lambda text: is_number(text) and not is_date(text)),
    "decimal mark": (marked, lambda text: is_number(text) and not is_date(text)),
    "broken letters": (broken, is_word),
    "misspelt": (misspelt, is_word),
}


def plant(table, random):
    """The table with errors, and the class of each by row and column."""
    dirty = {name: list(column) for name, column in table.items()}
    planted: dict[tuple[int, str], str] = {}
    n = len(next(iter(table.values())))
    for kind, (spoil, test) in CLASSES.items():
        names = [name for name in table if holds(table[name], test)]
        names = [
            name
            for name in names
            if len(set(table[name])) < n / 2 or kind not in ("broken letters", "misspelt")
        ]
        for _ in range(20 * EACH if names else 0):
            i, name = int(random.integers(n)), str(random.choice(names))
            old = table[name][i]
            new = spoil(old, random) if old and (i, name) not in planted else None
            if new and new != old and not (is_number(old) and same_number(old, new)):
                dirty[name][i], planted[i, name] = new, kind
            if sum(one == kind for one in planted.values()) == EACH:
                break
    return dirty, planted


def main(seeds: int) -> None:
    total, sure, right = Counter(), Counter(), Counter()
    ways = {way: Counter() for way in ("repair(probability=.9)", "buttons")}
    for seed in range(seeds):
        random = np.random.default_rng(seed)
        for name, table in tables(random):
            dirty, planted = plant(table, random)
            with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
                warnings.simplefilter("ignore")
                path = Path(folder) / "dirty.csv"
                with path.open("w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([list(dirty), *zip(*dirty.values(), strict=True)])
                inspection = inspect_cells(path, progress=False)
            cells = inspection._cells
            for (i, column), kind in planted.items():
                j = cells.names.index(column)
                text, old = cells.expected_text(i, j), cells.entries[j][i]
                total[kind] += 1
                says = cells.suggestion_probability(i, j)
                if says >= SURE and text != old:
                    sure[kind] += 1
                    right[kind] += text == table[column][i]
                if "-v" in sys.argv and (says >= SURE) != (text == table[column][i]):
                    print(f"{kind:<15} {name}.{column} {old!r} -> {text!r} {says:.2f} "
                          f"(truth {table[column][i]!r}; wrong {cells.probability[i, j]:.2f})")  # fmt: skip
            written = {}
            for i, j in np.argwhere(cells.probability >= SURE).tolist():
                text = cells.expected_text(i, j)
                if cells.suggestion_probability(i, j) >= SURE and text != cells.entries[j][i]:
                    written[i, j] = text
            accepted = {
                (i, cells.names.index(one.columns[0])): text
                for one in inspection.findings
                for i, text, _ in all_at_once(cells, one)
            }
            for way, new in zip(ways, (written, accepted), strict=True):
                for (i, j), text in new.items():
                    column = cells.names[j]
                    what = "right" if text == table[column][i] else "wrong"
                    ways[way][what if (i, column) in planted else "spoilt"] += 1
                    if "-v" in sys.argv and text != table[column][i]:
                        print(f"{way}: {name}.{column} {cells.entries[j][i]!r} -> {text!r} (truth {table[column][i]!r})")  # fmt: skip
    print(f"{'class':<16} errors  sure  right")
    for kind in CLASSES:
        share = f"{right[kind] / sure[kind]:7.3f}" if sure[kind] else ""
        print(f"{kind:<16} {total[kind]:6,} {sure[kind]:5,} {share}")
    n_sure = sum(sure.values())
    print(f"{'all':<16} {sum(total.values()):6,} {n_sure:5,} {sum(right.values()) / n_sure:7.3f}")
    for way, counts in ways.items():
        print(f"{way}: {counts['right']:,} right, {counts['wrong']:,} wrong, {counts['spoilt']:,} right entries changed")  # fmt: skip


if __name__ == "__main__":
    main(int(next((one for one in sys.argv[1:] if one.isdigit()), 3)))
