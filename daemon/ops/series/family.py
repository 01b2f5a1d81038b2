"""Describes a metric once: its name, its type, its help text and its labels."""

from typing import Final, Literal, NamedTuple

NAMED: Final = ("name", "namespace")
"""The labels of an object, where the metric says its kind."""


class Family(NamedTuple):
    """One metric: its name, type, help text and label names."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    text: str
    labels: tuple[str, ...] = ()

    @property
    def header(self) -> str:
        return f"# HELP {self.name} {self.text}\n# TYPE {self.name} {self.type}\n"
