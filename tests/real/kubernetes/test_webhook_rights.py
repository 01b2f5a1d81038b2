"""Who keeps the webhook's certificates has enough with its roles, uses each right, and misses each one."""

import subprocess
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from copy import deepcopy
from pathlib import Path

import pytest

from syncret.config.meta import Document, member
from syncret.daemon.core.webhook_names import CRDS
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.parts import Webhook
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry
from tests.real.e2e.process import SYNCRET, environment, free_port, probed, until
from tests.real.kubernetes.installed import apply, place
from tests.real.kubernetes.test_installation import IMAGE, RIGHTS, account_with, each_right, of_the_daemon
from tests.support.servers.kube import crds
from tests.support.servers.kube.running import KubeApi
from tests.support.servers.kube.webhooks import NAMES, trusts

pytestmark = pytest.mark.slow

CONVERTED = f"{crds.CRDS}/{CRDS[0]}"
EVENTS = {("create", "", "events"), ("patch", "", "events")}
"""Written when something fails: another test."""

SEPARATE = Webhook(separate=True, check_interval="1s")


@pytest.fixture(scope="module")
def api() -> Generator[KubeApi]:
    """A server of its own: configurations and CRDs are everybody's."""
    server = KubeApi()
    try:
        crds.install(server)
        yield server
    finally:
        server.stop()


@pytest.fixture
def namespace(api: KubeApi) -> Generator[str]:
    """A namespace; as an old CRD has it, a webhook converts the ExternalSecrets."""
    client = {"service": {"namespace": "old", "name": "old", "path": "/convert"}}
    webhook = {"conversionReviewVersions": ["v1"], "clientConfig": client}
    conversion = {"strategy": "Webhook", "webhook": webhook}
    answer = api.request("PATCH", CONVERTED, {"spec": {"conversion": conversion}})
    assert answer.status == 200, answer
    yield api.namespace()
    for name in NAMES:
        api.request("DELETE", place("ValidatingWebhookConfiguration", name=name))


def installation(namespace: str) -> Installation:
    """The webhook's parts are Deployments of their own, with accounts of their own."""
    name = f"i-{namespace}"
    return Installation(image="registry.example/s:1", name=name, namespace=namespace, webhook=SEPARATE)


def keeper_of(wanted: Installation) -> tuple[list[Document], list[Document]]:
    """The rights of who keeps the certificates, and what it works on."""
    account = f"{wanted.name}-cert-controller"
    documents = [deepcopy(each) for each in render(wanted, Registry())]
    bound = {
        each["metadata"]["name"]
        for each in documents
        if any(subject["name"] == account for subject in each.get("subjects", ()))
    }
    rights = [
        each
        for each in documents
        if each["kind"] in RIGHTS and each["metadata"]["name"] in {*bound, account}
        if each["kind"] != "ServiceAccount" or each["metadata"]["name"] == account
    ]
    return rights, [
        each for each in documents if each["kind"] in {"Secret", "ValidatingWebhookConfiguration"}
    ]


@contextmanager
def running(api: KubeApi, wanted: Installation, token: str, folder: Path, name: str = "") -> Generator[int]:
    """The container of who keeps them, or of another Deployment; gives the port of its probes."""
    kubeconfig, health = api.kubeconfig(folder / "kubeconfig", token), free_port()
    (deployment,) = (
        each
        for each in render(wanted, Registry())
        if (each["kind"], each["metadata"]["name"])
        == ("Deployment", name or f"{wanted.name}-cert-controller")
    )
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    given = {each["name"]: each.get("value", wanted.namespace) for each in container["env"]}
    variables = environment(**{**IMAGE, **given, "KUBECONFIG": str(kubeconfig)})
    more = (f"--set=webhook.healthzAddr=127.0.0.1:{health}", "--set=listen=", "--set=socket=")
    process = subprocess.Popen([SYNCRET, *container["args"], *more], env=variables, stderr=subprocess.PIPE)
    try:
        yield health
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def asked(api: KubeApi, wanted: Installation, account: str = "") -> list[tuple[str, str, str, int]]:
    """Verb, group, resource and status of what it has asked for."""
    requests = api.audited(wanted.namespace, account or f"{wanted.name}-cert-controller")
    return [
        (each.verb, each.group, each.resource, each.status)
        for each in requests
        if each.resource and each.group != "authorization.k8s.io"
    ]


def converts(api: KubeApi) -> Document:
    """The Service that converts ExternalSecrets, as their CRD has it."""
    return member(api.get(CONVERTED) or {}, "spec", "conversion", "webhook", "clientConfig", "service")


