"""What the schema lets through and no installation can be made of: nothing is changed, and it is said."""

from collections.abc import Mapping

import pytest

from syncret.config.meta import Document
from tests.real.operator.operating import operating, versions
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

CORE = "ExternalSecretsCoreController"


def app(**members: object) -> Document:
    return {"appConfig": members}


def environment(**variable: object) -> Document:
    return {"controllerConfig": {"componentConfigs": [{"componentName": CORE, "overrideEnv": [variable]}]}}


def issued(**members: object) -> Document:
    issuer = {"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}
    return app(certManagerConfig={"enabled": "true", "issuerRef": issuer, **members})


FIELD = {"fieldRef": {"fieldPath": "metadata.name"}}
BAD: Mapping[str, Document] = {
    "a namespace to work in that is none": app(operatingNamespace="Not_One"),
    "another namespace": {"controllerConfig": {"namespace": "elsewhere"}},
    "the key of a label": {"controllerConfig": {"labels": {"a b": "c"}}},
    "the value of a label": {"controllerConfig": {"labels": {"a": "b c"}}},
    "the key of a node's label": app(nodeSelector={"a b": "c"}),
    "a toleration": app(tolerations=[{"operator": "Equal"}]),
    "an affinity": app(
        affinity={"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "a b"}]}}
    ),
    "requests above limits": app(resources={"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}),
    "an interval": app(webhookConfig={"certificateCheckInterval": "soon"}),
    "a duration": issued(certificateDuration="long"),
    "a renewal after the end": issued(certificateDuration="1h", certificateRenewBefore="2h"),
    "a proxy": app(proxy={"httpProxy": "http://[proxy"}),
    "the name of a variable": environment(name="A=B", value="c"),
    "a variable of two values": environment(name="A", value="b", valueFrom=FIELD),
    "the name of a policy": {
        "controllerConfig": {"networkPolicies": [{"name": "A_B", "componentName": CORE, "egress": []}]}
    },
    "a server without a certificate": app(bitwardenSecretManagerProvider={"enabled": "true"}),
}


async def test_each_is_said_and_changes_nothing(api: KubeApi, namespace: str) -> None:
    """Beside each, something else is changed, too: that is not done either."""
    async with operating(api, namespace) as operated:
        await operated.install()
        before = versions(api)
        for what, spec in BAD.items():
            changed = {**spec, "appConfig": {"logLevel": 5, **spec.get("appConfig", {})}}
            await operated.configure(**changed)
            await operated.until_ready("False")
            degraded = operated.condition("Degraded")
            assert (degraded["status"], degraded["reason"]) == ("True", "Failed"), what
            assert degraded["message"], what
            assert versions(api) == before, what
            await operated.configure()
            await operated.until_ready("True")
        assert versions(api) == before
