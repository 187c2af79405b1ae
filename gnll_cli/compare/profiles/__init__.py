"""Accuracy profiles, one module per family: ``get``, ``names`` and ``definitions`` are the door.

Every module here with ``PROFILES`` (a tuple of ``Profile``) is found by scanning; adding a file adds its profiles.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from functools import lru_cache
from importlib import import_module
from typing import Any

from gnll_cli.compare.profile import Profile
from gnll_cli.errors import UsageError, nearest


@lru_cache(maxsize=1)
def _all() -> dict[str, Profile]:
    found: dict[str, Profile] = {}
    for module in sorted(m.name for m in pkgutil.iter_modules(__path__)):
        for profile in getattr(import_module(f"{__name__}.{module}"), "PROFILES", ()):
            if profile.name in found:
                raise UsageError(f"two profiles are named '{profile.name}'", where=f"{module}.py", hint="rename one")
            found[profile.name] = profile
    return found


def names() -> list[str]:
    """Names of all profiles, sorted."""
    return sorted(_all())


def get(name: str) -> Profile:
    """The profile of that name; ``UsageError`` with a suggestion where there is none."""
    profile = _all().get(name)
    if profile is None:
        raise UsageError(f"unknown profile '{name}'", hint=nearest(name, names()))
    return profile


def definitions(chosen: Iterable[str]) -> dict[str, dict[str, Any]]:
    """The full definitions of the named profiles, as reports record them: {name: definition}."""
    return {name: {"summary": get(name).summary, **get(name).definition()} for name in chosen}
