"""What tests of several rooms share."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

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
