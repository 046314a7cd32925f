"""Errors for tables that calibration.py and detection.py look for, and made-up tables to put them in.

Two generators: the PyPI package tab-err, and slips, exchanged entries, far numbers and codes of this
file.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

KINDS = ("noise", "normal", "normal", "heavy tails", "ratings", "counts")
HEAVY = (
    np.exp,
    lambda values: values * np.abs(values) ** 0.7,
    lambda values: np.exp(values).clip(1.0) - 1.0,  # half of them are 0
)


def made_up(count: int, most_rows: int, random: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Tables whose numbers behave well, of each kind in turn, all as text.

    Columns follow up to three hidden numbers, more or less closely, or are nothing but noise. In
    tables of ratings and of counts all columns are such; of the others every fourth has levels.
    """
    found = {}
    for k in range(count):
        kind = KINDS[k % len(KINDS)]
        n, p = int(random.integers(150, most_rows)), int(random.integers(4, 16))
        hidden = random.normal(size=(n, 3))
        noise = 1.0 if kind == "noise" or k % 4 == 0 else float(random.uniform(0.05, 0.7))
        grades, crowded = int(random.integers(3, 11)), float(random.gamma(2.0))
        columns = {}
        for j in range(p):
            weights = random.normal(size=3)
            mixed = (1 - noise) * hidden @ weights / np.linalg.norm(weights)
            values = mixed + noise * random.normal(size=n)
            if kind == "ratings":
                cuts = random.normal(random.normal(), 1.0, size=grades - 1)
                texts = [str(k % 2 + one) for one in np.searchsorted(np.sort(cuts), values)]
            elif kind == "counts":
                rates = np.exp(random.uniform(-1.0, 3.5) + 0.7 * values)
                if k % 4 == 1:  # more crowded than by chance
                    rates *= random.gamma(crowded, 1 / crowded, size=n)
                texts = [str(one) for one in random.poisson(rates)]
            else:
                if kind == "heavy tails":
                    values = HEAVY[random.integers(len(HEAVY))](values)
                values = random.choice([1.0, 10.0, 1000.0]) * values
                values += random.choice([0.0, 5.0, 500.0])
                digits = int(random.integers(0, 4))
                texts = [f"{one:.{digits}f}" for one in values]
                if j % 4 == 3:
                    levels = np.searchsorted(np.quantile(values, [0.05, 0.4, 0.8]), values)
                    texts = [("low", "middle", "high", "top")[one] for one in levels]
            columns[f"c{j}"] = texts
        found[f"made up {k}, {kind}"] = pd.DataFrame(columns, dtype=str)
    return found


def sources(count: int, random: np.random.Generator) -> dict[str, pd.DataFrame]:
    """Made-up tables in which several sources tell about the same things, all as text."""
    found = {}
    for k in range(count):
        n_things, n_sources = int(random.integers(15, 120)), int(random.integers(3, 20))
        thing = np.repeat(np.arange(n_things), n_sources)[:1000]
        columns = {"thing": np.array([f"T-{one}" for one in random.permutation(9000)[:n_things]])}
        columns["group"] = random.choice([f"group {one}" for one in "abcdefgh"], n_things)
        for j in range(int(random.integers(2, 6))):
            minutes = random.integers(0, 1440, n_things)
            columns[f"c{j}"] = np.array(
                [f"{one // 60}:{one % 60:02d}" if j % 3 else str(one) for one in minutes]
            )
        frame = pd.DataFrame({name: of_thing[thing] for name, of_thing in columns.items()})
        frame["source"] = np.tile([f"source {one}" for one in range(n_sources)], n_things)[:1000]
        found[f"made up {k}, sources"] = frame.astype(object)
    return found


def whole_alone(frame: pd.DataFrame) -> pd.DataFrame | None:
    """The ratings and counts of a table alone, if it has four such columns, and others."""
    numbers = frame.apply(pd.to_numeric, errors="coerce")
    of_numbers = numbers.notna().mean() > 0.9
    whole = ((numbers % 1 == 0) | numbers.isna()).all()
    kept = of_numbers & whole & numbers.nunique().between(3, 30)
    return frame.loc[:, kept.to_numpy()] if 4 <= kept.sum() < frame.shape[1] else None


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