def account(wanted: Installation) -> Installation:
    """The installation as one whose only account is that of the keeper."""
    return Installation(image=wanted.image, name=f"{wanted.name}-cert-controller", namespace=wanted.namespace)


def test_the_rights_are_enough_and_each_is_used(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    wanted = installation(namespace)
    rights, objects = keeper_of(wanted)
    token = account_with(api, account(wanted), rights)
    apply(api, objects)
    with running(api, wanted, token, tmp_path) as health:
        until(lambda: probed(health, "readyz"), "everything done")
        assert trusts(api)
    requests = asked(api, wanted)
    assert [each for each in requests if each[3] >= 400] == []
    assert {each[:3] for each in requests} == set(each_right(rights)) - EVENTS
    service = converts(api)
    assert (service["namespace"], service["name"]) == (namespace, f"{wanted.name}-webhook")


def test_inside_the_controller_its_rights_are_enough(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    """Of two replicas the active one keeps the certificates, by the fence of its election."""
    wanted = Installation(
        image="registry.example/s:1",
        name=f"i-{namespace}",
        namespace=namespace,
        replicas=2,
        port=free_port(),
        settings={"controllerClass": namespace},
        webhook=Webhook(port=free_port(), check_interval="1s"),
    )
    documents = [deepcopy(each) for each in render(wanted, Registry())]
    rights = [each for each in documents if each["kind"] in RIGHTS]
    token = account_with(api, wanted, rights)
    apply(api, (each for each in documents if each["kind"] in {"Secret", "ValidatingWebhookConfiguration"}))
    with running(api, wanted, token, tmp_path, wanted.name) as health:
        until(lambda: probed(health, "readyz") and trusts(api), "served, and told")
        until(lambda: converts(api)["namespace"] == namespace, "the CRD told")
    requests = asked(api, wanted, wanted.account)
    assert [each for each in requests if each[3] in {401, 403}] == []
    (role,) = (
        each
        for each in rights
        if (each["kind"], each["metadata"]["name"]) == ("ClusterRole", f"{wanted.name}-webhook")
    )
    assert set(each_right([role, *(each for each in rights if each["kind"].endswith("Binding"))])) <= {
        each[:3] for each in requests
    }


def _rules() -> Iterator[tuple[str, str, int]]:
    rights, _ = keeper_of(installation("x"))
    for role in of_the_daemon(rights):
        for number, rule in enumerate(role["rules"]):
            if rule["resources"] != ["events"]:
                yield role["kind"], rule["resources"][0], number


@pytest.mark.parametrize(("kind", "resource", "number"), list(_rules()))
def test_without_any_one_rule_it_says_that_it_is_not_ready(
    api: KubeApi, namespace: str, tmp_path: Path, kind: str, resource: str, number: int
) -> None:
    wanted = installation(namespace)
    rights, objects = keeper_of(wanted)
    (role,) = (
        each
        for each in of_the_daemon(rights)
        if each["kind"] == kind and [resource] in [rule["resources"] for rule in each["rules"]]
    )
    del role["rules"][number]
    rights = [each for each in rights if each.get("rules") != []]
    token = account_with(api, account(wanted), rights)
    apply(api, objects)
    with running(api, wanted, token, tmp_path) as health:
        until(lambda: any(each[2:] == (resource, 403) for each in asked(api, wanted)), f"{resource} denied")
        assert probed(health, "healthz")
        assert not probed(health, "readyz")


def test_what_cannot_be_written_is_told_beside_it(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    """With the right to read a configuration alone, `kubectl describe` shows why it stays as it is."""
    wanted = installation(namespace)
    rights, objects = keeper_of(wanted)
    for role in of_the_daemon(rights):
        for rule in role["rules"]:
            if rule["resources"] == ["validatingwebhookconfigurations"]:
                rule["verbs"] = ["get"]
    token = account_with(api, account(wanted), rights)
    apply(api, objects)

    def told() -> list[Document]:
        paths = (place("ValidatingWebhookConfiguration", name=name) for name in NAMES)
        uids = {str(member(api.get(path) or {}, "metadata").get("uid")) for path in paths}
        found: list[Document] = (api.get("/api/v1/namespaces/default/events") or {})["items"]
        return [each for each in found if each["involvedObject"].get("uid") in uids]

    with running(api, wanted, token, tmp_path):
        until(told, "told")
    event = told()[0]
    assert (event["type"], event["reason"]) == ("Warning", "UpdateFailed")
    assert event["source"]["component"] == "validating-webhook-configuration"
    assert "cannot update" in event["message"]
