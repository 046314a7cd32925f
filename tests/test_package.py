"""The package as a stranger meets it."""

import inspect
import subprocess
import sys

import pytest

import shapley2d


def test_import_is_light():
    """numba, scikit-learn, pyarrow and matplotlib load when they are first needed."""
    heavy = {
        *["numba", "sklearn", "pyarrow", "matplotlib", "pandas", "scipy", "rich", "typer", "jinja2"]
    }
    code = "import sys, shapley2d; print(sorted(m for m in sys.modules if '.' not in m))"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
    assert not heavy & set(eval(loaded))


def test_public_names_resolve():
    for name in shapley2d.__all__:
        assert getattr(shapley2d, name) is not None
    assert set(shapley2d.__all__) <= set(dir(shapley2d))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = shapley2d.nonsense


def test_the_inspection_is_a_public_part():
    import shapley2d.inspection as part

    assert {"inspect_cells", "CellInspector", "Inspection", "measure_repair"} <= {*part.__all__}
    assert all(
        getattr(shapley2d, name, part.ColumnFinding) is getattr(part, name) for name in part.__all__
    )


def test_signatures_are_written_out():
    """Tools that read the code see the same keywords as those that run it."""
    for name in shapley2d.__all__:
        public = getattr(shapley2d, name)
        if not callable(public) or name == "InputError":
            continue
        own = public.__init__ if inspect.isclass(public) else public
        assert not hasattr(own, "__signature__"), name
        kinds = {one.kind for one in inspect.signature(public).parameters.values()}
        assert inspect.Parameter.VAR_POSITIONAL not in kinds, name
        assert inspect.Parameter.VAR_KEYWORD not in kinds, name
