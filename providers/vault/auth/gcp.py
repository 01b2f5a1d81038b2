"""A service account of Google: by a JWT that its key signs, or by what the metadata server says."""

import os
from typing import Final

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext, SecretBytes
from syncret.providers.kit.google import machine
from syncret.providers.kit.google.endpoints import Endpoints
from syncret.providers.kit.google.keys import ServiceAccountKey
from syncret.providers.kit.http import Http
from syncret.providers.kit.texts import text
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth import gcp_workload
from syncret.providers.vault.auth_spec import VaultGcp

_SECONDS: Final = 600
"""Vault takes at most fifteen minutes."""

_PATH: Final = "auth.gcp.secretRef.secretAccessKeySecretRef"


async def run(method: VaultGcp, context: OpenContext, adapter: Adapter) -> Reply:
    token = await _token(method, context)
    return await calls.gcp(adapter, method.path, method.role, token)


async def _token(method: VaultGcp, context: OpenContext) -> str:
    audience = f"vault/{method.role}"
    if method.secret_ref is not None:
        document = await text(context, method.secret_ref.secret_access_key_secret_ref, _PATH)
        key = ServiceAccountKey(SecretBytes(document.encode()), f"{_PATH}: the Secret")
        return key.signed(_claims(key.email, audience, context.now()))
    endpoints = Endpoints.of(os.environ)
    async with Http(now=context.now) as http:
        if method.workload_identity is not None:
            claims = _claims("", audience, context.now())
            return await gcp_workload.signed(
                method.workload_identity, method.project_id, claims, context, http, endpoints
            )
        hint = "give the machine a service account, or write auth.gcp.secretRef or workloadIdentity"
        return await machine.identity(http, endpoints, f"http://{audience}", hint=hint)


def _claims(subject: str, audience: str, now: float) -> dict[str, Json]:
    return {"sub": subject, "aud": audience, "iat": int(now), "exp": int(now) + _SECONDS}
