"""Numbers and options that the pages name are those of the code."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path

import pytest
import typer

from shapley2d._api.blocks_job import VALIDATION_GROUPS
from shapley2d._base.precision import interval_factor
from shapley2d._estimation.workers import MAX_LOSSES
from shapley2d._inspection.recipe import MOST_CHANCE
from shapley2d._knn import rounding
from shapley2d._knn.columns.pair_fit import FEW_PER_PLAYER
from shapley2d._knn.cuda.weight_levels import MAX_LEVELS
from shapley2d._knn.row_axis import RowAxis
from shapley2d._knn.row_values import FAST_ROWS
from shapley2d._knn.threads import Threads
from shapley2d._knn.whole_weights import _MOST_DIFFERENT
from shapley2d._methods.blocks import MAX_AUTO_EXACT, MAX_AUTO_UTILITIES
from shapley2d._methods.exact import MAX_EXACT_UTILITIES
from shapley2d._methods.knn import (
    backend,
    bin_correction,
    choices,
    pieces,
    precedence,
    rule,
    strata,
)
from shapley2d._methods.pairs.games import MAX_EXACT, MAX_SAMPLED
from shapley2d._tables.reading.parquet_bounds import FREE_BYTES, MAX_RATIO
from shapley2d._version import __version__
from shapley2d.cli.app import app
from shapley2d.cli.limits import ADDRESS_SPACE

ROOT = Path(__file__).parent.parent
WORDS = {3: "three", 4: "four", 8: "eight", 10: "ten"}
ALIKE_DRAWS = math.ceil(math.log(0.05) / math.log(1 - 0.025))

SENTENCES = {
    "knn.md": [
        f"takes all of them up to {WORDS[choices.FEW_COLUMNS]} columns",
        f"A quarter of the chunks, with {WORDS[pieces.FIRST_PER_COLUMN]} subsets to a column",
        f"From {WORDS[FEW_PER_PLAYER]} subsets to a column on",
        f"up to {_MOST_DIFFERENT} different weights of columns",
        f"to {int(rounding._ALL_PAIRS):,} pairs of validation row and column subset, and a million triples",
        f"tables of {FAST_ROWS:,} rows or more, with 2 billion triples",
        f"The sample starts with {choices.SAMPLE} subsets",
        f"with {WORDS[choices.SAMPLE_ROWS]} validation rows each",
        f"{bin_correction.SPREAD_SHARE:g} of the spread of the values",
        f"fewer than {strata._FEW_ROWS} validation rows",
    ],
    "choosing-a-method.md": [
        f"({ALIKE_DRAWS} draws for 0.025)",
        f"{interval_factor(1e9):.2f} standard errors either way for many draws, {interval_factor(9):.2f} for ten",
        f"up to {round(math.log2(MAX_EXACT_UTILITIES))} players",
        f"up to {MAX_EXACT} players on one axis and up to {MAX_SAMPLED:,} on the other",
        f"one axis has at most {WORDS[MAX_AUTO_EXACT]} groups",
    ],
    "blocks.md": [
        f"exact up to {MAX_AUTO_UTILITIES['model']:,} utilities of a model ({MAX_AUTO_UTILITIES['knn']:,} with",
        f"one axis has at most {WORDS[MAX_AUTO_EXACT]} groups",
        f"{WORDS[VALIDATION_GROUPS]} groups of them are left out in turn",
    ],
    "question.md": [
        f"at most {precedence.MAX_COALITIONS:,}",
        f"up to {MAX_LEVELS} different weights",
    ],
    "cluster.md": [f"die {WORDS[MAX_LOSSES]} times in a row"],
    "gpu.md": [f"2^{round(math.log2(backend.LEAST_WORK))} (1.1e9)"],
    "reliability.md": [
        f"more than {FREE_BYTES >> 20} MB and more than {MAX_RATIO} times its own size"
    ],
    "find-and-fix.md": [f"Probabilities are capped at {round(100 * MOST_CHANCE)} %"],
    "scale.md": [f"beyond {2**18:,} rows"],
    "../CHANGELOG.md": [f"in {ADDRESS_SPACE // 10**9} GB of address space"],
}


@pytest.mark.parametrize("page", SENTENCES)
def test_numbers_in_sentences_are_those_of_the_code(page):
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert [sentence for sentence in SENTENCES[page] if sentence not in text] == []


def test_sizes_that_sentences_round():
    assert rounding._ALL_WORK == 2**20  # "a million triples"
    assert 2e9 < choices.SMALL_WORK < 2.2e9  # "2 billion triples"
    assert rule._PILOT == 0.25  # "a quarter of the chunks"
    assert bin_correction.FORM_SHARE == 0.25  # "a quarter of the error of sampled subsets"


def test_memory_of_a_thread_is_that_of_the_page():
    """scale.md and cluster.md: up to 588 n for a thread that ranks all rows, 464 n in the fast form, 204 n at a million rows."""

    class Rows:
        n_columns = 40

        def __init__(self, n_rows, *, is_binned=False):
            self.n_rows, self.is_binned = n_rows, is_binned

        def taken(self, n_subsets=256):
            return Threads.bytes_of_a_thread(self, n_subsets, 8) / self.n_rows

    assert issubclass(Threads, RowAxis)
    assert (Rows(10_000).taken(), Rows(10_000, is_binned=True).taken(), Rows(10**6).taken()) == (
        588,
        464,
        204,
    )
    assert Rows(10_000).taken(1) + Rows(10_000, is_binned=True).taken(1) == 184
    assert Rows(2**18).taken() == 588 > Rows(2**18 + 1).taken()


def test_options_of_the_pages_exist():
    """Every ``--option`` in a line of the command, and in the page of the command line."""
    command = typer.main.get_command(app)
    known = {"--help"}
    for one in (command, *command.commands.values()):
        for parameter in one.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    wrong = []
    for page in pages:
        for line in page.read_text(encoding="utf-8").replace("\\\n", " ").splitlines():
            if "shapley2d " in line or page.name == "command-line.md":
                found = re.findall(r"(?<![\w-])--[a-z][a-z0-9-]+", line)
                wrong += [(page.name, option) for option in found if option not in known]
    assert wrong == []


def test_the_start_page_lists_every_extra():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    extras = settings["project"]["optional-dependencies"]
    assert [name for name in extras if f"`{name}`" not in page.split("## ")[0]] == []


def test_what_to_cite_has_the_version_of_the_package():
    for name in ("CITATION.cff", "README.md", "docs/cite.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert set(re.findall(r"(?i)^.*version\W+(\d+\.\d+\.\d+)", text, re.MULTILINE)) >= {
            __version__
        }, name


def test_numbers_of_examples_are_those_of_the_gallery():
    words = {13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen"}
    examples = list((ROOT / "docs" / "gallery").glob("plot_*.py"))
    for name in ("README.md", "docs/index.md", "docs/gallery/GALLERY_HEADER.rst"):
        text = (ROOT / name).read_text(encoding="utf-8").lower()
        assert f"{words[len(examples)]} " in text, name
    order = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    assert [one.name for one in examples if one.name not in order] == []
