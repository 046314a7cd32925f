"""Debian's Chromium under Playwright; skipped, with the reason, where either is missing."""

import shutil
from types import SimpleNamespace

import pytest

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
)  # fmt: skip


@pytest.fixture(scope="package")
def browser():
    """Closed after these tests: an idle one takes a tenth of a core."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("there is no chromium to drive")
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="the package playwright is not installed"
    )
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def open_file(browser):
    """Open a page; at the end check that it was quiet and asked for nothing."""
    opened = []

    def open_page(path, *, width=1280, scheme="light", context=None):
        page = (context or browser).new_page(
            **(
                {}
                if context
                else {
                    "viewport": {"width": width, "height": 900},
                    "color_scheme": scheme,
                    "accept_downloads": True,
                }
            )
        )
        seen = SimpleNamespace(page=page, uri=path.as_uri(), errors=[], requests=[], dialogs=[])
        page.on(
            "console",
            lambda message: (
                message.type in ("error", "warning") and seen.errors.append(message.text)
            ),
        )
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("dialog", lambda dialog: (seen.dialogs.append(dialog.message), dialog.dismiss()))
        opened.append(seen)
        page.goto(seen.uri)
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        return page

    yield open_page
    for seen in opened:
        seen.page.close()
        assert seen.errors == []
        assert seen.dialogs == []
        assert [
            url
            for url in seen.requests
            if url != seen.uri and not url.startswith(("data:", "blob:"))
        ] == []


@pytest.fixture
def open_report(open_file, tmp_path):
    """Write a valuation's report and open it."""
    count = iter(range(100))

    def open_page(valuation, *, width=1280, scheme="light", **options):
        path = tmp_path / f"report-{next(count)}.html"
        valuation.to_html(path, **options)
        return open_file(path, width=width, scheme=scheme)

    return open_page
