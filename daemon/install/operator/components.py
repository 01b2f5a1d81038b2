"""The names of what the operator installs, and the labels by which everything of it is found."""

from collections.abc import Mapping
from typing import Final

from syncret.config.meta import Document
from syncret.daemon.install.operator.choices import Choices, Component, Environment

NAME: Final = "external-secrets"
OPERATOR: Final = "external-secrets-operator"
BITWARDEN: Final = "bitwarden-sdk-server"

COMPONENTS: Final[Mapping[str, Component]] = {
    NAME: "ExternalSecretsCoreController",
    f"{NAME}-webhook": "Webhook",
    f"{NAME}-cert-controller": "CertController",
    BITWARDEN: "BitwardenSDKServer",
}
"""The components by the names of their Deployments, which are also their app.kubernetes.io/name."""

PART_OF: Final = "app.kubernetes.io/part-of"
MANAGED_BY: Final = "app.kubernetes.io/managed-by"
_APP: Final = "app.kubernetes.io/name"


def name_of(component: Component) -> str:
    """The name of a component's Deployment."""
    return next(name for name, each in COMPONENTS.items() if each == component)


def belongs_to(document: Document) -> str:
    """The name of the component that an object belongs to; that of the core for a shared object."""
    name: str = document["metadata"]["name"]
    owners = [each for each in COMPONENTS if name == each or name.startswith(f"{each}-")]
    return max(owners, key=len, default=BITWARDEN if name.startswith("bitwarden") else NAME)


def selector(component: str) -> dict[str, str]:
    """The labels that a component's Pods are found by."""
    return {_APP: component, "app.kubernetes.io/instance": NAME}


def labels(chosen: Choices, environment: Environment, component: str) -> dict[str, str]:
    """The labels of an object of a component: the user's, and ours over them."""
    version = environment.bitwarden_version if component == BITWARDEN else environment.version
    stated = {"app.kubernetes.io/version": f"v{version.removeprefix('v')}"} if version else {}
    return {
        **chosen.labels,
        "app": OPERATOR,
        **selector(component),
        **stated,
        MANAGED_BY: OPERATOR,
        PART_OF: OPERATOR,
    }
