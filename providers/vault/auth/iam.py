"""Credentials of AWS: Vault hands a request that we signed to AWS's STS, which tells it who we are."""

from base64 import b64encode
from typing import Final

from syncret.config.fields import Json
from syncret.providers.contract import OpenContext
from syncret.providers.kit import gojson
from syncret.providers.kit.vault import calls
from syncret.providers.kit.vault.replies import Reply
from syncret.providers.kit.vault.wire import Adapter
from syncret.providers.vault.auth import aws_keys
from syncret.providers.vault.auth.aws_keys import IDENTITY, Signed
from syncret.providers.vault.auth_spec import VaultIam

_SERVER_ID: Final = "X-Vault-AWS-IAM-Server-ID"
_DEFAULT_REGION: Final = "us-east-1"


async def run(method: VaultIam, context: OpenContext, adapter: Adapter) -> Reply:
    region = method.region or _DEFAULT_REGION
    keys = await aws_keys.keys(method, region, context)
    extra = {_SERVER_ID: method.vault_aws_iam_server_id} if method.vault_aws_iam_server_id else {}
    signed = aws_keys.signed(keys, region, IDENTITY, now=context.now(), headers=extra)
    return await calls.aws_iam(adapter, method.path or "aws", method.vault_role, _wrapped(signed))


def _wrapped(signed: Signed) -> dict[str, str]:
    headers: Json = {name: [value] for name, value in signed.headers.items()}
    return {
        "iam_http_request_method": "POST",
        "iam_request_url": _base64(signed.url),
        "iam_request_headers": _base64(gojson.marshal(headers)),
        "iam_request_body": _base64(signed.body),
    }


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()
