"""The table of providers: derived from what is there, not from what somebody claims."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from syncret.daemon.cli.commands.providers import capabilities, generator_rows, provider_rows
from syncret.daemon.cli.main import main
from syncret.providers import builtin
from syncret.providers.contract import Paced
from syncret.providers.registry import Registry
from syncret.providers.values import FindQuery, SecretMap
from syncret.providers.work import Work


class FindOnly:
    """A client that can look for entries and do nothing else."""

    converts_keys = False

    async def find(self, query: FindQuery, paced: Paced, work: Work) -> SecretMap:
        return {}


@asynccontextmanager
async def open_find_only() -> AsyncGenerator[FindOnly, None]:
    yield FindOnly()


def test_capabilities_are_those_of_the_client() -> None:
    assert capabilities(open_find_only) == ("find",)


def test_every_provider_and_generator_is_listed() -> None:
    registry = Registry()
    assert {row.name for row in provider_rows(registry)} == set(builtin.STORES)
    assert {row.kind for row in generator_rows(registry)} == set(builtin.GENERATORS)


def test_the_embedded_store_can_do_everything() -> None:
    fake = next(row for row in provider_rows(Registry()) if row.name == "fake")
    assert fake.reachable
    assert fake.can == ("read", "find", "push", "delete", "probe")


def test_every_provider_that_can_be_reached_can_do_something() -> None:
    assert all(row.can for row in provider_rows(Registry()) if row.reachable)


def test_both_formats(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["providers"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("PROVIDER")
    assert main(["providers", "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["providers"]) == len(builtin.STORES)
    assert len(text.splitlines()) == len(builtin.STORES) + len(builtin.GENERATORS) + 3
