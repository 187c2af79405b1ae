"""The CPU simulator: builds operator packages from source and runs them as on Atlas A2. ``build`` and ``find`` are the door.

``include/`` are the headers by which a package compiles unmodified, ``runtime/`` the library that is behind them.
"""

from gnll_cli.simulator.build import BuildError, Built, Library, build
from gnll_cli.simulator.package import Package, find

__all__ = ["BuildError", "Built", "Library", "Package", "build", "find"]
