"""Stands where templates are rendered, in tests that have none."""

from collections.abc import Callable


def no_template(template: str) -> Callable[[str], str]:
    raise AssertionError(f"nobody should have asked for {template}")
