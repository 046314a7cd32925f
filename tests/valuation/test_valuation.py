"""The result: sums, rankings, frames, files and what it says of itself."""

import dataclasses
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from campaign.crafted import valuation_parts, write_valuation
from shapley2d import (
    KNN,
    InputError,
    Inspection,
    MonteCarlo,
    Valuation,
    value_cells,
    value_game,
)
from shapley2d._valuation.views import find_row

FRAME = pd.DataFrame(
    {
        "age": [20, 30, 40, 50, 60, 70],
        "town": ["Ulm", None, "<b>Bonn</b>", "Ulm", "Köln", "Ulm"],
        "member": [True, False, True, None, True, False],
    },
    index=["p1", "p2", "p3", "p4", "p5", "p6"],
)
Y = ["no", "no", "no", "yes", "yes", "yes"]


@pytest.fixture(scope="module")
def valuation() -> Valuation:
    return value_cells(
        FRAME, Y, FRAME, Y, method=MonteCarlo(max_draws=20, tolerance=0), random_state=3
    )


def test_sums_and_rankings(valuation):
    assert valuation.shape == (6, 3)
    np.testing.assert_allclose(valuation.row_values, valuation.values.sum(axis=1))
    np.testing.assert_allclose(valuation.column_values, valuation.values.sum(axis=0))
    assert valuation.total == pytest.approx(valuation.values.sum())
    lowest, highest = valuation.lowest(4), valuation.highest(100)
    assert lowest["value"].tolist() == sorted(valuation.values.ravel())[:4]
    assert highest["value"].tolist() == sorted(valuation.values.ravel(), reverse=True)
    first = lowest.iloc[0]
    i = valuation.row_names.tolist().index(first["row"])
    j = valuation.column_names.index(first["column"])
    assert valuation.values[i, j] == first["value"]
    assert valuation.stderr[i, j] == first["stderr"]


