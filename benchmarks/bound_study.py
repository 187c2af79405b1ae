"""Measure profile ``bound``: alarms on right outputs, and how often it catches each named fault.

The outputs come from a float32 replay of the operator's algorithm (benchmarks/replay.py), the golden from the operator's own golden, and
the verdicts from ``compare.judge_case``: what is measured is what ``gnll run`` uses. ``python -m benchmarks.bound_study`` prints the tables
of docs/bound.md.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from benchmarks.harness import one_core
from benchmarks.replay import FAULTS, GRAD_INPUT, GRAD_VAR, ORDERS, Recipe, Result, replay
from gnll_cli import compare, dtypes, operators
from gnll_cli.cases.distributions import parse
from gnll_cli.cases.model import Case, Shape, seed_of
from gnll_cli.compare.interface import CaseVerdict
from gnll_cli.golden.data import inputs as draw_inputs
from gnll_cli.golden.interface import F64, GoldenBlock, TensorData
from gnll_cli.operators.interface import Form

Array = npt.NDArray[Any]

OPERATOR = operators.get("gaussian_nll_loss_grad")
DTYPES = ("fp32", "fp16", "bf16")
REDUCTIONS = ("none", "sum", "mean")
LONGEST = 1 << 17

#: Data of the reduced cases. ``MIXED`` names those whose terms of gradVar are random, of one size and of both signs.
DATA: dict[str, dict[str, str]] = {
    "usual": dict(OPERATOR.data),
    "wide": {
        "gradOutput": "signed(spread(1e-3, 1e3))",
        "input": "signed(spread(1e-3, 1e3))",
        "target": "signed(spread(1e-3, 1e3))",
        "var": "spread(1e-3, 1e3)",
    },
    "cancelling": {
        "gradOutput": "uniform(0.5, 1)",
        "input": "signed(uniform(0.9, 1.1))",
        "target": "constant(0)",
        "var": "uniform(0.9, 1.1)",
    },
    "near": {
        "gradOutput": "uniform(0.5, 1)",
        "input": "normal(0, 0.05)",
        "target": "normal(0, 0.05)",
        "var": "uniform(0.5, 2)",
    },
    "far": {
        "gradOutput": "uniform(0.5, 1)",
        "input": "normal(30, 1)",
        "target": "normal(0, 1)",
        "var": "uniform(0.5, 2)",
    },
    "constant": {
        "gradOutput": "constant(0.9)",
        "input": "constant(0.3)",
        "target": "constant(0.1)",
        "var": "constant(0.7)",
    },
}
MIXED = ("usual", "cancelling")
#: Up to this length "sequential" is measured on all ``MIXED`` data; beyond it only where gradOutput changes its sign from element to
#: element, so that no sum drifts (study_one_group measures the rest).
SEQUENTIAL = 4096


def random(seed: int, *more: int) -> np.random.Generator:
    """A generator of its own for a place in the study."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([seed, *more])))


def make_case(
    name: str,
    base: Shape,
    dtype: str,
    reduction: str,
    data: Mapping[str, str],
    target: str = "same",
    var: str = "same",
    eps: float = 1e-6,
) -> Case:
    """A legal case of the operator; its seed follows from its name."""
    attributes: dict[str, bool | float | str] = {"full": False, "eps": eps, "reduction": reduction}
    forms: dict[str, Form] = {}
    for tensor, text in (("target", target), ("var", var)):
        form = OPERATOR.form(tensor, text, base)
        assert form is not None, (tensor, text, base)
        forms[tensor] = form
    return Case(
        id=name,
        operator=OPERATOR.name,
        dtype=dtype,
        attributes=attributes,
        shapes=OPERATOR.shapes(base, forms, attributes),
        dtypes=dict.fromkeys(OPERATOR.tensors, dtype),
        data={tensor: parse(text) for tensor, text in data.items()},
        seed=seed_of(name),
    )


