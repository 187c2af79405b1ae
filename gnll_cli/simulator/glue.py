"""The C++ that is generated around a package: what the toolkit's code generator and its kernel build would add.

From the registered prototype come the two functions of the ACLNN interface (parameters: inputs, attributes, outputs, each in the
order of the prototype; a float attribute is a double, a string a char *, an integer int64_t, a list the aclXxxArray of it) and, for
each dtype column, the macros by which a kernel learns its types: DTYPE_<NAME>, ORIG_DTYPE_<NAME> and FORMAT_<NAME>, NAME in upper case
(an output named as an input gets _REF).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gnll_cli.errors import UsageError
from gnll_cli.simulator.package import Kernel, snake

#: acl data type -> (its enumerator, the type of an element in a kernel). The numbers are those of aclDataType.
DTYPES = {
    0: ("DT_FLOAT", "float"),
    1: ("DT_FLOAT16", "half"),
    2: ("DT_INT8", "int8_t"),
    3: ("DT_INT32", "int32_t"),
    4: ("DT_UINT8", "uint8_t"),
    6: ("DT_INT16", "int16_t"),
    7: ("DT_UINT16", "uint16_t"),
    8: ("DT_UINT32", "uint32_t"),
    9: ("DT_INT64", "int64_t"),
    10: ("DT_UINT64", "uint64_t"),
    11: ("DT_DOUBLE", "double"),
    12: ("DT_BOOL", "bool"),
    27: ("DT_BF16", "bfloat16_t"),
}
#: acl format -> its enumerator's ending; the same numbers are in include/gnll/numbers.h.
FORMATS = {0: "NCHW", 1: "NHWC", 2: "ND", 27: "NDHWC", 29: "FRACTAL_NZ", 30: "NCDHW", 47: "NCL"}
#: Type of an attribute in the prototype -> type of the parameter of the ACLNN function.
ATTRIBUTES = {
    "bool": "bool",
    "float": "double",
    "int": "int64_t",
    "str": "char *",
    "string": "char *",
    "listBool": "const aclBoolArray *",
    "listFloat": "const aclFloatArray *",
    "listInt": "const aclIntArray *",
    "list_bool": "const aclBoolArray *",
    "list_float": "const aclFloatArray *",
    "list_int": "const aclIntArray *",
}
_PARAMS = {
    "required": "const aclTensor *",
    "optional": "const aclTensor *",
}


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of a prototype: its acl data type and format for each column."""

    name: str
    param: str
    dtypes: tuple[int, ...]
    formats: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Prototype:
    """A registered operator, as the host library tells it."""

    type: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    #: (name, type) in the order of the definition.
    attributes: tuple[tuple[str, str], ...]
    socs: tuple[str, ...]

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        return self.inputs + self.outputs

    @property
    def columns(self) -> int:
        return max((len(t.dtypes) for t in self.tensors), default=0)

    def column_of(self, dtypes: Sequence[int]) -> int | None:
        """The first column that has these acl data types for inputs and outputs, in their order; None where there is none."""
        wanted = tuple(dtypes)
        for column in range(self.columns):
            if tuple(t.dtypes[column] for t in self.tensors) == wanted:
                return column
        return None


def prototypes(text: str) -> list[Prototype]:
    """The prototypes in what the runtime tells of a host library as JSON; ``UsageError`` for one that cannot be."""
    return [_prototype(entry) for entry in json.loads(text)["operators"]]


def _prototype(entry: dict[str, Any]) -> Prototype:
    found = Prototype(
        entry["name"],
        tuple(_tensor(t) for t in entry["inputs"]),
        tuple(_tensor(t) for t in entry["outputs"]),
        tuple((a["name"], a["type"]) for a in entry["attrs"]),
        tuple(entry["socs"]),
    )
    counts = {t.name: len(t.dtypes) for t in found.tensors}
    if len(set(counts.values())) > 1 or 0 in counts.values():
        listed = ", ".join(f"{name} {count}" for name, count in counts.items())
        raise UsageError(
            f"the prototype of {found.type} has columns of different lengths: {listed}",
            hint="DataType({...}) of every input and output must list the same number of types",
        )
    for tensor in found.tensors:
        unknown = [code for code in tensor.dtypes if code not in DTYPES]
        if unknown:
            raise UsageError(f"the data type {unknown[0]} of {found.type}'s {tensor.name} is not simulated")
        strange = [code for code in tensor.formats if code not in FORMATS]
        if strange:
            raise UsageError(f"the format {strange[0]} of {found.type}'s {tensor.name} is not simulated")
        if tensor.param not in _PARAMS:
            raise UsageError(f"the parameter type {tensor.param} of {found.type}'s {tensor.name} is not simulated")
    for name, kind in found.attributes:
        if kind not in ATTRIBUTES:
            raise UsageError(f"the attribute type {kind} of {found.type}'s {name} is not simulated")
    return found


def _tensor(entry: dict[str, Any]) -> Tensor:
    return Tensor(entry["name"], str(entry["param"]).lower(), tuple(entry["dtypes"]), tuple(entry["formats"]))


