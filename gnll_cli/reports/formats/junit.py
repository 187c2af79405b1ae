"""junit.xml: one suite per case file, for the test pages of CI systems.

Crashed, timeout and error are errors; other statuses that are not green are failures; skipped and known are
skipped. A run that is not complete, or in which nothing was executed, gets one more test case with an error, since
consumers of this format would otherwise take it for a small green run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TextIO

from gnll_cli.reports import strict
from gnll_cli.reports.explain import explain, summary_line
from gnll_cli.reports.interface import Brief, Format, Report
from gnll_cli.reports.status import GREEN
from gnll_cli.reports.texts import headline

ERRORS = ("crashed", "timeout", "error")
SKIPPED = ("skipped", "known")
#: Characters that XML 1.0 cannot hold in any form.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def escape(text: str) -> str:
    """Text for XML content or a quoted attribute; what XML cannot hold is shown as a backslash escape."""
    text = _ILLEGAL.sub(lambda match: match[0].encode("unicode_escape", "backslashreplace").decode(), text)
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\r", "&#13;")):
        text = text.replace(character, entity)
    return text


def attribute(value: object) -> str:
    """A quoted attribute value; line breaks and tabs survive the reader's normalisation."""
    return '"' + escape(str(value)).replace("\n", "&#10;").replace("\t", "&#9;") + '"'


class _Suite:
    def __init__(self, name: str) -> None:
        self.name = name
        self._class, self._file = attribute(_class_name(name)), attribute(name)
        self.tests = self.failures = self.errors = self.skipped = 0
        self.seconds = 0.0
        self.lines: list[str] = []

    def add(self, brief: Brief) -> None:
        status = brief.status
        self.tests += 1
        self.seconds += brief.seconds
        head = (
            f'<testcase classname={self._class} name={attribute(brief.id)} file={self._file} time="{brief.seconds:.6f}"'
        )
        if status == "passed":
            self.lines.append(f"  {head}/>")
            return
        case = brief.record()
        if status in SKIPPED:
            self.skipped += 1
            known = case.get("known")
            reason = f"known failure: {known['reason']}" if known else str(case.get("reason") or status)
            body = f"<skipped message={attribute(reason)}/>"
        elif status in GREEN:
            body = f"<system-out>{escape(_text(case))}</system-out>"
        else:
            tag = "error" if status in ERRORS else "failure"
            self.errors += tag == "error"
            self.failures += tag == "failure"
            message = f"{status}: {summary_line(case)}"
            body = f"<{tag} type={attribute(status)} message={attribute(message)}>{escape(_text(case))}</{tag}>"
        self.lines.append(f"  {head}>\n   {body}\n  </testcase>")

    def counts(self) -> str:
        return (
            f'tests="{self.tests}" failures="{self.failures}" errors="{self.errors}" skipped="{self.skipped}" '
            f'time="{self.seconds:.6f}"'
        )


def _class_name(file: str) -> str:
    """``cases/special.yaml`` as consumers group classes: ``cases.special``."""
    stem = file.rsplit(".", 1)[0] if "." in file.rsplit("/", 1)[-1] else file
    return ".".join(part for part in re.split(r"[/\\.]+", stem) if part) or "cases"


def _text(case: Mapping[str, Any]) -> str:
    return "\n".join([*explain(case), f"reproduce: {case.get('repro', '')}"])


def _file(source: str) -> str:
    """The case file of ``file:line:column``."""
    return re.sub(r":\d+(:\d+)?$", "", source) or "cases"


def _properties(environment: Mapping[str, Any], prefix: str = "") -> list[str]:
    lines = []
    for key, value in environment.items():
        if isinstance(value, Mapping) and value and not prefix:
            lines += _properties(value, f"{key}.")
        else:
            text = value if isinstance(value, str) else strict.encode(value).decode("utf-8")
            lines.append(f"   <property name={attribute(prefix + key)} value={attribute(text)}/>")
    return lines


def write(report: Report, stream: TextIO) -> None:
    """Suites in the order of their first case; the environment as properties of each."""
    suites: dict[str, _Suite] = {}
    for brief in report.briefs():
        file = _file(brief.source)
        if file not in suites:
            suites[file] = _Suite(file)
        suites[file].add(brief)
    summary = report.summary
    if not summary["green"] and (not summary["complete"] or not any(s.failures + s.errors for s in suites.values())):
        broken = _Suite("gnll")
        broken.tests = broken.errors = 1
        text = attribute(headline(summary))
        broken.lines.append(
            f'  <testcase classname="gnll" name="the run as a whole" time="0.000000">\n'
            f'   <error type="not green" message={text}/>\n'
            "  </testcase>"
        )
        suites["\0incomplete"] = broken
    total = _Suite("gnll")
    for suite in suites.values():
        total.tests += suite.tests
        total.failures += suite.failures
        total.errors += suite.errors
        total.skipped += suite.skipped
        total.seconds += suite.seconds
    stream.write('<?xml version="1.0" encoding="UTF-8"?>\n')
    stream.write(f'<testsuites name="gnll" {total.counts()}>\n')
    properties = "\n".join(_properties(report.environment))
    started = str(report.summary["started"]).rstrip("Z")
    for suite in suites.values():
        stream.write(f' <testsuite name={attribute(suite.name)} {suite.counts()} timestamp="{started}">\n')
        if properties:
            stream.write(f"  <properties>\n{properties}\n  </properties>\n")
        for line in suite.lines:
            stream.write(line)
            stream.write("\n")
        stream.write(" </testsuite>\n")
    stream.write("</testsuites>\n")


FORMAT = Format("junit", "junit.xml", write)
