"""The bundled tables are what they say."""

import csv
import gzip
import lzma
from importlib.resources import files

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from shapley2d import InputError
from shapley2d._tables.convert import as_table
from shapley2d.datasets import (
    DATASETS,
    load_breast_cancer_original,
    load_census,
    load_credit,
    load_dataset,
    load_wine,
    sources,
)

KINDS = ["pandas", "polars", "pyarrow"]
CENSUS_KINDS = "ncncncccccnnnc"
CREDIT_KINDS = "nccc" + 19 * "n"


def counts(y):
    return dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True))


def missing(table):
    return {name: table[name].null_count for name in table.column_names if table[name].null_count}


def texts(column):
    """Entries of a pyarrow column as a CSV file has them; its categories are slow to list one by one."""
    return column.cast("string").fill_null("").to_pylist()


def reference(path):
    with gzip.open(path, "rt") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("load", "shape", "column_kinds"),
    [
        (load_breast_cancer_original, (699, 9), 9 * "n"),
        (load_wine, (178, 13), 13 * "n"),
        (load_census, (32561, 14), CENSUS_KINDS),
        (load_credit, (30000, 23), CREDIT_KINDS),
    ],
)
def test_frames_of_every_kind(load, shape, column_kinds, kind):
    pytest.importorskip(kind)
    X, y = load(frame=kind)
    frame = nw.from_native(X, eager_only=True)
    assert str(frame.implementation) == kind
    assert frame.shape == shape
    assert y.shape == shape[:1]
    kinds = ["n" if dtype.is_numeric() else "c" for dtype in frame.schema.values()]
    assert "".join(kinds) == column_kinds
    assert all(
        dtype in (nw.Categorical, nw.Enum)
        for dtype in frame.schema.values()
        if not dtype.is_numeric()
    )
    if load is not load_wine:  # whole numbers; pandas has no integer that is missing
        allowed = {"bare_nuclei"} if kind == "pandas" else set()
        assert all(frame.schema[n].is_integer() for n, k in zip(frame.columns, kinds, strict=True)
                   if k == "n" and n not in allowed)  # fmt: skip
    head = as_table(frame[:50].to_native())
    assert "".join(column.kind[0] for column in head.columns) == column_kinds


def test_the_parts_of_census_make_up_the_whole():
    both, y = load_census("both", "pandas")
    train, y_train = load_census("train", "pandas")
    test, y_test = load_census("test", "pandas")
    assert train.dtypes.equals(
        test.dtypes
    )  # the same categories, though one country occurs in train only
    assert "Holand-Netherlands" in test["native_country"].cat.categories
    assert both[:32561].equals(train)
    assert both[32561:].reset_index(drop=True).equals(test)
    assert y.tolist() == [*y_train, *y_test]


def test_breast_cancer_is_the_papers_table(paper_data):
    ours = list(csv.reader(sources.bundled_csv("breast_cancer_original").decode().splitlines()))
    code = {"benign": "2", "malignant": "4", "class": "class"}
    assert [[*line[:-1], code[line[-1]]] for line in ours] == reference(
        paper_data / "breast_cancer.csv.gz"
    )


@pytest.mark.parametrize("part", ["train", "test"])
def test_census_is_the_papers_table(paper_data, part):
    header, *lines = reference(paper_data / f"census_{part}.csv.gz")
    X, y = load_census(part, "pyarrow")
    assert [*X.column_names, "income"] == header
    ours = [texts(X[name]) for name in X.column_names]
    assert [list(line) for line in zip(*ours, y.tolist(), strict=True)] == lines


