"""Heart comes from a folder of the user's: names, missing entries, repeats, and clear messages."""

import gzip
import hashlib

import narwhals.stable.v2 as nw
import numpy as np
import pytest

from shapley2d import InputError
from shapley2d.datasets import load_dataset, load_heart, loaders
from shapley2d_paper.data import paper_table

HEADER = "age,sex,cp,trestbps,chol,fbs,restecg,thalach,exang,oldpeak,slope,ca,thal,target"
LINES = [
    "52,1,0,125,212,0,1,168,0,1,2,2,3,0",
    "34,0,1,118,210,1,0,192,0,0.7,1,0,2,1",
    "52,1,0,125,212,0,1,168,0,1,2,2,3,0",  # a repeat of the first
    "38,1,2,138,175,0,2,173,1,0,0,4,1,1",  # ca is missing
    "52,1,3,128,204,1,1,156,1,1,1,0,0,0",  # thal is missing
]
CONTENT = "\n".join([HEADER, *LINES, ""]).encode()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that SHAPLEY2D_DATA names, with a small file taken for the whole."""
    monkeypatch.setenv("SHAPLEY2D_DATA", str(tmp_path))
    monkeypatch.setattr(loaders, "_HEART_SHA256", hashlib.sha256(CONTENT).hexdigest())
    return tmp_path


@pytest.mark.parametrize("form", ["lf", "crlf", "no last line end", "gz", "gz with crlf"])
def test_every_form_of_the_file_is_read(folder, form):
    content = CONTENT.replace(b"\n", b"\r\n") if "crlf" in form else CONTENT
    if form == "no last line end":
        content = content.rstrip(b"\n")
    if "gz" in form:
        (folder / "heart.csv.gz").write_bytes(gzip.compress(content))
    else:
        (folder / "heart.csv").write_bytes(content)
    X, y = load_heart("pyarrow")
    assert X.slice(0, 2).to_pylist() == [
        {
            "age": 52, "sex": "male", "cp": "asymptomatic", "trestbps": 125, "chol": 212, "fbs": False,
            "restecg": "normal", "thalach": 168, "exang": False, "oldpeak": 1.0, "slope": "upsloping", "ca": 2,
            "thal": "reversible defect",
        },
        {
            "age": 34, "sex": "female", "cp": "atypical angina", "trestbps": 118, "chol": 210, "fbs": True,
            "restecg": "left ventricular hypertrophy", "thalach": 192, "exang": False, "oldpeak": 0.7,
            "slope": "flat", "ca": 0, "thal": "normal",
        },
    ]  # fmt: skip
    assert X["ca"].to_pylist() == [2, 0, 2, None, 0]
    assert X["thal"].to_pylist()[3:] == ["fixed defect", None]
    assert X["cp"].to_pylist()[3:] == ["non-anginal pain", "typical angina"]
    assert y.tolist() == ["disease", "no disease", "disease", "no disease", "disease"]


def test_distinct_keeps_the_first_of_equal_rows(folder):
    (folder / "heart.csv").write_bytes(CONTENT)
    X, y = load_heart("pyarrow", distinct=True)
    assert X["age"].to_pylist() == [52, 34, 38, 52]
    assert y.tolist() == ["disease", "no disease", "no disease", "disease"]


def test_the_papers_table_has_the_codes_of_the_file(folder):
    (folder / "heart.csv").write_bytes(CONTENT)
    table = paper_table("heart")
    assert np.array_equal(
        np.column_stack([table.numbers, table.labels]),
        [list(map(float, line.split(","))) for line in LINES],
    )
    assert table.class_names == ("disease", "no disease")
    coded = {name for name, flag in zip(table.column_names, table.categorical, strict=True) if flag}
    assert coded == {"sex", "cp", "fbs", "restecg", "exang", "slope", "thal"}


@pytest.mark.parametrize(
    "load", [load_heart, lambda: load_dataset("heart"), lambda: paper_table("heart")]
)
def test_without_the_folder(monkeypatch, load):
    monkeypatch.delenv("SHAPLEY2D_DATA", raising=False)
    with pytest.raises(
        InputError,
        match=r"^Heart does not come with the package: get heart\.csv from https://www\.kaggle\.com/datasets/johnsmith88"
        r"/heart-disease-dataset and set the environment variable SHAPLEY2D_DATA to its folder$",
    ):
        load()


def test_a_folder_without_the_file(folder):
    with pytest.raises(
        InputError, match=r"\(SHAPLEY2D_DATA\) has no heart\.csv: get heart\.csv from https"
    ):
        load_heart()


def test_another_file_of_that_name(folder):
    (folder / "heart.csv").write_bytes(CONTENT.replace(b"52,", b"53,"))
    with pytest.raises(
        InputError, match=r"heart\.csv is not the file of 1,025 rows from https.*content differs"
    ):
        load_heart()


def test_a_file_cut_short(folder):
    (folder / "heart.csv.gz").write_bytes(gzip.compress(CONTENT)[:-20])
    with pytest.raises(InputError, match=r"heart\.csv\.gz cannot be unpacked"):
        load_heart()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_the_real_file(paper_data, kind):
    pytest.importorskip(kind)
    X, y = load_heart(kind)
    frame = nw.from_native(X, eager_only=True)
    assert frame.shape == (1025, 13)
    assert (y == "no disease").sum() == 526
    nulls = {name: frame[name].null_count() for name in frame.columns}
    assert {name: count for name, count in nulls.items() if count} == {"ca": 18, "thal": 7}
    assert {name for name, dtype in frame.schema.items() if dtype == nw.Boolean} == {"fbs", "exang"}
    X, y = load_heart(kind, distinct=True)
    assert nw.from_native(X, eager_only=True).shape == (302, 13)
    assert (y == "no disease").sum() == 164
