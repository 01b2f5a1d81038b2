"""The provider on its page is complete: it passes the suite, is registered, judged and synced from."""

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from syncret.config.schema.admission import admit
from syncret.config.settings import Settings
from syncret.daemon.cli.commands.providers import provider_rows
from syncret.daemon.one_pass import one_pass
from syncret.providers import builtin
from syncret.providers.registry import Offer, Registry
from tests.suites.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "guides" / "writing-a-provider.md"
LISTINGS = {block.title: block for block in blocks(PAGE, "python")}


def _module(title: str) -> ModuleType:
    """A listing as the module that its title says."""
    block = LISTINGS[title]
    module = ModuleType(title.removesuffix(".py"))
    sys.modules[module.__name__] = module
    code = compile("\n" * block.line + block.text, PAGE, "exec")
    exec(code, module.__dict__)  # noqa: S102  # the page is ours, and running it is the point
    return module


provider = _module("acme_directory.py")
TestDirectory = _module("test_directory.py").TestDirectory

REGISTRY = Registry(
    builtin.STORES,
    entry_points=lambda group: (
        [Offer("directory", "acme_directory:PROVIDER", "acme")] if group == "syncret.providers" else []
    ),
)


def _store(**spec: str) -> dict[str, object]:
    return {
        "apiVersion": "external-secrets.io/v1",
        "kind": "SecretStore",
        "metadata": {"name": "files", "namespace": "default"},
        "spec": {"provider": {"directory": spec}},
    }


def test_the_store_of_the_page_is_judged() -> None:
    [block] = blocks(PAGE, "yaml")
    assert "    directory:\n      path: /srv/secrets\n" in block.text
    assert admit(_store(path="/srv/secrets"), REGISTRY).accepted


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param(
            {"path": "srv"}, ("spec.provider.directory.path", "is not absolute"), id="its own check"
        ),
        pytest.param(
            {"pth": "/"}, ("spec.provider.directory.pth", "did you mean path?"), id="a misspelt field"
        ),
    ],
)
def test_a_wrong_store_is_told(spec: dict[str, str], expected: tuple[str, str]) -> None:
    problems = admit(_store(**spec), REGISTRY).problems

    assert any(each.path == expected[0] and expected[1] in str(each) for each in problems)


def test_the_table_of_providers_says_what_it_can() -> None:
    [row] = [row for row in provider_rows(REGISTRY) if row.name == "directory"]

    assert (row.reachable, row.can, row.batch) == (True, ("read", "find", "probe"), 100)


async def test_a_secret_is_synced_from_it(tmp_path: Path) -> None:
    folder, manifests = tmp_path / "entries", tmp_path / "manifests"
    folder.mkdir()
    manifests.mkdir()
    (folder / "db").write_text('{"password": "correct horse"}')
    (manifests / "all.yaml").write_text(
        f"""\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {{name: files}}
spec: {{provider: {{directory: {{path: {folder}}}}}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: db}}
spec:
  secretStoreRef: {{name: files}}
  data: [{{secretKey: password, remoteRef: {{key: db, property: password}}}}]
"""
    )
    output = tmp_path / "out"
    settings = Settings(manifests=(os.fspath(manifests),), output_dir=os.fspath(output), state_file="")
    result = await one_pass(settings, REGISTRY)

    assert (result.problems, result.failures) == ([], {})
    assert (output / "default" / "db" / "password").read_text() == "correct horse"
