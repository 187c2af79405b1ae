"""The tiers of the case suite, in order: selecting one selects those before it too. Apart, so that ``--help`` loads nothing else."""

TIERS = ("smoke", "full", "nightly")
