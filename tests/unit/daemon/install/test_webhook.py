"""The webhook of an installation: what is called finds its server, and who keeps the certificate may."""

from collections.abc import Sequence
from typing import Any

import pytest

from syncret.config.meta import Document
from syncret.daemon.core.webhook_names import PATHS
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.parts import CertManager, NetworkPolicy, Webhook
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry

CATALOG = Registry()


def rendered(webhook: Webhook | None, **values: Any) -> Sequence[Document]:  # noqa: ANN401  # any member
    return render(
        Installation(image="registry.example/s:1", namespace="ns", name="x", webhook=webhook, **values),
        CATALOG,
    )


def of(kind: str, documents: Sequence[Document], name: str | None = None) -> list[Document]:
    found = (each for each in documents if each["kind"] == kind)
    return [each for each in found if name is None or each["metadata"]["name"] == name]


def one(kind: str, documents: Sequence[Document], name: str | None = None) -> Document:
    (found,) = of(kind, documents, name)
    return found


def template(documents: Sequence[Document], name: str) -> Document:
    found: Document = one("Deployment", documents, name)["spec"]["template"]
    return found


def settings(container: Document) -> dict[str, str]:
    """What a container is started with by `--set`."""
    given = container["args"]
    pairs = (given[place + 1] for place, each in enumerate(given) if each == "--set")
    return dict(pair.split("=", 1) for pair in pairs)


def without(documents: Sequence[Document]) -> set[tuple[str, str]]:
    return {(each["kind"], each["metadata"]["name"]) for each in documents}


WAYS = {
    "in the controller": Webhook(),
    "by cert-manager": Webhook(cert_manager=CertManager()),
    "separate": Webhook(separate=True),
    "separate, by cert-manager": Webhook(separate=True, cert_manager=CertManager()),
}


