"""The tables as the paper uses them, and the files that its authors published."""

import csv
import gzip
import hashlib

import numpy as np
import pytest
from sklearn.preprocessing import LabelEncoder

from shapley2d import InputError
from shapley2d.datasets import DATASETS
from shapley2d_paper.data import authors, load_paper_split, load_paper_values, paper_table

SPLIT, VALUES = "breast_cancer_paper_split.npz", "breast_2d_values_paper.npz"
SHAPES = {
    "breast_cancer_original": (683, 9),
    "census": (48842, 14),
    "credit": (30000, 23),
    "heart": (1025, 13),
    "wine": (178, 13),
}
CLASS_SIZES = {
    "breast_cancer_original": {"benign": 444, "malignant": 239},
    "census": {"<=50K": 37155, ">50K": 11687},
    "credit": {"paid": 23364, "default": 6636},
    "heart": {"disease": 499, "no disease": 526},
    "wine": {"class_0": 59, "class_1": 71, "class_2": 48},
}


def reference(path):
    with gzip.open(path, "rt") as file:
        return list(csv.reader(file))


@pytest.mark.parametrize("name", DATASETS)
def test_shape_and_classes(name, request):
    if name == "heart":
        request.getfixturevalue("paper_data")
    table = paper_table(name)
    assert table.name == name
    assert table.numbers.shape == SHAPES[name]
    assert table.numbers.dtype == np.float64
    assert np.isfinite(table.numbers).all()
    assert len(table.column_names) == table.categorical.size == SHAPES[name][1]
    assert table.categorical.dtype == bool
    assert (
        dict(zip(table.class_names, np.bincount(table.labels).tolist(), strict=True))
        == CLASS_SIZES[name]
    )
    assert table.n_train_official == (32561 if name == "census" else None)
    assert table.source


def test_census_is_label_encoded_over_both_parts(paper_data):
    header, *train = reference(paper_data / "census_train.csv.gz")
    rows = np.array([*train, *reference(paper_data / "census_test.csv.gz")[1:]])
    table = paper_table("census")
    assert [*table.column_names, "income"] == header
    for j, name in enumerate(table.column_names):
        if table.categorical[j]:
            expected = LabelEncoder().fit_transform(np.where(rows[:, j] == "", "?", rows[:, j]))
        else:
            expected = rows[:, j].astype(float)
        assert np.array_equal(table.numbers[:, j], expected), name
    assert np.array_equal(table.labels, LabelEncoder().fit_transform(rows[:, -1]))


def test_credit_has_the_codes_of_the_source(paper_data):
    header, *rows = reference(paper_data / "credit.csv.gz")
    table = paper_table("credit")
    assert ["ID", *table.column_names] == header[:-1]
    expected = np.array(rows, dtype=float)
    assert np.array_equal(np.column_stack([table.numbers, table.labels]), expected[:, 1:])
    assert [n for n, flag in zip(table.column_names, table.categorical, strict=True) if flag] == [
        "SEX",
        "EDUCATION",
        "MARRIAGE",
    ]


def test_the_authors_split(paper_data):
    split = load_paper_split()
    assert split.X_train.shape == split.X_train_outlier.shape == split.outlier.shape == (241, 9)
    assert split.X_test.shape == (242, 9)
    assert np.array_equal(split.outlier, split.X_train != split.X_train_outlier)
    assert [int(split.outlier[split.y_train == label].sum()) for label in (2, 4)] == [20, 23]
    assert np.bincount(split.y_train)[[2, 4]].tolist() == [122, 119]
    assert np.bincount(split.y_test)[[2, 4]].tolist() == [122, 120]
    assert split.feature_names == paper_table("breast_cancer_original").column_names


def test_the_authors_values(paper_data):
    clean, outlier = load_paper_values()
    assert clean.shape == outlier.shape == (241, 9)
    with np.load(paper_data / VALUES) as archive:
        assert np.array_equal(clean, archive["values_clean"].T)
        assert np.array_equal(outlier, archive["values_outlier"].T)


@pytest.fixture
def small_files(tmp_path, monkeypatch):
    """Small files of the same layout as those of the authors, taken for the real ones."""
    split = {
        "X_train": np.arange(6).reshape(3, 2),
        "y_train": np.array([2, 4, 2]),
        "X_test": np.ones((1, 2), dtype=np.int64),
        "y_test": np.array([4]),
        "X_train_outlier": np.array([[0, 9], [2, 3], [9, 5]]),
        "outlier_cells_benign": np.array([1, 4]),
        "outlier_cells_malignant": np.array([], dtype=np.int64),
        "feature_names": np.array(["a", "b"]),
    }
    np.savez(tmp_path / SPLIT, **split)
    np.savez(
        tmp_path / VALUES,
        values_clean=np.zeros((2, 3)),
        values_outlier=np.arange(6.0).reshape(2, 3),
    )
    sums = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in (SPLIT, VALUES)
    }
    monkeypatch.setattr(authors, "_SHA256", sums)
    monkeypatch.setenv("SHAPLEY2D_DATA", str(tmp_path))
    return tmp_path


def test_files_of_that_layout(small_files):
    split = load_paper_split()
    assert split.outlier.tolist() == [[False, True], [False, False], [True, False]]
    assert split.feature_names == ("a", "b")
    assert load_paper_values()[1].tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]


@pytest.mark.parametrize(("load", "name"), [(load_paper_split, SPLIT), (load_paper_values, VALUES)])
def test_files_that_are_damaged_or_absent(small_files, monkeypatch, load, name):
    with (small_files / name).open("ab") as file:
        file.write(b"more")
    with pytest.raises(
        InputError, match=f"{name} is damaged or another file: its checksum differs"
    ):
        load()
    (small_files / name).unlink()
    with pytest.raises(InputError, match=rf"\(SHAPLEY2D_DATA\) has no {name}"):
        load()
    monkeypatch.delenv("SHAPLEY2D_DATA")
    with pytest.raises(
        InputError, match=f"does not come with the package: get {name} from https://github.com"
    ):
        load()
