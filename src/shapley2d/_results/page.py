"""Pages of one file: template, style, script and data, and the policy that nothing else runs.

A page asks the network for nothing and runs no script but its own. Text from the table is shown,
never interpreted.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence


def render_page(
    template: str, *, styles: Sequence[str], scripts: Sequence[str], **content: Any
) -> str:
    """Put a page together.

    Parameters
    ----------
    template, styles, scripts : str, sequence of str
        Paths within this package.
    **content
        What the template asks for; everything is escaped.
    """
    style, script = ("\n".join(_text(path) for path in paths) for paths in (styles, scripts))
    page: str = (
        _templates()
        .get_template(template)
        .render(
            style=style,
            script=script,
            style_hash=policy_hash(style),
            script_hash=policy_hash(script),
            **content,
        )
    )
    return page


def write_page(path: str | os.PathLike[str], page: str) -> None:
    """Write a page to a file, whole or not at all."""
    with atomic_write(path) as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace", newline="\n")


def policy_hash(text: str) -> str:
    """The digest by which a page's policy knows its own style and script.

    Examples
    --------
    >>> policy_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def _text(path: str) -> str:
    return files("shapley2d._results").joinpath(path).read_text(encoding="utf-8")


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
