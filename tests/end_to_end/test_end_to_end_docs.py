"""What the README shows is true: its case file runs green, and its mistakes are told as shown."""

from __future__ import annotations

import re
from pathlib import Path

from conftest import ROOT, Gnll, statuses

README = (ROOT / "README.md").read_text()


def test_the_case_file_of_the_readme_is_green(gnll: Gnll, tmp_path: Path) -> None:
    (text,) = re.findall(r"```yaml\n(.*?)```", README, re.S)
    (tmp_path / "mine.yaml").write_text(text)
    assert gnll("lint", "mine.yaml").stdout.count(": ") == 0
    assert gnll("run", "mine.yaml").returncode == 0
    assert len(statuses(tmp_path / "reports")) == 144


def test_every_command_and_document_that_the_readme_names_is_there(gnll: Gnll) -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).is_file(), link
    listed = gnll("--help").stdout
    for command in set(re.findall(r"(?:`|\$ )gnll ([a-z][a-z-]+)", README)):
        assert re.search(rf"^  {command} ", listed, re.M), command
