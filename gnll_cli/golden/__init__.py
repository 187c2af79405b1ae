"""Input data and golden results.

``inputs`` gives the input data of a case, ``write_case`` and ``write_inputs`` write it as a folder of raw files, ``load_folder`` reads
such a folder back. The golden itself is the operator's: ``Operator.golden``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnll_cli.golden.data import inputs

if TYPE_CHECKING:
    from gnll_cli.golden.folder import load_folder, write_case, write_inputs

__all__ = ["inputs", "load_folder", "write_case", "write_inputs"]


def __getattr__(name: str) -> Any:
    # folder.py needs the operators, and the operators' interface needs this package: it is imported when it is used.
    if name in ("load_folder", "write_case", "write_inputs"):
        from gnll_cli.golden import folder

        return getattr(folder, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
