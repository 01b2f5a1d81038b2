"""The target of an ExternalSecret: one interface for Secrets and other kinds, with the wording of each."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from msgspec import Struct

from syncret.config.meta import Document, ObjectRef
from syncret.config.resources.external_secret import ExternalSecret
from syncret.daemon.core import manifest, secret
from syncret.daemon.core.ownership import Refusal
from syncret.daemon.core.rendering import Rendering
from syncret.providers.errors import Malformed


class Wording(Struct, frozen=True):
    """Reasons and messages of the Ready condition; they differ only in what they call the target."""

    synced: str
    failed: str
    deleted: str
    missing: str
    not_created: str
    not_deleted: str
    unrendered: str


SECRET = Wording(
    synced="SecretSynced",
    failed="SecretSyncedError",
    deleted="SecretDeleted",
    missing="SecretMissing",
    not_created="secret will not be created due to CreationPolicy=Merge",
    not_deleted="could not delete secret",
    unrendered="could not update secret",
)
RESOURCE = Wording(
    synced="ResourceSynced",
    failed="ResourceSyncedError",
    deleted="ResourceDeleted",
    missing="ResourceMissing",
    not_created="resource will not be created due to CreationPolicy=Merge",
    not_deleted="could not delete resource",
    unrendered="could not apply template to manifest",
)


class TargetForm(NamedTuple):
    """How one sort of target is checked and built."""

    wording: Wording
    """The texts of its condition."""
    ref: Callable[[ExternalSecret], ObjectRef]
    """The name of the target."""
    is_valid: Callable[[ExternalSecret, Document | None], bool]
    """Whether it is unchanged since it was written last."""
    desired: Callable[[ExternalSecret, Document | None, Mapping[str, bytes], Rendering | None], Document]
    """The whole object to write; raises Refusal or Malformed where it must not or cannot be made."""
    binding: Callable[[ExternalSecret], str]
    """The name in `status.binding`: that of the Secret; empty for other kinds."""


def _secret_ref(resource: ExternalSecret) -> ObjectRef:
    return ObjectRef("", "Secret", resource.metadata.namespace, secret.target_name(resource))


def _desired_manifest(
    resource: ExternalSecret,
    observed: Document | None,
    data: Mapping[str, bytes],
    rendering: Rendering | None,
) -> Document:
    try:
        return manifest.desired_manifest(resource, observed, data, rendering)
    except Refusal as refusal:
        raise Malformed(str(refusal), hint=refusal.hint) from None  # tried again, as with the operator


def _unbound(_resource: ExternalSecret) -> str:
    return ""


_SECRET_FORM: Final = TargetForm(
    SECRET, _secret_ref, secret.is_valid, secret.desired_secret, secret.target_name
)
_MANIFEST_FORM: Final = TargetForm(
    RESOURCE, manifest.manifest_ref, manifest.is_valid, _desired_manifest, _unbound
)


def form_of(resource: ExternalSecret) -> TargetForm:
    """The form of this resource's target."""
    return _SECRET_FORM if resource.spec.target.manifest is None else _MANIFEST_FORM
