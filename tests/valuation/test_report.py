"""The report's file without a browser: words, numbers, inert text, clear errors."""

import base64
import json
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from made_valuations import made
from report_page import html_of
from shapley2d._valuation.report.typical import typical_numbers, typical_texts
from shapley2d._valuation.valuation import Valuation
from shapley2d.exceptions import InputError


def make(values=None, *, error=0.0, contents=None, target=None, names=None, **info):
    values = [[0.5, -0.2], [0.1, 0.3], [-0.4, 0.2]] if values is None else values
    return made(values, error=error, contents=contents, target=target, names=names, info=info)


class Page(HTMLParser):
    """Collects the elements and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.words, self.data, self._inside = [], [], {}, None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self._inside = dict(attrs).get("id", tag) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside is None:
            self.words.append(data)
        else:
            self.data[self._inside] = self.data.get(self._inside, "") + data

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    @property
    def record(self):
        return json.loads(self.data["record"])

    def section(self, name):
        return zlib.decompress(base64.b64decode(self.data[name]))


def page_of(valuation, **options):
    return Page(html_of(valuation, **options))


def test_values_survive_within_their_precision():
    rng = np.random.default_rng(0)
    v = make(rng.normal(size=(50, 3)) * [1, 100, 1e-6])
    page = page_of(v)
    planes = np.frombuffer(page.section("numbers"), np.uint8)
    codes = (planes[:200].astype(int) | planes[200:].astype(int) << 8).astype(np.int16)
    read = codes.reshape(4, 50).T * page.record["scales"]
    expected = np.column_stack([v.values, v.row_values])
    assert (np.abs(read - expected) <= 0.51 * np.array(page.record["scales"])).all()
    assert page.record["columns"] == v.column_values.tolist()


def test_errors_survive_within_three_per_cent():
    rng = np.random.default_rng(0)
    v = make(rng.normal(size=(40, 2)))
    v.stderr[:] = rng.lognormal(0, 2, size=(40, 2))
    v.stderr[3, 1] = 0
    v.row_stderr[:] = v.stderr.sum(axis=1)
    page = page_of(v)
    codes = np.frombuffer(page.section("numbers"), np.uint8)[2 * 120 :].reshape(3, 40).T
    steps = (codes.astype(float) - 255) / 16
    read = np.where(codes > 0, page.record["errorScales"] * 2**steps, 0)
    np.testing.assert_allclose(read, np.column_stack([v.stderr, v.row_stderr]), rtol=0.03)


def test_entries_and_labels_survive():
    contents = [["a", 1.5], [None, 2], ["b", None]]
    page = page_of(make(contents=contents, target=["no", "yes", "no"]))
    texts = json.loads(page.section("texts"))
    codes = list(page.section("entries"))
    columns = [[texts["levels"][j][code] for code in codes[3 * j : 3 * j + 3]] for j in range(2)]
    assert columns == [["a", None, "b"], ["1.5", "2", None]]
    assert [texts["levels"][2][code] for code in codes[6:]] == ["no", "yes", "no"]


def test_many_distinct_entries_get_wider_codes():
    contents = [[f"key {i}"] for i in range(300)]
    page = page_of(make(np.ones((300, 1)), contents=contents))
    levels = json.loads(page.section("texts"))["levels"][0]
    codes = np.frombuffer(page.section("entries"), "<u2")
    assert [levels[code] for code in codes] == [line[0] for line in contents]


def test_the_lowest_cells_are_exact_and_worst_first():
    v = make(error=0.25)
    assert page_of(v).record["lowest"] == [[2, 0, -0.4, 0.25], [0, 1, -0.2, 0.25]]
    assert page_of(v, n=1).record["lowest"] == [[2, 0, -0.4, 0.25]]


def test_without_harm_the_least_valuable_are_listed():
    page = page_of(make(np.arange(1.0, 5).reshape(2, 2)))
    assert [cell[2] for cell in page.record["lowest"]] == [1, 2, 3, 4]
    assert "No cell is below 0." in page.text


def test_very_long_text_is_shortened():
    v = make(np.full((1, 1), -1.0), contents=[["x" * 100_000]], target=["y" * 100_000])
    assert len(html_of(v)) < len(html_of(make(np.full((1, 1), -1.0), contents=[["x"]]))) + 2000


def test_nothing_is_loaded_from_elsewhere():
    page = page_of(make())
    policy = next(attrs["content"] for tag, attrs in page.tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    for tag, attrs in page.tags:
        for name in ("src", "href"):
            target = attrs.get(name) or "#"
            assert target.startswith(("#", "data:")), (tag, target)


@pytest.mark.parametrize(
    ("info", "words"),
    [
        ({"method": "knn", "task": "classification", "folds": 5}, "classifies, evaluated on each of 5 folds in turn. Method: knn"),
        ({"about": {"how": "the 3 nearest neighbours"}, "n_valid": 1200}, "evaluated on 1,200 validation rows. Method: the 3 nearest"),
        ({"n_valid": 1200, "n_valid_used": 300}, "evaluated on a random 300 of 1,200 rows. Method:"),
        ({"about": {"how": "random orders"}, "model": "Ridge()", "task": "regression"}, "Method: random orders with Ridge()"),
        ({"method": "own"}, "Method: own."),
        ({}, "Method: an unknown method"),
    ],
)  # fmt: skip
def test_summary_says_how_it_was_measured(info, words):
    assert words in page_of(make(**info)).text


def test_summary_says_how_certain():
    assert "Exact. Nothing was sampled." in page_of(make()).text
    text = page_of(make(error=0.15, converged=False)).text
    assert "Standard error at most 0.15." in text
    assert "Sampling ended before" in text
    assert "17 % of the cells are below 0 by more than the error (95 % interval)" in text


@pytest.mark.parametrize("error", [np.inf, np.nan])
def test_unknown_errors_are_not_shown(error):
    page = page_of(make(error=error))
    assert page.record["exact"] is True
    assert "unknown sampling error" in page.text
    assert "too few draws, do not rely on these values" in page.text
    assert "±" not in page.text


def test_the_call_that_repeats_the_run():
    assert "value_cells(X, y, cv=3)" in page_of(make(call="value_cells(X, y, cv=3)")).text


def test_words_of_a_method_come_with_the_result():
    about = {"meaning": "a wish", "caution": "Wishes are no contributions."}
    text = page_of(make(about=about)).text
    assert "The value of a cell is a wish." in text
    assert "Wishes are no contributions." in text and "Below 0 means" not in text
    assert "Below 0 means" in page_of(make()).text


def test_intervals_are_as_wide_as_the_degrees_of_freedom_ask():
    v = replace(make(error=0.1), dof=9.0)
    page = page_of(v)
    assert page.record["intervalFactor"] == pytest.approx(2.262, abs=1e-3)
    assert "\N{PLUS-MINUS SIGN} 0.23" in page.text


def test_the_page_says_what_it_is_about():
    info = {"task": "regression", "date": "2026-05-01 12:30 UTC", "versions": {"shapley2d": "9.9"}}
    facts = {"table": "<b>houses</b>.csv", "target": "price"}
    notes = [
        "column 'id' looks like a key",
        "column 'id' looks like a key",
        "3 rows <i>left out</i>",
    ]
    text = page_of(make(**info), facts=facts, notes=notes).text
    assert (
        "table <b>houses</b>.csv target price task regression made 2026-05-01 12:30 UTC "
        "by shapley2d 9.9" in text
    )
    assert text.count("looks like a key") == 1
    assert "What the run noted" in text and "3 rows <i>left out</i>" in text
    assert "What the run noted" not in page_of(make()).text


def test_a_sum_that_says_nothing_is_not_headlined():
    assert "sum of all values" in page_of(make(about={"total": "the model's score"})).text
    assert (
        "sum of all values"
        not in page_of(make(about={"total": "", "meaning": "a share of trees"})).text
    )


def test_no_block_that_is_worth_something_is_called_harmful():
    blocks = make_blocks()
    page = page_of(blocks)
    assert page.record["lowest"] == []
    assert "0 of 2 blocks are below 0 by more than the error" in page.text
    assert "Look at these first" not in page.text


def test_nested_records_are_words():
    assert "owners Ann: 3, Bob: 4" in page_of(make(owners={"Ann": 3, "Bob": 4})).text


def test_summary_names_what_to_look_at():
    contents = [["a", 1], ["a", 2], ["b", None]]
    text = page_of(make(contents=contents, target=["p", "q", "r"])).text
    assert "row 2 , x0 = b" in text
    assert "takes away 0.400, labelled r ; typical: a 67 %, b 33 %" in text


@pytest.mark.parametrize(
    "marked", [[(2, 0), (1, 1)], np.array([[0, 0], [0, 1], [1, 0]], dtype=bool)]
)
def test_marked_cells(marked):
    page = page_of(make(), marked=marked)
    assert page.record["marked"] == [3, 4]
    assert (
        "Of 2 marked cells, 1 ranks among the 2 most harmful, 1 among the 2 listed below."
        in page.text
    )


def test_a_huge_table_is_shown_by_its_most_extreme_rows():
    values = np.ones((100, 2))
    values[[7, 50], 1] = [-9, 8]
    page = page_of(make(values), max_cells=4, marked=[(7, 1), (3, 0)])
    assert page.record["n"] == 2
    assert json.loads(page.section("texts"))["rowNames"] == ["7", "50"]
    assert page.record["lowest"] == [[0, 1, -9, 0]]
    assert page.record["marked"] == [1]
    assert "The map shows the 2 rows with the most extreme cells, of 100." in page.text


def make_blocks():
    return Valuation(
        np.array([[0.5, 0.25]]), np.full((1, 2), 0.1), np.array(["all"]), ["a", "b"],
        info={"players": ("group of rows", "group of columns")},
    )  # fmt: skip


def test_groups_are_called_groups():
    page = page_of(make_blocks())
    assert page.record["nouns"][1] == ["group of rows", "groups of rows"]
    assert "2 blocks, 1 group of rows by 2 groups of columns of a training table" in page.text


def test_all_zero_values():
    page = page_of(make(np.zeros((2, 2))))
    assert page.record["limit"] == 1.0
    assert page.record["scales"] == [1.0, 1.0, 1.0]


def test_to_html_and_a_saved_valuation_give_the_same_page(tmp_path):
    v = make(
        contents=[["a", 1], ["b", 2], [None, 3.5]], target=["p", "q", "p"], error=0.1, method="knn"
    )
    v.to_html(tmp_path / "fresh.html")
    v.save(tmp_path / "v.parquet")
    Valuation.load(tmp_path / "v.parquet").to_html(tmp_path / "loaded.html")
    assert (tmp_path / "fresh.html").read_text() == (tmp_path / "loaded.html").read_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"marked": np.zeros((2, 2), dtype=bool)}, r"marked has the shape \(2, 2\), but the values have \(3, 2\)"),
        ({"marked": [(3, 0)]}, "positions"),
        ({"marked": [1, 2]}, "positions"),
        ({"n": 0}, "n=0 must be a whole number of at least 1"),
        ({"max_cells": 0}, "max_cells=0 must be a whole number of at least 1"),
    ],
)  # fmt: skip
def test_messages(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        make().to_html(tmp_path / "report.html", **options)
    assert list(tmp_path.iterdir()) == []


def test_typical_numbers():
    assert typical_numbers(np.array([2.0, 2.0, np.nan])) == "always 2, missing 33 %"
    assert (
        typical_numbers(np.array([0.0, 1.5]), dates=True)
        == "median 1970-01-02, mostly 1970-01-01 to 1970-01-02"
    )
    assert typical_numbers(np.array([123456.0])) == "always 123456"


def test_typical_texts():
    assert typical_texts(["a"]) == "a 100 %"
    assert typical_texts(["a", "b"]) == "all different"
    assert typical_texts([*"aabbcdef"]) == "a 25 %, b 25 %, c 12 %, 3 more"
    assert typical_texts(["a", "b", None]) == "2 different entries, missing 33 %"
    assert typical_texts([None]) == "missing 100 %"


@pytest.mark.parametrize(("size", "many"), [(0.2, ""), (0.02, "1,000"), (1e-5, "1,000,000")])
def test_small_points_are_those_of_many(size, many):
    """'-212 in 10^-3 points' is what nobody repeats."""
    score = {"name": "accuracy", "factor": 100.0, "per_cent": True}
    values = size / 100 * np.array([[1.0, -0.4], [0.5, -0.75], [-0.2, 0.1]])
    known = make(values)
    v = replace(known, info={**known.info, "score": score, "semivalue": ["shapley"] * 2})
    units = page_of(v).record["units"]
    for noun in ("cells", "rows"):
        behind = many and f" per {many} such {noun}"
        assert units[noun]["words"] == f"points{behind}"
    assert units["points"]["words"] == "points"
