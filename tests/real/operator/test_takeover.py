"""What an operator finds that others have made before: taken over, made anew, or refused with a remedy."""

from base64 import b64encode

import pytest

from syncret.config.meta import Document
from syncret.daemon.operator.takeover import FORMER, MANAGED_ANNOTATIONS
from tests.real.operator.operating import CONFIG, OPERAND, events, installed, operating, versions
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

CORE = f"/apis/apps/v1/namespaces/{OPERAND}/deployments/external-secrets"
RIGHTS = "/apis/rbac.authorization.k8s.io/v1"
BINDINGS = {
    "ClusterRoleBinding": f"{RIGHTS}/clusterrolebindings/external-secrets-controller",
    "RoleBinding": f"{RIGHTS}/namespaces/{OPERAND}/rolebindings/external-secrets-leaderelection",
}


def again(api: KubeApi, path: str, **members: object) -> None:
    """Put another object in the place of one: with these members, and these labels if there are any."""
    found = api.get(path)
    assert found is not None
    assert api.request("DELETE", path).status == 200
    metadata = {name: found["metadata"][name] for name in ("name", "labels")}
    metadata["labels"] = members.pop("labels", metadata["labels"])
    made = {"apiVersion": found["apiVersion"], "kind": found["kind"], "metadata": metadata, **members}
    api.create(path.rpartition("/")[0], made)


def other_selector(found: Document) -> Document:
    """The spec of a Deployment whose Pods are found by another label."""
    template = found["spec"]["template"]
    template["metadata"]["labels"]["old"] = "yes"
    return {"selector": {"matchLabels": {"old": "yes"}}, "template": template}


async def test_objects_that_a_new_configuration_finds_are_named_once(api: KubeApi, namespace: str) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
        paths = installed(api)
        assert not [each for each in events(api, "ResourceAlreadyExists") if "Deployment" in each]
        api.request("DELETE", CONFIG)
        await operated.configure()
        await operated.until_ready("True")

        def told() -> str:
            return "\n".join(events(api, "ResourceAlreadyExists"))

        await operated.until(lambda: "ValidatingWebhook" in told(), "objects are named")
        assert all(told().count(f"/{path.rpartition('/')[2]}") for path in paths)
        named = told()
        await operated.configure(appConfig={"logLevel": 5})
        await operated.until_ready("False", "waits for Deployment")
        assert told() == named


async def test_a_deployment_with_another_selector_is_made_anew_if_it_is_ours(
    api: KubeApi, namespace: str
) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
    found = api.get(CORE)
    assert found is not None
    again(api, CORE, spec=other_selector(found))
    async with operating(api, namespace) as operated:

        def is_told() -> bool:
            return any(each.startswith("recreated: Deployment/") for each in events(api, "Reconciled"))

        await operated.until(is_told, "it is told")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        now = api.get(CORE)
        assert now is not None
        assert now["spec"]["selector"] == found["spec"]["selector"]


@pytest.mark.parametrize("labels", [{}, {"app.kubernetes.io/part-of": "external-secrets-operator"}], ids=len)
async def test_a_deployment_of_somebody_else_is_never_deleted(
    api: KubeApi, namespace: str, labels: dict[str, str]
) -> None:
    """Nothing is changed, whether it is watched or not; the message says what helps."""
    async with operating(api, namespace) as operated:
        await operated.install()
    found = api.get(CORE)
    assert found is not None
    again(api, CORE, spec=other_selector(found), labels=labels)
    before, theirs = versions(api), api.get(CORE)
    async with operating(api, namespace) as operated:
        await operated.until_ready("False", "its spec.selector is another one", "delete it")
        assert operated.condition("Degraded")["status"] == "True"
        assert versions(api) == before
        assert api.get(CORE) == theirs


async def test_a_bad_configuration_does_not_cost_the_old_deployment(api: KubeApi, namespace: str) -> None:
    """It is tried beside the old one before that is deleted."""
    async with operating(api, namespace) as operated:
        await operated.install()
    found = api.get(CORE)
    assert found is not None
    again(api, CORE, spec=other_selector(found))
    theirs = api.get(CORE)
    body = api.get(CONFIG)
    assert body is not None
    body["spec"] = {"appConfig": {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}}
    assert api.request("PUT", CONFIG, body).status == 200
    async with operating(api, namespace) as operated:
        await operated.until_ready("False", "must be less than or equal to cpu limit")
        assert api.get(CORE) == theirs