@pytest.mark.parametrize(
    ("convert", "kind"),
    [
        (lambda frame: frame, pd.DataFrame),
        (pl.from_pandas, pl.DataFrame),
        (lambda frame: pa.Table.from_pandas(frame, preserve_index=False), pa.Table),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_frames_go_back_as_they_came(convert, kind):
    frame = convert(FRAME.reset_index(drop=True))
    v = value_cells(frame, Y, frame, Y, method=KNN(n_neighbors=3))
    tidy = v.to_frame()
    assert isinstance(tidy, kind)
    assert isinstance(v.lowest(2), kind)
    names = tidy.column_names if isinstance(tidy, pa.Table) else list(tidy.columns)
    assert names == ["row", "column", "value", "stderr"]
    assert len(tidy) == 18


@pytest.mark.parametrize(
    "index",
    [
        list("abcdef"),
        pd.date_range("2024", periods=6),
        pd.MultiIndex.from_product([[1, 2], [*"xyz"]]),
    ],
)
def test_wide_frames_have_the_index_and_columns_of_the_table(index):
    X = FRAME.set_axis(index)
    v = value_cells(X, Y, X, Y, method=KNN(n_neighbors=3))
    wide = v.to_frame(wide=True)
    assert wide.index.equals(X.index) and wide.columns.equals(X.columns)
    np.testing.assert_array_equal(wide.to_numpy(), v.values)
    assert wide.groupby(FRAME["town"].to_numpy()).sum().loc["Ulm", "age"] == pytest.approx(
        v.values[[0, 3, 5], 0].sum()
    )
    labelled = value_cells(X, Y, X, Y, method=KNN(n_neighbors=3), include_label=True)
    assert list(labelled.to_frame(wide=True).columns) == [*FRAME, labelled.column_names[-1]]
    for convert in (pl.from_pandas, pa.Table.from_pandas):
        other = convert(FRAME.reset_index(drop=True))
        wide = value_cells(other, Y, other, Y, method=KNN(n_neighbors=3)).to_frame(wide=True)
        assert isinstance(wide, type(other)) and wide.shape == (6, 3)
    with pytest.raises(InputError, match="wide=True has no place for contents"):
        v.to_frame(wide=True, contents=True)


def test_rows_and_columns_are_frames_sorted_from_the_lowest(valuation):
    rows, columns = valuation.rows(), valuation.columns()
    assert list(rows.columns) == ["row", "value", "stderr", "low", "high"]
    assert rows["value"].tolist() == sorted(valuation.row_values)
    assert dict(zip(columns["column"], columns["value"], strict=True)) == pytest.approx(
        dict(zip(valuation.column_names, valuation.column_values, strict=True))
    )
    np.testing.assert_allclose(
        rows["high"] - rows["value"], valuation._interval_factor * rows["stderr"]
    )
    assert valuation.lowest_rows(2).equals(rows[:2])
    assert valuation.highest_rows(1)["row"].tolist() == rows["row"].tolist()[-1:]
    assert len(valuation) == 6


def test_saving_and_loading_changes_nothing(valuation, tmp_path):
    path = tmp_path / "values.parquet"
    valuation.save(path)
    loaded = Valuation.load(path)
    for field in ("values", "stderr", "row_stderr", "column_stderr"):
        np.testing.assert_array_equal(getattr(loaded, field), getattr(valuation, field))
    assert loaded.row_names.tolist() == valuation.row_names.tolist()
    assert loaded.column_names == valuation.column_names
    assert loaded.info == json.loads(json.dumps(valuation.info))
    assert loaded.history == valuation.history
    assert loaded._contents == valuation._contents
    assert loaded._labels == valuation._labels == Y
    assert [c.kind for c in loaded._table.columns] == ["number", "category", "boolean"]
    assert repr(loaded) == repr(valuation)
    again = tmp_path / "again.parquet"
    loaded.save(again)
    assert Valuation.load(again)._contents == valuation._contents
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.parquet", "values.parquet"]


def test_the_file_is_a_plain_tidy_table(valuation, tmp_path):
    valuation.save(tmp_path / "values.parquet")
    table = pq.read_table(tmp_path / "values.parquet")
    assert table.column_names == ["row", "column", "value", "stderr", "content", "label"]
    assert table.slice(0, 3)["row"].to_pylist() == ["p1"] * 3
    assert table.slice(0, 3)["content"].to_pylist() == ["20", "Ulm", "true"]
    settings = json.loads(table.schema.metadata[b"shapley2d"])["info"]
    assert settings["method"] == "mc"
    assert settings["settings"] == {"max_draws": 20, "tolerance": 0}
    assert settings["random_state"] == 3
    assert settings["versions"]["numpy"] == np.__version__


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_file_is_read_for_any_kind_of_frame(valuation, tmp_path, kind):
    valuation.save(tmp_path / "v.parquet")
    v = Valuation.load(tmp_path / "v.parquet", frame=kind)
    assert v == valuation and v._frame == kind
    assert type(v.lowest(2, contents=True)).__module__.split(".")[0] == kind
    assert Valuation.load(tmp_path / "v.parquet")._frame == valuation._frame
    with pytest.raises(
        InputError, match="frame='excel' is not known: use one of 'pandas', 'polars', 'pyarrow'"
    ):
        Valuation.load(tmp_path / "v.parquet", frame="excel")


def test_cells_can_show_what_they_say(valuation):
    names = ["row", "column", "content", "label", "value", "stderr"]
    for frame in (valuation.lowest(3, contents=True), valuation.highest(3, contents=True)):
        assert list(frame.columns) == names and len(frame) == 3
    frame = valuation.to_frame(contents=True)
    assert list(frame.columns) == names and len(frame) == valuation.values.size
    said = [None if pd.isna(text) else text for text in frame["content"]]
    assert said == [text for line in zip(*valuation._contents, strict=True) for text in line]
    assert frame["label"].tolist() == [
        label for label in valuation._labels for _ in valuation.column_names
    ]
    assert list(valuation.to_frame().columns) == ["row", "column", "value", "stderr"]
    game = value_game(lambda S, F: float(S.sum() * F.sum()), 2, 2)
    with pytest.raises(
        InputError, match="contents=True needs the entries of a table, which these values do not"
    ):
        game.lowest(1, contents=True)


def test_bad_files_are_named(valuation, tmp_path):
    path = tmp_path / "values.parquet"
    valuation.save(path)
    record, table = valuation_parts(path)
    for spoil, message in (
        (lambda: path.write_bytes(path.read_bytes()[:-40]), "is not a readable Parquet file"),
        (
            lambda: pq.write_table(table.replace_schema_metadata(None), path),
            "not a valuation saved",
        ),
        (
            lambda: write_valuation(path, {**record, "valuation": None}, table),
            r"has values in format 1, and this version reads 2: read it with shapley2d \d.*, which wrote it",
        ),
        (
            lambda: write_valuation(path, {**record, "format": 99}, table),
            "saved by a newer shapley2d",
        ),
        (lambda: write_valuation(path, {**record, "history": 5}, table), "is damaged"),
        (
            lambda: write_valuation(
                path, {**record, "info": {**record["info"], "folds": "5"}}, table
            ),
            "folds in its record is not what it should be",
        ),
        (lambda: write_valuation(path, record, table.slice(0, 10)), "10 cells for 6 rows x 3"),
        (path.unlink, "there is no file"),
    ):
        spoil()
        with pytest.raises(InputError, match=message):
            Valuation.load(path)


@pytest.mark.parametrize("junk", ["x", 0, -1, False, True, [], {}, [1], float("inf"), 1.5])
def test_no_forged_record_reaches_a_traceback(valuation, tmp_path, junk):
    """Refused in one line, or as good as any other: a file may come from anyone."""
    path = tmp_path / "values.parquet"
    valuation.save(path)
    record, table = valuation_parts(path)
    score = valuation.info["score"]
    forged = [
        *({entry: junk} for entry in valuation.info), {"players": junk}, {"caveat": junk}, {"score": {**score, "factor": junk}}, {"score": {**score, "shift": junk}},
        {"score": {**score, "name": junk}}, {"score": {**score, "rarest": junk}},
        {"score": {**score, "odd": junk}}, {"baseline_utility": junk}, {"unexplained": junk},
        {"versions": {"shapley2d": junk}}, {"about": {"total": junk}}, {"seconds": junk},
        {"settings": {"tolerance": junk}}, {"settings": {"tolerance": [float("nan")]}}, {"tolerance": float("nan")},
    ]  # fmt: skip
    for changes in forged:
        write_valuation(path, {**record, "info": {**record["info"], **changes}}, table)
        try:
            found = Valuation.load(path)
        except InputError as error:
            found = str(error)
        if isinstance(found, str):
            assert "\n" not in found
            continue
        assert repr(found) and found._repr_html_() and found.to_markdown()
        found.to_html(tmp_path / "page.html")


def test_it_says_what_it_is(valuation):
    text = repr(valuation)
    assert text.startswith("Valuation of 6 rows x 3 columns, method mc, standard error at most")
    assert len(text.splitlines()) == 5
    assert ". The columns add " in text
    exact = value_cells(FRAME, Y, FRAME, Y, method="exact")
    assert "method exact, exact" in repr(exact)


def test_notebook_text_is_escaped():
    frame = FRAME.rename(columns={"age": "<script>alert(1)</script>"})
    v = value_cells(frame, Y, frame, Y, method=KNN(n_neighbors=3))
    page = v._repr_html_()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2024-01-01", periods=6).as_unit("ns"),
        pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]]),
        ["r0", 1, "r2", 3, "r4", 5],
        pd.period_range("2024", periods=6, freq="D"),
        [1.5, 2.5, None, 3.5, 4.5, 5.5],
    ],
    ids=["dates", "tuples", "mixed", "periods", "gaps"],
)
def test_row_names_of_any_kind_survive(index, tmp_path):
    frame = FRAME.set_axis(index)
    v = value_cells(frame, Y, frame, Y, method=KNN(n_neighbors=3))
    v.save(tmp_path / "v.parquet")
    loaded = Valuation.load(tmp_path / "v.parquet")
    assert [str(name) for name in loaded.row_names.tolist()] == [
        str(name) for name in v.row_names.tolist()
    ]
    assert find_row(v, v.row_names.tolist()[1]) == 1


