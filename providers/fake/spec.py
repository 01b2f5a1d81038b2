"""The spec of a fake store: its values are in the manifest itself."""

from collections.abc import Iterator

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model


class FakeData(Model):
    """One entry, in one version.

    Example: {key: database, value: secret, version: v1}
    """

    key: str
    """Name of the entry. Example: database"""
    value: str
    """Its value; it stands in the manifest, so never write a real one.
    Example: '{"user": "app", "password": "secret"}'"""
    version: str = ""
    """Version of the entry; empty: the one that is read if none is named. Example: v1"""


class FakeSpec(Model):
    """Values in memory, for samples, tests and trying things out.

    Example: {data: [{key: database, value: secret}]}
    """

    data: tuple[FakeData, ...]
    """The entries."""
    validation_result: int = 0
    """The result of checking the store: 0 ready, 1 unknown, 2 an error. Example: 2"""


def check(spec: FakeSpec, _scope: Scope) -> Iterator[Problem]:
    """Every entry has a key and a value."""
    for index, entry in enumerate(spec.data):
        place = f"data[{index}]"
        if not entry.key:
            yield Problem(path=f"{place}.key", message=f"key must be set in data {index}")
        elif not entry.value:
            yield Problem(path=f"{place}.value", message=f"at least one value must be set in data {index}")
