"""Each right that the operator has is one that it uses."""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from syncret.config.meta import Document
from syncret.daemon.install.crds import crd_names
from syncret.daemon.install.operator.choices import Choices
from syncret.daemon.install.operator.components import OPERATOR, PART_OF
from syncret.daemon.install.operator.own import own
from syncret.daemon.install.operator.rendering import is_right_of_operator, wanted
from syncret.daemon.operator.handover import INJECT
from syncret.daemon.operator.manager import FINALIZERS as OF_MANAGER
from syncret.daemon.operator.reconciler import FINALIZERS
from syncret.providers.registry import Registry
from tests.real.operator.operating import (
    ALLOWING,
    CONFIG,
    MANAGER,
    OPERAND,
    environment,
    installed,
    operating,
)
from tests.real.operator.test_rights import apply
from tests.support.servers.kube.cert_manager import GROUP, install_cert_manager, issue, remove_cert_manager
from tests.support.servers.kube.crds import CRDS
from tests.support.servers.kube.kubelet import roll_out
from tests.support.servers.kube.running import KubeApi

pytestmark = pytest.mark.slow

JUDGED = ("watch", "patch", "update", "delete")
"""Verbs that requests show. An apply that creates is written down as a patch; a list is asked for where a
watch cannot begin with what is there, and one object where it lost its label; escalate and bind never are."""
NOT_MET = {
    ("cert-manager.io", "clusterissuers", "watch"),  # the cert-manager of the tests has none
    ("cert-manager.io", "certificates", "delete"),  # that of a Bitwarden server that is cleaned up
}
ISSUER = {"name": "ca", "kind": "Issuer", "group": "cert-manager.io"}


class Right(NamedTuple):
    """What a rule allows, one by one."""

    group: str
    resource: str
    verb: str


def rights(rules: list[Document]) -> Iterator[Right]:
    """Of all rules."""
    for rule in rules:
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                for verb in rule["verbs"]:
                    yield Right(group, resource, verb)


async def test_nothing_is_allowed_that_is_not_used(api: KubeApi, namespace: str) -> None:
    """All that can be chosen is installed, deleted by others, and switched off again."""
    registry, own_environment = Registry(), environment(namespace)
    documents = own(own_environment, registry)
    for each in documents:
        if each["kind"] not in {"Namespace", "Deployment"}:
            apply(api, each)
    remove_cert_manager(api)
    token = api.token(namespace, OPERATOR)
    try:
        async with operating(api, namespace, token=token) as operated:
            await operated.install(
                appConfig={"operatingNamespace": namespace, "proxy": {"httpProxy": "http://proxy:3128"}},
                controllerConfig={"networkPolicies": [ALLOWING]},
            )
            await operated.install()
            within = f"/api/v1/namespaces/{OPERAND}"
            for path in (within, *installed(api)):
                labels = {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}}
                api.request("PATCH", path, labels)
            await operated.until(lambda: len(installed(api)) == 25, "all labels are back")
            await operated.until(lambda: PART_OF in (api.get(within) or {})["metadata"]["labels"], "its, too")
            for path, finalizers in ((CONFIG, FINALIZERS), (MANAGER, OF_MANAGER)):
                api.request("PATCH", path, {"metadata": {"finalizers": [*finalizers]}})
            install_cert_manager(api)
            metadata = {"name": "ca", "namespace": OPERAND}
            body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": metadata}
            api.create(f"{GROUP}/namespaces/{OPERAND}/issuers", body)
            switch = {"enabled": "true", "issuerRef": ISSUER, "addInjectorAnnotations": "true"}
            await operated.configure(appConfig={"certManagerConfig": switch})
            issue(api, OPERAND, "external-secrets-webhook-cm", "an authority")
            await operated.until_ready("False", "waits for Deployment")
            roll_out(api, OPERAND)
            await operated.until_ready("True")
            assert operated.condition("UpdateAnnotation")["status"] == "True"
            switch["addInjectorAnnotations"] = "false"
            await operated.configure(appConfig={"certManagerConfig": switch})
            await operated.until_ready("True")
    finally:
        remove_cert_manager(api)
        api.request("DELETE", f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook-cm")
    used = {
        Right(each.group, each.resource, each.verb)
        for each in api.audited(namespace, OPERATOR)
        if each.status < 400
    }
    in_operand = [
        each
        for each in wanted(Choices(namespace=OPERAND), own_environment, registry)
        if is_right_of_operator(each)
    ]
    given = {right for each in (*documents, *in_operand) for right in rights(each.get("rules", []))}
    judged = {right for right in given if right.verb in JUDGED}
    assert judged & used
    assert not judged - used - NOT_MET
    assert not {right for right in used if right.verb in JUDGED} - given


async def test_without_a_right_the_annotation_of_crds_is_said_to_be_missing(
    api: KubeApi, namespace: str
) -> None:
    for each in own(environment(namespace), Registry()):
        if each["kind"] == "ClusterRole":
            each["rules"] = [
                rule
                for rule in each["rules"]
                if (rule["resources"], rule["verbs"]) != (["customresourcedefinitions"], ["patch"])
            ]
        if each["kind"] not in {"Namespace", "Deployment"}:
            apply(api, each)
    remove_cert_manager(api)
    for name in crd_names(Registry()):
        api.request("PATCH", f"{CRDS}/{name}", {"metadata": {"annotations": {INJECT: None}}})
    try:
        install_cert_manager(api)
        async with operating(api, namespace, token=api.token(namespace, OPERATOR)) as operated:
            await operated.install()
            body = {"apiVersion": "cert-manager.io/v1", "kind": "Issuer", "metadata": {"name": "ca"}}
            api.create(f"{GROUP}/namespaces/{OPERAND}/issuers", body)
            issue(api, OPERAND, "external-secrets-webhook-cm", "an authority")
            switch = {"enabled": "true", "issuerRef": ISSUER, "addInjectorAnnotations": "true"}
            await operated.configure(appConfig={"certManagerConfig": switch})
            await operated.until_ready("False", "waits for Deployment")
            roll_out(api, OPERAND)
            await operated.until_ready("False", "customresourcedefinitions")
            found = operated.condition("UpdateAnnotation")
            assert (found["status"], found["reason"]) == ("False", "Failed")
            assert "cannot patch resource" in found["message"]
            await operated.configure(
                appConfig={"certManagerConfig": {**switch, "addInjectorAnnotations": "false"}}
            )
            await operated.until_ready("True")
            assert operated.condition("UpdateAnnotation") == {}
    finally:
        remove_cert_manager(api)
        api.request("DELETE", f"/api/v1/namespaces/{OPERAND}/secrets/external-secrets-webhook-cm")
