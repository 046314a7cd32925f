"""A digest of the code that an experiment's numbers rest on, so that a change of it is noticed.

It covers all of ``shapley2d`` except what shows results (the command line and the report), the
module that does the experiment's work, and what that module imports of this package. Docstrings,
comments and formatting do not count, nor do the pages, figures and claims of an experiment: they
can be made again from its CSV file. (Another version of Python may write the same code differently;
then all is computed again.)
"""

from __future__ import annotations

import ast
import hashlib
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LIBRARY, PAPER = "shapley2d", "shapley2d_paper"

_SHOWS = ("cli/", "_valuation/report/", "__main__.py", "_version.py")
_HARNESS = f"{PAPER}.harness"


def library_digest() -> str:
    """The digest of all modules of the package that can change a number."""
    root = _folder(LIBRARY)
    names = {path: path.relative_to(root).as_posix() for path in root.rglob("*.py")}
    kept = {name: path for path, name in names.items() if not name.startswith(_SHOWS)}
    return _digest((name, code_of(kept[name].read_text(encoding="utf-8"))) for name in sorted(kept))


def work_digest(module: str, library: str) -> str:
    """The digest of an experiment's work module, of its imports, and of the library.

    Parameters
    ----------
    module : str
        Its name.
    library : str
        What :func:`library_digest` gave.
    """
    return _digest([("library", library), *sorted(_modules(module).items())])


@cache
def code_of(source: str) -> str:
    r"""Source code without docstrings, comments and formatting.

    Examples
    --------
    >>> code_of("def f(x):\n    'Add one.'\n    return (x   + 1)  # really")
    'def f(x):\n    return x + 1'
    """
    tree = ast.parse(source)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        # a text that stands alone does nothing: the docstring of a function, or the note below a
        # constant
        node.body = [one for one in body if not _is_text(one)] or [ast.Pass()]  # type: ignore[attr-defined]
    return ast.unparse(tree)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _modules(name: str) -> dict[str, str]:
    """The code of a module and of all modules of this package that it imports, by name."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        module = waiting.pop()
        path = _file(module)
        if module in found or path is None:
            continue
        source = path.read_text(encoding="utf-8")
        found[module] = code_of(source)
        waiting += [one for one in _imports(source) if not f"{one}.".startswith(f"{_HARNESS}.")]
    return found


def _imports(source: str) -> list[str]:
    """The modules of this package that some code imports, at top level or inside functions."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
    return [name for name in found if name.partition(".")[0] == PAPER]


def _file(module: str) -> Path | None:
    """The source file of a module; None for other names, and without a file."""
    loaded = getattr(sys.modules.get(module), "__file__", None)
    if loaded is not None:
        return Path(loaded)
    if module.partition(".")[0] != PAPER:
        return None
    path = _folder(PAPER).joinpath(*module.split(".")[1:])
    return next(
        (one for one in (path.with_suffix(".py"), path / "__init__.py") if one.is_file()), None
    )


@cache
def _folder(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def _digest(parts: Iterable[tuple[str, str]]) -> str:
    text = "\n".join(f"# {name}\n{code}" for name, code in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
