"""The bundled tables are what they say."""

import csv
import gzip
from importlib.resources import files

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from shapley2d.datasets import load_breast_cancer_original, load_wine, loaders


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(("load", "shape"), [(load_breast_cancer_original, (699, 9)), (load_wine, (178, 13))])
def test_frames_of_every_kind(load, shape, kind):
    pytest.importorskip(kind)
    X, y = load(kind)
    frame = nw.from_native(X, eager_only=True)
    assert str(frame.implementation) == kind
    assert frame.shape == shape
    assert all(dtype.is_numeric() for dtype in frame.schema.values())
    assert y.shape == shape[:1]


def test_breast_cancer_counts():
    X, y = load_breast_cancer_original("pyarrow")
    assert dict(zip(*(part.tolist() for part in np.unique(y, return_counts=True)), strict=True)) == {
        "benign": 458,
        "malignant": 241,
    }
    assert {name: X[name].null_count for name in X.column_names if X[name].null_count} == {"bare_nuclei": 16}
    assert {entry for name in X.column_names for entry in X[name].to_pylist()} - {None} == set(range(1, 11))


def test_breast_cancer_is_the_papers_table(paper_data):
    with gzip.open(paper_data / "breast_cancer.csv.gz", "rt") as file:
        reference = list(csv.reader(file))
    bundled = gzip.decompress(
        (files("shapley2d.datasets") / "data" / "breast_cancer_original.csv.gz").read_bytes()
    )
    ours = list(csv.reader(bundled.decode().splitlines()))
    code = {"benign": "2", "malignant": "4", "class": "class"}
    assert [[*line[:-1], code[line[-1]]] for line in ours] == reference


def test_a_damaged_copy_is_noticed(monkeypatch):
    monkeypatch.setattr(loaders, "_SHA256", "0" * 64)
    with pytest.raises(
        RuntimeError, match=r"breast_cancer_original\.csv\.gz is damaged: install shapley2d again"
    ):
        load_breast_cancer_original()


def test_source_and_licence_are_named():
    source = (files("shapley2d.datasets") / "data" / "SOURCE.md").read_text()
    for words in ("CC BY 4.0", "10.24432/C5HP4Z", "Wolberg"):
        assert words in source
