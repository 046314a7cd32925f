"""The published reproduction: its page says what its CSV files say, and nothing else."""

from pathlib import Path

import pytest

from shapley2d_paper.experiments import EXPERIMENTS, find_experiments
from shapley2d_paper.harness.folder import RUN_FILE, read_json
from shapley2d_paper.harness.pages import read_sections, render_claims
from shapley2d_paper.harness.records import read_records

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "reproduction"


@pytest.mark.slow
def test_the_page_can_be_written_from_the_files():
    page = render_claims(
        read_sections(FOLDER, find_experiments()), read_json(FOLDER / RUN_FILE), "reproduction"
    )
    assert page == (DOCS / "reproduction.md").read_text(encoding="utf-8"), "run: make paper-pages"


def test_it_is_a_full_run():
    assert read_json(FOLDER / RUN_FILE)["quick"] is False


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_is_there_with_seed_and_version(name):
    records = read_records(FOLDER / f"{name}.csv")
    assert len(records) > 0
    assert all(isinstance(row["seed"], int) and row["version"] for row in records)
    assert (FOLDER / f"{name}.png").stat().st_size < 700_000


def test_every_claim_is_judged_and_nothing_left_out():
    sections = read_sections(FOLDER, find_experiments())
    assert [section.experiment.name for section in sections] == list(EXPERIMENTS)
    for section in sections:
        assert section.judged and not section.open_claims and not section.left_out
