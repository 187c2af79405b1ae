"""The speed and memory of the harness against its peers, as ratios measured in one run. ``python -m benchmarks``."""
