"""Loading case files into a suite, and streaming the cases that a selection wants."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from gnll_cli import operators
from gnll_cli.cases import ids, reader, schema, selection, with_campaign_seed
from gnll_cli.cases.build import Builder, Registry
from gnll_cli.cases.campaign import Campaign, campaign_of
from gnll_cli.cases.matrix import Matrix
from gnll_cli.cases.model import Case
from gnll_cli.cases.reader import Map, Mark, Problems, printable
from gnll_cli.cases.settings import Context, defaults, override
from gnll_cli.cases.singles import Singles
from gnll_cli.errors import CaseFileError, GnllError, UsageError, nearest

SUFFIXES = (".yaml", ".yml")


@dataclass
class CaseFile:
    """One case file, expanded: explicit cases as they are, a campaign that is drawn on demand.

    ``dropped`` counts combinations by reason: impossible, same, excluded.
    """

    name: str
    stem: str
    operator: str
    cases: list[Case] = field(default_factory=list)
    campaign: Campaign | None = None
    dropped: Counter[str] = field(default_factory=Counter)
    warnings: list[GnllError] = field(default_factory=list)


class Suite:
    """The cases of several files in one stable order: file by file, and within a file as they are written."""

    def __init__(self, files: list[CaseFile]) -> None:
        self.files = files

    def __iter__(self) -> Iterator[Case]:
        return self.cases(tier="nightly")

    @property
    def dropped(self) -> Counter[str]:
        """Combinations left out, by reason, over all files."""
        return sum((file.dropped for file in self.files), Counter())

    @property
    def warnings(self) -> list[GnllError]:
        """What is no error but hardly meant, each with its place."""
        return [warning for file in self.files for warning in file.warnings]

    @property
    def dtypes(self) -> list[str]:
        """Every dtype that can be selected: those of the operators and those that single cases name."""
        found = {case.dtype for file in self.files for case in file.cases}
        for name in {file.operator for file in self.files}:
            found.update(operators.get(name).dtypes)
        return sorted(found)

    def cases(
        self,
        tier: str = "full",
        dtype: Sequence[str] | None = None,
        keyword: str | None = None,
        shard: str | tuple[int, int] | None = None,
        campaign_seed: int = 0,
    ) -> Iterator[Case]:
        """The selected cases, lazily, in one stable order.

        ``tier`` selects the tiers before it too; ``dtype`` lists dtypes; ``keyword`` is a ``-k`` expression over ids;
        ``shard`` is I/N. ``campaign_seed`` gives other data, and other random cases, to the same ids. ``UsageError`` at
        once for a wrong selection.
        """
        tiers = selection.tiers_up_to(tier)
        wanted = selection.check_dtypes(dtype, self.dtypes) if dtype else None
        predicate = selection.keyword(keyword) if keyword is not None else None
        numbers = None
        if shard is not None:
            numbers = selection.parse_shard(shard) if isinstance(shard, str) else selection.check_shard(*shard)
        stream = self._stream(tiers, wanted, predicate, campaign_seed)
        return stream if numbers is None else selection.shard(stream, *numbers)

    def sample(self, drawn: int = 20) -> Iterator[Case]:
        """Every explicit case, and the first ``drawn`` of each campaign."""
        for file in self.files:
            yield from file.cases
            if file.campaign is not None:
                yield from islice(file.campaign.cases(), drawn)

    def count(
        self,
        tier: str = "full",
        dtype: Sequence[str] | None = None,
        keyword: str | None = None,
        shard: str | tuple[int, int] | None = None,
        campaign_seed: int = 0,
    ) -> int:
        """How many cases a selection has. Campaigns are drawn only where dtype or shard need it."""
        if dtype or shard is not None:
            return sum(1 for _ in self.cases(tier, dtype, keyword, shard, campaign_seed))
        tiers = selection.tiers_up_to(tier)
        predicate = selection.keyword(keyword) if keyword is not None else None
        total = 0
        for file in self.files:
            total += sum(1 for c in file.cases if c.tier in tiers and (predicate is None or predicate(c.id)))
            campaign = file.campaign
            if campaign is not None and campaign.settings.tier in tiers:
                if predicate is None:
                    total += campaign.count
                else:
                    total += sum(1 for k in range(campaign.count) if predicate(campaign.id(k)))
        return total

    def _stream(
        self,
        tiers: tuple[str, ...],
        dtypes: frozenset[str] | None,
        predicate: selection.Predicate | None,
        campaign_seed: int,
    ) -> Iterator[Case]:
        for file in self.files:
            for case in file.cases:
                if case.tier not in tiers or (dtypes is not None and case.dtype not in dtypes):
                    continue
                if predicate is None or predicate(case.id):
                    yield case if campaign_seed == 0 else with_campaign_seed(case, campaign_seed)
            campaign = file.campaign
            if campaign is None or campaign.settings.tier not in tiers:
                continue
            for k in range(campaign.count):
                if predicate is None or predicate(campaign.id(k)):
                    case = campaign.case(k, campaign_seed)
                    if dtypes is None or case.dtype in dtypes:
                        yield case


def load(paths: Sequence[Path | str]) -> Suite:
    """The suite of case files and folders (every .yaml and .yml below a folder, sorted; hidden ones are left out).

    ``CaseFileError`` with every problem of every file; ``UsageError`` for a path that is no case file and no folder of
    such.
    """
    errors: list[GnllError] = []
    registry = Registry()
    files: list[CaseFile] = []
    for path in find(paths):
        try:
            files.append(_load(path, registry))
        except CaseFileError as error:
            errors += error.problems
    errors += _campaign_clashes(files, registry)
    if errors:
        raise CaseFileError(errors)
    return Suite(files)


def find(paths: Sequence[Path | str]) -> list[Path]:
    """The case files of files and folders, each once, in a stable order."""
    if not paths:
        raise UsageError("no case file given", hint="name case files or folders, such as cases/")
    found: dict[str, Path] = {}
    for given in paths:
        path = Path(given)
        try:
            if path.is_dir():
                files = _below(path)
                if not files:
                    raise UsageError(f"no case files below {path}", hint="case files end in .yaml or .yml")
            elif path.exists():
                files = [path]
                if path.suffix.lower() not in SUFFIXES:
                    raise UsageError(f"{path} is no case file", hint="case files end in .yaml or .yml")
            else:
                raise UsageError(f"there is no file or folder {path}", hint=_near(path))
        except (OSError, ValueError) as error:
            raise UsageError(f"{printable(str(path))} cannot be read: {error}") from None
        for file in files:
            found.setdefault(os.path.realpath(file), file)
    return list(found.values())


def _below(folder: Path) -> list[Path]:
    files = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [
            Path(parent, name)
            for name in sorted(names)
            if not name.startswith(".") and Path(name).suffix.lower() in SUFFIXES
        ]
    return sorted(files)


def _near(path: Path) -> str:
    parent = path.parent
    if not parent.is_dir():
        return f"there is no folder {parent} either"
    known = [p.name for p in sorted(parent.iterdir()) if p.is_dir() or p.suffix.lower() in SUFFIXES]
    return nearest(path.name, known) if known else f"{parent} holds no case files"


def _load(path: Path, registry: Registry) -> CaseFile:
    """One file, checked and expanded; ``CaseFileError`` with all its problems."""
    # A file name need not be text; messages must be.
    name = path.as_posix().encode("utf-8", "backslashreplace").decode()
    root = reader.read(path, name)
    problems = Problems(name)
    schema.validate(root, problems)
    if not ids.PART.fullmatch(path.stem):
        problems.add(
            None,
            f"the file's name '{printable(path.stem)}' cannot be part of an id",
            "use letters, digits, '_', '-', '+', '.'",
        )
    problems.check()
    try:
        operator = operators.get(root["operator"])
    except UsageError as error:
        problems.add(root.values_at["operator"], error.what, error.hint)
        problems.check()
        raise
    context = Context(problems, operator, path.stem, path.parent)
    file = CaseFile(name, path.stem, operator.name)
    _expand(root, context, registry, file)
    problems.check()
    return file


def _expand(root: Map, context: Context, registry: Registry, file: CaseFile) -> None:
    problems = context.problems
    if not any(key in root for key in ("matrix", "include", "cases", "random")):
        problems.add(root.mark, "the file holds no case", "add 'matrix', 'cases' or 'random'")
    settings = override(defaults(context), root, context)
    builder = Builder(context, registry)
    matrix = Matrix(root, settings, context, builder)
    file.cases += matrix.expand()
    file.cases += Singles(root, settings, context, builder).expand()
    file.campaign = campaign_of(root, settings, context, builder)
    file.dropped = matrix.dropped
    warnings = sorted([*matrix.warnings, *_unused_settings(root)])
    file.warnings = [GnllError(what, where=problems.at(mark), hint=hint) for mark, what, hint in warnings]
    if not file.cases and file.campaign is None and not problems.count:
        problems.add(root.mark, "the file yields no case", "every combination is excluded or cannot exist")


def _unused_settings(root: Map) -> list[tuple[Mark, str, str]]:
    """What a file says once for all its cases, and every one of them says otherwise: its matrix has an axis of it."""
    axes = root.get("matrix", {})
    if any(key in root for key in ("include", "cases", "random")):
        return []
    found = []
    attributes = root.get("attributes", Map((1, 1)))
    found += [(attributes.keys_at[name], f"attribute '{name}'") for name in attributes if name in axes]
    if "layout" in root and "layout" in axes:
        found.append((root.keys_at["layout"], "'layout'"))
    data = root.get("data", Map((1, 1)))
    entries = axes.get("data", [])
    entries = entries if isinstance(entries, list) else [entries]
    if entries:
        found += [(data.keys_at[name], f"data of '{name}'") for name in data if all(name in e for e in entries)]
    return [(mark, f"{what} has no effect: the matrix has an axis that sets it", "remove it") for mark, what in found]


def _campaign_clashes(files: list[CaseFile], registry: Registry) -> list[GnllError]:
    """Ids of campaigns that another campaign or an explicit case has too."""
    errors = []
    stems: dict[str, Campaign] = {}
    for file in files:
        campaign = file.campaign
        if campaign is None:
            continue
        stem = campaign.stem.lower()
        other = stems.setdefault(stem, campaign)
        if other is not campaign:
            errors.append(
                GnllError(
                    f"the ids '{campaign.stem}/random-...' are there already, at {other.source}",
                    where=campaign.source,
                    hint="rename one of the files",
                )
            )
        for key, (case_id, source) in registry.ids.items():
            match = re.fullmatch(r"(.*)/random-([0-9]{5,})", key)
            k = int(match.group(2)) if match and match.group(1) == stem else campaign.count
            if k < campaign.count and campaign.id(k).lower() == key:
                errors.append(
                    GnllError(
                        f"the id '{case_id}' is also one of the campaign's, at {campaign.source}",
                        where=source,
                        hint="give the case another name",
                    )
                )
    return errors
