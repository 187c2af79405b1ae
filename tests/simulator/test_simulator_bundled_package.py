"""The bundled package on the simulator: its tiling data, the same bits on any number of cores, refusals by name, its weak spots."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gnll_cli import cases, golden, operators, pipeline
from gnll_cli.cases.model import Case
from gnll_cli.operators.interface import Operator
from gnll_cli.runners.interface import RunnerOptions
from gnll_cli.runners.sim import SimRunner
from gnll_cli.simulator import compiler

CASES = Path(__file__).parents[2] / "cases"
TENSORS = ("gradOutput", "input", "target", "var", "gradInput", "gradVar")
FIELDS = [
    *("smallCoreDataNum", "bigCoreDataNum", "finalBigTileNum", "finalSmallTileNum", "tileDataNum"),
    *("smallTailDataNum", "bigTailDataNum", "tailBlockNum", "totalDataNum", "targetDataNum", "varDataNum"),
    *("targetBroadcastAxisSize", "targetInnerStride", "targetBroadcastMode", "varBroadcastMode", "varReduceSize"),
    *("reduction", "eps", "meanScale"),
]

pytestmark = pytest.mark.skipif(compiler.missing() is not None, reason="no C++ compiler")


@pytest.fixture(scope="module")
def options() -> RunnerOptions:
    dtypes = frozenset(tuple((tensor, dtype) for tensor in TENSORS) for dtype in ("fp32", "fp16", "bf16"))
    return SimRunner.prepare(RunnerOptions("sim"), {"gaussian_nll_loss_grad": dtypes}, lambda text: None)


@pytest.fixture
def runner(options: RunnerOptions) -> Iterator[Callable[..., SimRunner]]:
    """Makes runners with other options; the simulator's settings are global, so each sets all of them."""
    made: list[SimRunner] = []

    def make(checks: str = "all", cores: int = 48, shuffle: str = "") -> SimRunner:
        extra = {**options.extra, "checks": checks, "cores": str(cores), "shuffle": shuffle}
        for old in made:
            old.close()
        made[:] = [SimRunner(replace(options, extra=extra))]
        return made[0]

    yield make
    # As the other tests of this process find it.
    make().close()


@pytest.fixture(scope="module")
def operator() -> Operator:
    return operators.get("gaussian_nll_loss_grad")


def some(files: str, step: int) -> list[Case]:
    """Every ``step``-th legal case of case files."""
    suite = cases.load([CASES / f"{name}.yaml" for name in files.split()])
    return [case for case in suite if case.reject is None][::step]


def test_tiling_data_are_those_of_the_contract(runner: Callable[..., SimRunner], operator: Operator) -> None:
    sim = runner()
    for case in some("matrix cores boundaries empty scalars reduce-sizes var-units", 17):
        assert sim.run(case, operator, golden.inputs(case, operator)).outcome == "ran"
        launch = json.loads(sim._runtime.gnllSimLaunch())
        told = dict(zip(FIELDS, struct.unpack("<17I2f", bytes.fromhex(launch["tilingBytes"])), strict=True))
        expected = operator.tiling(case, 48)
        assert told == dict(expected.fields), case.id
        assert list(expected.fields) == FIELDS
        assert (launch["blockDim"], launch["tilingKey"], launch["workspace"]) == (expected.cores, 0, 0)


def test_the_bits_do_not_depend_on_the_cores(runner: Callable[..., SimRunner], operator: Operator) -> None:
    chosen = some("smoke reduce-sizes var-units", 40)
    inputs = [golden.inputs(case, operator) for case in chosen]

    def results(sim: SimRunner) -> list[bytes]:
        done = [sim.run(case, operator, data) for case, data in zip(chosen, inputs, strict=True)]
        return [run.outputs[name].tobytes() for run in done for name in operator.outputs]

    expected = results(runner())
    for cores in (1, 2, 7, 20, 40):
        assert results(runner(cores=cores)) == expected, f"{cores} cores"
    for seed in range(5):
        assert results(runner(shuffle=str(seed))) == expected, f"shuffle {seed}"


def test_tiling_refuses_by_the_name_that_the_contract_has(runner: Callable[..., SimRunner], operator: Operator) -> None:
    sim = runner()
    seen = set()
    for case in cases.load([CASES / "refusals.yaml"]):
        assert case.reject is not None
        # Null pointers and data types are the interface's to refuse, before tiling.
        if case.reject != "null_pointer" and "dtype" not in case.reject:
            done = sim.run(case, operator, {})
            assert (done.outcome, done.aclnn_status) == ("refused", 561002)
            assert f" {case.reject}: " in done.reason
            seen.add(case.reject)
    assert len(seen) == 14


def test_what_the_documentation_says_does_not_pass(options: RunnerOptions) -> None:
    run = pipeline.start(pipeline.PipelineOptions(replace(options, extra={**options.extra, "checks": "all"})))
    records = [run(case, lambda phase: None) for case in cases.load([CASES / "extreme.yaml"])]
    assert [record["id"] for record in records if record["diagnostics"]] == []
    data = [record["id"].rpartition("-")[2] for record in records if record["status"] != "passed"]
    assert (len(records), len(data), data.count("d_overflows")) == (80, 12, 8)
    assert set(data) == {"d_overflows", "input_largest", "target_largest"}
