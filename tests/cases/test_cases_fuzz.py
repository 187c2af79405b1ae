"""10,000 random corruptions of valid case files: cases, or one clear error; no traceback, no hang, bounded memory."""

from __future__ import annotations

import random
import resource
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from gnll_cli import cases
from gnll_cli.errors import CaseFileError, GnllError, UsageError

CHUNKS = 20
CORRUPTIONS = 10_000
#: Seconds that one file may take, on a busy machine; a valid one takes milliseconds.
#: Of processor time: how busy the machine is says nothing about the loader.
LIMIT = 10.0
#: MiB by which the process may grow over a chunk.
MEMORY = 256

VALID = (
    b"""\
operator: gaussian_nll_loss_grad
tier: smoke
profile: [bound, ut]
attributes: {eps: 1.0e-6, full: false}
data: {input: "normal(0, 0.5)", target: "normal(0, 0.5)", var: "uniform(0.5, 2)"}
matrix:
  dtype: [fp32, fp16]
  reduction: [none, mean]
  shape: [[2, 3], [7], []]
  target: [same, "axis:-1"]
  var: [same, last_dim_one, scalar]
exclude: [{dtype: fp16, shape: [7]}]
include:
  - {dtype: fp32, shape: [0, 3], var: scalar, trivial: "empty"}
""",
    b"""\
operator: gaussian_nll_loss_grad
layout: {input: transposed}
cases:
  - name: eps-zero
    attributes: {eps: 0.0}
    shapes: &s {gradOutput: [1], input: [2, 3], target: [2, 3], var: [2, 3]}
    expect: {reject: eps_zero}
  - &c
    name: sample
    dtype: fp16
    attributes: {reduction: none}
    shapes: {gradOutput: [2, 3], input: [2, 3], target: [2, 3], var: [2]}
    values:
      input: [[0.2, -0.1, 1.0], [1.5, nan, largest]]
      var: [.5, 2]
    data: {gradOutput: "sprinkle(uniform(-1, 1), 3, nan, -inf)"}
  - {<<: *c, name: other, dtype: bf16, profile: ut}
  - {name: none, shapes: *s, "null": [var], expect: {reject: null_pointer}}
""",
    "\ufeffoperator: gaussian_nll_loss_grad # ein Übungsfall\r\ntier: nightly\r\nrandom:\r\n  count: 300\r\n"
    "  dtype: [fp32, bf16]\r\n  rank: [0, 4]\r\n  elements: [1, 500]\r\n  target: [same, axis]\r\n"
    "  var: [same, scalar]\r\n  eps: [1e-6, 0.5]\r\n"
    '  data: [{var: "spread(0.001, 2)"}, {name: b, var: "cycle(1, 2)"}]\r\n'.encode(),
)

NASTY = [
    b"99999999999", b"-1", b"1e12", b"1e999", b"nan", b".inf", b"010", b"1_000", b"1:30", b"yes", b"~", b"null",
    b"true", b"!!python/object/apply:os.system [x]", b"!!int '3'", b"&a", b"*a", b"*c", b"<<", b"<<: *s",
    b"- - - -", b"[" * 40, b"]" * 3, b"{" * 40, b"[[[]]]", b"{}", b"[]", b"''", b'""', b"? ", b": ", b"|", b">",
    b"---", b"...", b"%YAML 9.9", b"\t", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xc3", b"\xf0\x9f\x98\x80", b"\r",
    b"\xe2\x80\xa8", b"\x85", b"axis:-9", b"axis:x", b"axis:" + b"9" * 30, b"../../x", b"/", b"file(/dev/zero)",
    b"file(x)", b"signed(" * 30, b"cycle(", b"dtype", b"shape", b"layout", b"matrix", b"random", b"cases",
    b"include", b"exclude", b"expect", b"reject", b"values", b"name", b"axis", b"fp64", b"scalar", b"9" * 400,
    b"0x" + b"f" * 300, b"1" * 30, b"1e-400", b"-0", b"2147483648", b"9223372036854775808", b"#", b"'", b'"',
    b"&b [*b]", b"\xef\xbb\xbf",
]  # fmt: skip


