"""Reports of a run, and the gate."""
