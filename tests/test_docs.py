"""The examples of the guide, the README and the docstrings run."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
from pathlib import Path

import matplotlib as mpl
import pytest

import shapley2d
import shapley2d_paper

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODULES = [
    module.name
    for package in (shapley2d, shapley2d_paper)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not module.name.endswith("__main__")
]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda p: p.name
)
def test_page(page, tmp_path, monkeypatch):
    """All python blocks of a page, in order, in one namespace and in an empty folder."""
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    namespace = {"__name__": "__main__"}
    text = page.read_text()
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 2
        code = block.group(1)
        if ">>>" in code:
            test = doctest.DocTestParser().get_doctest(code, namespace, page.name, str(page), line)
            failures: list[str] = []
            doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).run(
                test, out=failures.append, clear_globs=False
            )
            assert not failures, "".join(failures)
            namespace.update(test.globs)
        else:
            exec(compile("\n" * line + code, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    """Relative links and pictures of a page exist."""
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}, which is not there"


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
