"""Types that nobody asked for: an entry of any of them is read, or named in one message."""

import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from shapley2d import KNN, InputError, inspect_cells, value_cells
from shapley2d._tables.convert import as_table
from shapley2d.cli import main

N = 24
FAR = 10**9  # days: beyond the years that Python knows

HAS_VIEWS = hasattr(pa, "string_view")  # the oldest pyarrow has none

READ = {
    **({"string_view": pa.array(["p", "q"] * 12, pa.string_view())} if HAS_VIEWS else {}),
    "dictionary of numbers": pa.array([1, 2] * 12).dictionary_encode(),
    "half floats": pa.array(np.array([1, 2] * 12, np.float16)),
    "decimals of 60 digits": pa.array(
        [decimal.Decimal("9" * 60), decimal.Decimal(1)] * 12, pa.decimal256(76, 0)
    ),
    "times of day": pa.array([1, 2] * 12, pa.time32("s")),
    "durations": pa.array([1, 2] * 12, pa.duration("us")),
    "unsigned": pa.array([2**63, 2**63 + 2**20] * 12, pa.uint64()),
    "nulls": pa.nulls(N),
    "fixed bytes": pa.array([b"p", b"q"] * 12, pa.binary(1)),
}
REFUSED = {
    "lists": pa.array([[1], [2, 3]] * 12),
    **(
        {"lists by view": pa.array([[1], [2, 3]] * 12, pa.list_view(pa.int64()))}
        if HAS_VIEWS
        else {}
    ),
    "records": pa.array([{"k": 1}, {"k": 2}] * 12),
    "maps": pa.array([[("k", 1)], [("k", 2)]] * 12, pa.map_(pa.string(), pa.int64())),
}
TARGETS_REFUSED = {
    **REFUSED,
    "far dates": pa.array([FAR, 2] * 12, pa.date32()),
    "far times": pa.array([10**15, 2] * 12, pa.timestamp("ms")),
    "times of no zone": pa.array([10**15, 2] * 12, pa.timestamp("us", "No/Where")),
    "nulls": pa.nulls(N),
}


def pair(one, other, kind):
    return pa.array([one, other] * 12, kind)


