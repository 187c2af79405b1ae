"""The golden of GaussianNllLossGrad: float64 results with a proven radius and the magnitude that float32 errors scale with.

d = input - target, v = max(var, eps), c = gradOutput (times 1/N for mean), q = d / v:
gradInput = c q, gradVar = sum over the group of c / 2 (1 / v - q^2). docs/golden.md proves the radius.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from gnll_cli.cases.model import Case
from gnll_cli.dtypes import quiet_float64, to_float64
from gnll_cli.golden.broadcast import read_one_axis
from gnll_cli.golden.data import with_first_element
from gnll_cli.golden.interface import BLOCK, F64, GoldenBlock, TensorData
from gnll_cli.golden.summation import CHUNK, GroupSums
from gnll_cli.operators.gaussian_nll_loss_grad.contract import float32_eps, forms_of
from gnll_cli.operators.interface import Alternative

#: Radius in units of the magnitude: 4 and 9 roundings of 2^-53, and room for smaller terms (docs/golden.md).
RADIUS_INPUT = 5 * 2.0**-53
RADIUS_VAR = 11 * 2.0**-53
#: Roundings of a correct float32 implementation, per output (profile bound).
FACTOR_INPUT = 8.0
FACTOR_VAR = 12.0
#: Up to this group size var is repeated element by element: broadcasting would run loops of that length.
_SHORT_GROUP = 64


def depth(r: int) -> int:
    """D(r): additions that an element goes through in a tile-wise sum of r elements (64 lanes, tiles of 4096)."""
    if r <= 1:
        return 0
    lanes = min(6, (r - 1).bit_length())
    return lanes + -(-min(r, 4096) // 64) - 1 + -(-r // 4096) - 1


def _units(total: int, r: int, block: int) -> Iterator[tuple[int, int]]:
    """Flat ranges of input to compute at a time: whole groups of r, or whole chunks of one group, about ``block`` elements."""
    if r <= block:
        step = block // r * r
        for start in range(0, total, step):
            yield start, min(start + step, total)
        return
    step = max(1, block // CHUNK) * CHUNK
    for group in range(0, total, r):
        for start in range(group, group + r, step):
            yield start, min(start + step, group + r)


class _Evaluation:
    """One evaluation of a case: reads a unit of the inputs and computes gradInput and the terms of gradVar."""

    def __init__(self, case: Case, inputs: Mapping[str, TensorData]) -> None:
        self.target, var = forms_of(case)
        self.r = var.reduce_size
        self.total = case.elements("input")
        self.eps = float32_eps(case.attributes)
        self._inputs = inputs
        #: max(1, abs(gradOutput)) where gradOutput is one element, None where it has input's shape.
        self.scalar_floor: float | None = None
        if case.attributes["reduction"] != "none" and self.total:
            first = float(to_float64(inputs["gradOutput"].read(0, 1))[0])
            self._scale = first / self.total if case.attributes["reduction"] == "mean" else first
            self.scalar_floor = float(np.maximum(1.0, abs(first)))
            self._floor = np.array([self.scalar_floor])
            self._floor.flags.writeable = False

    def unit(self, start: int, stop: int) -> tuple[F64, F64, F64, F64, F64]:
        """(gradInput, its magnitude, terms of gradVar, their magnitudes, floor of each term), each [stop - start].

        The floor may be a read-only view of one number. For callers that ignore floating-point flags.
        """
        r, count = self.r, stop - start
        d = quiet_float64(self._inputs["input"].read(start, stop))
        if self.target.mode:
            target = read_one_axis(self._inputs["target"], start, stop, self.target.axis_size, self.target.inner_stride)
        else:
            target = self._inputs["target"].read(start, stop)
        d -= quiet_float64(target)
        v = quiet_float64(self._inputs["var"].read(start // r, -(-stop // r)))
        np.maximum(v, self.eps, out=v)
        if 1 < r < _SHORT_GROUP:
            v = np.repeat(v, r)
        shape = (len(v), -1)
        d = d.reshape(shape)
        v = v.reshape(shape)
        d /= v
        np.divide(1.0, v, out=v)
        if self.scalar_floor is None:
            c = quiet_float64(self._inputs["gradOutput"].read(start, stop))
            floor = np.abs(c)
            np.maximum(floor, 1.0, out=floor)
            grad_input = d.reshape(count) * c
            c *= 0.5
            half: F64 | float = c.reshape(shape)
            half_magnitude: F64 | float = np.abs(half)
        else:
            # As np.broadcast_to makes it, in a fifth of the time.
            floor = np.ndarray((count,), np.float64, self._floor.data, strides=(0,))
            grad_input = d.reshape(count) * self._scale
            half = 0.5 * self._scale
            half_magnitude = abs(half)
        np.multiply(d, d, out=d)
        terms = v - d
        terms *= half
        d += v
        d *= half_magnitude
        return grad_input, np.abs(grad_input), terms.reshape(count), d.reshape(count), floor


def _block(
    output: str, start: int, value: F64, magnitude: F64, floor: F64, radius: float, factor: float
) -> GoldenBlock:
    """A block; where the golden is not finite nothing is a matter of tolerance: radius, magnitude and floor are 0.

    NaN gets the one bit pattern of ``np.nan``: which one arithmetic yields differs between machines.
    """
    finite = np.isfinite(magnitude)
    if np.count_nonzero(finite) < finite.size:
        finite &= np.isfinite(value)
        value = np.where(np.isnan(value), np.nan, value)
        magnitude = np.where(finite, magnitude, 0.0)
        floor = np.where(finite, floor, 0.0)
    return GoldenBlock(output, start, value, magnitude * radius, magnitude, floor, factor)


def _zeros(output: str, start: int, count: int, factor: float) -> GoldenBlock:
    """Exact zeros: sums of no terms."""
    return GoldenBlock(output, start, np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count), factor)


def golden(case: Case, inputs: Mapping[str, TensorData], block: int = BLOCK) -> Iterator[GoldenBlock]:
    """Golden blocks of both outputs, interleaved; ``block`` is about how many elements a step holds, and changes no bit.

    Every array of a block belongs to the caller, but ``floor`` may be read-only. An empty output has one empty block.
    """
    evaluation = _Evaluation(case, inputs)
    r, total = evaluation.r, evaluation.total
    factor = FACTOR_VAR + depth(r)
    if total == 0:
        # No terms: every gradVar element is an empty sum.
        yield _zeros("gradInput", 0, 0, FACTOR_INPUT)
        for start in range(0, max(1, case.elements("var")), block):
            yield _zeros("gradVar", start, min(block, case.elements("var") - start), factor)
        return
    sums = GroupSums()
    for start, stop in _units(total, r, block):
        with np.errstate(all="ignore"):
            grad_input, magnitude, terms, term_magnitudes, floor = evaluation.unit(start, stop)
            ready = [_block("gradInput", start, grad_input, magnitude, floor, RADIUS_INPUT, FACTOR_INPUT)]
            if r == 1:
                ready.append(_block("gradVar", start, terms, term_magnitudes, floor, RADIUS_VAR, factor))
            else:
                groups = -(-stop // r) - start // r
                sums.add(terms.reshape(groups, -1), term_magnitudes.reshape(groups, -1))
                if evaluation.scalar_floor is None:
                    sums.add_weights(floor.reshape(groups, -1))
                if stop % r == 0:
                    floor = (
                        sums.weights()
                        if evaluation.scalar_floor is None
                        else np.full(groups, r * evaluation.scalar_floor)
                    )
                    ready.append(
                        _block("gradVar", stop // r - groups, sums.sums(), sums.magnitudes(), floor, RADIUS_VAR, factor)
                    )
                    sums = GroupSums()
        yield from ready


def alternatives(case: Case, inputs: Mapping[str, TensorData]) -> list[Alternative]:
    """The other reductions of a case whose golden must not pass for it; none where N <= 1.

    ``none`` with its first gradOutput used everywhere is what ``sum`` computes; ``sum`` and ``mean`` differ by the factor 1/N.
    """
    total = case.elements("input")
    if total <= 1:
        return []
    reduction = case.attributes["reduction"]
    if reduction == "sum":
        return [Alternative("mean", 1 / total)]
    if reduction == "mean":
        return [Alternative("sum", float(total))]
    first = with_first_element(inputs, "gradOutput")
    shapes = {**case.shapes, "gradOutput": (1,)}
    other = replace(case, attributes={**case.attributes, "reduction": "sum"}, shapes=shapes)
    return [Alternative("sum", 1.0, other, first), Alternative("mean", 1 / total, other, first)]
