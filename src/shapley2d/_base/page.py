"""Pages of one file: template, style, script, data, and the record of a run in words.

A page asks the network for nothing and runs no script but its own. Text from the table is shown,
never interpreted.
"""

from __future__ import annotations

import base64
import hashlib
import tempfile
import webbrowser
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.palette import palette_css
from shapley2d._base.words import took_words

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

_NAMES = {
    "n_valid": "validation rows", "n_pairs": "pairs of copies", "n_utilities": "scores computed",
    "random_state": "seed", "valid_parts": "parts of the validation rows",
    "semivalue": "weights of rows, columns",
}  # fmt: skip
_ASSETS = "_base/page_assets"  # what all pages share: frame, style, helpers
# entries of a record that pages show in places of their own
_ELSEWHERE = (
    "versions", "settings", "about", "call", "date",
    "digests", "asked", "score",
    "baseline", "baseline_utility", "utility_all", "look", "alone", "without", "pooled",
)  # fmt: skip


def write_page(
    path: str | os.PathLike[str],
    template: str,
    *,
    styles: Sequence[str] = (),
    scripts: Sequence[str],
    info: dict[str, Any],
    facts: Mapping[str, str] | None,
    notes: Sequence[str],
    **content: Any,
) -> None:
    """Put a page together and write it to a file, whole or not at all.

    ``template``, ``styles`` and ``scripts`` are paths within the package ``shapley2d``, ``info`` is
    the record of the run; everything in ``content`` is escaped.
    """
    style = "\n".join([palette_css(), _text(f"{_ASSETS}/page.css"), *map(_text, styles)])
    script = "\n".join([_text(f"{_ASSETS}/dom.js"), *map(_text, scripts)])
    page = (
        _templates()
        .get_template(template)
        .render(
            style=style,
            script=script,
            style_hash=policy_hash(style),
            script_hash=policy_hash(script),
            facts={**(facts or {}), **known_facts(info)},
            notes=[*dict.fromkeys(notes)],
            settings={_name(key): words for key, words in settings_words(info).items()},
            versions=info.get("versions") or {},
            call=info.get("call") or "",
            **content,
        )
    )
    with atomic_write(path, ".html", ".htm") as temporary:
        temporary.write_text(page, encoding="utf-8", errors="replace", newline="\n")


def open_page(write: Callable[[Path], object]) -> Path:
    """Write a page to a folder of its own among the temporary files, and show it in a browser.

    Returns its path, where there is no browser too.
    """
    path = Path(tempfile.mkdtemp(prefix="shapley2d-")) / "page.html"
    write(path)
    webbrowser.open(path.as_uri())
    return path


def policy_hash(text: str) -> str:
    """The digest by which a page's policy knows its own style and script.

    >>> policy_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


@cache
def _text(path: str) -> str:
    return files("shapley2d").joinpath(path).read_text(encoding="utf-8")


@cache
def _templates() -> Any:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    made = Environment(
        loader=FunctionLoader(_text),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["whole_words"] = whole_words
    return made


def whole_words(text: str) -> Any:
    """The text as HTML in which browsers do not break options such as ``--encoding`` at a hyphen.

    >>> str(whole_words("set --encoding, <b>"))
    'set <span class="whole">--encoding,</span> &lt;b&gt;'
    """
    from markupsafe import Markup, escape

    parts = [
        Markup('<span class="whole">{}</span>').format(word)
        if "-" in word and len(word) <= 30  # that fits into a line of a phone
        else escape(word)
        for word in text.split(" ")
    ]
    return Markup(" ").join(parts)


def known_facts(info: dict[str, Any]) -> dict[str, str]:
    """Facts for the head of a page: task, date, version, time taken.

    >>> known_facts({"task": "regression", "date": "2026-05-01", "versions": {"shapley2d": "1.0"}})
    {'task': 'regression', 'made': '2026-05-01', 'by': 'shapley2d 1.0'}
    >>> known_facts({"seconds": 75.0})
    {'took': '1 min 15 s'}
    """
    version = (info.get("versions") or {}).get("shapley2d")
    found = {
        "task": info.get("task"),
        "made": info.get("date"),
        "by": version and f"shapley2d {version}",
        "took": took_words(info.get("seconds")),
    }
    return {name: str(words) for name, words in found.items() if words}


def settings_words(info: dict[str, Any]) -> dict[str, str]:
    """The entries of a record as text, the method's settings last.

    >>> settings_words({"method": "knn", "converged": True, "settings": {"n_neighbors": 5}})
    {'method': 'knn', 'converged': 'yes', 'n_neighbors': '5'}
    """
    record = {key: value for key, value in info.items() if key not in _ELSEWHERE}
    record |= info.get("settings") or {}
    return {key: _words(value) for key, value in record.items() if value is not None}


def _name(key: str) -> str:
    """The name of an entry in plain words."""
    return _NAMES.get(key, key.removeprefix("n_").replace("_", " "))


def _words(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(item) for item in value)
    if isinstance(value, dict):
        known = {key: item for key, item in value.items() if item not in (None, "", [], {})}
        return ", ".join(f"{_name(key)}: {_words(item)}" for key, item in known.items())
    return str(value)