def spoiled(
    frame: pd.DataFrame, by: str, random: np.random.Generator, least: float = 0.003
) -> pd.DataFrame:
    """A copy with errors in some of the columns."""
    share = float(np.exp(random.uniform(np.log(least), np.log(0.14))))
    new = frame.copy()
    chosen = [name for name in frame.columns if random.random() < 0.7] or list(frame.columns[:1])
    if share < 0.003:
        chosen = chosen[: max(1, int(share * frame.size))]
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


WORDS = ("N/A", "unknown", "?", "-", "NULL", "none", "missing", "n/a", "999", "-1")
UNITS = (" kg", " oz", "%", " USD", " m", " years", " oz.", " ounce")
BROKEN = ("\ufffd", "\xc3\xa9", "\xe2\x80\x99", "\xc2\xb0")
OF_NUMBERS = ("word", "code", "code", "unit", "same", "slip", "other", "far", "random", "letter")
OF_TEXTS = ("word", "case", "slip", "slip", "other", "class", "broken", "more", "join", "space")


def by_habit(frame: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """A copy with errors of people and programs that come in one kind per column."""
    share = float(np.exp(random.uniform(np.log(0.002), np.log(0.25))))
    new = frame.copy()
    for name in frame.columns[random.random(frame.shape[1]) < 0.6]:
        texts = frame[name]
        full = np.flatnonzero((texts != "").to_numpy())
        count = int(min(max(1, 1.5 * share * len(frame)), len(full) // 3))
        numbers = pd.to_numeric(texts, errors="coerce").dropna()
        of_numbers = len(numbers) > 0.9 * len(full)
        kind = str(random.choice(OF_NUMBERS if of_numbers else OF_TEXTS))
        word, unit = str(random.choice(WORDS)), str(random.choice(UNITS))
        code = "0" if of_numbers and numbers.min() > 0 else str(random.choice(["-1", "99", "9999"]))
        one = str(texts[random.choice(full)]) if count else ""
        for i in random.choice(full, count, replace=False) if count else ():
            old = str(texts[i])
            at = int(random.integers(len(old)))
            letter = "0123456789lO."[random.integers(13)] if of_numbers else chr(97 + int(random.integers(26)))  # fmt: skip
            if kind == "slip":
                text = str(random.choice([old[:at] + letter + old[at + 1 :], old[:at] + old[at + 1 :], old[:at] + letter + old[at:], old[:at] + old[at + 1 : at + 2] + old[at : at + 1] + old[at + 2 :], old[:at] + "x" + old[at + 1 :]]))  # fmt: skip
            elif kind == "far":
                text = f"{float(old) * random.choice([10, 100, 1000, 0.1, 0.01, -1]):.6g}"
            else:
                text = {
                    "word": word,
                    "code": code,
                    "unit": old + unit,
                    "same": one,
                    "other": str(texts[random.choice(full)]),
                    "random": str(int(random.integers(0, int(np.clip(2 * numbers.max(), 10, 1e9)))))
                    if of_numbers
                    else old,
                    "letter": old.replace("0", "O").replace("1", "l"),
                    "case": old.lower() if old != old.lower() else old.upper(),
                    "class": str(random.choice(texts.unique())),
                    "broken": old[:at] + str(random.choice(BROKEN)) + old[at + 1 :],
                    "more": f"{old} {random.choice(['(est.)', '*', 'Inc', 'old', '!'])}",
                    "join": f"{old} {frame.iloc[i, int(random.integers(frame.shape[1]))]}"[:40],
                    "space": old.replace(" ", "") if " " in old else f"{old[:at]} {old[at:]}",
                }[kind]
            if text.strip() and text.strip() != old:
                new.loc[i, name] = text
    return new
