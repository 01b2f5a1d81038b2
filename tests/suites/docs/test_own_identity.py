"""The page about the daemon's own identity: settings, tables and sentences are those of the code."""

from pathlib import Path

import pytest
import yaml

from syncret.config.servers import server_of
from syncret.config.settings import OwnIdentity
from syncret.config.settings_layers import load_settings
from syncret.daemon.one_pass import one_pass
from syncret.providers.contract import Receiver
from syncret.providers.kit.ambient.known_servers import is_known
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.registry import Registry
from tests.suites.docs.pages import ROOT, blocks

PAGE = ROOT / "docs/guides/own-identity.md"
TEXT = PAGE.read_text()
EXAMPLES = [block.text for block in blocks(PAGE, "yaml")]
STORE = """\
apiVersion: external-secrets.io/v1
kind: SecretStore
metadata: {name: vault, namespace: team-a}
spec:
  provider: {vault: {server: "https://vault.example", auth: {kubernetes: {role: r, mountPath: kubernetes}}}}
"""


def example(tmp_path: Path, text: str) -> OwnIdentity:
    (tmp_path / "syncret.yaml").write_text(text)
    return load_settings(tmp_path / "syncret.yaml", {}, ()).own_identity


def test_the_examples_are_settings(tmp_path: Path) -> None:
    for text in EXAMPLES:
        assert example(tmp_path, text) != OwnIdentity(), text
    names = {name for text in EXAMPLES for name in yaml.safe_load(text)["ownIdentity"].get("receivers", ())}
    assert names
    assert names <= set(Registry().store_names())


@pytest.mark.parametrize(
    ("url", "cluster", "allowed"),
    [
        ("https://vault.example.com:8200", True, True),
        ("https://vault.example.com:8200", False, False),
        ("https://vault.team-a.example", False, True),
        ("https://eu.vault.example", True, True),
        ("https://another.example", True, False),
    ],
)
def test_what_the_example_allows(tmp_path: Path, url: str, *, cluster: bool, allowed: bool) -> None:
    (settings,) = (example(tmp_path, text) for text in EXAMPLES if "receivers" in text)
    rules = Rules(settings, strict=True, environment={})
    assert rules.verdict(Receiver("vault", url, "a token"), cluster=cluster).allowed == allowed


@pytest.mark.parametrize(
    ("provider", "host"),
    [
        ("azurekv", "a.vault.azure.net"),
        ("azurekv", "a.managedhsm.azure.net"),
        ("azurekv", "a.azurecr.io"),
        ("azurekv", "login.microsoftonline.com"),
        ("gcpsm", "secretmanager.googleapis.com"),
        ("ibm", "iam.cloud.ibm.com"),
        ("ibm", "a.us-south.secrets-manager.appdomain.cloud"),
    ],
)
def test_the_table_of_the_clouds_own_servers(provider: str, host: str) -> None:
    server = server_of(f"https://{host}")
    assert server is not None
    assert is_known(provider, server)
    shown = host if f"`{host}`" in TEXT else host.replace("a.", "*.", 1).replace("us-south", "<region>")
    assert f"`{shown}`" in TEXT


async def test_a_bound_folder_makes_the_rules_strict(tmp_path: Path) -> None:
    """What the page quotes is the condition of the store of a tenant."""
    (tmp_path / "team-a").mkdir()
    (tmp_path / "team-a" / "store.yaml").write_text(STORE)
    (tmp_path / "syncret.yaml").write_text(
        f"manifests: [{{path: {tmp_path}/team-a, namespaces: [team-a]}}]\noutputDir: ''\nstateFile: ''\n"
    )
    result = await one_pass(load_settings(tmp_path / "syncret.yaml", {}, ()), Registry(), dry_run=True)
    (message,) = result.failures.values()
    quoted = "a token of the daemon's own ServiceAccount must not be sent to https://"
    assert quoted in TEXT
    assert quoted in message
    assert "allow it with ownIdentity.receivers.vault: [" in TEXT
    assert "allow it with ownIdentity.receivers.vault: [https://vault.example]" in message
