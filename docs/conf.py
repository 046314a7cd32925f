"""The documentation site: ``make docs`` builds it, offline, into ``docs/_build/html``."""

from __future__ import annotations

import matplotlib as mpl
from sphinx_gallery.sorting import ExplicitOrder

import shapley2d

mpl.use("Agg")

project = "shapley2d"
author = "The shapley2d developers"
copyright = "The shapley2d developers"  # noqa: A001
version = release = shapley2d.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    "_build",
    "reproduction/pieces",
    "gallery/README.md",
    "gallery/GALLERY_HEADER.rst",
]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_preprocess_types = False

html_theme = "pydata_sphinx_theme"
html_title = "shapley2d"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
# pages without others below them: the room is for what commands print
html_sidebars = {"index": [], "start": [], "tutorial": []}
html_show_sourcelink = False
html_context = {"default_mode": "auto"}

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": ExplicitOrder(
        [
            "plot_find_and_fix.py",
            "plot_nightly_file.py",
            "plot_columns.py",
            "plot_why_this_row.py",
            "plot_lightgbm_cells.py",
            "plot_wrong_prediction.py",
            "plot_rare_positives.py",
            "plot_too_big.py",
            "plot_wrong_labels.py",
            "plot_row_values.py",
            "plot_noise_columns.py",
            "plot_regression.py",
            "plot_text_and_dates.py",
            "plot_cost_and_precision.py",
            "plot_own_game.py",
            "plot_any_model.py",
        ]
    ),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (480, 336),
}
