"""Options, extras, versions and counts that the pages name are those of the code."""

import ast
import re
import tomllib
from pathlib import Path

import typer

from shapley2d._version import __version__
from shapley2d.cli.app import SUMMARIES, app, load

ROOT = Path(__file__).parent.parent


def test_options_of_the_pages_exist():
    """Every ``--option`` in a line of the command, and in the page of the command line."""
    command = typer.main.get_command(app)
    known = {"--help", "--from"}  # the second is uvx's
    for one in (command, *map(load, SUMMARIES)):
        for parameter in one.params:
            known |= {*parameter.opts, *parameter.secondary_opts}
    docs = ROOT / "docs"
    pages = [ROOT / "README.md", *sorted(docs.glob("*.md")), *sorted(docs.glob("evidence/*.md"))]
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


def test_the_gallery_shows_every_example():
    order = (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
    examples = (ROOT / "docs" / "gallery").glob("plot_*.py")
    assert [one.name for one in examples if one.name not in order] == []


def test_the_conda_recipe_needs_what_the_package_needs():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    recipe = (ROOT / "conda" / "recipe.yaml").read_text(encoding="utf-8")
    run = recipe.split("  run:\n")[1].split("\ntests:")[0]
    listed = [line.removeprefix("- ").replace(" ", "") for line in map(str.strip, run.splitlines())]
    wanted = [f"python{project['requires-python']}", *project["dependencies"]]
    assert sorted(filter(None, listed)) == sorted(wanted)
    assert f'version: "{__version__}"' in recipe


def test_files_that_a_workflow_leaves_out_are_there():
    workflow = (ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8")
    left_out = re.findall(r"--ignore (tests/\S+)", workflow)
    assert left_out and [one for one in left_out if not (ROOT / one).exists()] == []


def test_the_lock_file_has_all_dependencies_and_no_address():
    """Whoever installs it chooses where from; ``make lock`` writes it."""
    lock = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"]]
    for name in ("test", "browser", "lint", "docs"):
        wanted += groups[name]
    names = {re.match(r"[\w.-]+", one)[0].lower() for one in wanted}
    locked = {line.split("==")[0] for line in lock.splitlines() if "==" in line}
    assert names - locked == set()
    assert "://" not in lock


def words_of(page):
    """Words that are read: without code, what commands print, addresses and markup."""
    text = page.read_text(encoding="utf-8")
    if page.suffix == ".py":
        module = ast.parse(text)
        comments = re.findall(r"^# (?!%%)(.*)$", text, re.MULTILINE)
        text = "\n".join([ast.get_docstring(module) or "", *comments])
    text = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"^:.*$|\]\([^)]*\)|<!--.*?-->", "", text, flags=re.MULTILINE)
    return len(re.findall(r"[^\W\d_][\w'-]*", re.sub(r"`[^`]*`", "code", text)))


def test_the_guides_can_be_read():
    """All of them together; evidence, the reproduction and the reference are looked up instead."""
    docs = ROOT / "docs"
    guide = (docs / "guide.md").read_text(encoding="utf-8")
    looked_up = re.findall(r"^[\w-]+$", guide.split(":caption: Reference")[1], re.MULTILINE)
    looked_up += ["api", "architecture", "changelog", "contributing", "reproduction"]
    pages = [page for page in docs.glob("*.md") if page.stem not in looked_up]
    pages += [*docs.glob("coming-from/*.md"), *docs.glob("gallery/plot_*.py")]
    assert len(pages) > 40
    assert sum(map(words_of, pages)) <= 15_000
