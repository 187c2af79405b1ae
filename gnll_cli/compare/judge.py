"""One streaming pass over the golden of a case: every output under every profile, the trust check in step."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import dtypes
from gnll_cli.cases.model import Case
from gnll_cli.compare import profiles as registry
from gnll_cli.compare.block import Block, Output, Target, integral, wide
from gnll_cli.compare.interface import CaseVerdict, OutputVerdict
from gnll_cli.compare.location import Finder, Layout, group_of
from gnll_cli.compare.metrics import Metrics
from gnll_cli.compare.profile import Judge, Profile
from gnll_cli.compare.trust import OutputTrust, Slices, Stream, alternative, copies_of, slices_of
from gnll_cli.golden.interface import GoldenBlock, TensorData
from gnll_cli.operators.interface import Alternative, Operator, Tiling

Array = npt.NDArray[Any]
Arrays = Mapping[str, Array]
#: Reads the flat elements [start, stop) of an actual output, in its storage dtype.
Read = Callable[[int, int], Array]


class OutputJudgement:
    """One output on its way through the judges. Feed it ``Block``s in order, then ``finish``."""

    def __init__(self, output: Output, chosen: Sequence[Profile], layout: Layout) -> None:
        self.output = output
        self.chosen = chosen
        self.layout = layout
        self.metrics = Metrics()
        self.judges: list[Judge] = [p.start(output) for p in chosen]
        self.finders = [Finder(layout) for _ in chosen]
        self.seen = 0

    def update(self, block: Block) -> None:
        """Judge the next block."""
        self.metrics.update(block)
        self.seen += block.error.size
        for judge, finder in zip(self.judges, self.finders, strict=True):
            bad = judge.update(block)
            if bad is not None:
                finder.add(block.target.start, bad)

    def finish(self, notes: Sequence[str] = ()) -> list[OutputVerdict]:
        """The verdict per profile."""
        found = []
        for profile, judge, finder in zip(self.chosen, self.judges, self.finders, strict=True):
            verdict = OutputVerdict(self.output.name, profile.name, passed=False, notes=tuple(notes))
            self.metrics.fill(verdict)
            judge.finish(verdict, self.metrics)
            complete(verdict, self.output, finder, self.metrics)
            found.append(verdict)
        return found


def complete(verdict: OutputVerdict, output: Output, finder: Finder, metrics: Metrics) -> None:
    """What every verdict says besides its profile's own: location, first bad index, what would have passed."""
    if metrics.elements and not metrics.finite:
        verdict.notes += ("no element is finite in both actual and golden",)
    if finder.count:
        verdict.first_bad_index = output.index(finder.first)
    if verdict.passed or not finder.count:
        return
    worst = (
        finder.first if verdict.worst_index is None else int(np.ravel_multi_index(verdict.worst_index, output.shape))
    )
    verdict.location = finder.locate(worst, metrics.unwritten)
    if not metrics.faults:
        verdict.location.would_pass = would_pass(verdict, output, metrics)


def would_pass(verdict: OutputVerdict, output: Output, metrics: Metrics) -> tuple[str, ...]:
    """Profiles that the metrics alone show to pass, and the absolute tolerance that would."""
    found = []
    for name in registry.names():
        profile = registry.get(name)
        have = profile.dtypes()
        if (
            name != verdict.profile
            and (have is None or output.dtype.name in have)
            and profile.from_metrics(output, metrics)
        ):
            found.append(name)
    found.append(f"atol {metrics.max_abs:.3g}" if isinstance(metrics.max_abs, float) else f"atol {metrics.max_abs}")
    return tuple(found)


def make_target(output: Output, block: GoldenBlock, benchmark: Array | None) -> Target:
    """The golden side of a golden block; integer outputs are compared as integers where the golden is integral."""
    stop = block.start + block.value.size
    return Target(
        output,
        block.start,
        block.value,
        block.radius,
        block.magnitude,
        block.floor,
        block.factor,
        None if benchmark is None else wide(benchmark[block.start : stop]),
        None if output.dtype.is_float else integral(block.value),
    )