@pytest.mark.parametrize("kind", BINDINGS)
async def test_a_binding_to_another_role_is_made_anew(api: KubeApi, namespace: str, kind: str) -> None:
    path = BINDINGS[kind]
    async with operating(api, namespace) as operated:
        await operated.install()
        found = api.get(path)
        assert found is not None
        again(api, path, roleRef={**found["roleRef"], "name": "other"}, subjects=found["subjects"])

        def is_back() -> bool:
            return bool((api.get(path) or {}).get("roleRef") == found["roleRef"])

        await operated.until(is_back, "it is bound as before")
        await operated.until_ready("True")


async def test_annotations_that_the_operator_before_us_lists_are_taken_off_once(
    api: KubeApi, namespace: str
) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
    noted = {"metadata": {"annotations": {"example.com/old": "1", "example.com/kept": "2"}}}
    assert api.request("PATCH", f"{CORE}?fieldManager=theirs", noted).status == 200
    listed = b64encode(b'["example.com/old"]').decode()
    marked = {"metadata": {"annotations": {MANAGED_ANNOTATIONS: listed}}}
    assert api.request("PATCH", CONFIG, marked).status == 200
    async with operating(api, namespace) as operated:

        def is_read() -> bool:
            return MANAGED_ANNOTATIONS not in (api.get(CONFIG) or {})["metadata"]["annotations"]

        await operated.until(is_read, "the list is taken away")
        now = api.get(CORE)
        assert now is not None
        assert "example.com/old" not in now["metadata"]["annotations"]
        assert now["metadata"]["annotations"]["example.com/kept"] == "2"
        assert api.request("PATCH", f"{CORE}?fieldManager=theirs", noted).status == 200
        await operated.running.engine.wait_idle()
        now = api.get(CORE)
        assert now is not None
        assert now["metadata"]["annotations"]["example.com/old"] == "1"


@pytest.mark.parametrize("before", ["ours", "the operator before us"])
async def test_a_new_version_rolls_each_deployment_once_and_touches_nothing_of_users(
    api: KubeApi, namespace: str, before: str
) -> None:
    async with operating(api, namespace) as operated:
        await operated.install()
    certificate = f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook"
    assert api.request("PATCH", certificate, {"stringData": {"tls.crt": "x"}}).status == 200
    if before != "ours":
        book_as_theirs(api)
    theirs = owned_by_users(api, namespace)
    async with operating(api, namespace, version="1.2.4") as operated:
        await operated.until_ready("False", "waits for Deployment")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
    for path, found in installed(api).items():
        assert found["metadata"]["labels"]["app.kubernetes.io/version"] == "v1.2.4", path
        if "/deployments/" in path:
            assert found["metadata"]["generation"] == 2, path
    assert [api.get(path) for path in theirs] == list(theirs.values())
    assert (api.get(certificate) or {})["data"] == {"tls.crt": "eA=="}


def owned_by_users(api: KubeApi, namespace: str) -> dict[str, Document]:
    """An ExternalSecret and a Secret, by their paths."""
    group = f"/apis/external-secrets.io/v1/namespaces/{namespace}/externalsecrets"
    spec = {"secretStoreRef": {"name": "s"}, "data": [{"secretKey": "a", "remoteRef": {"key": "k"}}]}
    head = {"apiVersion": "external-secrets.io/v1", "kind": "ExternalSecret", "metadata": {"name": "e"}}
    secrets = f"/api/v1/namespaces/{namespace}/secrets"
    secret = {"metadata": {"name": "e"}, "stringData": {"a": "b"}}
    made = {f"{group}/e": api.create(group, {**head, "spec": spec})}
    return {**made, f"{secrets}/e": api.create(secrets, secret)}


def book_as_theirs(api: KubeApi) -> None:
    """Let the bookkeeping say that the operator before us has written everything."""
    for path, found in installed(api).items():
        booked = [
            {**each, "manager": FORMER, "operation": "Update"}
            if each["manager"] == "syncret-operator"
            else each
            for each in found["metadata"]["managedFields"]
        ]
        answer = api.request("PATCH", path, {"metadata": {"managedFields": booked}})
        assert answer.status == 200, answer
