"""Lazy frames, whose rows are not there yet: collected once, with a word where there will be many."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from shapley2d import KNN, CellValuer, inspect_cells, value_cells
from shapley2d._tables import intake
from shapley2d._tables.intake import collected
from shapley2d.exceptions import InputWarning

random = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": random.integers(20, 60, 40),
        "job": ["clerk", "cook", None, "guard"] * 10,
        "y": ["no", "yes"] * 20,
    }
)
FRAME.loc[FRAME["age"] > 45, "y"] = "yes"
OPTIONS = {"method": KNN(n_neighbors=3), "cv": 2}


def of_dask(frame):
    dask = pytest.importorskip("dask.dataframe", reason="Dask's frames are not installed")
    return dask.from_pandas(frame, npartitions=3)


def of_duckdb(frame):
    return pytest.importorskip("duckdb", reason="duckdb is not installed").from_df(frame)


def of_ibis(frame):
    pytest.importorskip("duckdb", reason="duckdb is not installed")
    return pytest.importorskip("ibis", reason="ibis is not installed").memtable(
        pa.Table.from_pandas(frame, preserve_index=False)
    )


def of_spark(frame):
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed")
    return (
        pyspark.SparkSession.builder.master("local[1]")
        .getOrCreate()
        .createDataFrame(list(frame.itertuples(index=False, name=None)), list(frame.columns))
    )


ENGINES = {
    "polars": lambda frame: pl.from_pandas(frame).lazy(),
    "dask": of_dask,
    "duckdb": of_duckdb,
    "ibis": of_ibis,
    "spark": of_spark,
}
engines = pytest.mark.parametrize("engine", ENGINES)


@pytest.fixture(autouse=True)
def here():
    """Dask computes in this process, whichever clusters other tests have."""
    try:
        import dask
    except ImportError:
        yield
        return
    with dask.config.set(scheduler="synchronous"):
        yield


@engines
def test_the_values_are_those_of_the_rows(engine):
    query = ENGINES[engine](FRAME)
    found, plain = value_cells(query, "y", **OPTIONS), value_cells(FRAME, "y", **OPTIONS)
    assert found.column_names == plain.column_names == ["age", "job"]
    assert found.row_names.tolist() == list(range(40))
    assert found.values.tobytes() == plain.values.tobytes()
    assert found._contents == plain._contents


@engines
def test_validation_rows_and_the_estimator(engine):
    make = ENGINES[engine]
    options = {"method": KNN(n_neighbors=3)}
    found = CellValuer(**options).fit(make(FRAME[:25]), "y", make(FRAME[25:]), "y")
    plain = value_cells(FRAME[:25], "y", FRAME[25:], "y", **options)
    assert found.values_.tobytes() == plain.values.tobytes()


def test_weights_by_name_leave_the_table_as_they_do_in_memory():
    weighed = FRAME.assign(w=1.0)
    options = {"method": KNN(n_neighbors=3), "valid_weight": "w"}
    found = value_cells(pl.from_pandas(weighed).lazy(), "y", weighed, "y", **options)
    assert found.column_names == ["age", "job"]


def test_a_table_is_inspected():
    found = inspect_cells(pl.from_pandas(FRAME).lazy(), "y")
    assert found.scores.tobytes() == inspect_cells(FRAME, "y").scores.tobytes()


@pytest.mark.parametrize(
    "target", [lambda frame: pl.from_pandas(frame[["y"]]).lazy(), lambda frame: of_dask(frame)["y"]]
)
def test_targets_may_be_lazy(target):
    found = value_cells(FRAME[["age", "job"]], target(FRAME), **OPTIONS)
    assert found.values.tobytes() == value_cells(FRAME, "y", **OPTIONS).values.tobytes()


def test_parts_of_dask_that_count_from_0_again_are_no_names_and_no_column():
    dask = pytest.importorskip("dask.dataframe", reason="Dask's frames are not installed")
    parts = dask.concat([of_dask(FRAME[:20]), of_dask(FRAME[20:].reset_index(drop=True))])
    found = value_cells(parts, "y", **OPTIONS)
    assert found.column_names == ["age", "job"]
    assert found.row_names.tolist() == list(range(40))


def test_an_index_of_dask_names_the_rows():
    named = FRAME.set_axis([f"patient {k:02}" for k in range(40)])
    assert value_cells(of_dask(named), "y", **OPTIONS).row_names.tolist() == named.index.tolist()


def test_a_query_is_computed_once():
    dask = pytest.importorskip("dask.dataframe", reason="Dask's frames are not installed")
    read = []

    def part(start):
        read.append(start)
        return FRAME[start : start + 20]

    query = dask.from_map(part, [0, 20], meta=FRAME[:0])
    value_cells(query, "y", **OPTIONS)
    assert sorted(read) == [0, 20]


@pytest.mark.parametrize("engine", ["polars", "duckdb", "ibis"])
def test_a_large_one_is_announced(engine, monkeypatch):
    query = ENGINES[engine](FRAME)
    assert len(collected(query)) == 40  # no word
    monkeypatch.setattr(intake, "LARGE_BYTES", 8 * 40 * 3)
    said = (
        f"^X_valid is a {engine} query: collecting its 40 rows x 3 columns takes 0.0 GB as numbers; "
        "query fewer"
    )
    with pytest.warns(InputWarning, match=said):
        collected(query, "X_valid")


def test_two_queries_may_be_in_two_orders():
    X, y = of_duckdb(FRAME[["age", "job"]]), of_duckdb(FRAME[["y"]])
    with pytest.warns(
        InputWarning,
        match="^X and y are two duckdb queries, which may return their rows in different orders",
    ):
        value_cells(X, y, **OPTIONS)


def test_what_is_not_lazy_stays_what_it_is():
    for data in (
        FRAME,
        FRAME["y"],
        pl.from_pandas(FRAME),
        pa.table({"a": [1]}),
        [[1]],
        None,
        "a.csv",
        np.ones(3),
    ):
        assert collected(data) is data