def mismatch(case: Case, name: str, actual: Array | None) -> str:
    """Why an actual cannot be compared with its golden at all; empty where it can."""
    if actual is None:
        return "the operator returned no such output"
    shape, dtype = tuple(case.shapes[name]), dtypes.get(case.dtypes[name])
    if tuple(actual.shape) != shape:
        return f"shape is {list(actual.shape)}, the golden's is {list(shape)}"
    if actual.dtype != dtype.storage:
        return f"dtype is {actual.dtype}, the golden's is {dtype.name} ({dtype.storage})"
    return ""


def _reader(array: Array) -> Read:
    flat = array.reshape(-1)
    return lambda start, stop: flat[start:stop]


@lru_cache(maxsize=4096)
def _lie(
    shape: tuple[int, ...],
    size: int,
    slices: tuple[tuple[int, int], ...],
    tile: int,
    inputs: tuple[tuple[str, tuple[int, ...]], ...],
) -> tuple[Layout, Slices]:
    """How an output lies, and its stretches: the same for every case of its shapes and tiling."""
    return Layout(shape, size, slices, tile, group_of(shape, inputs)), slices_of(slices, tile, size)


class CaseJudgement:
    """A case on its way: one ``OutputJudgement`` and one ``OutputTrust`` per output."""

    def __init__(
        self,
        case: Case,
        operator: Operator,
        reads: Mapping[str, Read],
        failed: Mapping[str, str],
        chosen: Sequence[Profile],
        inputs: Mapping[str, TensorData] | None,
        benchmark: Arrays | Callable[[], Arrays] | None,
        tiling: Tiling | None,
        trust: bool,
        options: Mapping[str, float],
    ) -> None:
        self.case = case
        self.reads = reads
        self.failed = failed
        self.judgements: dict[str, OutputJudgement] = {}
        self.trusts: dict[str, OutputTrust] = {}
        self.bench = self._benchmark(case, operator, chosen, inputs, benchmark)
        shapes = tuple((name, tuple(case.shapes[name])) for name in operator.inputs if name not in case.null)
        others = self._alternatives(case, operator, inputs) if trust and inputs is not None else []
        for name in operator.outputs:
            dtype = dtypes.get(case.dtypes[name])
            shape = tuple(case.shapes[name])
            output = Output(name, dtype, shape, case.elements(name), options, has_benchmark=self.bench is not None)
            for profile in chosen:
                profile.check(output)
            slices = tuple(tiling.slices.get(name, ())) if tiling is not None else ()
            tile = tiling.tile if tiling is not None else 0
            layout, stretches = _lie(shape, output.size, slices, tile, shapes)
            judgement = OutputJudgement(output, chosen, layout)
            self.judgements[name] = judgement
            if trust and name not in failed:
                sources = copies_of(output, inputs or {}) if output.size else []
                sources += [(f"the golden of {o.label}", alternative(output, o.scale, stream)) for o, stream in others]
                self.trusts[name] = OutputTrust(output, judgement.judges, sources, stretches)

    @staticmethod
    def _benchmark(
        case: Case,
        operator: Operator,
        chosen: Sequence[Profile],
        inputs: Mapping[str, TensorData] | None,
        benchmark: Arrays | Callable[[], Arrays] | None,
    ) -> Arrays | None:
        """The benchmark's outputs, flat, where a profile needs them; computed from the inputs where none is given."""
        if not any(p.needs_benchmark for p in chosen):
            return None
        if callable(benchmark):
            benchmark = benchmark()
        if benchmark is None and inputs is not None:
            benchmark = operator.benchmark(case, {name: data.array() for name, data in inputs.items()})
        return None if benchmark is None else {name: array.reshape(-1) for name, array in benchmark.items()}

    @staticmethod
    def _alternatives(
        case: Case, operator: Operator, inputs: Mapping[str, TensorData]
    ) -> list[tuple[Alternative, Stream | None]]:
        """The alternatives, each with the stream of its golden (None: the case's own)."""
        streams: dict[tuple[int, int], Stream] = {}
        found: list[tuple[Alternative, Stream | None]] = []
        for other in operator.alternatives(case, inputs):
            if other.case is None and other.inputs is None:
                found.append((other, None))
                continue
            key = (id(other.case), id(other.inputs))
            if key not in streams:
                data = inputs if other.inputs is None else other.inputs
                streams[key] = Stream(partial(operator.golden, other.case or case, data))
            found.append((other, streams[key]))
        return found

    def update(self, block: GoldenBlock) -> None:
        """Judge the next golden block."""
        judgement = self.judgements[block.output]
        if not block.value.size or block.output in self.failed:
            return
        bench = None if self.bench is None else self.bench.get(block.output)
        target = make_target(judgement.output, block, bench)
        stored = self.reads[block.output](block.start, block.start + block.value.size)
        judgement.update(Block.of(target, stored))
        trust = self.trusts.get(block.output)
        if trust is not None and trust.alive:
            trust.update(target)

    def finish(self) -> CaseVerdict:
        verdict = CaseVerdict()
        for name, judgement in self.judgements.items():
            why = self.failed.get(name)
            if why is None:
                verdict.outputs += self._judged(judgement)
            else:
                verdict.outputs += [
                    OutputVerdict(name, p.name, passed=False, reason=why, elements=judgement.output.size, headroom=0.0)
                    for p in judgement.chosen
                ]
        for trust in self.trusts.values():
            verdict.untrusted += trust.survivors()
        return verdict

    def _judged(self, judgement: OutputJudgement) -> list[OutputVerdict]:
        if judgement.seen != judgement.output.size:
            raise RuntimeError(
                f"{self.case.id}: the golden of {judgement.output.name} covers {judgement.seen} of "
                f"{judgement.output.size} elements"
            )
        return judgement.finish()


