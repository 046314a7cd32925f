"""The oldest versions that ``pyproject.toml`` says will do, as constraints for pip: ``make test-lowest`` tests with them."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(
    (Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8")
)
wanted = [*project["project"]["dependencies"], *project["dependency-groups"]["test"]]
for line in wanted:
    name, version = re.fullmatch(r"([\w-]+)(?:\[.*\])?>=([\d.]+)", line).groups()
    print(f"{name}=={version}.*" if version.count(".") < 2 else f"{name}=={version}")
