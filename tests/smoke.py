"""What an installed package must do, without the repository: run by ``make dist`` in an empty folder."""

import subprocess
import sys
from importlib.metadata import requires
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import shapley2d
from shapley2d.datasets import load_credit

home = Path(shapley2d.__file__).parent
assert "site-packages" in home.parts, f"{home} is not an installed package"
assert list(home.glob("_knn/*.cu")), "the CUDA sources are missing"
source = Path(__file__).parents[1] / "src" / "shapley2d"
templates = {path.relative_to(source) for path in source.rglob("*.jinja")}
assert templates == {path.relative_to(home) for path in home.rglob("*.jinja")}, templates
assert (home / "py.typed").exists(), "the mark that the package has types is missing"
assert not any("pytest" in line for line in requires("shapley2d") or [] if "extra" not in line)
assert not find_spec("shapley2d_paper"), "the reproduction is not part of the wheel"
assert not find_spec("matplotlib"), "plots are an extra: nothing below needs matplotlib"

X, y = load_credit()
names = list(getattr(X, "column_names", X.columns))[:6]  # of pyarrow, where there is no pandas
table = {name: np.asarray(X[name])[:120] for name in names}
v = shapley2d.value_cells(table, np.asarray(y)[:120])
assert v.shape == (120, 6)
v.save("values.parquet")
assert (shapley2d.Valuation.load("values.parquet").values == v.values).all()
v.to_html("report.html")
assert Path("report.html").read_text(encoding="utf-8").lower().startswith("<!doctype html>")
inspection = shapley2d.inspect_cells(table, np.asarray(y)[:120])
assert inspection.probability.shape == (120, 6)

command = [str(Path(sys.executable).parent / "shapley2d")]
said = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
assert shapley2d.__version__ in said, said
print(
    f"shapley2d {shapley2d.__version__} from {home.parent.name}: imports, values, saves, draws, inspects"
)
