"""Generates values with one request to Vault, and revokes the lease that they came with."""

from collections.abc import Mapping
from typing import Final

from syncret.config.fields import Json
from syncret.config.meta import Document
from syncret.config.resources.secret_store import RetrySettings
from syncret.providers.contract import Generated, OpenContext
from syncret.providers.errors import Denied, Malformed
from syncret.providers.kit.golang import json as gojson
from syncret.providers.kit.http import Unauthenticated
from syncret.providers.kit.retry import DEFAULT, ONCE, RetryPolicy, policy_of, retried
from syncret.providers.kit.vault.client import Vault
from syncret.providers.kit.vault.entries import fields, joined
from syncret.providers.kit.vault.replies import Absent, Rejected, Reply, number
from syncret.providers.values import SecretBytes, SecretMap
from syncret.providers.vault.connection import open_vault
from syncret.providers.vault.dynamic_secret import VaultDynamicSecretSpec
from syncret.providers.work import Work

_LEASE: Final = "leaseID"
_ENDS: Final = "ends"

_RAW: Final = ("request_id", "lease_id", "lease_duration", "renewable", "data", "warnings")
_RAW_IF_ANY: Final = ("wrap_info", "mount_type")
_UNSET: Final = (None, False, "", "0")
_ERRORS: Final = "errors"
_AUTH: Final = (
    "client_token",
    "accessor",
    "policies",
    "token_policies",
    "identity_policies",
    "metadata",
    "orphan",
    "entity_id",
    "lease_duration",
    "renewable",
    "mfa_requirement",
)


async def generate(spec: VaultDynamicSecretSpec, context: OpenContext) -> Generated:
    """Send the request, and return the part of the response that the spec selects."""
    async with open_vault(spec.provider, context) as vault:
        reply = await retried(lambda: _send(vault, spec), _retry(spec.retry_settings))
        state = None if reply is None else _state(reply, context.now())
        if reply is None:
            return Generated({}, state)
        return Generated(await context.compute(lambda work: _values(reply, spec.result_type, work)), state)


async def cleanup(spec: VaultDynamicSecretSpec, state: Document, context: OpenContext) -> None:
    """Revoke the lease, unless it has expired. If no policy allows that, it expires by itself."""
    lease, ends = state.get(_LEASE), state.get(_ENDS)
    if not isinstance(lease, str) or (isinstance(ends, int) and ends <= context.now()):
        return
    async with open_vault(spec.provider, context) as vault:
        try:
            await vault.revoke_lease(lease)
        except Unauthenticated:
            raise
        except (Denied, Rejected):
            return


async def _send(vault: Vault, spec: VaultDynamicSecretSpec) -> Reply | None:
    method, query, body = _request(spec)
    doing = "unable to get dynamic secret"
    raw = spec.result_type == "Raw"
    found = await vault.call(method, joined(spec.path), doing=doing, query=query, body=body, wrapped=raw)
    reply = None if isinstance(found, Absent) else _with_envelope(found, doing)
    if reply is not None or spec.allow_empty_response:
        return reply
    raise Malformed(f"{doing}: empty response from Vault", hint="check path, or set allowEmptyResponse")


def _with_envelope(reply: Reply, doing: str) -> Reply | None:
    """The reply; None if it is empty. Some paths answer without Vault's envelope: all is data then."""
    document = reply.document
    if any(document.get(name) not in _UNSET for name in (*_RAW, *_RAW_IF_ANY, "auth")):
        return reply
    if not document.keys() - {_ERRORS}:
        return None
    if _ERRORS in document:
        raise Malformed(f"{doing}: Vault answers with errors", hint="the audit log of Vault has the request")
    return Reply({"data": document})


def _request(spec: VaultDynamicSecretSpec) -> tuple[str, Mapping[str, str | tuple[str, ...]] | None, Json]:
    match spec.method:
        case "" | "GET":
            return "GET", spec.get_parameters or None, None
        case "LIST":
            return "GET", {"list": "true"}, None
        case "DELETE":
            return "DELETE", None, None
        case _:
            return "PUT", None, spec.parameters or {}


def _values(reply: Reply, kind: str, work: Work) -> SecretMap:
    document = reply.document
    match kind:
        case "Data":
            data = reply.data or {}
            return {key: SecretBytes(gojson.byte_value(value, work)) for key, value in data.items()}
        case "Auth":
            chosen = _auth(reply)
        case _:
            chosen = {name: document.get(name) for name in _RAW}
            chosen |= {name: document[name] for name in _RAW_IF_ANY if document.get(name)}
            chosen |= {"auth": auth} if (auth := _auth(reply)) else {}
    return fields(SecretBytes(gojson.marshal(chosen, work).encode()), work)


def _auth(reply: Reply) -> Document:
    """The login that a token was made with, in the fields that the operator knows."""
    auth = reply.part("auth")
    return {name: auth.get(name) for name in _AUTH if auth}


def _state(reply: Reply, now: float) -> Document | None:
    lease, seconds = reply.text("lease_id"), number(reply.document.get("lease_duration"))
    return {_LEASE: lease, _ENDS: int(now) + seconds} if lease else None


def _retry(wanted: RetrySettings | None) -> RetryPolicy:
    """As the operator does: settings without `maxRetries` switch retries off."""
    return policy_of(wanted, DEFAULT if wanted is None else ONCE, path="retrySettings")
