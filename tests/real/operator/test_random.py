"""One installation through many random configurations, one after the other; `make operator`: a hundred."""

import os
import random
from collections.abc import Iterator, Sequence
from typing import Any, Final

import pytest

from syncret.config.meta import Document, ref_of
from syncret.daemon.homes.kubernetes.applying import Applier
from syncret.daemon.install.operator.choices import Choices, choices
from syncret.daemon.install.operator.rendering import is_left_alone, name_of, wanted
from syncret.daemon.operator.compare import MANAGER as FIELD_MANAGER
from syncret.daemon.operator.compare import is_unchanged
from syncret.providers.registry import Registry
from tests.real.operator.operating import (
    CONFIG,
    MANAGER,
    OPERAND,
    Operated,
    environment,
    installed,
    operating,
)
from tests.support.servers.kube.cert_manager import GROUP, install_cert_manager, issue, remove_cert_manager
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

MANY: Final = int(os.environ.get("SYNCRET_CONFIGURATIONS", "30"))
ISSUER: Final = {"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}
SECRET: Final = "external-secrets-webhook-cm"
LATER: Final = MANY // 2
"""From there on cert-manager issues certificates, which cannot be switched off again."""


def some(choice: random.Random, **values: object) -> Document:
    """Any of the members."""
    return {name: value for name, value in values.items() if choice.random() < 0.5}


def common(choice: random.Random) -> Document:
    """The members that the configuration and the manager share."""
    return some(
        choice,
        logLevel=choice.randint(1, 5),
        resources={"limits": {"memory": f"{choice.randint(1, 4)}00Mi", "cpu": "0.5"}},
        tolerations=[{"key": choice.choice("ab"), "operator": "Exists"}],
        nodeSelector=choice.choice([{}, {"disk": "ssd"}]),
        affinity={"nodeAffinity": {}},
        proxy=choice.choice(
            [
                {"httpProxy": "", "httpsProxy": "", "noProxy": ""},
                {"httpsProxy": "http://proxy.example.com:3128"},
                {"httpProxy": "proxy", "noProxy": ".svc", "networkPolicyProvisioning": "Unmanaged"},
            ]
        ),
    )


def configuration(choice: random.Random, namespace: str, *, issues: bool) -> Document:
    """A spec that can be installed."""
    app = common(choice) | some(
        choice,
        operatingNamespace=namespace,
        webhookConfig={"certificateCheckInterval": choice.choice(["5m", "90s"])},
        bitwardenSecretManagerProvider={"enabled": "true", "secretRef": {"name": "bitwarden-tls"}},
    )
    if issues:
        inject = choice.choice(["true", "false"])
        app["certManagerConfig"] = {"enabled": "true", "issuerRef": ISSUER, "addInjectorAnnotations": inject}
    components = [
        {
            "componentName": each,
            "deploymentConfigs": {"revisionHistoryLimit": choice.randint(1, 5)},
            "overrideEnv": [{"name": "SYNCRET_WORKERS", "value": str(choice.randint(1, 9))}],
        }
        for each in ("ExternalSecretsCoreController", "Webhook", "CertController")
        if choice.random() < 0.5
    ]
    controller = some(
        choice,
        labels={choice.choice(["team", "app", "env"]): "x"},
        annotations={f"example.com/{choice.choice('ab')}": choice.choice("12")},
        componentConfigs=components,
    )
    return {"appConfig": app, "controllerConfig": controller}


async def settle(operated: Operated, api: KubeApi) -> None:
    """Play the kubelet until all is rolled out."""

    def holds() -> bool:
        roll_out(api, OPERAND)
        config = api.get(CONFIG) or {}
        ready = operated.condition()
        seen = ready.get("observedGeneration") == config["metadata"]["generation"]
        return seen and ready.get("status") == "True"

    await operated.until(holds, "all is rolled out")
    await operated.running.engine.wait_idle()


def chosen(api: KubeApi, namespace: str) -> Choices:
    """What the two objects choose, as they are on the API server."""
    return choices(api.get(CONFIG) or {}, api.get(MANAGER) or {}, environment(namespace))


async def differing(operated: Operated, documents: Sequence[Document]) -> Sequence[str]:
    """The objects that a dry run of applying them would change."""
    applier, found = Applier(operated.running.home, manager=FIELD_MANAGER), list[str]()
    for document in documents:
        live = await applier.look(ref_of(document))
        tried = await applier.apply(document, dry_run=True)
        if live is None or not is_unchanged(live.document, tried.document):
            found.append(str(ref_of(document)))
    return found


def superfluous(api: KubeApi, documents: Sequence[Document], of: Choices) -> Iterator[str]:
    """What is installed and neither wanted nor left alone."""
    names = {(each.namespace, each.name) for each in map(name_of, documents)}
    for path, document in installed(api).items():
        metadata: Any = document["metadata"]
        if (metadata.get("namespace", ""), metadata["name"]) in names:
            continue
        kinds = {"kind": "", **document}
        if not is_left_alone(kinds, of):
            yield path


async def test_after_each_of_many_configurations_all_is_as_it_is_rendered(
    api: KubeApi, namespace: str
) -> None:
    choice, registry = random.Random(14), Registry()  # noqa: S311  # choices, not keys
    secrets = f"/api/v1/namespaces/{OPERAND}/secrets"
    remove_cert_manager(api)
    try:
        async with operating(api, namespace) as operated:
            await operated.install()
            for name in ("bitwarden-tls", SECRET):
                api.request("DELETE", f"{secrets}/{name}")
            api.create(secrets, {"metadata": {"name": "bitwarden-tls"}, "stringData": {"tls.crt": "x"}})
            for number in range(MANY):
                if number == LATER:
                    install_cert_manager(api)
                    issuer = {
                        "apiVersion": "cert-manager.io/v1",
                        "kind": "Issuer",
                        "metadata": {"name": "ca"},
                    }
                    api.create(f"{GROUP}/namespaces/{OPERAND}/issuers", issuer)
                    issue(api, OPERAND, SECRET, "an authority")
                features = some(choice, features=[{"name": "CleanUpDisabledPlugins", "enabled": "true"}])
                manager = {"spec": {"globalConfig": None, "features": None}}
                api.request("PATCH", MANAGER, manager)
                api.request("PATCH", MANAGER, {"spec": {"globalConfig": common(choice), **features}})
                spec = configuration(choice, namespace, issues=number >= LATER)
                await operated.configure(**spec)
                await settle(operated, api)
                of = chosen(api, namespace)
                documents = wanted(of, environment(namespace), registry)
                assert not await differing(operated, documents), (number, spec)
                assert not [*superfluous(api, documents, of)], (number, spec)
    finally:
        remove_cert_manager(api)
        for name in ("bitwarden-tls", SECRET):
            api.request("DELETE", f"{secrets}/{name}")
