"""A service account of Google: by a JWT that its key signs, or by what the metadata server says."""

import os
from base64 import urlsafe_b64encode
from typing import Final

import msgspec

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.errors import Malformed
from syncret.providers.kit import gojson
from syncret.providers.kit.http import Http
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.selectors import text
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth import gcp_workload
from syncret.providers.vault.auth_spec import VaultGcp

_SECONDS: Final = 600
"""Vault takes at most fifteen minutes."""

_IDENTITY: Final = "/computeMetadata/v1/instance/service-accounts/default/identity"


class _KeyFile(msgspec.Struct):
    client_email: str
    private_key: str
    private_key_id: str


async def run(method: VaultGcp, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(method, context)
    return await calls.gcp(adapter, method.path, method.role, token)


async def _token(method: VaultGcp, context: OpenContext) -> str:
    audience = f"vault/{method.role}"
    if method.secret_ref is not None:
        selector = method.secret_ref.secret_access_key_secret_ref
        document = await text(context, selector, "auth.gcp.secretRef.secretAccessKeySecretRef")
        return _signed(document, audience, context.now())
    async with Http(now=context.now) as http:
        if method.workload_identity is not None:
            claims = _claims("", audience, context.now())
            return await gcp_workload.signed(
                method.workload_identity, method.project_id, claims, context, http
            )
        return await _of_machine(http, f"http://{audience}")


async def _of_machine(http: Http, audience: str) -> str:
    answer = await http.request(
        "GET",
        f"http://{os.environ.get('GCE_METADATA_HOST', 'metadata.google.internal')}{_IDENTITY}",
        doing="asking Google's metadata server who this machine is",
        params={"audience": audience, "format": "full"},
        headers={"Metadata-Flavor": "Google"},
    )
    return answer.body.decode("ascii", "replace").strip()


def _claims(subject: str, audience: str, now: float) -> dict[str, Json]:
    return {"sub": subject, "aud": audience, "iat": int(now), "exp": int(now) + _SECONDS}


def _signed(document: str, audience: str, now: float) -> str:
    """The token that Google's own API would sign, signed by the key itself."""
    from cryptography.exceptions import UnsupportedAlgorithm  # slow to import
    from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = None
    try:
        file = msgspec.json.decode(document, type=_KeyFile)
        key = load_pem_private_key(file.private_key.encode(), None)
    except (msgspec.MsgspecError, ValueError, TypeError, UnsupportedAlgorithm):
        file = _KeyFile("", "", "")
    if not isinstance(key, RSAPrivateKey):
        raise Malformed(
            "auth.gcp.secretRef: the Secret holds no key file of a Google service account",
            hint="store the JSON file as Google gave it",
        )
    header = {"alg": "RS256", "typ": "JWT", "kid": file.private_key_id}
    claims = _claims(file.client_email, audience, now)
    content = f"{_base64(gojson.marshal(header).encode())}.{_base64(gojson.marshal(claims).encode())}"
    return f"{content}.{_base64(key.sign(content.encode(), PKCS1v15(), SHA256()))}"


def _base64(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
