"""Credentials that stand in Secrets."""

from aiobotocore.credentials import AioCredentials

from syncret.config.fields import SecretKeySelector
from syncret.providers.aws.spec import AwsSecretRef
from syncret.providers.contract import Credentials
from syncret.providers.errors import Malformed


async def static(ref: AwsSecretRef, credentials: Credentials) -> AioCredentials:
    """The keys, and the session token if they are temporary ones. Raises SyncError with what is missing."""
    secret = await _text(ref.secret_access_key_secret_ref, credentials, "secretAccessKeySecretRef")
    key = await _text(ref.access_key_id_secret_ref, credentials, "accessKeyIDSecretRef")
    token = None
    if ref.session_token_secret_ref is not None:
        token = await _text(ref.session_token_secret_ref, credentials, "sessionTokenSecretRef")
    return AioCredentials(key, secret, token)


async def _text(selector: SecretKeySelector, credentials: Credentials, field: str) -> str:
    found = await credentials.secret_key(selector.name, selector.key, selector.namespace)
    try:
        text = found.raw.decode("ascii").strip()
    except UnicodeDecodeError:
        text = ""
    if not text:
        raise Malformed(
            f"auth.secretRef.{field}: the value is empty or no text",
            hint=f'look at key "{selector.key}" of Secret "{selector.name}"',
        )
    return text