def judge_case(
    case: Case,
    operator: Operator,
    golden: Iterable[GoldenBlock],
    actual: Arrays,
    *,
    profiles: Sequence[str],
    inputs: Mapping[str, TensorData] | None = None,
    benchmark: Arrays | Callable[[], Arrays] | None = None,
    tiling: Tiling | None = None,
    trust: bool = True,
    options: Mapping[str, float] | None = None,
) -> CaseVerdict:
    """The verdict on what an operator returned for a case.

    ``golden`` are the case's golden blocks, ``actual`` the outputs in storage dtype and shape, ``profiles`` the names
    to judge by (all must pass). ``inputs`` serve the trust check (copies of inputs, alternative computations) and,
    for profiles that need it, the benchmark when ``benchmark`` (outputs, or a function that returns them) is not
    given. ``tiling`` tells cores and tiles. ``options``: rtol and atol for profile isclose. Raises ``UsageError``
    where a profile cannot judge.
    """
    reads: dict[str, Read] = {}
    failed: dict[str, str] = {}
    for name in operator.outputs:
        why = mismatch(case, name, actual.get(name))
        if why:
            failed[name] = why
        else:
            reads[name] = _reader(actual[name])
    return judge_reads(case, operator, golden, reads, failed, profiles, inputs, benchmark, tiling, trust, options)


def judge_reads(
    case: Case,
    operator: Operator,
    golden: Iterable[GoldenBlock],
    reads: Mapping[str, Read],
    failed: Mapping[str, str],
    profiles: Sequence[str],
    inputs: Mapping[str, TensorData] | None,
    benchmark: Arrays | Callable[[], Arrays] | None,
    tiling: Tiling | None,
    trust: bool,
    options: Mapping[str, float] | None,
) -> CaseVerdict:
    """As ``judge_case``, with each actual read by ranges; ``failed`` says why an output cannot be read."""
    chosen = [registry.get(name) for name in dict.fromkeys(profiles)]
    # Inf and NaN are values to compare here, not accidents.
    with np.errstate(all="ignore"):
        judgement = CaseJudgement(
            case, operator, reads, failed, chosen, inputs, benchmark, tiling, trust, options or {}
        )
        for block in golden:
            judgement.update(block)
        return judgement.finish()
