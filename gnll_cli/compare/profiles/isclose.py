"""``isclose``: tolerances given by the user, as np.isclose and np.allclose apply them, NaN meeting NaN."""

from __future__ import annotations

import math
from typing import Any

from gnll_cli.compare.block import F64, Block, Output
from gnll_cli.compare.profile import ElementProfile
from gnll_cli.errors import UsageError


class IsClose(ElementProfile):
    """abs(a-g) <= atol + rtol * abs(g), with ``rtol`` and ``atol`` from the options; both are required."""

    name = "isclose"
    summary = "rtol and atol given by the user (both required)"

    def definition(self) -> dict[str, Any]:
        return {"rule": "abs(a-g) <= atol + rtol * abs(g)", "source": "rtol and atol as given on the command line"}

    def check(self, output: Output) -> None:
        for name, other in (("rtol", "atol"), ("atol", "rtol")):
            value = output.options.get(name)
            if value is None:
                raise UsageError(
                    f"profile isclose needs both --rtol and --atol; --{name} is missing",
                    hint=f"add --{name} 0 to allow --{other} alone",
                )
            if not (value >= 0 and math.isfinite(value)):
                raise UsageError(f"--{name} {value!r} is no tolerance", hint="give a finite number that is 0 or more")
        super().check(output)

    def limit(self, block: Block) -> F64 | float:
        atol, rtol = self.tolerance(block.target.output)
        return atol + rtol * block.target.absolute if rtol else atol

    def slope(self, output: Output) -> float:
        return self.tolerance(output)[1]

    def rule(self, output: Output) -> str:
        atol, rtol = self.tolerance(output)
        return f"abs(a-g) <= {atol:g} + {rtol:g} * abs(g)"

    def tolerance(self, output: Output) -> tuple[float, float]:
        return float(output.options["atol"]), float(output.options["rtol"])


PROFILES = (IsClose(),)