def macros(prototype: Prototype, column: int) -> list[str]:
    """The macros of a dtype column, as options of the compiler."""
    options = []
    inputs = {t.name.upper() for t in prototype.inputs}
    for position, tensor in enumerate(prototype.tensors):
        name = tensor.name.upper()
        if position >= len(prototype.inputs) and name in inputs:
            name += "_REF"
        enumerator, element = DTYPES[tensor.dtypes[column]]
        form = tensor.formats[column] if column < len(tensor.formats) else 2
        options += [f"-DDTYPE_{name}={element}", f"-DORIG_DTYPE_{name}={enumerator}"]
        options.append(f"-DFORMAT_{name}=FORMAT_{FORMATS[form]}")
    return options


def signature(prototype: Prototype) -> list[tuple[str, str, str]]:
    """The parameters of aclnn<Op>GetWorkspaceSize up to the workspace: (type, name, the call that hands it on)."""
    parameters = []
    for tensor in prototype.inputs:
        parameters.append((_PARAMS[tensor.param], tensor.name, "Input"))
    for name, kind in prototype.attributes:
        parameters.append((ATTRIBUTES[kind], name, "Attr"))
    taken = {name for _, name, _ in parameters}
    for tensor in prototype.outputs:
        # An output named as an input is one tensor in the prototype's eyes; the parameters need two names.
        parameters.append((_PARAMS[tensor.param], tensor.name, "Output"))
        if tensor.name in taken:
            parameters[-1] = (_PARAMS[tensor.param], f"{tensor.name}Ref", "Output")
    return parameters


def _declaration(prototype: Prototype) -> tuple[str, str]:
    """The two functions' heads, without an ending."""
    lines = [f"    {kind}{'' if kind.endswith('*') else ' '}{name}" for kind, name, _ in signature(prototype)]
    lines += ["    uint64_t *workspaceSize", "    aclOpExecutor **executor"]
    first = f"aclnnStatus aclnn{prototype.type}GetWorkspaceSize(\n" + ",\n".join(lines) + ")"
    second = (
        f"aclnnStatus aclnn{prototype.type}(\n    void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, "
        "aclrtStream stream)"
    )
    return first, second


def header(prototype: Prototype) -> str:
    """The text of aclnn_<op>.h."""
    guard = f"ACLNN_{snake(prototype.type).upper()}_H_"
    first, second = _declaration(prototype)
    return f"""// Generated by gnll from the registered prototype of {prototype.type}.
#ifndef {guard}
#define {guard}
#include "aclnn/acl_meta.h"

#ifdef __cplusplus
extern "C" {{
#endif

__attribute__((visibility("default"))) {first};

__attribute__((visibility("default"))) {second};

#ifdef __cplusplus
}}
#endif
#endif
"""


def header_name(prototype: Prototype) -> str:
    """``aclnn_gaussian_nll_loss_grad.h`` of ``GaussianNllLossGrad``."""
    return f"aclnn_{snake(prototype.type)}.h"


def host(found: Sequence[Prototype]) -> str:
    """The text of the glue of a host library: both functions for every operator, and a door by which kernels are made known."""
    parts = [
        "// Generated by gnll from the registered prototypes.",
        "#include <cstdint>",
        "",
        '#include "gnll/aclnn.h"',
    ]
    parts += [f'#include "{header_name(p)}"' for p in found]
    for prototype in found:
        first, second = _declaration(prototype)
        parts += ["", first, "{", f'    gnll::Call call("{prototype.type}");']
        tensors = iter([t.name for t in prototype.inputs] + [n for n, _ in prototype.attributes])
        outputs = iter(t.name for t in prototype.outputs)
        for _, name, call in signature(prototype):
            own = next(outputs) if call == "Output" else next(tensors)
            parts.append(f'    call.{call}("{own}", {name});')
        parts += ["    return call.Prepare(workspaceSize, executor);", "}", "", second, "{"]
        parts += ["    return gnll::Run(workspace, workspaceSize, executor, stream);", "}"]
    parts += [
        "",
        'extern "C" __attribute__((visibility("default"))) void gnllGlueKernel(',
        "    const char *operatorType, uint32_t column, const char *path)",
        "{",
        "    gnll::RegisterKernel(operatorType, column, path);",
        "}",
    ]
    return "\n".join(parts) + "\n"


def kernel(found: Kernel, prototype: Prototype) -> str:
    """The text of a kernel library's one source: the package's own, and the entry by which the runtime calls it.

    The entry's arguments are the addresses of inputs, outputs, workspace and tiling, in this order.
    """
    count = len(prototype.tensors) + 2
    if found.parameters != count:
        raise UsageError(
            f"the kernel function {found.function} has {found.parameters} parameters, {count} are wanted: "
            f"{', '.join(t.name for t in prototype.tensors)}, workspace, tiling",
            where=str(found.source),
            hint="a kernel takes every input and output of the prototype in its order, then workspace and tiling",
        )
    if found.template:
        raise UsageError(
            f"the kernel function {found.function} is a template ({found.template}), which is not simulated yet",
            where=str(found.source),
            hint="kernels that choose with TILING_KEY_IS or without a key are simulated",
        )
    arguments = ", ".join(f"arguments[{i}]" for i in range(count))
    return f"""// Generated by gnll: the package's kernel and its entry.
#include "gnll/numbers.h"
#include "{_quoted(found.source)}"

extern "C" __attribute__((visibility("default"))) void gnll_kernel_entry(uint8_t **arguments)
{{
    {found.function}({arguments});
}}
"""


def _quoted(path: Path) -> str:
    return str(path).replace("\\", "\\\\").replace('"', '\\"')