def test_credit_is_the_papers_table(paper_data):
    header, *lines = reference(paper_data / "credit.csv.gz")
    X, y = load_credit("pyarrow")
    assert ["ID", *X.column_names, "default_payment_next_month"] == header
    codes = {
        "SEX": ["?", "male", "female"],
        "EDUCATION": ["undocumented 0", "graduate school", "university", "high school", "others",
                      "undocumented 5", "undocumented 6"],
        "MARRIAGE": ["undocumented 0", "married", "single", "others"],
    }  # fmt: skip
    ours = [
        [str(codes[name].index(text)) if name in codes else text for text in texts(X[name])]
        for name in X.column_names
    ]
    ids, target = [str(i + 1) for i in range(30000)], [str(int(label == "default")) for label in y]
    assert [list(line) for line in zip(ids, *ours, target, strict=True)] == lines


def test_wine_is_the_papers_table(paper_data):
    header, *lines = reference(paper_data / "wine.csv.gz")
    X, y = load_wine("pyarrow")
    assert [*X.column_names, "class"] == header
    ours = np.column_stack([X[name].to_numpy() for name in X.column_names])
    assert np.array_equal(ours, np.array(lines, dtype=float)[:, :-1])
    assert [f"class_{int(line[-1]) - 1}" for line in lines] == y.tolist()


def test_load_dataset_by_name():
    for name in set(DATASETS) - {"heart"}:
        X, y = load_dataset(name, "pyarrow")
        assert X.num_rows == y.size
    assert load_dataset("census", "pyarrow")[0].num_rows == 32561


def test_the_folder_does_not_change_a_bundled_table(monkeypatch, tmp_path):
    monkeypatch.setenv("SHAPLEY2D_DATA", str(tmp_path))
    (tmp_path / "breast_cancer_original.csv").write_text("id,a,class\n1,1,benign\n")
    assert load_dataset("breast_cancer_original", "pyarrow")[0].shape == (699, 9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: load_dataset("cencus"), r"there is no dataset 'cencus' \(did you mean 'census'\?\): choose one of"),
        (lambda: load_dataset("Wine"), r"did you mean 'wine'\?"),
        (lambda: load_dataset("breast_cancer"), r"did you mean 'breast_cancer_original'\?"),
        (lambda: load_dataset("zzzz"), "there is no dataset 'zzzz': choose one of breast_cancer_original, census,"),
        (lambda: load_census("valid"), "part='valid' must be one of 'train', 'test', 'both'"),
        (lambda: load_wine("dask"), "frame='dask' must be one of 'pandas', 'polars', 'pyarrow'"),
    ],
)  # fmt: skip
def test_wrong_names(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("damage", ["another content", "cut short", "gone"])
def test_a_damaged_copy_is_noticed(monkeypatch, tmp_path, damage):
    (tmp_path / "data").mkdir()
    file = tmp_path / "data" / "census.csv.xz"
    packed = (files("shapley2d.datasets") / "data" / "census.csv.xz").read_bytes()
    if damage == "another content":
        file.write_bytes(
            lzma.compress(
                lzma.decompress(packed).replace(b"39,State-gov", b"93,State-gov", 1), preset=0
            )
        )
    elif damage == "cut short":
        file.write_bytes(packed[:-1000])
    monkeypatch.setattr(sources, "files", lambda package: tmp_path)
    with pytest.raises(RuntimeError, match=r"^census\.csv\.xz is damaged: install shapley2d again"):
        load_census()


@pytest.mark.parametrize("name", sorted(sources.CHECKSUMS))
def test_source_licence_and_checksum_are_named(name):
    source = (files("shapley2d.datasets") / "data" / "SOURCE.md").read_text()
    doi = {"breast_cancer_original": "C5HP4Z", "census": "C5XW20", "credit": "C55S3H"}[name]
    for words in (f"## {name}.csv.xz", "CC BY 4.0", f"10.24432/{doi}", sources.CHECKSUMS[name]):
        assert words in source


def test_every_bundled_file_has_a_checksum():
    packed = [
        file.name
        for file in (files("shapley2d.datasets") / "data").iterdir()
        if file.name != "SOURCE.md"
    ]
    assert sorted(packed) == [f"{name}.csv.xz" for name in sorted(sources.CHECKSUMS)]
