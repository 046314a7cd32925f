"""The paper's tables, the authors' published files, and how rows are split."""

from shapley2d_paper.data.authors import PaperSplit, load_paper_split, load_paper_values
from shapley2d_paper.data.tables import PaperTable, paper_table

__all__ = ["PaperSplit", "PaperTable", "load_paper_split", "load_paper_values", "paper_table"]
