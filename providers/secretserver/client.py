"""The client of a Secret Server store.

Secret Server reports a secret that the account may not see as missing, so a missing secret is an error,
and no `deletionPolicy` applies.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from syncret.config.fields import Json
from syncret.providers.contract import Readiness, Writer
from syncret.providers.errors import Malformed
from syncret.providers.kit import extract
from syncret.providers.kit.batching import SingleReads
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.push_options import DelegatedWrites
from syncret.providers.kit.remote_keys import Versioned
from syncret.providers.secretserver.secrets import Item, Secret, Secrets, missing
from syncret.providers.values import RemoteKey, RemoteRef, SecretBytes, SecretMap
from syncret.providers.work import Work

_PROBE: Final = "external-secrets-validation-check"
"""A name that no secret has: what the answer shows is that a search is answered."""

_MEMBERS: Final[Mapping[str, Json]] = {
    "Name": "",
    **dict.fromkeys(("FolderID", "ID", "SiteID", "SecretTemplateID"), 0),
    **dict.fromkeys(("SecretPolicyID", "PasswordTypeWebScriptID"), None),
    **dict.fromkeys(("LauncherConnectAsSecretID", "CheckOutIntervalMinutes"), 0),
    **dict.fromkeys(
        (
            "Active",
            "CheckedOut",
            "CheckOutEnabled",
            "AutoChangeEnabled",
            "CheckOutChangePasswordEnabled",
            "DelayIndexing",
            "EnableInheritPermissions",
            "EnableInheritSecretPolicy",
            "ProxyEnabled",
            "RequiresComment",
            "SessionRecordingEnabled",
            "WebLauncherRequiresIncognitoMode",
        ),
        False,
    ),
}
"""The members of a whole secret in the operator's order and spelling; those that may be absent are None."""

_FIELDS: Final[Mapping[str, Json]] = {
    **dict.fromkeys(("ItemID", "FieldID", "FileAttachmentID"), 0),
    **dict.fromkeys(("FieldName", "Slug", "FieldDescription", "Filename", "ItemValue"), ""),
    **dict.fromkeys(("IsFile", "IsNotes", "IsPassword"), False),
}


class SecretServerClient(Versioned, DelegatedWrites, SingleReads[Secret]):
    """Reads, pushes, deletes and probes."""

    def __init__(self, secrets: Secrets, writer: Writer) -> None:
        self._secrets = secrets
        self._writer = writer

    async def fetch_one(self, key: RemoteKey) -> Secret:
        if key.version:
            raise Malformed("secrets have no versions that could be read", hint="leave version out")
        found = await self._secrets.find(key.key)
        if found is None:
            raise missing(key.key)
        if not found.items:
            raise Malformed(f"secret {key.key} contains no fields", hint="see its template")
        return found

    def value(self, payload: Secret, ref: RemoteRef, work: Work) -> SecretBytes | None:
        """The secret as JSON; with a property what it leads to in the first field, or else that field."""
        if not ref.property:
            return SecretBytes(_whole(payload, work).encode())
        first = payload.value(payload.items[0])
        found = extract.value(first, ref.property, work) if gojson.is_valid(first, work) else None
        if found is None:
            named = (item for item in payload.items if item.has(ref.property))
            item = next(named, None)
            found = None if item is None else payload.value(item)
        return None if found is None else SecretBytes(found)

    def fields(self, payload: Secret, ref: RemoteRef, work: Work) -> SecretMap | None:
        """The members of the object that the value or the first field is; otherwise the fields."""
        if ref.property:
            found = self.value(payload, ref, work)
            if found is None:
                return None
            return _members(found.raw, work) or {ref.property: found}
        members = _members(payload.value(payload.items[0]), work)
        if members is not None:
            return members
        named = ((item.slug or item.field_name or "", payload.value(item)) for item in payload.items)
        return {name: SecretBytes(value) for name, value in named if name}

    async def probe(self) -> Readiness:
        await self._secrets.find(_PROBE)
        return "ready"


def _members(text: bytes, work: Work) -> SecretMap | None:
    """The members of a JSON object; None if the text is no object."""
    if not text.lstrip().startswith(b"{") or not gojson.is_valid(text, work):
        return None
    return extract.members(text, "the secret", work)


def _whole(secret: Secret, work: Work) -> str:
    """The secret as Delinea's client for Go prints it. Raises Malformed for a file that is no text."""
    parts = _printed(secret.raw, _MEMBERS, work)
    held: Sequence[Mapping[str, Any]] = secret.raw.get("items") or ()
    pairs = zip(held, secret.items, strict=True)
    shown = [{**raw, "itemValue": _text(secret, item)} if item.is_file else raw for raw, item in pairs]
    items = [gojson.joined(_printed(item, _FIELDS, work), work) for item in shown]
    listed = gojson.joined([f"{{{item}}}" for item in items], work)
    return f'{{{gojson.joined(parts, work)},"Items":[{listed}]}}'


def _text(secret: Secret, item: Item) -> str:
    try:
        return secret.value(item).decode()
    except UnicodeDecodeError:
        pass
    raise Malformed(
        f"file {item.slug!r} of the secret is binary, which the JSON of the whole secret cannot hold",
        hint=f"write remoteRef.property: {item.slug}, or that of another field",
    )


def _printed(raw: Mapping[str, Any], members: Mapping[str, Json], work: Work) -> list[str]:
    held = {name.lower(): value for name, value in raw.items()}
    parts: list[str] = []
    for name, absent in members.items():
        value = held.get(name.lower())
        if value is None:
            value = absent
        if value is not None and (value or absent is not None):
            parts.append(f"{gojson.quote(name, work)}:{gojson.marshal(value, work)}")
    return parts