@pytest.mark.parametrize("webhook", WAYS.values(), ids=WAYS)
def test_each_path_of_the_daemon_is_called_through_a_service_that_finds_its_pods(webhook: Webhook) -> None:
    documents = rendered(webhook)
    called = {
        hook["clientConfig"]["service"]["path"]: hook
        for configuration in of("ValidatingWebhookConfiguration", documents)
        for hook in configuration["webhooks"]
    }
    assert called.keys() == PATHS.keys()
    assert {hook["failurePolicy"] for hook in called.values()} == {"Ignore"}
    assert {tuple(hook["rules"][0]["operations"]) for hook in called.values()} == {("CREATE", "UPDATE")}
    service = one("Service", documents, "x-webhook")
    assert {(hook["clientConfig"]["service"]["name"]) for hook in called.values()} == {"x-webhook"}
    found = template(documents, "x-webhook" if webhook.separate else "x")
    assert service["spec"]["selector"].items() <= found["metadata"]["labels"].items()
    container = found["spec"]["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert ports[service["spec"]["ports"][0]["targetPort"]] == int(settings(container)["webhook.port"])


def test_without_a_webhook_there_is_nothing_of_it() -> None:
    documents = rendered(None)
    assert not [name for _, name in without(documents) if "webhook" in name or "validate" in name]
    assert "webhook.enabled" not in settings(template(documents, "x")["spec"]["containers"][0])
    assert without(rendered(Webhook(), only_namespace="ns")) == without(rendered(None, only_namespace="ns"))


def test_inside_the_controller_the_daemon_sees_to_the_certificate() -> None:
    documents = rendered(Webhook(failure_policy="Fail", check_interval="1m"))
    given = settings(template(documents, "x")["spec"]["containers"][0])
    assert given["webhook.enabled"] == "true"
    assert given["webhook.secret"] == given["webhook.service"] == "ns/x-webhook"
    assert given["webhook.checkInterval"] == "1m"
    secret = one("Secret", documents, "x-webhook")
    assert "data" not in secret
    role = one("ClusterRole", documents, "x-webhook")
    assert all(rule["resourceNames"] for rule in role["rules"])
    assert one("ClusterRoleBinding", documents, "x-webhook")["subjects"][0]["name"] == "x"
    assert not of("Role", documents, "x-webhook"), "it may write all Secrets anyway"
    configuration = one("ValidatingWebhookConfiguration", documents, "externalsecret-validate")
    assert configuration["metadata"]["labels"]["external-secrets.io/component"] == "webhook"
    assert configuration["webhooks"][0]["failurePolicy"] == "Fail"


def test_with_cert_manager_nothing_is_written_and_its_files_are_mounted() -> None:
    issuer = {"kind": "ClusterIssuer", "name": "own"}
    documents = rendered(Webhook(cert_manager=CertManager(issuer=issuer, spec={"duration": "2160h"})))
    certificate = one("Certificate", documents)
    assert certificate["spec"]["issuerRef"] == issuer
    assert certificate["spec"]["duration"] == "2160h"
    assert "x-webhook.ns.svc" in certificate["spec"]["dnsNames"]
    spec = template(documents, "x")["spec"]
    (volume,) = (each for each in spec["volumes"] if "secret" in each)
    assert volume["secret"]["secretName"] == certificate["spec"]["secretName"]
    assert [each["key"] for each in volume["secret"]["items"]] == ["tls.crt", "tls.key"]
    (mount,) = (each for each in spec["containers"][0]["volumeMounts"] if each["name"] == volume["name"])
    assert settings(spec["containers"][0])["webhook.certDir"] == mount["mountPath"]
    assert not [each for each in of("ClusterRole", documents) if each["metadata"]["name"] == "x-webhook"]
    assert not of("Secret", documents)
    for configuration in of("ValidatingWebhookConfiguration", documents):
        assert configuration["metadata"]["annotations"] == {"cert-manager.io/inject-ca-from": "ns/x-webhook"}


def test_separate_parts_have_accounts_of_their_own_with_what_each_needs() -> None:
    documents = rendered(Webhook(separate=True))
    parts = {name: template(documents, name)["spec"] for name in ("x", "x-webhook", "x-cert-controller")}
    only = {name: spec["containers"][0]["args"][:4] for name, spec in parts.items()}
    assert only == {
        "x": ["run", "--kubernetes", "--set", "listen=:9847"],
        "x-webhook": ["run", "--kubernetes", "--only", "webhook"],
        "x-cert-controller": ["run", "--kubernetes", "--only", "certificates"],
    }
    main = parts["x"]["containers"][0]["args"]
    assert main[main.index("--only") + 1] == "controller"
    assert parts["x-webhook"]["automountServiceAccountToken"] is False
    assert {each["metadata"]["name"] for each in of("ServiceAccount", documents)} == set(parts)
    for kind in ("ClusterRoleBinding", "RoleBinding"):
        for binding in of(kind, documents, "x-cert-controller"):
            assert [each["name"] for each in binding["subjects"]] == ["x-cert-controller"]
    own, events = of("Role", documents, "x-cert-controller")
    assert (events["metadata"]["namespace"], events["rules"][0]["resources"]) == ("default", ["events"])
    (rule,) = own["rules"]
    assert (rule["resources"], rule["resourceNames"], rule["verbs"]) == (
        ["secrets"],
        ["x-webhook"],
        ["get", "update"],
    )
    for name, spec in parts.items():
        labels = template(documents, name)["metadata"]["labels"]
        selector = one("Deployment", documents, name)["spec"]["selector"]["matchLabels"]
        assert selector.items() <= labels.items()
        assert spec["serviceAccountName"] == name
    selectors = [each["spec"]["selector"]["matchLabels"] for each in of("Deployment", documents)]
    assert len({str(each) for each in selectors}) == 3, "no Deployment has another's Pods"


def test_the_api_server_may_connect() -> None:
    documents = rendered(Webhook(port=9443), network_policy=NetworkPolicy(clients=[{"podSelector": {}}]))
    policy = one("NetworkPolicy", documents)
    (rule,) = (each for each in policy["spec"]["ingress"] if "from" not in each)
    assert [port["port"] for port in rule["ports"]] == [9443]
