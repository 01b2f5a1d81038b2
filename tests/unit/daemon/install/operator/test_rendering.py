"""What the operator installs for a configuration: which objects, in which order, with what in them."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from syncret.config.meta import Document
from syncret.daemon.install.operator.choices import (
    Bitwarden,
    CertManager,
    Choices,
    Environment,
    Policy,
    Proxy,
)
from syncret.daemon.install.operator.rendering import is_left_alone, name_of, wanted
from syncret.providers.registry import Registry

OWN = Environment(
    image="registry.example.com/syncret:1.2.3",
    version="1.2.3",
    bitwarden_image="registry.example.com/bitwarden:0.5",
    bitwarden_version="0.5",
)
PLAIN = Choices(namespace="secrets")
ISSUED = CertManager(
    inject=True,
    issuer={"name": "ca", "kind": "Issuer", "group": "cert-manager.io"},
    duration="8760h",
    renew_before="30m",
)
REGISTRY = Registry()
CONTROLLER, WEBHOOK, KEEPER, BITWARDEN = (
    *("external-secrets", "external-secrets-webhook", "external-secrets-cert-controller"),
    "bitwarden-sdk-server",
)


def rendered(chosen: Choices = PLAIN) -> Sequence[Document]:
    return wanted(chosen, OWN, REGISTRY)


def names(chosen: Choices = PLAIN, kind: str = "") -> list[str]:
    return [each["metadata"]["name"] for each in rendered(chosen) if kind in {"", each["kind"]}]


def one(chosen: Choices, kind: str, name: str) -> Any:  # noqa: ANN401  # any object
    (found,) = (each for each in rendered(chosen) if (each["kind"], each["metadata"]["name"]) == (kind, name))
    return found


def container(chosen: Choices, name: str) -> Any:  # noqa: ANN401  # as the object has it
    return one(chosen, "Deployment", name)["spec"]["template"]["spec"]["containers"][0]


def variables(chosen: Choices, name: str) -> dict[str, str]:
    return {each["name"]: each.get("value", "") for each in container(chosen, name)["env"]}


def test_kinds_come_in_the_order_in_which_they_are_needed() -> None:
    order = list(dict.fromkeys(each["kind"] for each in rendered()))
    assert order == [
        *("Namespace", "Role", "RoleBinding", "ServiceAccount", "Secret", "ClusterRole"),
        *("ClusterRoleBinding", "Service", "Deployment", "ValidatingWebhookConfiguration"),
    ]


def test_names_are_those_that_bindings_and_alerts_know() -> None:
    assert names(kind="ServiceAccount") == [CONTROLLER, WEBHOOK, KEEPER]
    assert names(kind="Deployment") == [CONTROLLER, WEBHOOK, KEEPER]
    assert names(kind="Secret") == [WEBHOOK]
    assert names(kind="Service") == [
        "external-secrets-metrics",
        WEBHOOK,
        "external-secrets-cert-controller-metrics",
    ]
    assert names(kind="ValidatingWebhookConfiguration") == ["secretstore-validate", "externalsecret-validate"]
    assert {"external-secrets-controller", "external-secrets-view", "external-secrets-edit"} < {
        *names(kind="ClusterRole")
    }
    assert "external-secrets-leaderelection" in names(kind="Role")


def test_every_object_is_found_by_its_labels_and_says_of_which_component_it_is() -> None:
    for each in rendered(replace(PLAIN, labels={"team": "a", "app": "never"}, annotations={"a.b/c": "d"})):
        labels = each["metadata"]["labels"]
        assert labels["team"] == "a"
        assert labels["app"] == "external-secrets-operator"
        assert labels["app.kubernetes.io/managed-by"] == "external-secrets-operator"
        assert labels["app.kubernetes.io/part-of"] == "external-secrets-operator"
        assert labels["app.kubernetes.io/version"] == "v1.2.3"
        assert each["metadata"]["annotations"]["a.b/c"] == "d"
        if each["kind"] == "Deployment":
            template = each["spec"]["template"]["metadata"]
            assert template["labels"] == labels
            assert template["annotations"] == {"a.b/c": "d"}
            assert labels["app.kubernetes.io/name"] == each["metadata"]["name"]
            assert set(each["spec"]["selector"]["matchLabels"]) == {
                "app.kubernetes.io/name",
                "app.kubernetes.io/instance",
            }
    assert one(PLAIN, "Service", WEBHOOK)["metadata"]["labels"]["app.kubernetes.io/name"] == WEBHOOK


def test_a_service_finds_the_pods_of_its_component() -> None:
    for service in ("external-secrets-metrics", WEBHOOK, "external-secrets-cert-controller-metrics"):
        selector = one(PLAIN, "Service", service)["spec"]["selector"]
        matching = [
            each["metadata"]["name"]
            for each in rendered()
            if each["kind"] == "Deployment"
            and selector.items() <= each["spec"]["template"]["metadata"]["labels"].items()
        ]
        assert matching == [service.removesuffix("-metrics")]


def test_what_others_decide_is_not_said() -> None:
    for each in rendered():
        if each["kind"] == "Deployment":
            assert each["spec"].keys() == {"selector", "template"}


def test_pods_are_confined_and_get_their_user_from_the_cluster() -> None:
    for name in (CONTROLLER, WEBHOOK, KEEPER, BITWARDEN):
        pod = one(replace(PLAIN, bitwarden=Bitwarden("tls")), "Deployment", name)["spec"]["template"]["spec"]
        assert pod["securityContext"] == {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }
        assert pod["containers"][0]["securityContext"]["readOnlyRootFilesystem"]
        assert pod["enableServiceLinks"] is False
        assert pod["automountServiceAccountToken"] is (name in {CONTROLLER, KEEPER})


def test_places_and_resources_hold_for_all_components() -> None:
    pods = {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
        "resources": {"limits": {"memory": "1Gi"}},
    }
    for name in (CONTROLLER, WEBHOOK, KEEPER):
        pod = one(replace(PLAIN, pods=pods), "Deployment", name)["spec"]["template"]["spec"]
        assert pod["nodeSelector"] == pods["nodeSelector"]
        assert pod["tolerations"] == pods["tolerations"]
        assert pod["containers"][0]["resources"] == pods["resources"]


def test_a_level_of_the_log_and_an_interval() -> None:
    chosen = replace(PLAIN, log_level="debug", check_interval="10m")
    for name in (CONTROLLER, WEBHOOK, KEEPER):
        arguments = container(chosen, name)["args"]
        assert "logLevel=debug" in arguments
        assert "logFormat=json" in arguments
        assert ("webhook.checkInterval=10m" in arguments) is (name != CONTROLLER)


def test_single_components_are_tuned() -> None:
    chosen = replace(
        PLAIN,
        proxy=Proxy(https="http://proxy:3128"),
        variables={
            "ExternalSecretsCoreController": [
                {"name": "HTTPS_PROXY", "value": "http://other:1"},
                {"name": "SYNCRET_WORKERS", "value": "64"},
            ]
        },
        revisions={"Webhook": 3},
    )
    assert variables(chosen, CONTROLLER)["HTTPS_PROXY"] == "http://other:1"
    assert variables(chosen, CONTROLLER)["https_proxy"] == "http://proxy:3128"
    assert variables(chosen, CONTROLLER)["SYNCRET_WORKERS"] == "64"
    assert variables(chosen, WEBHOOK)["HTTPS_PROXY"] == "http://proxy:3128"
    assert "HTTP_PROXY" not in variables(chosen, WEBHOOK)
    assert one(chosen, "Deployment", WEBHOOK)["spec"]["revisionHistoryLimit"] == 3
    assert "revisionHistoryLimit" not in one(chosen, "Deployment", CONTROLLER)["spec"]


def test_behind_a_proxy_more_authorities_are_trusted() -> None:
    chosen = replace(PLAIN, proxy=Proxy(http="http://proxy:3128"))
    bundle = one(chosen, "ConfigMap", "external-secrets-trusted-ca-bundle")
    assert bundle["metadata"]["labels"]["config.openshift.io/inject-trusted-cabundle"] == "true"
    assert "data" not in bundle
    assert "trustedCaFile=/etc/syncret/trusted-ca/ca-bundle.crt" in container(chosen, CONTROLLER)["args"]
    pod = one(chosen, "Deployment", CONTROLLER)["spec"]["template"]["spec"]
    assert {"name": bundle["metadata"]["name"], "optional": True} in [
        each.get("configMap") for each in pod["volumes"]
    ]
    assert names(kind="ConfigMap") == []


def test_one_namespace_is_looked_after_by_a_role_there() -> None:
    chosen = replace(PLAIN, only_namespace="shop")
    assert one(chosen, "Role", "external-secrets-controller")["metadata"]["namespace"] == "shop"
    assert "external-secrets-controller" not in names(chosen, "ClusterRole")
    arguments = container(chosen, CONTROLLER)["args"]
    assert arguments[arguments.index("--namespace") + 1] == "shop"
    for kind in ("clusterStore", "clusterExternalSecret", "clusterPushSecret"):
        assert f"process.{kind}=false" in arguments
    assert len(names(chosen, "ValidatingWebhookConfiguration")) == 2


def test_cert_manager_in_the_place_of_the_keeper_of_certificates() -> None:
    chosen = replace(PLAIN, cert_manager=ISSUED)
    assert len(rendered(chosen)) == 19
    assert not [each for each in rendered(chosen) if KEEPER in each["metadata"]["name"]]
    spec = one(chosen, "Certificate", WEBHOOK)["spec"]
    assert spec["secretName"] == "external-secrets-webhook-cm"
    assert (spec["duration"], spec["renewBefore"]) == ("8760h", "30m")
    assert spec["dnsNames"] == [WEBHOOK, f"{WEBHOOK}.secrets", f"{WEBHOOK}.secrets.svc"]
    volumes = one(chosen, "Deployment", WEBHOOK)["spec"]["template"]["spec"]["volumes"]
    assert volumes[0]["secret"]["secretName"] == "external-secrets-webhook-cm"
    for name in ("secretstore-validate", "externalsecret-validate"):
        annotations = one(chosen, "ValidatingWebhookConfiguration", name)["metadata"]["annotations"]
        assert annotations == {"cert-manager.io/inject-ca-from": "secrets/external-secrets-webhook"}


def test_bitwarden() -> None:
    chosen = replace(PLAIN, bitwarden=Bitwarden("tls"))
    assert {each["kind"] for each in rendered(chosen) if each["metadata"]["name"] == BITWARDEN} == {
        *("ServiceAccount", "Service", "Deployment")
    }
    labels = one(chosen, "Deployment", BITWARDEN)["metadata"]["labels"]
    assert labels["app.kubernetes.io/version"] == "v0.5"
    volumes = one(chosen, "Deployment", BITWARDEN)["spec"]["template"]["spec"]["volumes"]
    assert volumes[0]["secret"]["secretName"] == "tls"
    issued = replace(PLAIN, bitwarden=Bitwarden(""), cert_manager=ISSUED)
    assert "bitwarden-tls-certs" in names(issued, "Certificate")


def test_what_bitwarden_left_stays_unless_it_is_to_be_cleaned_up() -> None:
    left = list(rendered(replace(PLAIN, bitwarden=Bitwarden("tls"))))
    kept = {each["metadata"]["name"] for each in left if is_left_alone(each, PLAIN)}
    assert kept == {BITWARDEN, "secrets"}
    kept = {each["metadata"]["name"] for each in left if is_left_alone(each, replace(PLAIN, clean_up=True))}
    assert kept == {"secrets"}


def test_nothing_is_isolated_until_a_policy_is_written() -> None:
    assert names(replace(PLAIN, proxy=Proxy(http="http://proxy:3128")), "NetworkPolicy") == []


@pytest.mark.parametrize(("managed", "expected"), [(True, ["allow-egress-to-proxy"]), (False, [])])
def test_an_isolated_installation(*, managed: bool, expected: list[str]) -> None:
    vault = Policy("vault", "ExternalSecretsCoreController", [{"ports": [{"port": 8200}]}])
    chosen = replace(
        PLAIN,
        bitwarden=Bitwarden("tls"),
        proxy=Proxy(http="http://proxy:3128", managed=managed),
        policies=(vault, Policy("vault", "BitwardenSDKServer", [])),
    )
    assert names(chosen, "NetworkPolicy") == [
        "deny-all-traffic",
        "allow-to-dns",
        "allow-api-server-egress-for-main-controller",
        "allow-api-server-egress-for-webhook",
        "allow-api-server-egress-for-cert-controller",
        "allow-api-server-egress-for-bitwarden-server",
        *expected,
        "eso-user-vault",
        "eso-user-vault-bitwarden-sdk-server",
    ]
    spec = one(chosen, "NetworkPolicy", "eso-user-vault")["spec"]
    assert spec["egress"] == vault.egress
    assert spec["podSelector"]["matchLabels"]["app.kubernetes.io/name"] == CONTROLLER
    if managed:
        ports = one(chosen, "NetworkPolicy", "allow-egress-to-proxy")["spec"]["egress"][0]["ports"]
        assert ports == [{"protocol": "TCP", "port": 3128}]


def test_the_operator_has_rights_where_it_installs() -> None:
    (subject,) = one(PLAIN, "RoleBinding", "external-secrets-operator")["subjects"]
    assert subject["namespace"] == OWN.namespace
    assert name_of(one(PLAIN, "Role", "external-secrets-operator")).namespace == "secrets"


def test_the_same_choices_give_the_same_objects() -> None:
    assert rendered() == rendered()
