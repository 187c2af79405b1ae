"""One file per report format: a module with ``FORMAT`` (see gnll_cli/reports/interface.py) is found by itself."""
