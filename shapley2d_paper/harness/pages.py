"""The two pages of a reproduction, made from its CSV files: claims with verdicts, and an index.

Whatever a page says can be looked up in a file beside it, and the pages can be written again at any
time.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shapley2d._base.atomic_write import atomic_write
from shapley2d._base.words import format_seconds
from shapley2d_paper.harness.folder import RUN_FILE, read_json
from shapley2d_paper.harness.records import Records, read_records

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from shapley2d_paper.harness.experiment import Claim, Experiment, Judgement

_SIGNS = {"holds": "✔", "holds in part": "◐", "does not hold": "✘"}

_MADE = """\
The experiments of *2D-Shapley: A Framework for Fragmented Data Valuation* (Liu, Just, Chang, Chen,
Jia; ICML 2023), computed again, with the paper's figures beside ours and a verdict on each claim;
and a comparison with other detectors of bad cells."""

_METHODS = """\
## The methods to compare with

`shapley2d_paper.baselines` has them as classes, like the package's own methods:

```
from shapley2d import value_cells
from shapley2d_paper.baselines import OOB

v = value_cells(X, y, method=OOB(oob_score="distance"))
```

- `LOO`, 2D leave-one-out: the table against the table without a row, a column, and both.
- `Flat`, 1D-Shapley over single cells: each is a player of *one* game, and an absent one is the
  mean of its column, or its most frequent entry. All rows train, with all labels known.
- `TreeMC`, the paper's 2D-MC.
- `OOB`, 2D-OOB (Sun, Shen and Kwon, NeurIPS 2024): the mean score of a row over trees that never
  saw the row and did see the column. Nothing is validated, and the values sum to nothing. The
  authors' trees consider a random few of their columns at each split, ours all of them; for
  `oob_score="distance"` the authors take (-*d* - min) / (max - min) of a row's distance *d*, ours
  is (max - *d*) / (max - min), which differs by one number per tree.
- `Random`: evenly spaced numbers in random order.

The first three train a decision tree with scikit-learn's defaults, on whole grids of subsets; of
equally good splits the first column's wins, where scikit-learn takes a random one."""

_RUN_IT = """\
## Run it again

The code is in the folder `shapley2d_paper` of the repository. It is not part of the wheel.

```
make paper                                               # all, in full: hours on two cores
python -m shapley2d_paper --out trial --quick            # all, small: two minutes
python -m shapley2d_paper outliers removal --out paper   # some, in full
```

Each experiment writes `NAME.csv`, `NAME.png` and its part of `index.html` and `reproduction.md`.
After Ctrl-C the same command goes on where it stopped. Pieces whose code or settings have changed
are computed again; `--again` computes all of them again. `make paper` runs in an environment of its
own that has PyOD and robpy. Most tables come with the package; Heart and the authors' own files are
read from the folder that `SHAPLEY2D_DATA` names. Pieces that need a missing package or file are
left out, and the pages list them."""

_QUICK = (
    "**A quick run: small tables and few seeds. It shows that everything works; "
    "its verdicts mean nothing.**"
)


@dataclass(frozen=True)
class Section:
    """An experiment that has been run, with all that a page says of it."""

    experiment: Experiment
    records: Records
    judged: list[tuple[Claim, Judgement]]
    open_claims: list[Claim]
    left_out: dict[str, str]
    seconds: float

    @property
    def reasons(self) -> dict[str, int]:
        """Why pieces were left out, and how many for each reason."""
        reasons = list(self.left_out.values())
        return {reason: reasons.count(reason) for reason in dict.fromkeys(reasons)}


