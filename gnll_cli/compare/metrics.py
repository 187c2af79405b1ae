"""The error metrics of one output, gathered block by block in float64."""

from __future__ import annotations

import math

import numpy as np

from gnll_cli.compare.block import Block
from gnll_cli.compare.interface import OutputVerdict

#: Errors beyond this are squared at this scale, so that their squares do not overflow.
_BIG = 1e150
_SCALE = 2.0**-600


class Metrics:
    """Metrics over the elements where actual and golden are finite."""

    def __init__(self) -> None:
        self.elements = 0
        self.finite = 0
        self.unwritten = 0
        self.faults = 0
        self.max_abs: float | int = 0
        self.max_rel = 0.0
        self.sum_rel = 0.0
        self.sum_squares = 0.0
        self.sum_big_squares = 0.0
        self.max_ulp = 0.0
        self.radius: float | None = None

    def update(self, block: Block) -> None:
        """Add a block. Its sums are float64 (pairwise within a block)."""
        size = block.error.size
        if not size:
            return
        self.elements += size
        error = block.error
        target = block.target
        if block.finite is not None:
            self.finite += block.count
            if block.unwritten is not None:
                self.unwritten += int(np.count_nonzero(block.unwritten))
            if block.fault is not None:
                self.faults += int(np.count_nonzero(block.fault))
        else:
            self.finite += size
        if target.radius is not None:
            self.radius = max(self.radius or 0.0, target.top_radius)
        top = block.top_error
        if not top:
            return
        self.max_abs = max(self.max_abs, top)
        rel = block.rel
        self.max_rel = max(self.max_rel, float(np.maximum.reduce(rel)))
        self.sum_rel += float(np.add.reduce(rel))
        floats = error if error.dtype == np.float64 else error.astype(np.float64)
        if top > _BIG:
            scaled = floats * _SCALE
            self.sum_big_squares += float(np.add.reduce(scaled * scaled))
        else:
            self.sum_squares += float(np.add.reduce(floats * floats))
        ulps = floats / target.ulp
        if block.finite is not None:
            ulps = np.where(block.finite, ulps, 0.0)
        self.max_ulp = max(self.max_ulp, float(np.maximum.reduce(ulps)))

    @property
    def mean_rel(self) -> float:
        """Mean relative error over the finite elements; 0 where there is none."""
        return self.sum_rel / self.finite if self.finite else 0.0

    @property
    def rmse(self) -> float:
        """Root of the mean squared error over the finite elements; 0 where there is none."""
        if not self.finite:
            return 0.0
        if self.sum_big_squares:
            total = self.sum_big_squares + self.sum_squares * _SCALE * _SCALE
            return math.sqrt(total / self.finite) / _SCALE
        return math.sqrt(self.sum_squares / self.finite)

    def fill(self, verdict: OutputVerdict) -> None:
        """Write the metrics into a verdict; None where no element is finite."""
        verdict.elements = self.elements
        verdict.finite = self.finite
        verdict.unwritten = self.unwritten
        verdict.golden_radius = self.radius
        if self.finite:
            verdict.max_abs = self.max_abs
            verdict.max_rel = self.max_rel
            verdict.mean_rel = self.mean_rel
            verdict.rmse = self.rmse
            verdict.max_ulp = self.max_ulp
