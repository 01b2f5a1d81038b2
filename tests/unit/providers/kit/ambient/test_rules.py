"""Where the daemon's own identity may go: which line allows it, and for which stores."""

import pytest

from syncret.config.settings import OwnIdentity, OwnReceiver, Settings
from syncret.config.settings.groups import OwnIdentityAzure
from syncret.providers.contract import Receiver
from syncret.providers.kit.ambient.rules import Rules

VAULT = "https://vault.example:8200"


def receiver(url: str = VAULT, provider: str = "vault", server_id: str = "") -> Receiver:
    return Receiver(provider, url, "a token", "server", server_id)


def rules(settings: OwnIdentity | None = None, *, strict: bool = True, **environment: str) -> Rules:
    return Rules(settings or OwnIdentity(), strict, environment)


def written(*entries: str | OwnReceiver) -> OwnIdentity:
    return OwnIdentity(receivers={"vault": entries})


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("aws", "https://secretsmanager.eu-west-1.amazonaws.com"),
        ("aws", "https://sts.cn-north-1.amazonaws.com.cn"),
        ("aws", "https://api.ecr.us-gov-west-1.amazonaws.com"),
        ("azurekv", "https://app.vault.azure.net/"),
        ("azurekv", "https://app.vault.usgovcloudapi.net"),
        ("azurekv", "https://login.microsoftonline.com"),
        ("azurekv", "https://app.azurecr.io"),
        ("azurekv", "https://app.eastus.geo.azurecr.io"),
        ("gcpsm", "https://secretmanager.googleapis.com"),
        ("gcpsm", "https://secretmanager.europe-west3.rep.googleapis.com"),
        ("ibm", "https://iam.cloud.ibm.com"),
        ("ibm", "https://private.us-south.iam.cloud.ibm.com"),
        ("ibm", "https://0000-11.us-south.secrets-manager.appdomain.cloud"),
    ],
)
def test_the_clouds_own_servers_are_allowed_to_all_stores(provider: str, url: str) -> None:
    for cluster in (True, False):
        verdict = rules().verdict(receiver(url, provider), cluster=cluster)
        assert verdict.allowed
        assert verdict.by == "the cloud's own server"


@pytest.mark.parametrize(
    ("provider", "url"),
    [
        ("aws", "https://evil.s3.amazonaws.com"),
        ("aws", "https://secretsmanager.eu-west-1.elb.amazonaws.com"),
        ("aws", "http://secretsmanager.eu-west-1.amazonaws.com"),
        ("azurekv", "https://evil.example/app.vault.azure.net"),
        ("azurekv", "https://app.vault.azure.net@evil.example"),
        ("azurekv", "https://app.vault.azure.net.evil.example"),
        ("azurekv", "https://vault.azure.net:8443"),
        ("ibm", "https://evil.appdomain.cloud"),
        ("gcpsm", "https://evil.example"),
        ("vault", VAULT),
        ("vault", "https://app.vault.azure.net"),
    ],
)
def test_no_other_server_is_if_rules_are_strict(provider: str, url: str) -> None:
    verdict = rules().verdict(receiver(url, provider), cluster=True)
    assert not verdict.allowed
    assert "a token must not be sent to" in verdict.reason
    assert verdict.hint


def test_a_refusal_names_the_line_that_would_allow_it() -> None:
    verdict = rules().verdict(receiver(f"{VAULT}/ui?token=x"), cluster=False)
    assert verdict.reason == f"a token must not be sent to {VAULT}"
    assert (
        verdict.hint
        == f"allow it with ownIdentity.receivers.vault: [{VAULT}], or name credentials in the store"
    )


def test_what_is_not_listed_goes_if_rules_are_open() -> None:
    verdict = rules(strict=False).verdict(receiver(), cluster=False)
    assert verdict.allowed
    assert verdict.unlisted
    assert str(verdict).startswith(f"sends a token to {VAULT}; it would be refused if manifests had")


@pytest.mark.parametrize(
    ("strict", "stores", "cluster", "allowed"),
    [
        pytest.param(True, None, True, True, id="strict-cluster"),
        pytest.param(True, None, False, False, id="strict-namespaced"),
        pytest.param(True, "all", False, True, id="strict-all"),
        pytest.param(False, None, False, True, id="open-namespaced"),
        pytest.param(False, "cluster", False, False, id="open-but-written"),
    ],
)
def test_who_may_use_what_is_written(
    *, strict: bool, stores: str | None, cluster: bool, allowed: bool
) -> None:
    settings = written("https://other.example", OwnReceiver(url=VAULT, stores=stores))  # type: ignore[arg-type]  # a table's column
    verdict = rules(settings, strict=strict).verdict(receiver(), cluster=cluster)
    assert verdict.allowed == allowed
    if allowed:
        assert verdict.by == "ownIdentity.receivers.vault[1]"
    else:
        assert "only cluster-scoped stores" in verdict.reason
        assert "stores: all" in verdict.hint


