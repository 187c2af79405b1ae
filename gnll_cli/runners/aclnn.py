"""The two-stage ACLNN interface, driven with ctypes: what backends on the simulator and on the device share.

``aclnn<Op>GetWorkspaceSize(inputs, attributes, outputs, &workspaceSize, &executor)`` checks and prepares, ``aclnn<Op>(workspace,
workspaceSize, executor, stream)`` runs. Tensors lie in device memory in the layout that the case asks for, and reach the operator
as sizes, strides and offset. Outputs are full of the dtype's fill before the run; inputs are read back after it and must
be as they were. A case that must be refused gets tensors of its shapes on a few bytes of memory: only the first stage is called.

A subclass says where the functions come from; nothing else here depends on it.
"""

from __future__ import annotations

import ctypes
import time
from abc import abstractmethod
from collections.abc import Mapping
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from typing import Any

import numpy as np
import numpy.typing as npt

from gnll_cli.cases.model import Case, Shape
from gnll_cli.errors import UnavailableError
from gnll_cli.golden.interface import TensorData
from gnll_cli.operators.interface import Operator, Tiling
from gnll_cli.runners.interface import Execution, Runner, RunnerOptions
from gnll_cli.runners.memory import GUARD, Input, Output

#: dtype -> aclDataType.
ACL_DTYPES = {
    "fp32": 0,
    "fp16": 1,
    "int8": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 6,
    "int64": 9,
    "fp64": 11,
    "bool": 12,
    "bf16": 27,
}
FORMAT_ND = 2
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2
HUGE_FIRST = 0
#: Bytes of each tensor of a case that must be refused, whatever its shape asks for.
REFUSED_BYTES = 256
_FILL = 0xA5
_INT64_MAX = (1 << 63) - 1

Finding = dict[str, Any]


class AclError(Exception):
    """A function of the ACL runtime that failed: the harness's own calls, not the operator."""