@dataclass(frozen=True)
class Subject:
    """A case with its inputs, its golden (read-only, judged many times) and the golden as whole arrays per output."""

    case: Case
    inputs: Mapping[str, TensorData]
    arrays: Mapping[str, Array]
    blocks: Sequence[GoldenBlock]
    value: Mapping[str, F64]
    limit: Mapping[str, F64]
    radius_share: float

    def judge(self, result: Result) -> CaseVerdict:
        return compare.judge_case(
            self.case, OPERATOR, self.blocks, result.outputs, profiles=("bound",), inputs=self.inputs, trust=False
        )

    def shares(self, result: Result) -> dict[str, float]:
        """The largest share of E that the float32 result uses before it is rounded to the output dtype, per output."""
        found = {}
        for name, wide in result.wide.items():
            golden, limit = self.value[name], self.limit[name]
            with np.errstate(all="ignore"):
                share = np.abs(wide - golden) / limit
            # Overflow is judged by its own rule; an element without any limit must be exact.
            share = share[np.isfinite(wide) & (np.abs(golden) <= dtypes.get("fp32").largest) & (limit > 0)]
            found[name] = float(share.max(initial=0.0))
        return found


def limit_of(block: GoldenBlock) -> F64:
    """E of a golden block, by the definition of profile ``bound`` and not by its code."""
    return block.factor * 2.0**-24 * block.magnitude + 2.0**-148 * block.floor


def subject(case: Case, change: Callable[[dict[str, Array]], None] | None = None) -> Subject:
    """Draw a case and compute its golden; ``change`` may rewrite the drawn arrays in place first."""
    inputs: dict[str, TensorData] = dict(draw_inputs(case, OPERATOR))
    arrays = {name: data.array() for name, data in inputs.items()}
    if change is not None:
        arrays = {name: array.copy() for name, array in arrays.items()}
        change(arrays)
    # Arrays are handed over as they are: large tensors would otherwise be drawn again for every read.
    inputs = {name: Whole(array, case.dtype) for name, array in arrays.items()}
    blocks = list(OPERATOR.golden(case, inputs))
    radius_share = 0.0
    for block in blocks:
        limit = limit_of(block)
        with np.errstate(all="ignore"):
            share = (block.radius / limit)[np.isfinite(limit) & (limit > 0)]
        radius_share = max(radius_share, float(share.max(initial=0.0)))
        for part in (block.value, block.radius, block.magnitude, block.floor):
            part.flags.writeable = False
    value, limits = {}, {}
    for name in OPERATOR.outputs:
        value[name] = np.concatenate([b.value for b in blocks if b.output == name])
        limits[name] = np.concatenate([limit_of(b) for b in blocks if b.output == name])
    return Subject(case, inputs, arrays, blocks, value, limits, radius_share)


class Whole:
    """Tensor data that lies in memory."""

    def __init__(self, array: Array, dtype: str) -> None:
        self._array = array
        self.shape: Shape = array.shape
        self.dtype = dtype
        self.size = array.size

    def read(self, start: int, stop: int) -> Array:
        """Elements [start, stop) of the flattened tensor."""
        return self._array.reshape(-1)[start:stop]

    def array(self) -> Array:
        """The whole tensor."""
        return self._array


@dataclass
class Tally:
    """What a row of an alarm table holds. ``share`` is the largest share of E used, per output."""

    cases: int = 0
    elements: int = 0
    alarms: int = 0
    undecided: int = 0
    radius_share: float = 0.0
    share: dict[str, float] = field(default_factory=lambda: dict.fromkeys(OPERATOR.outputs, 0.0))
    alarmed: list[str] = field(default_factory=list)

    def add(self, of: Subject, recipe: Recipe, result: Result, verdict: CaseVerdict) -> None:
        self.cases += 1
        self.elements += sum(y.size for y in result.wide.values())
        self.undecided += not all(o.decided for o in verdict.outputs)
        self.radius_share = max(self.radius_share, of.radius_share)
        for name, share in of.shares(result).items():
            self.share[name] = max(self.share[name], share)
        if not verdict.passed:
            self.alarms += 1
            reason = "; ".join(f"{o.name}: {o.reason}" for o in verdict.outputs if not o.passed)
            self.alarmed.append(
                f"{of.case.id} {recipe.grad_input} {recipe.grad_var} {recipe.order} {recipe.division}: {reason}"
            )


Tallies = dict[tuple[str, ...], Tally]


def book(tallies: Tallies, keys: Sequence[tuple[str, ...]], of: Subject, recipe: Recipe) -> None:
    """Replay, judge, and book the verdict under every key."""
    result = replay(of.case, of.arrays, recipe)
    verdict = of.judge(result)
    for key in keys:
        tallies.setdefault(key, Tally()).add(of, recipe, result, verdict)


