"""The spec of a fake store: its values are in the manifest itself."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model


class FakeData(Model):
    """One entry, in one version."""

    key: str
    value: str
    version: str = ""


class FakeSpec(Model):
    """Values in memory, for samples, tests and trying things out."""

    data: tuple[FakeData, ...]
    validation_result: int = 0
    """The result of probing the store: 0 ready, 1 unknown, 2 an error."""


def check(spec: FakeSpec, _scope: Scope) -> Iterator[Problem]:
    """Every entry has a key and a value."""
    for index, entry in enumerate(spec.data):
        place = f"data[{index}]"
        if not entry.key:
            yield Problem(path=f"{place}.key", message=f"key must be set in data {index}")
        elif not entry.value:
            yield Problem(path=f"{place}.value", message=f"at least one value must be set in data {index}")