class AclnnRunner(Runner):
    """Runs cases through an operator's ACLNN functions, on device 0."""

    #: Bytes around every tensor in device memory that must stay as they were; 0 where the device itself watches each allocation.
    guard: int = GUARD

    def __init__(self, options: RunnerOptions) -> None:
        super().__init__(options)
        self.acl = Acl(self.runtime_library())
        self.acl.open()
        self._functions: dict[str, tuple[Any, Any]] = {}

    @abstractmethod
    def runtime_library(self) -> ctypes.CDLL:
        """The library with the functions whose names begin with acl; ``UnavailableError`` where it cannot be loaded."""

    @abstractmethod
    def operator_library(self, operator: Operator) -> ctypes.CDLL:
        """The library with the operator's two functions; ``UnavailableError`` where it cannot be loaded."""

    def begin(self) -> None:
        """Called before each execution."""
        return

    def observed(self, case: Case, operator: Operator) -> list[Finding]:
        """Called after each execution: what the device itself found."""
        return []

    def launched(self, case: Case, operator: Operator) -> Tiling | None:
        """The tiling that the execution used, where the device tells it."""
        return None

    def run(self, case: Case, operator: Operator, inputs: Mapping[str, TensorData]) -> Execution:
        first, second = self._aclnn(operator)
        self.begin()
        with _Memory(self.acl, self.guard) as memory:
            try:
                if case.reject is not None:
                    return self._refuse(case, operator, first, memory)
                return self._execute(case, operator, inputs, first, second, memory)
            except AclError as error:
                return Execution("error", reason=str(error), diagnostics=self.observed(case, operator))

    def close(self) -> None:
        self.acl.close()

    def _aclnn(self, operator: Operator) -> tuple[Any, Any]:
        found = self._functions.get(operator.name)
        if found is None:
            library = self.operator_library(operator)
            name = f"aclnn{operator.type}"
            first = _function(library, f"{name}GetWorkspaceSize")
            first.argtypes = [
                *(c_void_p for _ in operator.inputs),
                *(_CTYPES[attribute.type] for attribute in operator.attributes),
                *(c_void_p for _ in operator.outputs),
                POINTER(c_uint64),
                POINTER(c_void_p),
            ]
            second = _function(library, name)
            second.argtypes = [c_void_p, c_uint64, c_void_p, c_void_p]
            found = self._functions[operator.name] = (first, second)
        return found

    def _first(
        self, case: Case, operator: Operator, function: Any, tensors: Mapping[str, int]
    ) -> tuple[int, int, c_void_p]:
        """Call the first stage: its status, the workspace's bytes and the executor."""
        size, executor = c_uint64(), c_void_p()
        attributes = []
        for attribute in operator.attributes:
            value = case.attributes[attribute.name]
            attributes.append(value.encode() if isinstance(value, str) else value)
        status = function(
            *(tensors.get(name) for name in operator.inputs),
            *attributes,
            *(tensors.get(name) for name in operator.outputs),
            byref(size),
            byref(executor),
        )
        return int(status), size.value, executor

    def _refuse(self, case: Case, operator: Operator, first: Any, memory: _Memory) -> Execution:
        tensors: dict[str, int] = {}
        held: dict[str, int] = {}
        before = np.full(REFUSED_BYTES, _FILL, np.uint8)
        for name in operator.tensors:
            if name in case.null:
                continue
            held[name] = memory.place(before)
            shape = case.shapes[name]
            tensors[name] = memory.tensor(case.dtypes[name], shape, _contiguous(shape), 0, shape, held[name])
        began = time.perf_counter()
        status, _, _ = self._first(case, operator, first, tensors)
        seconds = time.perf_counter() - began
        after = np.empty_like(before)
        changed = []
        for name, address in held.items():
            memory.fetch(after, address)
            if not np.array_equal(before, after):
                changed.append(name)
        execution = Execution("ran", aclnn_status=status, seconds=seconds)
        execution.diagnostics = self.observed(case, operator)
        if status != 0:
            execution.outcome = "refused"
            execution.reason = self.acl.message()
        execution.untouched = not any(name in operator.outputs for name in changed)
        for name in changed:
            message = f"the first stage wrote to {name}"
            execution.diagnostics.append(
                {"kind": "refusal_wrote", "severity": "failure", "message": message, "tensor": name}
            )
        return execution

    def _execute(
        self,
        case: Case,
        operator: Operator,
        inputs: Mapping[str, TensorData],
        first: Any,
        second: Any,
        memory: _Memory,
    ) -> Execution:
        tensors: dict[str, int] = {}
        placed = [Input(name, data, case.layout.get(name, "contiguous")) for name, data in inputs.items()]
        outputs = [Output(n, case.dtypes[n], case.shapes[n]) for n in operator.outputs if n not in case.null]
        addresses: list[int] = []
        for tensor in placed:
            addresses.append(memory.place_guarded(tensor.raw))
            shape = tensor.view.shape
            tensors[tensor.name] = memory.tensor(
                case.dtypes[tensor.name], shape, tensor.strides, tensor.offset, (tensor.storage.size,), addresses[-1]
            )
        for output in outputs:
            addresses.append(memory.place_guarded(output.raw))
            shape = output.array.shape
            tensors[output.name] = memory.tensor(
                case.dtypes[output.name], shape, _contiguous(shape), 0, shape, addresses[-1]
            )
        began = time.perf_counter()
        status, size, executor = self._first(case, operator, first, tensors)
        if status != 0:
            seconds = time.perf_counter() - began
            return Execution(
                "refused",
                aclnn_status=status,
                reason=self.acl.message(),
                diagnostics=self.observed(case, operator),
                seconds=seconds,
            )
        workspace = memory.allocate(size) if size else None
        status = int(second(workspace, size, executor, self.acl.stream))
        stage = f"aclnn{operator.type}"
        if status == 0:
            status = self.acl.synchronize()
            stage = "waiting for the stream"
        execution = Execution("ran", aclnn_status=0, seconds=time.perf_counter() - began)
        execution.diagnostics = self.observed(case, operator)
        execution.tiling = self.launched(case, operator)
        if status != 0:
            said = self.acl.message()
            execution.outcome = "failed"
            execution.aclnn_status = status
            execution.reason = f"{stage} gave {status}{f': {said}' if said else ''}"
            return execution
        places: list[Input | Output] = [*placed, *outputs]
        for place, address in zip(places, addresses, strict=True):
            memory.fetch_guarded(place.raw, address)
            execution.diagnostics += place.findings()
        execution.outputs = {output.name: output.array for output in outputs}
        return execution


_CTYPES: dict[str, Any] = {
    "bool": c_bool,
    "float": c_double,
    "int": c_int64,
    "string": c_char_p,
}


def _contiguous(shape: Shape) -> tuple[int, ...]:
    """Strides of C order in elements. Shapes that must be refused may be absurd: what no int64 holds is cut to the largest."""
    strides: list[int] = []
    step = 1
    for dim in reversed(shape):
        strides.append(step)
        step = min(step * max(dim, 1), _INT64_MAX)
    return tuple(reversed(strides))


def _function(library: ctypes.CDLL, name: str) -> Any:
    try:
        function = getattr(library, name)
    except AttributeError:
        raise UnavailableError(
            f"the library has no {name}", where=str(library._name), hint="it is not of this operator, or not whole"
        ) from None
    function.restype = c_int
    return function


