"""Small fragments as files: three contributors, labels and validation rows."""

import numpy as np
import pandas as pd

PIECES = {"north": (range(40), ["age", "limit"]), "south": (range(30, 70), ["limit", "town"]), "shop": (range(10, 80), ["spent"])}  # fmt: skip
FILES = "north.csv south.csv shop.csv"
QUESTION = "--on customer -t default --labels labels.csv --valid valid.csv"
COMMAND = f"fragments {FILES} {QUESTION} -m tree"


def people(n, seed=0):
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "customer": [f"c{seed}{k:03}" for k in range(n)],
            "age": random.integers(18, 80, n),
            "limit": random.normal(size=n).round(2),
            "town": random.choice(["Ulm", "Köln", "Trier"], n),
            "spent": random.normal(size=n).round(2),
        }
    )
    worth = table["limit"] + table["spent"] + (table["town"] == "Ulm")
    return table.assign(default=np.where(worth > 0.3, "yes", "no"))


def write(folder):
    """The files of COMMAND."""
    table = people(80)
    for name, (rows, columns) in PIECES.items():
        table.loc[list(rows), ["customer", *columns]].to_csv(folder / f"{name}.csv", index=False)
    table[["customer", "default"]].to_csv(folder / "labels.csv", index=False)
    people(60, seed=1).to_csv(folder / "valid.csv", index=False)
