"""A case as a folder of raw files: what gen-data writes, what ``gnll compare FOLDER`` and the exec runner read.

``<input>.bin``, ``<output>_golden.bin`` (in the case's dtype or another), ``<output>_golden.f64.bin`` and ``case.json``.
``case.json`` is written last: a folder without it is not finished.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from gnll_cli import dtypes, operators
from gnll_cli.cases.model import LAYOUTS, Attribute, Case, Distribution
from gnll_cli.dtypes import DTYPES
from gnll_cli.errors import RawFileError, UsageError, nearest
from gnll_cli.golden.data import RawFileData
from gnll_cli.golden.data import inputs as drawn_inputs
from gnll_cli.golden.interface import BLOCK, TensorData
from gnll_cli.golden.raw import RawWriter, sha256_of
from gnll_cli.operators.interface import Operator

CASE_FILE = "case.json"
#: Version of the layout of case.json.
SCHEMA = 1


def _json_attribute(value: Attribute) -> Attribute:
    """Strict JSON has no NaN and no infinities: they are written as text."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def document(case: Case, sha256: Mapping[str, str], golden_dtypes: Mapping[str, str]) -> dict[str, Any]:
    """The contents of case.json: everything that decides how outputs of the case are judged.

    ``golden_dtypes`` is the dtype of ``<output>_golden.bin`` per output; empty where there is no golden.
    """
    return {
        "schema": SCHEMA,
        "id": case.id,
        "operator": case.operator,
        "dtype": case.dtype,
        "attributes": {name: _json_attribute(value) for name, value in case.attributes.items()},
        "shapes": {name: list(shape) for name, shape in case.shapes.items()},
        "dtypes": dict(case.dtypes),
        "layout": dict(case.layout),
        "null": list(case.null),
        "profile": list(case.profile),
        "seed": case.seed,
        "expect": "ok" if case.reject is None else {"reject": case.reject},
        "trivial": case.trivial,
        "advisory": case.advisory,
        "data": {name: distribution.text for name, distribution in case.data.items()},
        "golden_dtypes": dict(golden_dtypes),
        "sha256": dict(sorted(sha256.items())),
    }


