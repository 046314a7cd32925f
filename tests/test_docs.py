"""The examples of the guide, the README and the docstrings run."""

import doctest
import importlib
import importlib.util
import pkgutil
import re
from pathlib import Path

import matplotlib as mpl
import pytest

import shapley2d
import shapley2d_paper

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PRINTED = re.compile(r"\n\n```text\n(.*?)^```", re.MULTILINE | re.DOTALL)
# what runs the commands of a page, and writes down what they print
_SPEC = importlib.util.spec_from_file_location("run_page", ROOT / "docs" / "run_page.py")
run_page = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(run_page)
MODULES = [
    module.name
    for package in (shapley2d, shapley2d_paper)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]


def blocks_to_run(page):
    """The blocks of a page that can be run, or that write a file for those after them."""
    return [
        block
        for block in run_page.BLOCK.finditer(page.read_text())
        if block["file"] or block["kind"] == "python" or run_page.is_session(block)
    ]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks_to_run(page)], ids=lambda p: p.name
)
def test_page(page, tmp_path, monkeypatch, capsys):
    """All python blocks and commands of a page, in order, in one namespace and an empty folder.

    A block of text that follows a python block is what it prints; ``docs/run_page.py`` writes what
    commands print.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(run_page.WIDTH))
    mpl.use("Agg")
    namespace = {"__name__": "__main__"}
    text = page.read_text()
    for block in blocks_to_run(page):
        line = text[: block.start()].count("\n") + 2
        code = block["code"]
        if block["file"]:
            Path(block["file"]).write_text(code)
        elif run_page.is_session(block):
            for command, told in run_page.commands(code):
                printed = run_page.run_command(command)
                assert run_page.agrees(told, printed), f"{page.name}: $ {command}\n{printed}"
        elif ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
            failures: list[str] = []
            doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
                test, out=failures.append, clear_globs=False
            )
            assert not failures, "".join(failures)
            namespace.update(test.globs)
        else:
            capsys.readouterr()
            exec(compile("\n" * line + code, str(page), "exec"), namespace)
            printed, told = capsys.readouterr().out, PRINTED.match(text, block.end())
            if printed and told:
                assert printed.split() == told[1].split(), f"{page.name}, line {line}"


@pytest.mark.parametrize(
    "page",
    [*PAGES, *sorted((ROOT / "docs").glob("[a-z]*/*.md"))],
    ids=lambda p: f"{p.parent.name}-{p.name}",
)
def test_links_lead_somewhere(page):
    """Relative links and pictures of a page exist."""
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), (
                f"{page.name} links to {target}, which is not there"
            )


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_the_tables_of_options_are_those_of_the_records():
    """``python docs/make_options.py`` writes them."""
    code = (ROOT / "docs" / "make_options.py").read_text()
    script = {"__name__": "make_options", "__file__": str(ROOT / "docs" / "make_options.py")}
    exec(compile(code, "make_options.py", "exec"), script)
    page = script["PAGE"].read_text()
    assert script["with_tables"](page) == page
    assert page.count("| `") > 30


def test_the_architecture_page_names_every_room():
    page = (ROOT / "docs" / "architecture.md").read_text()
    for package in (shapley2d, shapley2d_paper):
        for folder in Path(package.__path__[0]).iterdir():
            if folder.is_dir() and (folder / "__init__.py").exists():
                assert f"{folder.name}/" in page, folder.name


def test_the_reference_has_every_public_name():
    import shapley2d
    import shapley2d.datasets
    import shapley2d.evaluation

    words = (ROOT / "docs" / "api.md").read_text(encoding="utf-8").split()
    for module in (shapley2d, shapley2d.datasets, shapley2d.evaluation):
        named = {name for name in module.__all__ if callable(getattr(module, name))}
        assert not {
            name for name in named - set(words) if not issubclass_of_error(getattr(module, name))
        }


def issubclass_of_error(thing):
    return isinstance(thing, type) and issubclass(thing, Exception)
