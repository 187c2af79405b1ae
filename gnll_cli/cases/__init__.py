"""Case files: from YAML to fully expanded cases."""