def _write_document(folder: Path, contents: Mapping[str, Any]) -> None:
    text = json.dumps(contents, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    (folder / CASE_FILE).write_text(text, encoding="utf-8")


def _write_inputs(inputs: Mapping[str, TensorData], folder: Path) -> dict[str, str]:
    sums = {}
    for name, data in inputs.items():
        with RawWriter(folder / f"{name}.bin") as writer:
            for start in range(0, data.size, BLOCK):
                writer.write(data.read(start, min(start + BLOCK, data.size)))
        sums[f"{name}.bin"] = writer.sha256
    return sums


def write_inputs(case: Case, operator: Operator, inputs: Mapping[str, TensorData], folder: Path) -> None:
    """The inputs of a case and its case.json, without golden, into ``folder`` (made where it is missing).

    ``inputs`` may be empty, as it is for a case that must be refused: then case.json is all. ``OSError`` where it cannot be
    written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known = {name: inputs[name] for name in operator.inputs if name in inputs}
    _write_document(folder, document(case, _write_inputs(known, folder), {}))


def _write_golden(
    case: Case, operator: Operator, inputs: Mapping[str, TensorData], folder: Path, golden_dtypes: Mapping[str, str]
) -> dict[str, str]:
    sums = {}
    with contextlib.ExitStack() as stack:
        writers = {
            (output, suffix): stack.enter_context(RawWriter(folder / f"{output}_golden{suffix}.bin"))
            for output in operator.outputs
            for suffix in ("", ".f64")
        }
        for block in operator.golden(case, inputs):
            rounded = dtypes.round_to(block.value, DTYPES[golden_dtypes[block.output]])
            writers[block.output, ""].write(rounded)
            writers[block.output, ".f64"].write(block.value.astype("<f8", copy=False))
        for (output, suffix), writer in writers.items():
            sums[f"{output}_golden{suffix}.bin"] = writer.sha256
    return sums


def folder_of(case_id: str, root: Path) -> Path:
    """The folder of a case below ``root``; ``UsageError`` for an id that would leave it."""
    parts = PurePosixPath(case_id).parts
    if not parts or any(part in ("..", "/") or "\\" in part or ":" in part for part in parts):
        raise UsageError(f"the id '{case_id}' is no path below the output folder", hint="rename the case")
    return root.joinpath(*parts)


def write_case(case: Case, operator: Operator, root: Path, golden_dtype: str | None = None) -> Path:
    """Generate a case: its folder below ``root`` with inputs, golden and case.json; returns the folder.

    A case that must be refused has case.json alone. The folder appears as a whole or not at all; one that is there already is
    renewed file by file, with case.json removed first and written last, and files of others in it stay. ``OSError`` where it
    cannot be written.
    """
    folder = folder_of(case.id, root)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name[:40]}.", suffix=".partial", dir=folder.parent))
    try:
        golden_dtypes: dict[str, str] = {}
        sums: dict[str, str] = {}
        if case.reject is None:
            inputs = drawn_inputs(case, operator)
            golden_dtypes = {name: golden_dtype or case.dtypes[name] for name in operator.outputs}
            sums = _write_inputs(inputs, temporary)
            sums |= _write_golden(case, operator, inputs, temporary, golden_dtypes)
        _write_document(temporary, document(case, sums, golden_dtypes))
        _put_in_place(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return folder


def _put_in_place(temporary: Path, folder: Path) -> None:
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o777 & ~umask)
    if not folder.exists():
        temporary.rename(folder)
        return
    (folder / CASE_FILE).unlink(missing_ok=True)
    names = sorted(file.name for file in temporary.iterdir() if file.name != CASE_FILE)
    for name in [*names, CASE_FILE]:
        (temporary / name).replace(folder / name)


class _Reader:
    """Checked access to the parts of a case.json: every error names the file and the key."""

    def __init__(self, path: Path, contents: Mapping[str, Any]) -> None:
        self._path, self._contents = path, contents

    def error(self, what: str) -> UsageError:
        return UsageError(what, where=str(self._path), hint="write the folder again with `gnll gen-data`")

    def get(self, key: str, kind: type | tuple[type, ...], what: str) -> Any:
        if key not in self._contents:
            raise self.error(f"no key '{key}': it is no case.json of gen-data")
        value = self._contents[key]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is int):
            raise self.error(f"'{key}' is {json.dumps(value)[:60]}, not {what}")
        return value

    def mapping(self, key: str, check: Callable[[Any], bool], what: str, names: tuple[str, ...]) -> dict[str, Any]:
        value = self.get(key, dict, "an object")
        for name, item in value.items():
            if name not in names:
                raise self.error(f"'{key}' names '{name}': {nearest(name, list(names))}")
            if not check(item):
                raise self.error(f"'{key}.{name}' is {json.dumps(item)[:60]}, not {what}")
        return dict(value)

    def complete(self, key: str, check: Callable[[Any], bool], what: str, names: tuple[str, ...]) -> dict[str, Any]:
        value = self.mapping(key, check, what, names)
        for name in names:
            if name not in value:
                raise self.error(f"'{key}' lacks '{name}'")
        return value

    def names(self, key: str) -> tuple[str, ...]:
        value = self.get(key, list, "a list of names")
        if not all(isinstance(item, str) for item in value):
            raise self.error(f"'{key}' is {json.dumps(value)[:60]}, not a list of names")
        return tuple(value)


def _is_shape(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(dim, int) and not isinstance(dim, bool) for dim in value)


def _is_dtype(value: object) -> bool:
    return isinstance(value, str) and value in DTYPES


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _attributes(reader: _Reader, operator: Operator) -> dict[str, Attribute]:
    names = tuple(attribute.name for attribute in operator.attributes)
    found = reader.complete("attributes", lambda item: isinstance(item, bool | int | float | str), "a value", names)
    for attribute in operator.attributes:
        value = found[attribute.name]
        if attribute.type == "float" and not isinstance(value, bool):
            try:
                found[attribute.name] = float(value)
                continue
            except (ValueError, OverflowError):
                pass
        if not isinstance(value, {"bool": bool, "string": str}.get(attribute.type, ())):
            raise reader.error(f"'attributes.{attribute.name}' is {json.dumps(value)[:60]}, not a {attribute.type}")
    return found


def _reject(reader: _Reader, operator: Operator) -> str | None:
    expect = reader.get("expect", (str, dict), '"ok" or {"reject": NAME}')
    if expect == "ok":
        return None
    reject = expect.get("reject") if isinstance(expect, dict) else None
    if not isinstance(reject, str) or reject not in operator.refusals:
        raise reader.error(f"'expect' is {json.dumps(expect)[:60]}, not \"ok\" or a refusal of {operator.name}")
    return reject


def _parse(path: Path) -> dict[str, Any]:
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RawFileError(
            f"cannot be read: {error.strerror}",
            where=str(path),
            hint="name a folder that `gnll gen-data` wrote; one without case.json is not finished",
        ) from None
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"is no JSON: {str(error)[:80]}", where=str(path), hint="write the folder again with `gnll gen-data`"
        ) from None
    if not isinstance(contents, dict) or contents.get("schema") != SCHEMA:
        raise UsageError(
            f"is no case.json of schema {SCHEMA}", where=str(path), hint="write the folder again with `gnll gen-data`"
        )
    return contents


def load_folder(path: str | os.PathLike[str]) -> tuple[Case, dict[str, TensorData]]:
    """The case of a gen-data folder and its inputs, read from the raw files by ranges.

    The golden is not read: who judges computes it again from the inputs, with its radius and magnitude. ``RawFileError`` where a
    file is missing, has the wrong size or is not the one that gen-data wrote (SHA-256); ``UsageError`` for a case.json that is not one.
    """
    folder = Path(path)
    contents = _parse(folder / CASE_FILE)
    reader = _Reader(folder / CASE_FILE, contents)
    operator = operators.get(reader.get("operator", str, "a name"))
    tensors = operator.tensors
    shapes = reader.complete("shapes", _is_shape, "a list of dimensions", tensors)
    tensor_dtypes = reader.complete("dtypes", _is_dtype, "a dtype", tensors)
    texts = reader.mapping("data", _is_text, "a distribution", operator.inputs)
    if not _is_dtype(reader.get("dtype", str, "a dtype")):
        raise reader.error(f"'dtype': {nearest(str(contents['dtype']), list(DTYPES))}")
    if reader.get("trivial", (str, type(None)), "a reason or null") == "":
        raise reader.error("'trivial' gives no reason")
    null = reader.names("null")
    case = Case(
        id=reader.get("id", str, "a name"),
        operator=operator.name,
        dtype=contents["dtype"],
        attributes=_attributes(reader, operator),
        shapes={name: tuple(shapes[name]) for name in tensors},
        dtypes={name: tensor_dtypes[name] for name in tensors},
        data={name: Distribution("file", (str(folder / f"{name}.bin"),), text) for name, text in texts.items()},
        seed=reader.get("seed", int, "a number"),
        profile=reader.names("profile"),
        layout=reader.mapping("layout", lambda item: item in LAYOUTS, "a layout", operator.inputs),
        null=null,
        reject=_reject(reader, operator),
        trivial=contents["trivial"],
        advisory=reader.get("advisory", bool, "true or false"),
        source=str(folder / CASE_FILE),
    )
    if case.reject is not None:
        return case, {}
    refusal = operator.refusal(case)
    if refusal is not None:
        raise reader.error(f"expects a result, but the contract refuses the case as {refusal}")
    sums = reader.get("sha256", dict, "an object")
    return case, {name: _input(folder, case, name, sums) for name in operator.inputs}


def _input(folder: Path, case: Case, name: str, sums: Mapping[str, object]) -> TensorData:
    path = folder / f"{name}.bin"
    data = RawFileData(path, case.dtypes[name], case.shapes[name])
    if sums.get(path.name) != sha256_of(path):
        raise RawFileError(
            "is not the file that gen-data wrote (SHA-256 differs from case.json)",
            where=str(path),
            hint="write the folder again with `gnll gen-data`; use file(...) in a case file for data of your own",
        )
    return data
