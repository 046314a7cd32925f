"""Write the tables of options and models into the docs, from the classes of the methods.

python docs/make_options.py
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from shapley2d._methods.method import options_of
from shapley2d._methods.score_facts import CLOSED_SCORES
from shapley2d._models.by_name import MODELS
from shapley2d._valuation.methods import BUILT_IN
from shapley2d.cli.methods import flag_of

if TYPE_CHECKING:
    from collections.abc import Sequence

PAGE = Path(__file__).with_name("choosing-a-method.md")


def options_table() -> str:
    """The options of the methods, each with the classes that take it."""
    takers: dict[str, list[type]] = {}
    for kind in BUILT_IN.values():
        for name in options_of(kind):
            takers.setdefault(name, []).append(kind)
    rows = []
    for name, kinds in takers.items():
        first = options_of(kinds[0])[name]
        defaults = {kind: options_of(kind)[name].default_words for kind in kinds}
        others = [
            f"; {kind.__name__}: {words}"
            for kind, words in defaults.items()
            if words != first.default_words
        ]
        choices = ", ".join(f'`"{word}"`' for word in first.choices)
        rows.append(
            (
                f"`{name}`",
                "" if first.option.python_only else f"`{flag_of(name)}`",
                ", ".join(kind.__name__ for kind in kinds),
                f"`{first.default_words}`{''.join(others)}",
                f"{first.option.help} ({choices})" if choices else first.option.help,
            )
        )
    return _table(("option", "on the command line", "of", "default", "what it is"), rows)


def models_table() -> str:
    """The models that have a name."""
    rows = []
    for name, model in MODELS.items():
        closed = [score for task in CLOSED_SCORES.values() for score in task]
        scores = closed if name == "knn" else model.scorings
        rows.append(
            (
                f"`{name}`",
                model.summary,
                "classes" if model.classifies_only else "classes and numbers",
                ", ".join(f"`{score}`" for score in scores) or "any",
            )
        )
    return _table(("model", "what it is", "predicts", "scores"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


TABLES = {"options": options_table, "models": models_table}


def with_tables(text: str) -> str:
    """The page with its tables as the classes have them."""
    for name, table in TABLES.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + table() + end + rest.split(end)[1]
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
