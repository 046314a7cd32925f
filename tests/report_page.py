"""The report of a valuation as text."""

import tempfile
from pathlib import Path


def html_of(result, **options):
    """What ``to_html`` writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        result.to_html(path, **options)
        return path.read_text(encoding="utf-8")
