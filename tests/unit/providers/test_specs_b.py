"""What the stores from Nebius to Yandex demand beyond their schemas, and the rules between their fields."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
import yaml

from syncret.config.catalog import Scope
from syncret.config.errors import Problem
from syncret.config.fields import Model
from syncret.config.meta import Document
from syncret.providers.gitlab.deploy_token import GitlabDeployTokenSpec
from syncret.providers.nebiusmysterybox.spec import NebiusAuth, NebiusSpec, check
from syncret.providers.onepassword_sdk.spec import OnePasswordSDKSpec
from syncret.providers.openbao.spec import OpenBaoAppRole, OpenBaoAuth, OpenBaoSpec
from syncret.providers.pulumi.spec import PulumiAuth, PulumiSpec
from syncret.providers.registry import Registry
from syncret.providers.secretserver.spec import SecretServerRef, SecretServerSpec

TABLE = Path(__file__).with_name("specs_b.yaml")
REGISTRY = Registry(entry_points=lambda _group: ())
HERE = Scope(cluster=False, namespace="here")
CLUSTER = Scope(cluster=True)


def patched(document: Document, change: Document) -> Document:
    """The document after a JSON merge patch."""
    result = dict(document)
    for key, value in change.items():
        before = result.pop(key, None)
        if isinstance(before, dict) and isinstance(value, dict):
            result[key] = patched(cast("Document", before), cast("Document", value))
        elif value is not None:
            result[key] = value
    return result


def rows() -> Iterator[Any]:
    table: Document = yaml.safe_load(TABLE.read_text())
    del table[".words"]
    for provider, entry in table.items():
        cases: list[Document] = [{"case": "valid"}, *entry["cases"]]
        for case in cases:
            document = patched(entry["valid"], case.get("change", {}))
            scope = CLUSTER if case.get("cluster") else HERE
            name = f"{provider}-{case['case'].replace(' ', '-')}"
            yield pytest.param(provider, document, scope, case.get("problems", {}), id=name)


@pytest.mark.parametrize(("provider", "document", "scope", "expected"), list(rows()))
def test_a_store_is_refused_for_what_its_provider_cannot_use(
    provider: str, document: Document, scope: Scope, expected: dict[str, str]
) -> None:
    spec = REGISTRY.store(provider)
    assert spec.check is not None

    problems = list(spec.check(msgspec.convert(document, spec.model), scope))

    assert [problem.path for problem in problems if problem.path not in expected] == []
    assert {path for path in expected if path not in {problem.path for problem in problems}} == set()
    for problem in problems:
        assert expected[problem.path] in problem.message
        assert problem.hint


@pytest.mark.parametrize(
    ("domain", "reason"),
    [
        pytest.param("api.example.com", "", id="host"),
        pytest.param("api.example.com:443", "", id="host and port"),
        pytest.param("API.Example.com", "", id="capitals"),
        pytest.param("bücher.example", "", id="internationalised"),
        pytest.param("", "API domain must be set", id="empty"),
        pytest.param("  ", "API domain must be set", id="blank"),
        pytest.param("https://a.example", "API domain is not valid: scheme is not allowed", id="scheme"),
        pytest.param("a.b:1:2", "too many colons", id="two ports"),
        pytest.param("example.com.", "must not end with a dot", id="rooted"),
        pytest.param("localhost", "at least one dot", id="one label"),
        pytest.param("under_score.example.com", "invalid label", id="underscore"),
        pytest.param("-a.example.com", "invalid label", id="outer hyphen"),
        pytest.param("a..example.com", "invalid label", id="empty label"),
        pytest.param(f"{'a' * 64}.example.com", "invalid label", id="long label"),
        pytest.param(f"{'a.' * 130}com", "length out of range", id="long"),
        pytest.param(f"{'ü' * 70}.example", "not an internationalised domain name", id="long when encoded"),
        pytest.param("10.0.0.1", "numeric TLD", id="address"),
    ],
)
def test_the_domain_of_mysterybox_is_a_host_name(domain: str, reason: str) -> None:
    document = {"apiDomain": domain, "auth": {"tokenSecretRef": {"name": "s", "key": "k"}}}

    problems: list[Problem] = list(check(msgspec.convert(document, NebiusSpec), HERE))

    assert [problem.path for problem in problems] == ["apiDomain"] * bool(reason)
    assert all(reason in problem.message for problem in problems)


NEBIUS = "either serviceAccountCredsSecretRef or tokenSecretRef must be set"
SDK = "at most one of the fields in [vault environment] may be set"
BAO = "at most one of the fields in [caBundle caProvider] may be set"
BAO_AUTH = "exactly one of the fields in [appRole tokenSecretRef userPass] must be set"
BAO_ROLE = "exactly one of the fields in [roleId roleRef] must be set"
PULUMI = "Exactly one of 'auth' or deprecated 'accessToken' must be specified"
PULUMI_AUTH = "Exactly one of 'accessToken' or 'oidcConfig' must be specified"
LOGIN = "either token, or both username and password, must be set"
VALUE = "exactly one of value or secretRef must be set"
OWNER = "exactly one of projectID or groupID must be set"


@pytest.mark.parametrize(
    ("model", "fields", "broken"),
    [
        pytest.param(NebiusAuth, "", NEBIUS, id="nebius-none"),
        pytest.param(NebiusAuth, "tokenSecretRef", "", id="nebius-token"),
        pytest.param(NebiusAuth, "tokenSecretRef serviceAccountCredsSecretRef", "", id="nebius-both"),
        pytest.param(OnePasswordSDKSpec, "auth", "", id="onepasswordSDK-none"),
        pytest.param(OnePasswordSDKSpec, "auth vault", "", id="onepasswordSDK-vault"),
        pytest.param(OnePasswordSDKSpec, "auth vault environment", SDK, id="onepasswordSDK-both"),
        pytest.param(OpenBaoSpec, "server caBundle", "", id="openbao-bundle"),
        pytest.param(OpenBaoSpec, "server caBundle caProvider", BAO, id="openbao-both"),
        pytest.param(OpenBaoAuth, "", BAO_AUTH, id="openbao-auth-none"),
        pytest.param(OpenBaoAuth, "userPass namespace", "", id="openbao-auth-one"),
        pytest.param(OpenBaoAuth, "userPass appRole", BAO_AUTH, id="openbao-auth-two"),
        pytest.param(OpenBaoAppRole, "secretRef", BAO_ROLE, id="openbao-role-none"),
        pytest.param(OpenBaoAppRole, "secretRef roleRef", "", id="openbao-role-ref"),
        pytest.param(OpenBaoAppRole, "secretRef roleRef roleId", BAO_ROLE, id="openbao-role-both"),
        pytest.param(PulumiSpec, "", PULUMI, id="pulumi-none"),
        pytest.param(PulumiSpec, "accessToken", "", id="pulumi-deprecated"),
        pytest.param(PulumiSpec, "accessToken auth", PULUMI, id="pulumi-both"),
        pytest.param(PulumiAuth, "", PULUMI_AUTH, id="pulumi-auth-none"),
        pytest.param(PulumiAuth, "oidcConfig", "", id="pulumi-auth-oidc"),
        pytest.param(PulumiAuth, "oidcConfig accessToken", PULUMI_AUTH, id="pulumi-auth-both"),
        pytest.param(SecretServerSpec, "username", LOGIN, id="secretserver-half"),
        pytest.param(SecretServerSpec, "username password", "", id="secretserver-user"),
        pytest.param(SecretServerSpec, "token", "", id="secretserver-token"),
        pytest.param(SecretServerRef, "", VALUE, id="secretserver-no-value"),
        pytest.param(SecretServerRef, "value", "", id="secretserver-value"),
        pytest.param(SecretServerRef, "value secretRef", VALUE, id="secretserver-two-values"),
        pytest.param(GitlabDeployTokenSpec, "name", OWNER, id="deploy-token-none"),
        pytest.param(GitlabDeployTokenSpec, "groupID", "", id="deploy-token-group"),
        pytest.param(GitlabDeployTokenSpec, "groupID projectID", OWNER, id="deploy-token-both"),
    ],
)
def test_rules_between_fields(model: type[Model], fields: str, broken: str) -> None:
    document: Document = dict.fromkeys(fields.split())

    assert [rule.message for rule in model.RULES if not rule.holds(document)] == ([broken] if broken else [])