def write_pages(folder: Path, experiments: Sequence[Experiment], page: Path | None = None) -> None:
    """Write ``index.html`` into the folder, and the page of claims there or where ``page`` says.

    Parameters
    ----------
    folder : Path
        Where the CSV files are.
    experiments : sequence of Experiment
        What to show, of those that have a CSV file, in this order.
    page : Path, optional
        ``reproduction.md`` in the folder by default.
    """
    page = folder / "reproduction.md" if page is None else page
    sections, run = read_sections(folder, experiments), read_json(folder / RUN_FILE)
    not_run = left_out_whole(folder, experiments)
    claims = render_claims(sections, run, _way(page.parent, folder), not_run)
    index = _render_index(sections, run, _way(folder, page), not_run)
    for path, text in ((page, claims), (folder / "index.html", index)):
        with atomic_write(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _way(start: Path, end: Path) -> str:
    """The way from a folder to a file, as a link has it."""
    return os.path.relpath(end, start).replace(os.sep, "/")


def read_sections(folder: Path, experiments: Sequence[Experiment]) -> list[Section]:
    """The experiments that have been run in a folder, judged from their CSV files."""
    lost = _read(folder / "left_out.csv")
    spent = _read(folder / "seconds.csv")
    sections = []
    for experiment in experiments:
        path = folder / f"{experiment.name}.csv"
        if not path.exists():
            continue
        records = read_records(path)
        judgements = [(claim, claim.judge(records)) for claim in experiment.claims]
        sections.append(
            Section(
                experiment,
                records,
                [(claim, judgement) for claim, judgement in judgements if judgement is not None],
                [claim for claim, judgement in judgements if judgement is None],
                {row["piece"]: row["reason"] for row in lost.where(experiment=experiment.name)},
                float(spent.where(experiment=experiment.name).numbers("seconds").sum()),
            )
        )
    return sections


def _read(path: Path) -> Records:
    return read_records(path) if path.exists() else Records([])


def left_out_whole(folder: Path, experiments: Sequence[Experiment]) -> dict[str, str]:
    """Experiments of which this machine can compute no piece, with the first reason."""
    reasons = {
        row["experiment"]: row["reason"] for row in reversed(_read(folder / "left_out.csv").rows)
    }
    return {
        experiment.name: reasons[experiment.name]
        for experiment in experiments
        if experiment.name in reasons and not (folder / f"{experiment.name}.csv").exists()
    }


def render_claims(
    sections: list[Section], run: dict[str, Any], files: str, not_run: dict[str, str] | None = None
) -> str:
    """The page of claims, in Markdown; ``files`` is the way from it to the folder."""
    prefix = "" if files == "." else f"{files}/"
    lines = ["# The paper, reproduced", "", _MADE, ""]
    if run["quick"]:
        lines += [_QUICK, ""]
    made = (
        f"Written by `python -m shapley2d_paper`, version {run['version']}, on {run['hardware']}. "
        "Every figure of ours comes from a CSV file named below it, whose records carry seed and "
        "version; the same command writes them again."
    )
    lines += [
        made,
        "",
        "| claim | the paper | ours | verdict |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {_cell(claim.statement)} | {_cell(claim.paper)} | {_cell(judgement.ours)} "
        f"| {_SIGNS[judgement.verdict]} [{judgement.verdict}](#{section.experiment.name}) |"
        for section in sections
        for claim, judgement in section.judged
    ]
    lines += [
        f"| {_cell(claim.statement)} | {_cell(claim.paper)} | | not judged: numbers are missing |"
        for section in sections
        for claim in section.open_claims
    ]
    if not_run:
        lines += ["", *(f"Not run: {name} ({reason})" for name, reason in not_run.items())]
    for section in sections:
        experiment = section.experiment
        lines += [
            "",
            f"## {experiment.name}",
            "",
            f"**{experiment.title}.** {experiment.about}",
            "",
        ]
        lines += [experiment.headline(section.records), ""]
        lines += [f"![{experiment.title}]({prefix}{experiment.name}.png)", ""]
        for caption, table in experiment.tables(section.records):
            lines += [caption, "", *_table(table), ""]
        lines += [
            f"- {_SIGNS[judgement.verdict]} **{claim.statement.rstrip('.')}**: "
            f"{judgement.verdict}. {judgement.why}"
            for claim, judgement in section.judged
        ]
        lines += [""] if section.judged else []
        lines += [
            f"Left out ({count} piece{'s' * (count > 1)}): {reason}"
            for reason, count in section.reasons.items()
        ]
        lines += [""] if section.reasons else []
        spent = f"{format_seconds(section.seconds)} of work ([seconds.csv]({prefix}seconds.csv))"
        lines.append(f"Numbers: [{experiment.name}.csv]({prefix}{experiment.name}.csv); {spent}.")
    lines += ["", _METHODS, "", _RUN_IT]
    return spaced("\n".join(lines) + "\n")


def spaced(text: str) -> str:
    """Text with a space before every percent sign that follows a number.

    Examples
    --------
    >>> spaced("90% of 5 %")
    '90 % of 5 %'
    """
    return re.sub(r"(?<=\d)%", " %", text)


def _table(rows: list[dict[str, str]]) -> list[str]:
    if not rows:
        return []
    names = list(rows[0])
    return [
        f"| {' | '.join(map(_cell, names))} |",
        f"|{' --- |' * len(names)}",
        *(f"| {' | '.join(_cell(row.get(name, '')) for name in names)} |" for row in rows),
    ]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _render_index(
    sections: list[Section], run: dict[str, Any], claims_page: str, not_run: dict[str, str]
) -> str:
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("shapley2d_paper.harness", "."), autoescape=True)
    return environment.get_template("index.html.jinja").render(
        sections=[(section, plain_headline(section)) for section in sections],
        run=run,
        signs=_SIGNS,
        claims_page=claims_page,
        not_run=not_run,
        made=_MADE.replace("*", ""),
        quick=_QUICK.strip("*"),
        seconds=format_seconds,
        spaced=spaced,
    )


def plain_headline(section: Section) -> str:
    """The main result of an experiment as plain text."""
    return section.experiment.headline(section.records).replace("**", "").replace("`", "")
