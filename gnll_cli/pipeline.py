"""One case from end to end: data, execution, golden, verdict, record. Runs in a worker process."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli import compare, golden, operators, runners
from gnll_cli.cases.model import Case, Distribution
from gnll_cli.compare.interface import CaseVerdict
from gnll_cli.golden.interface import GoldenBlock, TensorData
from gnll_cli.operators.interface import Operator
from gnll_cli.runners.interface import Execution, Runner, RunnerOptions

Record = dict[str, Any]
Phase = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class PipelineOptions:
    """What every case of a run shares. Picklable.

    ``profiles`` overrides the profiles a case names where it is not empty; ``tolerances`` are rtol and atol of profile
    isclose; ``repro`` is the part of the line to reproduce that follows the case (backend and its options).
    """

    runner: RunnerOptions
    profiles: tuple[str, ...] = ()
    tolerances: Mapping[str, float] | None = None
    repeat: int = 1
    advisory: str = "show"
    repro: tuple[str, ...] = ()


def start(options: PipelineOptions) -> Callable[[Case, Phase], Record]:
    """Called once in each worker process: the function that runs a case there."""
    return Pipeline(options)


def repro_line(case: Case, options: PipelineOptions) -> str:
    """The command that runs this one case again in the same way."""
    path = case.source.rsplit(":", 2)[0] or "cases/"
    words = ["gnll", "run", path, "-k", f"={case.id}"]
    if case.tier == "nightly":
        words += ["--tier", "nightly"]
    return shlex.join([*words, *options.repro])


def fingerprint(case: Case) -> str:
    """SHA-256 over everything that decides what a case computes and how it is judged (not where it stands in a file)."""
    parts = (
        repr((case.operator, case.dtype, sorted(case.attributes.items())))[1:-1],
        _sorted(tuple(case.shapes.items())),
        _sorted(tuple(case.dtypes.items())),
        _sorted(tuple([(name, d.text, _file_stamp(d)) for name, d in case.data.items()])),
        repr((case.seed, case.profile, sorted(case.layout.items()), case.null))[1:-1],
        repr((case.reject, case.trivial, case.advisory, case.pair))[1:-1],
    )
    # The text of the one tuple of all of them, as reports of older versions have it.
    return sha256(f"({', '.join(parts)})".encode()).hexdigest()[:16]


@lru_cache(maxsize=1024)
def _sorted(items: tuple[tuple[Any, ...], ...]) -> str:
    """Items of text and whole numbers in one order, as text; attributes do not come here, since 0.0 equals -0.0."""
    return repr(sorted(items))


def _file_stamp(distribution: Distribution) -> tuple[int, int] | None:
    """Size and time of the raw file that a distribution reads: another content is another case."""
    if distribution.kind != "file":
        return None
    status = os.stat(str(distribution.args[0]))
    return status.st_size, status.st_mtime_ns


def blank_record(case: Case, options: PipelineOptions) -> Record:
    """The record of a case that has no status yet: what was asked for."""
    return {
        "id": case.id,
        "operator": case.operator,
        "dtype": case.dtype,
        "tier": case.tier,
        "profile": list(options.profiles or case.profile),
        "axes": dict(case.axes),
        "attributes": dict(case.attributes),
        "shapes": {name: list(shape) for name, shape in case.shapes.items()},
        "dtypes": dict(case.dtypes),
        "layout": dict(case.layout),
        "data": {name: str(d) for name, d in case.data.items()},
        "seed": case.seed,
        "expect": "ok" if case.reject is None else {"reject": case.reject},
        "trivial": case.trivial,
        "advisory": case.advisory,
        "status": "error",
        "reason": "",
        "repro": repro_line(case, options),
        "seconds": {},
        "diagnostics": [],
        "outputs": [],
        "untrusted": [],
        "source": case.source,
        "fingerprint": fingerprint(case),
    }


def death_record(case: Case, options: PipelineOptions, kind: str, reason: str, phase: str) -> Record:
    """The record of a case whose worker died ("crashed"), hung ("timeout") or met an unexpected exception ("error").

    Only the execution belongs to the operator under test: a death elsewhere is the harness's own, an error.
    """
    record = blank_record(case, options)
    record["status"] = kind if phase == "execute" else "error"
    record["reason"] = reason
    record["phase"] = phase
    return record


class Pipeline:
    """Runs cases in one worker, with one runner."""

    def __init__(self, options: PipelineOptions) -> None:
        self.options = options
        self.runner: Runner = runners.get(options.runner.backend)(options.runner)

    def __call__(self, case: Case, phase: Phase) -> Record:
        record = blank_record(case, self.options)
        operator = operators.get(case.operator)
        skip = self.runner.skip(case, operator)
        if skip is not None:
            record.update(status="skipped", reason=skip)
            return record
        if case.reject is not None:
            self._refusal(case, operator, record, phase)
        else:
            self._values(case, operator, record, phase)
        if case.advisory and record["status"] in ("failed", "error", "refused_wrongly"):
            record["status"] = "failed" if self.options.advisory == "fail" else "advice"
        return record

    def close(self) -> None:
        """Free what the runner holds; the pool calls it when there are no more cases."""
        self.runner.close()

    def _refusal(self, case: Case, operator: Operator, record: Record, phase: Phase) -> None:
        phase("execute")
        execution = self.runner.run(case, operator, {})
        record["seconds"]["execute"] = execution.seconds
        record["diagnostics"] += execution.diagnostics
        assert case.reject is not None
        accepted = operator.refusals[case.reject]
        status = execution.aclnn_status
        if execution.outcome == "refused" and status in accepted and execution.untouched:
            record["status"] = "passed"
        elif execution.outcome == "refused" and status not in accepted:
            wanted = " or ".join(map(str, accepted))
            record.update(
                status="refused_wrongly", reason=f"refused with status {status}, {case.reject} wants {wanted}"
            )
        elif execution.outcome == "refused":
            record.update(status="failed", reason=f"refused ({case.reject}), yet wrote to an output")
        elif execution.outcome in ("ran", "failed"):
            record.update(status="accepted_wrongly", reason=f"the contract refuses this case as {case.reject}; it ran")
        else:
            record.update(status=execution.outcome, reason=execution.reason)

    def _values(self, case: Case, operator: Operator, record: Record, phase: Phase) -> None:
        seconds = record["seconds"]
        clock = time.perf_counter
        began = clock()
        phase("generate")
        inputs = golden.inputs(case, operator)
        seconds["generate"] = clock() - began
        execution = self._execute(case, operator, inputs, record, phase)
        if execution is None:
            return
        phase("judge")
        began = clock()
        verdict = self._judge(case, operator, inputs, execution)
        seconds["judge"] = clock() - began
        record["outputs"] = [output.record() for output in verdict.outputs]
        record["untrusted"] = verdict.untrusted
        self._status(case, verdict, record)

    def _execute(
        self, case: Case, operator: Operator, inputs: Mapping[str, TensorData], record: Record, phase: Phase
    ) -> Execution | None:
        """The execution whose outputs are judged, or None where the record already says what went wrong."""
        first: Execution | None = None
        for label, variant in self._variants(case):
            phase("execute")  # the time limit is of one execution
            execution = self.runner.run(variant, operator, inputs)
            record["seconds"]["execute"] = record["seconds"].get("execute", 0.0) + execution.seconds
            record["diagnostics"] += execution.diagnostics
            if execution.outcome == "refused":
                reason = f"a legal case was refused with status {execution.aclnn_status}"
                record.update(
                    status="refused_wrongly", reason=f"{reason}: {execution.reason}" if execution.reason else reason
                )
                return None
            if execution.outcome != "ran":
                record.update(status=execution.outcome, reason=execution.reason)
                return None
            if first is None:
                first = execution
                continue
            for name in operator.outputs:
                same = _same_bits(first.outputs[name], execution.outputs[name])
                if not same:
                    message = f"{name} differs bit for bit {label}"
                    record["diagnostics"].append({"kind": "not_identical", "severity": "failure", "message": message})
        return first

    def _variants(self, case: Case) -> Iterator[tuple[str, Case]]:
        yield "", case
        for n in range(2, self.options.repeat + 1):
            yield f"between execution 1 and {n}", case
        if case.pair is not None:
            value = case.attributes[case.pair]
            other = replace(case, attributes={**case.attributes, case.pair: not value})
            yield f"between {case.pair}={value} and {case.pair}={not value}".lower(), other

    def _judge(
        self, case: Case, operator: Operator, inputs: Mapping[str, TensorData], execution: Execution
    ) -> CaseVerdict:
        profiles = self.options.profiles or case.profile

        def benchmark() -> dict[str, npt.NDArray[Any]]:
            return operator.benchmark(case, {name: data.array() for name, data in inputs.items()})

        blocks: Iterator[GoldenBlock] = operator.golden(case, inputs)
        return compare.judge_case(
            case,
            operator,
            blocks,
            execution.outputs,
            profiles=profiles,
            inputs=inputs,
            benchmark=benchmark,
            tiling=execution.tiling or operator.tiling(case, operator.cores),
            options=self.options.tolerances,
        )

    def _status(self, case: Case, verdict: CaseVerdict, record: Record) -> None:
        failures = [d for d in record["diagnostics"] if d["severity"] == "failure"]
        bad = [o for o in verdict.outputs if not o.passed]
        if failures:
            record.update(status="failed", reason=str(failures[0]["message"]))
        elif not verdict.decided:
            undecided = next(o for o in verdict.outputs if not o.decided)
            where = f"{undecided.name}, {undecided.profile}"
            record.update(status="error", reason=f"golden not accurate enough ({where}): {undecided.reason}")
        elif bad:
            record.update(status="failed", reason="; ".join(f"{o.name} ({o.profile}): {o.reason}" for o in bad))
        elif verdict.untrusted and case.trivial is None:
            record.update(status="untrusted", reason="; ".join(verdict.untrusted))
        else:
            record["status"] = "passed"
            if case.trivial is not None and not case.drawn and not verdict.untrusted:
                message = "declared trivial, yet nothing would pass without computing: drop the declaration"
                record["diagnostics"].append({"kind": "trivial", "severity": "warning", "message": message})


def _same_bits(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> bool:
    """Bit-for-bit equality, by blocks: no temporary of the tensor's size."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return False
    left = np.ascontiguousarray(a).reshape(-1).view(np.uint8)
    right = np.ascontiguousarray(b).reshape(-1).view(np.uint8)
    step = 1 << 20
    return all(np.array_equal(left[i : i + step], right[i : i + step]) for i in range(0, left.size, step))
