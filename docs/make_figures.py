"""The drawings of the guide: four corners of the counterfactual, one leaf, a heatmap, and pages: of contributors, of an inspection, of the demo.

Run: make figures
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

FIGURES = Path(__file__).parent / "figures"
BLUE, PALE, RED, GREY = "#2166ac", "#d1e5f0", "#b2182b", "#e6e6e6"


def four_corners() -> None:
    """h(S+i, F+j) + h(S, F) - h(S+i, F) - h(S, F+j): what is left is the cell."""
    figure, axes = plt.subplots(1, 5, figsize=(11, 2.6), width_ratios=[1, 1, 1, 1, 1])
    rows, columns = 4, 5
    terms = [
        ("$h(S{+}i,\\,F{+}j)$", 1, 1, ""),
        ("$h(S,\\,F)$", 0, 0, "+"),
        ("$h(S{+}i,\\,F)$", 1, 0, "\N{MINUS SIGN}"),
        ("$h(S,\\,F{+}j)$", 0, 1, "\N{MINUS SIGN}"),
    ]
    for ax, (name, with_row, with_column, sign) in zip(axes, terms, strict=False):
        for r in range(rows):
            for c in range(columns):
                taken = (r < 3 or with_row) and (c < 4 or with_column)
                ax.add_patch(
                    Rectangle(
                        (c, rows - 1 - r), 1, 1, fc=PALE if taken else "white", ec="#999999", lw=0.7
                    )
                )
        ax.set_title(name, fontsize=13)
        ax.text(-0.7, 2, sign, fontsize=20, ha="center", va="center")
    ax = axes[4]
    for r in range(rows):
        for c in range(columns):
            cell = r == 3 and c == 4
            ax.add_patch(
                Rectangle(
                    (c, rows - 1 - r), 1, 1, fc=BLUE if cell else "white", ec="#999999", lw=0.7
                )
            )
    ax.set_title("cell $(i, j)$", fontsize=13)
    ax.text(-0.7, 2, "=", fontsize=20, ha="center", va="center")
    for ax in axes:
        ax.set_xlim(-1.2, columns + 0.1)
        ax.set_ylim(-1.0, rows + 0.1)
        ax.set_aspect("equal")
        ax.axis("off")
        ax.text(4.5, -0.25, "$j$", ha="center", va="top", fontsize=12)
        ax.text(-0.25, 0.5, "$i$", va="center", ha="center", fontsize=12)
    figure.savefig(FIGURES / "four-corners.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def one_leaf() -> None:
    """A leaf as a box: the rows that fit it in both of its columns, in one of them, and in none."""
    random = np.random.default_rng(4)
    points = random.random((46, 2))
    right = points[:, 0] + 0.5 * points[:, 1] + random.normal(0, 0.2, 46) < 0.7
    (low, high), top = (0.18, 0.58), 0.55
    fits = ((low < points[:, 0]) & (points[:, 0] <= high), points[:, 1] <= top)
    figure, axes = plt.subplots(1, 4, figsize=(11, 3.1))
    subsets = [("no columns", ()), ("age", (0,)), ("pay", (1,)), ("age and pay", (0, 1))]
    for ax, (name, columns) in zip(axes, subsets, strict=True):
        x, width = (low, high - low) if 0 in columns else (0, 1)
        ax.add_patch(Rectangle((x, 0), width, top if 1 in columns else 1, fc=PALE, ec=BLUE, lw=1.2))
        votes = np.logical_and.reduce([np.ones(46, dtype=bool), *(fits[j] for j in columns)])
        for label, colour in ((True, BLUE), (False, RED)):
            for voting, alpha in ((True, 1.0), (False, 0.15)):
                chosen = points[(right == label) & (votes == voting)]
                ax.scatter(*chosen.T, s=18, color=colour, alpha=alpha, lw=0)
        ax.plot(0.4, 0.3, marker="*", color="black", ms=11)
        share = right[votes].mean()
        ax.set_title(f"{name}: {right[votes].sum()} of {votes.sum()}, {share:.2f}", fontsize=11)
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.set_xlabel("age")
    axes[0].set_ylabel("pay")
    figure.savefig(FIGURES / "one-leaf.png", dpi=150, bbox_inches="tight")
    plt.close(figure)


def heatmap() -> None:
    """Wine with twelve entries swapped in from another class: the values of its cells."""
    from sklearn.datasets import load_wine

    from shapley2d import value_cells

    X, y = load_wine(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    injected = []
    for row in rng.choice(len(X), 12, replace=False):
        column = int(rng.integers(X.shape[1]))
        other = rng.choice(np.flatnonzero(y != y[row]))
        X.iloc[row, column] = X.iloc[other, column]
        injected.append((row, column))
    v = value_cells(X, y, progress=False)
    figure, ax = plt.subplots(figsize=(9, 5))
    v.plot_heatmap(ax=ax)
    figure.savefig(FIGURES / "heatmap.png", dpi=120, bbox_inches="tight")
    plt.close(figure)


def run_command(command: str, folder: str) -> None:
    """Run a command of the package in a folder."""
    run = "import sys; from shapley2d.cli import main; sys.exit(main(sys.argv[1:]))"
    subprocess.run([sys.executable, "-c", run, *shlex.split(command)], cwd=folder, check=True)  # noqa: S603


def first_example(page: str, folder: str) -> None:
    """Run the first Python block of a page of the guide in a folder."""
    text = (Path(__file__).parent / page).read_text(encoding="utf-8")
    code = text.split("```python\n", 1)[1].split("```", 1)[0]
    subprocess.run([sys.executable, "-c", code], cwd=folder, check=True)  # noqa: S603  (the page's own code)


def fragments_page() -> None:
    """The first screen of the page of the contributors in the guide."""
    stems = ("bank-north", "bank-south", "employer-north", "employer-south", "registry")
    files = " ".join(f'"{stem.replace("-", " ").title()}={stem}.csv"' for stem in stems)
    with tempfile.TemporaryDirectory() as folder:
        first_example("fragments.md", folder)
        run_command(
            f"fragments {files} --on person --target income --labels labels.csv --valid later.csv "
            "--pay 100000 --report page.html",
            folder,
        )
        shoot(Path(folder) / "page.html", "fragments.png", "body", "", 0)


def inspection_page() -> None:
    """The page of the tutorial's table after a few decisions, as Chromium shows it."""
    with tempfile.TemporaryDirectory() as folder:
        first_example("tutorial.md", folder)
        run_command("inspect people.csv --target income --drop office --report page.html", folder)
        shoot(Path(folder) / "page.html", "inspection.png", "#cells", "aaaajr")


def demo_page() -> None:
    """The page of the demo after a few decisions."""
    with tempfile.TemporaryDirectory() as folder:
        run_command("demo", folder)
        shoot(Path(folder) / "shapley2d-demo" / "page.html", "demo.png", "#cells", "aaaajjjjj")


def shoot(path: Path, name: str, top: str, keys: str, above: int = 40) -> None:
    """A picture of a page from a little above some element, after some keys."""
    import shutil

    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        for key in keys:
            page.keyboard.press(key)
        page.locator(top).evaluate(
            f"one => window.scrollTo(0, one.getBoundingClientRect().top + scrollY - {above})"
        )
        page.screenshot(path=FIGURES / name)
        browser.close()


if __name__ == "__main__":
    mpl.use("Agg")
    FIGURES.mkdir(exist_ok=True)
    four_corners()
    one_leaf()
    heatmap()
    fragments_page()
    inspection_page()
    demo_page()
