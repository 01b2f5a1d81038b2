"""The proof of the daemon's identity at AWS: a signed request, which Akeyless forwards to AWS."""

from base64 import b64encode
from typing import Final

import msgspec

from syncret.providers.akeyless.receivers import server
from syncret.providers.akeyless.spec import AkeylessSpec
from syncret.providers.contract import OpenContext, Receiver
from syncret.providers.kit.auth.aws_requests import REGION, endpoint
from syncret.providers.kit.auth.aws_sts import Signed, caller_identity, own_keys
from syncret.providers.kit.http import Http

_GLOBAL: Final = "https://sts.amazonaws.com/"
_REGION_OF_GLOBAL: Final = "us-east-1"
"""The token service of all public regions: the operator, and older clients of Akeyless, sign for it alone."""

_APART: Final = ("cn-", "eusc-", "us-gov-", "us-iso", "eu-iso")
"""How regions begin whose keys it does not know."""

_PROOF: Final = "a request signed with the AWS credentials of the daemon"
_KEYS: Final = "requests signed with the AWS credentials of the daemon"


async def cloud_id(spec: AkeylessSpec, context: OpenContext) -> bytes:
    """A signed GetCallerIdentity, in the form of Akeyless' own clients. Raises SyncError.

    It is for AWS's public address, as Akeyless need not reach the one that the daemon uses itself.
    """
    wanted = [server(spec, _PROOF)]
    environment = context.ambient(wanted).environment
    region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or _REGION_OF_GLOBAL
    usual = endpoint("sts", region)
    if REGION.fullmatch(region):  # another is refused before anything is sent to it
        wanted.append(Receiver("aws", usual, _KEYS))
    own = context.ambient(wanted)
    async with Http(now=context.now, network=context.network) as http:
        keys = await own_keys(own, region, context, http)
    if region.startswith(_APART):
        return _packed(caller_identity(keys, region, now=context.now(), url=f"{usual}/"))
    return _packed(caller_identity(keys, _REGION_OF_GLOBAL, now=context.now(), url=_GLOBAL))


def _packed(request: Signed) -> bytes:
    # The host is that of the URL: Akeyless' clients leave it out.
    headers = {name: [value] for name, value in request.headers.items() if name != "Host"}
    return msgspec.json.encode(
        {
            "sts_request_method": "POST",
            "sts_request_url": _base64(request.url.encode()),
            "sts_request_body": _base64(request.body.encode()),
            "sts_request_headers": _base64(msgspec.json.encode(headers)),
        }
    )


def _base64(data: bytes) -> str:
    return b64encode(data).decode()