def test_valuations_are_equal_by_their_values():
    game = lambda S, F: float(S.sum() * F.sum())  # noqa: E731
    one, two = value_game(game, 3, 2), value_game(game, 3, 2)
    assert one == two  # though each took its own time
    assert one != value_game(lambda S, F: float(S.sum()), 3, 2)
    assert one != "something else"
    assert one != replace(one, column_names=["a", "b"])
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_a_file_holds_an_equal_valuation(tmp_path):
    v = value_cells(
        [[0, 1], [1, 0], [2, 2], [3, 1]] * 4,
        [0, 0, 1, 1] * 4,
        method=KNN(subsets="sampled", n_subsets=8),
    )
    v = replace(v, stderr=v.stderr + 0.1, dof=9.0)
    v.save(tmp_path / "v.parquet")
    back = Valuation.load(tmp_path / "v.parquet")
    assert back == v and back.dof == 9.0
    assert [end.tolist() for end in back.interval()] == [end.tolist() for end in v.interval()]


@pytest.mark.parametrize(
    ("part", "message"),
    [
        ({"row_stderr": np.zeros(5)}, "do not fit row_stderr, which has 5 instead of 3"),
        ({"column_stderr": np.zeros(1)}, "do not fit column_stderr, which has 1 instead of 2"),
        ({"stderr": np.zeros((2, 2))}, "do not fit stderr, which has 2 x 2 instead of 3 x 2"),
        ({"column_names": ["a"]}, "do not fit column_names, which has 1 instead of 2"),
    ],
)  # fmt: skip
def test_parts_of_the_wrong_length_are_refused(part, message):
    v = value_game(lambda S, F: float(S.sum() * F.sum()), 3, 2)
    with pytest.raises(InputError, match=message):
        replace(v, **part)