BYTES = pa.array([b"\xff", b"q"] * 12)
BAD = pa.Array.from_buffers(pa.string(), N, BYTES.buffers())
IN_WORDS = {
    "text": pa.array(["p", "q"]),
    "dates": pa.array([10**9, 2], pa.date32()),
    "no zone": pa.array([1, 2], pa.timestamp("us", "No/Where")),
}
EVERY = {
    **{
        f"{kind.__name__} {unit} {size:.0e}": pair(int(size), 2, kind(unit))
        for kind in (pa.timestamp, pa.duration)
        for unit in ("s", "ms", "us", "ns")
        for size in (1e9 + 1, 6e14, 2**62, -(2**62))
    },
    **{
        f"times in {zone}, {unit}": pair(10**9 + 1, 2, pa.timestamp(unit, zone))
        for zone in ("Europe/Berlin", "+02:00", "No/Where")
        for unit in ("s", "ms", "us", "ns")
    },
    **{str(kind): pair(1001, 2, kind) for kind in (pa.time32("ms"), pa.time64("us"), pa.time64("ns"))},
    **{f"far {kind}": pair(864 * 10**14, 0, kind) for kind in (pa.date64(), pa.timestamp("ms"))},
    **{
        str(kind): pa.array([1, 2] * 12, pa.int32()).cast(kind)
        for kind in (
            pa.int8(), pa.uint8(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.date32(),
            pa.bool_(), pa.decimal128(20, 2), pa.string(), pa.large_string(),
        )
    },
    **{str(kind): BYTES.cast(kind) for kind in (pa.binary(), pa.large_binary(), pa.binary(1))},
    "text of invalid bytes": BAD,
    **{
        f"categories of {name}": pa.DictionaryArray.from_arrays(pa.array([0, 1] * 12), words)
        for name, words in {**IN_WORDS, "invalid bytes": BAD[:2]}.items()
    },
    "categories that repeat": pa.DictionaryArray.from_arrays(
        pa.array([0, 1] * 12), pa.array(["p", "p"])
    ),
    "spans": pair((1, 2, 3), (3, 4, 5), pa.month_day_nano_interval()),
    "records of times": pair({"k": 2**62}, {"k": 2}, pa.struct({"k": pa.timestamp("ms")})),
    "one of several": pa.UnionArray.from_sparse(
        pa.array([0, 1] * 12, pa.int8()), [pa.array(range(N)), pa.array(["x"] * N)]
    ),
    **READ,
    **REFUSED,
}  # fmt: skip


@pytest.mark.parametrize("column", EVERY.values(), ids=EVERY)
@pytest.mark.filterwarnings("ignore")
def test_every_type_is_read_or_refused_in_one_line(tmp_path, capsys, column):
    a, labels = pa.array([float(k * k % 11) for k in range(N)]), ["u", "v"] * 12
    plain, whole = pa.table({"a": a}), pa.table({"a": a, "b": column})
    options = {"method": KNN(n_neighbors=3), "cv": 2}
    calls = [
        lambda: value_cells(whole, labels, **options),
        lambda: value_cells(whole, "b", **options),
        *(
            lambda name=name: value_cells(plain, labels, **options, **{name: column})
            for name in ("groups", "time_order", "valid_weight", "row_groups")
        ),
        lambda: value_cells(plain, column, **options),
        lambda: inspect_cells(whole),
        lambda: inspect_cells(plain, column),
    ]
    for call in calls:
        try:
            call()
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
    try:
        path = write(tmp_path, b=column)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # Parquet has no such type
        return
    for command in (["cells", "-t", "y"], ["cells", "-t", "b"], ["cells", "-t", "y", "--id", "b"],
                    ["inspect"], ["inspect", "-t", "b"]):  # fmt: skip
        code = main([command[0], path, *command[1:]])
        assert (code, capsys.readouterr().err.count("error")) in ((0, 0), (2, 1))


def write(tmp_path, **columns):
    path = tmp_path / "t.parquet"
    a = pa.array([float(k * k % 11) for k in range(N)])
    pq.write_table(pa.table({"a": a, "y": pa.array(["u", "v"] * 12), **columns}), path)
    return str(path)


@pytest.mark.parametrize("column", READ.values(), ids=READ)
def test_columns_that_name_the_rows(tmp_path, column):
    report, saved = tmp_path / "r.html", tmp_path / "v.parquet"
    outputs = ["--report", str(report), "-o", str(saved)]
    assert main(["cells", write(tmp_path, b=column), "-t", "y", "--id", "b", *outputs]) == 0


@pytest.mark.parametrize(
    "column", [*READ.values(), pa.array([FAR, 2] * 12, pa.date32())], ids=[*READ, "far dates"]
)
@pytest.mark.filterwarnings("ignore:.*empty throughout")
def test_features_from_python(column):
    X = pa.table({"a": [float(k * k % 11) for k in range(N)], "b": column})
    assert np.isfinite(value_cells(X, [0, 1] * 12, method=KNN(n_neighbors=3), cv=2).values).all()


@pytest.mark.skipif(not HAS_VIEWS, reason="this pyarrow makes no such arrays")
def test_repeated_entries_written_short():
    short = pa.RunEndEncodedArray.from_arrays(pa.array([12, N], pa.int32()), pa.array(["p", "q"]))
    v = value_cells(pa.table({"a": short, "b": list(range(N))}), [0, 1] * 12)
    assert v._contents[0] == ["p"] * 12 + ["q"] * 12


@pytest.mark.parametrize("column", REFUSED.values(), ids=REFUSED)
def test_features_that_are_refused(tmp_path, capsys, column):
    assert main(["cells", write(tmp_path, b=column), "-t", "y"]) == 2
    assert "column 'b'" in capsys.readouterr().err


@pytest.mark.parametrize("column", TARGETS_REFUSED.values(), ids=TARGETS_REFUSED)
def test_targets_that_are_refused(tmp_path, capsys, column):
    assert main(["cells", write(tmp_path, y=column), "-t", "y"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "column 'y'" in err or "the target 'y'" in err
    X = np.arange(2.0 * N).reshape(N, 2)
    with pytest.raises(InputError, match=r"^y\b"):
        value_cells(X, column)


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.duration("s")])
def test_times_whose_milliseconds_are_beyond_64_bits(kind):
    with pytest.raises(InputError, match=r"column 'a' holds a time of 4.61e\+18 seconds"):
        value_cells(pa.table({"a": pa.array([2**62, 1] * 12, kind)}), [0, 1] * 12)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (
            [[1, 2], [3]],
            [0, 1],
            r"X must be a 2-D table, but its rows have different lengths \(1, 2\)",
        ),
        ([[1], [2]], [[0], [1, 2]], "y must be 1-D, got a list of lists"),
        ([[1], [2]], [{"k": 1}, {"k": 2}], "column 'y', row 0 holds a dict, not a plain entry"),
        ([[1], [2]], [{1}, {2}], "column 'y', row 0 holds a set, not a plain entry"),
    ],
)
def test_python_lists_that_are_no_tables(X, y, message):
    with pytest.raises(InputError, match=message):
        value_cells(X, y)


@pytest.mark.parametrize("number", [1.5, 3, None, "x"])
def test_booleans_in_lists_are_booleans_as_in_a_frame(number):
    rows = [[True, 1.5, number], [False, 2.0, 4], [True, 0.5, 2], [np.True_, 1.0, 7]]
    as_lists, as_frame = as_table(rows), as_table(pd.DataFrame(rows))
    assert [c.kind for c in as_lists.columns] == [c.kind for c in as_frame.columns]
    assert as_lists.columns[0].kind == "boolean"


def test_a_table_of_lists_with_booleans_has_the_values_of_the_frame():
    rng = np.random.default_rng(0)
    rows = [
        [bool(rng.random() < 0.3), int(rng.integers(5)), float(rng.normal())] for _ in range(40)
    ]
    rows[3][1] = rows[7][1] = 9
    y = rng.integers(0, 2, 40)
    options = {"method": KNN(n_neighbors=3)}
    lists = value_cells(rows[:30], y[:30], rows[30:], y[30:], **options)
    frame = pd.DataFrame(rows)
    frames = value_cells(frame[:30], y[:30], frame[30:], y[30:], **options)
    np.testing.assert_array_equal(lists.values, frames.values)


def test_numbers_that_come_after_a_hundred_texts_are_read():
    """Pandas' objects count as text by their first hundred entries."""
    late = [f"about {k % 7}" for k in range(120)] + [float(k % 7) for k in range(80)]
    frame = pd.DataFrame({"a": pd.Series(late, dtype=object), "b": np.arange(200) % 9})
    first = frame[::-1]  # numbers come first: a column of objects
    ends = as_table(frame).columns[0].text(), as_table(first).columns[0].text()[::-1]
    assert ends[0] == ends[1] and ends[0][119:121] == ["about 0", "0.0"]
    assert value_cells(frame, [0, 1] * 100, method=KNN(n_neighbors=3)).shape == (200, 2)
