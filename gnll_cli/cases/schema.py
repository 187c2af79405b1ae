"""The JSON Schema of case files, and its errors as a person reads them: place, what, and the nearest that is known."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnll_cli.cases.reader import Map, Mark, Problems, Seq, printable
from gnll_cli.errors import nearest

SCHEMA = Path(__file__).with_name("schema.json")


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """The schema as shipped for editors (draft 2020-12)."""
    document: dict[str, Any] = json.loads(SCHEMA.read_text(encoding="utf-8"))
    return document


@lru_cache(maxsize=1)
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(schema())


def validate(root: Map, problems: Problems) -> bool:
    """Collect every violation of the schema; True where there is none."""
    valid = True
    for error in _validator().iter_errors(root):
        valid = False
        _tell(error, root, problems)
    return valid


def describe(value: Any) -> str:
    """A value as messages name it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, str):
        return f"the text '{printable(value)}'"
    return f"the number {value}"


def place(root: Map, path: Iterable[str | int]) -> Mark:
    """Line and column of the value at a path."""
    node: Any = root
    mark = root.mark
    for step in path:
        if isinstance(node, Map) and isinstance(step, str):
            mark = node.values_at[step]
        elif isinstance(node, Seq) and isinstance(step, int):
            mark = node.items_at[step]
        node = node[step]
    return mark


def _tell(error: Any, root: Map, problems: Problems) -> None:
    path = list(error.absolute_path)
    mark = place(root, path)
    value, rule = error.instance, error.schema
    subject = _subject(path)
    title = rule.get("title", "another value")
    if error.validator == "additionalProperties":
        known = sorted(rule["properties"])
        for key in value:
            if key not in rule["properties"]:
                problems.add(value.keys_at[key], f"unknown key '{printable(key)}'{_inside(path)}", nearest(key, known))
    elif error.validator == "required":
        for key in rule["required"]:
            # jsonschema gives an error per missing key, and names it in the message only.
            if key not in value and error.message.startswith(f"'{key}'"):
                problems.add(mark, f"the key '{key}' is missing{_inside(path)}", f"add {_example(rule, key)}")
    elif error.validator == "enum":
        known = [str(choice) for choice in rule["enum"]]
        hint = nearest(str(value), known) if isinstance(value, str) else ""
        problems.add(mark, f"{subject} must be {title}, not {describe(value)}", hint)
    elif error.validator in ("minItems", "minProperties"):
        few = f"must be {title}, not {describe(value)}" if value else "is empty"
        problems.add(mark, f"{subject} {few}", f"write {title}, or remove the key" if not value else "")
    elif error.validator == "maxItems":
        problems.add(mark, f"{subject} must be {title}, not a list of {len(value)}")
    elif error.validator == "uniqueItems":
        problems.add(mark, f"{subject} names something twice", "keep one of them")
    elif (
        error.validator == "type" and isinstance(value, str) and "(" not in value and title.startswith("a distribution")
    ):
        problems.add(mark, f"{subject} must be {title}")
    elif title.startswith("a distribution") and isinstance(value, (int, float)):
        problems.add(mark, f"{subject} must be {title}, not {describe(value)}", f'write "constant({value})"')
    else:
        # Wrong types, numbers out of range, names with other characters: the title says what is wanted.
        hint = (
            "quote it if it is meant as text" if _wants_text(rule) and not isinstance(value, (str, list, dict)) else ""
        )
        problems.add(mark, f"{subject} must be {title}, not {describe(value)}", hint)


def _wants_text(rule: Mapping[str, Any]) -> bool:
    types = rule.get("type", ())
    return types == "string" or "string" in types


def _subject(path: list[str | int]) -> str:
    """What a message is about: the key, or the place in a list of it."""
    if not path:
        return "the file"
    if isinstance(path[-1], str):
        return f"'{printable(path[-1])}'"
    keys = [step for step in path if isinstance(step, str)]
    return f"item {path[-1] + 1} of '{printable(keys[-1])}'" if keys else f"item {path[-1] + 1}"


def _inside(path: list[str | int]) -> str:
    keys = [step for step in path if isinstance(step, str)]
    return f" in '{printable(keys[-1])}'" if keys else ""


def _example(rule: Mapping[str, Any], key: str) -> str:
    title = rule["properties"][key].get("title") or _resolve(rule["properties"][key]).get("title", "a value")
    return f"'{key}: ...', {title}"


def _resolve(rule: Mapping[str, Any]) -> Mapping[str, Any]:
    target = rule.get("$ref", "")
    resolved: Mapping[str, Any] = schema()["$defs"].get(target.rsplit("/", 1)[-1], {})
    return resolved
