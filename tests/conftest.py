"""What tests of several rooms share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# In CI the same examples every time, so that a red run is the change's own; elsewhere new ones, to find what is not known yet.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile("ci" if os.environ.get("CI") else "explore")

sys.path.insert(0, str(Path(__file__).parent / "fixtures"))


@pytest.fixture(scope="session")
def exec_operator(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """GaussianNllLossGrad as a program (``PROGRAM [VARIANT] FOLDER``), compiled once for all processes of the test run."""
    import build

    if build.compiler() is None:
        pytest.skip("needs a C++ compiler (c++, g++ or clang++): the operator under test is a small C++ program")
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    return build.build("gaussian_nll_loss_grad", shared)
