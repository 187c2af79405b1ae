"""The run as a person sees it: live progress and failures as they come on a terminal, plain lines in a pipe.

A pipe gets no colour, no control character and no wrapping (lines stay searchable); a terminal gets lines wrapped
to its width, but for ids and the line to reproduce a case, which stay whole so that they can be copied.
"""

from __future__ import annotations

import contextlib
import os
import sys
import textwrap
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TextIO

from gnll_cli.reports.explain import explain
from gnll_cli.reports.status import GREEN, counts
from gnll_cli.reports.summary import facts
from gnll_cli.reports.texts import duration, encodable, headline, headroom, printable

if TYPE_CHECKING:
    from rich.console import Console as RichConsole
    from rich.progress import Progress

    from gnll_cli.reports.run_report import Finished

#: Failures explained in full; the others are counted (and are in the report files).
FULL = 20
#: Values of an axis shown in the summary.
VALUES = 20
#: Seconds between two signs of life in a pipe, and between two changes of a progress bar.
PLAIN_EVERY = 30.0
LIVE_EVERY = 0.1

_STYLES = {"passed": "green", "skipped": "yellow", "known": "yellow", "advice": "yellow"}


class Console:
    """``start``, then ``case`` for every record as it ends, then ``finish``. Use it as a context manager, so that the
    terminal is itself again whatever happens.

    ``quiet``: the result only; ``verbose``: a line for every case. ``stream`` is standard output by default. A
    reader that goes away (``gnll run | head``) ends the output and not the run.
    """

    def __init__(self, quiet: bool = False, verbose: bool = False, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._quiet = quiet
        self._verbose = verbose and not quiet
        self._total: int | None = None
        self._done = 0
        self._red = 0
        self._last = 0.0
        self._rich: RichConsole | None = None
        self._progress: Progress | None = None
        self._closed = False
        if self._stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown"):
            from rich.console import Console as RichConsole

            self._rich = RichConsole(file=self._stream, highlight=False, markup=False, emoji=False)

    def start(self, total: int | None, header: str = "") -> None:
        """``total`` is the number of cases, None where it is not known; ``header`` lines say what is run on what."""
        self._total = total
        self._last = time.monotonic()
        if self._quiet:
            return
        for line in header.splitlines():
            self._line(line, "dim")
        if self._rich is not None:
            self._start_progress(self._rich, total)

    def note(self, text: str) -> None:
        """A line about what is being done before the cases run, such as a build."""
        if not self._quiet:
            self._line(text, "dim")

    def _start_progress(self, console: RichConsole, total: int | None) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
        from rich.table import Column

        self._progress = Progress(
            BarColumn(bar_width=None, table_column=Column(ratio=1, min_width=8)),
            TextColumn("{task.fields[figures]}", markup=False, table_column=Column(no_wrap=True)),
            *([TextColumn("ETA"), TimeRemainingColumn()] if total is not None else [TimeElapsedColumn()]),
            TextColumn(
                "{task.fields[case]}", markup=False, table_column=Column(ratio=2, no_wrap=True, overflow="ellipsis")
            ),
            console=console,
            transient=True,
            expand=True,
        )
        self._progress.add_task("", total=total, figures="", case="")
        self._progress.start()

    def case(self, record: Mapping[str, Any]) -> None:
        """A case has ended; ``record`` is what the report will hold."""
        self._done += 1
        red = record["status"] not in GREEN
        self._red += red
        if self._quiet or self._closed:
            return
        if self._verbose:
            self._case_line(record)
        if red and self._red <= FULL:
            self._failure(record)
        elif red and self._red == FULL + 1:
            self._line("more cases are not green: they are counted here, and explained in the report", "red")
        now = time.monotonic()
        if self._progress is not None:
            if now - self._last >= LIVE_EVERY:
                self._last = now
                self._progress.update(
                    self._progress.task_ids[0],
                    completed=self._done,
                    figures=self._figures(),
                    case=printable(record["id"]),
                )
        elif self._rich is None and not self._verbose and now - self._last >= PLAIN_EVERY:
            self._last = now
            self._line(self._figures())

    def _figures(self) -> str:
        of = f"/{self._total}" if self._total is not None else ""
        return f"{self._done}{of} cases, {self._red} not green"

    def _case_line(self, record: Mapping[str, Any]) -> None:
        seconds = sum(record.get("seconds", {}).values())
        least = facts(record).headroom
        text = f"{record['status']:<8} {record['id']}"
        if least is not None:
            text += f"  headroom {headroom(least)}"
        text += f"  {duration(seconds)}"
        if record["status"] in ("skipped", "advice", "known") and record.get("reason"):
            text += f"  ({record['reason']})"
        self._line(text, _STYLES.get(record["status"], "red"), whole=True)

    def _failure(self, record: Mapping[str, Any]) -> None:
        self._line(f"{record['status'].upper()} {record['id']}", "bold red", whole=True)
        for line in explain(record):
            self._line(line, indent=2)
        self._line(f"  reproduce: {record.get('repro', '')}", "cyan", whole=True)

    def finish(self, finished: Finished) -> None:
        """The summary by axis, the counts, the result, where the reports are, and what to know about them."""
        self.close()
        summary = finished.summary
        if not self._quiet:
            if self._red > FULL:
                self._line(f"the first {FULL} of {self._red} cases that are not green are explained above", "red")
            self._line("")
            for line in self._table(summary["axes"]):
                self._line(line, whole=True)
        for warning in summary["warnings"]:
            self._line(f"warning: {warning}", "yellow")
        for problem in finished.problems:
            self._line(f"error: {problem}", "bold red")
        note = f", {summary['resumed']} of them from the interrupted run" if summary["resumed"] else ""
        if summary["total"]:
            self._line(f"{counts(summary['counts'])} in {duration(summary['seconds'])}{note}")
        if finished.paths:
            self._line(f"reports: {', '.join(str(path) for path in finished.paths.values())}", whole=True)
        self._line(headline(summary), "bold green" if summary["green"] else "bold red")

    def _table(self, axes: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[str]:
        """The summary by axis in columns; a value too long for the terminal goes on in the next line."""
        head = ("cases", "passed", "not green", "other", "least headroom")
        rows: list[tuple[str, tuple[str, ...]]] = []
        for axis, values in axes.items():
            rows.append((printable(axis), ()))
            # What needs attention must not be in the part that is left out.
            shown = set(sorted(values, key=lambda value: -values[value]["not_green"])[:VALUES])
            for value, group in values.items():
                if value in shown:
                    figures = tuple(str(group[key]) for key in ("cases", "passed", "not_green", "other"))
                    rows.append((f"  {printable(value)}", (*figures, headroom(group["headroom"]))))
            if len(values) > VALUES:
                rows.append((f"  and {len(values) - VALUES} more values", ()))
        if not rows:
            return []
        widths = [max(len(title), *(len(row[1][i]) for row in rows if row[1])) for i, title in enumerate(head)]
        first = max(12, *(len(text) for text, _ in rows))
        if self._rich is not None:
            first = max(12, min(first, self._rich.width - sum(widths) - 2 * len(widths)))
        lines = [" " * first + "".join(f"  {title:>{width}}" for title, width in zip(head, widths, strict=True))]
        for text, figures in rows:
            parts = [text[:first]]
            parts += ["    " + text[i : i + first - 4] for i in range(first, len(text), first - 4)]
            cells = "".join(f"  {figure:>{width}}" for figure, width in zip(figures, widths, strict=False))
            lines.append((f"{parts[0]:<{first}}" + cells).rstrip())
            lines += parts[1:]
        return lines

    def _line(self, text: str, style: str = "", *, whole: bool = False, indent: int = 0) -> None:
        """Print one line.

        ``whole`` lines are not broken by us: the terminal wraps them, and copying them gives one line.
        """
        if self._closed:
            return
        safe = encodable(printable(text), self._stream.encoding)
        try:
            if self._rich is None:
                self._stream.write(" " * indent + safe + "\n")
                self._stream.flush()
            elif whole:
                self._rich.print(safe, style=style or None, soft_wrap=True)
            else:
                # Continuation lines hang, so that they are not taken for lines of their own.
                before = " " * (indent + len(safe) - len(safe.lstrip(" ")))
                width = max(20, self._rich.width)
                for part in textwrap.wrap(
                    safe.strip(),
                    width,
                    initial_indent=before,
                    subsequent_indent=before + "    ",
                    break_on_hyphens=False,
                ):
                    self._rich.print(part, style=style or None, soft_wrap=True)
        except BrokenPipeError:
            self._give_up()

    def _give_up(self) -> None:
        self._closed = True
        # Python flushes standard output once more at exit; that must not end in an error message.
        with contextlib.suppress(OSError, ValueError):
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)

    def close(self) -> None:
        """Take the progress bar away; nothing happens the second time."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

    def __enter__(self) -> Console:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
