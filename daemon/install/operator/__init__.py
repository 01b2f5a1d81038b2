"""The installation that the operator's objects describe: its choices, their checks, its objects."""
