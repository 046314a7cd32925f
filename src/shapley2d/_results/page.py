"""Pages of one file: their parts, and the policy that lets them run nothing but their own script."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any


def policy_hash(text: str) -> str:
    """The digest by which a page's policy knows its own style and script.

    Examples
    --------
    >>> policy_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def asset(home: str, name: str) -> str:
    """A style or script in the folder ``assets`` of a package."""
    return files(home).joinpath("assets", name).read_text(encoding="utf-8")


@cache
def template(home: str) -> Any:
    """The template of a package's page; everything that is put into it is escaped."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(
        files(home).joinpath("template.html.jinja").read_text(encoding="utf-8")
    )