def test_a_run_of_more_than_a_minute_says_how_long_it_took(tmp_path):
    def took(seconds):
        return Valuation(
            np.eye(2), np.zeros((2, 2)), np.arange(2), ["a", "b"], info={"seconds": seconds}
        )

    assert "  took     1 min 15 s" in repr(took(75.0))
    assert "took" not in repr(took(59.0))
    took(75.0).to_html(tmp_path / "page.html")
    assert "1 min 15 s" in (tmp_path / "page.html").read_text(encoding="utf-8")


def public(kind):
    named = {*dir(kind), *(part.name for part in dataclasses.fields(kind))}
    return {name for name in named if not name.startswith("_")}


def test_the_public_face_is_what_people_call():
    """What pages, files and the command line read beside it has an underscore."""
    assert public(Valuation) == {
        "values", "stderr", "row_names", "column_names", "row_values", "column_values", "row_stderr",
        "column_stderr", "total", "total_stderr", "shape", "exact", "dof", "caveat", "lines", "info", "history", "strays",
        "interval", "lowest", "highest", "rows", "columns", "lowest_rows", "highest_rows", "to_frame", "describe", "explain_row", "what_if", "sum_by",
        "payments", "best_sets", "alone", "without", "receipt",
        "plot_heatmap", "plot_waterfall", "plot_beeswarm", "plot_columns", "plot_entries",
        "compare", "to_dict", "to_markdown", "to_html", "open", "save", "load",
    }  # fmt: skip
    assert public(Inspection) == {
        "probability", "expected", "findings", "scores", "label_probability", "label_expected", "label_scores",
        "label_name", "expected_errors", "expected_errors_interval", "row_names", "column_names", "lines",
        "shape", "info", "rank", "compare", "repair", "to_frame", "to_dict", "to_markdown", "to_html",
        "open", "to_pandera", "save", "load",
    }  # fmt: skip
