"""`render` on a real API server: its objects are accepted, its roles are enough, and none of them is idle."""

import asyncio
import re
import subprocess
from collections.abc import Generator, Iterator, Sequence
from copy import deepcopy
from itertools import product
from pathlib import Path

import pytest

from syncret.config.meta import Document
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.parts import (
    DisruptionBudget,
    NetworkPolicy,
    Pod,
    ServiceAccount,
    TargetResource,
    Webhook,
)
from syncret.daemon.install.render import render
from syncret.daemon.install.roles import READ
from syncret.providers.registry import Registry
from tests.real.e2e.process import SYNCRET, environment, free_port, probed, until
from tests.real.kubernetes.installed import Scenario, apply, daemon_of, installation, place
from tests.support.servers.kube.running import KubeApi, Request
from tests.support.waiting import until as eventually

pytestmark = pytest.mark.slow

RIGHTS = ("ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding")
IMAGE = {
    "SYNCRET_MANIFESTS": "/manifests",
    "SYNCRET_OUTPUT_DIR": "/secrets",
    "SYNCRET_LISTEN": "0.0.0.0:9847",
}
"""What the image sets for a sidecar."""


def rights(wanted: Installation) -> list[Document]:
    """What of the rendering gives rights."""
    return [deepcopy(each) for each in render(wanted, Registry()) if each["kind"] in RIGHTS]


def of_the_daemon(documents: Sequence[Document]) -> Iterator[Document]:
    """The roles among them that are bound to the daemon's account."""
    bound = {each["roleRef"]["name"] for each in documents if each["kind"].endswith("Binding")}
    yield from (each for each in documents if "rules" in each and each["metadata"]["name"] in bound)


