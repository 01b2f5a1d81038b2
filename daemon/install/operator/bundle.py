"""The operator as a bundle of the Operator Lifecycle Manager (OLM): files from which a catalog is made. Pure.

OLM makes the namespace, the account and its bindings itself, from the ClusterServiceVersion.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from syncret.config.catalog import Catalog
from syncret.config.meta import Document
from syncret.config.resources.kinds import OPERATOR_KINDS, Kind, Kinds
from syncret.config.schema.crds import crd
from syncret.daemon.install.operator.choices import Environment
from syncret.daemon.install.operator.components import OPERATOR
from syncret.daemon.install.operator.own import deployment_spec, rules, rules_in_own_namespace

PACKAGE: Final = "syncret-operator"
_CHANNEL: Final = "alpha"
_FORMAT: Final = "operators.operatorframework.io.bundle"
_OLDEST: Final = "1.30.0"
"""The Kubernetes that has all that the rules of the CRDs use."""

_ABOUT: Final = """Keeps Secrets in sync with secret managers: the kinds of the External Secrets Operator.

The operator installs syncret, its webhook and its certificates from one object, the ExternalSecretsConfig
`cluster`, says in conditions how far that is, and repairs what is changed. Create this object to begin.

Deleting it ends the management and removes nothing.
"""


def bundle(environment: Environment, catalog: Catalog) -> Mapping[str, Document]:
    """The document of each file, by its path below the bundle."""
    kinds = list(_kinds(catalog))
    service_version = _service_version(environment, catalog, kinds)
    return {
        f"manifests/{PACKAGE}.clusterserviceversion.yaml": service_version,
        **{f"manifests/{kind.group}_{kind.plural}.yaml": crd(kind, catalog) for kind in kinds},
        "metadata/annotations.yaml": {
            "annotations": {
                f"{_FORMAT}.mediatype.v1": "registry+v1",
                f"{_FORMAT}.manifests.v1": "manifests/",
                f"{_FORMAT}.metadata.v1": "metadata/",
                f"{_FORMAT}.package.v1": PACKAGE,
                f"{_FORMAT}.channels.v1": _CHANNEL,
                f"{_FORMAT}.channel.default.v1": _CHANNEL,
            }
        },
    }


def _kinds(catalog: Catalog) -> Iterator[Kind]:
    """The operator's own, and those of what it installs."""
    kinds = Kinds(catalog)
    for name in (*(each.group_kind for each in OPERATOR_KINDS), *kinds.names()):
        kind = kinds.find(name)
        if kind is not None and kind.group:
            yield kind


def _service_version(environment: Environment, catalog: Catalog, kinds: Sequence[Kind]) -> Document:
    version = environment.version.removeprefix("v")
    return {
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": f"{PACKAGE}.v{version}",
            "namespace": "placeholder",  # OLM's own: it says that any may be put in its place
            "annotations": {
                "alm-examples": json.dumps([_example(kind) for kind in OPERATOR_KINDS], indent=2),
                "capabilities": "Seamless Upgrades",
                "categories": "Security",
                "containerImage": environment.image,
                "description": _ABOUT.partition("\n")[0],
                "operatorframework.io/suggested-namespace": environment.namespace,
            },
        },
        "spec": {
            "displayName": "syncret",
            "description": _ABOUT,
            "version": version,
            "minKubeVersion": _OLDEST,
            "maturity": _CHANNEL,
            "keywords": ["secrets", "external-secrets", "vault", "security"],
            "provider": {"name": "syncret"},
            "installModes": [
                {"type": type_, "supported": type_ == "AllNamespaces"}
                for type_ in ("OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces")
            ],
            "install": {
                "strategy": "deployment",
                "spec": {
                    "deployments": [{"name": OPERATOR, "spec": deployment_spec(environment)}],
                    "clusterPermissions": [_allowed(rules(catalog))],
                    "permissions": [_allowed(rules_in_own_namespace())],
                },
            },
            "customresourcedefinitions": {"owned": [_owned(kind) for kind in kinds]},
            "relatedImages": [*_images(environment)],
        },
    }


def _example(kind: Kind) -> Document:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": "cluster"},
        "spec": {},
    }


def _allowed(rules_: Sequence[Document]) -> Document:
    return {"serviceAccountName": OPERATOR, "rules": [*rules_]}


def _owned(kind: Kind) -> Document:
    return {
        "name": f"{kind.plural}.{kind.group}",
        "kind": kind.kind,
        "version": kind.api_version.rpartition("/")[2],
        "displayName": kind.kind,
        "description": (kind.model.__doc__ or f"A generator: {kind.kind}.").partition("\n")[0],
    }


def _images(environment: Environment) -> Iterator[Document]:
    """All that a mirror has to have."""
    yield {"name": "syncret", "image": environment.image}
    if environment.bitwarden_image:
        yield {"name": "bitwarden-sdk-server", "image": environment.bitwarden_image}
