"""From the names that expressions use to calls, and to the Secrets that say as whom they are made. Pure."""

import re
from collections.abc import Collection, Sequence
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document, GroupKind, member
from syncret.providers.azurerm.resource_ids import ResourceId, resource_id
from syncret.providers.azurerm.types import ALL, SUBSCRIPTION, Call, ResourceType, type_of
from syncret.providers.errors import Denied, Malformed
from syncret.providers.secret_apis import CredentialName, SecretCall, SecretCalls

CREDENTIAL_FROM: Final = "serviceoperator.azure.com/credential-from"
"""The annotation of a resource that names the Secret with its credentials."""

NAMESPACE_SECRET: Final = "aso-credential"
"""The Secret for all resources of its namespace."""

_NAME: Final = re.compile(r"[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?")


def plan(kind: GroupKind, resource: Document, names: Collection[str] | None) -> SecretCalls | None:
    """As in SecretApis."""
    found = type_of(kind.group, kind.kind)
    if found is None:
        return None
    wanted = {ALL} if names is None else names
    status = member(resource, "status")
    known = {
        name: value
        for name, place in found.fields.items()
        if (ALL in wanted or name in wanted) and (value := _text(found, status, place))
    }
    needed = found.needed(wanted)
    if not needed:
        return SecretCalls(known, ())
    at = resource_id(status, found.type)
    _check_credentials(resource)
    return SecretCalls(known, [_call(found, at, each) for each in needed])


def credentials(resource: Document) -> Sequence[CredentialName]:
    """As in SecretApis. Of an annotation that is no name nothing is looked for: `plan` refuses it."""
    named = _annotation(resource)
    if named is None:
        return [CredentialName(NAMESPACE_SECRET, required=False)]
    return [CredentialName(named, required=True)] if _NAME.fullmatch(named) else []


def call_of(call: SecretCall) -> tuple[ResourceType, ResourceId, Call]:
    """The type, the resource and the API of a planned call."""
    group, kind, path, action = call.request
    found = type_of(group, kind)
    for each in () if found is None else found.calls:
        if found is not None and each.action == action:
            return found, resource_id({"id": path}, found.type), each
    raise Malformed(f"there is no API {action} of {kind}.{group}", hint="plan the call anew")


def _call(type_: ResourceType, at: ResourceId, call: Call) -> SecretCall:
    api = call.action.rpartition("/")[2]
    return SecretCall(api, frozenset(call.names), (type_.group, type_.kind, at.path, call.action))


def _check_credentials(resource: Document) -> None:
    """Refuse an annotation that leads out of the namespace, or nowhere."""
    named = _annotation(resource)
    if named is None or _NAME.fullmatch(named):
        return
    if "/" in named:
        raise Denied(
            f"the annotation {CREDENTIAL_FROM} names {named!r}: a Secret must be in "
            "the resource's own namespace",
            hint="write the name alone, and create the Secret beside the resource",
        )
    raise Denied(
        f"the annotation {CREDENTIAL_FROM} is {named!r}, which is no name of a Secret",
        hint=f"write the name, or remove the annotation: then it is {NAMESPACE_SECRET}",
    )


def _annotation(resource: Document) -> str | None:
    found: Json = member(resource, "metadata", "annotations").get(CREDENTIAL_FROM)
    return None if found is None else str(found)


def _text(type_: ResourceType, status: Document, place: str) -> str:
    """A field of the status as text; empty if there is none."""
    if place == SUBSCRIPTION:
        return resource_id(status, type_.type).subscription if status.get("id") else ""
    *path, name = place.split(".")
    value: Json = member(status, *path).get(name)
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