def _corrupt(raw: bytes, rng: random.Random) -> bytes:
    """One to three random changes."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        raw = rng.choice(
            (
                _flip,
                _delete,
                _duplicate,
                _swap_lines,
                _repeat_line,
                _drop_line,
                _truncate,
                _substitute,
                _substitute,
                _insert,
            )
        )(raw, rng)
    return raw


def _span(raw: bytes, rng: random.Random) -> tuple[int, int]:
    start = rng.randrange(len(raw) + 1)
    return start, min(len(raw), start + rng.choice((1, 1, 2, 5, 20, 80)))


def _flip(raw: bytes, rng: random.Random) -> bytes:
    if not raw:
        return raw
    at = rng.randrange(len(raw))
    return raw[:at] + bytes([raw[at] ^ (1 << rng.randrange(8))]) + raw[at + 1 :]


def _delete(raw: bytes, rng: random.Random) -> bytes:
    start, stop = _span(raw, rng)
    return raw[:start] + raw[stop:]


def _duplicate(raw: bytes, rng: random.Random) -> bytes:
    start, stop = _span(raw, rng)
    return raw[:stop] + raw[start:stop] * rng.choice((1, 1, 2, 50)) + raw[stop:]


def _swap_lines(raw: bytes, rng: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    if len(lines) > 1:
        one, other = rng.sample(range(len(lines)), 2)
        lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _repeat_line(raw: bytes, rng: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    if lines:
        lines.insert(rng.randrange(len(lines)), rng.choice(lines))
    return b"".join(lines)


def _drop_line(raw: bytes, rng: random.Random) -> bytes:
    lines = raw.splitlines(keepends=True)
    if lines:
        del lines[rng.randrange(len(lines))]
    return b"".join(lines)


def _truncate(raw: bytes, rng: random.Random) -> bytes:
    return raw[: rng.randrange(len(raw) + 1)]


def _tokens(raw: bytes) -> list[tuple[int, int]]:
    """Spans of words and numbers."""
    found, start = [], None
    for at, byte in enumerate(raw + b" "):
        word = chr(byte).isalnum() or chr(byte) in "._-+"
        if word and start is None:
            start = at
        elif not word and start is not None:
            found.append((start, at))
            start = None
    return found


def _substitute(raw: bytes, rng: random.Random) -> bytes:
    tokens = _tokens(raw)
    if not tokens:
        return raw
    start, stop = rng.choice(tokens)
    other = rng.choice(tokens)
    replacement = rng.choice(NASTY) if rng.random() < 0.6 else raw[other[0] : other[1]]
    return raw[:start] + replacement + raw[stop:]


def _insert(raw: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(raw) + 1)
    return raw[:at] + rng.choice(NASTY) + raw[at:]


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _outcome(path: Path) -> str:
    """What becomes of a file: "cases", or the kind of error; anything else is a bug and leaves as it is."""
    kind, errors = _load(path)
    assert errors or kind == "cases"
    for error in errors:
        assert error.what
        assert error.where.startswith(path.as_posix()) or kind == "usage error"
        assert len(str(error)) < 1500
    return kind


def _load(path: Path) -> tuple[str, list[GnllError]]:
    try:
        with _time_limit(LIMIT):
            suite = cases.load([path])
            # What is drawn lazily may fail later only.
            for case in islice(suite.cases("nightly"), 40):
                assert case.id
            return "cases", []
    except CaseFileError as error:
        return "case file error", error.problems
    except UsageError as error:
        return "usage error", [error]
    except GnllError as error:
        return "late error", [error]


def test_the_files_are_valid(tmp_path: Path) -> None:
    for number, raw in enumerate(VALID):
        path = tmp_path / f"v{number}.yaml"
        path.write_bytes(raw)
        assert _outcome(path) == "cases", path.read_text()


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_corruptions(tmp_path: Path, chunk: int) -> None:
    rng = random.Random(chunk)
    path = tmp_path / "x.yaml"
    outcomes: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(CORRUPTIONS // CHUNKS):
        raw = _corrupt(rng.choice(VALID), rng)
        path.write_bytes(raw)
        try:
            outcomes[_outcome(path)] += 1
        except BaseException as error:
            raise AssertionError(f"corruption {number} of chunk {chunk}: {raw!r}") from error
    assert sum(outcomes.values()) == CORRUPTIONS // CHUNKS
    # The corruptions are neither all harmless nor all fatal at the first byte.
    assert outcomes["cases"] > 10
    assert outcomes["case file error"] > 100
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY << 10


@pytest.mark.parametrize(
    "raw",
    [
        b"operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: [99999999999]}\n",
        b"operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: [[4294967295, 4294967295, 4294967295]]}\n",
        b"operator: gaussian_nll_loss_grad\nrandom: {count: 1e12}\n",
        b"operator: gaussian_nll_loss_grad\nrandom: {count: 10000000, rank: [0, 8], elements: [0, 4294967295]}\n",
        b"operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: [" + b"[2]," * 20000 + b"]}\n",
        b"operator: gaussian_nll_loss_grad\nmatrix: {dtype: fp32, shape: ["
        + b",".join(b"[%d]" % n for n in range(20000))
        + b"], eps: ["
        + b",".join(b"%d" % n for n in range(1, 20000))
        + b"]}\n",
        b"operator: gaussian_nll_loss_grad\ndata: {var: '" + b"signed(" * 100000 + b"'}\n",
        b"operator: " + b"x" * 1000000 + b"\n",
        b"k: " * 300000,
        b"- " * 300000,
        b"[" * 300000,
        b"{a: " * 300000,
        b"? " * 300000,
        b"a: &a\n" * 100000,
        b"'" * 1000001,
        b"a: |\n" + b" x\n" * 300000,
        b"# comment\n" * 300000,
        b"\n" * 3000000,
        b"a" * 3000000 + b": 1\n",
        b"operator: gaussian_nll_loss_grad\ncases:\n" + b"  - {name: a, shapes: {input: [1]}}\n" * 3000,
        b"operator: gaussian_nll_loss_grad\ncases:\n  - name: a\n    values: {input: [" + b"1, " * 90000 + b"1]}\n",
        b"operator: gaussian_nll_loss_grad\ntier: &a [x, y]\n" + b"profile: [" + b"*a, " * 40000 + b"]\n",
    ],
    ids=range(22),
)  # fmt: skip
def test_files_made_to_be_slow_or_large(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(raw)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert _outcome(path) in ("cases", "case file error", "usage error")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEMORY << 10