class Acl:
    """The functions of the ACL runtime that a run needs, on one device and one stream."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self.stream = c_void_p()
        self._init = _typed(library, "aclInit", c_char_p)
        self._finalize = _typed(library, "aclFinalize")
        self._set_device = _typed(library, "aclrtSetDevice", c_int32)
        self._reset_device = _typed(library, "aclrtResetDevice", c_int32)
        self._create_stream = _typed(library, "aclrtCreateStream", POINTER(c_void_p))
        self._destroy_stream = _typed(library, "aclrtDestroyStream", c_void_p)
        self._synchronize = _typed(library, "aclrtSynchronizeStream", c_void_p)
        self._malloc = _typed(library, "aclrtMalloc", POINTER(c_void_p), c_size_t, c_int)
        self._free = _typed(library, "aclrtFree", c_void_p)
        self._memcpy = _typed(library, "aclrtMemcpy", c_void_p, c_size_t, c_void_p, c_size_t, c_int)
        self._create_tensor = _function(library, "aclCreateTensor")
        self._create_tensor.restype = c_void_p
        self._create_tensor.argtypes = [
            c_void_p,
            c_uint64,
            c_int,
            c_void_p,
            c_int64,
            c_int,
            c_void_p,
            c_uint64,
            c_void_p,
        ]
        self._destroy_tensor = _typed(library, "aclDestroyTensor", c_void_p)
        self._message = _function(library, "aclGetRecentErrMsg")
        self._message.restype = c_char_p
        self._message.argtypes = []

    def open(self) -> None:
        """Initialise the runtime, take device 0 and make a stream; ``UnavailableError`` where the device cannot be used."""
        for what, status in (
            ("aclInit", self._init(None)),
            ("aclrtSetDevice(0)", self._set_device(0)),
            ("aclrtCreateStream", self._create_stream(byref(self.stream))),
        ):
            if status != 0:
                raise UnavailableError(f"{what} gave {status}: {self.message()}", where="the device")

    def close(self) -> None:
        self._destroy_stream(self.stream)
        self._reset_device(0)
        self._finalize()

    def message(self) -> str:
        """What the runtime says of the last error, in one line; nothing where it says nothing."""
        text = self._message()
        return " ".join(text.decode(errors="replace").split()) if text else ""

    def synchronize(self) -> int:
        return int(self._synchronize(self.stream))

    def allocate(self, size: int) -> int:
        address = c_void_p()
        status = self._malloc(byref(address), size, HUGE_FIRST)
        if status != 0 or address.value is None:
            raise AclError(f"aclrtMalloc of {size} bytes gave {status}: {self.message()}")
        return address.value

    def free(self, address: int) -> None:
        self._free(address)

    def copy(self, target: int, source: int, size: int, kind: int) -> None:
        status = self._memcpy(target, size, source, size, kind)
        if status != 0:
            raise AclError(f"aclrtMemcpy of {size} bytes gave {status}: {self.message()}")

    def create_tensor(
        self, dtype: int, shape: Shape, strides: Shape, offset: int, storage: Shape, address: int | None
    ) -> int:
        sizes, steps, stored = _int64s(shape), _int64s(strides), _int64s(storage)
        tensor = self._create_tensor(sizes, len(shape), dtype, steps, offset, FORMAT_ND, stored, len(storage), address)
        if tensor is None:
            raise AclError(f"aclCreateTensor of shape {list(shape)} failed: {self.message()}")
        return int(tensor)

    def destroy_tensor(self, tensor: int) -> None:
        self._destroy_tensor(tensor)


def _typed(library: ctypes.CDLL, name: str, *arguments: Any) -> Any:
    function = _function(library, name)
    function.argtypes = list(arguments)
    return function


def _int64s(values: Shape) -> Any:
    return (c_int64 * len(values))(*values)


class _Memory:
    """Device memory and tensors of one execution: freed at its end, whatever happened."""

    def __init__(self, acl: Acl, guard: int) -> None:
        self._acl = acl
        self._guard = guard
        self._allocated: list[int] = []
        self._tensors: list[int] = []

    def __enter__(self) -> _Memory:
        return self

    def __exit__(self, *_: object) -> None:
        for tensor in self._tensors:
            self._acl.destroy_tensor(tensor)
        for address in self._allocated:
            self._acl.free(address)

    def allocate(self, size: int) -> int:
        address = self._acl.allocate(size)
        self._allocated.append(address)
        return address

    def tensor(self, dtype: str, shape: Shape, strides: Shape, offset: int, storage: Shape, address: int) -> int:
        """A tensor on device memory; ``address`` 0 is the memory of a tensor without elements."""
        made = self._acl.create_tensor(ACL_DTYPES[dtype], shape, strides, offset, storage, address or None)
        self._tensors.append(made)
        return made

    def place(self, data: npt.NDArray[np.uint8]) -> int:
        """Device memory with these bytes; 0 for none."""
        if data.size == 0:
            return 0
        address = self.allocate(data.size)
        self._acl.copy(address, data.ctypes.data, data.size, HOST_TO_DEVICE)
        return address

    def fetch(self, data: npt.NDArray[np.uint8], address: int) -> None:
        """Read back what ``place`` placed."""
        if data.size:
            self._acl.copy(data.ctypes.data, address, data.size, DEVICE_TO_HOST)

    def place_guarded(self, raw: npt.NDArray[np.uint8]) -> int:
        """Device memory with ``raw`` less all but ``guard`` bytes of its guards; the address of the first byte after them."""
        address = self.place(self._within(raw))
        return address + self._guard if address else 0

    def fetch_guarded(self, raw: npt.NDArray[np.uint8], address: int) -> None:
        """Read back what ``place_guarded`` placed, guards and all."""
        if address:
            self.fetch(self._within(raw), address - self._guard)

    def _within(self, raw: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        cut = GUARD - self._guard
        return raw[cut : raw.size - cut]
