"""Absolute tolerances: ``ut``, those of the operator's unit test, and ``sample``, that of its ACLNN sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gnll_cli.compare.block import Block, Output
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import ElementProfile


class Absolute(ElementProfile):
    """abs(a-g) <= tolerance of the dtype."""

    def __init__(self, name: str, summary: str, tolerances: Mapping[str, float], source: str) -> None:
        self.name = name
        self.summary = summary
        self.tolerances = tolerances
        self.source = source

    def definition(self) -> dict[str, Any]:
        return {"rule": "abs(a-g) <= tolerance", "tolerance": dict(self.tolerances), "source": self.source}

    def dtypes(self) -> tuple[str, ...]:
        return tuple(self.tolerances)

    def limit(self, block: Block) -> float:
        return self.tolerances[block.target.output.dtype.name]

    def rule(self, output: Output) -> str:
        return f"abs(a-g) <= {self.tolerances[output.dtype.name]:g}"

    def tolerance(self, output: Output) -> tuple[float, float]:
        return self.tolerances[output.dtype.name], 0.0

    def from_metrics(self, output: Output, metrics: Metrics) -> bool:
        return metrics.max_abs <= self.tolerances[output.dtype.name]


PROFILES = (
    Absolute(
        "ut",
        "absolute tolerances of the operator's kernel unit test",
        {"fp32": 1e-5, "fp16": 2e-2, "bf16": 8e-2},
        "the package's own kernel unit test",
    ),
    Absolute(
        "sample",
        "absolute tolerance of the operator's ACLNN sample",
        {"fp32": 1e-5, "fp16": 1e-5, "bf16": 1e-5},
        "the package's own ACLNN sample",
    ),
)
