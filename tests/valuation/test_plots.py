"""What the plots draw: the right numbers, on the Axes given, for tables of every size."""

import subprocess
import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

from made_valuations import made
from shapley2d._tables.convert import as_table
from shapley2d._valuation import plots
from shapley2d._valuation.valuation import Valuation
from shapley2d.exceptions import InputError


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make(n=6, m=4, *, error=0.0, seed=0, history=(), info=None):
    rng = np.random.default_rng(seed)
    values, contents = rng.normal(size=(n, m)), rng.normal(size=(n, m)).round(2)
    return made(
        values, error=error, contents=contents, target=[["yes", "no"][k % 2] for k in range(n)],
        row_stderr=np.full(n, 2 * error), column_stderr=np.full(m, 3 * error),
        history=list(history), info=info or {},
    )  # fmt: skip


DRAW = {
    "columns": plots.column_bars,
    "entries": lambda v, ax=None: plots.entry_dots(v, "x0", ax=ax),
    "heatmap": plots.heatmap,
    "waterfall": lambda v, ax=None: plots.waterfall(v, 0, ax=ax),
    "beeswarm": plots.beeswarm,
}


@pytest.mark.parametrize("name", DRAW)
@pytest.mark.parametrize("shape", [(1, 1), (3, 300), (5000, 3)])
def test_draws_on_the_axes_given_and_returns_it(name, shape):
    valuation = make(*shape, error=0.1, history=[(1, 0.5), (10, 0.1)], info={"tolerance": 0.05})
    figure, ax = plt.subplots()
    assert DRAW[name](valuation, ax=ax) is ax
    figure.canvas.draw()


@pytest.mark.parametrize("name", DRAW)
def test_without_matplotlib_the_message_names_the_extra(name, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InputError, match=r"pip install 'shapley2d\[plots\]'"):
        DRAW[name](make(error=0.1, history=[(1, 0.5)]))


def test_heatmap_shows_every_value_around_zero():
    v = make()
    image = plots.heatmap(v).images[0]
    np.testing.assert_array_equal(image.get_array(), v.values)
    low, high = image.get_clim()
    assert low == -high
    red, _, blue, _ = image.cmap(0.0)
    assert red > blue
    red, _, blue, _ = image.cmap(1.0)
    assert blue > red


def test_heatmap_orders_rows_and_columns():
    v = make()
    image = plots.heatmap(v, rows="value", columns="value").images[0]
    expected = v.values[np.argsort(v.row_values)][:, np.argsort(-v.column_values)]
    np.testing.assert_array_equal(image.get_array(), expected)
    by_label = plots.heatmap(v, rows="label").images[0].get_array()
    assert {tuple(row) for row in by_label[:3].tolist()} == {
        tuple(row) for row in v.values[1::2].tolist()
    }


def test_heatmap_never_averages_a_bad_cell_away():
    v = make(5000, 3)
    v.values[1234, 1] = -99.0
    shown = plots.heatmap(v, max_rows=100).images[0].get_array()
    assert shown.shape == (100, 3)
    assert shown.min() == -99.0
    assert np.isin(shown, v.values).all()


def test_heatmap_colours_are_not_stretched_by_one_extreme():
    v = make(100, 20)
    v.values[0, 0] = 1e6
    assert plots.heatmap(v).images[0].get_clim()[1] < 10
    assert plots.heatmap(v, limit=7.0).images[0].get_clim() == (-7.0, 7.0)


def test_heatmap_bars_are_the_sums():
    v = make()
    above, right, _ = plots.heatmap(v).child_axes
    for ax, sums in ((above, v.column_values), (right, v.row_values)):
        good, harm = (bars.get_data().values for bars in ax.patches)
        np.testing.assert_allclose(good + harm, sums)
        assert (good >= 0).all() and (harm <= 0).all()


def test_waterfall_adds_up_to_the_row():
    v = make(3, 30)
    ax = plots.waterfall(v, 2, max_columns=5)
    *steps, total = [(bar.get_x(), bar.get_width()) for bar in ax.patches]
    assert len(steps) == 5
    assert total == (0.0, pytest.approx(v.row_values[2]))
    ends = np.cumsum([width for _, width in steps])
    np.testing.assert_allclose(
        [start for start, _ in steps], np.concatenate([[0], ends[:-1]]), atol=1e-12
    )
    assert ends[-1] == pytest.approx(v.row_values[2])
    labels = [tick.get_text() for tick in ax.get_yticklabels()]
    j = int(np.abs(v.values[2]).argmax())
    assert labels[0] == f"x{j} = {v._contents[j][2]}"
    assert labels[-2:] == ["26 other columns", "the row's value"]


def test_waterfall_has_error_bars_unless_exact():
    assert not plots.waterfall(make(), 0).containers[1:]
    lines = plots.waterfall(make(error=0.1), 0).containers[1].lines[2][0].get_segments()
    factor = make()._interval_factor
    assert np.ptp(lines[0][:, 0]) == pytest.approx(2 * factor * 0.1)
    assert np.ptp(lines[-1][:, 0]) == pytest.approx(2 * factor * 0.2)


def test_waterfall_without_known_errors():
    ax = plots.waterfall(make(error=np.inf), 0)
    ax.figure.canvas.draw()
    assert np.isfinite(ax.get_xlim()).all()


