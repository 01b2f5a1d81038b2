"""A store that rides on the operator's identity is told, with the setting by which it still may."""

from collections.abc import Mapping
from typing import Any

import msgspec

from syncret.config.meta import Document, ref_of
from syncret.config.settings import OwnIdentity, Settings
from syncret.daemon.cli.migration.identities import identities_of
from syncret.daemon.homes.contract import StoredObject
from syncret.providers.kit.ambient.rules import Rules
from syncret.providers.registry import Registry

ROLE: Document = {"kubernetes": {"mountPath": "kubernetes", "role": "r"}}


def store(server: str, auth: Mapping[str, Any], namespace: str = "") -> StoredObject:
    kind = "SecretStore" if namespace else "ClusterSecretStore"
    document = {
        "apiVersion": "external-secrets.io/v1",
        "kind": kind,
        "metadata": {"name": "v", **({"namespace": namespace} if namespace else {})},
        "spec": {"provider": {"vault": {"server": server, "path": "kv", "auth": auth}}},
    }
    return StoredObject(
        ref=ref_of(document), uid="u", resource_version="1", data=msgspec.json.encode(document)
    )


def rules(environment: Mapping[str, str] | None = None, **own: Any) -> Rules:  # noqa: ANN401  # members of a struct
    settings = Settings(kubernetes=True, own_identity=OwnIdentity(**own))
    return Rules.of(settings, environment or {})


def test_a_cluster_store_needs_a_line() -> None:
    found = identities_of([store("https://vault.example:8200", ROLE)], Registry(), rules())
    assert [str(each.ref) for each in found.lost] == ["ClusterSecretStore/v"]
    assert found.setting == {"ownIdentity": {"receivers": {"vault": ["https://vault.example:8200"]}}}
    assert not found.remaining


def test_a_store_of_a_namespace_needs_one_for_all() -> None:
    users = [store("https://vault.example:8200", ROLE), store("https://vault.example:8200/", ROLE, "a")]
    found = identities_of(users, Registry(), rules())
    (entry,) = found.setting["ownIdentity"]["receivers"]["vault"]
    assert entry == {"url": "https://vault.example:8200", "stores": "all"}
    assert not found.remaining


def test_with_the_lines_nobody_loses_anything() -> None:
    users = [store("https://vault.example:8200", ROLE), store("https://b.example", ROLE, "a")]
    first = identities_of(users, Registry(), rules())
    again = identities_of(users, Registry(), rules(receivers=dict(first.receivers)))
    assert again.lost == ()


def test_what_the_settings_have_is_kept() -> None:
    users = [store("https://vault.example:8200", ROLE)]
    found = identities_of(users, Registry(), rules(receivers={"vault": ("https://other.example",)}))
    assert found.receivers["vault"] == ("https://other.example", "https://vault.example:8200")


def test_who_names_credentials_loses_nothing() -> None:
    token = {"tokenSecretRef": {"name": "t", "key": "k"}}
    assert not identities_of([store("https://vault.example:8200", token)], Registry(), rules()).lost


def test_an_address_in_the_operators_environment_counts() -> None:
    users = [store("https://vault.example:8200", ROLE)]
    assert not identities_of(users, Registry(), rules({"VAULT_ADDR": "https://vault.example:8200"})).lost


def test_a_server_that_no_setting_can_name_is_told() -> None:
    found = identities_of([store("https://user@vault.example/", ROLE)], Registry(), rules())
    assert [str(each.ref) for each in found.remaining] == ["ClusterSecretStore/v"]
