"""What an installation is rendered to: what the objects mean, not how they are written."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from syncret.config.errors import ConfigError
from syncret.config.meta import Document
from syncret.config.resources.kinds import Kinds
from syncret.daemon.install.installation import Installation
from syncret.daemon.install.parts import (
    DisruptionBudget,
    NetworkPolicy,
    Pod,
    Rbac,
    ServiceAccount,
    ServiceMonitor,
    TargetResource,
)
from syncret.daemon.install.render import render
from syncret.providers.registry import Registry

CATALOG = Registry()
IMAGE = "registry.example:5000/syncret:0.1.0"


def rendered(*, image: str = IMAGE, **values: Any) -> Sequence[Document]:  # noqa: ANN401  # any member
    return render(Installation(image=image, **values), CATALOG)


def of(kind: str, documents: Sequence[Document]) -> list[Document]:
    return [each for each in documents if each["kind"] == kind]


def pod(documents: Sequence[Document]) -> Document:
    (deployment,) = of("Deployment", documents)
    found: Document = deployment["spec"]["template"]["spec"]
    return found


def container(documents: Sequence[Document]) -> Document:
    found: Document = pod(documents)["containers"][0]
    return found


def rights(documents: Sequence[Document], *, kind: str) -> Iterator[tuple[str, str]]:
    """Verb and resource of what the daemon may do by roles of a kind."""
    bound = {each["roleRef"]["name"] for each in of(f"{kind}Binding", documents)}
    for role in of(kind, documents):
        if role["metadata"]["name"] in bound:
            for rule in role.get("rules", ()):
                yield from product(rule["verbs"], rule["resources"])


def test_pods_are_found_by_what_is_to_find_them() -> None:
    documents = rendered(
        disruption_budget=DisruptionBudget(), network_policy=NetworkPolicy(), service_monitor=ServiceMonitor()
    )
    (deployment,) = of("Deployment", documents)
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    assert deployment["spec"]["selector"]["matchLabels"].items() <= labels
    (service,) = of("Service", documents)
    assert service["spec"]["selector"].items() <= labels
    (budget,) = of("PodDisruptionBudget", documents)
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels
    (policy,) = of("NetworkPolicy", documents)
    assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels
    (monitor,) = of("ServiceMonitor", documents)
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    (endpoint,) = monitor["spec"]["endpoints"]
    assert endpoint["port"] in {port["name"] for port in service["spec"]["ports"]}


def test_ports_are_one_port() -> None:
    documents = rendered(port=9000, network_policy=NetworkPolicy())
    found = container(documents)
    assert "listen=:9000" in found["args"]
    (port,) = found["ports"]
    assert port["containerPort"] == 9000
    probes = [found[name]["httpGet"] for name in ("livenessProbe", "readinessProbe")]
    assert [(each["path"], each["port"]) for each in probes] == [
        ("/healthz", port["name"]),
        ("/readyz", port["name"]),
    ]
    (service,) = of("Service", documents)
    assert service["spec"]["ports"][0]["targetPort"] == port["name"]
    (policy,) = of("NetworkPolicy", documents)
    assert policy["spec"]["ingress"][0]["ports"][0]["port"] == 9000


def test_a_pod_has_no_more_power_than_it_needs() -> None:
    documents = rendered()
    found, one = pod(documents), container(documents)
    assert found["enableServiceLinks"] is False
    assert found["securityContext"]["runAsNonRoot"] is True
    assert found["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert one["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    (account,) = of("ServiceAccount", documents)
    assert found["serviceAccountName"] == account["metadata"]["name"]


def test_the_container_knows_its_pod_and_has_a_folder_for_its_socket() -> None:
    found = container(rendered())
    fields = {each["name"]: each["valueFrom"]["fieldRef"]["fieldPath"] for each in found["env"][:3]}
    assert fields == {
        "POD_NAME": "metadata.name",
        "POD_NAMESPACE": "metadata.namespace",
        "POD_UID": "metadata.uid",
    }
    volumes = {each["name"]: each["emptyDir"] for each in pod(rendered())["volumes"]}
    assert [(volumes[each["name"]]["medium"], each["mountPath"]) for each in found["volumeMounts"]] == [
        ("Memory", "/run/syncret")
    ]


def test_several_replicas_elect_one_and_one_alone_never_has_a_twin() -> None:
    one, three = rendered(), rendered(replicas=3)
    assert "leaderElection.enabled=true" not in container(one)["args"]
    assert "leaderElection.enabled=true" in container(three)["args"]
    assert [each["spec"]["strategy"]["type"] for each in of("Deployment", [*one, *three])] == [
        "Recreate",
        "RollingUpdate",
    ]
    assert list(rights(one, kind="Role")) == list(rights(three, kind="Role")), "so that an ESO waits for it"
    alone = rendered(settings={"leaderElection.enabled": "true"})  # beside an ESO that takes part
    assert set(rights(alone, kind="Role")) == set(rights(three, kind="Role"))
    assert set(rights(three, kind="Role")) == {("create", "leases"), ("get", "leases"), ("update", "leases")}


@pytest.mark.parametrize(
    ("settings", "lease", "namespace"),
    [
        pytest.param({}, "external-secrets-controller", "syncret", id="the one that the operator takes"),
        pytest.param({"controllerClass": "edge"}, "syncret-edge", "syncret", id="of a class"),
        pytest.param(
            {"leaderElection.id": "a", "leaderElection.namespace": "b"}, "a", "b", id="named by settings"
        ),
    ],
)
def test_the_rights_are_on_the_lease_that_the_daemon_takes(
    settings: dict[str, str], lease: str, namespace: str
) -> None:
    (role,) = of("Role", rendered(replicas=2, settings=settings))
    assert role["metadata"]["namespace"] == namespace
    (bounded,) = (rule for rule in role["rules"] if "resourceNames" in rule)
    assert bounded["resourceNames"] == [lease]
    assert [rule["verbs"] for rule in role["rules"] if rule is not bounded] == [["create"]]


def test_every_kind_of_ours_is_read() -> None:
    may = set(rights(rendered(), kind="ClusterRole"))
    kinds = Kinds(CATALOG)
    plurals = {kind.plural for name in kinds.names() if (kind := kinds.find(name)) is not None}
    assert {("watch", plural) for plural in plurals} <= may


def test_one_namespace_needs_roles_alone_but_for_what_all_share() -> None:
    documents = rendered(only_namespace="payments")
    assert ("update", "secrets") in set(rights(documents, kind="Role"))
    assert {resource for _, resource in rights(documents, kind="ClusterRole")} == {
        "clustersecretstores",
        "clustersecretstores/status",
        "clustergenerators",
    }
    args = container(documents)["args"]
    assert args[args.index("--namespace") + 1] == "payments"
    alone = rendered(only_namespace="payments", settings={"process.clusterStore": "false"})
    assert not [each for each in alone if each["kind"].startswith("Cluster")]
    assert {each["metadata"]["namespace"] for each in of("Role", alone)} == {"payments", "syncret"}
    shared = {name for _, name in rights(alone, kind="Role") if name.startswith(("cluster", "namespaces"))}
    assert not shared


@pytest.mark.parametrize(
    ("setting", "lost"),
    [
        ("clusterStore", {("patch", "clustersecretstores"), ("watch", "clustersecretstores")}),
        ("secretStore", {("patch", "secretstores"), ("patch", "secretstores/status")}),
        ("pushSecret", {("watch", "pushsecrets"), ("patch", "pushsecrets/status")}),
        ("clusterExternalSecret", {("create", "externalsecrets"), ("patch", "namespaces")}),
        ("clusterGenerator", {("watch", "clustergenerators")}),
        ("clusterPushSecret", {("create", "pushsecrets"), ("watch", "clusterpushsecrets")}),
    ],
)
def test_kinds_that_are_off_need_no_rights(setting: str, lost: set[tuple[str, str]]) -> None:
    before = set(rights(rendered(), kind="ClusterRole"))
    after = set(rights(rendered(settings={f"process.{setting}": "false"}), kind="ClusterRole"))
    assert lost <= before - after
    assert after < before
    assert ("watch", "secretstores") in after, "those of another daemon may be used"


def test_who_may_view_a_namespace_sees_our_objects_and_no_records() -> None:
    by_name = {each["metadata"]["name"]: each for each in of("ClusterRole", rendered())}
    view, edit = by_name["syncret-view"], by_name["syncret-edit"]
    assert view["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-view"] == "true"
    assert "rbac.authorization.k8s.io/aggregate-to-view" not in edit["metadata"]["labels"]
    assert {verb for rule in view["rules"] for verb in rule["verbs"]} == {"get", "list", "watch"}
    seen = {resource for rule in view["rules"] for resource in rule["resources"]}
    assert {"clusterexternalsecrets", "externalsecrets", "stssessiontokens"} <= seen
    assert not seen & {"generatorstates", "secrets"}
    assert not [
        each
        for each in of("ClusterRole", rendered(rbac=Rbac(view=False, edit=False, admin=False)))
        if each is view
    ]


@pytest.mark.parametrize(
    ("values", "resource", "may"),
    [
        ({}, "serviceaccounts/token", True),
        ({"rbac": Rbac(tokens=False)}, "serviceaccounts/token", False),
        ({}, "deployments", False),
        ({"generic_targets": [TargetResource(group="apps", resources=["deployments"])]}, "deployments", True),
    ],
)
def test_rights_that_are_chosen(values: dict[str, Any], resource: str, may: bool) -> None:  # noqa: FBT001
    documents = rendered(**values)
    assert (resource in {name for _, name in rights(documents, kind="ClusterRole")}) is may
    if resource == "deployments":
        assert ("allowGenericTargets=true" in container(documents)["args"]) is may


def test_what_is_chosen_for_pods_is_theirs() -> None:
    chosen = Pod(
        labels={"a": "b"},
        pull_secrets=["one"],
        env=[{"name": "HTTPS_PROXY", "value": "http://proxy.example"}],
        resources={"limits": {"memory": "1Gi"}},
        spec={"nodeSelector": {"disk": "ssd"}},
    )
    documents = rendered(pod=chosen, labels={"team": "x"}, settings={"logLevel": "debug"})
    found, one = pod(documents), container(documents)
    assert found["nodeSelector"] == {"disk": "ssd"}
    assert found["imagePullSecrets"] == [{"name": "one"}]
    assert one["resources"] == {"limits": {"memory": "1Gi"}}
    assert one["image"] == IMAGE
    assert {"name": "HTTPS_PROXY", "value": "http://proxy.example"} in one["env"]
    assert "logLevel=debug" in one["args"]
    assert all(each["metadata"]["labels"]["team"] == "x" for each in documents)
    (deployment,) = of("Deployment", documents)
    assert {"a": "b", "team": "x"}.items() <= deployment["spec"]["template"]["metadata"]["labels"].items()


def test_an_account_that_exists_is_not_made_but_bound() -> None:
    documents = rendered(service_account=ServiceAccount(create=False, name="theirs"), namespace="ops")
    assert not of("ServiceAccount", documents)
    assert pod(documents)["serviceAccountName"] == "theirs"
    binding = next(iter(of("ClusterRoleBinding", documents)))
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "theirs", "namespace": "ops"}]


@pytest.mark.parametrize(
    ("values", "path", "message"),
    [
        ({"image": "syncret"}, "image", "has no tag"),
        ({"image": "registry.example:5000/syncret"}, "image", "has no tag"),
        ({"image": "a b:1"}, "image", "is no image"),
        ({"name": "Sync"}, "name", "cannot be a name"),
        ({"name": "a" * 41}, "name", "cannot be a name"),
        ({"namespace": "a_b"}, "namespace", "cannot be a name"),
        ({"only_namespace": "-"}, "onlyNamespace", "cannot be a name"),
        ({"replicas": -1}, "replicas", "is negative"),
        ({"settings": {"listen": ":1"}}, "settings.listen", "is set by the installation"),
        (
            {"replicas": 2, "settings": {"leaderElection.enabled": "false"}},
            "settings.leaderElection.enabled",
            "is set by the installation",
        ),
        ({"settings": {"logLevl": "debug"}}, "settings.logLevl", "no such setting"),
        ({"settings": {"manifests": "/m"}}, "settings.manifests", "has no meaning with kubernetes"),
    ],
)
def test_what_cannot_be_is_refused(values: dict[str, Any], path: str, message: str) -> None:
    with pytest.raises(ConfigError) as refusal:
        rendered(**values)
    (problem,) = refusal.value.problems
    assert problem.path == path
    assert message in problem.message
    assert problem.hint


@pytest.mark.parametrize("image", ["a:1", "a/b/c:v1.2-x", f"a@sha256:{'0' * 64}", "localhost:5000/a:1"])
def test_images_that_can_be_pulled(image: str) -> None:
    assert container(rendered(image=image))["image"] == image