def allowed(api: KubeApi, token: str, role: Document) -> bool:
    """Whether the server already acts by a role: it learns of roles and bindings a little later."""
    for rule in role["rules"][:1]:
        resource, _, subresource = rule["resources"][0].partition("/")
        attributes = {
            "namespace": role["metadata"].get("namespace", ""),
            "verb": rule["verbs"][0],
            "group": rule["apiGroups"][0],
            "resource": resource,
            "subresource": subresource,
            "name": rule.get("resourceNames", [""])[0],
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        asked = {"spec": {"resourceAttributes": attributes}}
        if not api.request("POST", path, asked, token=token).body["status"]["allowed"]:
            return False
    return True


def account_with(api: KubeApi, wanted: Installation, documents: Sequence[Document]) -> str:
    """A token of the account that has these roles, once the server acts by them."""
    apply(api, documents)
    token = api.token(wanted.namespace, wanted.account)
    roles = list(of_the_daemon(documents))
    until(lambda: all(allowed(api, token, role) for role in roles), "roles in force")
    return token


@pytest.fixture
def scenario(api: KubeApi, namespace: str) -> Generator[Scenario]:
    scenario = Scenario(api, namespace)
    yield scenario
    scenario.sweep()


def each_right(documents: Sequence[Document]) -> Iterator[tuple[str, str, str]]:
    """Verb, group and resource of each right of the daemon's account."""
    for role in of_the_daemon(documents):
        for rule in role["rules"]:
            yield from product(rule["verbs"], rule["apiGroups"], rule["resources"])


def granted(documents: Sequence[Document]) -> set[tuple[str, str, str]]:
    """The rights that a daemon must use; of those to read, `watch` alone."""
    return {
        (verb, group, resource)
        for verb, group, resource in each_right(documents)
        if not resource.endswith("/finalizers")  # the server asks for this one itself, at admission
        and (verb == "watch" or verb not in READ)
    }


def used(requests: Sequence[Request]) -> set[tuple[str, str, str]]:
    return {
        (each.verb, each.group, each.resource)
        for each in requests
        if each.resource and (each.verb == "watch" or each.verb not in READ)
    }


def listed(requests: Sequence[Request]) -> list[str]:
    """Requests that list, or that any old version would do for."""
    of_any_version = re.compile(r"[?&]resourceVersion=0(&|$)")
    return [each.uri for each in requests if each.verb == "list" or of_any_version.search(each.uri)]


@pytest.mark.parametrize("scope", ["cluster", "one namespace"])
async def test_the_rights_are_enough_and_each_is_used(
    api: KubeApi, namespace: str, scenario: Scenario, scope: str
) -> None:
    only = scope == "one namespace"
    wanted = installation(namespace, only=only)
    documents = rights(wanted)
    token = account_with(api, wanted, documents)
    async with daemon_of(api, wanted, token):
        await scenario.play(everywhere=not only)
    asked = [
        each
        for each in api.audited(namespace, wanted.account)
        if each.group != "authorization.k8s.io"  # the test's own question
    ]
    assert [each for each in asked if each.status in {401, 403}] == []
    assert used(asked) == granted(documents)
    assert listed(asked) == [], "I18: watches begin with what there is, and runs read by name"


def _rules() -> Iterator[tuple[int, int]]:
    documents = rights(installation("x"))
    for number, role in enumerate(of_the_daemon(documents)):
        yield from ((number, index) for index in range(len(role["rules"])))


def _about(place_: tuple[int, int]) -> str:
    role = list(of_the_daemon(rights(installation("x"))))[place_[0]]
    rule = role["rules"][place_[1]]
    return f"{'+'.join(rule['verbs'])} {rule['resources'][0]}"


@pytest.mark.parametrize("rule", [pytest.param(each, id=_about(each)) for each in _rules()])
async def test_without_any_one_rule_it_breaks(
    api: KubeApi, namespace: str, scenario: Scenario, rule: tuple[int, int]
) -> None:
    wanted = installation(namespace)
    documents = rights(wanted)
    del list(of_the_daemon(documents))[rule[0]]["rules"][rule[1]]
    token = account_with(api, wanted, documents)

    def denied() -> bool:
        return any(each.status == 403 for each in api.audited(namespace, wanted.account))

    async with daemon_of(api, wanted, token):
        play = asyncio.create_task(scenario.play(everywhere=True), name="play")
        await eventually(lambda: denied() or play.done())
        finished = play.done() and not play.exception()
        play.cancel()
        await asyncio.gather(play, return_exceptions=True)
    assert denied()
    assert not finished


@pytest.mark.parametrize(
    "wanted",
    [
        pytest.param(Installation(image="registry.example/syncret:1"), id="plain"),
        pytest.param(
            Installation(
                image="r.example/s:1",
                replicas=3,
                disruption_budget=DisruptionBudget(min_available="50%"),
                network_policy=NetworkPolicy(),
            ),
            id="several replicas",
        ),
        pytest.param(Installation(image="r.example/s:1", only_namespace="default"), id="one namespace"),
        pytest.param(Installation(image="r.example/s:1", webhook=Webhook()), id="webhook"),
        pytest.param(
            Installation(image="r.example/s:1", webhook=Webhook(separate=True)), id="three processes"
        ),
        pytest.param(
            Installation(
                image="r.example/s:1",
                labels={"team": "platform"},
                settings={"logLevel": "debug"},
                generic_targets=(TargetResource(group="apps", resources=("deployments",)),),
                service_account=ServiceAccount(name="other", annotations={"cloud.example/role": "r"}),
                network_policy=NetworkPolicy(
                    clients=[{"podSelector": {}}], egress=[{"ports": [{"port": 443}]}]
                ),
                pod=Pod(
                    labels={"a": "b"},
                    pull_secrets=("registry",),
                    env=[{"name": "HTTPS_PROXY", "value": "http://proxy.example"}],
                    volumes=[{"name": "ca", "configMap": {"name": "ca"}}],
                    volume_mounts=[{"name": "ca", "mountPath": "/etc/ca"}],
                    spec={"priorityClassName": "system-cluster-critical", "nodeSelector": {"a": "b"}},
                ),
            ),
            id="much",
        ),
    ],
)
def test_the_server_accepts_every_object(api: KubeApi, namespace: str, wanted: Installation) -> None:
    for each in render(wanted, Registry()):
        if each["metadata"].get("namespace") == wanted.namespace:
            each["metadata"]["namespace"] = namespace
        path = place(each["kind"], each["metadata"].get("namespace", ""))
        answer = api.request("POST", f"{path}?dryRun=All&fieldValidation=Strict", each)
        assert answer.status == 201, answer
        assert not answer.warnings


def test_the_container_starts_and_answers_its_probes(api: KubeApi, namespace: str, tmp_path: Path) -> None:
    socket = {"name": "SYNCRET_SOCKET", "value": str(tmp_path / "control.sock")}
    wanted = Installation(
        image="registry.example/syncret:1",
        name=f"i-{namespace}",
        namespace=namespace,
        only_namespace=namespace,
        replicas=2,
        port=free_port(),
        pod=Pod(env=[socket]),
    )
    token = account_with(api, wanted, rights(wanted))
    kubeconfig = api.kubeconfig(tmp_path / "kubeconfig", token)
    (deployment,) = (each for each in render(wanted, Registry()) if each["kind"] == "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    given = {each["name"]: each.get("value", namespace) for each in container["env"]}
    variables = environment(**{**IMAGE, **given, "KUBECONFIG": str(kubeconfig)})
    process = subprocess.Popen([SYNCRET, *container["args"]], env=variables, stderr=subprocess.PIPE)
    try:
        for probe in ("livenessProbe", "readinessProbe"):
            path = container[probe]["httpGet"]["path"]

            def answers(path: str = path) -> bool:
                assert process.poll() is None, process.communicate()[1].decode()
                return probed(wanted.port, path.removeprefix("/"))

            until(answers, path)
        process.terminate()
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()
    assert not [each for each in api.audited(namespace, wanted.account) if each.status == 403]
