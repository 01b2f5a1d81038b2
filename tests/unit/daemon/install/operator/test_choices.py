"""Of two objects and the operator's environment: what counts."""

from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.config.schema.admission import admit
from syncret.daemon.install.operator.choices import (
    CLEAN_UP,
    Bitwarden,
    CertManager,
    Choices,
    Environment,
    Proxy,
    choices,
)
from syncret.providers.registry import Registry

OWN = Environment(image="registry.example.com/syncret:1", version="1", proxy=Proxy(https="http://own:3128"))
ISSUER = {"name": "ca", "kind": "clusterIssuer", "group": "Cert-Manager.io"}
CHOSEN = CertManager(
    inject=False,
    issuer={"name": "ca", "kind": "ClusterIssuer", "group": "cert-manager.io"},
    duration="8760h",
    renew_before="30m",
)
PROXY = {"httpProxy": "http://proxy:1"}


def admitted(kind: str, spec: Document) -> Document:
    head = {"apiVersion": "operator.openshift.io/v1alpha1", "kind": kind, "metadata": {"name": "cluster"}}
    result = admit({**head, "spec": spec}, Registry())
    assert result.accepted, result.problems
    assert result.document is not None
    return result.document


def chosen(config: Document, manager: Document | None = None) -> Choices:
    return choices(
        admitted("ExternalSecretsConfig", config), admitted("ExternalSecretsManager", manager or {}), OWN
    )


def app(**fields: Any) -> Document:  # noqa: ANN401  # any field of appConfig
    return {"appConfig": fields}


def globally(**fields: Any) -> Document:  # noqa: ANN401  # any field of globalConfig
    return {"globalConfig": fields}


def test_nothing_chosen() -> None:
    assert chosen({}) == Choices(namespace="external-secrets", proxy=OWN.proxy)


@pytest.mark.parametrize(
    ("config", "manager", "level"),
    [
        ({}, {}, "info"),
        (app(logLevel=3), {}, "info"),
        (app(logLevel=4), {}, "debug"),
        (app(logLevel=5), globally(logLevel=2), "debug"),
        (app(logLevel=2), globally(logLevel=5), "info"),
        (app(operatingNamespace="a"), globally(logLevel=5), "debug"),  # the schema filled in a 1
        ({}, globally(logLevel=5), "debug"),
    ],
)
def test_the_level_of_the_log(config: Document, manager: Document, level: str) -> None:
    assert chosen(config, manager).log_level == level


@pytest.mark.parametrize(
    ("name", "value", "empty"),
    [
        ("resources", {"limits": {"memory": "1Gi"}}, {}),
        ("tolerations", [{"operator": "Exists"}], []),
        ("nodeSelector", {"disk": "fast"}, {}),
        ("affinity", {"nodeAffinity": {}}, {}),
    ],
)
def test_a_place_is_taken_whole_and_empty_means_none(name: str, value: object, empty: object) -> None:
    assert chosen(app(**{name: value})).pods == {name: value}
    assert chosen({}, globally(**{name: value})).pods == {name: value}
    assert chosen(app(**{name: empty}), globally(**{name: value})).pods == {name: empty}


def test_a_proxy_is_taken_whole() -> None:
    both = chosen(app(proxy=PROXY), globally(proxy={"noProxy": "a"}))
    assert both.proxy == Proxy(http="http://proxy:1")
    assert chosen({}, globally(proxy={**PROXY, "networkPolicyProvisioning": "Unmanaged"})).proxy == Proxy(
        http="http://proxy:1", managed=False
    )
    assert not chosen(app(proxy={"httpProxy": ""})).proxy
    assert chosen({}).proxy


def test_labels_of_the_config_win_and_reserved_ones_are_left_out() -> None:
    found = chosen(
        {"controllerConfig": {"labels": {"team": "b", "app": "mine", "app.kubernetes.io/name": "x"}}},
        globally(labels={"team": "a", "cost": "1", "external-secrets.io/component": "x"}),
    )
    assert found.labels == {"team": "b", "cost": "1"}
    assert found.ignored == (
        "label app: it is the operator's own",
        "label app.kubernetes.io/name: it is the operator's own",
        "label external-secrets.io/component: it is the operator's own",
    )


def test_features() -> None:
    listed = [(CLEAN_UP, "false"), ("Warp", "true"), (CLEAN_UP, "true")]
    found = chosen({}, {"features": [{"name": name, "enabled": on} for name, on in listed]})
    assert found.clean_up
    assert found.ignored == (
        f"feature {CLEAN_UP}: it is listed 2 times, and the last entry counts",
        "feature Warp: there is none of that name",
    )


@pytest.mark.parametrize(
    "config",
    [
        app(certManagerConfig={"enabled": "true", "issuerRef": ISSUER}),
        {"controllerConfig": {"certProvider": {"certManager": {"mode": "Enabled", "issuerRef": ISSUER}}}},
    ],
)
def test_cert_manager_in_either_place(config: Document) -> None:
    assert chosen(config).cert_manager == CHOSEN


def test_an_issuer_without_a_kind_is_one_of_the_namespace() -> None:
    manager = {"mode": "Enabled", "issuerRef": {"name": "ca"}, "injectAnnotations": "true"}
    found = chosen({"controllerConfig": {"certProvider": {"certManager": manager}}}).cert_manager
    assert found is not None
    assert found.inject
    assert found.issuer["kind"] == "Issuer"


def test_bitwarden_in_either_place() -> None:
    secret = {"secretRef": {"name": "tls"}}
    name = "bitwardenSecretManagerProvider"
    assert chosen(app(**{name: {"enabled": "true", **secret}})).bitwarden == Bitwarden("tls")
    assert chosen({"plugins": {name: {"mode": "Enabled", **secret}}}).bitwarden == Bitwarden("tls")
    assert chosen(app(**{name: secret})).bitwarden is None
    assert chosen(app(**{name: {"enabled": "true"}})).bitwarden == Bitwarden("")


def test_single_components() -> None:
    variable = {"name": "SYNCRET_WORKERS", "value": "64"}
    found = chosen(
        {
            "controllerConfig": {
                "componentConfigs": [
                    {"componentName": "Webhook", "overrideEnv": [variable]},
                    {"componentName": "CertController", "deploymentConfigs": {}},
                ]
            }
        }
    )
    assert found.variables == {"Webhook": [variable]}
    assert found.revisions == {"CertController": 10}