def test_beeswarm_has_a_dot_per_cell_at_its_value():
    v = make(50, 30)
    dots = plots.beeswarm(v, max_columns=4).collections[0]
    columns = np.argsort(-np.abs(v.values).sum(axis=0))[:4]
    x, y = dots.get_offsets().T
    np.testing.assert_allclose(x, v.values[:, columns].T.ravel())
    np.testing.assert_array_equal(np.round(y), np.repeat(np.arange(4), 50))
    entries = v._table.columns[columns[0]].entries
    assert dots.get_array()[int(entries.argmax())] == 1.0
    assert dots.get_array()[int(entries.argmin())] == 0.0


def test_beeswarm_is_grey_where_the_entry_is_no_number():
    table = as_table(np.array([["a", 1.0], ["b", None], ["a", 3.0]], dtype=object))
    v = Valuation(
        np.arange(6.0).reshape(3, 2), np.zeros((3, 2)), np.arange(3), ["t", "x"], _table=table
    )
    (dots,) = plots.beeswarm(v).collections
    assert dots.get_array().tolist() == [0.0, None, 1.0, None, None, None]
    assert len({tuple(colour) for colour in dots.to_rgba(dots.get_array())[[1, 3, 4, 5]]}) == 1


def test_bars_of_columns_are_sums_with_intervals_the_most_valuable_first():
    v = make(50, 4, error=0.1)
    ax = v.plot_columns(max_columns=3)
    order = np.argsort(-np.abs(v.column_values))[:3]
    order = order[np.argsort(-v.column_values[order])]
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], v.column_values[order])
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [f"x{j}" for j in order]
    reach = ax.containers[1].lines[2][0].get_segments()
    np.testing.assert_allclose([np.ptp(one[:, 0]) for one in reach], 2 * v._interval_factor * 0.3)
    assert ax.get_title() == "The largest 3 of 4 columns"
    assert ax.get_xlabel() == "what the column adds, with 95 % intervals"
    assert not make().plot_columns().containers[1:]


def test_dots_of_numbers_are_values_over_entries_and_marked_ones_do_not_stretch_the_axis():
    v = make(40, 2)
    v._table.columns[1].held[7] = 9e9
    ax = v.plot_entries("x1", marked=[(7, 1), (9, 0)])
    dots, ring = ax.collections
    others = np.delete(np.arange(40), 7)
    x, y = dots.get_offsets().T
    np.testing.assert_allclose(x, v._table.columns[1].entries[others])
    np.testing.assert_allclose(y, v.values[others, 1])
    ((at, value),) = ring.get_offsets()
    assert x.max() < at < 10
    assert value == v.values[7, 1]
    assert [text.get_text() for text in ax.texts] == ["9000000000"]


def test_dots_of_categories_and_of_entries_that_do_not_match():
    words = np.array([*"aaabbcdd", None], dtype=object)
    table = as_table({"t": words, "n": ["1", "2", "3", "4", "5", "6", "7", "8", "?!"]})
    v = Valuation(np.ones((9, 2)), np.zeros((9, 2)), np.arange(9), ["t", "n"], _table=table)
    ax = v.plot_entries("t", max_categories=2)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["a", "b", "2 others", "missing"]
    places = np.round(ax.collections[0].get_offsets()[:, 0])
    assert places.tolist() == [0, 0, 0, 1, 1, 2, 2, 2, 3]
    ax = v.plot_entries("n")
    assert ax.get_xticklabels()[0].get_text() == "no number"
    x = ax.collections[0].get_offsets()[:, 0]
    assert x[8] < 1.0 == x[0]


def test_axes_are_in_the_units_that_people_read():
    score = {"score": {"name": "accuracy", "factor": 100.0, "per_cent": True}}
    v = make(info=score)
    assert v.plot_columns().get_xlabel() == "what the column adds, points of the score"
    few = make(info={"score": {**score["score"], "factor": 0.01}})
    assert few.plot_entries("x0").get_ylabel() == "value of the cell, points per 1,000 such cells"
    assert "points per 1,000 such rows" in plots.waterfall(few, 0).get_xlabel()


def test_text_is_not_read_as_a_formula():
    table = as_table(np.array([["$x^", "$\\frac$"]], dtype=object))
    v = Valuation(
        np.ones((1, 2)),
        np.zeros((1, 2)),
        np.array(["$r_"], dtype=object),
        ["$a^$", "b$_"],
        _table=table,
    )
    for ax in (plots.heatmap(v), plots.waterfall(v, "$r_"), plots.beeswarm(v)):
        ax.figure.canvas.draw()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: make().plot_entries("x9"), "no column 'x9': the columns are 'x0'"),
        (lambda: replace(make(), _table=None).plot_entries("x0"), "needs the entries of a table"),
        (lambda: plots.waterfall(make(), 77), "there is no row 77"),
        (lambda: plots.heatmap(make(), rows="size"), "rows='size' is not known"),
        (lambda: plots.heatmap(make(), columns="label"), "columns='label' is not known"),
        (lambda: plots.heatmap(make(), max_rows=0), "max_rows=0 must be a whole number of at least 1"),
        (lambda: plots.beeswarm(make(), max_columns=0), "max_columns=0 must be a whole number of at least 1"),
        (lambda: plots.waterfall(make(), 0, max_columns=0), "max_columns=0 must be a whole number of at least 1"),
    ],
)  # fmt: skip
def test_messages(draw, message):
    with pytest.raises(InputError, match=message):
        draw()


def test_rows_by_label_need_labels():
    v = Valuation(np.ones((1, 1)), np.zeros((1, 1)), np.arange(1), ["a"])
    with pytest.raises(InputError, match="needs the target"):
        plots.heatmap(v, rows="label")


def test_importing_the_plots_does_not_import_matplotlib():
    code = "import sys, shapley2d._valuation.plots; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
