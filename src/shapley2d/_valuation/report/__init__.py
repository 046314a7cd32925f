"""The report: one self-contained HTML file that shows every cell and says where to look first."""
