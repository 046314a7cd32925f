"""Half of a surrogate pair in an entry, a label or a name: valued, shown, saved and read again."""

import json

import numpy as np
import pandas as pd
import pytest

from shapley2d import (
    KNN,
    Inspection,
    Valuation,
    inspect_cells,
    value_cells,
    value_game,
)
from shapley2d._base.entries import as_text
from shapley2d.cli import main as command

LONE, SHOWN = "x\ud800", "x\\ud800"
N = 24


def entries():
    rng = np.random.default_rng(0)
    side = rng.choice(["u", "v"], N).tolist()
    y = ["yes" if s == "u" else "no" for s in side]
    y[0] = "no"
    return {"a": rng.normal(size=N).tolist(), "side": side}, y


def objects(columns):
    """A pandas frame that holds what pandas' own text cannot."""
    frame = pd.DataFrame(
        {k: pd.Series(part, dtype=object) for k, part in enumerate(columns.values())}
    )
    frame.columns = pd.Index(list(columns), dtype=object)
    return frame


def cases():
    """Tables and targets, and the texts that must be in the result."""
    X, y = entries()
    lone = {**X, "side": [LONE if s == "u" else s for s in X["side"]]}
    yield "entries of a dict", lone, y
    yield "entries of a frame", objects(lone), y
    categories = pd.Categorical(pd.Series(lone["side"], dtype=object))
    yield "a categorical", pd.DataFrame({"a": X["a"], "side": categories}), y
    yield (
        "entries of an array",
        np.array(list(map(list, zip(*lone.values(), strict=True))), dtype=object),
        y,
    )
    yield (
        "records",
        [dict(zip(lone, line, strict=True)) for line in zip(*lone.values(), strict=True)],
        y,
    )
    named = {"a": X["a"], LONE: X["side"]}
    yield "a column's name in a dict", named, y
    yield "a column's name in a frame", objects(named), y
    labels = [LONE if label == "yes" else label for label in y]
    yield "labels in a list", X, labels
    yield "labels in an array", X, np.array(labels)
    yield "labels in a series", X, pd.Series(labels, dtype=object)
    yield "the target's name", X, pd.Series(y, dtype=object, name=LONE)
    frame = pd.DataFrame(X)
    frame.index = pd.Index([LONE, *(f"r{k}" for k in range(1, N))], dtype=object)
    yield "a row's name", frame, y
    stray = [str(x) for x in X["a"]]
    stray[3] = LONE
    yield "text among numbers", {**X, "a": stray}, y


CASES = {name: (X, y) for name, X, y in cases()}
if pd.__version__ < "3":  # which cannot hash such categories
    del CASES["a categorical"]


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.LeakWarning")
@pytest.mark.parametrize("name", CASES)
def test_a_result_can_be_shown_and_saved(name, tmp_path):
    X, y = CASES[name]
    found = value_cells(X, y, method=KNN(n_neighbors=3), include_label=True)
    found.save(tmp_path / "v.parquet")
    again = Valuation.load(tmp_path / "v.parquet")
    assert np.array_equal(again.values, found.values)
    assert again.column_names == found.column_names
    assert again.row_names.tolist() == found.row_names.tolist()
    assert (again._contents, again._labels) == (found._contents, found._labels)
    found.to_html(tmp_path / "v.html")
    shown = [repr(found), str(found.to_frame()), json.dumps(found.info, ensure_ascii=False)]
    "".join(shown).encode()
    held = [*found.column_names, *map(str, found.row_names), *found._labels]
    held += [text for column in found._contents for text in column]
    assert SHOWN in held


@pytest.mark.filterwarnings("ignore::shapley2d.exceptions.InputWarning")
@pytest.mark.parametrize(
    "name", sorted({"a categorical", "a column's name in a frame", "labels in an array"} & {*CASES})
)
def test_an_inspection_can_be_shown_and_saved(name, tmp_path):
    X, y = CASES[name]
    found = inspect_cells(X, y)
    found.save(tmp_path / "i.parquet")
    again = Inspection.load(tmp_path / "i.parquet")
    assert np.array_equal(again.scores, found.scores)
    assert again.column_names == found.column_names
    found.to_html(tmp_path / "i.html")
    (repr(found) + str(found.rank(5))).encode()
    found.repair(X, n=2)


def test_values_are_those_of_any_other_name():
    X, y = entries()
    plain = value_cells(X, y, method=KNN(n_neighbors=3))
    for name in ("entries of a dict", "a column's name in a frame", "labels in an array"):
        found = value_cells(*CASES[name], method=KNN(n_neighbors=3))
        np.testing.assert_allclose(found.values, plain.values, rtol=0, atol=1e-12)


def test_options_name_columns_as_the_table_does():
    X, y = entries()
    for table in ({**X, LONE: y}, objects({**X, LONE: y})):
        found = value_cells(table, LONE, method=KNN(n_neighbors=3))
        assert found.column_names == ["a", "side"]
    numbers = {LONE: [str(k % 5) for k in range(N)], "a": X["a"]}
    found = value_cells(numbers, y, method=KNN(n_neighbors=3), kinds={LONE: "text"})
    assert found._table.columns[0].kind == "category"


def test_groups_and_players(tmp_path):
    X, y = entries()
    groups = [LONE if k < 12 else "b" for k in range(N)]
    found = value_cells(X, y, row_groups=groups)
    found.save(tmp_path / "b.parquet")
    found.to_html(tmp_path / "b.html")
    assert SHOWN in str(found.sum_by([LONE, "b"]))
    assert found.row_names.tolist() == [SHOWN, "b"]
    game = value_game(lambda S, F: float(S.sum() * F.sum()), 2, 2, column_names=[LONE, "b"])
    game.save(tmp_path / "g.parquet")
    assert game.column_names == [SHOWN, "b"]


@pytest.mark.parametrize("lines", [False, True])
def test_the_command_reads_cut_json(lines, tmp_path, capsys):
    X, y = entries()
    records = [
        {"a": a, LONE: LONE if s == "u" else s, "label": label}
        for a, s, label in zip(*X.values(), y, strict=True)
    ]
    path = tmp_path / "t.json"
    path.write_text("\n".join(map(json.dumps, records)) if lines else json.dumps(records))
    for output in ("v.csv", "v.parquet"):
        arguments = ["cells", str(path), "-t", "label", "-k", "3", "-o", str(tmp_path / output)]
        assert command([*arguments, "--report", str(tmp_path / "r.html")]) == 0
    assert SHOWN in (tmp_path / "v.csv").read_text(encoding="utf-8")
    capsys.readouterr()


def test_other_text_is_left_alone():
    for text in ("café", "日本", "👩\u200d💻", "\x00", "\\ud800", "a\nb"):
        assert as_text(text) == text
