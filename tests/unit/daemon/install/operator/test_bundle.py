"""The operator's own objects, as manifests and as a bundle: both give it the same."""

import json

from syncret.config.manifests.loader import load_bytes
from syncret.config.schema.admission import admit
from syncret.daemon.install.operator.bundle import PACKAGE, bundle
from syncret.daemon.install.operator.choices import Environment
from syncret.daemon.install.operator.own import own
from syncret.providers.registry import Registry

REGISTRY = Registry()
ENVIRONMENT = Environment("registry.example.com/syncret:1.2.3", "1.2.3", bitwarden_image="example.com/b:0.5")
FILES = bundle(ENVIRONMENT, REGISTRY)
CSV = FILES[f"manifests/{PACKAGE}.clusterserviceversion.yaml"]


def test_it_has_the_rights_and_the_deployment_of_the_manifests() -> None:
    objects = {each["kind"]: each for each in own(ENVIRONMENT, REGISTRY)}
    install = CSV["spec"]["install"]["spec"]
    assert install["clusterPermissions"][0]["rules"] == objects["ClusterRole"]["rules"]
    assert install["permissions"][0]["rules"] == objects["Role"]["rules"]
    (deployment,) = install["deployments"]
    assert deployment == {
        "name": objects["Deployment"]["metadata"]["name"],
        "spec": objects["Deployment"]["spec"],
    }
    accounts = {
        each["serviceAccountName"] for name in ("clusterPermissions", "permissions") for each in install[name]
    }
    assert accounts == {objects["ServiceAccount"]["metadata"]["name"]}


def test_it_owns_exactly_the_crds_that_it_has() -> None:
    crds = {
        each["metadata"]["name"] for each in FILES.values() if each.get("kind") == "CustomResourceDefinition"
    }
    owned = [each["name"] for each in CSV["spec"]["customresourcedefinitions"]["owned"]]
    assert (set(owned), len(owned)) == (crds, len(crds))
    assert {"externalsecretsconfigs.operator.openshift.io", "externalsecrets.external-secrets.io"} < crds


def test_every_image_is_named_for_mirrors() -> None:
    assert [each["image"] for each in CSV["spec"]["relatedImages"]] == [
        ENVIRONMENT.image,
        ENVIRONMENT.bitwarden_image,
    ]
    plain = bundle(ENVIRONMENT._replace(bitwarden_image=""), REGISTRY)
    assert len(plain[f"manifests/{PACKAGE}.clusterserviceversion.yaml"]["spec"]["relatedImages"]) == 1


def test_its_examples_are_accepted() -> None:
    examples = json.loads(CSV["metadata"]["annotations"]["alm-examples"])
    assert {each["kind"] for each in examples} == {"ExternalSecretsConfig", "ExternalSecretsManager"}
    for each in load_bytes(
        "examples.json", json.dumps({"kind": "List", "apiVersion": "v1", "items": examples}).encode()
    ):
        assert each.document is not None
        assert admit(each.document, REGISTRY).accepted
