"""The page of fragments in a browser: phone, keyboard, print, and sets to try."""

import re
from functools import cache

import pytest

from made_fragments import five, made, many, twelve
from shapley2d._fragments.page import write_page

PAGES = {"5": five(), "12": twelve(), "60": many(60), "25": many(25)}


def found_by_axe(page):
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright", reason="axe is not installed"
    )
    found = axe.Axe().run(page).response["violations"]
    return {one["id"]: [node["html"][:200] for node in one["nodes"][:3]] for one in found}


@cache
def valuation(name, by):
    return made(PAGES[name], by=by)


@pytest.fixture
def open_fragments(open_file, tmp_path):
    def open_page(name="5", *, width=1280, scheme="light", by="contributor", **options):
        write_page(valuation(name, by), tmp_path / "page.html", pay=100_000, **options)
        return open_file(tmp_path / "page.html", width=width, scheme=scheme)

    return open_page


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("name", ["5", "12", "60"])
def test_the_page_never_scrolls_sideways(open_fragments, name, width):
    page = open_fragments(name, width=width, by="column")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#worth tbody tr").count() == len(PAGES[name])


LOOKS = [("5", 390, "dark"), ("12", 1280, "light")]
LOOKS += [
    pytest.param(*look, marks=pytest.mark.slow)
    for look in (
        ("5", 1280, "light"),
        ("12", 390, "dark"),
        ("60", 390, "light"),
        ("60", 1280, "dark"),
    )
]


@pytest.mark.parametrize(("name", "width", "scheme"), LOOKS)
def test_axe_finds_nothing(open_fragments, name, width, scheme):
    page = open_fragments(name, width=width, scheme=scheme, by="column")
    page.locator("summary").evaluate_all("all => all.forEach((one) => one.parentNode.open = true)")
    assert found_by_axe(page) == {}


def test_the_first_screen_has_the_map_the_values_and_the_best_sets(open_fragments):
    page = open_fragments()
    places = {name: page.locator(name).bounding_box() for name in ("#map", "#worth", "#best .sets")}
    assert places["#map"]["x"] + places["#map"]["width"] <= places["#worth"]["x"]
    assert max(box["y"] + box["height"] for box in places.values()) <= 900
    phone = open_fragments(width=390)
    order = [phone.locator(name).bounding_box()["y"] for name in ("#worth", "#table", "#best")]
    assert order == sorted(order)


def test_a_set_can_be_tried_with_the_keyboard(open_fragments):
    page = open_fragments(costs=[1, 2, 4, 8, 16])
    output = page.locator("#try output")
    before = output.inner_text()
    assert before.startswith("2 members: ") and "lost without the rest" in before
    page.locator("#try input").nth(1).focus()
    page.keyboard.press("Space")
    assert output.inner_text().startswith("3 members: ")
    for box in page.locator("#try input").all():
        box.check()
    total = page.locator("#worth tfoot td").nth(1).inner_text().split()[0]
    assert output.inner_text() == f"5 members: {total} points; cost 31"
    for box in page.locator("#try input").all():
        box.uncheck()
    assert output.inner_text().startswith("0 members: 0.0 points; ")


def test_names_show_their_cells_on_the_map(open_fragments):
    page = open_fragments()
    lit = "all => all.filter((one) => getComputedStyle(one).opacity > 0.9).length"
    cells = page.locator("#map .cells")
    name = page.locator("#worth tbody button").nth(2)
    page.emulate_media(reduced_motion="reduce")
    assert cells.evaluate_all(lit) == cells.count()
    name.focus()
    page.keyboard.press("Enter")
    page.locator("#worth tbody button").nth(0).focus()
    page.locator("#try input").nth(0).focus()
    assert name.get_attribute("aria-pressed") == "true"
    assert 0 < cells.evaluate_all(lit) == page.locator("#map .o2").count() < cells.count()


def test_overlaps_are_striped_and_holes_are_empty(open_fragments):
    page = open_fragments()
    fills = page.locator("#map .cells").evaluate_all(
        "all => all.map((one) => getComputedStyle(one).fill)"
    )
    assert any(fill.startswith("url(") for fill in fills)
    assert all(re.match(r"rgb|url", fill) for fill in fills)
    letters = page.locator("#map text.wide").all_text_contents()
    assert "A B" in letters and any(text.startswith("A Bank") for text in letters)


@pytest.mark.parametrize("name", ["5", "25"])
def test_print_has_everything_unfolded(open_fragments, name):
    page = open_fragments(name)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.locator("details table").evaluate_all(
        "all => all.every((one) => one.checkVisibility())"
    )
    assert page.locator("#each tbody tr").count() == len(PAGES[name])
    assert page.locator("#try").count() == 0 or not page.locator("#try").is_visible()


def test_the_page_says_all_without_script(browser, tmp_path):
    write_page(made(five()), tmp_path / "page.html", pay=100_000)
    context = browser.new_context(
        java_script_enabled=False, viewport={"width": 1280, "height": 900}
    )
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert page.locator("#map").is_visible() and page.locator(".sets").is_visible()
    assert not page.locator("#try").is_visible() and not page.locator("#hint").is_visible()
    context.close()
