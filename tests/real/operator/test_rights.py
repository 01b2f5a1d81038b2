"""The operator with its own exported rights, and no others."""

import pytest

from syncret.config.meta import Document
from syncret.daemon.install.operator.components import OPERATOR
from syncret.daemon.install.operator.own import own
from syncret.providers.registry import Registry
from tests.real.operator.operating import ALLOWING, CONFIG, OPERAND, environment, installed, operating
from tests.real.operator.test_install import CORE
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

_RIGHTS = "/apis/rbac.authorization.k8s.io/v1"


def apply(api: KubeApi, document: Document) -> None:
    """Create the object, or leave the one that is there."""
    namespace = document["metadata"].get("namespace", "")
    group = "/api/v1" if document["apiVersion"] == "v1" else f"/apis/{document['apiVersion']}"
    within = f"/namespaces/{namespace}" if namespace else ""
    path = f"{group}{within}/{document['kind'].lower()}s"
    api.request("DELETE", f"{path}/{document['metadata']['name']}")
    assert api.request("POST", path, document).status in {200, 201, 409}


async def test_its_own_rights_are_enough(api: KubeApi, namespace: str) -> None:
    """Nothing is denied but watches in the namespace of the installation, before there are rights in it."""
    for each in own(environment(namespace), Registry()):
        if each["kind"] not in {"Namespace", "Deployment"}:
            apply(api, each)
    token = api.token(namespace, OPERATOR)
    async with operating(api, namespace, token=token) as operated:
        await operated.install(
            appConfig={"operatingNamespace": namespace, "proxy": {"httpProxy": "http://proxy:3128"}},
            controllerConfig={"networkPolicies": [ALLOWING]},
        )
        assert api.get(f"{_RIGHTS}/namespaces/{namespace}/roles/external-secrets-controller") is not None
        await operated.install()  # the roles of one namespace go, those of the cluster come
        assert api.get(f"{_RIGHTS}/namespaces/{namespace}/roles/external-secrets-controller") is None
        for path in installed(api):
            if not path.endswith("/external-secrets-operator"):
                assert api.request("DELETE", path).status == 200
        await operated.until(lambda: len(installed(api)) == 25, "all is back")
        await operated.until(lambda: api.get(CORE), "the Deployment is back")
        roll_out(api, OPERAND)
        await operated.until_ready("True")
        api.request("DELETE", CONFIG)
        await operated.running.engine.wait_idle()
    denied = [each for each in api.audited(namespace, OPERATOR) if each.status == 403]
    assert not [f"{each.verb} {each.uri}" for each in denied if each.verb != "watch"]
