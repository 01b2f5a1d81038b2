"""A pass tells of everything that did not go well, even of what nobody foresaw."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import pytest

from syncret.config.catalog import SpecType
from syncret.config.fields import Model
from syncret.config.meta import ObjectRef
from syncret.config.settings import Settings
from syncret.daemon.homes.contract import StorageUnavailable
from syncret.daemon.one_pass import one_pass
from syncret.providers.contract import OpenContext, Provider, Readiness
from syncret.providers.registry import Registry

MANIFEST = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: faulty}
spec: {provider: {faulty: {}}}
"""


class FaultySpec(Model):
    """No fields."""


class FaultyClient:
    """Fails in a way that no provider should."""

    error: Exception = ZeroDivisionError()

    async def probe(self) -> Readiness:
        raise self.error


@asynccontextmanager
async def _open(_spec: FaultySpec, _context: OpenContext) -> AsyncGenerator[FaultyClient]:
    yield FaultyClient()


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    module = ModuleType("faulty_provider")
    module.PROVIDER = Provider(SpecType("faulty", FaultySpec), open=_open)  # type: ignore[attr-defined]  # a module made here
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return Registry(stores={"faulty": "faulty_provider:PROVIDER"}, generators={}, entry_points=lambda _: [])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        pytest.param(ZeroDivisionError(), "internal error: ZeroDivisionError (please report it)", id="a-bug"),
        pytest.param(StorageUnavailable("no space", hint="free some"), "no space (free some)", id="the-home"),
    ],
)
async def test_what_ends_a_run_is_a_failure_of_the_pass(
    registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, told: str
) -> None:
    monkeypatch.setattr(FaultyClient, "error", error)
    file = tmp_path / "store.yaml"
    file.write_text(MANIFEST)
    result = await one_pass(Settings(manifests=(os.fspath(file),), output_dir="", state_file=""), registry)

    ref = ObjectRef("external-secrets.io", "SecretStore", "default", "faulty")
    assert result.failures == {ref: told}
