"""From the parts of a case to a checked ``Case``: the contract, and ids and contents that are there once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gnll_cli.cases import ids
from gnll_cli.cases.model import Attribute as AttributeValue
from gnll_cli.cases.model import Case, Distribution, Shape, seed_of
from gnll_cli.cases.reader import Mark
from gnll_cli.cases.settings import Context, Settings, file_size_problem, profile_problem
from gnll_cli.operators.interface import Operator


@dataclass(slots=True)
class Draft:
    """The parts of a case before it has an id. ``dtypes`` holds what differs from ``dtype``."""

    dtype: str
    attributes: Mapping[str, AttributeValue]
    shapes: Mapping[str, Shape]
    data: Mapping[str, Distribution]
    layout: Mapping[str, str]
    settings: Settings
    source: str
    dtypes: Mapping[str, str] = field(default_factory=dict)
    null: tuple[str, ...] = ()
    reject: str | None = None

    def content(self, operator: Operator) -> Any:
        """What makes the case what it is: two cases of equal content test the same thing."""
        return (
            operator.name,
            self.dtype,
            # repr: NaN equals NaN, true is not 1, and -0.0 is not 0.0.
            repr(tuple(self.attributes.values())),
            tuple(self.shapes.items()),
            tuple(sorted(self.dtypes.items())),
            tuple(
                (name, str(self.data[name].args[0]) if self.data[name].kind == "file" else self.data[name].text)
                for name in operator.inputs
                if name in self.data
            ),
            tuple(sorted(self.layout.items())),
            self.null,
            self.reject,
            self.settings.profile,
            self.settings.pair,
        )


@dataclass
class Registry:
    """Ids and contents over all files of a suite, with the place of each."""

    ids: dict[str, tuple[str, str]] = field(default_factory=dict)
    contents: dict[Any, tuple[str, str]] = field(default_factory=dict)

    def problem(self, case: Case, content: Any) -> tuple[str, str] | None:
        """What and hint where the case's id or content is there already; otherwise it is taken note of."""
        key = case.id.lower()
        if key in self.ids:
            other, source = self.ids[key]
            hint = "give one of them another name" if other == case.id else "ids must differ in more than case"
            return f"the id '{case.id}' is there already, at {source}", hint
        if content in self.contents:
            other, source = self.contents[content]
            return f"'{case.id}' is the same case as '{other}', at {source}", "remove one of them"
        self.ids[key] = (case.id, case.source)
        self.contents[content] = (case.id, case.source)
        return None


class Builder:
    """Makes the cases of one file."""

    def __init__(self, context: Context, registry: Registry) -> None:
        self.context = context
        self.operator = context.operator
        self.registry = registry
        self._enumerated = {a.name: a.choices for a in self.operator.attributes if a.choices}
        self._told: set[tuple[Any, ...]] = set()
        self._uniform: dict[str, dict[str, str]] = {}
        self._judged: dict[tuple[tuple[str, ...], str], tuple[str, str] | None] = {}

    def case(self, part: str, draft: Draft, axes: Mapping[str, str], mark: Mark) -> Case | None:
        """The case ``<stem>/<part>``, checked; None after a problem, which is told at ``mark``.

        What the contract or a profile says of many combinations of one matrix is told of the first.
        """
        case = self.new(part, draft, axes)
        problem = self.contract_problem(case) or self.profile_problem(case)
        if problem is not None:
            key = (mark, *problem)
            if key not in self._told:
                self._told.add(key)
                self.context.problems.add(mark, f"'{case.id}': {problem[0]}", problem[1])
            return None
        problem = self._id_problem(part) or self._file_problem(case)
        problem = problem or self.registry.problem(case, draft.content(self.operator))
        if problem is not None:
            self.context.problems.add(mark, *problem)
            return None
        return case

    def new(self, part: str, draft: Draft, axes: Mapping[str, str], campaign: int = 0) -> Case:
        """The case as such, unchecked."""
        case_id = f"{self.context.stem}/{part}"
        settings = draft.settings
        dtypes = self.uniform(draft.dtype)
        if draft.dtypes:
            dtypes = {**dtypes, **draft.dtypes}
        return Case(
            id=case_id,
            operator=self.operator.name,
            dtype=draft.dtype,
            attributes=draft.attributes,
            shapes=draft.shapes,
            dtypes=dtypes,
            data={name: d for name, d in draft.data.items() if name not in draft.null} if draft.null else draft.data,
            seed=seed_of(case_id, campaign),
            profile=settings.profile,
            tier=settings.tier,
            layout=draft.layout,
            null=draft.null,
            reject=draft.reject,
            trivial=settings.trivial,
            advisory=settings.advisory,
            pair=settings.pair,
            axes=axes,
            source=draft.source,
        )

    def uniform(self, dtype: str) -> dict[str, str]:
        """The same dtype for every tensor (one mapping for all cases that share it)."""
        if dtype not in self._uniform:
            self._uniform[dtype] = dict.fromkeys(self.operator.tensors, dtype)
        return self._uniform[dtype]

    def labels(self, shapes: Mapping[str, Shape], attributes: Mapping[str, AttributeValue]) -> dict[str, str]:
        """The operator's labels for shapes and attributes."""
        dtype = self.operator.dtypes[0]
        probe = Case("", self.operator.name, dtype, attributes, shapes, self.uniform(dtype), {}, 0)
        return self.operator.labels(probe)

    def axes(self, draft: Draft, labels: Mapping[str, str], rank: int) -> dict[str, str]:
        """The labels by which summaries group a case."""
        axes = {"file": self.context.stem, "dtype": draft.dtype}
        for name, choices in self._enumerated.items():
            # A text beyond the choices is what a refusal is about, not a value to group by.
            if draft.attributes[name] in choices:
                axes[name] = str(draft.attributes[name])
        axes.update(labels)
        axes["rank"] = str(rank)
        if draft.layout:
            words = sorted(set(draft.layout.values()))
            axes["layout"] = "+".join(words)
        return axes

    def contract_problem(self, case: Case) -> tuple[str, str] | None:
        """What and hint where the contract demands something else of the case than the file does."""
        demanded = self.operator.refusal(case)
        if demanded == case.reject:
            return None
        if case.reject is None:
            return (
                f"the contract refuses this case as {demanded}",
                f"correct it, or write a single case with expect: {{reject: {demanded}}}",
            )
        if demanded is None:
            return (
                f"the contract does not refuse this case, so it cannot expect {case.reject}",
                "correct it, or remove 'expect'",
            )
        return (
            f"the contract refuses this case as {demanded}, not as {case.reject}",
            f"change one thing of a valid case only, or write expect: {{reject: {demanded}}}",
        )

    def profile_problem(self, case: Case) -> tuple[str, str] | None:
        """What and hint where a profile of the case cannot judge its dtype."""
        if case.reject is not None:
            return None
        key = (case.profile, case.dtype)
        if key not in self._judged:
            self._judged[key] = profile_problem(*key)
        return self._judged[key]

    def _id_problem(self, part: str) -> tuple[str, str] | None:
        if len(part) > ids.MAX_PART:
            return (
                f"the id of a case has {len(part)} characters, more than {ids.MAX_PART}",
                "give the data a short 'name'",
            )
        return None

    def _file_problem(self, case: Case) -> tuple[str, str] | None:
        for name, distribution in case.data.items():
            if distribution.kind == "file":
                problem = file_size_problem(name, distribution, case.shapes[name], case.dtypes[name])
                if problem is not None:
                    return problem, "write the file raw, C order, in the case's dtype, or correct the shape"
        return None
