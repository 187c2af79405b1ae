"""The generated C++: signatures, macros and entries, against what the toolkit's generator derives from the same prototype."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gnll_cli.errors import UsageError
from gnll_cli.simulator import glue
from gnll_cli.simulator.package import Kernel


def tensor(name: str, dtypes: list[int], param: str = "required") -> dict[str, Any]:
    return {"name": name, "param": param, "dtypes": dtypes, "formats": [2] * len(dtypes), "autoContiguous": True}


def attribute(name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "type": kind, "required": False, "default": None}


def prototype(**changes: Any) -> glue.Prototype:
    entry = {
        "name": "ScaleAll",
        "inputs": [tensor("gradOutput", [0, 1, 27]), tensor("index", [3, 3, 3], "optional")],
        "outputs": [tensor("gradInput", [0, 1, 27]), tensor("index", [3, 3, 9])],
        "attrs": [
            attribute("full", "bool"),
            attribute("eps", "float"),
            attribute("axis", "int"),
            attribute("mode", "string"),
            attribute("axes", "listInt"),
            attribute("scales", "listFloat"),
        ],
        "socs": ["ascend910b"],
        **changes,
    }
    return glue.prototypes(json.dumps({"operators": [entry]}))[0]


def test_macros_of_a_column() -> None:
    assert glue.macros(prototype(), 2) == [
        "-DDTYPE_GRADOUTPUT=bfloat16_t",
        "-DORIG_DTYPE_GRADOUTPUT=DT_BF16",
        "-DFORMAT_GRADOUTPUT=FORMAT_ND",
        "-DDTYPE_INDEX=int32_t",
        "-DORIG_DTYPE_INDEX=DT_INT32",
        "-DFORMAT_INDEX=FORMAT_ND",
        "-DDTYPE_GRADINPUT=bfloat16_t",
        "-DORIG_DTYPE_GRADINPUT=DT_BF16",
        "-DFORMAT_GRADINPUT=FORMAT_ND",
        "-DDTYPE_INDEX_REF=int64_t",
        "-DORIG_DTYPE_INDEX_REF=DT_INT64",
        "-DFORMAT_INDEX_REF=FORMAT_ND",
    ]


def test_the_signature_of_the_first_stage() -> None:
    assert [(kind, name) for kind, name, _ in glue.signature(prototype())] == [
        ("const aclTensor *", "gradOutput"),
        ("const aclTensor *", "index"),
        ("bool", "full"),
        ("double", "eps"),
        ("int64_t", "axis"),
        ("char *", "mode"),
        ("const aclIntArray *", "axes"),
        ("const aclFloatArray *", "scales"),
        ("const aclTensor *", "gradInput"),
        ("const aclTensor *", "indexRef"),
    ]


def test_the_header_and_the_host_glue_declare_the_same() -> None:
    found = prototype()
    head = "aclnnStatus aclnnScaleAllGetWorkspaceSize(\n    const aclTensor *gradOutput,\n    const aclTensor *index,\n    bool full,"
    assert glue.header_name(found) == "aclnn_scale_all.h"
    assert head in glue.header(found)
    text = glue.host([found])
    assert head in text
    for line in (
        '    gnll::Call call("ScaleAll");',
        '    call.Input("index", index);',
        '    call.Attr("eps", eps);',
        '    call.Output("index", indexRef);',
    ):
        assert line in text.splitlines()


def test_columns_are_found_by_the_types_of_all_tensors() -> None:
    found = prototype()
    assert found.columns == 3
    assert found.column_of([0, 3, 0, 3]) == 0
    assert found.column_of([27, 3, 27, 9]) == 2
    assert found.column_of([27, 3, 27, 3]) is None


def test_the_entry_hands_the_addresses_on_in_their_order() -> None:
    text = glue.kernel(Kernel(Path("/p/op_kernel/scale_all.cpp"), "scale_all", 6), prototype())
    assert '#include "/p/op_kernel/scale_all.cpp"' in text
    assert "scale_all(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);" in text


def test_a_kernel_with_too_few_parameters_is_refused_with_what_is_wanted() -> None:
    with pytest.raises(
        UsageError, match="has 5 parameters, 6 are wanted: gradOutput, index, gradInput, index, workspace"
    ):
        glue.kernel(Kernel(Path("k.cpp"), "scale_all", 5), prototype())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"inputs": [tensor("x", [0, 1])]}, "columns of different lengths: x 2, gradInput 3"),
        ({"inputs": [tensor("x", [0, 1, 16])]}, "the data type 16 of ScaleAll's x is not simulated"),
        (
            {"inputs": [tensor("x", [0, 1, 27], "dynamic")]},
            "the parameter type dynamic of ScaleAll's x is not simulated",
        ),
        ({"attrs": [attribute("a", "listListInt")]}, "the attribute type listListInt of ScaleAll's a is not simulated"),
    ],
)
def test_what_is_not_simulated_is_said_by_name(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        prototype(**changes)
    assert said in str(caught.value)
