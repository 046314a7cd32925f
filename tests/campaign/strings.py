"""Hostile text in names of columns, entries, labels, owners and files: through the command's output, its files and its report
in a real browser.

No escape sequence reaches the terminal, no script of the table runs, no page asks for anything, no
download holds a formula.

    python -m tests.campaign.strings --count 2000
"""

import contextlib
import csv
import io
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from shapley2d import KNN, value_cells

from .common import main, run_command

COUNT = 2000
PAYLOADS = [
    "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>", "<svg/onload=alert(1)>", '"><script>alert(1)</script>',
    "javascript:alert(1)", "<!--", "-->", "]]>", "<style>*{display:none}</style>", "{{7*7}}", "${7*7}", "{%raw%}", "</title><script>alert(1)</script>",
    "<iframe srcdoc='<script>alert(1)</script>'>", "<a href='javascript:alert(1)'>x</a>", "&lt;script&gt;", "\\u003cscript\\u003e", "<base href=//evil>",
    "<meta http-equiv=refresh content=0;url=//evil>", "<link rel=stylesheet href=//evil>", "__proto__", "constructor", "toString", "hasOwnProperty",
    "\x1b[2J", "\x1b]0;owned\x07", "\x1b]8;;http://evil\x1b\\x", "\x9b31m", "\x7f\x7f", "\u202egnp.exe", "\u2028", "\u2029", "\ufeff", "\x08\x08\x08", "\r\n",
    "\n\nshapley2d: error: fake", "note: fake", "[bold red]x[/]", "[link=http://evil]x[/link]", "%s%n", "\\", "'", '"', "`id`", "$(id)", "; rm -rf /", "|x",
    "=1+1", "+1", "-1+1", "@SUM(1)", "\t=1", "\n=1", "\uff1d1", "=cmd|' /C calc'!A0", '=HYPERLINK("http://evil")', "\u200b=1", " ", "", "NaN", "null",
    "../../etc/passwd", "con", "é" * 300, "\U0001d54f" * 50, "a\u0300" * 40, "\U000e0041\U000e0042", "👩\u200d💻", "١٢", "ﷺ",
]  # fmt: skip
FORMULA = re.compile("[\\s\x00-\x20\x7f\ufeff\u200b]*[=@+\\-\uff1d\uff20\uff0b\uff0d]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$")


def hostile(random):
    parts = [
        PAYLOADS[k] for k in random.integers(len(PAYLOADS), size=int(random.choice([1, 1, 2])))
    ]
    return "".join(parts)


class Strings:
    """Cases by number; those of a browser, if there is one, are a tenth."""

    def __init__(self, folder, browser=None):
        self.folder, self.browser = Path(folder), browser
        harmless = value_cells(
            [[0.0], [1.0]], ["a", "b"], [[0.0]], ["a"], method=KNN(n_neighbors=1)
        )
        page = self.folder / "harmless.html"
        harmless.to_html(page)
        self.n_scripts = page.read_text(encoding="utf-8").count("<script")

    def __call__(self, number, random):
        arguments, blocks = self.write(random)
        in_browser = self.browser is not None and number % 10 == 0
        report = self.folder / "r.html"
        output = self.folder / ("v.csv" if random.random() < 0.5 else "v.parquet")
        for path in (report, output):
            path.unlink(missing_ok=True)
        if in_browser or random.random() < 0.2:
            arguments += ["--report", str(report)]
        arguments += ["-o", str(output)]
        as_json = random.random() < 0.3
        code, printed, told = run_command([*arguments, *(["--json"] if as_json else [])])
        if code:
            last = [line for line in told.splitlines() if not line.startswith("note: ")]
            assert last[0].startswith("shapley2d: error: "), told
            return "refused"
        if as_json:
            json.loads(printed)
        if output.suffix == ".csv":
            self.check_csv(output.read_text(encoding="utf-8"))
        if in_browser:
            self.check_page(report)
            return "valued, seen in a browser"
        return "blocks valued" if blocks else "valued"

    def write(self, random):
        n = 8
        names = []
        while len(names) < 3:
            name = hostile(random)
            if name.strip() and name.strip() not in names:
                names.append(name.strip())
        labels = [hostile(random).strip() or "x", hostile(random).strip() + "y"]
        rows = [
            [k * k % 5, hostile(random), f"{hostile(random)}{k % 3}", labels[k % 2]]
            for k in range(n)
        ]
        file = self.folder / (re.sub(r"[/\x00]", "", hostile(random))[:60] + "t.csv")
        for old in self.folder.glob("*t.csv"):
            old.unlink()
        buffer = io.StringIO()
        writer = csv.writer(buffer)
        writer.writerow([*names, "target"])
        writer.writerows(rows)
        file.write_text(buffer.getvalue(), encoding="utf-8", errors="surrogatepass", newline="")
        shared = [str(file), "-t", "target", "--cv", "2", "--drop-missing-target"]
        if random.random() < 0.1:
            shared[2] = hostile(random)
        if random.random() < 0.2:
            owners = io.StringIO()
            writer = csv.writer(owners)
            writer.writerows(
                [
                    ["owner", "row", "column"],
                    [hostile(random), "0-3", ""],
                    [hostile(random) + "2", "4-7", ""],
                ]
            )
            (self.folder / "o.csv").write_text(owners.getvalue(), encoding="utf-8", newline="")
            more = ["-m", "knn", "-k", "2", "--pay", "10", "--trusted", "--owners"]
            return ["blocks", *shared, *more, str(self.folder / "o.csv")], True
        if random.random() < 0.2:
            shared += ["--id", names[int(random.integers(3))]]
        return ["cells", *shared, "-k", "2", "--top", "20"], False

    def check_csv(self, written):
        for line in csv.reader(io.StringIO(written, newline="")):
            for field in line:
                assert not FORMULA.match(field) or NUMBER.match(field), f"a formula: {field!r}"
                assert not field.startswith(("\t", "\r", "\n")), f"a formula: {field!r}"

    def check_page(self, report):
        page = self.browser.new_page(accept_downloads=True)
        seen = {"dialogs": [], "errors": [], "requests": []}
        page.on("dialog", lambda dialog: (seen["dialogs"].append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: seen["errors"].append(str(error)))
        page.on(
            "console",
            lambda message: message.type == "error" and seen["errors"].append(message.text),
        )
        page.on("request", lambda request: seen["requests"].append(request.url))
        try:
            page.goto(report.as_uri())
            page.wait_for_selector("html[data-ready]", timeout=30_000)
            assert page.locator("script").count() == self.n_scripts
            assert (
                page.locator(
                    "iframe, object, embed, base, svg[onload], img[onerror], link[rel=stylesheet]"
                ).count()
                == 0
            )
            button = page.locator("#cell-download")
            if button.count() and button.is_enabled():
                with page.expect_download() as download:
                    button.click()
                self.check_csv(Path(download.value.path()).read_text(encoding="utf-8-sig"))
        finally:
            page.close()
        assert not seen["dialogs"], "a script of the table ran"
        assert not seen["errors"], seen["errors"]
        outside = [
            url
            for url in seen["requests"]
            if url != report.as_uri() and not url.startswith(("data:", "blob:"))
        ]
        assert not outside, outside


@contextlib.contextmanager
def chromium():
    """The system's Chromium, or None where it, or the package that drives it, is missing."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        print("strings: no browser: those cases are left out")
        yield None
        return
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=flags)
        yield browser
        browser.close()


if __name__ == "__main__":
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as place, chromium() as found:
        sys.exit(main("strings", __doc__, Strings(place, found), COUNT))