def test_a_later_line_may_allow_more() -> None:
    settings = written(VAULT, OwnReceiver(url="https://*.example:8200", stores="all"))
    assert rules(settings).verdict(receiver(), cluster=True).by == "ownIdentity.receivers.vault[0]"
    assert rules(settings).verdict(receiver(), cluster=False).by == "ownIdentity.receivers.vault[1]"


def test_the_clouds_own_may_be_kept_to_cluster_stores() -> None:
    settings = OwnIdentity(cluster_only=("aws",))
    aws = receiver("https://ssm.eu-west-1.amazonaws.com", "aws")
    for strict in (True, False):
        assert rules(settings, strict=strict).verdict(aws, cluster=True).allowed
        refused = rules(settings, strict=strict).verdict(aws, cluster=False)
        assert not refused.allowed
        assert "clusterOnly" in refused.hint


def test_an_address_in_the_environment_is_written_down() -> None:
    verdict = rules(VAULT_ADDR=VAULT).verdict(receiver(), cluster=True)
    assert (verdict.allowed, verdict.by) == (True, "VAULT_ADDR")
    assert not rules(VAULT_ADDR=VAULT).verdict(receiver(), cluster=False).allowed
    authority = receiver("https://login.stack.local", "azurekv")
    assert rules(AZURE_AUTHORITY_HOST="https://login.stack.local/").verdict(authority, cluster=True).allowed


@pytest.mark.parametrize(
    ("strict", "setting", "manifest", "expected"),
    [
        pytest.param(True, "v1", "", "v1", id="setting"),
        pytest.param(True, "v1", "v1", "v1", id="both"),
        pytest.param(True, "v1", "v2", None, id="another"),
        pytest.param(True, "", "v2", None, id="only-the-manifest"),
        pytest.param(False, "", "v2", "v2", id="only-the-manifest-open"),
        pytest.param(False, "v1", "v2", None, id="another-open"),
        pytest.param(True, "", "", "", id="none"),
    ],
)
def test_a_proof_is_made_for_the_server_that_the_operator_names(
    *, strict: bool, setting: str, manifest: str, expected: str | None
) -> None:
    settings = written(OwnReceiver(url=VAULT, server_id=setting))
    verdict = rules(settings, strict=strict).verdict(receiver(server_id=manifest), cluster=True)
    assert (verdict.server_id if verdict.allowed else None) == expected
    if expected is None:
        assert f"serverId: {manifest}" in verdict.hint


@pytest.mark.parametrize(
    ("mode", "strict"),
    [("auto", False), ("strict", True), ("open", False)],
)
def test_the_mode(mode: str, *, strict: bool) -> None:
    settings = Settings(own_identity=OwnIdentity(mode=mode))  # type: ignore[arg-type]  # a table's column
    assert Rules.of(settings, {}).strict == strict


def test_a_url_that_is_not_plain_is_not_quoted() -> None:
    verdict = rules().verdict(receiver("https://user:secret@vault.example"), cluster=True)
    assert not verdict.allowed
    assert "secret" not in f"{verdict.reason} {verdict.hint}"


@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("namespace", ["platform", "team-a", ""])
def test_the_namespace_of_a_resource_decides_on_its_exports(namespace: str, *, strict: bool) -> None:
    settings = OwnIdentity(mode="open", azure=OwnIdentityAzure(export_namespaces=("platform",)))
    asked = receiver("https://management.azure.com", "azurerm")._replace(exports_of=namespace)
    verdict = rules(settings, strict=strict).verdict(asked, cluster=False)
    assert verdict.allowed == (namespace == "platform")
    assert verdict.allowed or "ownIdentity.azure.exportNamespaces" in verdict.hint


def test_exports_reach_the_resource_manager_that_the_environment_names() -> None:
    settings = OwnIdentity(azure=OwnIdentityAzure(export_namespaces=("platform",)))
    asked = receiver("https://arm.example", "azurerm")._replace(exports_of="platform")
    assert not rules(settings).verdict(asked, cluster=False).allowed
    named = rules(settings, AZURE_RESOURCE_MANAGER_ENDPOINT="https://arm.example")
    assert named.verdict(asked, cluster=False).allowed
