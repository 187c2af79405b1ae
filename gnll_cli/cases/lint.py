"""What lint finds besides errors: absolute tolerances that a correct result could miss.

Absolute tolerances fit tame data only. Whether a case's data is tame is seen from its golden, which lint computes for
the cases that name such a profile; everything else it knows from loading.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import frexp, ldexp, prod

from gnll_cli.cases.model import Case
from gnll_cli.errors import GnllError

#: Sums up to this many elements are what absolute tolerances were made for (chapter "Profiles" of docs/verdicts.md).
MAX_SUMMED = 64
#: Larger cases are not computed by lint.
MAX_ELEMENTS = 1 << 20


@dataclass
class _Finding:
    """One kind of finding in one file: told once, at the first case, with the count."""

    first: Case
    what: str
    count: int = 1


def tolerance_warnings(cases: Iterable[Case]) -> list[GnllError]:
    """A warning per file, profile and kind where an absolute tolerance is used for more than tame data.

    ``cases`` are those to look at; a case without a profile of absolute tolerance costs nothing.
    """
    findings: dict[tuple[str, str, str, str], _Finding] = {}
    for case in cases:
        if case.reject is not None:
            continue
        for profile in case.profile:
            tolerance = _tolerances(profile).get(case.dtype)
            if tolerance is None:
                continue
            for kind, what in _case_findings(case, profile, tolerance):
                file = case.id.partition("/")[0]
                key = (file, profile, case.dtype if kind == "rounding" else "", kind)
                if key in findings:
                    findings[key].count += 1
                else:
                    findings[key] = _Finding(case, what)
    hints = {
        "rounding": "name profile bound instead, or draw smaller values",
        "sum": "name profile bound for it; absolute tolerances do not grow with a sum",
    }
    return [
        GnllError(
            f"{finding.what} ({finding.first.id}{f', and {finding.count - 1} more' if finding.count > 1 else ''})",
            where=finding.first.source,
            hint=hints[kind],
        )
        for (_, _, _, kind), finding in findings.items()
    ]


@lru_cache(maxsize=64)
def _tolerances(profile: str) -> dict[str, float]:
    """The absolute tolerance per dtype of a profile that has nothing else; empty for every other profile."""
    from gnll_cli.compare import profiles

    definition = profiles.get(profile).definition()
    tolerance = definition.get("tolerance")
    return dict(tolerance) if isinstance(tolerance, dict) else {}


def _case_findings(case: Case, profile: str, tolerance: float) -> list[tuple[str, str]]:
    """(kind, what) of each thing that an absolute tolerance does not fit in a case."""
    from gnll_cli import operators

    operator = operators.get(case.operator)
    found = []
    summed = 0
    elements = case.elements(operator.base)
    for output in operator.outputs:
        size = case.elements(output)
        if 0 < size < elements:
            summed = max(summed, elements // size)
    if summed > MAX_SUMMED:
        found.append(("sum", f"profile {profile} judges a sum of {summed:,} elements, more than {MAX_SUMMED}"))
    # sprinkled special values are no reason: only finite results are rounded.
    if sum(prod(shape) for shape in case.shapes.values()) <= MAX_ELEMENTS:
        largest = _largest_result(case)
        step = _half_ulp(largest, case.dtype)
        if step > tolerance:
            found.append(
                (
                    "rounding",
                    f"profile {profile} allows {tolerance:g}, but {case.dtype} results reach {largest:.4g}, where "
                    f"rounding a correct result alone moves it by up to {step:.3g}",
                )
            )
    return found


def _largest_result(case: Case) -> float:
    """The largest finite magnitude in the case's golden outputs."""
    import numpy as np

    from gnll_cli import golden, operators

    operator = operators.get(case.operator)
    largest = 0.0
    for block in operator.golden(case, golden.inputs(case, operator)):
        finite = np.abs(block.value[np.isfinite(block.value)])
        if finite.size:
            largest = max(largest, float(finite.max()))
    return largest


def _half_ulp(value: float, dtype: str) -> float:
    """Half the unit in the last place at ``value``: how far rounding to nearest can move it."""
    from gnll_cli import dtypes

    kind = dtypes.get(dtype)
    if not kind.is_float or value > kind.largest:
        return 0.0
    exponent = max(frexp(value)[1] - 1, kind.min_exponent)
    return ldexp(1.0, exponent - kind.digits)