# Alarms on reduced cases


def lengths(count: int, longest: int, generator: np.random.Generator) -> Iterator[int]:
    """``count`` group sizes from 1 to ``longest``: the sizes around every boundary of the sum first, then log-uniform ones."""
    edges = [1, 2, 3, 63, 64, 65, 127, 128, 129, 4032, 4095, 4096, 4097, 4160, 8192, 8193, 65536, LONGEST - 1, LONGEST]
    edges = [r for r in edges if r <= longest]
    for k in range(count):
        yield edges[k] if k < len(edges) else int(math.exp(generator.uniform(0, math.log(longest + 1))))


def band(r: int) -> str:
    """The band of a table that a group size falls in."""
    return "1 to 64" if r <= 64 else "65 to 4,096" if r <= 4096 else f"4,097 to {LONGEST:,}"


def reduced_case(k: int, r: int, dtype: str, kind: str, generator: np.random.Generator) -> Case:
    """The k-th reduced case: one to a few groups of r elements, form and reduction drawn."""
    groups = int(generator.integers(1, max(2, min(48, (1 << 14) // r) + 1)))
    factor = next((f for f in (7, 5, 3, 2) if r % f == 0), 1)
    base: Shape = (groups, r) if groups > 1 else (factor, r // factor)
    if groups > 1 and groups % 2 == 0:
        base = (2, groups // 2, r)
    forms = ("last_dim_one", "missing_last_dim") if groups > 1 else ("scalar",)
    var = str(generator.choice(forms))
    target = str(generator.choice(["same", "axis:-1", "axis:0"]))
    reduction = str(generator.choice(REDUCTIONS))
    return make_case(f"bound/reduced{k}-{dtype}-{kind}-{r}", base, dtype, reduction, DATA[kind], target, var)


def draw_recipe(order: str, generator: np.random.Generator) -> Recipe:
    """Arrangements at random; one division in three is of 1 ULP."""
    return Recipe(
        str(generator.choice(GRAD_INPUT)),
        str(generator.choice(GRAD_VAR)),
        order,
        division=str(generator.choice(["nearest", "nearest", "one_ulp"])),
    )


def orders_for(kind: str, reduction: str, r: int) -> list[str]:
    """The orders that must not alarm: two are covered whatever the data, two are measured on mixed data."""
    orders = ["tile", "pairwise"]
    if kind in MIXED:
        orders.append("lanes")
        if r <= SEQUENTIAL or (kind == "usual" and reduction == "none"):
            orders.append("sequential")
    return orders


def study_reduced(cases: int, seed: int = 0, longest: int = LONGEST) -> Tallies:
    """Right outputs of ``cases`` reduced cases, dtypes and data in turn, in every order that the data allows."""
    tallies: Tallies = {}
    generator = random(seed, 1)
    kinds = tuple(DATA)
    sizes = lengths(-(-cases // (len(DTYPES) * len(kinds))), longest, generator)
    k = 0
    for r in sizes:
        for dtype in DTYPES:
            for kind in kinds:
                if k == cases:
                    return tallies
                of = subject(reduced_case(k, r, dtype, kind, generator))
                for order in orders_for(kind, str(of.case.attributes["reduction"]), r):
                    recipe = draw_recipe(order, generator)
                    book(tallies, [("order", order, band(r)), ("dtype", dtype)], of, recipe)
                k += 1
    return tallies


def study_one_group(seed: int = 0, longest: int = LONGEST, repeats: int = 16) -> Tallies:
    """One group summed (fp32, reduction sum) in orders beyond the covered ones: from which length do they alarm?"""
    tallies: Tallies = {}
    r = 1024
    while r <= longest:
        for kind in ("usual", "wide", "near", "far", "constant"):
            for k in range(1 if kind == "constant" else repeats):
                name = f"bound/one-group-{seed}-{kind}-{r}-{k}"
                of = subject(make_case(name, (r,), "fp32", "sum", DATA[kind], var="scalar"))
                for order in ("tile", "lanes", "sequential"):
                    book(tallies, [("one group", order, kind, f"{r:,}")], of, Recipe(order=order))
        r *= 2
    return tallies


# Alarms on unreduced data


def wide_data(dtype: str, part: int) -> dict[str, str]:
    """abs(input), abs(target) <= 1e9, var in [1e-9, 1e9], abs(gradOutput) <= 1e12, as far as the dtype reaches."""
    kind = dtypes.get(dtype)
    large, low = min(1e9, kind.largest), max(1e-9, kind.smallest)
    top = min(1e12, kind.largest)
    small = max(1e-12, kind.smallest)
    if part % 3 == 0:
        return {
            "gradOutput": f"signed(spread({small!r}, {top!r}))",
            "input": f"signed(spread({low!r}, {large!r}))",
            "target": f"signed(spread({low!r}, {large!r}))",
            "var": f"spread({low!r}, {large!r})",
        }
    if part % 3 == 1:
        return {
            "gradOutput": "signed(spread(0.01, 100))",
            "input": "signed(spread(0.01, 100))",
            "target": "signed(spread(0.01, 100))",
            "var": "spread(0.01, 100)",
        }
    return dict(DATA["cancelling"])


def close_targets(arrays: dict[str, Array]) -> None:
    """Move every second target next to its input, so that the difference cancels (its values stay in range)."""
    target, x = arrays["target"].reshape(-1), arrays["input"].reshape(-1)
    target[::2] = (x[::2].astype(np.float32) * np.float32(1 - 2.0**-7)).astype(x.dtype)


def study_unreduced(elements: int, seed: int = 0, step: int = 1 << 19) -> Tallies:
    """Right outputs of at least ``elements`` elements per dtype, every arrangement on all of them."""
    tallies: Tallies = {}
    count = max(len(GRAD_VAR), -(-elements // step))
    size = -(-elements // count)
    for dtype in DTYPES:
        for part in range(count):
            name = f"bound/unreduced{part}-{seed}-{dtype}"
            reduction = REDUCTIONS[(part // 3) % 3]
            case = make_case(name, (size,), dtype, reduction, wide_data(dtype, part), eps=1e-9)
            of = subject(case, close_targets)
            for k, grad_var in enumerate(GRAD_VAR):
                grad_input = GRAD_INPUT[(k + part) % len(GRAD_INPUT)]
                # The mean taken last has intermediates N times as large, which overflow on the widest data (docs/bound.md).
                if grad_var == "scale_last" and reduction == "mean" and part % 3 == 0:
                    continue
                for division in ("nearest", "one_ulp"):
                    recipe = Recipe(grad_input, grad_var, division=division)
                    keys = [
                        ("unreduced", dtype),
                        ("gradInput", grad_input, division),
                        ("gradVar", grad_var, division),
                    ]
                    book(tallies, keys, of, recipe)
    return tallies


# Gradual underflow

#: Data whose intermediates are subnormal in float32, by what the derivation says of it: (covered, reduction, data).
UNDERFLOW: dict[str, tuple[bool, str, dict[str, str]]] = {
    "tiny gradOutput": (True, "none", {"gradOutput": "signed(spread(1e-45, 1e-37))", "input": "uniform(-1, 1)"}),
    "tiny gradOutput, mean": (True, "mean", {"gradOutput": "constant(3e-37)", "input": "uniform(-1, 1)"}),
    "tiny difference": (True, "none", {"gradOutput": "uniform(-1, 1)", "input": "signed(spread(1e-45, 1e-37))"}),
    "tiny difference, gradOutput 1e6": (
        True,
        "none",
        {"gradOutput": "uniform(-1e6, 1e6)", "input": "signed(spread(1e-45, 1e-37))"},
    ),
    "tiny gradOutput, mean, d/v about 20": (
        False,
        "mean",
        {"gradOutput": "constant(3e-37)", "input": "uniform(10, 20)"},
    ),
    "tiny gradOutput, var 0.001": (
        False,
        "none",
        {"gradOutput": "signed(spread(1e-45, 1e-37))", "input": "uniform(-1, 1)", "var": "uniform(0.001, 0.002)"},
    ),
}


def study_underflow(seed: int = 0, elements: int = 4096) -> Tallies:
    """Right outputs where intermediates are subnormal, fp32, in every arrangement."""
    tallies: Tallies = {}
    for name, (covered, reduction, data) in UNDERFLOW.items():
        drawn = {"target": "constant(0)", "var": "uniform(1, 2)", **data}
        of = subject(make_case(f"bound/underflow-{seed}-{name}", (elements,), "fp32", reduction, drawn))
        for grad_input in GRAD_INPUT:
            for grad_var in GRAD_VAR:
                recipe = Recipe(grad_input, grad_var)
                which = "the kernel's" if (grad_input, grad_var) == (GRAD_INPUT[0], GRAD_VAR[0]) else "others"
                book(tallies, [("underflow", name, "yes" if covered else "no", which)], of, recipe)
    return tallies


# Faults


@dataclass(frozen=True)
class Rate:
    """Of ``cases`` cases with a fault, ``visible`` differ in a bit from the right outputs, and ``caught`` fail."""

    cases: int
    visible: int
    caught: int


FaultRates = dict[str, dict[str, Rate]]


def faulty(of: Subject, recipe: Recipe) -> tuple[bool, bool]:
    """Whether a fault shows in any bit of the outputs, and whether the verdict catches it."""
    wrong = replay(of.case, of.arrays, recipe)
    right = replay(of.case, of.arrays, Recipe())
    visible = any(right.outputs[name].tobytes() != wrong.outputs[name].tobytes() for name in OPERATOR.outputs)
    return visible, not of.judge(wrong).passed


def turn(k: int, *choices: Sequence[Any]) -> list[Any]:
    """The k-th combination of the choices, the first running fastest."""
    picked = []
    for options in choices:
        k, at = divmod(k, len(options))
        picked.append(options[at])
    return picked


def fault_case(name: str, k: int, dtype: str, tag: str) -> Case:
    """The k-th case that can show a fault, with the suite's usual data: reductions, forms and sizes in turn."""
    fault = FAULTS[name]
    case_name = f"bound/fault-{tag}-{name}-{dtype}-{k}"
    kinds = (False, True) if fault.reduced is None else (fault.reduced,)
    reduced, reduction, target, rest = turn(k, kinds, fault.reductions, ("same", "axis:0"), range(10**9))
    groups = 8
    if fault.square:
        base: Shape = (33, 33)
        target = "axis:0"
    elif reduced:
        sizes = (64, 513, 4096) if fault.elements <= 64 else (fault.elements,)
        r, groups = turn(rest, sizes, (8,) if fault.eps > 1e-3 else (1, 2, 8))
        base = (groups, r) if groups > 1 else (r,)
        target = target if groups > 1 else "same"
    else:
        base = ((7, 33), (3, 5, 67), (1030,))[rest % 3]
    var = "same" if not reduced else "scalar" if groups == 1 else "last_dim_one"
    return make_case(case_name, base, dtype, reduction, DATA["usual"], target, var, fault.eps)


def study_faults(cases: int, seed: int = 0, names: Sequence[str] = tuple(FAULTS)) -> FaultRates:
    """How many of ``cases`` cases with each fault fail, per dtype."""
    rates: FaultRates = {}
    for name in names:
        fault = FAULTS[name]
        rates[name] = {}
        for dtype in fault.dtypes:
            seen = [faulty(subject(fault_case(name, k, dtype, str(seed))), fault.recipe) for k in range(cases)]
            rates[name][dtype] = Rate(cases, sum(v for v, _ in seen), sum(c for _, c in seen))
    return rates


def cancelled_magnitude(of: Subject) -> F64:
    """Sum over each group of abs(term) of gradVar, in float64: what the errors of the additions scale with."""
    case = of.case
    go, x, target, var = (dtypes.to_float64(of.arrays[name]) for name in ("gradOutput", "input", "target", "var"))
    v = np.maximum(var, float(np.float32(case.attributes["eps"])))
    q = (x - target).reshape(v.size, -1) / v.reshape(-1, 1)
    scale = 0.5 / case.elements("input") if case.attributes["reduction"] == "mean" else 0.5
    weight = go.reshape(v.size, -1) if case.attributes["reduction"] == "none" else go.reshape(1, 1)
    return np.abs(weight * scale * (1 / v.reshape(-1, 1) - q * q)).sum(axis=1)


def study_dropped(cases: int, seed: int = 0) -> dict[str, dict[str, Any]]:
    """One dropped element of 4,096 in one group: catch rates by data, reduction and dtype, and under the sharper bound.

    The sharper bound is 12 * 2^-24 * M + D(r) * 2^-24 * S with S the sum of abs(term) (docs/bound.md); it is measured for fp32.
    """
    found: dict[str, dict[str, Any]] = {}
    fault = FAULTS["term_lost"]
    for kind in ("usual", "wide", "cancelling", "near", "far"):
        for reduction in REDUCTIONS:
            row: dict[str, Any] = {}
            for dtype in DTYPES:
                seen = []
                sharper = 0
                share = 0.0
                ratio: list[float] = []
                for k in range(cases):
                    name = f"bound/dropped-{seed}-{kind}-{reduction}-{dtype}-{k}"
                    of = subject(make_case(name, (4096,), dtype, reduction, DATA[kind], var="scalar"))
                    seen.append(faulty(of, fault.recipe))
                    if dtype == "fp32":
                        block = next(b for b in of.blocks if b.output == "gradVar")
                        value, total = float(block.value[0]), float(cancelled_magnitude(of)[0])
                        limit = 2.0**-24 * (12 * float(block.magnitude[0]) + (block.factor - 12) * total)
                        wrong, right = (replay(of.case, of.arrays, recipe) for recipe in (fault.recipe, Recipe()))
                        sharper += abs(float(wrong.wide["gradVar"][0]) - value) > limit
                        share = max(share, abs(float(right.wide["gradVar"][0]) - value) / limit)
                        ratio.append(total / float(block.magnitude[0]))
                row[dtype] = Rate(cases, sum(v for v, _ in seen), sum(c for _, c in seen))
                if dtype == "fp32":
                    row.update(sharper=sharper / cases, sharper_share=share, cancelled=sum(ratio) / len(ratio))
            found[f"{kind}, {reduction}"] = row
    return found


# Tables


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def alarm_table(first: Sequence[str], tallies: Tallies, kind: str) -> str:
    """The alarm table of one kind of key; ``first`` heads the parts of the key."""
    head = [
        *first,
        "verdicts",
        "output elements",
        "alarms",
        "undecided",
        "share of E, gradInput",
        "share of E, gradVar",
    ]
    rows = []
    for key, tally in tallies.items():
        if key[0] == kind:
            shares = (f"{tally.share['gradInput']:.2f}", f"{tally.share['gradVar']:.2f}")
            numbers = (f"{tally.cases:,}", f"{tally.elements:,}", str(tally.alarms), str(tally.undecided))
            rows.append([*key[1:], *numbers, *shares])
    return table(head, rows)


def report_alarms(title: str, tallies: Tallies) -> None:
    """Cases that alarmed, a few of them by name."""
    alarmed = [text for key, tally in tallies.items() if len(key) == 2 for text in tally.alarmed]
    if alarmed:
        print(f"\n{title}: {len(alarmed)} alarms, the first of them:")
        for text in alarmed[:10]:
            print(f"- {text}")


def rate_text(rate: Rate) -> str:
    """Caught over cases; where a fault did not show in every case, the share in which it did."""
    text = f"{rate.caught / rate.cases:.2f}"
    return text if rate.visible == rate.cases else f"{text} of {rate.visible / rate.cases:.2f}"


def fault_table(rates: FaultRates) -> str:
    rows = []
    for name, by_dtype in rates.items():
        cells = [rate_text(by_dtype[d]) if d in by_dtype else "-" for d in DTYPES]
        rows.append([f"`{name}`", FAULTS[name].summary, *cells])
    return table(["fault", "what is wrong", *DTYPES], rows)


def dropped_table(found: Mapping[str, Mapping[str, Any]]) -> str:
    head = ["data, reduction", *DTYPES, "fp32, sharper E", "its share used", "S / M"]
    return table(
        head,
        [
            [
                name,
                *(rate_text(row[d]) for d in DTYPES),
                f"{row['sharper']:.2f}",
                f"{row['sharper_share']:.2f}",
                f"{row['cancelled']:.2f}",
            ]
            for name, row in found.items()
        ],
    )


def one_group_table(tallies: Tallies) -> str:
    """Share of E of gradVar by length (columns), order and data (rows); an alarm is marked."""
    columns = list(dict.fromkeys(key[3] for key in tallies))
    rows = []
    for order, kind in dict.fromkeys((key[1], key[2]) for key in tallies):
        cells = []
        for length in columns:
            tally = tallies["one group", order, kind, length]
            cells.append(
                f"{tally.share['gradVar']:.2f}" + (f" ({tally.alarms}/{tally.cases} alarm)" if tally.alarms else "")
            )
        rows.append([order, kind, *cells])
    return table(["order", "data", *(f"r = {c}" for c in columns)], rows)


def plain(tallies: Tallies) -> list[dict[str, Any]]:
    """Tallies for JSON."""
    return [
        {
            "key": list(key),
            "verdicts": t.cases,
            "elements": t.elements,
            "alarms": t.alarms,
            "undecided": t.undecided,
            "radius_share": t.radius_share,
            "share": t.share,
        }
        for key, t in tallies.items()
    ]


def rates_plain(rates: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rates for JSON."""
    return {
        name: {key: asdict(value) if isinstance(value, Rate) else value for key, value in row.items()}
        for name, row in rates.items()
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bound_study", description=__doc__)
    parser.add_argument("--cases", type=int, default=5400, help="reduced cases (default 5400)")
    parser.add_argument("--elements", type=int, default=10_000_000, help="unreduced elements per dtype (default 10^7)")
    parser.add_argument("--fault-cases", type=int, default=200, help="cases per fault and dtype (default 200)")
    parser.add_argument("--longest", type=int, default=LONGEST, help="longest group (default and most 2^17)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, help="write the figures to this file too")
    arguments = parser.parse_args()
    if min(arguments.cases, arguments.elements, arguments.fault_cases) < 1 or not 1 <= arguments.longest <= LONGEST:
        parser.error(f"counts must be at least 1, and --longest from 1 to {LONGEST}")
    one_core()
    began = time.perf_counter()
    seed = arguments.seed

    reduced = study_reduced(arguments.cases, seed, arguments.longest)
    print("### Reduced cases\n")
    print(alarm_table(["order", "group size r"], in_order(reduced), "order"))
    print()
    print(alarm_table(["dtype"], reduced, "dtype"))
    report_alarms("reduced", reduced)

    unreduced = study_unreduced(arguments.elements, seed)
    print("\n### Unreduced data\n")
    print(alarm_table(["dtype"], unreduced, "unreduced"))
    print()
    print(alarm_table(["gradInput by", "division"], unreduced, "gradInput"))
    print()
    print(alarm_table(["gradVar by", "division"], unreduced, "gradVar"))
    report_alarms("unreduced", unreduced)
    radius = max(t.radius_share for t in [*reduced.values(), *unreduced.values()])
    print(f"\nLargest radius of the golden: {radius:.2g} of E.")

    underflow = study_underflow(seed)
    print("\n### Subnormal intermediates (fp32)\n")
    print(alarm_table(["data", "covered", "arrangement"], underflow, "underflow"))

    one_group = study_one_group(seed, arguments.longest)
    if one_group:
        print(
            "\n### Orders that are not covered, on long sums (one group, fp32, reduction sum): share of E of gradVar\n"
        )
        print(one_group_table(one_group))

    rates = study_faults(arguments.fault_cases, seed)
    print(f"\n### Catch rates ({arguments.fault_cases} cases per fault and dtype)\n")
    print(fault_table(rates))

    dropped = study_dropped(arguments.fault_cases, seed)
    print("\n### One dropped element of 4,096\n")
    print(dropped_table(dropped))

    seconds = time.perf_counter() - began
    print(f"\n{seconds:.0f} s on one core, NumPy {np.__version__}.")
    if arguments.json is not None:
        figures = {
            "seed": seed,
            "seconds": seconds,
            "reduced": plain(reduced),
            "unreduced": plain(unreduced),
            "underflow": plain(underflow),
            "one_group": plain(one_group),
            "faults": rates_plain(rates),
            "dropped": {name: rates_plain({"": row})[""] for name, row in dropped.items()},
        }
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    covered = [t for key, t in underflow.items() if key[2] == "yes"]
    alarms = sum(t.alarms for t in [*reduced.values(), *unreduced.values(), *covered])
    return 0 if alarms == 0 else 1


def in_order(tallies: Tallies) -> Tallies:
    """Tallies with keys in the order of ORDERS and of group size."""
    bands = ("1 to 64", "65 to 4,096", f"4,097 to {LONGEST:,}")
    keys = [("order", order, b) for order in ORDERS for b in bands]
    return {key: tallies[key] for key in keys if key in tallies}


if __name__ == "__main__":
    sys.exit(main())
