"""The operator on a real API server: what it installs, what it says about it, and what it repairs."""

import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from msgspec.structs import replace

from syncret.config.meta import Document, member
from syncret.config.settings import Operator
from tests.real.operator.operating import (
    ALLOWING,
    CONFIG,
    IMAGE,
    MANAGER,
    OPERAND,
    PLACES,
    SETTINGS,
    condition,
    events,
    installed,
    operating,
    versions,
)
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi, Request

pytestmark = pytest.mark.slow

CORE = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/external-secrets"


async def test_a_configuration_becomes_an_installation(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.configure()
        await operated.until_ready("False", "waits for Deployment external-secrets")
        assert operated.condition()["reason"] == "Progressing"
        assert len(installed(api)) == 25  # and the namespace
        roll_out(api, OPERAND, available=False)
        await operated.until_ready("False", "0 of 1 available")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        config = api.get(CONFIG)
        assert config is not None
        assert condition(config, "Degraded")["status"] == "False"
        assert condition(config, "Accepted")["reason"] == "Accepted"
        assert config["status"]["externalSecretsImage"] == IMAGE
        await operated.until(
            lambda: any(
                each["type"] == "Ready" and each["status"] == "True"
                for entry in member(api.get(MANAGER) or {}, "status").get("controllerStatuses", ())
                for each in entry["conditions"]
            ),
            "the manager says so, too",
        )


async def test_drift_is_repaired(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
        before = versions(api)
        foreign = {"name": "foreign", "image": "example.com/x:1"}
        body = api.get(CORE)
        assert body is not None
        pod = body["spec"]["template"]["spec"]
        pod["containers"] = [{**pod["containers"][0], "image": "example.com/y:1"}, foreign]
        pod["nodeSelector"] = {"a": "b"}
        assert api.request("PUT", CORE, body).status == 200

        def repaired() -> bool:
            live = api.get(CORE) or {}
            pod = live["spec"]["template"]["spec"]
            return [each["image"] for each in pod["containers"]] == [IMAGE] and "nodeSelector" not in pod

        await operated.until(repaired, "the Deployment is as it was")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        after = versions(api)
        assert {path for path, version in after.items() if before[path] != version} == {CORE}


@pytest.mark.parametrize("place", [*PLACES, "/api/v1/namespaces"], ids=lambda place: place.rpartition("/")[2])
async def test_of_each_kind_what_is_ours_comes_back(api: KubeApi, namespace: str, place: str) -> None:
    """Altered, stripped of its labels, deleted: it is as it was; what others have added stays."""
    async with operating(api, namespace) as operated:
        await operated.install()
        path = next(
            (each for each in installed(api) if each.rpartition("/")[0] == place), f"{place}/{OPERAND}"
        )
        if place.endswith(("configmaps", "networkpolicies")):
            pytest.skip("there is none by default")
        before = api.get(path)
        assert before is not None

        def is_back() -> bool:
            now = api.get(path)
            return now is not None and ours_of(now) == ours_of(before)

        stripped = {"labels": {"app.kubernetes.io/part-of": None, "app": "x", "theirs": "y"}}
        api.request("PATCH", path, {"metadata": {**stripped, "annotations": {"theirs": "z"}}})
        await operated.until(is_back, "the labels are back")
        now = api.get(path)
        assert now is not None
        assert now["metadata"]["labels"]["theirs"] == "y"
        assert now["metadata"]["annotations"]["theirs"] == "z"
        change = CHANGES.get(before["kind"])
        if change is not None:
            answer = api.request("PATCH", path, change(before))
            assert answer.status == 200, answer
            assert not is_back()
            await operated.until(is_back, "the content is back")
        if before["kind"] != "Namespace":
            assert api.request("DELETE", path).status == 200
            await operated.until(is_back, "the object is back")


CHANGES: Mapping[str, Callable[[Document], Document]] = {
    "Deployment": lambda _: {
        "spec": {"template": {"spec": {"serviceAccountName": "x", "nodeSelector": {"a": "b"}}}}
    },
    "Service": lambda found: {
        "spec": {"ports": [*found["spec"]["ports"], {"name": "x", "port": 99}], "selector": {"a": "b"}}
    },
    "ClusterRole": lambda _: {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "NetworkPolicy": lambda _: {"spec": {"podSelector": {"matchLabels": {"a": "b"}}}},
    "Certificate": lambda _: {"spec": {"secretName": "x", "dnsNames": ["example.com"]}},
    "Role": lambda _: {"rules": []},
    "RoleBinding": lambda _: {"subjects": []},
    "ClusterRoleBinding": lambda _: {"subjects": []},
    "ValidatingWebhookConfiguration": lambda found: {
        "webhooks": [{**each, "failurePolicy": "Fail", "timeoutSeconds": 9} for each in found["webhooks"]]
        + [{**found["webhooks"][0], "name": "other.example.com"}]
    },
}


def ours_of(document: Document) -> object:
    """What must not change for good: the content and our labels."""
    labels = {name: value for name, value in document["metadata"]["labels"].items() if name != "theirs"}
    content = {
        name: value
        for name, value in document.items()
        if name in {"spec", "rules", "subjects", "roleRef", "webhooks"}
    }
    if document["kind"] in {"Service", "Namespace"}:
        content = {name: content["spec"].get(name) for name in ("ports", "selector", "type")}
    return labels, content


async def test_replicas_and_what_others_claim_stay(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
        scale = {"metadata": {"name": "external-secrets", "namespace": OPERAND}, "spec": {"replicas": 3}}
        assert api.request("PATCH", f"{CORE}/scale", scale).status == 200
        await operated.until_ready("False", "waits for Deployment external-secrets")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        await operated.configure(appConfig={"logLevel": 5})
        await operated.until_ready("False")
        found = api.get(CORE)
        assert found is not None
        assert found["spec"]["replicas"] == 3
        assert "logLevel=debug" in found["spec"]["template"]["spec"]["containers"][0]["args"]


async def test_what_is_not_chosen_any_more_is_taken_away(api: KubeApi, namespace: str) -> None:
    toleration = {"key": "infra", "operator": "Exists", "effect": "NoSchedule"}
    async with operating(api, namespace) as operated:
        await operated.install(
            appConfig={
                "resources": {"limits": {"memory": "1024Mi", "cpu": "0.5"}},
                "tolerations": [toleration],
                "nodeSelector": {"a": "b"},
                "proxy": {"httpsProxy": "http://proxy.example.com:3128"},
            },
            controllerConfig={
                "labels": {"team": "platform", "app": "mine"},
                "annotations": {"example.com/a": "b"},
                "networkPolicies": [ALLOWING],
            },
        )
        assert operated.condition("Accepted")["reason"] == "PartlyIgnored"
        settled = versions(api)
        many = len(settled)
        await operated.running.engine.wait_idle()
        assert versions(api) == settled
        await operated.install()
        assert many - len(installed(api)) == 8  # seven policies and the ConfigMap
        live = api.get(CORE)
        assert live is not None
        pod = live["spec"]["template"]["spec"]
        assert not {"tolerations", "nodeSelector"} & pod.keys()
        assert pod["containers"][0].get("resources") in (None, {})
        assert not any("PROXY" in each["name"] for each in pod["containers"][0]["env"])
        assert "team" not in live["metadata"]["labels"]
        assert not live["metadata"].get("annotations", {}).get("example.com/a")


async def test_a_bad_configuration_changes_nothing(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
        before = versions(api)
        requests = {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}
        await operated.configure(appConfig={"resources": requests, "logLevel": 5})
        await operated.until_ready("False", "must be less than or equal to cpu limit")
        assert operated.condition("Degraded")["status"] == "True"
        assert versions(api) == before
        await operated.configure()
        await operated.until_ready("True")
        assert versions(api) == before


async def test_deleting_the_configuration_leaves_everything(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
        assert operated.ready() == 1.0
        before = versions(api)
        api.request("DELETE", CONFIG)

        def told() -> bool:
            statuses = member(api.get(MANAGER) or {}, "status").get("controllerStatuses", ())
            return any("not managed" in each["message"] for entry in statuses for each in entry["conditions"])

        await operated.until(told, "the manager says so")
        await operated.until(lambda: events(api, "RemoveDeployment"), "an event tells it")
        assert len(events(api, "RemoveDeployment")) == 1
        assert math.isnan(operated.ready())
        api.request("PATCH", CORE, {"metadata": {"labels": {"team": "x"}}})
        await operated.running.engine.wait_idle()
        await operated.configure()
        await operated.until_ready("True")
        after = versions(api)
        assert {path for path, version in after.items() if before[path] != version} == {CORE}


async def test_the_manager_is_made_again(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.until(lambda: api.get(MANAGER), "the manager is made")
        api.request("DELETE", MANAGER)
        await operated.until(lambda: api.get(MANAGER), "the manager is made again")


async def test_an_operator_that_starts_again_writes_nothing(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
    before = versions(api)
    async with operating(api, namespace) as operated:
        await operated.running.engine.first_pass.wait()
        await operated.running.engine.wait_idle()
        assert versions(api) == before


async def test_what_the_operator_before_us_wrote_is_taken_over(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
    found = api.get(CORE)
    assert found is not None
    api.request("DELETE", CORE)
    pod = found["spec"]["template"]["spec"]
    pod["tolerations"] = [{"key": "old", "operator": "Exists"}]
    pod["containers"][0]["env"].append({"name": "OLD", "value": "1"})
    theirs = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": found["metadata"]["name"],
            "labels": found["metadata"]["labels"],
            "annotations": {"example.com/old": "1"},
        },
        "spec": {**found["spec"], "replicas": 3},
    }
    api.create(f"{CORE.rpartition('/')[0]}?fieldManager=external-secrets-operator", theirs)
    async with operating(api, namespace) as operated:
        await operated.until_ready("False", "waits for Deployment")
        now = api.get(CORE)
        assert now is not None
        assert now["spec"]["replicas"] == 3
        assert "tolerations" not in now["spec"]["template"]["spec"]
        assert "annotations" not in now["metadata"]
        env = now["spec"]["template"]["spec"]["containers"][0]["env"]
        assert "OLD" not in {each["name"] for each in env}


async def test_what_somebody_changes_again_and_again_is_left_for_a_while(
    api: KubeApi, namespace: str
) -> None:
    settings = replace(SETTINGS, operator=Operator(contested_after=2))
    async with operating(api, namespace, settings=settings) as operated:
        await operated.install()

        def is_ours() -> bool:
            found = api.get(CORE)
            return found is not None and found["metadata"]["labels"]["app"] == "external-secrets-operator"

        change = {"metadata": {"labels": {"app": "theirs"}}}
        for _ in range(3):
            api.request("PATCH", f"{CORE}?fieldManager=rival", change)
            await operated.until(is_ours, "it is repaired")
        api.request("PATCH", f"{CORE}?fieldManager=rival", change)
        await operated.until_ready("False", "contested: rival")
        assert not is_ours()
        await operated.configure(appConfig={"logLevel": 5})  # what is wanted anew does not wait
        await operated.until(is_ours, "it is written")
        found = api.get(CORE)
        assert found is not None
        assert "logLevel=debug" in found["spec"]["template"]["spec"]["containers"][0]["args"]


async def test_an_install_takes_few_requests(api: KubeApi, namespace: str) -> None:
    """Counted in the audit log, of which watches and the election are no part."""
    rules = {"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}
    account = api.account(namespace, rules, everywhere=True)
    body = {
        "metadata": {"name": account},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": account},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
    }
    api.request("POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", body)
    async with operating(api, namespace, token=api.token(namespace, account)) as operated:
        await operated.until(lambda: api.get(MANAGER), "it has begun")
        before = len(asked(api, namespace, account))
        await operated.install()
        made = asked(api, namespace, account)[before:]
        assert len(made) <= 70, [f"{each.verb} {each.uri} {each.status}" for each in made]
        assert not [f"{each.verb} {each.uri} {each.status}" for each in made if each.status >= 400]


def asked(api: KubeApi, namespace: str, account: str) -> Sequence[Request]:
    """The requests of the operator but those of watches and of the election."""
    return [
        each for each in api.audited(namespace, account) if each.verb != "watch" and each.resource != "leases"
    ]


async def test_what_bitwarden_left_goes_where_that_is_wanted(api: KubeApi, namespace: str) -> None:
    """A server that is switched off stays, unless a feature says otherwise; the user's Secret always does."""
    secrets = f"/api/v1/namespaces/{OPERAND}/secrets"
    api.request("DELETE", f"{secrets}/bitwarden-tls")
    server = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/bitwarden-sdk-server"
    chosen = {"enabled": "true", "secretRef": {"name": "bitwarden-tls"}}
    async with operating(api, namespace) as operated:
        await operated.install()
        await operated.configure(appConfig={"bitwardenSecretManagerProvider": {"enabled": "true"}})
        await operated.until_ready("False", "the Bitwarden server has no certificate")
        await operated.configure(appConfig={"bitwardenSecretManagerProvider": chosen})
        await operated.until_ready("False", "Secret/external-secrets/bitwarden-tls is not there")
        assert api.get(server) is None
        api.create(secrets, {"metadata": {"name": "bitwarden-tls"}, "stringData": {"tls.crt": "x"}})
        await operated.until_ready("False", "waits for Deployment bitwarden-sdk-server")
        await operated.configure()
        await operated.until_ready("True")
        assert api.get(server) is not None
        features = [{"name": "CleanUpDisabledPlugins", "enabled": "true"}]
        assert api.request("PATCH", MANAGER, {"spec": {"features": features}}).status == 200
        await operated.until(lambda: api.get(server) is None, "the server is removed")
        await operated.until_ready("True")
        assert not [path for path in installed(api) if "bitwarden" in path]
        assert api.get(f"{secrets}/bitwarden-tls") is not None
