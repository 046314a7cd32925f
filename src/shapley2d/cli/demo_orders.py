"""The table of the demo: orders of a made-up shop, and the errors that are planted in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

PRODUCTS = {  # price, weight in kg, how often it is sent back
    "chair": (89.0, 6.5, 0.15),
    "desk": (249.0, 28.0, 0.25),
    "lamp": (39.5, 1.8, 0.10),
    "shelf": (129.0, 17.5, 0.35),
    "sofa": (649.0, 52.0, 0.55),
}
CITIES = {"Berlin": 0.3, "Hamburg": 0.22, "Köln": 0.2, "München": 0.16, "Düsseldorf": 0.12}
OFFICES = ("North", "East", "South")


class Planted(NamedTuple):
    """An error: what it is, where, and what the entry was and became."""

    kind: str
    row: int
    column: str
    was: str
    became: str


def make_orders(n: int = 1200, seed: int = 2023) -> tuple[dict[str, list[str]], list[Planted]]:
    """The columns of the table as text, with their errors; and the errors.

    An order is sent back the likelier the bulkier the product, the later it comes and the younger
    the customer is. Each office has collected a third of the orders.
    """
    random = np.random.default_rng(seed)
    product = random.choice([*PRODUCTS], n, p=[0.3, 0.2, 0.25, 0.15, 0.1])
    price, weight, back = (np.array([PRODUCTS[one][k] for one in product]) for k in range(3))
    quantity = 1 + random.binomial(3, np.where(product == "chair", 0.5, 0.1))
    price = np.round(price * random.choice([1.0, 0.9, 0.8], n, p=[0.7, 0.2, 0.1]), 2)
    total = np.round(quantity * price, 2)
    weight = np.round(weight * quantity * random.normal(1, 0.03, n), 1)
    age = np.clip(random.normal(44, 13, n).round(), 18, 88).astype(int)
    days = 1 + random.poisson(np.where(weight > 15, 6, 2))
    ordered = np.datetime64("2025-01-02") + random.integers(0, 360, n).astype("timedelta64[D]")
    odds = np.log(back / (1 - back)) + 0.35 * (days - 4) - 0.03 * (age - 44)
    returned = random.random(n) < 1 / (1 + np.exp(-1.5 * odds))
    columns = {
        "order": [f"A-{10_000 + 7 * i}" for i in range(n)],
        "ordered": [str(day) for day in ordered],
        "office": [OFFICES[i % 3] for i in range(n)],
        "city": random.choice([*CITIES], n, p=[*CITIES.values()]).tolist(),
        "age": [str(one) for one in age],
        "product": product.tolist(),
        "quantity": [str(one) for one in quantity],
        "price": [f"{one:.2f}" for one in price],
        "total": [f"{one:.2f}" for one in total],
        "weight": [f"{one:.1f} kg" for one in weight],
        "days": [str(one) for one in days],
        "returned": ["yes" if one else "no" for one in returned],
    }
    return columns, _plant(columns, random)


def _plant(columns: dict[str, list[str]], random: np.random.Generator) -> list[Planted]:
    """Change entries as people do, each in a row of its own."""
    rows = iter(random.permutation(len(columns["order"])).tolist())
    planted: list[Planted] = []

    def change(kind: str, column: str, count: int, wrong: dict[str, str] | None = None) -> None:
        while count:
            row = next(rows)
            was = columns[column][row]
            became = _wrong(kind, was) if wrong is None else wrong.get(was, was)
            if became != was:
                columns[column][row] = became
                planted.append(Planted(kind, row, column, was, became))
                count -= 1

    change("misspelt", "city", 3, {"Hamburg": "Hambrug", "Berlin": "Belrin"})
    change("broken letters", "city", 3, {name: _broken(name) for name in CITIES})
    change("another unit", "weight", 4)
    change("wrong year", "ordered", 3)
    change("ten times too much", "age", 3)
    change("letter for a digit", "price", 3)
    change("slipped point", "total", 4)
    change("swapped digits", "total", 4)
    change("another product", "product", 4, {"sofa": "lamp", "desk": "lamp"})
    change("wrong label", "returned", 6, {"yes": "no", "no": "yes"})
    return planted


def _broken(name: str) -> str:
    """Text in UTF-8 that was read as if it were in Latin 1."""
    return name.encode().decode("latin-1")


def _wrong(kind: str, was: str) -> str:
    match kind:
        case "another unit":
            return f"{1000 * float(was.removesuffix(' kg')):.0f} g"
        case "wrong year":
            return was.replace("2025", "1925")
        case "ten times too much":
            return f"{was}0"
        case "letter for a digit":
            return was.replace("0", "O", 1)
        case "slipped point":
            return f"{float(was) * 10:.2f}"
        case _:  # swapped digits: the first two that differ
            pairs = (k for k in range(len(was) - 1) if was[k : k + 2].isdigit())
            first = next((k for k in pairs if was[k] != was[k + 1]), None)
            if first is None:
                return was
            return was[:first] + was[first + 1] + was[first] + was[first + 2 :]
