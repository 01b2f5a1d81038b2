"""How stores are opened: most of these functions are found by name, where no type checker looks."""

from contextlib import AbstractAsyncContextManager
from inspect import unwrap
from typing import Any, get_type_hints

import pytest

from syncret.daemon.cli.commands.providers import capabilities
from syncret.providers import builtin
from syncret.providers.contract import OnFirstUse, Provider
from syncret.providers.registry import Registry
from tests.support.opened import context


@pytest.fixture(params=builtin.STORES)
def provider(request: pytest.FixtureRequest) -> Provider[Any]:
    return Registry().provider(request.param)


def test_a_store_is_opened_with_the_spec_of_its_provider(provider: Provider[Any]) -> None:
    assert provider.open is not None
    hints = get_type_hints(unwrap(provider.open))
    spec, *_ = hints.values()
    assert spec is provider.spec.model
    assert isinstance(provider.open(None, context()), AbstractAsyncContextManager)


def test_the_module_that_opens_a_store_is_of_its_provider(provider: Provider[Any]) -> None:
    assert provider.open is not None
    package, _, _ = builtin.STORES[provider.name].partition(":")
    assert unwrap(provider.open).__module__ in {package, f"{package}.connection"}


def test_a_library_that_is_missing_is_no_error_of_the_table() -> None:
    assert capabilities(OnFirstUse("acme_without_its_library")) == ()
