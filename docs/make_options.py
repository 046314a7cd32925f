"""Write the tables of methods, options and models into the docs, from the records that the code uses.

python docs/make_options.py
"""

from __future__ import annotations

from pathlib import Path

from shapley2d._valuation.method_docs import methods_table, models_table, options_table

PAGE = Path(__file__).with_name("choosing-a-method.md")
TABLES = {"options": options_table, "models": models_table, "methods": methods_table}


def with_tables(text: str) -> str:
    """The page with its tables as the records have them."""
    for name, table in TABLES.items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + table() + end + rest.split(end)[1]
    return text


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
